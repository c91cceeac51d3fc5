"""What a fitted PairwiseHMM answers, under hmmlearn's names."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any, Literal

import numpy as np

from cohmm.data.sequences import Sequences
from cohmm.data.values import shown
from cohmm.distributed.partitions import Partitions
from cohmm.estimators.over_partitions import AskedModel, paths, scores, total_score
from cohmm.evidence.pairs import Cooccurrence
from cohmm.kernels.compiled import Floats, Ints
from cohmm.model import inference
from cohmm.model.hmm import HMM
from cohmm.model.hmm_frames import HMMTable
from cohmm.model.rare import good_turing, with_rare

Algorithm = Literal["viterbi", "map"]


class Answers:
    """Likelihoods, states, forecasts and draws of the model that `_fitted` gives."""

    unseen: Any
    characters: bool
    algorithm: Algorithm
    implementation: str
    random_state: Any
    counts_: Cooccurrence

    def _fitted(self) -> HMM:
        raise NotImplementedError

    def score(self, X: Any, y: Any = None, lengths: Iterable[int] | None = None) -> float:
        """log P(X), the sum over all sequences."""
        if isinstance(X, Partitions):
            return total_score(self._asked_model(), X)
        return float(self.score_sequences(X, lengths_of(y, lengths)).sum())

    def score_sequences(self, X: Any, lengths: Iterable[int] | None = None) -> Any:
        """log P of every sequence, (S,); of `Partitions`, a collection of their engine."""
        if isinstance(X, Partitions):
            return scores(self._asked_model(), X)
        model, data = self._asked(X, lengths)
        with self._arithmetic():
            return model.log_likelihoods(data)

    def surprise(self, X: Any, lengths: Iterable[int] | None = None) -> Floats:
        """-log P(symbol | the symbols of its sequence before it), (T,), in nats.

        What no model expected stands out; the sum is minus the score.  A missing symbol is no
        surprise, 0; one that is impossible is infinite, and is then passed over.
        """
        model, data = self._asked(X, lengths)
        return model.surprise(data)

    def score_samples(
        self, X: Any, y: Any = None, lengths: Iterable[int] | None = None
    ) -> tuple[float, Floats]:
        """log P(X) and the posteriors of the states, (T, K)."""
        model, data = self._asked(X, lengths_of(y, lengths))
        with self._arithmetic():
            return model.log_likelihood(data), model.posterior(data)

    def predict_proba(self, X: Any, lengths: Iterable[int] | None = None) -> Floats:
        """Posteriors of the states, (T, K)."""
        model, data = self._asked(X, lengths)
        with self._arithmetic():
            return model.posterior(data)

    def decode(
        self, X: Any, lengths: Iterable[int] | None = None, algorithm: Algorithm | None = None
    ) -> Any:
        """(log P(states, X), states); of `Partitions`, a collection of both for every sequence."""
        if isinstance(X, Partitions):
            return paths(self._asked_model(), algorithm or self.algorithm, X)
        model, data = self._asked(X, lengths)
        with self._arithmetic():
            return model.decode(data, algorithm=algorithm or self.algorithm)

    def predict(self, X: Any, lengths: Iterable[int] | None = None) -> Any:
        """The states, (T,); of `Partitions` as `decode`."""
        found = self.decode(X, lengths)
        return found if isinstance(X, Partitions) else found[1]

    def filter(self, X: Any, lengths: Iterable[int] | None = None) -> Floats:
        """P(state | symbols so far), (T, K): no look-ahead."""
        model, data = self._asked(X, lengths)
        with self._arithmetic():
            return model.filter(data)

    def forecast(self, X: Any, lengths: Iterable[int] | None = None, *, steps: int = 1) -> Floats:
        """Probabilities of the next symbols, (steps, N), or (S, steps, N) with lengths."""
        model, data = self._asked(X, lengths)
        ahead = model.forecast(data, steps=steps)[..., : self._fitted().n_symbols]
        return ahead[None] if lengths is not None and ahead.ndim == 2 else ahead

    def sample(
        self, n_samples: int = 1, random_state: Any = None, currstate: int | None = None
    ) -> tuple[np.ndarray, Ints]:
        """Draw one sequence: symbols, (n, 1) as hmmlearn gives them, and states, (n,).

        ``currstate`` is the state of the first symbol, where it is known.
        """
        seed = self.random_state if random_state is None else random_state
        symbols, states = self._fitted().sample(n_samples, seed, currstate)
        return symbols[:, None], states

    def get_stationary_distribution(self) -> Floats:
        """The distribution of states that the chain keeps, (K,)."""
        return self._fitted().stationary()

    def to_frame(self, what: HMMTable) -> Any:
        """The "start", "transitions" or "emissions" as a pandas data frame: see `HMM.to_frame`."""
        return self._fitted().to_frame(what)

    def aic(self, X: Any, lengths: Iterable[int] | None = None) -> float:
        """Akaike's criterion on ``X``; smaller is better."""
        return 2 * self._n_parameters() - 2 * self.score(X, lengths)

    def bic(self, X: Any, lengths: Iterable[int] | None = None) -> float:
        """The Bayesian information criterion on ``X``; smaller is better."""
        model, data = self._asked(X, lengths)
        log_likelihood = model.log_likelihood(data)
        return float(np.log(len(data.symbols))) * self._n_parameters() - 2 * log_likelihood

    def _n_parameters(self) -> int:
        k, n = self._fitted().emissionprob.shape
        return int((k - 1) + k * (k - 1) + k * (n - 1))

    def _asked(self, X: Any, lengths: Any) -> tuple[HMM, Sequences]:
        """The model, and the data in its symbols; a rare one where symbols may be unseen."""
        if isinstance(X, Partitions):
            raise ValueError(
                "Partitions have score, score_sequences, decode and predict; for other answers use "
                "map_rows, or give data in memory"
            )
        model = self._fitted()
        X, lengths = self._given(X, lengths)
        if self.unseen != "rare":
            return model, model.encode(X, lengths, self.unseen)
        return self._with_rare(), model.encode_rare(X, lengths)

    def _asked_model(self) -> AskedModel:
        """The model, and how rows that are elsewhere are read."""
        self._arithmetic()
        model = self._fitted()
        return AskedModel(
            self._with_rare() if self.unseen == "rare" else model,
            model.vocabulary,
            model.n_symbols,
            self.unseen,
            self.characters,
            self.implementation == "log",
        )

    def _with_rare(self) -> HMM:
        """The model with one symbol more, as rare as those that nobody has seen."""
        if not hasattr(self, "counts_"):
            raise ValueError("unseen='rare' needs counts of symbols: fit, or say unseen='missing'")
        return with_rare(self._fitted(), good_turing(self.counts_.symbol_counts))

    def _arithmetic(self) -> AbstractContextManager[None]:
        """Scaled probabilities, or logarithms all the way."""
        if self.implementation not in ("scaling", "log"):
            raise ValueError(
                f"implementation must be 'scaling' or 'log', not {shown(self.implementation)}"
            )
        return inference.in_logarithms(self.implementation == "log")

    def _given(self, X: Any, lengths: Any) -> tuple[Any, Any]:
        """Data and lengths as they are, or strings as sequences of characters."""
        if self.characters:
            return Sequences.of(X, lengths, characters=True), None
        return X, lengths


def lengths_of(second: Any, lengths: Any) -> Any:
    """hmmlearn has lengths where scikit-learn has y: either will do, but not both."""
    if second is not None and lengths is not None:
        raise ValueError("lengths are given twice")
    return second if lengths is None else lengths
