"""Tables of a model that the user sets, as in hmmlearn, and what they mean for learning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cohmm.data.vocabulary import Vocabulary, as_vocabulary
from cohmm.learn.known import Known
from cohmm.learn.options import check_learned
from cohmm.learn.run import warn
from cohmm.learn.sequences.em_step import ALL, PseudoCounts
from cohmm.model.hmm import HMM

NAMES = {"s": "startprob", "t": "transmat", "e": "emissionprob"}


@dataclass(frozen=True, eq=False)
class UserTables:
    """A model that was learned, if any, and the tables that were set.

    Parameters
    ----------
    model : HMM or None
        What was learned, or made of the tables when they were last checked.
    unchecked : mapping
        Tables that were set since, by name: they are checked together, when first used.
    by_hand : mapping
        The last value of every table that was ever set.

    >>> tables = UserTables().with_table("startprob", [1.0])
    >>> tables.missing
    ['transmat', 'emissionprob']
    >>> tables = tables.with_table("transmat", [[1.0]]).with_table("emissionprob", [[0.5, 0.5]])
    >>> tables.checked(n_components=1).model
    HMM(1 states, 2 symbols)
    """

    model: HMM | None = None
    unchecked: Mapping[str, Any] = field(default_factory=dict)
    by_hand: Mapping[str, Any] = field(default_factory=dict)

    @property
    def missing(self) -> list[str]:
        """Tables that are neither learned nor set."""
        if self.model is not None:
            return []
        return [name for name in NAMES.values() if name not in self.unchecked]

    def with_table(self, name: str, value: Any) -> UserTables:
        """With one of the tables set."""
        return replace(
            self,
            unchecked={**self.unchecked, name: value},
            by_hand={**self.by_hand, name: value},
        )

    def with_model(self, model: HMM) -> UserTables:
        """With a model that was learned."""
        return replace(self, model=model, unchecked={})

    def checked(
        self,
        n_components: Any = "auto",
        n_features: int | None = None,
        vocabulary: Iterable[Any] | None = None,
    ) -> UserTables:
        """With a model of what was set; none of the tables is missing.

        Tables that do not fit together, or that have other numbers of states or symbols than are
        given, are refused.
        """
        if not self.unchecked:
            return self
        start, transitions, emissions = (
            self.unchecked[name] if name in self.unchecked else getattr(self.model, name)
            for name in NAMES.values()
        )
        model = HMM(start, transitions, emissions)
        k, n = model.n_components, model.n_symbols
        if n_components not in ("auto", k):
            raise ValueError(f"startprob_ has {k} states, and n_components={n_components!r}")
        if n_features not in (None, n):
            raise ValueError(f"emissionprob_ has {n} symbols, and n_features={n_features!r}")
        return self.with_model(replace(model, vocabulary=self._labels(n, vocabulary)))

    def known(
        self,
        n_components: Any,
        *,
        params: str = ALL,
        init_params: str | None = None,
        states: Any = None,
        prior: PseudoCounts | None = None,
    ) -> Known | None:
        """What a learner is to start from and to hold; None where that is nothing.

        Parameters
        ----------
        n_components : int or "auto"
            Number of states.
        params, init_params
            What is learned, and what starts from the data: as for `PairwiseHMM`.
        states, prior
            As for `Known`.
        """
        check_learned(params, "params")
        if init_params is not None:
            check_learned(init_params, "init_params")
        start = {letter: self._start(letter, params, init_params) for letter in ALL}
        for letter, name in NAMES.items():
            if letter in params or start[letter] is not None:
                continue
            if letter == "s" and isinstance(n_components, (int, np.integer)):
                start[letter] = np.full(n_components, 1 / n_components)
                continue
            raise ValueError(f"params={params!r} holds {name}_ fixed: set it before fit")
        if states is prior is None and all(table is None for table in start.values()):
            return None
        return Known(start["s"], start["t"], start["e"], params, states, prior)

    def _start(self, letter: str, params: str, init_params: str | None) -> Any:
        """Where a table starts, or None, where that is for the data to say."""
        name = NAMES[letter]
        by_hand = self.by_hand.get(name)
        if init_params is None:
            return by_hand
        if letter not in init_params:
            return self.unchecked.get(name, getattr(self.model, name, None))
        if letter not in params:
            return by_hand
        if name in self.by_hand:
            warn(
                f"{name}_ was set by hand, but init_params={init_params!r} starts it from the "
                f"data: leave {letter!r} out to start from what was set",
                UserWarning,
            )
        return None

    def _labels(self, n_symbols: int, vocabulary: Iterable[Any] | None) -> Vocabulary | None:
        """The vocabulary that is given, or that of the model before."""
        if vocabulary is not None:
            return as_vocabulary(vocabulary)
        old = None if self.model is None else self.model.vocabulary
        return old if old is not None and len(old) == n_symbols else None
