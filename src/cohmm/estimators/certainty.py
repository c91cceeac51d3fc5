"""How sure a fitted PairwiseHMM is of its numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cohmm.data.sequence_parts import SequenceParts
from cohmm.data.sequences import Sequences
from cohmm.diagnose.kept import Kept
from cohmm.diagnose.standard_errors import StandardErrors
from cohmm.evidence.pairs import Cooccurrence
from cohmm.learn.fit import Fit
from cohmm.model.hmm import HMM

NOTHING = (
    "these parameters were set by hand: there is nothing to estimate errors from; fit, or give the "
    "data that they are from, {}(X, lengths)"
)


class Certainty:
    """Standard errors of the model that `_fitted` gives."""

    fit_: Fit
    counts_: Cooccurrence
    _kept: Kept | None = None

    def _fitted(self) -> HMM:
        raise NotImplementedError

    def _asked(self, X: Any, lengths: Any) -> tuple[HMM, Sequences]:
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
        kept = self._kept_of(X, lengths, "standard_errors")
        return kept.standard_errors(getattr(self, "counts_", None))

    def _kept_of(self, X: Any, lengths: Any, name: str) -> Kept:
        """What the fit kept, or what it would have of other data."""
        model, kept = self._fitted(), self._kept
        learned = kept is not None and kept.model is model
        if X is None:
            if lengths is not None:
                raise ValueError("lengths are of X: give both, or neither")
            if kept is None or not learned:
                raise ValueError(NOTHING.format(name))
            return kept
        data: Sequences | SequenceParts = self._asked(X, lengths)[1]
        return Kept.of(data, model, None)
