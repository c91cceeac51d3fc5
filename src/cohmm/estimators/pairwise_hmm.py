"""PairwiseHMM: hmmlearn's interface over the pairwise learner."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from sklearn.base import BaseEstimator, DensityMixin
from sklearn.exceptions import ConvergenceWarning

from cohmm.data.sequence_parts import SequenceParts, encoded_parts
from cohmm.data.sequences import Sequences
from cohmm.diagnose.kept import Kept
from cohmm.distributed.partitions import Partitions
from cohmm.estimators.answers import Answers, lengths_of
from cohmm.estimators.by_hand import ByHand
from cohmm.estimators.certainty import Certainty
from cohmm.estimators.diagnosing import Diagnosing
from cohmm.evidence.counting import count_pairs
from cohmm.evidence.pairs import Cooccurrence
from cohmm.learn.fit import Fit, Progress
from cohmm.learn.options import check_choice, check_decay
from cohmm.learn.pairs.pair_evidence import Combine
from cohmm.learn.pairs.volume import Volume
from cohmm.learn.recipe import PairwiseFit, pairwise
from cohmm.learn.run import warn
from cohmm.learn.second_step import Refine
from cohmm.learn.sequences.refine import RefinedFit
from cohmm.model.hmm import HMM
from cohmm.model.more_symbols import with_symbols


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


class PairwiseHMM(
    ByHand,
    Answers,
    Certainty,
    Diagnosing,
    DensityMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
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
    max_iter : int, optional
        Passes over the pair counts, at most, and over the data where the model is refined;
        default: 3,000, and 60, or up to 200 where that takes less than a minute.
    n_iter : int, optional
        hmmlearn's name for ``max_iter``; where given, it counts.
    tol : float
        Stop when a step over the pairs gains less log-likelihood than this, over all of them, and
        refinement when less than this is left to gain for every parameter.
    n_init : int
        Starts; the best is kept.
    smoothing : float, optional
        Pseudo-observations of each symbol in each state: what was never seen is then
        improbable, not impossible.  Default: .1; none where parameters were set by hand, or all
        states are known.
    refine : bool, "auto", "sequences" or "triples"
        Go on from the pair estimate to maximum likelihood: of the sequences, in some tens of passes
        over the data (`cohmm.learn.refine`), or, from 1e7 symbols on, of its triples
        (`cohmm.learn.window_ml`).  "auto": if that is about a minute's work at most, as it is
        for T K^2 <= 4e9.  Counts alone cannot be refined.
    sparsity : float or "auto"
        Weight of a prior for emissions with zeros in the refinement, which it asks for; 1 is a
        good value where most symbols are foreign to most states.  "auto": 1 if zeros show, else 0;
        of pairs alone the volume term is then taken away at the end.
    n_features : int, optional
        Number of symbols; default: the largest seen plus one.
    vocabulary : list, optional
        Labels of the symbols; default: learned, where symbols are strings.
    unseen : "error", "missing" or "rare"
        What a symbol is that was not there when the model was fitted: a mistake, a missing
        observation, or as improbable as the symbols seen once suggest (Good-Turing).
    characters : bool
        Read strings symbol by symbol: data is one string, or a list of them, a sequence each.
    algorithm : "viterbi" or "map"
        How `predict` and `decode` choose states.
    params : str
        What is learned, by hmmlearn's letters: "s"tart, "t"ransitions, "e"missions.  What is left
        out stays as it was set.
    init_params : str, optional
        What starts from the data, by the same letters; the rest starts where it was set, or where
        it stood.  Default: all that was not set by hand.
    startprob_prior, transmat_prior, emissionprob_prior : float or array, optional
        Parameters of Dirichlet priors; 1 is none.
    implementation : "scaling" or "log"
        Arithmetic of the answers: scaled probabilities, which fall back to logarithms where they
        underflow, or logarithms all the way.
    random_state : int or Generator, optional
        Seed: the same gives the same model, for any number of threads.
    verbose : bool
        Print the objective to standard error while it falls.

    Attributes
    ----------
    startprob_, transmat_, emissionprob_
        The probabilities, (K,), (K, K) and (K, N); states by prevalence.  They can be set: where
        all three are, the model needs no fit; where some are, fit starts there, zeros stay zeros,
        and states keep their order.
    model_, counts_
        The `HMM`, and the `Cooccurrence` that it was learned from.
    fit_, pair_fit_
        How the model was learned, with its history: the last step, and the one from pairs; the
        two are the same where nothing was refined.  The second is None where none was needed, or
        possible: pairs cannot tell more states than symbols apart.
    converged_, n_iter_, monitor_
        Whether the stop rule of the last step was met, passes made, both with the history.

    >>> from cohmm.datasets.synthetic import separable_hmm
    >>> truth = separable_hmm(n_symbols=16, n_components=4, random_state=0)
    >>> X, _ = truth.sample(100_000, random_state=0)
    >>> model = PairwiseHMM(n_components=4, random_state=0).fit(X)
    >>> model.model_.distance(truth).emission < 0.1
    True
    """

    fit_: Fit
    pair_fit_: Fit | None

    def __init__(
        self,
        n_components: int | Literal["auto"] = 1,
        lags: Iterable[int] = (1,),
        *,
        combine: Combine = "tied",
        volume: str | Volume = "logdet",
        penalty: float | Literal["auto"] | None = None,
        max_iter: int | None = None,
        n_iter: int | None = None,
        tol: float = 1e-3,
        n_init: int = 1,
        smoothing: float | None = None,
        refine: Refine = "auto",
        sparsity: float | Literal["auto"] = "auto",
        n_features: int | None = None,
        vocabulary: Iterable[Any] | None = None,
        unseen: Literal["error", "missing", "rare"] = "error",
        characters: bool = False,
        algorithm: Literal["viterbi", "map"] = "viterbi",
        params: str = "ste",
        init_params: str | None = None,
        startprob_prior: Any = None,
        transmat_prior: Any = None,
        emissionprob_prior: Any = None,
        implementation: Literal["scaling", "log"] = "scaling",
        random_state: Any = None,
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
        self.params = params
        self.init_params = init_params
        self.startprob_prior = startprob_prior
        self.transmat_prior = transmat_prior
        self.emissionprob_prior = emissionprob_prior
        self.implementation = implementation
        self.random_state = random_state
        self.verbose = verbose

    # -- learning ----------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,
        lengths: Iterable[int] | None = None,
        *,
        states: Any = None,
        sample_weight: Any = None,
    ) -> PairwiseHMM:
        """Count the pairs of ``X`` and learn from them.

        ``fit(X, lengths)`` as in hmmlearn, or ``fit(X, lengths=lengths)``, as pipelines need.

        Parameters
        ----------
        X, y, lengths
            The sequences, as `Sequences.of` reads them; or `Partitions`, a sequence per row, which
            stay where they are.
        states : array, (T,), or one per sequence, optional
            States that are known, -1 where they are not.
        sample_weight : array, (S,), optional
            How often each sequence counts.  Of very little data the mean of the models that it
            allows is taken, and with weights the most probable one.
        """
        data = self._sequences(X, lengths_of(y, lengths))
        return self._learn(data, self.refine, states=states, weights=sample_weight)

    def fit_counts(self, counts: Cooccurrence) -> PairwiseHMM:
        """Learn from pair counts; no sequence is needed, and nothing is refined."""
        return self._learn(counts, refine=False)

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        lengths: Iterable[int] | None = None,
        *,
        decay: float = 1.0,
    ) -> PairwiseHMM:
        """Add the pairs of ``X`` to those counted before, and learn on from where it stood.

        From pairs alone: the data that came before is no longer there to be read.  What was counted
        before weighs ``decay`` times as much as it did: below 1, the past is forgotten.
        """
        check_decay(decay)
        counts = count_pairs(self._sequences(X, lengths_of(y, lengths)), lags=self.lags)
        if not hasattr(self, "counts_"):
            return self.fit_counts(counts)
        counts = self.counts_.scaled(decay) + counts
        start = with_symbols(self.model_, counts.vocabulary, counts.n_symbols)
        return self._learn(counts, refine=False, start=start)

    def _sequences(self, X: Any, lengths: Iterable[int] | None) -> Sequences | SequenceParts:
        if isinstance(X, Partitions):
            if lengths is not None:
                raise ValueError(
                    "lengths are for data in memory: a row of Partitions is a sequence"
                )
            return encoded_parts(
                X,
                vocabulary=self.vocabulary,
                n_symbols=self.__dict__["n_features"],
                characters=self.characters,
            )
        given = self._given(X, lengths)
        return Sequences.of(
            *given, vocabulary=self.vocabulary, n_symbols=self.__dict__["n_features"]
        )

    def _learn(
        self,
        data: Sequences | SequenceParts | Cooccurrence,
        refine: Refine,
        start: HMM | None = None,
        states: Any = None,
        weights: Any = None,
    ) -> PairwiseHMM:
        check_choice(("error", "missing", "rare"), unseen=self.unseen)
        known = self._known(states)
        fit = pairwise(
            data,
            self.n_components if start is None else start.n_components,
            lags=None if isinstance(data, Cooccurrence) else self.lags,
            combine=self.combine,
            volume=self.volume,
            penalty=self.penalty,
            weights=weights,
            known=known,
            max_iter=self.max_iter if self.n_iter is None else self.n_iter,
            tol=self.tol,
            n_init=self.n_init,
            smoothing=self.smoothing,
            refine=refine,
            sparsity=0.0
            if isinstance(data, Cooccurrence) and self.sparsity != "auto"
            else self.sparsity,
            random_state=self.random_state,
            start=start,
            callback=_print_progress if self.verbose else None,
        )
        # Together, and last: a fit that fails leaves what was there.
        self.counts_, self.pair_fit_, self.fit_ = fit.counts, fit.pairs, fit.last
        self._model, self._set_since = fit.model, {}
        self._kept = Kept.of(
            data if fit.refined or fit.pairs is None else fit.counts,
            fit.model,
            fit.last,
            known=known,
            weights=weights,
            volume=self.volume,
            summed=self.combine == "summed",
        )
        self.n_features_in_ = 1
        if not fit.converged:
            warn(_not_converged(fit, self.n_iter or self.max_iter), ConvergenceWarning)
        return self

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
            n = self.fit_.length
        elif isinstance(self.fit_, PairwiseFit):  # all states were known
            n = float(self.counts_.symbol_counts.sum())
        else:
            n = self.counts_.n_pairs(min(self.counts_.lags))
        history = tuple(-n * step.objective for step in self.fit_.history)
        return Monitor(history, self.n_iter_, self.converged_, self.tol)

    def __sklearn_tags__(self) -> Any:
        """Symbols are categories, a column of them; missing ones are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags


def _not_converged(fit: PairwiseFit, given: int | None) -> str:
    step, what = ("refinement", "data") if fit.refined else ("the pair estimate", "pairs")
    return (
        f"{step} did not converge in {given or fit.last.n_iter} passes over the {what}: raise "
        "max_iter (or tol, if the fit need not be so close); the model is the best so far"
    )


def _print_progress(step: Progress) -> None:
    print(
        f"pass {step.n_iter:5d}  objective {step.objective:.9f}  "
        f"divergence {step.divergence:.9f}  {step.seconds:.1f} s",
        file=sys.stderr,
    )
