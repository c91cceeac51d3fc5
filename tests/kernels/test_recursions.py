"""The kernels of the chain, for every way in which states fall into tiles of columns.

The rest is in tests/model; these also run at every level of the processor.
"""

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm import HMM
from cohmm.kernels import blocks, native, recursions
from cohmm.model import decoding, sampling
from tests import oracles
from tests.laws import close
from tests.strategies import distributions, models, random_model, sequences_of

# Every remainder of 24, with 28 as its own case, and more than one whole tile before it.
SIZES = [*range(1, 34), 44, 52, 56, 76, 100, 140]


@pytest.mark.parametrize("k", SIZES)
def test_every_answer_of_every_width(k):
    model = random_model(k, 7, seed=k)
    rng = np.random.default_rng(k)
    data = [rng.integers(-1, 7, n) for n in (1, 2, 5, 33, 40, 3, 9, 17, 64, 31)]
    gaps = [[None if symbol < 0 else symbol for symbol in y] for y in data]
    alphas = [oracles.log_filtered(model, y) for y in data]
    close(model.log_likelihoods(gaps), [oracles.log_likelihood(model, y) for y in data])
    close(model.filter(gaps), np.concatenate(alphas))
    close(model.posterior(gaps), np.concatenate([oracles.log_posterior(model, y) for y in data]))
    counts = [oracles.log_expected_counts(model, y) for y in data]
    for table, expected in zip(
        model.expected_counts(gaps)[1], zip(*counts, strict=True), strict=True
    ):
        close(table, sum(expected))
    scores, states = model.decode_each(gaps)
    ends = np.cumsum([len(y) for y in data])[:-1]
    for y, score, path in zip(data, scores, np.split(states, ends), strict=True):
        close(score, oracles.path_log_probability(model, y, path))
        close(score, best_log_probability(model, y))


def best_log_probability(model: HMM, y: np.ndarray) -> float:
    """Viterbi's score, one step after the other."""
    with np.errstate(divide="ignore"):
        trans, emit = np.log(model.transmat), np.log(model.emissionprob)
        score = np.log(model.startprob)
    for t, symbol in enumerate(y):
        score = score if t == 0 else (score[:, None] + trans).max(axis=0)
        score = score if symbol < 0 else score + emit[:, symbol]
    return float(score.max())


def test_ties_go_to_the_first_state():
    model = HMM(np.full(3, 1 / 3), np.full((3, 3), 1 / 3), np.full((3, 2), 1 / 2))
    assert (model.decode([0, 1] * 500)[1] == 0).all()
    assert (model.decode([0, 1] * 500, algorithm="map")[1] == 0).all()


# -- arrays ----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 7, 8, 9, 63, 64, 65, 500])
def test_padding_is_whole_vectors_and_no_more(k):
    assert k <= recursions.padded(k) < k + recursions.VECTOR
    assert recursions.padded(k) % recursions.VECTOR == 0


def test_pad_columns_keeps_the_values_and_fills_the_rest():
    array = np.arange(6.0).reshape(2, 3)
    out = recursions.pad_columns(array, fill=-1.0)
    assert out.shape == (2, recursions.padded(3))
    np.testing.assert_array_equal(out[:, :3], array)
    assert (out[:, 3:] == -1).all()


def test_zeros_begin_at_a_cache_line():
    for shape in ((3,), (5, 7), (2, 8, 24)):
        array = recursions.aligned_zeros(shape)
        assert array.shape == shape
        assert array.ctypes.data % recursions.CACHE_LINE == 0
        assert not array.any()


def test_arrays_of_another_type_or_order_are_refused():
    model = random_model(3, 4)
    logs, symbols, nats = model._logs, np.zeros(5, np.int32), np.empty(5)
    assert native.log_filter(symbols, logs, np.empty((5, 3)), nats) == -1
    for wrong in (np.empty((5, 3), np.float32), np.empty((3, 5)).T, np.empty(15), [[0.0] * 3] * 5):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            native.log_filter(symbols, logs, wrong, nats)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        native.log_filter(symbols.astype(np.int64), logs, np.empty((5, 3)), nats)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        native.log_filter(symbols, logs._replace(trans=logs.trans[:, ::2]), np.empty((5, 3)), nats)
    frozen = np.empty((5, 3))
    frozen.setflags(write=False)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        native.log_filter(symbols, logs, frozen, nats)


# -- blocks ----------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 12), min_size=1, max_size=5), st.integers(1, 12))
def test_blocks_tile_the_sequences(lengths, size):
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    cut, joints = blocks.cut_blocks(offsets, size)
    assert cut[0, 0] == 0
    assert cut[-1, 1] == offsets[-1]
    np.testing.assert_array_equal(cut[1:, 0], cut[:-1, 1])
    for first, last, left, right, s in cut.tolist():
        begin, end = offsets[s], offsets[s + 1]
        assert begin <= first < last <= end
        assert last - first == size or last == end
        assert (left == -1) == (first == begin)
        assert (right == -1) == (last == end)
        if left >= 0:
            assert joints[left].tolist() == [first, begin, end]
        if right >= 0:
            assert joints[right].tolist() == [last, begin, end]
    assert sorted(cut[:, 2][cut[:, 2] >= 0]) == list(range(len(joints)))


def test_probabilities_differ_by_their_ratio():
    a = np.array([0.5, 1e-20, 0.0])
    assert not blocks.differ(a, a * (1 + 1e-13))
    assert blocks.differ(a, a * (1 + 1e-11))
    assert blocks.differ(a, np.array([0.5, 3e-20, 0.0]))
    assert blocks.differ(a, np.array([0.5, 1e-20, 1e-200]))
    assert not blocks.differ(a, np.array([0.5, 1e-20, 1e-310]))
    assert blocks.differ(a, np.array([0.5, np.nan, 0.0]))


def test_scores_differ_by_their_difference():
    a = np.array([0.0, -700.0, -np.inf])
    assert not blocks.scores_differ(a, a + [0, 1e-13, 0])
    assert blocks.scores_differ(a, a + [0, 1e-11, 0])
    assert blocks.scores_differ(a, np.array([0.0, -700.0, -800.0]))
    assert blocks.scores_differ(a, np.array([0.0, -np.inf, -np.inf]))


@st.composite
def paths(draw):
    model = draw(models())
    sequences = draw(sequences_of(model.n_symbols))
    states = st.integers(0, model.n_components - 1)
    return model, sequences, [[draw(states) for _ in sequence] for sequence in sequences]


@given(paths())
def test_path_log_probs(drawn):
    model, sequences, states = drawn
    log_probs = decoding.path_log_probs(
        model._logs,
        np.concatenate(sequences).astype(np.int32),
        np.cumsum([0, *map(len, sequences)]),
        np.concatenate(states).astype(np.int32),
    )
    for log_prob, sequence, path in zip(log_probs, sequences, states, strict=True):
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
    cut, alias = sampling.alias_tables(probabilities)
    assert ((cut >= 0) & (cut <= 1)).all()
    assert ((alias >= 0) & (alias < probabilities.shape[1])).all()
    np.testing.assert_allclose(reconstructed(cut, alias), probabilities, rtol=0, atol=1e-15)
    assert (reconstructed(cut, alias)[probabilities == 0] == 0).all()


@pytest.mark.parametrize("concentration", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("n", [1, 2, 1000])
def test_alias_tables_of_uneven_rows(n, concentration):
    probabilities = np.random.default_rng(n).dirichlet(np.full(n, concentration), 5)
    cut, alias = sampling.alias_tables(probabilities)
    np.testing.assert_allclose(reconstructed(cut, alias), probabilities, rtol=0, atol=1e-13)
    assert (reconstructed(cut, alias)[probabilities == 0] == 0).all()


def test_the_largest_uniform_number_draws_a_possible_symbol():
    law = np.array([[0.5, 0.5, 0.0, 0.0]])
    tables = sampling.AliasTables(
        np.ones((1, 1)), np.zeros((1, 1), np.int32), *sampling.alias_tables(law)
    )
    top = np.nextafter(1.0, 0.0)
    for emitted in (0.0, 0.5, 0.75, top):
        symbols, states = np.empty(1, np.int32), np.empty(1, np.int32)
        after = native.sample_path(0, np.array([[emitted, top]]), tables, symbols, states)
        assert law[0, symbols[0]] > 0
        assert states[0] == after == 0


def test_draws_of_a_seed_never_change():
    """As version 0.1 drew them, bit for bit, on every machine and at every level."""
    model = HMM(
        [0.5, 0.3, 0.2],
        [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]],
        [[0.4, 0.3, 0.2, 0.1], [0.1, 0.1, 0.4, 0.4], [0.25, 0.3, 0.25, 0.2]],
    )
    symbols, states = model.sample(2_000_000, random_state=5)
    assert zlib.crc32(symbols.tobytes()) == 251121695
    assert zlib.crc32(states.tobytes()) == 1726027232
    rng = np.random.default_rng(0)
    seen, offsets = rng.integers(-1, 4, 300).astype(np.int32), np.array([0, 100, 101, 300])
    path = np.zeros(300, np.int32)
    native.draw_states(
        seen, offsets, model.startprob, model.transmat, model.emissionprob, rng.random(300), path
    )
    assert zlib.crc32(path.tobytes()) == 3249063181
