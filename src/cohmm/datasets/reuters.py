"""Reuters-21578: 21,578 articles of 1987, from the SGML files of its distribution 1.0."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cohmm.data.documents import Documents, Names
from cohmm.data.pruning import as_stop_words
from cohmm.data.text import read_documents
from cohmm.datasets.corpus import Corpus, Subset, decode, parts_of
from cohmm.datasets.data_files import DataFile, members

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
# Behind it some have letters, or a note.
DATE = re.compile(r"(\d{1,2})-([A-Z]{3})-(\d{4})(?:\s+(\d\d:\d\d:\d\d))?")
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")


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
        found = DATE.match(self.date)
        if found is None or found[2] not in MONTHS:
            return ""
        day = f"{found[3]}-{MONTHS.index(found[2]) + 1:02d}-{int(found[1]):02d}"
        return day if found[4] is None else f"{day}T{found[4]}"

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
        if mark is None:  # behind the last article
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
