"""The kernels of the chain that can be seen by themselves; the rest is in tests/model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm.kernels import chain_steps, drawing, viterbi
from tests import oracles
from tests.strategies import distributions, models, sequences_of


@given(st.lists(st.integers(1, 12), min_size=1, max_size=5), st.integers(1, 6))
def test_blocks_tile_the_sequences(lengths, size):
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    blocks, joints = chain_steps.cut_blocks(offsets, size)
    assert blocks[0, 0] == 0
    assert blocks[-1, 1] == offsets[-1]
    np.testing.assert_array_equal(blocks[1:, 0], blocks[:-1, 1])
    for first, last, left, right, s in blocks.tolist():
        begin, end = offsets[s], offsets[s + 1]
        assert begin <= first < last <= end
        assert last - first == size or last == end
        assert (left == -1) == (first == begin)
        assert (right == -1) == (last == end)
        if left >= 0:
            assert joints[left].tolist() == [first, begin, end]
        if right >= 0:
            assert joints[right].tolist() == [last, begin, end]
    assert sorted(blocks[:, 2][blocks[:, 2] >= 0]) == list(range(len(joints)))


def test_probabilities_differ_by_their_ratio():
    a = np.array([0.5, 1e-20, 0.0])
    assert not chain_steps.differ(a, a * (1 + 1e-13), 1e-12)
    assert chain_steps.differ(a, a * (1 + 1e-11), 1e-12)
    assert chain_steps.differ(a, np.array([0.5, 3e-20, 0.0]), 1e-12)
    assert chain_steps.differ(a, np.array([0.5, 1e-20, 1e-200]), 1e-12)
    assert not chain_steps.differ(a, np.array([0.5, 1e-20, 1e-310]), 1e-12)
    assert chain_steps.differ(a, np.array([0.5, np.nan, 0.0]), 1e-12)


def test_scores_differ_by_their_difference():
    a = np.array([0.0, -700.0, -np.inf])
    assert not viterbi.scores_differ(a, a + [0, 1e-13, 0], 1e-12)
    assert viterbi.scores_differ(a, a + [0, 1e-11, 0], 1e-12)
    assert viterbi.scores_differ(a, np.array([0.0, -700.0, -800.0]), 1e-12)
    assert viterbi.scores_differ(a, np.array([0.0, -np.inf, -np.inf]), 1e-12)


@st.composite
def paths(draw):
    model = draw(models())
    sequences = draw(sequences_of(model.n_symbols))
    states = st.integers(0, model.n_components - 1)
    return model, sequences, [[draw(states) for _ in sequence] for sequence in sequences]


@given(paths())
def test_path_log_probs(drawn):
    model, sequences, states = drawn
    offsets = np.cumsum([0, *map(len, sequences)])
    found = np.empty(len(sequences))
    for part in ((0, 1), (1, len(sequences))):
        viterbi.path_log_probs(
            np.concatenate(sequences).astype(np.int32), offsets, part,
            np.concatenate(states).astype(np.int32),
            model._logs.start, model._logs.trans, model._logs.emit, found,
        )  # fmt: skip
    for log_prob, sequence, path in zip(found, sequences, states, strict=True):
        np.testing.assert_allclose(
            np.exp(log_prob), oracles.path_probability(model, sequence, path), rtol=1e-12, atol=0
        )


# -- sampling -------------------------------------------------------------------------------


def reconstructed(cut: np.ndarray, alias: np.ndarray) -> np.ndarray:
    """The probabilities that alias tables stand for."""
    n = cut.shape[1]
    out = cut / n
    for row in range(len(cut)):
        np.add.at(out[row], alias[row], (1 - cut[row]) / n)
    return out


@given(st.integers(1, 9).flatmap(lambda n: st.lists(distributions(n), min_size=1, max_size=3)))
def test_alias_tables_hold_the_probabilities(rows):
    probabilities = np.array(rows)
    cut, alias = drawing.alias_tables(probabilities)
    assert ((cut >= 0) & (cut <= 1)).all()
    assert ((alias >= 0) & (alias < probabilities.shape[1])).all()
    np.testing.assert_allclose(reconstructed(cut, alias), probabilities, rtol=0, atol=1e-15)
    assert (reconstructed(cut, alias)[probabilities == 0] == 0).all()


@pytest.mark.parametrize("concentration", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("n", [1, 2, 1000])
def test_alias_tables_of_uneven_rows(n, concentration):
    probabilities = np.random.default_rng(n).dirichlet(np.full(n, concentration), 5)
    cut, alias = drawing.alias_tables(probabilities)
    np.testing.assert_allclose(reconstructed(cut, alias), probabilities, rtol=0, atol=1e-13)
    assert (reconstructed(cut, alias)[probabilities == 0] == 0).all()


def test_the_largest_uniform_number_draws_a_possible_symbol():
    law = np.array([[0.5, 0.5, 0.0, 0.0]])
    cut, alias = drawing.alias_tables(law)
    top = np.nextafter(1.0, 0.0)
    for emitted in (0.0, 0.5, 0.75, top):
        symbols, states = np.empty(1, np.int32), np.empty(1, np.int32)
        after = drawing.sample_path(
            0, np.array([[emitted, top]]), np.ones((1, 1)), np.zeros((1, 1), np.int32), cut, alias,
            symbols, states,
        )  # fmt: skip
        assert law[0, symbols[0]] > 0
        assert states[0] == after == 0
