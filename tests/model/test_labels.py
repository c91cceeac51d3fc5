"""Labels come back as they are: from samples, from files, from scores of both."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cohmm import HMM, PairwiseHMM, Sequences, count_pairs
from tests.strategies import random_model

KEPT = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
ODD = [
    [-1, 1],
    [10**10, 5],
    ["a", "a\0"],
    [2**63, -1],
    [2**64 - 1, 0],
    [-(2**63), "x"],
    [1, "1"],
    ["", " "],
    ["\n", "é", "\U0001f600"],
    [True, False],
    [np.int8(-3), np.str_("b")],
]
LABELS = st.one_of(
    st.integers(-(2**63), 2**64 - 1),
    st.integers(-3, 3),
    st.text(max_size=3),
    st.text("a\0", max_size=3),
)


def named(vocabulary) -> HMM:
    model = random_model(2, len(vocabulary), seed=len(vocabulary))
    return HMM(model.startprob, model.transmat, model.emissionprob, vocabulary)


def check_round_trip(model: HMM, n: int = 30) -> None:
    """Codes of a sample are the same, whether its labels or the codes themselves are read."""
    bare = HMM(model.startprob, model.transmat, model.emissionprob)
    codes, states = bare.sample(n, random_state=0)
    labels, same = model.sample(n, random_state=0)
    np.testing.assert_array_equal(same, states)
    assert [type(label) for label in labels.tolist()] == [type(model.vocabulary[c]) for c in codes]
    assert labels.tolist() == [model.vocabulary[c] for c in codes]
    for data in (labels, labels[:, None], labels.tolist(), labels.astype(object)):
        assert model.encode(data).labels() == [labels.tolist()]
        assert model.log_likelihood(data) == bare.log_likelihood(codes)
        np.testing.assert_array_equal(model.decode(data)[1], bare.decode(codes)[1])
    counts = count_pairs(labels, vocabulary=model.vocabulary)
    np.testing.assert_array_equal(counts[1], count_pairs(codes, n_symbols=model.n_symbols)[1])


@pytest.mark.parametrize("vocabulary", ODD, ids=repr)
def test_odd_labels_come_back(vocabulary, tmp_path):
    model = named(vocabulary)
    check_round_trip(model)
    model.save(tmp_path / "model.cohmm")
    assert HMM.load(tmp_path / "model.cohmm") == model


@KEPT
@given(
    st.lists(LABELS, min_size=1, max_size=5, unique=True).filter(lambda v: len(set(v)) == len(v))
)
def test_any_labels_come_back(tmp_path, vocabulary):
    if any(isinstance(label, str) and not label.isascii() for label in vocabulary):
        try:
            "".join(label for label in vocabulary if isinstance(label, str)).encode()
        except UnicodeEncodeError:
            with pytest.raises(ValueError, match="not Unicode text"):
                named(vocabulary)
            return
    model = named(vocabulary)
    check_round_trip(model)
    model.save(tmp_path / "model.cohmm")
    assert HMM.load(tmp_path / "model.cohmm").vocabulary == model.vocabulary


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [
        ([2**64, 0], r"the one at 0 is 18446744073709551616, of more than 64 bits: give it as a"),
        ([0, -(2**63) - 1], "the one at 1 is -9223372036854775809, of more than 64 bits"),
        ([10**5000, 0], "the one at 0 is a number of 5,000 digits, of more than 64 bits"),
        (["\ud800", "a"], r"the one at 0 is '\\ud800', which is not Unicode text"),
        ([1.0, 2.0], "the one at 0 is 1.0: give it as a string"),
        ([None, "a"], "the one at 0 is None"),
        ([1, True], "the label True twice"),
    ],
)
def test_labels_that_could_not_come_back_are_refused(vocabulary, message):
    with pytest.raises(ValueError, match=message):
        named(vocabulary)


def test_an_estimator_with_odd_labels():
    model = PairwiseHMM(1, vocabulary=[-1, 10**10], random_state=0, max_iter=10, refine=False)
    rng = np.random.default_rng(0)
    X = rng.choice([-1, 10**10], 200)
    model.fit(X)
    sampled, _ = model.sample(50, random_state=0)
    assert np.isfinite(model.score(sampled))
    assert set(sampled.ravel().tolist()) <= {-1, 10**10}


def test_a_column_is_one_sequence_to_a_model():
    model = random_model(2, 3)
    y = np.array([[0], [1], [2]])
    assert model.log_likelihood(y) == model.log_likelihood([0, 1, 2])
    assert model.log_likelihoods(y, [1, 1, 1]).shape == (3,)
    assert model.log_likelihoods(Sequences.of([0, 1, 2], [1, 1, 1])).shape == (3,)
