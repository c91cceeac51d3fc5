"""What is known of a model, and what is learned of the rest: against EM by enumeration."""

from __future__ import annotations

import pickle
from itertools import pairwise as pairs_of
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from cohmm import HMM, PairwiseHMM, Sequences, count_pairs
from cohmm.learn import pairwise
from cohmm.learn.constraints import Constraints, PseudoCounts
from cohmm.learn.maximize import added, m_step
from cohmm.model.hmm import ImpossibleObservation
from cohmm.model.inference import Counts
from tests import laws
from tests.learn.sequences.test_likelihood import agreeing

LEFT_RIGHT = HMM(
    [1, 0, 0],
    [[0.8, 0.2, 0], [0, 0.7, 0.3], [0, 0, 1]],
    [[0.6, 0.3, 0.05, 0.05], [0.1, 0.1, 0.6, 0.2], [0.05, 0.05, 0.1, 0.8]],
)
SETTINGS: dict[str, Any] = {"smoothing": 0.0, "tol": 1e-7, "max_iter": 400, "random_state": 0}


def drawn(model: HMM, n: int, length: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    draws = [model.sample(length, random_state=seed) for seed in range(n)]
    return [symbols for symbols, _ in draws], [states for _, states in draws]


SEQUENCES, STATES = drawn(LEFT_RIGHT, 8, 6)
SMALL = Sequences.of(SEQUENCES, n_symbols=4)
START = HMM(
    [0.6, 0.3, 0.1], [[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]], LEFT_RIGHT.emissionprob
)
WEATHER = HMM([0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]], [[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]])
TABLES = {
    "startprob_": WEATHER.startprob,
    "transmat_": WEATHER.transmat,
    "emissionprob_": WEATHER.emissionprob,
}
MODEL = HMM([0.5, 0.5], [[0.5, 0.5], [0, 1]], [[0.2, 0.8], [0.6, 0.4]])
COUNTS = Counts(np.array([3.0, 1.0]), np.array([[1.0, 3.0], [0.0, 0.0]]), np.eye(2))


def em_step(
    model: HMM,
    sequences: list[Any],
    *,
    weights: Any = None,
    known: Any = None,
    learned: str = "ste",
    pseudo: PseudoCounts = PseudoCounts(),  # noqa: B008
) -> tuple[float, HMM]:
    """The objective, and one EM step, by enumeration of all paths."""
    weights = np.ones(len(sequences)) if weights is None else weights
    known = [[-1] * len(y) for y in sequences] if known is None else known
    tables = [model.startprob, model.transmat, model.emissionprob]
    totals = [np.zeros_like(table) for table in tables]
    objective = pseudo.log_density(model)
    for w, y, states in zip(weights, sequences, known, strict=True):
        probability, counts = agreeing(model, list(y), list(states))
        objective += w * np.log(probability)
        for total, count in zip(totals, counts, strict=True):
            total += w * count / probability
    new = []
    for letter, table, total, extra in zip("ste", tables, totals, pseudo, strict=True):
        count = total + extra * (table > 0)
        rows = count.sum(axis=-1, keepdims=True)
        moved = np.where(rows > 0, count / np.where(rows > 0, rows, 1), table)
        new.append(moved if letter in learned else table)
    return objective, HMM(*new)


def is_where_em_ends(fit: HMM, start: HMM, sequences: list[Any], **options: Any) -> None:
    """EM gains from the start on, and nothing from the fit on; what is held, or zero, stayed."""
    before, _ = em_step(start, sequences, **options)
    reached, after = em_step(fit, sequences, **options)
    gained, _ = em_step(after, sequences, **options)
    learned = options.get("learned", "ste")
    assert reached > before + 0.1 if learned else reached == before
    assert -1e-9 < gained - reached < 1e-3
    for letter, name in zip("ste", ("startprob", "transmat", "emissionprob"), strict=True):
        table, old = getattr(fit, name), getattr(start, name)
        laws.rows_are_distributions(table)
        assert (table[old == 0] == 0).all()
        assert letter in learned or table.tolist() == old.tolist()


def learn(known: Constraints, data: Any = SMALL, **options: Any) -> Any:
    return pairwise(data, 3, constraints=known, **{**SETTINGS, **options})


def of(model: HMM, **more: Any) -> Constraints:
    return Constraints(model.startprob, model.transmat, model.emissionprob, **more)


def test_left_right_ends_where_em_does() -> None:
    start = HMM([1, 0, 0], [[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1]], LEFT_RIGHT.emissionprob)
    is_where_em_ends(learn(of(start)).model, start, SEQUENCES)


def test_a_topology_is_enough_to_start_from() -> None:
    sequences, _ = drawn(LEFT_RIGHT, 400, 12)
    data = Sequences.of(sequences)
    known = Constraints([1, 0, 0], [[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1]])  # type: ignore[arg-type]
    for smoothing in (0.0, 0.1):  # what is smoothed keeps its zeros
        model = learn(known, data, smoothing=smoothing, tol=1e-3).model
        assert (model.transmat[LEFT_RIGHT.transmat == 0] == 0).all()
        assert (model.startprob == [1, 0, 0]).all()
        assert model.log_likelihood(data) > LEFT_RIGHT.log_likelihood(data)
        assert np.abs(model.emissionprob - LEFT_RIGHT.emissionprob).max() < 0.08  # in order


@pytest.mark.parametrize("learned", ["t", "st", "se", "te", "e", ""])
def test_what_is_held_stays_and_the_rest_ends_where_em_does(learned: str) -> None:
    is_where_em_ends(learn(of(START, learned=learned)).model, START, SEQUENCES, learned=learned)


def test_labels_for_some_and_weights_end_where_em_does() -> None:
    known = [np.where(np.arange(6) == s % 6, states, -1) for s, states in enumerate(STATES)]
    weights = np.array([1, 2, 0.5, 1, 3, 1, 0.25, 1])
    fit = learn(of(START, states=known), weights=weights)
    is_where_em_ends(fit.model, START, SEQUENCES, weights=weights, known=known)
    reached, _ = em_step(fit.model, SEQUENCES, weights=weights, known=known)
    assert -fit.refined.length * fit.refined.divergence == pytest.approx(reached, abs=1e-3)


def test_a_prior_ends_where_em_does() -> None:
    pseudo = PseudoCounts(0.5, np.array([[1.0, 0, 0], [0, 2, 0], [0, 0, 1]]), 0.3)
    fit = learn(of(START, prior=pseudo)).model
    is_where_em_ends(fit, START, SEQUENCES, pseudo=pseudo)


def test_a_prior_below_one_takes_away() -> None:
    pseudo = PseudoCounts(-0.9, -0.9, -0.5)
    start = HMM([0.4, 0.3, 0.3], np.full((3, 3), 1 / 3), LEFT_RIGHT.emissionprob)
    sparse = learn(
        Constraints(start.startprob, start.transmat, start.emissionprob, prior=pseudo)
    ).model
    assert (sparse.transmat == 0).sum() > 0
    laws.rows_are_distributions(sparse.transmat)


def test_all_labels_are_counting() -> None:
    fit = learn(Constraints(states=STATES))
    counts = np.zeros((3, 3))
    emitted = np.zeros((3, 4))
    for y, states in zip(SEQUENCES, STATES, strict=True):
        for before, after in pairs_of(states):
            counts[before, after] += 1
        for symbol, state in zip(y, states, strict=True):
            emitted[state, symbol] += 1
    laws.close(fit.model.transmat, counts / counts.sum(axis=1, keepdims=True))
    laws.close(fit.model.emissionprob, emitted / emitted.sum(axis=1, keepdims=True))
    assert fit.model.startprob.tolist() == [1, 0, 0]
    assert fit.converged
    assert fit.pairs is fit.refined is None


def test_a_tenth_of_the_labels_names_the_states() -> None:
    sequences, states = drawn(LEFT_RIGHT, 100, 12)
    data, every = Sequences.of(sequences), np.concatenate(states)
    some = np.where(np.random.default_rng(0).random(len(every)) < 0.1, every, -1)
    model = learn(Constraints(states=some), data, smoothing=None, tol=1e-3).model
    assert np.mean(model.decode(data)[1] == every) > 0.85
    assert np.abs(model.transmat - LEFT_RIGHT.transmat).max() < 0.1


def test_states_without_a_label_are_learned_beside_those_that_have_some() -> None:
    sequences, states = drawn(LEFT_RIGHT, 200, 12)
    data, every = Sequences.of(sequences), np.concatenate(states)
    only_last = np.where(every == 2, every, -1)  # nothing is said of states 0 and 1
    model = learn(Constraints(states=only_last), data, smoothing=None, tol=1e-3).model
    assert np.abs(model.emissionprob[2] - LEFT_RIGHT.emissionprob[2]).max() < 0.12
    others = {model.emissionprob[k].argmax() for k in (0, 1)}
    assert others == {0, 2}  # what LEFT_RIGHT's first two states emit most


def test_emissions_held_from_pairs_alone() -> None:
    truth = HMM(
        [0.5, 0.3, 0.2],
        [[0.9, 0.1, 0], [0.1, 0.5, 0.4], [0.3, 0.6, 0.1]],
        LEFT_RIGHT.emissionprob,
    )
    counts = count_pairs(truth.sample(200_000, random_state=0)[0])
    known = Constraints(emissionprob=truth.emissionprob, learned="st")
    fit = learn(known, counts, max_iter=5000, tol=1e-3)
    assert np.abs(fit.model.transmat - truth.transmat).max() < 0.05
    assert fit.model.emissionprob.tolist() == truth.emissionprob.tolist()
    assert fit.history[-1].objective < 1e-3
    held = learn(
        Constraints(transmat=truth.transmat, learned="se"), counts, max_iter=5000, tol=1e-3
    )
    assert held.model.transmat.tolist() == truth.transmat.tolist()
    assert np.abs(held.model.emissionprob - truth.emissionprob).max() < 0.15


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"transmat": np.eye(2)}, r"transmat has the shape \(2, 2\): 3 states"),
        ({"startprob": [0.5, 0.5]}, r"startprob has the shape \(2,\)"),
        ({"emissionprob": np.full((3, 2), 0.5)}, r"emissionprob has the shape \(3, 2\)"),
        ({"transmat": [[0, 0, 0], [0, 1, 0], [0, 0, 1]]}, "row 0 of transmat sums to 0"),
        ({"learned": "x"}, "'x'"),
        (
            {"startprob": [1, 0, 0], "prior": PseudoCounts(np.ones(2))},
            r"prior of startprob .*\(2,\)",
        ),
        ({"prior": PseudoCounts(0.0, np.ones((2, 2)))}, r"prior of transmat .*\(2, 2\)"),
        ({"emissionprob": [[1, 0, 0, 0]] * 3, "learned": "st"}, "symbol 1 occurs"),
    ],
)
def test_what_cannot_be_known(known: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learn(Constraints(**known))


def test_contradictions_are_named() -> None:
    states = [np.zeros(6, int) for _ in SEQUENCES]
    states[2] = np.array([0, 1, 0, 0, 0, 0])
    table = [[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1]]
    for label in (states, [np.where(np.arange(6) < 5, s, -1) for s in states]):
        with pytest.raises(
            ImpossibleObservation, match="sequence 2, position 2 in the state given"
        ):
            learn(Constraints(transmat=table, states=label))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the data, not its counts"):
        learn(Constraints(states=STATES), count_pairs(SMALL))
    with pytest.raises(ValueError, match="zero"):
        learn(Constraints(states=STATES[:1] + STATES[1:]), weights=np.zeros(8))


def by_hand(**options: Any) -> PairwiseHMM:
    model = PairwiseHMM(2, **options)
    for name, table in TABLES.items():
        setattr(model, name, table)
    return model


@pytest.fixture(scope="module")
def data() -> list[np.ndarray]:
    return [WEATHER.sample(30, random_state=seed)[0] for seed in range(60)]


@pytest.mark.parametrize("implementation", ["scaling", "log"])
def test_what_answers_needs_no_fit(implementation: str) -> None:
    model = by_hand(implementation=implementation)
    X = np.array([[0], [1], [2]])
    assert model.n_features is None  # nothing was used yet
    with pytest.warns(UserWarning, match="is read as hmmlearn's column, one sequence"):
        assert model.decode(X.tolist())[0] == model.decode(X)[0]
    log_prob, states = model.decode(X)
    assert round(np.exp(log_prob), 5) == 0.01344
    assert states.tolist() == [1, 0, 0]
    assert model.n_features == 3
    assert model.get_params()["n_features"] is None
    assert model.score(X) == pytest.approx(WEATHER.log_likelihood([0, 1, 2]))
    laws.close(model.predict_proba(X), WEATHER.posterior([0, 1, 2]), 1e-12)
    laws.close(model.filter(X), WEATHER.filter([0, 1, 2]), 1e-12)
    laws.close(model.forecast(X), WEATHER.forecast([0, 1, 2]), 1e-12)
    assert model.sample(5, random_state=0)[0].shape == (5, 1)
    assert model.aic(X) < model.aic(np.tile(X, (2, 1)))


def test_logarithms_all_the_way_give_the_same(data: list[np.ndarray]) -> None:
    scaled, logs = by_hand(), by_hand(implementation="log")
    laws.close(scaled.score_sequences(data), logs.score_sequences(data), 1e-10)
    laws.close(scaled.predict_proba(data), logs.predict_proba(data), 1e-10)
    laws.close(scaled.surprise(data), logs.surprise(data), 1e-10)
    laws.close(scaled.forecast(data), logs.forecast(data), 1e-10)
    assert scaled.bic(data) == pytest.approx(logs.bic(data))
    with pytest.raises(
        ValueError, match="implementation must be one of 'scaling', 'log', not 'fast'"
    ):
        by_hand(implementation="fast").score(data)
    with pytest.raises(ValueError, match="implementation must be one of"):
        by_hand(implementation="fast").forecast(data)


def test_checked_together_when_first_used() -> None:
    model = PairwiseHMM(2)
    model.startprob_ = [0.5, 0.5]
    with pytest.raises(NotFittedError, match="set transmat_ and emissionprob_"):
        model.score([0, 1])
    model.transmat_ = np.full((3, 3), 1 / 3)  # nothing is wrong yet
    model.emissionprob_ = np.full((2, 4), 0.25)
    with pytest.raises(ValueError, match=r"transmat must be \(2, 2\)"):
        model.score([0, 1])
    model.transmat_ = [[0.5, 0.4], [0.5, 0.5]]
    with pytest.raises(ValueError, match=r"row 0 of transmat sums to 0\.9"):
        model.predict([0, 1])
    model.transmat_ = [[0.5, 0.5], [0.5, 0.5]]
    assert model.score([0, 1]) == pytest.approx(2 * np.log(0.25))
    for wrong, message in ((3, "2 states, and n_components=3"), (2, "4 symbols, and n_features=5")):
        other = PairwiseHMM(wrong, n_features=None if wrong == 3 else 5)
        other.startprob_, other.transmat_, other.emissionprob_ = (
            model.startprob_, model.transmat_, model.emissionprob_,
        )  # fmt: skip
        with pytest.raises(ValueError, match=message):
            other.score([0, 1])


def test_a_fitted_model_can_be_changed(data: list[np.ndarray]) -> None:
    model = PairwiseHMM(2, random_state=0).fit(data)
    learned = model.model_
    model.startprob_ = [1, 0]
    assert model.model_.startprob.tolist() == [1, 0]
    assert model.transmat_.tolist() == learned.transmat.tolist()
    copied = pickle.loads(pickle.dumps(model))
    assert copied.model_ == model.model_
    with pytest.raises(NotFittedError):
        clone(model).score(data)


def test_labels_are_kept() -> None:
    model = by_hand(vocabulary=["walk", "shop", "clean"])
    assert model.predict(["walk", "shop", "clean"]).tolist() == [1, 0, 0]
    assert model.vocabulary_ == ("walk", "shop", "clean")


def test_what_is_set_is_where_it_starts(data: list[np.ndarray]) -> None:
    start = by_hand(max_iter=1)
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 passes over the data"):
        start.fit(data)
    # One pass is one Baum-Welch step.
    counts = WEATHER.expected_counts(data)[1]
    laws.close(start.transmat_, counts.transitions / counts.transitions.sum(1, keepdims=True), 1e-9)
    laws.close(start.emissionprob_, counts.emissions / counts.emissions.sum(1, keepdims=True), 1e-9)
    laws.close(start.startprob_, counts.starts / counts.starts.sum(), 1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fit_goes_on_where_it_stood(data: list[np.ndarray]) -> None:
    model = by_hand(max_iter=1, init_params="")
    scores = [model.fit(data).score(data) for _ in range(5)]
    assert np.all(np.diff(scores) > 0)


@pytest.mark.parametrize("params", ["st", "te", "se", "e"])
def test_what_is_not_among_params_stays(data: list[np.ndarray], params: str) -> None:
    model = by_hand(params=params).fit(data)
    for letter, name in zip("ste", TABLES, strict=True):
        same = np.array_equal(getattr(model, name), TABLES[name])
        assert same is (letter not in params)


def test_init_params_say_what_starts_from_the_data(data: list[np.ndarray]) -> None:
    model = PairwiseHMM(2, init_params="ste", random_state=0)
    model.transmat_ = [[1, 0], [0, 1]]
    with pytest.warns(UserWarning, match="transmat_ was set by hand, but init_params='ste'"):
        model.fit(data)
    assert (model.transmat_ > 0).all()
    kept = PairwiseHMM(2, init_params="se", random_state=0)
    kept.transmat_ = [[0.5, 0.5], [0, 1]]
    kept.fit(data)
    assert kept.transmat_[1, 0] == 0
    assert kept.transmat_[0, 1] > 0


def test_zeros_that_were_set_are_kept_by_every_fit(data: list[np.ndarray]) -> None:
    model = PairwiseHMM(3, random_state=0, smoothing=0.1)
    model.transmat_ = [[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]]
    for _ in range(2):
        model.fit(data)
        assert (model.transmat_[[0, 1, 2], [2, 0, 1]] == 0).all()
        assert (model.emissionprob_ > 0).all()


def test_emissions_held_from_pairs(data: list[np.ndarray]) -> None:
    model = PairwiseHMM(2, params="st", refine=False)
    model.emissionprob_ = WEATHER.emissionprob
    model.fit(data)
    assert model.emissionprob_.tolist() == WEATHER.emissionprob.tolist()
    assert np.abs(model.transmat_ - WEATHER.transmat).max() < 0.15
    with pytest.raises(ValueError, match="params='se' holds transmat_ fixed: set it before fit"):
        PairwiseHMM(2, params="se").fit(data)
    with pytest.raises(ValueError, match="params must be made of the letters"):
        PairwiseHMM(2, params="x").fit(data)


def test_known_states_and_weights(data: list[np.ndarray]) -> None:
    states = [WEATHER.sample(30, random_state=seed)[1] for seed in range(60)]
    model = PairwiseHMM(2).fit(data, states=states)
    moved = np.zeros((2, 2))
    for path in states:
        np.add.at(moved, (path[:-1], path[1:]), 1)
    laws.close(model.transmat_, moved / moved.sum(axis=1, keepdims=True))
    assert model.monitor_.converged
    some = np.where(np.arange(1800) % 10, -1, np.concatenate(states))
    model = PairwiseHMM(2, random_state=0).fit(data, states=some)
    assert model.emissionprob_[0, 0] < model.emissionprob_[1, 0]  # in the order of the labels
    # A weight of two is as good as being there twice; a weight of none as being away.  (But for
    # smoothing: of very little data without weights it is a mean over models that are drawn.)
    weights = np.repeat([2.0, 1.0, 0.0], 20)
    plain = PairwiseHMM(2, random_state=0, tol=1e-6, smoothing=0)
    weighted = clone(plain).fit(data, sample_weight=weights)
    repeated = clone(plain).fit(data[:20] * 2 + data[20:40])
    laws.close(weighted.emissionprob_, repeated.emissionprob_, 2e-3)
    laws.close(weighted.transmat_, repeated.transmat_, 2e-3)


def test_priors_are_dirichlets(data: list[np.ndarray]) -> None:
    from hmmlearn.hmm import CategoricalHMM

    priors = {"startprob_prior": 3.0, "transmat_prior": np.array([[5.0, 1], [1, 9]]),
              "emissionprob_prior": 2.0}  # fmt: skip
    ours = by_hand(tol=1e-9, max_iter=300, **priors).fit(data)
    # Where we end, a step of hmmlearn's EM changes nothing.
    peer = CategoricalHMM(2, init_params="", n_iter=1, **priors)
    for name in TABLES:
        setattr(peer, name, getattr(ours, name).copy())
    peer.fit(np.concatenate(data)[:, None], [30] * 60)
    for name, table in TABLES.items():
        laws.close(getattr(ours, name), getattr(peer, name), 1e-4)
        assert np.abs(getattr(ours, name) - table).max() > 0.01


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"startprob_prior": -1}, "startprob_prior is -1.0"),
        ({"transmat_prior": [[1, 1], [1, np.nan]]}, r"transmat_prior\[1, 1\] is nan"),
        ({"emissionprob_prior": np.ones((2, 2))}, r"prior of emissionprob has the shape \(2, 2\)"),
        ({"unseen": "often"}, "unseen must be one of"),
    ],
)
def test_options_that_cannot_be(
    data: list[np.ndarray], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        PairwiseHMM(2, **options).fit(data)


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        ({"sample_weight": -np.ones(60)}, "weight of sequence 0 is -1"),
        ({"sample_weight": np.zeros(60)}, "weights of all sequences are zero"),
        ({"sample_weight": np.ones(3)}, r"one number per sequence, \(60,\), not \(3,\)"),
        ({"states": [0, 1]}, "one entry per observation, 1800, not 2"),
        ({"states": np.full(1800, 2)}, "state 2 at sequence 0, position 0"),
    ],
)
def test_data_that_cannot_be(data: list[np.ndarray], fit: dict[str, Any], message: str) -> None:
    model = by_hand()
    with pytest.raises(ValueError, match=message):
        model.fit(data, **fit)
    assert model.transmat_ is TABLES["transmat_"]  # and nothing is lost


@pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")
def test_lengths_and_weights_are_routed(data: list[np.ndarray]) -> None:
    import sklearn
    from sklearn.model_selection import GridSearchCV, cross_val_score

    lengths = np.array([30 - s % 5 for s in range(60)])
    padded = np.stack(data)
    cut = [y[:n] for y, n in zip(data, lengths, strict=True)]
    with sklearn.config_context(enable_metadata_routing=True):
        model = PairwiseHMM(2, random_state=0).set_fit_request(lengths=True, sample_weight=True)
        model.set_score_request(lengths=True)
        routed = {"lengths": lengths, "sample_weight": np.ones(60)}
        scores = cross_val_score(model, padded, cv=3, params=routed)
        listed = cross_val_score(model, cut, cv=3, params=routed)
        search = GridSearchCV(model, {"n_components": [1, 2]}, cv=3).fit(padded, **routed)
    expected = [
        PairwiseHMM(2, random_state=0).fit(cut[:a] + cut[b:], sample_weight=np.ones(60 - b + a))
        .score(cut[a:b])
        for a, b in ((0, 20), (20, 40), (40, 60))
    ]  # fmt: skip
    np.testing.assert_allclose(scores, expected)
    np.testing.assert_allclose(listed, expected)
    assert search.best_params_["n_components"] == 2


def test_a_generator_as_random_state(data: list[np.ndarray]) -> None:
    rng = np.random.default_rng(0)
    model = PairwiseHMM(2, random_state=rng).fit(data)
    assert model.sample(3)[0].shape == (3, 1)
    same = PairwiseHMM(2, random_state=np.random.default_rng(0)).fit(data)
    assert model.model_ == same.model_


def test_in_proportion_to_the_counts() -> None:
    model = m_step(MODEL, COUNTS)
    assert model.startprob.tolist() == [0.75, 0.25]
    assert model.transmat.tolist() == [[0.25, 0.75], [0, 1]]  # a row never visited stays
    assert model.emissionprob.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("learned", ["", "s", "t", "e", "se"])
def test_what_is_not_learned_stays(learned: str) -> None:
    model, free = m_step(MODEL, COUNTS, learned), m_step(MODEL, COUNTS)
    for letter, name in zip("ste", ("startprob", "transmat", "emissionprob"), strict=True):
        source = free if letter in learned else MODEL
        assert getattr(model, name).tolist() == getattr(source, name).tolist()


def test_pseudo_counts_leave_zeros_alone() -> None:
    pseudo = PseudoCounts(1.0, 2.0, np.array([[1.0, 0.0], [0.0, 3.0]]))
    total = added(COUNTS, pseudo.possible(MODEL))
    assert total.starts.tolist() == [4, 2]
    assert total.transitions.tolist() == [[3, 5], [0, 2]]
    assert total.emissions.tolist() == [[2, 0], [0, 4]]
    expected = np.log(0.5) * 2 + 2 * np.log([0.5, 0.5, 1]).sum() + np.log(0.2) + 3 * np.log(0.4)
    assert pseudo.log_density(MODEL) == pytest.approx(expected)


def test_what_is_taken_away_leaves_nothing_below_zero() -> None:
    total = added(COUNTS, PseudoCounts(-2.0, 0.0, 0.0).possible(MODEL))
    assert m_step(MODEL, total).startprob.tolist() == [1, 0]
    assert PseudoCounts(-2.0).log_density(MODEL) == 0
