"""``cohmm search``: documents and the sentence of each that answers best."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from cohmm import HTMM

TEXTS = [
    "The ministry said wheat exports rose. Shipments of maize fell.",
    "Oil prices fell today. Output of crude oil rose.",
    "The bank cut its rate. The dollar fell against the yen.",
    "Grain farmers expect a good harvest. There is wheat and maize.",
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("search")
    model, corpus = folder / "news.cohmm", folder / "news.txt"
    HTMM(3, stop_words="english", random_state=0).fit(TEXTS * 8).save(model)
    corpus.write_text("\n".join(TEXTS))
    return model, corpus


def test_it_finds_documents_and_sentences(
    run: Callable[..., Any], files: tuple[Path, Path]
) -> None:
    done = run("search", *map(str, files), "farmers harvest", "-n", "2")
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert lines[0].endswith("line 4: Grain farmers expect a good harvest.")
    assert ", line 1: " in lines[1]  # by its topics alone


def test_json(run: Callable[..., Any], files: tuple[Path, Path]) -> None:
    found = json.loads(run("search", *map(str, files), "dollar", "--json", "-n", "1").stdout)
    assert found["query"] == "dollar"
    (row,) = found["results"]
    assert row["document"] == f"{files[1]}, line 3"
    assert row["sentence"] == "The dollar fell against the yen."
    topics = HTMM.load(files[0])
    assert row["score"] == topics.search("dollar", TEXTS, 1)[0].score


def test_unknown_words(run: Callable[..., Any], files: tuple[Path, Path]) -> None:
    done = run("search", *map(str, files), "zebra", fails=ANY)
    assert "no word of the query is known to the topics" in done.stderr
