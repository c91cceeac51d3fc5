"""Estimators as plots and the report see them: by what they have learned.

Those stand below the estimators, whose methods call them, and so know them by these protocols.
"""

from __future__ import annotations

from typing import Any, Protocol

from cohmm.data.documents import Documents
from cohmm.data.sequences import Unseen
from cohmm.evidence.pairs import Cooccurrence
from cohmm.kernels.types import Floats
from cohmm.learn.learner import Fit
from cohmm.learn.topics.htmm_fit import HTMMFit
from cohmm.model.hmm import HMM


class FittedHMM(Protocol):
    """A `PairwiseHMM` that was fitted."""

    fit_: Fit
    pair_fit_: Any
    counts_: Cooccurrence
    unseen: Unseen
    random_state: Any

    @property
    def model_(self) -> HMM:
        """The model."""

    def standard_errors(self) -> Any:
        """How sure each number is."""


class FittedTopics(Protocol):
    """An `HTMM` that was fitted, or loaded."""

    fit_: HTMMFit
    lags: Any
    chain: Any
    random_state: Any
    analyzer: Any
    token_pattern: str
    lowercase: bool
    stop_words: Any

    @property
    def components_(self) -> Floats:
        """P(word | topic), (K, V)."""

    @property
    def vocabulary_(self) -> tuple[str, ...]:
        """The words."""

    def encode(self, X: Any) -> Documents:
        """Documents in the words of the model."""

    def standard_errors(self) -> Any:
        """How sure each number is."""

    def segment(self, X: Any) -> list[Any]:
        """A topic for every word of every document."""

    def top_words(self, n: int, by: Any) -> list[list[str]]:
        """The top words of every topic."""


def as_fitted_hmm(value: Any) -> FittedHMM | None:
    """``value`` if it is a fitted `PairwiseHMM`, None if it is something else.

    An estimator that is not fitted raises scikit-learn's `NotFittedError`.
    """
    return value if _is_fitted(value) and hasattr(value, "model_") else None


def as_fitted_topics(value: Any) -> FittedTopics | None:
    """``value`` if it is a fitted `HTMM`, None if it is something else."""
    return (
        value if _is_fitted(value) and isinstance(getattr(value, "fit_", None), HTMMFit) else None
    )


def _is_fitted(value: Any) -> bool:
    if isinstance(value, type) or not hasattr(value, "__sklearn_is_fitted__"):
        return False
    if not value.__sklearn_is_fitted__():
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(value)  # raises
    return True
