"""Fitted estimators, told from other values by what they have learned.

Diagnosis, plots and the report stand below the estimators, whose methods call them.
"""

from __future__ import annotations

from typing import Any

from cohmm.learn.topics.topic_fit import TopicFit


def as_fitted_hmm(value: Any) -> Any:
    """``value`` if it is a fitted `PairwiseHMM`, None if it is something else.

    An estimator that is not fitted raises scikit-learn's `NotFittedError`.
    """
    return value if _is_fitted(value) and hasattr(value, "model_") else None


def as_fitted_topics(value: Any) -> Any:
    """``value`` if it is a fitted `HTMM`, None if it is something else."""
    fitted = _is_fitted(value) and isinstance(getattr(value, "fit_", None), TopicFit)
    return value if fitted else None


def _is_fitted(value: Any) -> bool:
    if isinstance(value, type) or not hasattr(value, "__sklearn_is_fitted__"):
        return False
    if not value.__sklearn_is_fitted__():
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(value)  # raises
    return True
