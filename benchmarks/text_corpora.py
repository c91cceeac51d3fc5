"""Corpora that only benchmarks read: OCTIS' labelled ones, and a sample of Wikipedia.

OCTIS prepared BBC News, and titles of papers (DBLP, M10).  Articles of Wikipedia are raw text of
many lengths and subjects, as WikiExtractor writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

from cohmm.datasets.data_files import (
    VARIABLE,
    Corpus,
    DataFile,
    MissingData,
    Subset,
    decode,
    members,
    parts_of,
)

Name = Literal["BBC_News", "DBLP", "M10"]
PACKED = "octis-corpora.tar.gz"
ADDRESS = "https://raw.githubusercontent.com/MIND-Lab/OCTIS/master/preprocessed_datasets/"
TEST = ("val", "test")  # parts of OCTIS, which tunes on one of them; we do not
SAMPLE = "wikipedia-sample.tar.xz"
ARTICLE = re.compile(r'<doc id="([^"]*)"[^>]* title="([^"]*)"[^>]*>\n(.*?)\n?</doc>', re.DOTALL)


def octis(name: Name, subset: Subset = "all", *, download: bool = False) -> Corpus:
    """A corpus with one label per document: lemmas in their order, without stop words.

    "BBC_News" has 2,225 articles and 5 labels, "DBLP" 54,595 titles of about five words and 4
    labels, "M10" 8,355 titles and 10 labels.

    Parameters
    ----------
    name : "BBC_News", "DBLP" or "M10"
        Which corpus.
    subset : "all", "train" or "test"
        Which part, in the order of the file; OCTIS' part for validation is of the test here.
    download : bool
        Whether to fetch the file where it is not found.
    """
    if name not in get_args(Name):
        raise ValueError(f"name must be one of {', '.join(get_args(Name))}, not {name!r}")
    parts_of(subset)
    file = DataFile(PACKED, f"octis-{name}.tsv", f"{ADDRESS}{name}/corpus.tsv")
    path = file.find(download=download)
    if path.name == PACKED:
        inside = members(path, lambda member: member.endswith(f"{name}/corpus.tsv"))
        if not inside:
            raise ValueError(f"{path}: there is no {name}/corpus.tsv in it")
        (data,) = inside.values()
    else:
        data = file.content(path)
    texts, labels, ids = [], [], []
    for number, line in enumerate(decode(data, "utf-8", str(path)).splitlines(), 1):
        cells = line.split("\t")
        if len(cells) != 3 or cells[1] not in ("train", *TEST):
            raise ValueError(
                f"{path}, {name}, line {number}: not a document, its part (train, val or test) "
                "and its label, with tabs between them"
            )
        text, part, label = cells
        if subset == "all" or (part in TEST) == (subset == "test"):
            texts.append(text.strip())
            labels.append((label,))
            ids.append(f"{name} {part} {number}")
    whole = name if subset == "all" else f"{name} {subset}"
    return Corpus(whole, tuple(texts), tuple(labels), tuple(ids))


def wikipedia(min_words: int = 50) -> Corpus:
    """The articles of the sample that have ``min_words`` words or more; ids are their titles.

    The sample is a tar archive of files such as ``text/AA/wiki_00``: pack those that
    WikiExtractor makes of a dump, as there is no public file to fetch.
    """
    try:
        path = DataFile(SAMPLE, SAMPLE, "").find()
    except MissingData:
        raise MissingData(
            f"{SAMPLE} was not found in the folder that {VARIABLE} names: pack the files that "
            "WikiExtractor makes of a dump of Wikipedia there, such as text/AA/wiki_00"
        ) from None
    found = [
        article
        for name, data in members(path, lambda name: "wiki_" in Path(name).name).items()
        for article in articles(decode(data, "utf-8", f"{path}, {name}"))
        if len(article[1].split()) >= min_words
    ]
    if not found:
        raise ValueError(f"{path}: there is no article of {min_words} words or more in it")
    titles, texts = zip(*found, strict=True)
    return Corpus("Wikipedia", texts, ((),) * len(texts), titles)


def articles(text: str) -> Iterator[tuple[str, str]]:
    """Titles and texts in a file; the title, with which a text begins, is left out of it.

    >>> list(articles('<doc id="1" url="" title="Oats">\\nOats\\n\\nOats are grain.\\n</doc>\\n'))
    [('Oats', 'Oats are grain.')]
    """
    for match in ARTICLE.finditer(text):
        title, body = match[2], match[3]
        yield title, body.removeprefix(title).strip()
