"""Topics that start from words that the user gave, and keep their names.

A seeded topic starts from the cluster of its words (`cohmm.learn.topics.clusters`), and its words
are paired with one another somewhat more often than they were seen to be: as if there were more
documents of nothing else, worth `HOLD` of the words' own occurrences.  Other words come and go as
the corpus has it, and so do seed words that it keeps elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cohmm.data.values import shown
from cohmm.data.vocabulary import codes_in
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import warn
from cohmm.learn.topics.topic_labels import TopicLabels, checked_topic_labels

SeedWords = Mapping[str, Sequence[str]] | Sequence[Sequence[str]]

HOLD = 0.5


class Seeds(NamedTuple):
    """The first topics: what they are called, and where they start."""

    labels: TopicLabels
    words: tuple[Ints, ...]
    """Codes of the words of each, without repetition."""

    def all_labels(self, k: int) -> TopicLabels:
        """Those of ``k`` topics, the others without; () if no topic has any."""
        return (*self.labels, *[None] * (k - len(self.words))) if any(self.labels) else ()


NONE = Seeds((), ())


def checked_seeds(given: SeedWords | None, vocabulary: tuple[Any, ...], most: int) -> Seeds:
    """Seed words as codes; words that the documents do not have are warned of, and left out.

    >>> given = {"grain": ["corn", "wheat"], "metal": ["gold"]}
    >>> labels, words = checked_seeds(given, ("corn", "gold", "wheat"), 3)
    >>> labels, [codes.tolist() for codes in words]
    (('grain', 'metal'), [[0, 2], [1]])
    """
    if given is None:
        return NONE
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError(
            f"seed_words must be lists of words, by topic or one after the other, not {given!r}"
        )
    named = isinstance(given, Mapping)
    lists = list(given.values()) if isinstance(given, Mapping) else list(given)
    names = [repr(name) for name in given] if named else [str(n) for n in range(len(lists))]
    labels = checked_topic_labels(list(given) if named else [], len(lists))
    if len(lists) > most:
        raise ValueError(f"seed_words are for {len(lists)} topics, and there are {most}")
    codes: list[Ints] = []
    owner: dict[str, str] = {}
    unknown: list[str] = []
    for name, words in zip(names, lists, strict=True):
        if isinstance(words, str) or not isinstance(words, Iterable):
            raise ValueError(f"the seed words of topic {name} must be a list, not {words!r}")
        own = list(dict.fromkeys(words))
        for word in own:
            if owner.setdefault(word, name) != name:
                raise ValueError(f"{word!r} is a seed word of topics {owner[word]} and {name}")
        found = codes_in(tuple(own), vocabulary)
        unknown += [word for word, code in zip(own, found.tolist(), strict=True) if code < 0]
        if not (found >= 0).any():
            raise ValueError(
                f"no seed word of topic {name} is in the documents: {shown(own) if own else 'none'}"
            )
        codes.append(found[found >= 0])
    if unknown:
        are = "is" if len(unknown) == 1 else "are"
        warn(f"{shown(unknown)} {are} not in the documents: as seed words they are left out")
    return Seeds(labels, tuple(codes))


def seed_pairs(seeds: Seeds, frequency: Floats) -> Any:
    """How much more often seed words are paired, (V, V), where all pairs together are 1."""
    n = len(frequency)
    extra = sparse.csr_array((n, n))
    for words in seeds.words:
        mass = frequency[words].sum()
        if mass > 0:
            own = frequency[words] / mass
            block = HOLD * mass * np.outer(own, own)
            rows, columns = np.meshgrid(words, words, indexing="ij")
            extra = extra + sparse.csr_array(
                (block.ravel(), (rows.ravel(), columns.ravel())), (n, n)
            )
    return extra
