"""Refinement by triples: what it is, and when the recipe chooses it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cohmm import HMM, PairwiseHMM, Sequences, count_pairs, count_triples
from cohmm.datasets.synthetic import random_hmm
from cohmm.learn import min_volume, pairwise, window_ml
from cohmm.learn import refinement as module
from cohmm.learn.refinement import refine_triples
from cohmm.learn.sequences.multistart import overcomplete_start
from cohmm.learn.sparsity import opened

TRUTH = random_hmm(12, 3, stay=0.4, random_state=3)
DATA = Sequences.of(TRUTH.sample(30_000, random_state=1)[0], [10_000] * 3, n_symbols=12)
RING = HMM(
    [1, 0, 0],
    [[0.8, 0.2, 0], [0, 0.8, 0.2], [0.2, 0, 0.8]],
    [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]],
)


@pytest.fixture(scope="module")
def rough() -> HMM:
    return min_volume(count_pairs(DATA), 3, random_state=0).model


def test_it_is_maximum_likelihood_of_the_triples(rough: HMM) -> None:
    triples = count_triples(DATA)
    fit = refine_triples(rough, DATA, random_state=0)
    same = window_ml(triples, 3, start=opened(rough), random_state=0)
    assert fit.model == same.model
    assert fit.history[-1][:3] == same.history[-1][:3]
    assert fit.evidence == "triples"
    assert fit.length == triples.n_triples == 29_994
    assert fit.before == rough
    assert fit.window_passes == fit.n_iter
    assert fit.gained > 0
    for refined, before in zip(fit.model.distance(TRUTH), rough.distance(TRUTH), strict=True):
        assert refined < before


def test_starts_are_those_of_the_pairs(rough: HMM) -> None:
    first = HMM([1, 0, 0], rough.transmat, rough.emissionprob)
    fit = refine_triples(first, DATA, random_state=0)
    assert fit.model.align_to(first).startprob.tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("options", "long", "evidence"),
    [
        ({}, 29_999, "triples"),
        ({}, 30_000, "sequences"),
        ({"refine": True}, 29_999, "triples"),
        ({"refine": "sequences"}, 29_999, "sequences"),
        ({"refine": "triples"}, 10**7, "triples"),
        ({"refine": False}, 29_999, None),
    ],
)
def test_long_data_is_refined_by_triples(
    options: dict[str, Any], long: int, evidence: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LONG", long)
    refined = pairwise(DATA, 3, random_state=0, **options).refined
    assert (None if refined is None else refined.evidence) == evidence


def test_short_sequences_and_many_triples_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONG", 1000)
    pieces = Sequences.of(DATA.symbols, np.full(10_000, 3), n_symbols=12)
    refined = pairwise(pieces, 3, random_state=0).refined
    assert refined is not None
    assert refined.evidence == "sequences"
    monkeypatch.setattr(module, "WORTHWHILE_TRIPLES", 3 * 12**3 - 1)
    assert pairwise(DATA, 3, random_state=0).refined is None
    monkeypatch.setattr(module, "WORTHWHILE_TRIPLES", 3 * 12**3)
    assert pairwise(DATA, 3, random_state=0).refined is not None


def drawn(length: int) -> Sequences:
    return Sequences.of(RING.sample(length, random_state=0)[0], n_symbols=2)


def test_binary_data_of_three_states() -> None:
    data = drawn(20_000)
    fit = pairwise(data, 3, random_state=0)
    assert fit.began == "windows"
    assert fit.pairs is None
    assert fit.last is fit.refined
    assert fit.model.distance(RING).emission < 0.05
    assert fit.model.log_likelihood(data) >= RING.log_likelihood(data)
    assert "began='windows'" in repr(fit)


def test_what_the_data_bears() -> None:
    rng = np.random.default_rng(0)
    assert overcomplete_start(drawn(500), 3, random_state=0).model.n_components == 3
    few = Sequences.of(rng.integers(0, 10, 300), n_symbols=10)
    assert overcomplete_start(few, 12, random_state=0).began == "random starts"  # 10^5 windows
    short = Sequences.of([[0, 1], [1, 0], [1, 1]] * 30, n_symbols=2)
    assert (
        overcomplete_start(short, 3, random_state=0).began == "random starts"
    )  # no windows of five
    alike = Sequences.of([0] * 50)
    assert overcomplete_start(alike, 2, random_state=0).model.emissionprob.tolist() == [
        [1.0],
        [1.0],
    ]


def test_the_estimator() -> None:
    data = drawn(3000)
    model = PairwiseHMM(3, random_state=0).fit(data)
    assert model.pair_fit_ is None
    assert model.predict(data).max() == 2
    assert model.monitor_.converged == model.converged_
    dna = "".join(np.random.default_rng(0).choice(list("ACGT"), 1500))
    letters = PairwiseHMM(8, characters=True, random_state=0).fit(dna)
    assert letters.transmat_.shape == (8, 8)


def test_counts_alone_are_told_that_sequences_are_needed() -> None:
    counts = count_pairs(drawn(1000))
    for learn in (
        lambda: PairwiseHMM(3).fit_counts(counts),
        lambda: PairwiseHMM(3, refine=False).fit(drawn(1000)),
        lambda: pairwise(counts, 3),
    ):
        with pytest.raises(ValueError, match=r"n_components=3 .* 2 symbols: give the sequences"):
            learn()
