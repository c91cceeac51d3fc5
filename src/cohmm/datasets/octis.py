"""Labelled corpora as OCTIS prepares them: BBC News, and titles of papers (DBLP, M10)."""

from __future__ import annotations

from typing import Literal, get_args

from cohmm.datasets.corpus import Corpus, Subset, decode, parts_of
from cohmm.datasets.data_files import DataFile, members

Name = Literal["BBC_News", "DBLP", "M10"]
PACKED = "octis-corpora.tar.gz"
ADDRESS = "https://raw.githubusercontent.com/MIND-Lab/OCTIS/master/preprocessed_datasets/"
TEST = ("val", "test")  # parts of OCTIS, which tunes on one of them; we do not


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
