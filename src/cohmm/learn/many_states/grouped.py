"""More states than symbols, from windows: the symbols on either side grouped into one.

    P(past, b, future) = sum_k alpha[past, k] M[b, k] beta[future, k],    K <= N^tau

1. alpha and beta, (N^tau, K), have full column rank for generic parameters, so that the law of
   all pasts and futures, whitened, has the rank K: it is compressed to K x N x K numbers.
2. There, the slice of every symbol b is alpha diag(M[b]) beta', and the sum of all slices alpha
   beta': eigenvectors of a random mixture of slices over their sum diagonalise all of them.
3. The future of a state begins in the next one, beta[(b, rest), k] = sum_j A[k, j] M[b, j]
   beta[rest, j]: least squares give A.
4. With counts instead of the law itself: maximum likelihood of the windows, from there and
   from random starts, in M and A (`window_ascent`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import khatri_rao

from cohmm.evidence.windows import Windows
from cohmm.kernels.types import Floats
from cohmm.learn.fit import Callback, Fit
from cohmm.learn.many_states.polyadic import refined
from cohmm.learn.many_states.window_ascent import maximum_likelihood
from cohmm.learn.many_states.window_law import WindowLaw
from cohmm.learn.options import check_whole
from cohmm.learn.run import learner
from cohmm.learn.triples.tensor import onto_simplex
from cohmm.model.hmm import HMM
from cohmm.model.sampling import generator

NO_RANK = 1e-14  # of the largest singular value: no more than rounding
MIXTURES = 20


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
    >>> from cohmm.learn.many_states.window_law import window_probability
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
    _check_states(n_components, len(law.seen), law.tau)
    return maximum_likelihood(
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


def _check_states(k: int, n: int, tau: int) -> None:
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
