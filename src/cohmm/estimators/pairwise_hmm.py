"""PairwiseHMM: hmmlearn's interface over the pairwise learner."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from cohmm.data.sequences import Sequences, Unseen
from cohmm.evidence.counting import count_pairs
from cohmm.evidence.pairs import Cooccurrence
from cohmm.kernels.compiled import Floats, Ints
from cohmm.learn.fit import Fit, Progress
from cohmm.learn.pairs.pair_evidence import Combine
from cohmm.learn.pairs.pair_fit import PairFit
from cohmm.learn.pairs.volume import Volume
from cohmm.learn.recipe import pairwise
from cohmm.learn.sequences.refine import RefinedFit
from cohmm.model.hmm import HMM
from cohmm.model.hmm_frames import HMMTable


@dataclass(frozen=True)
class Monitor:
    """How the fit went, under hmmlearn's names.

    ``history`` is the penalised log-likelihood, of the pairs or, where the model was refined,
    of the data; it never falls.
    """

    history: tuple[float, ...]
    iter: int
    converged: bool
    tol: float


class PairwiseHMM(DensityMixin, BaseEstimator):  # type: ignore[misc]
    """A hidden Markov model learned from pairwise co-occurrences.

    Counting takes one pass over the data; learning then costs the same for any length.  The
    interface is that of hmmlearn's ``CategoricalHMM``.

    Parameters
    ----------
    n_components : int or "auto"
        Number of states; "auto": as many as the data can show.
    lags : tuple of int
        Distances at which pairs are counted; more than one helps where states persist.
    combine : "tied" or "summed"
        How several lags enter: as powers of one chain, or as their sum.
    volume, penalty
        The term that makes the answer unique, and its weight: see `cohmm.learn.min_volume`.
    max_iter : int
        Passes over the pair counts, at most.
    n_iter : int, optional
        hmmlearn's name for ``max_iter``; where given, it counts.
    tol : float
        Stop when a step gains less log-likelihood than this, over all pairs.
    n_init : int
        Starts; the best is kept.
    smoothing : float
        Pseudo-observations of each symbol in each state: what was never seen is then
        improbable, not impossible.
    refine : bool or "auto"
        Go on from the pair estimate to maximum likelihood, in some tens of passes over the
        data (`cohmm.learn.refine`).  "auto": if that is about a minute's work at most, as it is
        for T K^2 <= 4e9.  Counts alone cannot be refined.
    sparsity : float
        Weight of a prior for emissions with zeros in the refinement, which it asks for; 1 is a
        good value where most symbols are foreign to most states.
    n_features : int, optional
        Number of symbols; default: the largest seen plus one.
    vocabulary : list, optional
        Labels of the symbols; default: learned, where symbols are strings.
    unseen : "error" or "missing"
        What a symbol is that was not there when the model was fitted.
    characters : bool
        Read strings symbol by symbol: data is one string, or a list of them, a sequence each.
    algorithm : "viterbi" or "map"
        How `predict` and `decode` choose states.
    random_state : int, optional
        Seed: the same gives the same model, for any number of threads.
    verbose : bool
        Print the objective to standard error while it falls.

    Attributes
    ----------
    startprob_, transmat_, emissionprob_
        The probabilities, (K,), (K, K) and (K, N); states by prevalence.
    model_, counts_
        The `HMM`, and the `Cooccurrence` that it was learned from.
    fit_, pair_fit_
        How the model was learned, with its history: the last step, and the one from pairs; the
        two are the same where nothing was refined.  With more states than symbols, which pairs
        cannot tell apart, `pair_fit_` is None.
    converged_, n_iter_, monitor_
        Whether the stop rule of the last step was met, passes made, both with the history.

    >>> from cohmm.datasets.synthetic import separable_hmm
    >>> truth = separable_hmm(n_symbols=16, n_components=4, random_state=0)
    >>> X, _ = truth.sample(100_000, random_state=0)
    >>> model = PairwiseHMM(n_components=4, random_state=0).fit(X)
    >>> model.model_.distance(truth).emission < 0.1
    True
    """

    model_: HMM
    fit_: Fit
    pair_fit_: PairFit | None

    def __init__(
        self,
        n_components: int | Literal["auto"] = 1,
        lags: Iterable[int] = (1,),
        *,
        combine: Combine = "tied",
        volume: str | Volume = "logdet",
        penalty: float | Literal["auto"] | None = None,
        max_iter: int = 3000,
        n_iter: int | None = None,
        tol: float = 1e-3,
        n_init: int = 1,
        smoothing: float = 0.1,
        refine: bool | Literal["auto"] = "auto",
        sparsity: float = 0.0,
        n_features: int | None = None,
        vocabulary: Iterable[Any] | None = None,
        unseen: Unseen = "error",
        characters: bool = False,
        algorithm: Literal["viterbi", "map"] = "viterbi",
        random_state: int | None = None,
        verbose: bool = False,
    ):
        self.n_components = n_components
        self.lags = lags
        self.combine = combine
        self.volume = volume
        self.penalty = penalty
        self.max_iter = max_iter
        self.n_iter = n_iter
        self.tol = tol
        self.n_init = n_init
        self.smoothing = smoothing
        self.refine = refine
        self.sparsity = sparsity
        self.n_features = n_features
        self.vocabulary = vocabulary
        self.unseen = unseen
        self.characters = characters
        self.algorithm = algorithm
        self.random_state = random_state
        self.verbose = verbose

    # -- learning ----------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, lengths: Iterable[int] | None = None) -> PairwiseHMM:
        """Count the pairs of ``X`` and learn from them.

        ``fit(X, lengths)`` as in hmmlearn, or ``fit(X, lengths=lengths)``, as pipelines need.
        """
        return self._learn(self._sequences(X, _lengths(y, lengths)), self.refine)

    def fit_counts(self, counts: Cooccurrence) -> PairwiseHMM:
        """Learn from pair counts; no sequence is needed, and nothing is refined."""
        return self._learn(counts, refine=False)

    def partial_fit(
        self, X: Any, y: Any = None, lengths: Iterable[int] | None = None
    ) -> PairwiseHMM:
        """Add the pairs of ``X`` to those counted before, and learn on from where it stood.

        From pairs alone: the data that came before is no longer there to be read.
        """
        counts = count_pairs(self._sequences(X, _lengths(y, lengths)), lags=self.lags)
        if not hasattr(self, "counts_"):
            return self.fit_counts(counts)
        counts = self.counts_ + counts
        return self._learn(counts, refine=False, start=_with_symbols(self.model_, counts))

    def _sequences(self, X: Any, lengths: Iterable[int] | None) -> Sequences:
        given = self._given(X, lengths)
        return Sequences.of(*given, vocabulary=self.vocabulary, n_symbols=self.n_features)

    def _learn(
        self,
        data: Sequences | Cooccurrence,
        refine: bool | Literal["auto"],
        start: HMM | None = None,
    ) -> PairwiseHMM:
        fit = pairwise(
            data,
            self.n_components if start is None else start.n_components,
            lags=self.lags if isinstance(data, Sequences) else None,
            combine=self.combine,
            volume=self.volume,
            penalty=self.penalty,
            max_iter=self.max_iter if self.n_iter is None else self.n_iter,
            tol=self.tol,
            n_init=self.n_init,
            smoothing=self.smoothing,
            refine=refine,
            sparsity=self.sparsity if isinstance(data, Sequences) else 0.0,
            random_state=self.random_state,
            start=start,
            callback=_print_progress if self.verbose else None,
        )
        # Together, and last: a fit that fails leaves what was there.
        self.counts_, self.pair_fit_, self.fit_ = fit.counts, fit.pairs, fit.last
        self.model_ = fit.model
        self.n_features_in_ = 1
        return self

    @property
    def startprob_(self) -> Floats:
        """Probability of each state at the start, (K,)."""
        return self._fitted().startprob

    @property
    def transmat_(self) -> Floats:
        """Transition probabilities, (K, K), from row to column."""
        return self._fitted().transmat

    @property
    def emissionprob_(self) -> Floats:
        """Emission probabilities, (K, N)."""
        return self._fitted().emissionprob

    @property
    def vocabulary_(self) -> tuple[Any, ...] | None:
        """The labels of the symbols, or None where they are numbers."""
        return self._fitted().vocabulary

    @property
    def converged_(self) -> bool:
        """Whether the stop rule was met, not merely the iterations used up."""
        self._fitted()
        return self.fit_.converged

    @property
    def n_iter_(self) -> int:
        """Passes over the pair counts, or over the data where the model was refined."""
        self._fitted()
        return self.fit_.n_iter

    @property
    def monitor_(self) -> Monitor:
        """Convergence under hmmlearn's names."""
        self._fitted()
        if isinstance(self.fit_, RefinedFit):
            n = float(self.fit_.length)
        else:
            n = self.counts_.n_pairs(min(self.counts_.lags))
        history = tuple(-n * step.objective for step in self.fit_.history)
        return Monitor(history, self.n_iter_, self.converged_, self.tol)

    # -- answers -----------------------------------------------------------------------------

    def score(self, X: Any, y: Any = None, lengths: Iterable[int] | None = None) -> float:
        """log P(X), the sum over all sequences."""
        given = self._given(X, _lengths(y, lengths))
        return self._fitted().log_likelihood(*given, self.unseen)

    def score_samples(
        self, X: Any, y: Any = None, lengths: Iterable[int] | None = None
    ) -> tuple[float, Floats]:
        """log P(X) and the posteriors of the states, (T, K)."""
        data = self._read(X, _lengths(y, lengths))
        return self.model_.log_likelihood(data), self.model_.posterior(data)

    def predict_proba(self, X: Any, lengths: Iterable[int] | None = None) -> Floats:
        """Posteriors of the states, (T, K)."""
        return self._fitted().posterior(*self._given(X, lengths), self.unseen)

    def decode(
        self,
        X: Any,
        lengths: Iterable[int] | None = None,
        algorithm: Literal["viterbi", "map"] | None = None,
    ) -> tuple[float, Ints]:
        """(log P(states, X), states)."""
        chosen = self.algorithm if algorithm is None else algorithm
        return self._fitted().decode(*self._given(X, lengths), self.unseen, algorithm=chosen)

    def predict(self, X: Any, lengths: Iterable[int] | None = None) -> Ints:
        """The states, (T,)."""
        return self.decode(X, lengths)[1]

    def filter(self, X: Any, lengths: Iterable[int] | None = None) -> Floats:
        """P(state | symbols so far), (T, K): no look-ahead."""
        return self._fitted().filter(*self._given(X, lengths), self.unseen)

    def forecast(self, X: Any, lengths: Iterable[int] | None = None, *, steps: int = 1) -> Floats:
        """Probabilities of the next symbols, (steps, N), or (S, steps, N) with lengths."""
        return self._fitted().forecast(*self._given(X, lengths), self.unseen, steps=steps)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[np.ndarray, Ints]:
        """Draw one sequence: symbols, (n, 1) as hmmlearn gives them, and states, (n,)."""
        seed = self.random_state if random_state is None else random_state
        symbols, states = self._fitted().sample(n_samples, seed)
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
        data = self._read(X, lengths)
        return float(np.log(len(data.symbols))) * self._n_parameters() - 2 * self.score(data)

    def _n_parameters(self) -> int:
        k, n = self._fitted().emissionprob.shape
        return int((k - 1) + k * (k - 1) + k * (n - 1))

    def _read(self, X: Any, lengths: Iterable[int] | None) -> Sequences:
        return self._fitted().encode(*self._given(X, lengths), self.unseen)

    def _given(self, X: Any, lengths: Any) -> tuple[Any, Any]:
        """Data and lengths as they are, or strings as sequences of characters."""
        return (
            (Sequences.of(X, lengths, characters=True), None) if self.characters else (X, lengths)
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _fitted(self) -> HMM:
        check_is_fitted(self)
        return self.model_

    def __sklearn_tags__(self) -> Any:
        """Symbols are categories, a column of them; missing ones are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags


def _lengths(second: Any, lengths: Any) -> Any:
    """hmmlearn has lengths where scikit-learn has y: either will do, but not both."""
    if second is not None and lengths is not None:
        raise ValueError("lengths are given twice")
    return second if lengths is None else lengths


def _with_symbols(model: HMM, counts: Cooccurrence) -> HMM:
    """``model`` with room for the symbols that have come since; it gives them no probability."""
    if model.n_symbols == counts.n_symbols and model.vocabulary == counts.vocabulary:
        return model
    emission = np.zeros((model.n_components, counts.n_symbols))
    if model.vocabulary is None or counts.vocabulary is None:
        places = np.arange(model.n_symbols)
    else:
        where = {label: place for place, label in enumerate(counts.vocabulary)}
        places = np.array([where[label] for label in model.vocabulary])
    emission[:, places] = model.emissionprob
    return HMM(model.startprob, model.transmat, emission, counts.vocabulary)


def _print_progress(step: Progress) -> None:
    print(
        f"pass {step.n_iter:5d}  objective {step.objective:.9f}  "
        f"divergence {step.divergence:.9f}  {step.seconds:.1f} s",
        file=sys.stderr,
    )
