"""A topic model in a file: topics, chain, words and parameters, no pickle."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np

from cohmm import storage
from cohmm.evidence.cooccurrence import Cooccurrence, checked_lag
from cohmm.kernels.types import Floats
from cohmm.learn.fit import Progress
from cohmm.learn.topics.topic_fit import TopicFit

KIND = "topic model"
COUNTS = "counts."  # before the names of their arrays
ARRAYS = ("components", "prevalence", "prior", "transitions")


def save_fit(path: str | os.PathLike[str], fit: TopicFit, parameters: dict[str, Any]) -> None:
    """Write topics, the parameters that they were learned with, and their pairs if there are."""
    counts = fit.counts
    header = {
        "vocabulary": fit.vocabulary,
        "name": fit.name,
        "converged": fit.converged,
        "seconds": fit.seconds,
        "switch": float(fit.switch),
        "starts": [float(start) for start in fit.starts],
        "labels": fit.labels,
        "parameters": {name: _plain(name, value) for name, value in parameters.items()},
        "counts": None if counts is None else list(counts.lags),
    }
    arrays = {name: getattr(fit, name) for name in ARRAYS}
    for name in ("history", "passes"):
        arrays[name] = np.array(getattr(fit, name), np.float64).reshape(-1, len(Progress._fields))
    if counts is not None:
        arrays |= {f"{COUNTS}{name}": array for name, array in counts.arrays().items()}
    storage.save(path, KIND, header, arrays)


def load_fit(path: str | os.PathLike[str], known: Iterable[str]) -> tuple[TopicFit, dict[str, Any]]:
    """The topics and parameters that `save_fit` wrote, with no other than the ``known`` ones."""
    header, arrays = storage.load(path, KIND)

    def build() -> tuple[TopicFit, dict[str, Any]]:
        vocabulary = tuple(header["vocabulary"])
        fit = TopicFit(
            arrays["components"],
            arrays["prevalence"],
            arrays["prior"],
            vocabulary,
            str(header["name"]),
            bool(header["converged"]),
            _history(arrays["history"]),
            float(header["seconds"]),
            transitions=arrays["transitions"],
            switch=float(header["switch"]),
            passes=_history(arrays["passes"]),
            starts=tuple(map(float, header["starts"])),
            labels=tuple(header.get("labels", ())),  # files of earlier versions have none
            counts=_counts(header.get("counts"), arrays, vocabulary),
        )
        parameters = dict(header["parameters"])
        lags = parameters.get("lags", 1)
        if isinstance(lags, dict):
            lags = parameters["lags"] = {int(lag): share for lag, share in lags.items()}
        for lag in lags if isinstance(lags, (list, dict)) else [lags] if lags != "auto" else []:
            checked_lag(lag)
        for name in parameters.keys() - set(known):
            raise ValueError(f"there is no parameter {name!r}")
        return fit, parameters

    return cast(tuple[TopicFit, dict[str, Any]], storage.reading(path, build))


def _counts(
    lags: list[int] | None, arrays: dict[str, np.ndarray], vocabulary: tuple[Any, ...]
) -> Cooccurrence | None:
    if lags is None:
        return None
    own = {
        name.removeprefix(COUNTS): array
        for name, array in arrays.items()
        if name.startswith(COUNTS)
    }
    return Cooccurrence.from_arrays(lags, own, vocabulary)


def _history(rows: Floats) -> tuple[Progress, ...]:
    return tuple(Progress(int(row[0]), *row[1:]) for row in rows.tolist())


def _plain(name: str, value: Any) -> Any:
    """A parameter as JSON can hold it."""
    if callable(value):
        raise ValueError(
            f"{name}={value!r} is a function, which a file cannot hold: set_params({name}=None) "
            "first, and give documents that are cut into words already"
        )
    if isinstance(value, np.random.RandomState):
        return None  # it has been drawn from
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(name, item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(name, item) for item in value]
    return value
