"""Twelve subjects with their words, written for the demo, and how one leads to another.

The words of a subject stand in ``demo_topics.txt``, in the order of their frequency.  Some belong
to several subjects (a bank, a cell, a conductor): only the words around one tell which is meant.
`COMMON` words belong to all.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from cohmm.kernels.types import Floats
from cohmm.model.hmm import HMM
from cohmm.model.markov_chain import stationary_distribution

_PARAGRAPHS = Path(__file__).with_suffix(".txt").read_text("utf-8").split("\n\n")
SUBJECTS = dict(paragraph.split(":", 1) for paragraph in _PARAGRAPHS)
COMMON = SUBJECTS.pop("COMMON")
# What a subject leads to, the most probable first, and how many words it lasts on average.
LEADS = {
    "weather": (("the sea", "farming", "gardens"), 9),
    "cooking": (("gardens", "farming", "the sea"), 14),
    "football": (("medicine", "weather", "music"), 13),
    "courts": (("banking", "medicine", "football"), 15),
    "medicine": (("courts", "cooking", "space"), 12),
    "space": (("weather", "the sea", "music"), 15),
    "farming": (("weather", "cooking", "banking"), 11),
    "music": (("trains", "football", "space"), 14),
    "trains": (("the sea", "banking", "football"), 10),
    "banking": (("courts", "farming", "trains"), 12),
    "the sea": (("weather", "cooking", "trains"), 11),
    "gardens": (("cooking", "weather", "music"), 13),
}
SHARES = (0.45, 0.25, 0.15)  # of the times that a subject ends; the rest goes to all others
COMMON_SHARE = 0.2  # of the words of every subject
SENTENCE = (5, 12)  # words: at least, and fewer than


def demo_model() -> HMM:
    """The hidden chain of the demo: subjects as states, (12, 12), and their words.

    >>> demo_model()
    HMM(12 states, 769 symbols)
    """
    own = {name: text.split() for name, text in SUBJECTS.items()}
    common = COMMON.split()
    words = sorted({*common, *(word for subject in own.values() for word in subject)})
    place = {word: code for code, word in enumerate(words)}
    emission = np.zeros((len(own), len(words)))
    for k, subject in enumerate(own.values()):
        emission[k, [place[word] for word in subject]] += (1 - COMMON_SHARE) * zipf(len(subject))
        emission[k, [place[word] for word in common]] += COMMON_SHARE * zipf(len(common))
    transitions = _transitions(list(own))
    return HMM(stationary_distribution(transitions), transitions, emission, tuple(words))


def sentences(words: Iterable[str], rng: np.random.Generator) -> str:
    """Words with capitals and full stops, which mean nothing: they make a line a text to look at.

    >>> sentences("rain wind storm snow sun".split(), np.random.default_rng(0))
    'Rain wind storm snow sun.'
    """
    rest, parts = list(words), []
    while rest:
        n = int(rng.integers(*SENTENCE))
        n = len(rest) if len(rest) < n + SENTENCE[0] else n
        parts.append(" ".join(rest[:n]).capitalize() + ".")
        rest = rest[n:]
    return " ".join(parts)


def _transitions(names: list[str]) -> Floats:
    k = len(names)
    table = np.zeros((k, k))
    for i, name in enumerate(names):
        leads, lasts = LEADS[name]
        others = [j for j in range(k) if j != i and names[j] not in leads]
        table[i, [names.index(lead) for lead in leads]] = SHARES
        table[i, others] = (1 - sum(SHARES)) / len(others)
        table[i] /= lasts
        table[i, i] = 1 - 1 / lasts
    return table


def zipf(n: int, shift: float = 4.0) -> Floats:
    """Frequencies of ``n`` words that fall off as 1 / (rank + shift), (n,).

    >>> zipf(3, shift=0.0) * 11
    array([6., 3., 2.])
    """
    weights = 1 / (np.arange(1, n + 1) + shift)
    return np.asarray(weights / weights.sum())
