"""What must always hold, of any model and any data.

Every law is a function that fails by assertion.  ``data`` is a list of sequences as
`Sequences.of` reads it, None for a missing observation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cohmm import HMM

EXACT = 1e-10


def close(found: Any, true: Any, tolerance: float = EXACT) -> None:
    """Equal up to ``tolerance``, relative for what is above one; finite, not NaN."""
    found, true = np.asarray(found, float), np.asarray(true, float)
    assert found.shape == true.shape
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, true, rtol=tolerance, atol=tolerance)


def rows_are_distributions(rows: Any) -> None:
    rows = np.asarray(rows)
    assert np.isfinite(rows).all()
    assert (rows >= 0).all()
    np.testing.assert_allclose(rows.sum(axis=-1), 1.0, rtol=0, atol=EXACT)


# -- inference ------------------------------------------------------------------------------


def forward_is_forward_backward(model: HMM, data: Any) -> None:
    """One log-likelihood, however it is found."""
    total, _ = model.expected_counts(data)
    close(total, model.log_likelihood(data))
    close(model.log_likelihoods(data).sum(), model.log_likelihood(data))


def last_posterior_is_filter(model: HMM, data: Sequence[Any]) -> None:
    """Where nothing follows, there is nothing to look ahead to."""
    ends = np.cumsum([len(sequence) for sequence in data]) - 1
    close(model.posterior(data)[ends], model.filter(data)[ends])


def filter_is_causal(model: HMM, data: Sequence[Any]) -> None:
    """What comes later changes no filtered distribution, not even its last bit."""
    for sequence in data:
        whole = model.filter([sequence])
        for t in range(1, len(sequence)):
            np.testing.assert_array_equal(model.filter([sequence[:t]]), whole[:t])


def sequences_are_independent(model: HMM, data: Sequence[Any]) -> None:
    """All sequences in one call, or every one in its own."""
    each = [[sequence] for sequence in data]
    close(model.log_likelihoods(data), [model.log_likelihood(one) for one in each])
    close(model.filter(data), np.concatenate([model.filter(one) for one in each]))
    close(model.posterior(data), np.concatenate([model.posterior(one) for one in each]))
    found = model.expected_counts(data)[1]
    alone = [model.expected_counts(one)[1] for one in each]
    for name in found._fields:
        close(getattr(found, name), sum(getattr(counts, name) for counts in alone))
    close(model.decode_each(data)[0], [model.decode(one)[0] for one in each])


def expected_counts_add_up(model: HMM, data: Sequence[Any]) -> None:
    """Margins of the expected counts are margins of the data and of the posterior."""
    _, (starts, transitions, emissions) = model.expected_counts(data)
    posterior = model.posterior(data)
    lengths = [len(sequence) for sequence in data]
    flat = [symbol for sequence in data for symbol in sequence]
    seen = np.array([symbol is not None for symbol in flat])
    first = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    last = np.cumsum(lengths) - 1
    close(starts, posterior[first].sum(axis=0))
    close(transitions.sum(axis=1), np.delete(posterior, last, axis=0).sum(axis=0))
    close(transitions.sum(axis=0), np.delete(posterior, first, axis=0).sum(axis=0))
    close(emissions.sum(axis=1), posterior[seen].sum(axis=0))
    observed = np.bincount([s for s in flat if s is not None], minlength=model.n_symbols)
    close(emissions.sum(axis=0), observed)


def states_may_be_permuted(model: HMM, data: Any, order: Any) -> None:
    """Answers do not depend on how the states are numbered."""
    other = model.with_states(order)
    close(other.log_likelihood(data), model.log_likelihood(data))
    close(other.posterior(data), model.posterior(data)[:, order])
    close(other.filter(data), model.filter(data)[:, order])
    close(other.decode(data)[0], model.decode(data)[0])
    counts, others = model.expected_counts(data)[1], other.expected_counts(data)[1]
    close(others.transitions, counts.transitions[np.ix_(order, order)])


def symbols_may_be_relabelled(model: HMM, data: Sequence[Any], order: Any) -> None:
    """Answers do not depend on how the symbols are numbered: new code i was order[i]."""
    other = HMM(model.startprob, model.transmat, model.emissionprob[:, order])
    code = np.argsort(order)
    renamed = [[None if s is None else int(code[s]) for s in sequence] for sequence in data]
    close(other.log_likelihood(renamed), model.log_likelihood(data))
    close(other.posterior(renamed), model.posterior(data))
    close(other.decode(renamed)[0], model.decode(data)[0])
    found = other.expected_counts(renamed)[1]
    close(found.emissions, model.expected_counts(data)[1].emissions[:, order])


def viterbi_is_at_least(model: HMM, data: Any, log_prob: float) -> None:
    """No path beats the best one, and the best one is no more than all together."""
    best, _ = model.decode(data)
    slack = EXACT * max(1.0, abs(best))
    assert best >= log_prob - slack
    assert best <= model.log_likelihood(data) + slack


# -- counting -------------------------------------------------------------------------------


def parts_add_up(count: Callable[[Any], Any], parts: Sequence[Any], whole: Any) -> None:
    """Merged counts are the counts of the whole, bit for bit, in any order of merging."""
    expected = count(whole)
    counts = [count(part) for part in parts]
    assert sum(counts) == expected
    assert sum(reversed(counts)) == expected
    half = len(counts) // 2
    assert sum(counts[:half]) + sum(counts[half:]) == expected
