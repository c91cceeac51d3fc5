"""Constraints on a model: tables that are set, zeros, labelled states, pseudo-counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from cohmm._validation import check_learned
from cohmm.data.sequences import END
from cohmm.data.vocabulary import Vocabulary, as_vocabulary
from cohmm.kernels.types import Floats
from cohmm.learn.learner import warn
from cohmm.model.hmm import HMM
from cohmm.model.inference import Counts
from cohmm.model.markov_chain import probabilities

ALL = "ste"  # start, transitions, emissions: hmmlearn's letters
NAMES = {"s": "startprob", "t": "transmat", "e": "emissionprob"}


class PseudoCounts(NamedTuple):
    """Pseudo-counts of starts, transitions and emissions, beside those of the data.

    Dirichlet's density with parameters one larger, so that none is maximum likelihood.  Numbers,
    or arrays of the shape of what they are counted for; where a probability is zero, nothing is
    counted.  Below zero, they are taken away from what is counted, as far as there is any.
    """

    start: Floats | float = 0.0
    transition: Floats | float = 0.0
    emission: Floats | float = 0.0

    @classmethod
    def of_priors(
        cls, startprob_prior: Any, transmat_prior: Any, emissionprob_prior: Any
    ) -> PseudoCounts | None:
        """Dirichlet's parameters less one; 1 where one is None, and None where all are.

        >>> PseudoCounts.of_priors(None, None, [3.0, 1.5]).emission
        array([2. , 0.5])
        """
        priors = {
            "startprob_prior": startprob_prior,
            "transmat_prior": transmat_prior,
            "emissionprob_prior": emissionprob_prior,
        }
        if all(prior is None for prior in priors.values()):
            return None
        counts = []
        for name, prior in priors.items():
            array = np.asarray(1.0 if prior is None else prior, np.float64)
            wrong = ~(array >= 0) | ~np.isfinite(array)
            if wrong.any():
                place = [int(i) for i in np.argwhere(wrong)[0]]
                raise ValueError(
                    f"{name}{place or ''} is {array[tuple(place)]}: Dirichlet's parameters are "
                    "finite and not below 0"
                )
            counts.append(array - 1.0)
        return cls(*counts)

    def possible(self, model: HMM) -> Counts:
        """The counts as arrays, 0 where the model has a zero."""
        return Counts(
            np.asarray(self.start * (model.startprob > 0)),
            np.asarray(self.transition * (model.transmat > 0)),
            np.asarray(self.emission * (model.emissionprob > 0)),
        )

    def log_density(self, model: HMM) -> float:
        """Up to a constant; counts below zero, for which it has no bound, are left out."""
        return float(
            sum(
                np.sum(np.maximum(pseudo, 0.0) * np.log(np.where(table > 0, table, 1.0)))
                for pseudo, table in zip(self, tables(model), strict=True)
                if np.any(pseudo)
            )
        )


def tables(model: HMM) -> tuple[Floats, Floats, Floats]:
    """Starts, transitions and emissions."""
    return model.startprob, model.transmat, model.emissionprob


@dataclass(frozen=True, eq=False)
class Constraints:
    """What a model has to agree with.

    Parameters
    ----------
    startprob, transmat, emissionprob : arrays, optional
        Where learning starts; zeros stay zeros, and states keep their order.
    learned : str
        Letters of what is learned, "s"tart, "t"ransitions, "e"missions; what is set of the
        others stays as it is.
    states : array, (T,), optional
        Labels: the states of the observations, -1 where unknown.
    prior : PseudoCounts, optional
        Counted beside the data.
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
    def distinguish_states(self) -> bool:
        """Whether a table or a label distinguishes one state from another."""
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


def uniform_states(k: int, frequency: Floats, vocabulary: Any) -> HMM:
    """A model in which no state differs from another; symbols in proportion to ``frequency``."""
    emission = np.tile(frequency / frequency.sum(), (k, 1))
    return HMM(np.full(k, 1 / k), np.full((k, k), 1 / k), emission, vocabulary)


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
        end: bool = False,
    ) -> UserTables:
        """With a model of what was set; none of the tables is missing.

        Tables that do not fit together, or that have other numbers of states or symbols than are
        given, are refused.  With ``end`` the last symbol is the end of a sequence.
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
        if n_features not in (None, n - end):
            also = " and end=True" if end else ""
            raise ValueError(f"emissionprob_ has {n} symbols, and n_features={n_features!r}{also}")
        return self.with_model(replace(model, vocabulary=self._labels(n, vocabulary, end)))

    def constraints(
        self,
        n_components: Any,
        *,
        params: str = ALL,
        init_params: str | None = None,
        states: Any = None,
        prior: PseudoCounts | None = None,
    ) -> Constraints | None:
        """What a learner is to start from and to hold; None where that is nothing.

        Parameters
        ----------
        n_components : int or "auto"
            Number of states.
        params, init_params
            What is learned, and what starts from the data: as for `PairwiseHMM`.
        states, prior
            As for `Constraints`.
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
        return Constraints(start["s"], start["t"], start["e"], params, states, prior)

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

    def _labels(
        self, n_symbols: int, vocabulary: Iterable[Any] | None, end: bool
    ) -> Vocabulary | None:
        """The vocabulary that is given, or that of the model before; the end comes last."""
        if vocabulary is not None:
            return (*as_vocabulary(vocabulary), END) if end else as_vocabulary(vocabulary)
        old = None if self.model is None else self.model.vocabulary
        if old is not None and len(old) == n_symbols:
            return old
        return (*range(n_symbols - 1), END) if end else None
