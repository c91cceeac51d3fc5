"""A model as pandas data frames, in long form: one row per probability."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from cohmm._validation import shown

if TYPE_CHECKING:
    from cohmm.model.hmm import HMM

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
