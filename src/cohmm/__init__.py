"""Hidden Markov models, and topic models in which word order counts, from pair counts.

Names are imported when they are first used, so that the command line answers at once.
"""

from __future__ import annotations

from importlib import import_module

from cohmm.version import __version__ as __version__

TYPE_CHECKING = False  # of typing, which takes its time to import
if TYPE_CHECKING:
    from typing import Any

    from cohmm.data.documents import Documents
    from cohmm.data.read_documents import TextWarning, read_documents
    from cohmm.data.read_sequences import read_sequences
    from cohmm.data.sequences import Sequences
    from cohmm.diagnose.selection import select
    from cohmm.estimators.folds import SequenceKFold
    from cohmm.estimators.htmm import HTMM
    from cohmm.estimators.pairwise_hmm import PairwiseHMM
    from cohmm.evidence.cooccurrence import Cooccurrence
    from cohmm.evidence.counting import count_pairs
    from cohmm.evidence.windows import Triples, Windows, count_triples, count_windows
    from cohmm.kernels.threads import threads
    from cohmm.learn.learner import EvidenceWarning
    from cohmm.model.hmm import HMM, ImpossibleObservation
    from cohmm.storage import StorageError

__all__ = [
    "HMM",
    "HTMM",
    "Cooccurrence",
    "Documents",
    "EvidenceWarning",
    "ImpossibleObservation",
    "PairwiseHMM",
    "SequenceKFold",
    "Sequences",
    "StorageError",
    "TextWarning",
    "Triples",
    "Windows",
    "count_pairs",
    "count_triples",
    "count_windows",
    "read_documents",
    "read_sequences",
    "select",
    "threads",
]

_HOMES = {
    "cohmm.data.documents": ("Documents",),
    "cohmm.data.read_sequences": ("read_sequences",),
    "cohmm.data.sequences": ("Sequences",),
    "cohmm.data.read_documents": ("TextWarning", "read_documents"),
    "cohmm.diagnose.selection": ("select",),
    "cohmm.estimators.folds": ("SequenceKFold",),
    "cohmm.estimators.htmm": ("HTMM",),
    "cohmm.estimators.pairwise_hmm": ("PairwiseHMM",),
    "cohmm.evidence.counting": ("count_pairs",),
    "cohmm.evidence.cooccurrence": ("Cooccurrence",),
    "cohmm.evidence.windows": ("Triples", "Windows", "count_triples", "count_windows"),
    "cohmm.kernels.threads": ("threads",),
    "cohmm.learn.learner": ("EvidenceWarning",),
    "cohmm.model.hmm": ("HMM", "ImpossibleObservation"),
    "cohmm.storage": ("StorageError",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(home), name)
            return value
    raise AttributeError(f"module 'cohmm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
