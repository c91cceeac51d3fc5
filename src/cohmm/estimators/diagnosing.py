"""``diagnose`` of estimators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cohmm.data.sequences import Sequences
from cohmm.diagnose.diagnosis import Diagnosis, diagnose


class Diagnosing:
    """A fitted estimator that says how far it can be trusted."""

    def _data(self, X: Any, lengths: Any) -> Sequences:
        raise NotImplementedError

    def diagnose(
        self, X: Any = None, lengths: Iterable[int] | None = None, *, random_state: Any = 0
    ) -> Diagnosis:
        """How many states the data can show, which are well determined, whether the model fits.

        ``print`` it: see `cohmm.diagnose.diagnose`.  With ``X``, the data, triples and longer lags
        are looked at as well.

        >>> from cohmm import PairwiseHMM
        >>> PairwiseHMM(2, random_state=0).fit([0, 1, 2, 1] * 500).diagnose().suggested_states
        2
        """
        data = None if X is None else self._data(X, lengths)
        return diagnose(self, data, lengths if data is None else None, random_state=random_state)


class DiagnosingTopics:
    """A fitted topic model that says how far it can be trusted."""

    def diagnose(self, *, random_state: Any = 0) -> Diagnosis:
        """How many topics the pairs can show, which are well determined: ``print`` it.

        From the counts of pairs that the model was learned from; one loaded from a file without
        them answers about its topics alone.
        """
        return diagnose(self, random_state=random_state)
