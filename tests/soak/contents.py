"""What is in a file that cohmm wrote, without the seconds that it took: equal where runs are."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from cohmm import HMM, HTMM, Cooccurrence, Triples, storage
from cohmm.learn.learner import Progress

SECONDS = Progress._fields.index("seconds")

LOADERS = {
    "HMM": HMM.load,
    "topic model": HTMM.load,
    "cooccurrence": Cooccurrence.load,
    "triples": Triples.load,
}


def contents(path: Path) -> Any:
    """A value to compare; whatever is not whole raises an error."""
    return READERS[path.suffix](path)


def _model(path: Path) -> Any:
    kind = storage.kind(path)
    LOADERS[kind](path)  # all that the value itself checks
    header, arrays = storage.load(path, kind)
    header.pop("seconds", None)
    for name in {"history", "passes"} & arrays.keys():
        arrays[name] = np.delete(arrays[name], SECONDS, axis=1)
    return header, {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in arrays.items()}


def _parquet(path: Path) -> Any:
    return pq.read_table(path).to_pydict()


def _text(path: Path) -> str:
    text = path.read_text("utf-8")
    assert text.endswith("\n"), "the last line has no end"
    return text


def _page(path: Path) -> Any:
    text = path.read_text("utf-8")
    assert text.rstrip().endswith("</html>"), "the page has no end"
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None, "the page has no data"
    data = json.loads(found[1])
    data["summary"] = [i for i in data["summary"] if i["name"] not in ("Learning time", "Command")]
    for text in data["texts"]:
        text["name"] = text["name"].rpartition("/")[2]  # without the folder
    return data


def _table(path: Path) -> Any:
    rows = list(csv.DictReader(_text(path).splitlines()))
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


READERS = {".parquet": _parquet, ".cohmm": _model, ".txt": _text, ".html": _page, ".csv": _table}
