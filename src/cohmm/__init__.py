"""Hidden Markov models, and topic models in which word order counts, from pair counts.

Names are imported when they are first used, so that the command line answers at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cohmm.evidence.counting import count_pairs
    from cohmm.evidence.documents import Documents
    from cohmm.evidence.pairs import Cooccurrence
    from cohmm.evidence.sequences import Sequences
    from cohmm.evidence.text import TextWarning, read_documents
    from cohmm.evidence.triples import Triples, count_triples
    from cohmm.hmm import PairwiseHMM, SequenceKFold
    from cohmm.kernels.threads import threads
    from cohmm.learn.evidence import EvidenceWarning
    from cohmm.model.hmm import HMM, ImpossibleObservation
    from cohmm.storage import StorageError
    from cohmm.topics.htmm import HTMM

__version__ = "0.1.0"

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
    "count_pairs",
    "count_triples",
    "read_documents",
    "threads",
]

_HOMES = {
    "cohmm.evidence.counting": ("count_pairs",),
    "cohmm.evidence.documents": ("Documents",),
    "cohmm.evidence.pairs": ("Cooccurrence",),
    "cohmm.evidence.sequences": ("Sequences",),
    "cohmm.evidence.text": ("TextWarning", "read_documents"),
    "cohmm.evidence.triples": ("Triples", "count_triples"),
    "cohmm.hmm": ("PairwiseHMM", "SequenceKFold"),
    "cohmm.kernels.threads": ("threads",),
    "cohmm.learn.evidence": ("EvidenceWarning",),
    "cohmm.model.hmm": ("HMM", "ImpossibleObservation"),
    "cohmm.storage": ("StorageError",),
    "cohmm.topics.htmm": ("HTMM",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(home), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'cohmm' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
