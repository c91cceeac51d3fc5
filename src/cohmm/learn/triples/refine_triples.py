"""From the pair estimate to maximum likelihood of the triples: for data of any length.

One pass over the data counts its triples; what follows costs the same for 1e7 symbols and for 1e12.
Where states persist, windows of three say less than sequences; where data is long, it is enough.
"""

from __future__ import annotations

from typing import Literal

from cohmm.data.partitioned import Partitioned
from cohmm.data.sequences import Sequences
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.windows import MOST_SYMBOLS, triple_counts
from cohmm.learn.fit import Callback
from cohmm.learn.sequences.likelihood import encoded
from cohmm.learn.sequences.refine import RefinedFit
from cohmm.learn.sequences.zeros import opened
from cohmm.learn.triples.window_ml import MAX_ITER, maximum_likelihood
from cohmm.model.hmm import HMM
from cohmm.model.sampling import generator

LONG = 10**7  # symbols: from here on triples say enough, and passes over the data take minutes
SHORT = 8  # symbols in a sequence, on average: its start and end are then part of what it says
WORTHWHILE = 4e8  # distinct triples times K: about a minute of one core


def refine_triples(
    model: HMM,
    data: Sequences | Partitioned,
    *,
    sparsity: float | Literal["auto"] = 0.0,
    smoothing: float = 0.1,
    max_iter: int = MAX_ITER,
    tol: float = 1e-3,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> RefinedFit:
    """Take a model to the maximum of the likelihood of all triples in ``data``.

    Parameters as for `cohmm.learn.refine`.

    >>> from cohmm.datasets.synthetic import random_hmm
    >>> truth, rough = (random_hmm(20, 3, zeros=zeros, random_state=0) for zeros in (.5, 0))
    >>> data = Sequences.of(truth.sample(100_000, random_state=0)[0])
    >>> refine_triples(rough, data, random_state=0).model.distance(truth).emission < 0.1
    True
    """
    triples = encoded(model, data).map_sum(triple_counts)
    fit, weight = maximum_likelihood(
        triples,
        opened(model),
        sparsity,
        smoothing=smoothing,
        max_iter=max_iter,
        tol=tol,
        rng=generator(random_state),
        callback=callback,
    )
    return RefinedFit(
        **vars(fit),
        before=model,
        gained=fit.history[0].divergence - fit.divergence,
        window_passes=fit.n_iter,
        length=int(triples.n_triples),
        evidence="triples",
        sparsity=weight,
    )


def triples_serve(counts: Cooccurrence) -> bool:
    """Whether data with these counts is refined by its triples, unless sequences are asked for."""
    n, n_sequences = counts.symbol_counts.sum(), counts.start_counts.sum()
    return bool(n > max(LONG, SHORT * n_sequences) and counts.n_symbols <= MOST_SYMBOLS)


def worthwhile_triples(length: int, n_components: int, n_symbols: int) -> bool:
    """Whether refining by the triples of so much data takes about a minute at most."""
    return min(length, n_symbols**3) * n_components <= WORTHWHILE
