"""What is known of a model before the data is seen, and a start that agrees with it.

Tables that are set are where learning starts, and their zeros stay.  What is not set is learned
from pairs with the rest held (`cohmm.learn.pairs.pair_em`), or counted where states are known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from cohmm.data.sequences import Sequences
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.kernels.types import Floats
from cohmm.learn.fit import Fit
from cohmm.learn.options import check_learned
from cohmm.learn.pairs.pair_em import Held, PairEM, pair_em
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.pairs.pair_fit import start_probability
from cohmm.learn.pairs.pair_law import Point
from cohmm.learn.run import Record
from cohmm.learn.sequences.em_step import ALL, PseudoCounts, added, maximised, tables
from cohmm.learn.sequences.labels import Labels
from cohmm.learn.sequences.likelihood import SequenceLikelihood
from cohmm.model.hmm import HMM
from cohmm.model.inference import Counts
from cohmm.model.probabilities import probabilities
from cohmm.model.sampling import generator

TINY = 1e-300
STARTS = 8  # of EM on the pairs, where emissions have to be learned with transitions given
LABELS_WORTH = 1.0  # observations: what all symbols, and all states, are worth beside the labels


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of a model.

    Parameters
    ----------
    startprob, transmat, emissionprob : arrays, optional
        Where learning starts; zeros stay zeros, and states keep their order.
    learned : str
        Letters of what is learned, "s"tart, "t"ransitions, "e"missions; what is set of the
        others stays as it is.
    states : array, (T,), optional
        States of the observations, -1 where unknown.
    prior : PseudoCounts, optional
        What is counted before the data is seen.
    """

    startprob: Floats | None = None
    transmat: Floats | None = None
    emissionprob: Floats | None = None
    learned: str = ALL
    states: Any = None
    prior: PseudoCounts | None = None

    def __post_init__(self) -> None:
        check_learned(self.learned)
        for name, ndim in (("startprob", 1), ("transmat", 2), ("emissionprob", 2)):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, probabilities(name, value, ndim))

    @property
    def n_tables(self) -> int:
        """How many of the three are set."""
        tables = (self.startprob, self.transmat, self.emissionprob)
        return sum(table is not None for table in tables)

    @property
    def decides_states(self) -> bool:
        """Whether anything that is known tells one state from another."""
        return self.n_tables > 0 or self.states is not None

    def check(self, n_components: int, n_symbols: int) -> None:
        """Refuse tables and pseudo-counts of another shape than the model will have."""
        k, n = n_components, n_symbols
        shapes = {"startprob": (k,), "transmat": (k, k), "emissionprob": (k, n)}
        for name, shape in shapes.items():
            value = getattr(self, name)
            if value is not None and value.shape != shape:
                raise ValueError(
                    f"{name} has the shape {value.shape}: {k} states and {n} symbols make {shape}"
                )
        for (name, shape), pseudo in zip(shapes.items(), self.prior or PseudoCounts(), strict=True):
            try:
                np.broadcast_to(pseudo, shape)
            except ValueError:
                raise ValueError(
                    f"the prior of {name} has the shape {np.shape(pseudo)}: {shape} is needed, "
                    "or one number"
                ) from None

    def over(self, model: HMM) -> HMM:
        """``model`` with the tables that are set."""
        return HMM(
            model.startprob if self.startprob is None else self.startprob,
            model.transmat if self.transmat is None else self.transmat,
            model.emissionprob if self.emissionprob is None else self.emissionprob,
            model.vocabulary,
        )


def from_labels(
    data: Sequences, known: Known, n_components: int, weights: Floats | None, random_state: Any
) -> Fit | HMM:
    """What the labels say: the answer where all states are known, else a start.

    A state that has no label begins at random, so that it is not the same as another such.
    """
    labels = Labels.of(data, known.states, n_components)
    counts = labels.counts(data, weights, n_components)
    frequency = data.symbol_counts
    overall = plain(n_components, np.maximum(frequency, TINY), data.vocabulary)
    begin = known.over(overall)
    if labels.complete:
        pseudo = (known.prior or PseudoCounts()).possible(begin)
        possible = PseudoCounts(*counts).possible(begin)
        model = maximised(begin, added(possible, pseudo), known.learned)
        log_likelihood = SequenceLikelihood(data, weights, labels).expected(model).log_likelihood
        record = Record(None)
        record(1, -log_likelihood)
        return Fit(model, True, tuple(record.history), (-log_likelihood,))
    drawn = generator(random_state).exponential(size=overall.emissionprob.shape)
    drawn *= overall.emissionprob * (counts.emissions.sum(axis=1, keepdims=True) == 0)
    counts = counts._replace(emissions=counts.emissions + drawn)
    extra = Counts(*(LABELS_WORTH * table for table in tables(overall)))
    return known.over(maximised(overall, added(counts, extra)))


def from_pairs(
    counts: Cooccurrence,
    known: Known,
    n_components: int,
    *,
    alone: bool,
    max_iter: int,
    tol: float,
    random_state: Any,
    record: Record,
) -> list[Fit]:
    """Models that agree with what is known, from pairs: the best first.

    Where pairs are ``alone``, with no sequences to go on from, what was held at first is learned
    from them as well.
    """
    evidence = PairEvidence.of(counts, counts.lags[:1])
    law, rng = evidence.laws[counts.lags[0]], generator(random_state)
    held = Held(
        emissions=known.emissionprob is not None,
        transitions=known.transmat is not None and "t" not in known.learned,
    )
    climb = partial(pair_em, law, n_pairs=evidence.n_pairs, max_iter=max_iter, tol=tol)
    begins = [
        _begin(evidence, known, n_components, rng) for _ in range(1 if held.emissions else STARTS)
    ]
    runs = sorted((climb(point, held) for point in begins), key=lambda run: -run.log_fit)
    if alone:
        held = held._replace(emissions=held.emissions and "e" not in known.learned)
        runs = [climb(runs[0].point, held, record=record)]
    return [_as_fit(run, evidence, known, record, law.negative_entropy) for run in runs]


def _begin(evidence: PairEvidence, known: Known, k: int, rng: np.random.Generator) -> Point:
    """A point with the zeros of what is known; at random, where that leaves anything open."""
    if known.emissionprob is not None:
        m = known.emissionprob.T[evidence.seen]
        short = m.sum(axis=1) <= 0
        if short.any():
            symbol = int(evidence.seen[np.argmax(short)])
            raise ValueError(f"symbol {symbol} occurs, but emissionprob lets no state emit it")
    else:
        m = evidence.frequency[:, None] * rng.exponential(size=(len(evidence.seen), k))
    m = m / m.sum(axis=0)
    theta = np.full((k, k), 1.0) if known.transmat is None else np.array(known.transmat)
    return Point(m, theta / theta.sum())


def _as_fit(
    run: PairEM, evidence: PairEvidence, known: Known, record: Record, negative_entropy: float
) -> Fit:
    m, theta = run.point
    k, n = len(theta), evidence.counts.n_symbols
    emission = np.zeros((k, n))
    emission[:, evidence.seen] = m.T
    visited = theta.sum(axis=1)
    rows = np.where(visited[:, None] > 0, theta, 1.0 if known.transmat is None else known.transmat)
    transmat = rows / rows.sum(axis=1, keepdims=True)
    if not (emission.sum(axis=1) > 0).all():  # a state that died out
        emission[emission.sum(axis=1) <= 0] = 1.0 / n
    prevalence = np.maximum(visited / visited.sum(), 1e-12)
    first = start_probability(m, evidence.counts.start_counts[evidence.seen], prevalence)
    stays = replace(
        known,
        transmat=None if "t" in known.learned else known.transmat,
        emissionprob=None if "e" in known.learned else known.emissionprob,
    )
    model = stays.over(HMM(first, transmat, emission, evidence.counts.vocabulary))
    history = tuple(record.history)
    if not history:
        own = Record(None)
        own(1, negative_entropy - run.log_fit)
        history = tuple(own.history)
    return Fit(model, run.converged, history, (history[-1].objective,))


def plain(k: int, frequency: Floats, vocabulary: Any) -> HMM:
    """A model in which no state differs from another; symbols in proportion to ``frequency``."""
    emission = np.tile(frequency / frequency.sum(), (k, 1))
    return HMM(np.full(k, 1 / k), np.full((k, k), 1 / k), emission, vocabulary)
