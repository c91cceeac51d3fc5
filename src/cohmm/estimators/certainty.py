"""How sure a fitted PairwiseHMM is of its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from cohmm.data.sequences import Sequences
from cohmm.diagnose.bootstrap import Bootstrap, bootstrap
from cohmm.diagnose.kept import Kept
from cohmm.diagnose.refits import refit
from cohmm.diagnose.standard_errors import StandardErrors
from cohmm.distributed.partitions import Partitions
from cohmm.evidence.counting import count_pairs
from cohmm.learn.pairs.pair_fit import PairFit
from cohmm.learn.second_step import SMOOTHING
from cohmm.learn.sequences.refine import RefinedFit
from cohmm.model.hmm import HMM

NOTHING = (
    "these parameters were set by hand: there is nothing to estimate errors from; fit, or give the "
    "data that they are from, {}X, lengths)"
)
BELOW_THE_NOISE = (
    "the pairs show {} of {} states: errors hold where states were found near the truth, and those "
    "beyond may be other states altogether, off by far more"
)


class Certainty:
    """Standard errors of the model that `_fitted` gives."""

    unseen: Any
    smoothing: float | None
    random_state: Any
    _kept: Kept | None = None

    def _fitted(self) -> HMM:
        raise NotImplementedError

    def _given(self, X: Any, lengths: Any) -> tuple[Any, Any]:
        raise NotImplementedError

    def standard_errors(
        self, X: Any = None, lengths: Iterable[int] | None = None
    ) -> StandardErrors:
        """How sure each number is: see `cohmm.diagnose.StandardErrors`.

        Of a refined model from the information in blocks of the data, some thousands of which the
        fit has kept; of a pair estimate from the counts alone.  No data is needed, unless the model
        was set by hand, or read from a file: ``X`` is then what it is from.

        >>> from cohmm import PairwiseHMM
        >>> from cohmm.datasets.synthetic import separable_hmm
        >>> truth = separable_hmm(n_symbols=16, n_components=4, random_state=0)
        >>> X, _ = truth.sample(100_000, random_state=0)
        >>> model = PairwiseHMM(n_components=4, random_state=0).fit(X)
        >>> low, high = model.standard_errors().interval(.9)
        >>> bool((low.transmat <= model.transmat_).all())
        True
        """
        kept = self._kept_of(X, lengths, "standard_errors(")
        counts = getattr(self, "counts_", None)
        if X is not None and kept.pairs is not None and counts is not None:
            counts = count_pairs(self._data(X, lengths), lags=counts.lags)
        errors = kept.standard_errors(counts)
        pairs, k = getattr(self, "pair_fit_", None), kept.model.n_components
        if not (self._learned_here() and isinstance(pairs, PairFit)):
            return errors
        shown = pairs.spectrum.n_detectable
        if shown >= k:
            return errors
        return replace(errors, notes=(*errors.notes, BELOW_THE_NOISE.format(shown, k)))

    def bootstrap(
        self,
        n_fits: int = 100,
        X: Any = None,
        lengths: Iterable[int] | None = None,
        *,
        threshold: float | None = None,
        random_state: Any = None,
        callback: Callable[[int, int], None] | None = None,
    ) -> Bootstrap:
        """Learn again from data drawn anew: see `cohmm.diagnose.Bootstrap`.

        Fits start from the model, run on as many threads as there are, and their states are
        matched to the model's.  Slower than `standard_errors`, and narrower than the truth where
        zeros abound; but for any size of model, and it says which states come back.

        Parameters
        ----------
        n_fits : int
            How many.
        X, lengths
            The data that the model is from, whose sequences are drawn with replacement; fewer than
            20 are cut into blocks, which are drawn instead.  Default: the model draws as much
            data as it was learned from.
        threshold : float, optional
            Total variation of emissions within which a state has come back; default: half the way
            to the nearest other state, and .2 at most.
        random_state : int, optional
            Seed; default: that of the estimator.
        callback : function, optional
            Called with the number of fits made, and ``n_fits``.
        """
        kept = self._kept_of(X, lengths, "bootstrap(100, ")
        data = None if X is None else self._data(X, lengths)
        fit, counts = getattr(self, "fit_", None), getattr(self, "counts_", None)
        again = refit(
            kept,
            (1,) if counts is None else counts.lags,
            smoothing=SMOOTHING if self.smoothing is None else self.smoothing,
            sparsity=fit.sparsity if isinstance(fit, RefinedFit) else 0.0,
        )
        return bootstrap(
            kept.model,
            again,
            n_fits,
            data,
            lengths=kept.lengths,
            total=kept.size[1],
            threshold=threshold,
            random_state=self.random_state if random_state is None else random_state,
            callback=callback,
        )

    def _kept_of(self, X: Any, lengths: Any, name: str) -> Kept:
        """What the fit kept, or what it would have of other data."""
        model, kept = self._fitted(), self._kept
        if X is not None:
            other = Kept.of(self._data(X, lengths), model, None)
            if kept is None or not self._learned_here():
                return other
            triples = other.size[1] - 2 * other.size[0] if kept.n_triples else 0.0
            return replace(other, held=kept.held, pairs=kept.pairs, n_triples=max(triples, 0.0))
        if lengths is not None:
            raise ValueError("lengths are of X: give both, or neither")
        if kept is None or not self._learned_here():
            raise ValueError(NOTHING.format(name))
        return kept

    def _learned_here(self) -> bool:
        """Whether the model is as it was learned."""
        return self._kept is not None and self._kept.model is self._fitted()

    def _data(self, X: Any, lengths: Any) -> Sequences:
        """Data in the symbols of the model; where others may be unseen, those are missing."""
        if isinstance(X, Partitions):
            raise ValueError(
                "Partitions are read once, by fit, which keeps what is needed: leave out X"
            )
        X, lengths = self._given(X, lengths)
        return self._fitted().encode(X, lengths, "error" if self.unseen == "error" else "missing")
