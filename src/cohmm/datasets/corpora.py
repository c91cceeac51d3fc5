"""Real data, all of it: Reuters in two forms, State of the Union, sequences, genomes."""

from __future__ import annotations

import re
from typing import Literal

from cohmm.datasets.corpus import Corpus, Subset, decode, parts_of
from cohmm.datasets.data_files import DataFile, MissingData, members
from cohmm.datasets.genomes import dna
from cohmm.datasets.octis import octis
from cohmm.datasets.public_sequences import brown, msnbc
from cohmm.datasets.reuters import reuters21578, reuters_documents
from cohmm.datasets.wikipedia import wikipedia

__all__ = [
    "Corpus",
    "MissingData",
    "brown",
    "cachopo",
    "dna",
    "msnbc",
    "octis",
    "paper_article",
    "reuters21578",
    "reuters_documents",
    "sotu",
    "wikipedia",
]

MIRROR = "https://www.cs.umb.edu/~smimarog/textmining/datasets/"
CACHOPO = "reuters-cachopo.tar.gz"
CACHOPO_FILES = {
    ("r8", "train"): "5594f9675e971051270149601355b681af9e76373e91dc4b8394c61adcbbcee3",
    ("r8", "test"): "56ed6ca479d9a53cf0786a27f17f467a3f2c482d222ab4637c3f6001ffc560d7",
    ("r52", "train"): None,
    ("r52", "test"): None,
}
SOTU = DataFile(
    "sotu-stdlib.tar.gz",
    "datasets-sotu-0.2.3.tar.gz",
    "https://github.com/stdlib-js/datasets-sotu/archive/refs/tags/v0.2.3.tar.gz",
)
ADDRESS = re.compile(r"(?:.*/)?(\d{4})_(\w+)_([a-z]+)\.txt")
PARTIES = {
    "d": "Democratic",
    "dr": "Democratic-Republican",
    "f": "Federalist",
    "n": "none",
    "nu": "National Union",
    "r": "Republican",
    "w": "Whig",
    "wd": "Whig & Democratic",
}
PAPER_ARTICLE = "china daily vermin eat "


def cachopo(
    version: Literal["r8", "r52"] = "r8", subset: Subset = "all", *, download: bool = False
) -> Corpus:
    """The articles of Reuters-21578 that have one topic, without stop words.

    Cardoso-Cachopo's "no-stop" files, which the paper used: the 8 topics that are most
    frequent (5,485 + 2,189 articles), or all 52 (6,532 + 2,568).  Letters only, lower case,
    words of three letters at least; *and*, *for*, *not* and some others are still there, so cut
    them with ``str.split``.

    Parameters
    ----------
    version : "r8" or "r52"
        Which topics.
    subset : "all", "train" or "test"
        Which part; all is train, then test.
    download : bool
        Whether to fetch what is not found.
    """
    if version not in ("r8", "r52"):
        raise ValueError(f"version must be 'r8' or 'r52', not {version!r}")
    texts: list[str] = []
    labels: list[tuple[str, ...]] = []
    ids: list[str] = []
    for part in parts_of(subset):
        name = f"{version}-{part}-no-stop.txt"
        file = DataFile(CACHOPO, name, MIRROR + name, CACHOPO_FILES[version, part])
        path = file.find(download=download)
        lines = decode(file.content(path), "utf-8", f"{path}, {name}").splitlines()
        for number, line in enumerate(lines, 1):
            label, tab, text = line.partition("\t")
            if not tab:
                raise ValueError(f"{path}, {name}, line {number}: no tab between label and words")
            texts.append(text.strip())
            labels.append((label,))
            ids.append(f"{version} {part} {number}")
    return Corpus(_name(version.upper(), subset), tuple(texts), tuple(labels), tuple(ids))


def paper_article(*, download: bool = False) -> str:
    """The article that the paper prints, "china daily vermin eat ...", as R8 has it.

    It is the one with NEWID 14828 in Reuters-21578.
    """
    for text in cachopo("r8", "test", download=download).texts:
        if text.startswith(PAPER_ARTICLE):
            return text
    raise ValueError(f"no article of R8 (test) begins with {PAPER_ARTICLE!r}: another version?")


def sotu(*, download: bool = False) -> Corpus:
    """The 233 addresses on the State of the Union, 1790 to 2021: long documents.

    Labels are the president and his party; ids are such as ``"1790 george washington"``, dates
    the years.
    """
    path = SOTU.find(download=download)
    files = members(path, lambda name: ADDRESS.fullmatch(name) is not None)
    if not files:
        raise ValueError(f"{path}: there is no address in it, such as 1790_george_washington_n.txt")
    labels, ids, years = [], [], []
    for name in files:
        year, president, party = ADDRESS.fullmatch(name).groups()  # type: ignore[union-attr]
        president = president.replace("_", " ")
        labels.append((president, PARTIES.get(party, party)))
        ids.append(f"{year} {president}")
        years.append(year)
    texts = tuple(decode(data, "utf-8", f"{path}, {name}") for name, data in files.items())
    return Corpus("State of the Union", texts, tuple(labels), tuple(ids), dates=tuple(years))


def _name(name: str, subset: Subset) -> str:
    return name if subset == "all" else f"{name} {subset}"
