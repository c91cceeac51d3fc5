"""Data for the tests of all engines, and what the local run makes of it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from cohmm import HTMM, PairwiseHMM
from cohmm.datasets.synthetic import random_hmm
from cohmm.datasets.synthetic_topics import sample_htmm

K = 3


@cache
def sequences() -> list[list[str]]:
    """Sequences of labels, of many lengths, one of them of length one."""
    truth = random_hmm(12, K, stay=0.6, random_state=0)
    symbols, _ = truth.sample(6_000, random_state=1)
    rng = np.random.default_rng(0)
    cuts = np.sort(rng.choice(np.arange(2, len(symbols)), 80, replace=False))
    pieces = np.split(symbols, [1, *cuts])
    return [[f"s{code}" for code in piece] for piece in pieces]


@cache
def texts() -> list[str]:
    """Documents on known topics, and one without a word."""
    sample = sample_htmm(250, n_components=K, n_words=90, random_state=0)
    return [*(" ".join(words) for words in sample.documents), ""]


@cache
def local_hmm() -> PairwiseHMM:
    """What the local run gives."""
    return PairwiseHMM(K, random_state=0).fit(sequences())


@cache
def local_topics() -> HTMM:
    """What the local run gives; the last text has no word, of which the caller is warned."""
    return HTMM(K, random_state=0).fit(texts()[:-1])


def assert_same_hmm(model: PairwiseHMM, other: PairwiseHMM) -> None:
    """Models that agree to 1e-9, and in what was kept of the data."""
    assert model.vocabulary_ == other.vocabulary_
    assert model.n_iter_ == other.n_iter_
    for name in ("startprob_", "transmat_", "emissionprob_"):
        np.testing.assert_allclose(
            getattr(model, name), getattr(other, name), rtol=0, atol=1e-9, err_msg=name
        )
    np.testing.assert_allclose(
        model.standard_errors().transmat, other.standard_errors().transmat, rtol=1e-3, atol=1e-6
    )


def assert_same_topics(model: HTMM, other: HTMM) -> None:
    """Topics that agree to 1e-9."""
    assert model.vocabulary_ == other.vocabulary_
    for name in ("components_", "topic_prevalence_", "topic_transitions_", "switch_"):
        np.testing.assert_allclose(
            getattr(model, name), getattr(other, name), rtol=0, atol=1e-9, err_msg=name
        )


def rows_of_symbols() -> dict[str, Any]:
    """One row per symbol: columns of users, times and pages, rows in an order of their own."""
    pages = [symbol for sequence in sequences() for symbol in sequence]
    users = [user for user, sequence in enumerate(sequences()) for _ in sequence]
    times = [time for sequence in sequences() for time in range(len(sequence))]
    order = np.random.default_rng(0).permutation(len(pages)).tolist()
    columns = {"user": users, "time": times, "page": pages}
    return {name: [values[i] for i in order] for name, values in columns.items()}
