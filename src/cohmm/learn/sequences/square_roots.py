"""Square roots of an HMM's joint probabilities as coordinates, and the curvature there.

    c = sqrt(w start),   b = sqrt(pi A),   a = sqrt(pi M)

with weights w and pi (how often a state is visited) frozen.  Signs are free, and any vector is
a model: A = b^2 / its row sums, and so on.  In these coordinates the information in a chain
whose states are known is four times the identity, so what a preconditioner has to mend is
only what the states being hidden takes away; an entry that tends to zero gets there in a
straight line, not along a tail as in logarithms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from cohmm.data.sequence_parts import SequenceParts
from cohmm.data.sequences import Sequences
from cohmm.kernels.compiled import Floats, Ints
from cohmm.learn.sequences.em_step import ALL, tables
from cohmm.model.hmm import HMM
from cohmm.model.inference import Counts

Singles = NDArray[np.float32]

WINDOW = 3  # symbols: what windows of three tell of the curvature serves sequences as well
WINDOWS = 4000  # for at most as many parameters (N=100, K=20 has 2,420); else half of them
MOST_SCORES = 2**26  # numbers in the matrix of scores, 256 MB
MOST_PRODUCTS = 2e10  # windows^2 times parameters: half a second for the Gram matrix
RIDGE = 0.1  # of the mean curvature
LEAST = 1e-12  # a coordinate nearer to zero is divided by as if it were this far
RAREST = 1e-8  # prevalence: a state that is rarer is weighed as if it were not


@dataclass(frozen=True, eq=False)
class SquareRoots:
    """A chart of all models with K states and N symbols.

    Parameters
    ----------
    like : HMM
        A model with the vocabulary, and the zeros, of those to come.
    prevalence : array, (K,)
        pi.
    start_weight : float
        w, starts per symbol, or per window.
    learned : str
        Letters of the tables that may move: start, transitions, emissions.
    """

    like: HMM
    prevalence: Floats
    start_weight: float
    learned: str = ALL

    @classmethod
    def around(
        cls, model: HMM, visited: Floats, start_weight: float, learned: str = ALL
    ) -> SquareRoots:
        """The chart for models like ``model``, which visits its states so often."""
        return cls(model, np.maximum(visited, RAREST), start_weight, learned)

    def of(self, model: HMM) -> Floats:
        """The coordinates of a model, one vector."""
        weight = self.prevalence[:, None]
        return np.sqrt(
            _joined(
                self.start_weight * model.startprob,
                weight * model.transmat,
                weight * model.emissionprob,
            )
        )

    def model(self, point: Floats) -> HMM:
        """The model with these coordinates."""
        c, b, a = (
            part**2 / (part**2).sum(axis=-1, keepdims=True) if letter in self.learned else table
            for letter, part, table in zip(ALL, self._parts(point), tables(self.like), strict=True)
        )
        return HMM(c, b, a, self.like.vocabulary)

    def gradient(self, point: Floats, model: HMM, counts: Counts) -> Floats:
        """Of the log-likelihood: 2 / a (E - M sum E), with E the expected emissions, and so on."""
        return _joined(
            *(
                2 * (count - table * count.sum(axis=-1, keepdims=True)) / _away_from_zero(part)
                if letter in self.learned
                else np.zeros_like(part)
                for letter, part, table, count in zip(
                    ALL, self._parts(point), tables(model), counts, strict=True
                )
            )
        )

    def bend(self, point: Floats, model: HMM, counts: Counts) -> Floats:
        """The curvature that an entry has because it tends to zero: 2 (sum E - E / M) / sum a^2."""
        return _joined(
            *(
                2
                * np.maximum(count.sum(axis=-1, keepdims=True) - _ratio(count, table), 0)
                / (part**2).sum(axis=-1, keepdims=True)
                for part, table, count in zip(
                    self._parts(point), tables(model), counts, strict=True
                )
            )
        )

    def scores(self, point: Floats, model: HMM, windows: Ints) -> Singles:
        """The gradient of the log-likelihood of every window by itself, (n, P), float32.

        A window begins in state k as often as k is visited; the starts of sequences get no score.
        """
        c, b, a = self._parts(point)
        transmat, emitted = model.transmat, model.emissionprob.T[windows]
        n, length = windows.shape
        alpha = np.empty(emitted.shape)  # scaled: the filtered states
        scale = np.empty((n, length, 1))
        ahead = np.broadcast_to(self.prevalence, emitted[:, 0].shape)
        for t in range(length):
            joint = ahead * emitted[:, t]
            scale[:, t] = np.maximum(joint.sum(axis=1, keepdims=True), LEAST**2)
            alpha[:, t] = joint / scale[:, t]
            ahead = alpha[:, t] @ transmat
        beta = np.ones((n, len(c)))
        result = np.zeros((n, len(point)), np.float32)
        xi = result[:, len(c) : len(c) + b.size].reshape(n, *b.shape)  # expected transitions
        gamma = result[:, len(c) + b.size :].reshape(n, *a.shape)  # expected emissions
        every = np.arange(n)
        for t in range(length - 1, -1, -1):
            gamma[every, :, windows[:, t]] += alpha[:, t] * beta
            if t > 0:
                weighted = beta * emitted[:, t] / scale[:, t]
                xi += alpha[:, t - 1, :, None] * weighted[:, None, :]
                beta = weighted @ transmat.T
        xi *= transmat.astype(np.float32)
        for letter, counts, part, table in (
            ("t", xi, b, transmat),
            ("e", gamma, a, model.emissionprob),
        ):
            if letter not in self.learned:
                counts[:] = 0
                continue
            counts -= table.astype(np.float32) * counts.sum(axis=-1, keepdims=True)
            counts *= (2 / _away_from_zero(part)).astype(np.float32)
        return result

    def preconditioner(
        self, point: Floats, model: HMM, counts: Counts, windows: Ints, symbols: float
    ) -> Callable[[Floats], Floats]:
        """The inverse of an approximate Hessian, of the log-likelihood of so many ``symbols``.

        Gauss-Newton: the mean of s s' over the scores s of ``windows``, with the bend and a ridge
        on the diagonal.
        """
        scores = self.scores(point, model, windows)
        scores *= np.float32(np.sqrt(symbols / max(windows.size, 1)))
        diagonal = self.bend(point, model, counts)
        diagonal += RIDGE * (float(np.vdot(scores, scores)) + diagonal.sum()) / len(point) + LEAST
        diagonal[: model.n_components] = 4.0
        return _inverse(scores, diagonal)

    def _parts(self, point: Floats) -> tuple[Floats, Floats, Floats]:
        k, n = self.like.n_components, self.like.n_symbols
        c, b, a = np.split(point, [k, k + k * k])
        return c, b.reshape(k, k), a.reshape(k, n)


def _inverse(scores: Singles, diagonal: Floats) -> Callable[[Floats], Floats]:
    """x to (scores' scores + diag)^-1 x, by Woodbury's identity where scores are fewer."""
    root = np.sqrt(diagonal)
    scores /= root.astype(np.float32)
    fewer = scores.shape[0] < scores.shape[1]
    gram = (scores @ scores.T if fewer else scores.T @ scores).astype(np.float64)
    gram[np.diag_indices_from(gram)] += 1.0
    factor = linalg.cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)

    def solve(x: Floats) -> Floats:
        scaled = x / root
        if not fewer:
            return np.asarray(linalg.cho_solve(factor, scaled, check_finite=False) / root)
        seen = linalg.cho_solve(factor, scores @ scaled.astype(np.float32), check_finite=False)
        return np.asarray((scaled - scores.T @ seen.astype(np.float32)) / root)

    return solve


def n_windows(parameters: int) -> int:
    """How many windows the curvature is estimated from."""
    if parameters <= WINDOWS:
        return WINDOWS
    return min(WINDOWS // 2, MOST_SCORES // parameters, int((MOST_PRODUCTS / parameters) ** 0.5))


def sample_windows(
    data: Sequences | SequenceParts, n_parameters: int, rng: np.random.Generator
) -> Ints:
    """Some windows of three symbols from the data, (n, 3), with nothing missing.

    Of two or one where no sequence is longer.
    """
    most = n_windows(n_parameters)
    width = min(WINDOW, data.longest)
    if width == 0:
        return np.zeros((0, WINDOW), np.int64)
    places = rng.integers(0, data.n_observations - width + 1, 4 * most)
    spans = data.spans(places, places + width)
    windows = spans.symbols[np.repeat(spans.lengths == width, spans.lengths)].reshape(-1, width)
    return np.asarray(windows[(windows >= 0).all(axis=1)][:most], np.int64)


def _joined(*parts: Floats) -> Floats:
    return np.concatenate([part.ravel() for part in parts])


def _away_from_zero(part: Floats) -> Floats:
    return np.where(np.abs(part) < LEAST, LEAST, part)


def _ratio(count: Floats, table: Floats) -> Floats:
    return np.divide(count, table, out=np.zeros_like(count), where=table > 0)
