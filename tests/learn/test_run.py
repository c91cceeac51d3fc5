"""What surrounds a learner: checks, one BLAS thread, records, warnings."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info

from cohmm import Cooccurrence, count_pairs, count_triples
from cohmm.learn import min_volume
from cohmm.learn.fit import Progress
from cohmm.learn.run import EvidenceWarning, Record, learner


@learner
def example(counts: Cooccurrence, n: int, *, tol: float = 0.1, other: str = "x") -> list[int]:
    """What BLAS may use."""
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_has_one_thread_inside() -> None:
    pairs = count_pairs([0, 1, 0])
    assert set(example(pairs, 1, other="y")) == {1}
    assert example.__doc__ == "What BLAS may use."


def test_shared_options_and_evidence_are_checked() -> None:
    pairs = count_pairs([0, 1, 0])
    with pytest.raises(ValueError, match=r"tol must be finite and at least 0, not -1\.0"):
        example(pairs, 1, tol=-1.0)
    with pytest.raises(ValueError, match=r"example learns from .* count_pairs\(X\), not a Triples"):
        example(count_triples([0, 1, 0]), 1)
    with pytest.raises(TypeError, match="nonsense"):
        example(pairs, 1, nonsense=1)


def test_a_record_keeps_and_tells() -> None:
    told: list[Progress] = []
    record = Record(told.append)
    assert record.gain(5.0) == float("inf")
    record(1, 3.0)
    record(4, 2.0, 1.5, volume=0.5, step=2.0)
    assert told == record.history
    assert [step[:5] for step in told] == [(1, 3.0, 3.0, 0.0, 1.0), (4, 2.0, 1.5, 0.5, 2.0)]
    assert 0 <= told[0].seconds <= told[1].seconds <= record.seconds
    assert record.gain(1.25) == 0.75
    Record(None)(1, 3.0)  # nobody listens


def test_a_warning_points_at_the_line_that_asked() -> None:
    counts = count_pairs([0, 1, 0, 1, 1, 0] * 20, n_symbols=3)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        min_volume(counts, 1, random_state=0)
    assert [warning.category for warning in heard] == [EvidenceWarning]
    assert Path(heard[0].filename) == Path(__file__)
