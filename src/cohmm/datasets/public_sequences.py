"""Real sequences: tagged sentences of the Brown corpus, visits to a news site."""

from __future__ import annotations

import re
import zipfile
import zlib
from dataclasses import dataclass

import numpy as np

from cohmm.data.sequences import Sequences
from cohmm.datasets.corpus import decode
from cohmm.datasets.data_files import DataFile

BROWN = DataFile(
    "brown.zip",
    "brown.zip",
    "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages/corpora/brown.zip",
    "9b275f9b3b95d7bd66ccfb7cd259f445a13bbe5d1f4107aba09fd3e8364bafa6",
)
BROWN_FILE = re.compile(r"brown/c[a-r]\d\d")
MSNBC = DataFile(
    "msnbc.tar.gz",
    "msnbc990928.seq.gz",
    "https://archive.ics.uci.edu/ml/machine-learning-databases/msnbc-mld/msnbc990928.seq.gz",
)
CATEGORIES_LINE = 2  # of the visits' header, from 0
HEADER_LINES = 7


@dataclass(frozen=True)
class Tagged:
    """Sentences in which every word has a tag: states that are known.

    ``words[s]`` and ``tags[s]`` are of the same length.
    """

    name: str
    words: tuple[tuple[str, ...], ...]
    tags: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Tagged({self.name}, {len(self):,} sentences)"


def brown(*, download: bool = False) -> Tagged:
    """The Brown corpus: 57,340 sentences, 1,161,192 words as they were written, with tags."""
    path = BROWN.find(download=download)
    words, tags = [], []
    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(filter(BROWN_FILE.fullmatch, archive.namelist()))
            texts = [decode(archive.read(name), "utf-8", f"{path}, {name}") for name in names]
    except (zipfile.BadZipFile, zlib.error, OSError) as error:
        raise ValueError(f"{path} is no zip archive, or is damaged ({error})") from None
    if not names:
        raise ValueError(f"{path}: there is no file such as brown/ca01 in it")
    for name, text in zip(names, texts, strict=True):
        for number, line in enumerate(text.splitlines(), 1):
            tokens = [token.rpartition("/") for token in line.split()]
            if not all(slash for _, slash, _ in tokens):
                raise ValueError(f"{path}, {name}, line {number}: a word without a tag")
            if tokens:
                words.append(tuple(word for word, _, _ in tokens))
                tags.append(tuple(tag for _, _, tag in tokens))
    return Tagged("Brown", tuple(words), tuple(tags))


def msnbc(*, download: bool = False) -> Sequences:
    """Visits to msnbc.com on a day in 1999: 989,818 sequences of 4,698,794 pages out of 17."""
    path = MSNBC.find(download=download)
    lines = decode(MSNBC.content(path), "ascii", str(path)).splitlines()
    categories = tuple(lines[CATEGORIES_LINE].split()) if len(lines) > HEADER_LINES else ()
    if not categories:
        raise ValueError(f"{path}: there are no visits below {HEADER_LINES} lines of header")
    visits = [line for line in lines[HEADER_LINES:] if line.strip()]
    lengths = np.fromiter((len(line.split()) for line in visits), np.int64, len(visits))
    pages = np.array(" ".join(visits).split(), np.int32) - 1
    if not 0 <= pages.min() <= pages.max() < len(categories):
        raise ValueError(
            f"{path}: pages from {pages.min() + 1} to {pages.max() + 1} where the header has "
            f"{len(categories)}"
        )
    return Sequences(pages, np.concatenate([[0], np.cumsum(lengths)]), len(categories), categories)
