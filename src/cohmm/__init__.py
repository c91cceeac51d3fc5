"""Hidden Markov models, and topic models in which word order counts, from pair counts."""

from cohmm.evidence.pairs import Cooccurrence, count_pairs
from cohmm.evidence.sequences import Sequences
from cohmm.evidence.triples import Triples, count_triples
from cohmm.hmm import PairwiseHMM, SequenceKFold
from cohmm.kernels.threads import threads
from cohmm.model.hmm import HMM, ImpossibleObservation
from cohmm.storage import StorageError

__version__ = "0.1.0"

__all__ = [
    "HMM",
    "Cooccurrence",
    "ImpossibleObservation",
    "PairwiseHMM",
    "SequenceKFold",
    "Sequences",
    "StorageError",
    "Triples",
    "count_pairs",
    "count_triples",
    "threads",
]
