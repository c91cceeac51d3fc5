"""More states than symbols, from triples: the paper's last theorem.

    P(a, b, c) = sum_k pi_k L[a, k] M[b, k] R[c, k],    N < K <= N^2 / 16

1. The decomposition is unique for generic M, though no factor has full column rank: `polyadic`.
2. Theta = diag(pi) A solves M Theta = L diag(pi) and M Theta' = R diag(pi), and has zeros:
   `joint_transitions`.
3. With counts instead of the law itself: maximum likelihood of the triples from there, in M
   and A, with a preference for zeros in A: `window_ml`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.linalg import khatri_rao

from cohmm._validation import check_whole
from cohmm.evidence.windows import Triples, Windows
from cohmm.kernels.types import Floats
from cohmm.learn.learner import Callback, Fit, learner, warn
from cohmm.learn.pairs.min_volume import EXACT
from cohmm.learn.windows.polyadic import EXACT as ROUNDING
from cohmm.learn.windows.polyadic import (
    NORM_FLOOR,
    Factors,
    decompose,
    joint_transitions,
    refined,
    undetermined,
)
from cohmm.learn.windows.tensor import onto_simplex
from cohmm.learn.windows.window_law import WindowLaw
from cohmm.learn.windows.window_ml import window_maximum_likelihood
from cohmm.model.hmm import HMM
from cohmm.model.sampling import generator

DEPENDENT = 1e-9  # of the largest singular value
AMBIGUOUS = 1e-3  # total variation between two answers that are equally good
NO_RANK = 1e-14  # of the largest singular value: no more than rounding
MIXTURES = 20


@learner
def overcomplete(
    triples: Triples,
    n_components: int,
    *,
    sparsity: float = 3.0,
    n_init: int = 20,
    max_iter: int = 2000,
    tol: float = 1e-5,
    smoothing: float = 0.1,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> Fit:
    """Learn an HMM with sparse transitions and up to N^2 / 16 states from triples.

    The objective is the Kullback-Leibler divergence in nats per triple, and the term for
    sparsity.  ``starts`` is of the decomposition: half the squared distance of the whitened laws
    that each start left, which is near the divergence.

    Parameters
    ----------
    triples : Triples
        The evidence.
    n_components : int
        K.
    sparsity : float
        The weight of ``sum log(A + .1 / K)`` beside the log-likelihood of all triples, if they
        were counted; 0 for plain maximum likelihood.
    n_init : int
        Starts of the decomposition, at most; the first that leaves nothing over is the last.
    max_iter : int
        Passes of maximum likelihood over the triples, at most; with ``sparsity``, as many again.
    tol : float
        Stop when less than this share of a nat is left to gain for every parameter.
    smoothing : float
        As in `cohmm.learn.min_volume`; a law that was given gets none.
    random_state : int, optional
        Seed.
    callback : function of a `Progress`, optional
        Called with every pass that led further.

    >>> from cohmm import HMM
    >>> truth = HMM([.5, .5], [[.8, .2], [.2, .8]], [[.5, .3, .2], [.2, .3, .5]])
    >>> exact = Triples.from_probability(truth.triple_probability())
    >>> fit = overcomplete(exact, 2, random_state=0)
    >>> all(distance < 1e-8 for distance in fit.model.distance(truth))
    True
    """
    check_whole(n_components=n_components)
    rng = generator(random_state)
    law = WindowLaw.of(triples)
    _check_states(n_components, len(law.seen))
    exact = np.isinf(law.n_windows)
    factors, starts = _factors(law, n_components, n_init, rng)
    theta = joint_transitions(*factors)
    fit = window_maximum_likelihood(
        law,
        [_start(law, factors[0], theta)],
        rng,
        sparsity=sparsity,
        max_iter=max_iter,
        tol=tol,
        smoothing=smoothing,
        callback=callback,
    )
    if exact:
        _check_unique(fit, factors, rng)
    return replace(fit, starts=starts)


def _factors(
    law: WindowLaw, k: int, n_init: int, rng: np.random.Generator
) -> tuple[Factors, tuple[float, ...]]:
    """M, L diag(pi) and R diag(pi), (n, K) each, their rows over the root of the frequency.

    And half the squared distance to the law, whitened so, that every start left.
    """
    root = np.sqrt(law.frequency)
    white = law.probability / (root[:, None, None] * root[:, None] * root)
    # Of a law whitened so, every count has a variance of about one over the number of counts.
    size = float(np.vdot(white, white))
    noise = 0.5 * white.size / (law.n_windows * size)
    terms = decompose(white, k, rng, n_init, max(noise, ROUNDING))
    columns = [np.maximum(u, 0.0) * root[:, None] for u in terms.factors]
    sums = [np.maximum(u.sum(axis=0), NORM_FLOOR) for u in columns]
    pi = sums[0] * sums[1] * sums[2]
    before, m, after = (u / (total * root[:, None]) for u, total in zip(columns, sums, strict=True))
    pi = pi / pi.sum()
    return (m, before * pi, after * pi), tuple(size * misfit for misfit in terms.starts)


def _start(law: WindowLaw, white: Floats, theta: Floats) -> HMM:
    """M and A; a state that noise left without a successor goes anywhere."""
    a = np.where(theta.sum(axis=1)[:, None] > 0, theta, theta.sum(axis=0))
    a = a / a.sum(axis=1)[:, None]
    m = white * np.sqrt(law.frequency)[:, None]
    m = np.where(m.sum(axis=0) > 0, m, law.frequency[:, None])
    return law.model(m / m.sum(axis=0), a)


def _check_states(k: int, n: int) -> None:
    most = max(n, n * n // 16)
    if k > most:
        tau = 1
        while n > 1 and n**tau < k:
            tau += 1
        longer = f"count_windows(X, tau={tau})" if tau > 1 else "count_windows(X)"
        raise ValueError(
            f"n_components={k} states cannot be learned from triples of {n} symbols, but "
            f"{most} at most (N^2 / 16, or N): count longer windows, {longer}, and learn from "
            "them with cohmm.learn.grouped"
        )


def _check_unique(fit: Fit, factors: Factors, rng: np.random.Generator) -> None:
    """Warn where another model has the same law of triples."""
    n, k = factors[0].shape
    values = np.linalg.svd(fit.model.transmat, compute_uv=False)
    if fit.n_iter > 1 or fit.divergence >= EXACT:
        trouble = (
            f"no decomposition of these triples gives a model of {k} states: it is not unique, "
            "as where transitions of states are linearly dependent, or was missed; what maximum "
            f"likelihood made of it is {fit.divergence:.2g} nats per triple from their law"
        )
    elif values[-1] < DEPENDENT * values[0]:
        trouble = (
            "these triples do not determine the model: the transitions of its states are "
            "linearly dependent, and states that come before or after the same may be mixed up"
        )
    elif k > n and (apart := undetermined(*factors, rng)) > AMBIGUOUS:
        trouble = (
            "these triples do not determine the transitions, only the emissions: there are too "
            f"few zeros among the transitions for {k} states of {n} symbols (another answer "
            f"differs by {apart:.2g} in total variation)"
        )
    else:
        return
    advice = "longer windows tell more: count_windows, cohmm.learn.grouped"
    warn(f"{trouble}; {advice}")


@learner
def grouped(
    windows: Windows,
    n_components: int,
    *,
    sparsity: float = 0.0,
    n_init: int = 3,
    max_iter: int = 2000,
    tol: float = 1e-5,
    smoothing: float = 0.1,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> Fit:
    """Learn an HMM with up to N^tau states from windows of 2 tau + 1 symbols.

    The objective is the Kullback-Leibler divergence in nats per window, and the term for
    sparsity, if any.

    Parameters
    ----------
    windows : Windows
        The evidence.
    n_components : int
        K.
    sparsity : float
        The weight of ``sum log(A + .1 / K)`` beside the log-likelihood of all windows, if they
        were counted; about 3 where most transitions are impossible.
    n_init : int
        Starts of maximum likelihood; the first is the decomposition, the others are random.
    max_iter : int
        Passes of maximum likelihood over the windows, at most, from each; with ``sparsity``, as
        many again.
    tol : float
        Stop when less than this share of a nat is left to gain for every parameter.
    smoothing : float
        As in `cohmm.learn.min_volume`; a law that was given gets none.
    random_state : int, optional
        Seed.
    callback : function of a `Progress`, optional
        Called with every pass that led further.

    >>> from cohmm import HMM
    >>> from cohmm.learn.windows.window_law import window_probability
    >>> transmat = [[.8, .2, 0], [0, .8, .2], [.2, 0, .8]]
    >>> truth = HMM([1, 0, 0], transmat, [[.9, .1], [.5, .5], [.1, .9]])
    >>> exact = Windows.from_probability(window_probability(truth, tau=2))
    >>> fit = grouped(exact, 3, random_state=0)
    >>> all(distance < 1e-8 for distance in fit.model.distance(truth))
    True
    """
    check_whole(n_components=n_components)
    rng = generator(random_state)
    law = WindowLaw.of(windows)
    _check_grouped(n_components, len(law.seen), law.tau)
    return window_maximum_likelihood(
        law,
        _starts(law, n_components, n_init, rng),
        rng,
        sparsity=sparsity,
        max_iter=max_iter,
        tol=tol,
        smoothing=smoothing,
        callback=callback,
    )


def _starts(law: WindowLaw, k: int, n_init: int, rng: np.random.Generator) -> Iterator[HMM]:
    yield _diagonalised(law, k, rng)
    n = len(law.seen)
    for _ in range(n_init - 1):
        yield law.model(rng.dirichlet(np.ones(n), k).T, rng.dirichlet(np.ones(k), k))


def _diagonalised(law: WindowLaw, k: int, rng: np.random.Generator) -> HMM:
    """Steps 1 to 3."""
    cube = law.probability
    before, middle, after = (_root(cube.sum(axis=axes)) for axes in ((1, 2), (0, 2), (0, 1)))
    u, s, vt = np.linalg.svd(cube.sum(axis=1) / (before[:, None] * after), full_matrices=False)
    _check_rank(s, k, law)
    u, s, v = u[:, :k], s[:k], vt[:k].T
    white = cube / (before[:, None, None] * middle[:, None] * after)
    core = np.tensordot(np.tensordot(u.T, white, axes=1), v, axes=1)
    _, m, beta = refined(core, _pencil(core, s, rng))
    m = onto_simplex(m * middle[:, None], law.frequency)
    beta = onto_simplex((v @ beta) * after[:, None], cube.sum(axis=(0, 1)))
    return law.model(m, _transitions(m, beta, after[:, None]))


def _root(frequency: Floats) -> Floats:
    """What whitens; one where a window never occurs and there is nothing to whiten."""
    return np.sqrt(np.where(frequency > 0, frequency, 1.0))


def _pencil(core: Floats, s: Floats, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Factors of the compressed law, by the mixture of slices that diagonalises all best.

    The sum of all slices, diag(``s``), is what a mixture is divided by.
    """
    k = len(s)
    ratios = (core / s).transpose(1, 0, 2)
    least, best = np.inf, (np.eye(k), np.ones((len(ratios), k)), np.diag(s))
    for _ in range(MIXTURES):
        mixture = np.tensordot(rng.normal(size=len(ratios)), ratios, axes=1)
        values, vectors = np.linalg.eig(mixture)
        # Noise makes pairs of conjugate vectors; their real and imaginary part span the plane.
        q = np.ascontiguousarray(np.where(values.imag < 0, vectors.imag, vectors.real))
        if np.linalg.cond(q) > 1 / NO_RANK:
            continue
        inverse = np.linalg.inv(q)
        slices = inverse @ ratios @ q
        diagonal = np.diagonal(slices, axis1=1, axis2=2)
        beside = float(np.sum(slices**2) - np.sum(diagonal**2))
        if beside < least:
            least, best = beside, (q, diagonal.copy(), (inverse * s).T)
    return best


def _transitions(m: Floats, beta: Floats, root: Floats) -> Floats:
    """A from M and beta, by whitened non-negative least squares, one per row."""
    from scipy.optimize import nnls  # takes its time to import

    n, k = m.shape
    shorter = beta.reshape(-1, n, k).sum(axis=1)  # of one symbol less
    begun = khatri_rao(m, shorter) / root
    a = np.array([nnls(begun, column)[0] for column in (beta / root).T])
    a[a.sum(axis=1) == 0] = 1.0
    return np.asarray(a / a.sum(axis=1)[:, None])


def _check_grouped(k: int, n: int, tau: int) -> None:
    if k > n**tau:
        enough = tau
        while n > 1 and n**enough < k:
            enough += 1
        advice = f"count_windows(X, tau={enough})" if n > 1 else "more than one symbol"
        raise ValueError(
            f"n_components={k} states cannot be learned from windows of {n} symbols with "
            f"tau={tau}, but {n**tau} (N^tau) at most: use {advice}"
        )


def _check_rank(s: Floats, k: int, law: WindowLaw) -> None:
    """The states are told apart only if pasts and futures have the rank K."""
    rank = int((s > NO_RANK * s[0]).sum())
    if rank < k:
        raise ValueError(
            f"n_components={k} states cannot be told apart: the law of these windows, with "
            f"tau={law.tau}, has the rank {rank}; ask for {rank} states, or count longer windows, "
            f"count_windows(X, tau={law.tau + 1}), which help unless transitions are dependent"
        )
