"""Articles of Wikipedia, as WikiExtractor writes them: raw text of many lengths and subjects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from cohmm.datasets.corpus import Corpus, decode
from cohmm.datasets.data_files import VARIABLE, DataFile, MissingData, members

SAMPLE = "wikipedia-sample.tar.xz"
ARTICLE = re.compile(r'<doc id="([^"]*)"[^>]* title="([^"]*)"[^>]*>\n(.*?)\n?</doc>', re.DOTALL)


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
