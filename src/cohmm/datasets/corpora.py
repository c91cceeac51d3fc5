"""Public corpora of text: Reuters-21578 as its distribution 1.0 has it, and without stop words as
the paper used it; addresses on the State of the Union."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cohmm.data.documents import Documents, Names
from cohmm.data.read_documents import read_documents
from cohmm.data.vocabulary import as_stop_words
from cohmm.datasets.data_files import (
    Corpus,
    DataFile,
    MissingData,
    Subset,
    decode,
    members,
    parts_of,
)
from cohmm.datasets.public_sequences import brown, dna, msnbc

__all__ = [
    "Corpus",
    "MissingData",
    "brown",
    "cachopo",
    "dna",
    "msnbc",
    "paper_article",
    "reuters21578",
    "reuters_documents",
    "sotu",
]

REUTERS = DataFile(
    "reuters21578.tar.gz",
    "reuters21578.tar.gz",
    "https://archive.ics.uci.edu/ml/machine-learning-databases/reuters21578-mld/reuters21578.tar.gz",
)
ENCODING = "latin-1"
SPLITS = {"train": "TRAIN", "test": "TEST"}
SIGNATURE = "reuter"  # how nine articles in ten end

ARTICLE = re.compile(r"<REUTERS ([^>]*)>")
ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')
MARK = re.compile(r"<[A-Z/][^>]*>")
# Some have letters, or a note, after it.
DATE = re.compile(r"(\d{1,2})-([A-Z]{3})-(\d{4})(?:\s+(\d\d:\d\d:\d\d))?")
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
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


@dataclass(frozen=True)
class Article:
    """An article, and what the distribution says of it.

    ``title`` and ``body`` are empty where there is none: 1,798 articles are a title alone, and
    737 are ``unprocessed`` text in which the two are not told apart.  ``topics_known`` is the
    attribute TOPICS: whether someone looked for topics ("YES", "NO" or "BYPASS").
    """

    newid: int
    date: str
    title: str
    body: str
    unprocessed: str
    topics: tuple[str, ...]
    places: tuple[str, ...]
    topics_known: str
    lewis_split: str
    cgi_split: str

    @property
    def iso_date(self) -> str:
        """The date as ISO 8601 has it, such as "1987-02-26T15:01:01"; empty where there is none."""
        match = DATE.match(self.date)
        if match is None or match[2] not in MONTHS:
            return ""
        day = f"{match[3]}-{MONTHS.index(match[2]) + 1:02d}-{int(match[1]):02d}"
        return day if match[4] is None else f"{day}T{match[4]}"

    @property
    def text(self) -> str:
        """Title and body, or the unprocessed text."""
        return "\n".join(filter(None, (self.title, self.body, self.unprocessed)))


@dataclass(frozen=True, repr=False)
class Reuters(Corpus):
    """Reuters-21578: labels are the topics of an article, ids its NEWID."""

    articles: tuple[Article, ...]


def reuters21578(subset: Subset = "all", *, download: bool = False) -> Reuters:
    """All articles, or a side of the "ModApte" split (9,603 and 3,299 articles).

    Parameters
    ----------
    subset : "all", "train" or "test"
        The split takes the articles that someone looked for topics in; 8,676 are on no side.
    download : bool
        Whether to fetch the archive where it is not found.
    """
    sides = [SPLITS[part] for part in parts_of(subset)]
    path = REUTERS.find(download=download)
    files = members(path, lambda name: name.endswith(".sgm"))
    if not files:
        raise ValueError(f"{path}: there is no .sgm file in it")
    articles = [
        article
        for name, data in files.items()
        for article in parse(decode(data, ENCODING, f"{path}, {name}"), f"{path}, {name}")
    ]
    if subset != "all":
        articles = [a for a in articles if a.topics_known == "YES" and a.lewis_split in sides]
    name = "Reuters-21578" if subset == "all" else f"Reuters-21578 ModApte {subset}"
    return Reuters(
        name,
        tuple(article.text for article in articles),
        tuple(article.topics for article in articles),
        tuple(str(article.newid) for article in articles),
        tuple(articles),
        dates=tuple(article.iso_date for article in articles),
    )


def reuters_documents(*, download: bool = False) -> Documents:
    """The articles that have a title, cut into words as all evaluations here have it.

    Title and body; words are runs of three letters or more; without scikit-learn's English stop
    words, without "reuter", with which most articles end, and without words in fewer than five
    articles.  20,841 documents, 1,452,162 words, 12,776 distinct.
    """
    corpus = reuters21578(download=download)
    titled = [article for article in corpus.articles if article.title]
    documents = read_documents(
        [article.text for article in titled],
        token_pattern=r"[a-z]{3,}",
        stop_words=as_stop_words("english") | {SIGNATURE},
        min_df=5,
    )
    names = Names.of(f"NEWID {article.newid}" for article in titled)
    return Documents(documents.symbols, documents.offsets, documents.vocabulary, names)


def parse(sgml: str, place: str | Path = "") -> Iterator[Article]:
    """The articles of an SGML file.

    >>> sgml = '''<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" NEWID="1">
    ... <DATE>26-FEB-1987</DATE><TOPICS><D>cocoa</D></TOPICS><PLACES></PLACES>
    ... <TEXT>&#2;<TITLE>A &lt;B> C</TITLE><BODY>Showers. Reuter&#3;</BODY></TEXT></REUTERS>'''
    >>> next(parse(sgml)).text
    'A <B> C\\nShowers. Reuter'
    """
    for piece in sgml.split("</REUTERS>"):
        mark = ARTICLE.search(piece)
        if mark is None:  # after the last article
            continue
        has, inside = dict(ATTRIBUTE.findall(mark[1])), piece[mark.end() :]
        missing = {"NEWID", "TOPICS", "LEWISSPLIT", "CGISPLIT"} - has.keys()
        if missing:
            raise ValueError(f"{place}: an article has no {missing.pop()}: {mark[0]}")
        text = _element(inside, "TEXT")
        yield Article(
            newid=int(has["NEWID"]),
            date=_plain(_element(inside, "DATE")),
            title=_plain(_element(text, "TITLE")),
            body=_plain(_element(text, "BODY")),
            unprocessed="" if "<TITLE>" in text else _plain(text),
            topics=_listed(inside, "TOPICS"),
            places=_listed(inside, "PLACES"),
            topics_known=has["TOPICS"],
            lewis_split=has["LEWISSPLIT"],
            cgi_split=has["CGISPLIT"],
        )


def _element(sgml: str, name: str) -> str:
    """What stands between the marks of an element; nothing where there is none."""
    begin = sgml.find(f"<{name}")
    end = sgml.find(f"</{name}>", begin)
    return "" if begin < 0 or end < 0 else sgml[sgml.index(">", begin) + 1 : end]


def _listed(sgml: str, name: str) -> tuple[str, ...]:
    return tuple(map(_plain, re.findall(r"<D>(.*?)</D>", _element(sgml, name), re.DOTALL)))


def _plain(sgml: str) -> str:
    """Text without marks, entities and control characters, which `html.unescape` drops."""
    return html.unescape(MARK.sub(" ", sgml)).strip()


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
