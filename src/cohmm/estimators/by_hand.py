"""Parameters that can be set by hand, as in hmmlearn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from cohmm.data.vocabulary import Vocabulary, as_vocabulary
from cohmm.learn.known import Known
from cohmm.learn.options import check_learned
from cohmm.learn.run import warn
from cohmm.learn.sequences.em_step import ALL, PseudoCounts
from cohmm.model.hmm import HMM

NAMES = {"s": "startprob_", "t": "transmat_", "e": "emissionprob_"}


def _parameter(name: str, doc: str) -> property:
    """An attribute that is the model's, unless it was set since."""

    def get(self: ByHand) -> Any:
        if name in self._set_since:
            return self._set_since[name]
        return getattr(self._fitted(), name.rstrip("_"))

    def put(self: ByHand, value: Any) -> None:
        self._set_since = {**self._set_since, name: value}
        self._by_hand = {**self._by_hand, name: value}

    return property(get, put, doc=doc)


class ByHand:
    """A model whose parameters are learned, or set; they are checked together when first used."""

    n_components: Any
    vocabulary: Any
    params: str
    init_params: str | None
    startprob_prior: Any
    transmat_prior: Any
    emissionprob_prior: Any

    _model: HMM | None = None
    _set_since: dict[str, Any] = {}  # since the model was learned, or checked  # noqa: RUF012
    _by_hand: dict[str, Any] = {}  # ever  # noqa: RUF012

    startprob_ = _parameter("startprob_", "Probability of each state at the start, (K,).")
    transmat_ = _parameter("transmat_", "Transition probabilities, (K, K), from row to column.")
    emissionprob_ = _parameter("emissionprob_", "Emission probabilities, (K, N).")

    @property
    def n_features(self) -> int | None:
        """Number of symbols: as given, or as in the model."""
        given: int | None = self.__dict__["n_features"]
        return given if given is not None or self._model is None else self._model.n_symbols

    @n_features.setter
    def n_features(self, value: int | None) -> None:
        self.__dict__["n_features"] = value

    @property
    def model_(self) -> HMM:
        """The model, as a value."""
        return self._fitted()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters as they were given."""
        params: dict[str, Any] = super().get_params(deep)  # type: ignore[misc]
        return {**params, "n_features": self.__dict__["n_features"]}

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None or len(self._set_since) == len(NAMES)

    def _fitted(self) -> HMM:
        self._check()
        assert self._model is not None
        return self._model

    def _check(self) -> None:
        """Make a model of what was set; refuse what does not fit together."""
        if not self.__sklearn_is_fitted__():
            missing = [name for name in NAMES.values() if name not in self._set_since]
            name, left = type(self).__name__, " and ".join(missing)
            raise NotFittedError(f"this {name} is not fitted: call fit, or set {left}")
        if not self._set_since:
            return
        old, new = self._model, self._set_since
        tables = [
            new[name] if name in new else getattr(old, name.rstrip("_")) for name in NAMES.values()
        ]
        model = HMM(tables[0], tables[1], tables[2])
        k, n = self.n_components, self.__dict__["n_features"]
        if k != "auto" and model.n_components != k:
            raise ValueError(f"startprob_ has {model.n_components} states, and n_components={k!r}")
        if n is not None and model.n_symbols != n:
            raise ValueError(f"emissionprob_ has {model.n_symbols} symbols, and n_features={n!r}")
        self._model = replace(model, vocabulary=self._labels(model.n_symbols))
        self._set_since = {}

    def _labels(self, n_symbols: int) -> Vocabulary | None:
        """The vocabulary that was given, or that of the model before."""
        if self.vocabulary is not None:
            return as_vocabulary(self.vocabulary)
        old = None if self._model is None else self._model.vocabulary
        return old if old is not None and len(old) == n_symbols else None

    def _known(self, states: Any) -> Known | None:
        """What the user has said; None where that is nothing."""
        check_learned(self.params, "params")
        prior = self._pseudo_counts()
        tables = {letter: self._starts_at(letter) for letter in ALL}
        for letter, name in NAMES.items():
            if letter in self.params or tables[letter] is not None:
                continue
            if letter == "s" and isinstance(self.n_components, (int, np.integer)):
                tables[letter] = np.full(self.n_components, 1 / self.n_components)
                continue
            raise ValueError(f"params={self.params!r} holds {name} fixed: set it before fit")
        if states is prior is None and all(table is None for table in tables.values()):
            return None
        return Known(tables["s"], tables["t"], tables["e"], self.params, states, prior)

    def _starts_at(self, letter: str) -> Any:
        """Where a parameter starts, or None, where that is for the data to say."""
        name = NAMES[letter]
        if self.init_params is None:
            return self._by_hand.get(name)
        check_learned(self.init_params, "init_params")
        if letter in self.init_params:
            if name in self._by_hand and letter in self.params:
                warn(
                    f"{name} was set by hand, but init_params={self.init_params!r} starts it from "
                    f"the data: leave {letter!r} out to start from what was set",
                    UserWarning,
                )
            return None if letter in self.params else self._by_hand.get(name)
        if name in self._set_since:
            return self._set_since[name]
        return None if self._model is None else getattr(self._model, name.rstrip("_"))

    def _pseudo_counts(self) -> PseudoCounts | None:
        """The priors as counts: Dirichlet's parameters less one."""
        given = {
            "startprob_prior": self.startprob_prior,
            "transmat_prior": self.transmat_prior,
            "emissionprob_prior": self.emissionprob_prior,
        }
        if all(value is None for value in given.values()):
            return None
        counts = []
        for name, value in given.items():
            array = np.asarray(1.0 if value is None else value, np.float64)
            wrong = ~(array >= 0) | ~np.isfinite(array)
            if wrong.any():
                place = [int(i) for i in np.argwhere(wrong)[0]]
                raise ValueError(
                    f"{name}{place or ''} is {array[tuple(place)]}: Dirichlet's parameters are "
                    "finite and not below 0"
                )
            counts.append(array - 1.0)
        return PseudoCounts(*counts)
