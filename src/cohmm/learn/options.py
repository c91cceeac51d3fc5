"""Checks of options, by their names: a `ValueError` names the option and its value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cohmm.data.documents import Documents
from cohmm.data.partitioned import Partitioned
from cohmm.evidence.pairs import Cooccurrence
from cohmm.evidence.triples import Triples
from cohmm.evidence.windows import Windows
from cohmm.model.hmm import HMM

MOST_WEIGHT = 1e9  # observations

_HOW: dict[str, tuple[Any, str, str]] = {
    "Cooccurrence": (Cooccurrence, "counts of pairs, a Cooccurrence", "count_pairs(X)"),
    "Triples": (Triples, "counts of triples, a Triples", "count_triples(X)"),
    "Windows": (Windows, "counts of windows, a Windows", "count_windows(X, tau=2)"),
    "Documents": (Documents, "Documents", "read_documents(texts)"),
    "Documents | Partitioned": (
        (Documents, Partitioned),
        "Documents",
        "read_documents(texts)",
    ),
    "HMM": (HMM, "a model, an HMM", "PairwiseHMM(...).fit(X).model_"),
}


def check_option(name: str, value: Any, annotation: str) -> None:
    """An option that learners share, by its name; a start by what it is said to be, too."""
    if name == "start" and not annotation.startswith("HMM"):
        return
    if isinstance(value, str) and value == "auto" and "'auto'" in annotation:
        return
    if name in _CHECKS:
        _CHECKS[name](**{name: value})


def is_whole(value: object) -> bool:
    """Whether a value is a whole number: True is none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_whole(least: int = 1, **options: Any) -> None:
    """Whole numbers from ``least``."""
    for name, value in options.items():
        if not is_whole(value) or value < least:
            raise ValueError(f"{name} must be a whole number from {least}, not {value!r}")


def check_amounts(**options: Any) -> None:
    """Finite numbers from 0."""
    for name, value in options.items():
        if isinstance(value, (str, bool)) or not isinstance(value, (int, float, np.number)):
            raise ValueError(f"{name} must be a number, not {value!r}")
        if not 0 <= value < np.inf:
            raise ValueError(f"{name} must be finite and at least 0, not {value!r}")


def check_weights_of_priors(**options: Any) -> None:
    """Numbers from 0 that no data has to give way to entirely."""
    check_amounts(**options)
    for name, value in options.items():
        if value > MOST_WEIGHT:
            raise ValueError(f"{name} must be at most {MOST_WEIGHT:g}, not {value!r}")


def check_choice(allowed: tuple[Any, ...], **options: Any) -> None:
    """One of a few values."""
    for name, value in options.items():
        if not any(value is one or (isinstance(value, str) and value == one) for one in allowed):
            text = ", ".join(map(repr, allowed))
            raise ValueError(f"{name} must be one of {text}, not {value!r}")


def check_learned(learned: Any, name: str = "learned") -> None:
    """Some of the letters s, t and e."""
    if not isinstance(learned, str) or set(learned) - set("ste"):
        raise ValueError(
            f"{name} must be made of the letters 's' (start), 't' (transitions) and "
            f"'e' (emissions), such as 'ste', not {learned!r}"
        )


def check_seed(**options: Any) -> None:
    """Whole numbers, from which the same random numbers follow, or NumPy's own generators."""
    for name, value in options.items():
        if isinstance(value, (np.random.Generator, np.random.RandomState)):
            continue
        if not is_whole(value) or value < 0:
            raise ValueError(f"{name} must be a whole number from 0, or None, not {value!r}")


def check_states(wanted: Any, n_symbols: int, what: str = "states", of: str = "symbols") -> int:
    """A number of states, of which pairs of so many symbols can tell no more."""
    if not is_whole(wanted) or wanted < 1:
        raise ValueError(f"n_components must be a whole number from 1, or 'auto', not {wanted!r}")
    if wanted > n_symbols:
        raise ValueError(
            f"n_components={wanted} {what} cannot be learned from pairs of {n_symbols} {of}: "
            f"there must be at least as many {of} as {what}"
        )
    return int(wanted)


def check_functions(**options: Any) -> None:
    """Something to be called."""
    for name, value in options.items():
        if not callable(value):
            raise ValueError(f"{name} must be a function, not {value!r}")


def check_models(**options: Any) -> None:
    """An HMM."""
    for name, value in options.items():
        if not isinstance(value, HMM):
            raise ValueError(f"{name} must be an HMM, not {value!r}")


def needs(kind: str, given: object, learner: str) -> None:
    """Refuse evidence that is not of the ``kind`` a learner needs, and say how to get it."""
    if kind in _HOW and not isinstance(given, _HOW[kind][0]):
        _, what, how = _HOW[kind]
        raise ValueError(f"{learner} learns from {what}: give {how}, not a {type(given).__name__}")


def check_decay(decay: object) -> None:
    """Refuse a weight of the past that is none."""
    number = isinstance(decay, (int, float, np.number)) and not isinstance(decay, bool)
    if not number or not 0 < decay <= 1:  # type: ignore[operator]
        raise ValueError(f"decay must be a number above 0 and up to 1, not {decay!r:.60}")


def needs_sequences(given: object, learner: str) -> None:
    """Refuse counts where a learner has to read the sequences themselves."""
    if isinstance(given, (Cooccurrence, Triples, Windows)):
        raise ValueError(
            f"{learner} reads sequences, of which a {type(given).__name__} says too little: "
            "give the data that was counted"
        )


_CHECKS: dict[str, Callable[..., None]] = {
    "max_iter": check_whole,
    "n_init": check_whole,
    "workers": check_whole,
    "min_documents": check_whole,
    "tol": check_amounts,
    "smoothing": check_amounts,
    "sparsity": check_weights_of_priors,
    "random_state": check_seed,
    "start": check_models,
    "callback": check_functions,
    "stage": check_functions,
}
