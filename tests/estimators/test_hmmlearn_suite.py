"""hmmlearn's own tests of its categorical model, with the class renamed; and its casino."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import hmmlearn
import numpy as np
import pytest
from hmmlearn.hmm import CategoricalHMM

from cohmm import PairwiseHMM

SUITE = Path(hmmlearn.__file__).parent / "tests" / "test_categorical_hmm.py"
PRIVATE = {  # they call methods that are hmmlearn's own affair
    "test_fit_with_init": "_init",
    "test__check_and_set_categorical_n_features": "_check_and_set_n_features",
}


@pytest.mark.skipif(not SUITE.is_file(), reason="hmmlearn was installed without its tests")
def test_hmmlearns_tests_pass(tmp_path: Path) -> None:
    text = SUITE.read_text("utf-8")
    text = text.replace("from hmmlearn import hmm", "from cohmm import PairwiseHMM")
    text = text.replace("from . import", "from hmmlearn.tests import")
    text = text.replace("hmm.CategoricalHMM", "PairwiseHMM")
    (tmp_path / "test_renamed.py").write_text(text, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-c", "/dev/null", "--rootdir", tmp_path, tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    failed = set(re.findall(r"^FAILED \S*::(\w+)\[", done.stdout, re.M))
    assert failed == set(PRIVATE), done.stdout
    for method in PRIVATE.values():
        assert f"has no attribute '{method}'" in done.stdout
    assert "4 failed, 18 passed" in done.stdout


def casino(kind: Any) -> Any:
    """A dealer who now and then uses a loaded die."""
    model = kind(2, random_state=99)
    model.startprob_ = np.array([1.0, 0.0])
    model.transmat_ = np.array([[0.95, 0.05], [0.1, 0.9]])
    model.emissionprob_ = np.array([[1 / 6] * 6, [0.1] * 5 + [0.5]])
    return model


def test_the_casino_is_found_out_at_least_as_well() -> None:
    rolls, states = casino(PairwiseHMM).sample(20_000, random_state=1)
    assert casino(PairwiseHMM).score(rolls) == pytest.approx(casino(CategoricalHMM).score(rolls))
    train, test = rolls[:10_000], rolls[10_000:]
    transitions = np.array([[0.8, 0.2], [0.3, 0.7]])
    scores: dict[Any, list[float]] = {PairwiseHMM: [], CategoricalHMM: []}
    for seed in range(3):
        for kind, found in scores.items():
            options = {"n_iter": 100} if kind is CategoricalHMM else {}
            model = kind(2, random_state=seed, init_params="se", **options)
            model.transmat_ = transitions
            found.append(model.fit(train).score(test))
    assert min(scores[PairwiseHMM]) > max(scores[CategoricalHMM]) - 0.5
    assert min(scores[PairwiseHMM]) > casino(PairwiseHMM).score(test) - 20
    fit = PairwiseHMM(2, random_state=0, init_params="se")
    fit.transmat_ = transitions
    guess = fit.fit(train).predict(test)
    right = (guess == states[10_000:]).mean()
    assert max(right, 1 - right) > 0.75


def test_an_estimator_from_a_fitted_model_of_hmmlearn() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (300, 1))
    theirs = CategoricalHMM(2, n_iter=5, random_state=0).fit(X, [100, 200])
    ours = PairwiseHMM.from_hmmlearn(theirs)
    assert ours.n_components == 2
    np.testing.assert_allclose(ours.emissionprob_, theirs.emissionprob_)
    assert ours.score(X, [100, 200]) == pytest.approx(theirs.score(X, [100, 200]))
    # The best path need not be the only one.
    assert ours.decode(X, [100, 200])[0] == pytest.approx(theirs.decode(X, [100, 200])[0])
    named = PairwiseHMM.from_hmmlearn(theirs, vocabulary=list("abcd"))
    np.testing.assert_array_equal(named.predict(["a", "d", "b"]), ours.predict([[0, 3, 1]]))
