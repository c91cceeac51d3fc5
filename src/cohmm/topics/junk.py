"""Junk and twins: topics that say nothing, by figures that anybody can check.

Of topic k, with x_dk the words of document d that are expected to be of it:

    document share        the share of documents in which a tenth of the words are of it
    effective documents   exp H(x_dk / sum_d x_dk): among how many documents it is spread
    distance              1/2 sum_w |p(w | k) - p(w | not k)|, the total variation from the words of
                          all other topics together: near 0, it is what the corpus is anyway
    code share            sum of p(w | k) over words that look like codes or numbers

A word looks like a code if it has a digit; if it has three consonants or more, no vowel, and is in
less than one document in a hundred; or if it has three letters at most, is as rare, and occurs
ten times or more in a document that has it.  The last two are said of ASCII words alone.

The verdict of a topic is the first of these that holds, or "":

    "encoded"         more than half of its words look like codes (attachments, hashes, tables), and
                      less than half of the corpus does
    "numbers"         the same, and most of these are digits alone
    "one document"    it is spread among less than 5 documents, and less than a twentieth of the
                      documents that it would have if all topics had equally many
    "function words"  its distance is below 0.55, and it is spread among half of the documents

Twins are topics nearer to each other than a total variation of 0.3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from cohmm.data.documents import Documents
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.topics.twins import TWINS
from cohmm.model.topic_model import TopicModel

SUBSTANTIAL = 0.1  # of a document's words
RARE = 0.01  # of the documents
BURST = 10  # occurrences in a document that has the word
MAX_CODE_SHARE = 0.5
MIN_DOCUMENTS = 5.0
MIN_FAIR_SHARE = 1 / 20  # of the documents that a topic has where all have equally many
NEAR_OTHERS = 0.55  # total variation
WIDESPREAD = 1 / 2  # of the effective number of all documents

DIGIT = re.compile(r"\d")
CONSONANTS = re.compile(r"[b-df-hj-np-tv-xz]{3,}", re.IGNORECASE)
SHORT = re.compile(r"[a-z]{1,3}", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Junk:
    """Figures of K topics, and what is wrong with them: see the module.

    Parameters
    ----------
    document_share, effective_documents, distance, code_share : array, (K,)
        The figures.
    verdicts : tuple of str
        What kind of junk every topic is; "": none.
    """

    document_share: Floats
    effective_documents: Floats
    distance: Floats
    code_share: Floats
    verdicts: tuple[str, ...]

    @property
    def topics(self) -> dict[int, str]:
        """The verdicts of topics that are junk, by number."""
        return {k: verdict for k, verdict in enumerate(self.verdicts) if verdict}

    def columns(self) -> dict[str, Any]:
        """The figures and the verdict of every topic, as columns of a table."""
        figures = ("document_share", "effective_documents", "distance", "code_share")
        return {name: getattr(self, name) for name in figures} | {"junk": list(self.verdicts)}

    @classmethod
    def of(cls, model: TopicModel, documents: Documents, shares: Any = None) -> Junk:
        """Judge the topics of ``model`` by documents.

        ``shares`` are those of the topics in these documents, (D, K), where they are known.

        >>> from cohmm import HTMM
        >>> texts = ["oil gas oil", "wheat corn wheat"] * 30 + ["m9v8 x0q 7zz " * 40]
        >>> topics = HTMM(3, random_state=0).fit(texts)
        >>> Junk.of(topics.fit_, topics.documents_).topics
        {0: 'encoded'}
        """
        if shares is None:
            shares = model.infer(documents).shares
        filled = documents.lengths > 0
        lengths, shares = documents.lengths[filled], np.asarray(shares)[filled]
        spread = effective_number(shares * lengths[:, None])
        n_effective = float(effective_number(lengths[:, None].astype(np.float64))[0])
        fair = n_effective / model.n_components
        codes, numbers = code_words(documents)
        distance = distance_from_others(model)
        there = (shares >= SUBSTANTIAL).mean(axis=0) if len(shares) else np.zeros(len(distance))
        code_share, number_share = model.components @ codes, model.components @ numbers
        # Where most of the corpus looks like codes, as events of a log do, they are its words.
        ordinary = model.prevalence @ code_share > MAX_CODE_SHARE
        encoded = (code_share > MAX_CODE_SHARE) & (not ordinary)
        tests = {
            "numbers": encoded & (2 * number_share > code_share),
            "encoded": encoded,
            "one document": (spread < MIN_DOCUMENTS) & (spread < MIN_FAIR_SHARE * fair),
            "function words": (distance < NEAR_OTHERS) & (spread > WIDESPREAD * n_effective),
        }
        verdicts = tuple(
            next((name for name, holds in tests.items() if holds[k]), "")
            for k in range(model.n_components)
        )
        return cls(there, spread, distance, code_share, verdicts)


def distance_from_others(model: TopicModel) -> Floats:
    """The total variation of every topic and all others together, (K,); 1 where there are none.

    >>> model = TopicModel([[1, 0], [.5, .5], [.5, .5]], [.5, .25, .25], [1.] * 3, ("oil", "gas"))
    >>> distance_from_others(model).round(3)
    array([0.5  , 0.333, 0.333])
    """
    from_corpus = np.abs(model.components - model.prevalence @ model.components).sum(axis=1) / 2
    others = 1 - model.prevalence
    distance = np.divide(from_corpus, others, out=np.ones(len(others)), where=others > 1e-9)
    return np.asarray(np.minimum(distance, 1.0))


def effective_number(mass: Floats) -> Floats:
    """Among how many documents every topic is spread: exp of the entropy of columns (D, K).

    >>> effective_number(np.array([[1., 3.], [1., 0.]]))
    array([2., 1.])
    """
    total = mass.sum(axis=0)
    share = mass / np.where(total > 0, total, 1.0)
    logs = np.log(share, out=np.zeros(share.shape), where=share > 0)
    return np.where(total > 0, np.exp(-(share * logs).sum(axis=0)), 0.0)


def code_words(documents: Documents) -> tuple[Ints, Ints]:
    """Which words look like codes, (V,), and which of them are numbers: see the module.

    >>> documents = Documents([0, 1, 2, 2], [0, 2, 4], ("1987", "g9v", "rain"))
    >>> [words.tolist() for words in code_words(documents)]
    [[True, True, False], [True, False, False]]
    """
    counts = documents.term_counts()
    occurrences = np.bincount(documents.symbols, minlength=documents.n_symbols)
    having = np.bincount(counts.indices, minlength=documents.n_symbols)
    rare = having < RARE * len(documents)
    burst = rare & (occurrences >= BURST * np.maximum(having, 1))

    def shaped(pattern: Any) -> Ints:
        matches = map(pattern, map(str, documents.vocabulary))
        return np.fromiter((match is not None for match in matches), bool, documents.n_symbols)

    codes = shaped(DIGIT.search)
    codes |= rare & shaped(CONSONANTS.fullmatch)
    codes |= burst & shaped(SHORT.fullmatch)
    numbers = np.fromiter(map(str.isdecimal, map(str, documents.vocabulary)), bool, len(codes))
    return codes, numbers


def twins(components: Any, within: float = TWINS) -> list[tuple[int, int]]:
    """Pairs of topics, rows of (K, V), that are nearer than a total variation of ``within``.

    >>> twins([[.5, .5, 0], [0, .1, .9], [.6, .4, 0]])
    [(0, 2)]
    """
    components = np.asarray(components, np.float64)
    return [
        (i, j)
        for i, j in combinations(range(len(components)), 2)
        if np.abs(components[i] - components[j]).sum() / 2 < within
    ]
