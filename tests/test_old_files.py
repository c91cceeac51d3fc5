"""Files that version 0.1 wrote are read, and say what they said then."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cohmm import (
    HMM,
    HTMM,
    Cooccurrence,
    Documents,
    Triples,
    Windows,
    count_pairs,
    count_triples,
    count_windows,
    read_documents,
)

FOLDER = Path(__file__).parent / "files_of_0_1"
DATA = [list("abcabdabcc"), list("bcdabb")]
TEXTS = ["rain sun rain cloud sun", "bank money bank loan money"]


def test_a_model() -> None:
    model = HMM.load(FOLDER / "hmm.cohmm")
    assert model.vocabulary == tuple("abcd")
    np.testing.assert_array_equal(model.transmat, [[0.9, 0.1], [0.2, 0.8]])
    np.testing.assert_allclose(model.log_likelihood(DATA[0]), -14.54172648778474, rtol=1e-12)


def test_counts() -> None:
    assert Cooccurrence.load(FOLDER / "pairs.cohmm") == count_pairs(DATA, lags=(1, 2))
    assert Triples.load(FOLDER / "triples.cohmm") == count_triples(DATA)
    assert Windows.load(FOLDER / "windows.cohmm") == count_windows(DATA, tau=2)


def test_documents() -> None:
    assert Documents.load(FOLDER / "documents.cohmm") == read_documents(TEXTS)


def test_topics() -> None:
    shares = [[3.8228466380798714e-07, 0.9999996177153362]]
    for name in ("topics", "topics_with_counts"):
        topics = HTMM.load(FOLDER / f"{name}.cohmm")
        assert topics.top_words(2) == [["money", "bank"], ["sun", "rain"]]
        np.testing.assert_allclose(topics.transform(TEXTS[:1]), shares, rtol=1e-8)
    topics.partial_fit(["rain and wind", "loan of the bank"])  # from the counts in its file
    assert "wind" in topics.vocabulary_
