"""AnomalyDetector: which sequences, at which threshold, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from cohmm import HMM, AnomalyDetector, PairwiseHMM, StorageError
from cohmm.diagnose.anomalies import combined, measures, threshold
from cohmm.model.answers import Answers

STAGES = ("connect", "login", "read", "lock", "write", "unlock", "logout", "<end>")
SERVER = HMM(  # connect, log in, read, lock, write, unlock, read, log out
    np.eye(9)[0],
    [
        [0, 1, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 0, 0, 0, 0],
        [0, 0, 0.5, 0.3, 0, 0, 0, 0.2, 0],
        [0, 0, 0, 0, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 0.4, 0.6, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0.7, 0.3, 0],
        [0, 0, 0, 0, 0, 0, 0.4, 0.6, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 0, 0, 0, 1],
    ],
    np.eye(8)[[0, 1, 2, 3, 4, 5, 2, 6, 7]],
    STAGES,
)


def broken(sequence: list[Any], rng: np.random.Generator) -> list[Any]:
    """Cut, with an event repeated, or with two swapped, so that the server cannot have done it."""
    while True:
        at = int(rng.integers(1, len(sequence)))
        how = rng.integers(3)
        if how == 0:
            other = sequence[:at]
        elif how == 1:
            other = sequence[:at] + sequence[at - 1 :]
        else:
            other = sequence[: at - 1] + [sequence[at], sequence[at - 1]] + sequence[at + 1 :]
        if SERVER.log_likelihood([*other, "<end>"]) == -np.inf:
            return other


@pytest.fixture(scope="module")
def logs() -> tuple[Any, list[list[Any]], list[list[Any]]]:
    """Normal sessions to learn from, others to judge, and broken ones."""
    draw = Answers(SERVER, end=True).sample
    rng = np.random.default_rng(0)
    spoilt = [broken(session, rng) for session in draw(200, 2)[0]]
    return draw(300, 0)[0], list(draw(300, 1)[0]), spoilt


@pytest.fixture(scope="module")
def detector(logs: Any) -> AnomalyDetector:
    model = PairwiseHMM(9, end=True, random_state=0)
    return AnomalyDetector(model, false_alarms=0.02, cv=2).fit(logs[0])


def test_broken_sessions_are_found(detector: AnomalyDetector, logs: Any) -> None:
    _, others, spoilt = logs
    scores = np.concatenate([detector.score_samples(others), detector.score_samples(spoilt)])
    is_normal = np.repeat([1, 0], [len(others), len(spoilt)])
    assert roc_auc_score(is_normal, scores) > 0.99
    assert (detector.predict(spoilt) == -1).mean() > 0.9
    assert (detector.predict(others) == -1).mean() < 0.05
    decision = detector.decision_function(spoilt)
    np.testing.assert_array_equal(detector.predict(spoilt) == -1, decision < 0)
    np.testing.assert_allclose(decision, detector.score_samples(spoilt) - detector.offset_)
    low, high = detector.false_alarm_interval_
    assert low < 0.02 < high


def test_why_a_session_is_odd(detector: AnomalyDetector) -> None:
    cut = ["connect", "login", "read", "lock"]
    odd = detector.explain(cut, n=2)
    assert len(odd) == 2
    assert (odd[0].position, odd[0].symbol) == (4, "<end>")
    assert odd[0].expected[0][0] == "write"
    assert odd[0].surprise > 3 > odd[1].surprise
    swapped = ["connect", "login", "read", "unlock", "read", "logout"]
    assert detector.explain(swapped)[0][:2] == (3, "unlock")
    assert detector.explain([["connect", "login", "nobody knows"]])[0].symbol == "nobody knows"
    with pytest.raises(ValueError, match="one sequence is explained at a time, not 2"):
        detector.explain([cut, swapped])


def test_files(detector: AnomalyDetector, logs: Any, tmp_path: Path) -> None:
    path = tmp_path / "detector.cohmm"
    detector.save(path)
    loaded = AnomalyDetector.load(path)
    for name in ("decision_function", "predict"):
        np.testing.assert_array_equal(
            getattr(loaded, name)(logs[2]), getattr(detector, name)(logs[2])
        )
    assert loaded.get_params(deep=False).keys() == detector.get_params(deep=False).keys()
    assert PairwiseHMM.load(path).score(logs[2]) == detector.model_.score(logs[2])
    detector.model_.save(path)
    with pytest.raises(StorageError, match="has a model, and no detector"):
        AnomalyDetector.load(path)
    with pytest.raises(NotFittedError):
        clone(detector).predict(logs[2])


@pytest.mark.parametrize("by", ["max", "mean", "window", "total", "auto"])
def test_measures_are_what_they_are_called(by: Any) -> None:
    rng = np.random.default_rng(1)
    offsets = np.array([0, 3, 4, 70, 75])
    nats = rng.exponential(size=75)
    values = measures(by, nats, offsets, 5)
    for s, row in enumerate(values):
        own = nats[offsets[s] : offsets[s + 1]]

        def sums(size: int, own: Any = own) -> list[float]:
            size = min(size, len(own))
            return [own[t : t + size].sum() for t in range(len(own) - size + 1)]

        expected = {
            "max": [own.max()],
            "mean": [own.mean()],
            "window": [max(sums(5))],
            "total": [own.sum()],
            "auto": [
                *[(own > level).mean() for level in (0.5, 1, 2, 4)],
                min(sums(50)) / min(len(own), 50),
                own.max(),
                own.sum(),
            ],
        }[by]
        assert row == pytest.approx(expected)


def test_the_share_of_false_alarms_is_kept() -> None:
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(200):  # whatever the measures are, the threshold holds for others like them
        normal, others = rng.gamma(2, size=(199, 7)), rng.gamma(2, size=(2000, 7))
        limit = threshold(combined(normal, normal, own=True), 0.05)
        shares.append((combined(others, normal) > limit.value).mean())
        assert limit.false_alarms.low < 0.05 < limit.false_alarms.high
    assert abs(np.mean(shares) - 0.05) < 0.006


def test_what_is_far_out_is_odd_by_any_measure() -> None:
    rng = np.random.default_rng(0)
    normal = rng.gamma(2, size=(500, 7))
    usual = np.full((1, 7), 1.5)
    for column in (5, 6):
        far, farther = usual.copy(), usual.copy()
        far[0, column], farther[0, column] = 40, 60
        scores = [combined(x, normal)[0] for x in (usual, far, farther)]
        assert scores == sorted(set(scores))
        assert scores[1] > threshold(combined(normal, normal, own=True), 0.005).value


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([], {}, "there is no data"),
        ([[0, 1]] * 50, {}, "takes 199 normal sequences at least to see, and there are 50"),
        ([0, 1, 1] * 99, {}, "takes 199 .*there is 1: give more, or ask for 0.5 or more"),
        ([[0, 1]] * 50, {"false_alarms": 2}, "false_alarms is a share, above 0 and below 1"),
        ([[0, 1]] * 50, {"by": "median"}, "by must be one of 'auto', .* not 'median'"),
        ([[0, 1]] * 50, {"cv": 1}, "cv"),
        ([[0, 1]] * 50, {"window": 0}, "window"),
    ],
)
def test_bad_input(X: Any, options: dict[str, Any], message: str) -> None:
    model = PairwiseHMM(1, end=True, random_state=0)
    with pytest.raises(ValueError, match=message):
        AnomalyDetector(model, **options).fit(X)


def test_every_option_changes_the_detector(logs: Any) -> None:
    def scores(**options: Any) -> tuple[Any, float]:
        model = PairwiseHMM(2, end=True, refine=False, random_state=0)
        fitted = AnomalyDetector(model, false_alarms=0.1, cv=2).set_params(**options)
        fitted.fit(list(logs[0])[:100])
        return fitted.score_samples(logs[2][:9]).tolist(), fitted.offset_

    plain = scores()
    assert scores() == plain
    for other in ({"by": "mean"}, {"false_alarms": 0.2}, {"cv": 5}, {"random_state": 1}):
        assert scores(**other) != plain
    assert scores(by="window", window=3) != scores(by="window")


def test_the_command_says_which_and_why(
    logs: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from typer.testing import CliRunner

    from cohmm.cli import app

    train, new = tmp_path / "train.txt", tmp_path / "new.txt"
    train.write_text("".join(f"{' '.join(session)}\n" for session in list(logs[0])[:200]))
    new.write_text("connect login read logout\nconnect login read lock\n")
    command = ["anomalies", str(train), str(new), "--false-alarms", ".05", "-k", "8", "--end"]
    shown = CliRunner().invoke(app, [*command, "-o", str(tmp_path / "d.cohmm")])
    assert shown.exit_code == 0, shown.stderr
    assert "1 of 2 sequences is an anomaly; of normal ones" in shown.stdout
    assert "new.txt, line 2" in shown.stdout
    assert "<end>" in shown.stdout
    assert AnomalyDetector.load(tmp_path / "d.cohmm").predict([["connect"]]).tolist() == [-1]
    wrong = CliRunner().invoke(app, [*command[:3], "--false-alarms", ".001"])
    assert wrong.exit_code == 2
    assert "takes 999 normal sequences" in wrong.stderr
