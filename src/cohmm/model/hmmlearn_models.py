"""To and from hmmlearn's categorical model: three arrays, and nothing else."""

from __future__ import annotations

from typing import Any

from cohmm.kernels.types import Floats

NAMES = ("startprob_", "transmat_", "emissionprob_")


def categorical_hmm(*tables: Floats) -> Any:
    """An `hmmlearn.hmm.CategoricalHMM` with these starts, transitions and emissions."""
    try:
        from hmmlearn.hmm import CategoricalHMM
    except ImportError:
        raise ImportError("hmmlearn is not installed: pip install 'cohmm[compare]'") from None
    n_components, n_symbols = tables[-1].shape
    model = CategoricalHMM(n_components, init_params="", implementation="scaling")
    model.n_features = n_symbols
    for name, table in zip(NAMES, tables, strict=True):
        setattr(model, name, table.copy())
    return model


def tables_of(model: Any) -> tuple[Any, Any, Any]:
    """Starts, transitions and emissions of a fitted `CategoricalHMM`."""
    for name in NAMES:
        if not hasattr(model, name):
            raise ValueError(
                f"{type(model).__name__} has no {name}: fit or set it, and use CategoricalHMM"
            )
    if hasattr(model, "n_trials"):
        raise ValueError(
            f"{type(model).__name__} emits counts of symbols, not symbols: use CategoricalHMM"
        )
    return model.startprob_, model.transmat_, model.emissionprob_
