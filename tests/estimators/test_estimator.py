"""scikit-learn's protocol without its base class: the same as with it, and imported when asked."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, DensityMixin, clone
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import UNCHANGED
from sklearn.utils.validation import check_is_fitted

from cohmm import PairwiseHMM
from cohmm.learn.fitted import as_fitted_hmm, as_fitted_topics

# The oracle: the same parameters and methods over scikit-learn's own base classes.
METHODS = ("__init__", "fit", "partial_fit", "predict", "predict_proba", "score")
Standard: Any = type(
    "PairwiseHMM",
    (DensityMixin, BaseEstimator),
    {name: getattr(PairwiseHMM, name) for name in (*METHODS, "__doc__", "__module__")},
)

OPTIONS: list[dict[str, Any]] = [
    {},
    {"n_components": 4, "random_state": 0},
    {"n_features": 7, "vocabulary": [f"word{i}" for i in range(90)], "lags": (1, 2)},
    {"transmat_prior": np.ones((4, 4)), "vocabulary": ["w" * 80] * 25},
]

SLOW = ("sklearn", "pandas", "scipy.stats", "scipy.optimize", "scipy.spatial")

WORK = """
import pickle, sys
from cohmm import PairwiseHMM
imported = set(sys.modules)
model = PairwiseHMM(2).set_params(random_state=0).fit([0, 1, 2, 2, 1, 0, 0, 1] * 500)
model.predict([0, 1]), model.score([0, 1]), model.sample(3), model.get_params()
model.model_.save("model"), pickle.loads(pickle.dumps(model))
print(*imported)
print(*sys.modules)
"""

COMMANDS = """
import sys
from typer.testing import CliRunner
from cohmm.cli import app
for command in (
    "fit data.txt -k 2 -o model", "score model data.txt", "decode model data.txt", "report model"
):
    done = CliRunner().invoke(app, command.split())
    assert done.exit_code == 0, done.output
print(*sys.modules)
"""


def shown(html: str) -> str:
    """Without the numbers that scikit-learn gives to everything that it shows."""
    return re.sub(r"sk-(container|estimator)-id-\d+", "", html)


def lines_of(code: str, folder: Path) -> list[set[str]]:
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [set(line.split()) for line in done.stdout.splitlines()]


# -- imported when asked -----------------------------------------------------------------------


def test_models_are_learned_without_scikit_learn(tmp_path: Path) -> None:
    """What makes the import quick: nothing that takes long is there before it is needed."""
    imported, at_the_end = lines_of(WORK, tmp_path)
    assert "cohmm.estimators.pairwise_hmm" in imported
    assert not imported & set(SLOW)
    assert not at_the_end & {"sklearn", "pandas", "scipy.stats"}


def test_commands_run_without_scikit_learn(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("a b c c b a a b\n" * 500)
    (modules,) = lines_of(COMMANDS, tmp_path)
    assert "cohmm.report" in modules
    assert not modules & {"sklearn", "pandas", "scipy.stats"}


# -- the same as with the base class -----------------------------------------------------------


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options))
def test_parameters_and_how_they_are_shown(options: dict[str, Any]) -> None:
    ours, standard = PairwiseHMM(**options), Standard(**options)
    assert ours.get_params().items() == standard.get_params().items()
    assert list(ours.get_params()) == list(standard.get_params())
    assert repr(ours) == repr(standard)
    assert shown(ours._repr_html_()) == shown(standard._repr_html_())
    with sklearn.config_context(print_changed_only=False):
        assert repr(ours) == repr(standard)
    with sklearn.config_context(display="text"):
        assert not hasattr(ours, "_repr_html_")
        assert ours._repr_mimebundle_() == standard._repr_mimebundle_()
    assert repr(make_pipeline(ours)).startswith("Pipeline(steps=[('pairwisehmm',")


def test_a_fitted_model_is_shown_as_fitted() -> None:
    assert "<span>Not fitted</span>" in PairwiseHMM(1)._repr_html_()
    model = PairwiseHMM(1).fit([0, 1, 1, 0, 2])
    assert "<span>Fitted</span>" in model._repr_html_()
    assert model._repr_mimebundle_()["text/plain"] == repr(model) == "PairwiseHMM()"
    assert model.n_features == 3  # but the parameter is still what was given


@pytest.mark.parametrize("wrong", ["n_states", "n_states__x"])
def test_parameters_that_there_are_not(wrong: str) -> None:
    model = PairwiseHMM(3)
    with pytest.raises(ValueError, match=f"Invalid parameter '{wrong}'") as ours:
        model.set_params(n_components=4, **{wrong: 2})
    assert model.n_components == 3
    with pytest.raises(ValueError) as standard:
        Standard(3).set_params(**{wrong: 2})
    assert str(ours.value).replace("__x", "") == str(standard.value)


def test_tags() -> None:
    expected = get_tags(Standard())
    expected.input_tags.categorical = expected.input_tags.allow_nan = True
    assert get_tags(PairwiseHMM()) == expected


def test_whether_it_is_fitted() -> None:
    model = PairwiseHMM(1)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    with pytest.raises(NotFittedError):
        as_fitted_hmm(model)
    model.startprob_, model.transmat_, model.emissionprob_ = [1], [[1]], [[0.5, 0.5]]
    check_is_fitted(model)
    assert as_fitted_hmm(model) is model
    assert as_fitted_topics(model) is None
    for other in (3, PairwiseHMM, LogisticRegression()):
        assert as_fitted_hmm(other) is as_fitted_topics(other) is None


# -- metadata ----------------------------------------------------------------------------------


def test_what_is_routed_is_the_same() -> None:
    ours, standard = PairwiseHMM(), Standard()
    assert str(ours.get_metadata_routing()) == str(standard.get_metadata_routing())
    names = [name for name in dir(standard) if name.endswith("_request") and name[0] != "_"]
    assert names == [name for name in dir(ours) if name.endswith("_request") and name[0] != "_"]
    with sklearn.config_context(enable_metadata_routing=True):
        for model in (ours, standard):
            assert model.set_fit_request(lengths=True, sample_weight="w") is model
            model.set_fit_request(states=False, lengths=UNCHANGED).set_score_request(lengths=True)
            model.set_partial_fit_request(decay=False).set_predict_request(lengths="n")
            type(model).set_predict_proba_request(model, lengths=True)
    expected = str(standard.get_metadata_routing())
    assert "{'lengths': True, 'states': False, 'sample_weight': 'w'}" in expected
    for same in (ours, clone(ours), deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert str(same.get_metadata_routing()) == expected


def test_a_clone_has_requests_of_its_own() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        model = PairwiseHMM().set_fit_request(lengths=True)
        other = clone(model).set_fit_request(lengths=False)
        model.get_metadata_routing().fit.add_request(param="states", alias=True)
    assert model.get_metadata_routing().fit.requests["lengths"] is True
    assert model.get_metadata_routing().fit.requests["states"] is None
    assert other.get_metadata_routing().fit.requests["lengths"] is False


def test_requests_that_cannot_be() -> None:
    with pytest.raises(RuntimeError, match="only available when metadata routing is enabled"):
        PairwiseHMM().set_fit_request(lengths=True)
    with sklearn.config_context(enable_metadata_routing=True):
        model = PairwiseHMM()
        with pytest.raises(TypeError, match="score takes no colour; it takes lengths"):
            model.set_score_request(colour=True)
        with pytest.raises(ValueError, match="`lengths` should be either"):
            model.set_fit_request(lengths=3.5)
        assert set(model.get_metadata_routing().fit.requests.values()) == {None}
        search = GridSearchCV(model, {}, cv=2)
        with pytest.raises(UnsetMetadataPassedError, match=r"requested for PairwiseHMM\.fit"):
            search.fit([[0, 1]] * 4, lengths=[2] * 4)


class Coloured(PairwiseHMM):
    """A class of the user's, which takes other things."""

    def __init__(self, colour: str = "red", n_features: int | None = None, **options: Any):
        super().__init__(n_features=n_features, **options)
        self.colour = colour

    def fit(self, X: Any, y: Any = None, *, shade: Any = None) -> Coloured:  # type: ignore[override]
        """Learn."""
        super().fit(X)
        return self


def test_a_class_that_derives_from_it() -> None:
    model = clone(Coloured("blue"))
    assert model.get_params() == {"colour": "blue", "n_features": None}
    assert repr(model) == "Coloured(colour='blue')"
    assert model.get_metadata_routing().fit.requests == {"shade": None}
    assert get_tags(model) == get_tags(PairwiseHMM())
    assert pickle.loads(pickle.dumps(model.fit([0, 1, 1, 0]))).model_ == model.model_
