"""Checks of options, by their names: a `ValueError` names the option and its value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cohmm._validation import check_amounts as check_amounts
from cohmm._validation import check_choice as check_choice
from cohmm._validation import check_decay as check_decay
from cohmm._validation import check_functions as check_functions
from cohmm._validation import check_learned as check_learned
from cohmm._validation import check_seed as check_seed
from cohmm._validation import check_states as check_states
from cohmm._validation import check_weights_of_priors as check_weights_of_priors
from cohmm._validation import check_whole as check_whole
from cohmm._validation import is_whole as is_whole
from cohmm.data.documents import Documents
from cohmm.data.partitioned import Partitioned
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.windows import Triples, Windows
from cohmm.model.hmm import HMM

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
