"""The method and its rivals: each from the first T symbols of a chain to a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cohmm import HMM, Cooccurrence, Sequences, Triples
from cohmm.learn.pairs.min_volume import min_volume
from cohmm.learn.pairs.nmf import nmf
from cohmm.learn.pairwise import pairwise
from cohmm.learn.sequences.baum_welch import baum_welch
from cohmm.learn.windows.cpd_em import cpd_em
from cohmm.learn.windows.tensor import tensor
from cohmm.learn.windows.window_ml import window_ml

from .figures import Line


class Observed(NamedTuple):
    """The first T symbols of a chain, and what was counted in them."""

    data: Sequences
    pairs: Cooccurrence
    triples: Triples
    pair_seconds: float  # CPU seconds of counting
    triple_seconds: float


class Method(NamedTuple):
    name: str  # of its steps
    line: Line  # in figures; its label in tables
    learn: Callable[[Observed, int, int], HMM]  # observed, K, seed
    cost: float = 1.0  # a guess of its seconds at N=100 and K=20, for the time left


def by_pairs(observed: Observed, n_components: int, seed: int) -> HMM:
    return min_volume(observed.pairs, n_components, random_state=seed).model


def by_refining(observed: Observed, n_components: int, seed: int) -> HMM:
    """The method, and on to maximum likelihood; of long data that of its triples alone.

    With zeros where they show, as a user gets it who asks for nothing.
    """
    return pairwise(observed.data, n_components, random_state=seed).model


def by_nmf(observed: Observed, n_components: int, seed: int) -> HMM:
    return nmf(observed.pairs, n_components, random_state=seed).model


def by_cpd(observed: Observed, n_components: int, seed: int) -> HMM:
    """As in the paper: the eigenvectors of one pencil of slices."""
    return tensor(observed.triples, n_components, n_pencils=1, max_iter=1, random_state=seed).model


def by_cpd_em(observed: Observed, n_components: int, seed: int) -> HMM:
    """As in the paper: EM that begins there."""
    start = by_cpd(observed, n_components, seed)
    return cpd_em(observed.triples, n_components, start=start, random_state=seed).model


def by_best_cpd(observed: Observed, n_components: int, seed: int) -> HMM:
    """As well as we can: least squares over all slices, from several pencils."""
    return tensor(observed.triples, n_components, random_state=seed).model


def by_best_cpd_em(observed: Observed, n_components: int, seed: int) -> HMM:
    return cpd_em(observed.triples, n_components, random_state=seed).model


def by_windows(observed: Observed, n_components: int, seed: int) -> HMM:
    return window_ml(observed.triples, n_components, random_state=seed).model


def by_baum_welch(observed: Observed, n_components: int, seed: int) -> HMM:
    """As in the paper: at most 500 iterations, from one random start."""
    return baum_welch(observed.data, n_components, max_iter=500, random_state=seed).model


# Dashes: a rival as it is in the paper.
METHODS = (
    Method("pairs", Line("pairs (the method)", "#0072B2", "o"), by_pairs, 2.0),
    Method("refined", Line("pairs, refined", "#D55E00", "D"), by_refining, 40.0),
    Method("nmf", Line("NMF", "#000000", "v", "--"), by_nmf, 10.0),
    Method("cpd", Line("CPD, one pencil", "#E69F00", "s", "--"), by_cpd, 0.2),
    Method("cpd-em", Line("CPD, one pencil + EM", "#009E73", "^", "--"), by_cpd_em, 8.0),
    Method("best-cpd", Line("CPD", "#E69F00", "s"), by_best_cpd, 0.5),
    Method("best-cpd-em", Line("CPD + EM", "#009E73", "^"), by_best_cpd_em, 8.0),
    Method("windows", Line("windows of three", "#CC79A7", "X"), by_windows, 10.0),
)
SMALL_METHODS = (
    *METHODS,
    Method("baum-welch", Line("Baum-Welch", "#56B4E9", "P", "--"), by_baum_welch, 20.0),
)
