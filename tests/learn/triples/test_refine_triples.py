"""Refinement by triples: what it is, and when the recipe chooses it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cohmm import HMM, Sequences, count_pairs, count_triples
from cohmm.datasets.synthetic import random_hmm
from cohmm.learn import min_volume, pairwise, window_ml
from cohmm.learn.sequences.zeros import opened
from cohmm.learn.triples import refine_triples as module
from cohmm.learn.triples.refine_triples import refine_triples

TRUTH = random_hmm(12, 3, stay=0.4, random_state=3)
DATA = Sequences.of(TRUTH.sample(30_000, random_state=1)[0], [10_000] * 3, n_symbols=12)


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
    monkeypatch.setattr(module, "WORTHWHILE", 3 * 12**3 - 1)
    assert pairwise(DATA, 3, random_state=0).refined is None
    monkeypatch.setattr(module, "WORTHWHILE", 3 * 12**3)
    assert pairwise(DATA, 3, random_state=0).refined is not None
