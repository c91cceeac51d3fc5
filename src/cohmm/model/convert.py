"""A model in other forms: of more symbols, as data frames, as hmmlearn's categorical model."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from cohmm._validation import shown
from cohmm.data.vocabulary import Vocabulary, codes_in
from cohmm.kernels.types import Floats

if TYPE_CHECKING:
    from cohmm.model.hmm import HMM

NAMES = ("startprob_", "transmat_", "emissionprob_")


HMMTable = Literal["start", "transitions", "emissions"]


def frame(columns: Mapping[str, Any]) -> Any:
    """A `pandas.DataFrame`; pandas is imported here alone.

    >>> frame({"state": [0, 1]})["state"].tolist()
    [0, 1]
    """
    try:
        pandas = import_module("pandas")
    except ImportError:
        raise ImportError("data frames need pandas: pip install 'cohmm[frames]'") from None
    return pandas.DataFrame(dict(columns))


def square(values: Any, kind: str) -> dict[str, Any]:
    """The columns of a table of transitions, (K, K)."""
    k = len(values)
    return {
        f"from_{kind}": np.repeat(np.arange(k), k),
        f"to_{kind}": np.tile(np.arange(k), k),
        "probability": values.ravel(),
    }


def hmm_frame(model: HMM, what: HMMTable) -> Any:
    """One of the tables of a model: see `HMM.to_frame`."""
    k, n = model.emissionprob.shape
    if what == "start":
        return frame({"state": np.arange(k), "probability": model.startprob})
    if what == "transitions":
        return frame(square(model.transmat, "state"))
    if what == "emissions":
        symbols = list(range(n) if model.vocabulary is None else model.vocabulary)
        return frame(
            {
                "state": np.repeat(np.arange(k), n),
                "symbol": symbols * k,
                "probability": model.emissionprob.ravel(),
            }
        )
    raise ValueError(f"what must be one of {', '.join(get_args(HMMTable))}, not {shown(what)}")


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


def with_symbols(
    model: HMM, vocabulary: Vocabulary | None, n_symbols: int, share: Floats | None = None
) -> HMM:
    """``model`` among ``n_symbols`` symbols, of which its own have the places ``vocabulary`` says.

    New symbols have probability zero; or, with ``share``, (N,), every state emits them as often as
    it says.

    >>> from cohmm import HMM
    >>> with_symbols(HMM([1], [[1]], [[.5, .5]], ("a", "c")), ("a", "b", "c"), 3).emissionprob
    array([[0.5, 0. , 0.5]])
    """
    if model.n_symbols == n_symbols and model.vocabulary == vocabulary:
        return model
    places = np.arange(model.n_symbols)
    if model.vocabulary is not None and vocabulary is not None:
        places = codes_in(model.vocabulary, vocabulary)
    emission = np.zeros((model.n_components, n_symbols))
    new = np.ones(n_symbols, bool)
    new[places] = False
    left = 1.0
    if share is not None:
        emission[:, new] = share[new]
        left = 1.0 - share[new].sum()
    emission[:, places] = left * model.emissionprob
    return type(model)(
        model.startprob,
        model.transmat,
        emission / emission.sum(axis=1, keepdims=True),
        vocabulary,
    )
