"""PairwiseHMM: hmmlearn's interface over the pairwise learner."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from cohmm._validation import check_choice, check_decay
from cohmm.data.partitioned import Data, as_data
from cohmm.data.sequences import Sequences
from cohmm.diagnose.bootstrap import Bootstrap, bootstrap, refit_anew, refit_near, warn_of_near_fits
from cohmm.diagnose.diagnosis import Diagnosis, diagnose
from cohmm.diagnose.fit_summary import FitSummary, summary_for
from cohmm.diagnose.standard_errors import StandardErrors, standard_errors
from cohmm.distributed.backend import Partitions
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import count_pairs
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.constraints import PseudoCounts, UserTables
from cohmm.learn.learner import Callback, Fit, progress_log, warn
from cohmm.learn.pairs.pair_evidence import Combine, PairFit
from cohmm.learn.pairs.volume import Volume
from cohmm.learn.pairwise import PairwiseFit, check_ends, pairwise
from cohmm.learn.refinement import SMOOTHING, Past, Refine
from cohmm.learn.sequences.refine import RefinedFit
from cohmm.model.answers import Algorithm, Answers, Unseen, load_fitted, save_fitted
from cohmm.model.convert import HMMTable
from cohmm.model.hmm import HMM


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


def _table(name: str, doc: str) -> property:
    """An attribute that is the model's, unless it was set since."""

    def get(self: PairwiseHMM) -> Any:
        unchecked = self._tables.unchecked
        return unchecked[name] if name in unchecked else getattr(self.model_, name)

    def put(self: PairwiseHMM, value: Any) -> None:
        self._tables = self._tables.with_table(name, value)

    return property(get, put, doc=doc)


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
    max_iter : int, optional
        Passes over the pair counts, at most, and over the data where the model is refined;
        default: 3,000, and 60, or up to 200 where that takes less than a minute.
    n_iter : int, optional
        hmmlearn's name for ``max_iter``; where given, it counts.
    tol : float
        Stop when a step over the pairs gains less log-likelihood than this, over all of them, and
        refinement when less than this is left to gain for every parameter.
    n_init : int
        Starts of the whole recipe, each refined; the model of the highest likelihood is kept.
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
    unseen : "rare", "missing" or "error"
        What a symbol is that was not there when the model was fitted: as improbable as the symbols
        seen once suggest (Good-Turing), a missing observation, or a mistake.  Without counts of
        symbols, where the model was set by hand, rare ones are mistakes.
    end : bool
        Sequences end by themselves: that one ends is an event, the last symbol, ``"<end>"``.  So
        its length and how it ends count in likelihood, surprise, forecasts and samples.
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
        Log every pass to the logger "cohmm"; standard error shows it, unless logging is set up.

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

    counts_: Cooccurrence
    fit_: Fit
    pair_fit_: Fit | None
    _tables = UserTables()
    _symbol_counts: Floats | None = None
    _summary: FitSummary | None = None

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
        unseen: Unseen = "rare",
        end: bool = False,
        characters: bool = False,
        algorithm: Algorithm = "viterbi",
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
        self.end = end
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
        callback: Callback | None = None,
    ) -> Self:
        """Count the pairs of ``X`` and learn from them.

        ``fit(X, lengths)`` as in hmmlearn, or ``fit(X, lengths=lengths)``, as pipelines need.

        Parameters
        ----------
        X, y, lengths
            The sequences, as `Sequences.of` reads them; or a path, which `read_sequences` reads; or
            `Partitions`, one sequence per row, which stay where they are.
        states : array, (T,), or one per sequence, optional
            States that are known, -1 where they are not.
        sample_weight : array, (S,), optional
            How often each sequence counts.  Of very little data the mean of the models that it
            allows is taken, and with weights the most probable one.
        callback : function of a `Progress`, optional
            Called with every iteration that was kept; its ``stage`` is "pairs" or "refinement".
        """
        data = self._sequences(X, _one_of(y, lengths))
        return self._learn(data, self.refine, None, states, sample_weight, callback)

    def fit_counts(self, counts: Cooccurrence) -> Self:
        """Learn from pair counts; no sequence is needed, and nothing is refined."""
        return self._learn(counts, refine=False)

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        lengths: Iterable[int] | None = None,
        *,
        decay: float = 1.0,
    ) -> Self:
        """Learn on from new data, without reading again what came before; at first, as `fit`.

        A model that was refined is refined on, by online EM: what earlier data was expected to
        count is kept, and added to what ``X`` is expected to count.  It goes on where it stood or,
        if that explains ``X`` better, at the estimate from all pairs.  A model of pairs alone
        learns on from all pairs.

        Parameters
        ----------
        X, y, lengths
            New sequences, as for `fit`; symbols may be new too.
        decay : float
            The weight of earlier data, at each call; below 1, the past is forgotten.
        """
        check_decay(decay)
        data = self._sequences(X, _one_of(y, lengths))
        if not hasattr(self, "counts_"):
            if self._symbol_counts is not None:
                raise ValueError(
                    "partial_fit adds to the counts of pairs, which the file of this model does "
                    "not have: write it by save(path, counts=True)"
                )
            return self._learn(data, self.refine)
        past = Past.of(self.counts_, self.model_, getattr(self, "fit_", None)).weighted(decay)
        if self.refine is not False and past.statistics is not None:
            return self._learn(data, self.refine, past)
        return self._learn(count_pairs(data, lags=self.lags), refine=False, past=past)

    # -- the model ---------------------------------------------------------------------------

    startprob_ = _table("startprob", "Probability of each state at the start, (K,).")
    transmat_ = _table("transmat", "Transition probabilities, (K, K), from row to column.")
    emissionprob_ = _table("emissionprob", "Emission probabilities, (K, N).")

    @property
    def model_(self) -> HMM:
        """The model, as a value; parameters that were set are checked when it is first used."""
        self._check()
        model = self._tables.model
        assert model is not None
        return model

    @property
    def n_features(self) -> int | None:
        """Number of symbols: as given, or as in the model, without the end of a sequence."""
        n_features: int | None = self.__dict__["n_features"]
        model = self._tables.model
        return n_features if n_features is not None or model is None else model.n_symbols - self.end

    @n_features.setter
    def n_features(self, value: int | None) -> None:
        self.__dict__["n_features"] = value

    @property
    def vocabulary_(self) -> tuple[Any, ...] | None:
        """The labels of the symbols, or None where they are numbers."""
        return self.model_.vocabulary

    @property
    def converged_(self) -> bool:
        """Whether the stop rule was met, not merely the iterations used up."""
        self._check()
        return self.fit_.converged

    @property
    def n_iter_(self) -> int:
        """Passes over the pair counts, or over the data where the model was refined."""
        self._check()
        return self.fit_.n_iter

    @property
    def monitor_(self) -> Monitor:
        """Convergence under hmmlearn's names."""
        self._check()
        fit = self.fit_
        if isinstance(fit, RefinedFit):
            n = fit.length
        elif isinstance(fit, PairwiseFit):  # all states were known
            n = float(self.counts_.symbol_counts.sum())
        else:
            n = self.counts_.n_pairs(min(self.counts_.lags))
        history = tuple(-n * step.objective for step in fit.history)
        return Monitor(history, fit.n_iter, fit.converged, self.tol)

    def to_frame(self, what: HMMTable) -> Any:
        """The "start", "transitions" or "emissions" as a pandas data frame: see `HMM.to_frame`."""
        return self.model_.to_frame(what)

    def get_stationary_distribution(self) -> Floats:
        """The distribution of states that the chain keeps, (K,)."""
        return self.model_.stationary()

    # -- how probable data is ----------------------------------------------------------------

    def score(self, X: Any, y: Any = None, lengths: Iterable[int] | None = None) -> float:
        """log P(X), the sum over all sequences."""
        return self._answers().log_likelihood(X, _one_of(y, lengths))

    def score_sequences(self, X: Any, lengths: Iterable[int] | None = None) -> Floats:
        """log P of every sequence, (S,); of `Partitions`, a collection of their engine."""
        return cast(Floats, self._answers().log_likelihoods(X, lengths))

    def score_samples(
        self, X: Any, y: Any = None, lengths: Iterable[int] | None = None
    ) -> tuple[float, Floats]:
        """log P(X) and the posteriors of the states, (T, K)."""
        answers = self._answers()
        encoded = answers.encode(X, _one_of(y, lengths))
        return float(answers.scores_of(encoded).sum()), answers.posterior_of(encoded)

    def surprise(self, X: Any, lengths: Iterable[int] | None = None) -> Floats:
        """-log P(symbol | the symbols of its sequence before it), (T,), in nats.

        What no model expected stands out; the sum is minus the score.  A missing symbol is no
        surprise, 0; one that is impossible is infinite, and is then passed over.  With ``end=True``
        the last symbol of a sequence has the surprise of the end as well.
        """
        return self._answers().surprise(X, lengths)

    def aic(self, X: Any, lengths: Iterable[int] | None = None) -> float:
        """Akaike's criterion on ``X``; smaller is better."""
        return 2 * _n_free(self.model_) - 2 * self.score(X, lengths)

    def bic(self, X: Any, lengths: Iterable[int] | None = None) -> float:
        """The Bayesian information criterion on ``X``; smaller is better."""
        answers = self._answers()
        encoded = answers.encode(X, lengths)
        penalty = float(np.log(len(encoded.data.symbols))) * _n_free(self.model_)
        return penalty - 2 * float(answers.scores_of(encoded).sum())

    # -- states ------------------------------------------------------------------------------

    def predict(self, X: Any, lengths: Iterable[int] | None = None) -> Ints:
        """The states, (T,); of `Partitions` as `decode`."""
        decoded: Any = self.decode(X, lengths)
        return cast(Ints, decoded if isinstance(X, Partitions) else decoded[1])

    def decode(
        self, X: Any, lengths: Iterable[int] | None = None, algorithm: Algorithm | None = None
    ) -> tuple[float, Ints]:
        """(log P(states, X), states); of `Partitions`, a collection of both for every sequence."""
        decoded = self._answers().decode(X, lengths, algorithm or self.algorithm)
        return cast(tuple[float, Ints], decoded)

    def predict_proba(self, X: Any, lengths: Iterable[int] | None = None) -> Floats:
        """Posteriors of the states, (T, K)."""
        return self._answers().posterior(X, lengths)

    def filter(self, X: Any, lengths: Iterable[int] | None = None) -> Floats:
        """P(state | symbols so far), (T, K): no look-ahead."""
        return self._answers().filter(X, lengths)

    # -- what comes next ---------------------------------------------------------------------

    def forecast(self, X: Any, lengths: Iterable[int] | None = None, *, steps: int = 1) -> Floats:
        """Probabilities of the next symbols, (steps, N), or (S, steps, N) with lengths.

        With ``end=True`` the column of the end is the probability that it has come by then.
        """
        return self._answers().forecast(X, lengths, steps)

    def sample(
        self,
        n_samples: int | None = None,
        random_state: Any = None,
        currstate: int | None = None,
        *,
        n_sequences: int | None = None,
    ) -> tuple[Any, Ints]:
        """Draw one sequence, or, with ``end=True``, so many whole ones: symbols and states.

        Of one sequence the symbols are (n, 1) as hmmlearn gives them, 1 by default, and states
        (n,).  With ``n_sequences`` they are `Sequences`, each as long as it happens to be, and the
        states of all, (T,).  ``currstate`` is the state of the first symbol, where it is known.

        >>> model = PairwiseHMM(1, end=True)
        >>> model.startprob_, model.transmat_, model.emissionprob_ = [1], [[1]], [[.5, .3, .2]]
        >>> sequences, states = model.sample(n_sequences=2, random_state=0)
        >>> [len(sequence) for sequence in sequences], states.shape
        ([14, 1], (15,))
        """
        seed = self.random_state if random_state is None else random_state
        if n_sequences is None and not self.end:
            symbols, states = self.model_.sample(
                1 if n_samples is None else n_samples, seed, currstate
            )
            return symbols[:, None], states
        if n_sequences is None or n_samples is not None:
            raise ValueError(
                "sequences of a model with end=True end by themselves: give n_sequences alone"
            )
        if not self.end:
            raise ValueError(
                "n_sequences is for a model with end=True, whose sequences end by themselves: "
                "give n_samples"
            )
        return self._answers().sample(n_sequences, seed, currstate)

    # -- how sure it is ----------------------------------------------------------------------

    def standard_errors(
        self, X: Any = None, lengths: Iterable[int] | None = None, *, robust: bool = True
    ) -> StandardErrors:
        """How sure each number is: see `cohmm.diagnose.StandardErrors`.

        Of a refined model with enough sequences by the sandwich over these, which holds whether or
        not the model does; with ``robust=False``, or of few long sequences, from the information in
        blocks of the data, which takes the model for right.  The fit has kept some thousands of
        both.  Of a pair estimate from the counts alone.  No data is needed, unless the model
        was set by hand, or read from a file: ``X`` is then what it is from.

        >>> from cohmm.datasets.synthetic import separable_hmm
        >>> truth = separable_hmm(n_symbols=16, n_components=4, random_state=0)
        >>> X, _ = truth.sample(100_000, random_state=0)
        >>> model = PairwiseHMM(n_components=4, random_state=0).fit(X)
        >>> low, high = model.standard_errors().interval(.9)
        >>> bool((low.transmat <= model.transmat_).all())
        True
        """
        check_choice((True, False), robust=robust)
        model, data = self.model_, self._data(X, lengths)
        summary = summary_for(self._summary, model, data, "standard_errors(")
        counts, pairs = getattr(self, "counts_", None), getattr(self, "pair_fit_", None)
        if data is not None and summary.pairs is not None and counts is not None:
            counts = count_pairs(data, lags=counts.lags)
        as_learned = self._summary is not None and self._summary.model is model
        if as_learned and isinstance(pairs, PairFit):
            shown = pairs.spectrum.n_detectable
            return standard_errors(summary, counts, shown, robust=robust)
        return standard_errors(summary, counts, robust=robust)

    def bootstrap(
        self,
        n_fits: int = 100,
        X: Any = None,
        lengths: Iterable[int] | None = None,
        *,
        refit: Literal["warm", "scratch"] = "warm",
        threshold: float | None = None,
        random_state: Any = None,
        callback: Callable[[int, int], None] | None = None,
    ) -> Bootstrap:
        """Learn again from data drawn anew: see `cohmm.diagnose.Bootstrap`.

        Fits run on as many threads as there are, and their states are matched to the model's.
        Slower than `standard_errors`, and narrower than the truth where zeros abound; but for any
        size of model, and it says which states come back.

        Parameters
        ----------
        n_fits : int
            How many.
        X, lengths
            The data that the model is from, whose sequences are drawn with replacement; fewer than
            20 are cut into blocks, which are drawn instead.  Default: the model draws as much
            data as it was learned from.
        refit : "warm" or "scratch"
            Where fits start: from the model, which is quick and stays near it, with a warning where
            the data does not determine the states; or anew, as the model was learned, which shows
            what else the data might have led to, and takes as long as so many fits.
        threshold : float, optional
            Total variation of emissions within which a state has come back; default: half the way
            to the nearest other state, and .2 at most.
        random_state : int, optional
            Seed; default: that of the estimator.
        callback : function, optional
            Called with the number of fits made, and ``n_fits``.
        """
        data = self._data(X, lengths)
        summary = summary_for(self._summary, self.model_, data, "bootstrap(100, ")
        check_choice(("warm", "scratch"), refit=refit)
        fit, counts = getattr(self, "fit_", None), getattr(self, "counts_", None)
        if refit == "scratch":
            options = self._options(summary.model) | {"refine": self.refine}
            if summary.pairs is not None:
                options |= {"refine": False, "sparsity": "auto"}
            again = refit_anew(summary, options)
        else:
            again = refit_near(
                summary,
                (1,) if counts is None else counts.lags,
                smoothing=SMOOTHING if self.smoothing is None else self.smoothing,
                sparsity=fit.sparsity if isinstance(fit, RefinedFit) else 0.0,
            )
            warn_of_near_fits(summary, counts)
        return bootstrap(
            summary.model,
            again,
            n_fits,
            data,
            lengths=summary.lengths,
            total=summary.size[1],
            threshold=threshold,
            random_state=self.random_state if random_state is None else random_state,
            callback=callback,
        )

    def diagnose(
        self, X: Any = None, lengths: Iterable[int] | None = None, *, random_state: Any = 0
    ) -> Diagnosis:
        """How many states the data can show, which are well determined, whether the model fits.

        ``print`` it: see `cohmm.diagnose.diagnose`.  With ``X``, the data, triples and longer lags
        are looked at as well.

        >>> PairwiseHMM(2, random_state=0).fit([0, 1, 2, 1] * 500).diagnose().suggested_states
        2
        """
        return diagnose(self, self._data(X, lengths), random_state=random_state)

    # -- files -------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], *, counts: bool = False) -> None:
        """Write the model to a file, with all options and how often each symbol was seen.

        With ``counts``, those of the pairs as well, so that what is loaded can `partial_fit`.
        `HMM.load` reads the model alone.

        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp(), "model.cohmm")
        >>> model = PairwiseHMM(2, random_state=0).fit([0, 1, 2, 1] * 500)
        >>> model.save(path)
        >>> PairwiseHMM.load(path).score([0, 1, 9]) == model.score([0, 1, 9])
        True
        """
        if counts and not hasattr(self, "counts_"):
            raise ValueError("there are no counts to save: the model was not fitted here")
        save_fitted(path, self._answers(), self.get_params(), self.counts_ if counts else None)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save`, `HMM.save` or ``cohmm fit`` wrote."""
        answers, parameters, counts = load_fitted(path, cls._get_param_names())
        model = cls(**parameters)
        model._tables = UserTables().with_model(answers.model)
        model._symbol_counts, model.n_features_in_ = answers.symbol_counts, 1
        if counts is not None:
            model.counts_ = counts
        return model

    @classmethod
    def from_hmmlearn(cls, model: Any, vocabulary: Iterable[Any] | None = None) -> Self:
        """An estimator with the parameters of a fitted `hmmlearn.hmm.CategoricalHMM`."""
        hmm = HMM.from_hmmlearn(model, vocabulary)
        estimator = cls(hmm.n_components, random_state=model.random_state)
        estimator._tables = UserTables().with_model(hmm)
        return estimator

    # -- scikit-learn ------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters as they were given."""
        return {**super().get_params(deep), "n_features": self.__dict__["n_features"]}

    def __sklearn_is_fitted__(self) -> bool:
        return not self._tables.missing

    def __sklearn_tags__(self) -> Any:
        """Symbols are categories, a column of them; missing ones are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags

    # -- inside ------------------------------------------------------------------------------

    def _sequences(self, X: Any, lengths: Iterable[int] | None, *, end: bool = True) -> Data:
        data = as_data(
            X,
            lengths,
            vocabulary=self.vocabulary,
            n_symbols=self.__dict__["n_features"],
            characters=self.characters,
        )
        return data.with_end() if self.end and end else data

    def _learn(
        self,
        data: Data | Cooccurrence,
        refine: Refine,
        past: Past | None = None,
        states: Any = None,
        weights: Any = None,
        callback: Callback | None = None,
    ) -> Self:
        check_choice(("error", "missing", "rare"), unseen=self.unseen)
        if self.end and past is None:  # one session more may add its end to earlier ones
            check_ends(data)
        constraints = self._tables.constraints(
            self.n_components,
            params=self.params,
            init_params=self.init_params,
            states=states,
            prior=PseudoCounts.of_priors(
                self.startprob_prior, self.transmat_prior, self.emissionprob_prior
            ),
        )
        fit = pairwise(
            data,
            self.n_components if past is None else past.model.n_components,
            weights=weights,
            constraints=constraints,
            refine=refine,
            random_state=self.random_state,
            past=past,
            callback=callback or progress_log(self.verbose),
            **self._options(data),
        )
        summary = FitSummary.of(
            fit.counts if past or (fit.pairs and not fit.refined) else data,
            fit.model,
            fit.last,
            constraints=constraints,
            weights=weights,
            volume=self.volume,
            summed=self.combine == "summed",
        )
        # Together, and last: a fit that fails leaves what was there.
        self.counts_, self.pair_fit_, self.fit_ = fit.counts, fit.pairs, fit.last
        self._tables, self._summary = self._tables.with_model(fit.model), summary
        self._symbol_counts = fit.counts.symbol_counts
        self.n_features_in_ = 1
        if not fit.converged:
            warn(_not_converged(fit, self.n_iter or self.max_iter), ConvergenceWarning)
        return self

    def _options(self, data: Any) -> dict[str, Any]:
        """Those of `pairwise` that are the same whenever this learns from ``data``."""
        counted = isinstance(data, Cooccurrence)
        return {
            "lags": None if counted else self.lags,
            "combine": self.combine,
            "volume": self.volume,
            "penalty": self.penalty,
            "max_iter": self.max_iter if self.n_iter is None else self.n_iter,
            "tol": self.tol,
            "n_init": self.n_init,
            "smoothing": self.smoothing,
            "sparsity": 0.0 if counted and self.sparsity != "auto" else self.sparsity,
        }

    def _check(self) -> None:
        """Make a model of what was set, and refuse what does not fit together (hmmlearn's name)."""
        if self._tables.missing:
            name, left = type(self).__name__, " and ".join(f"{t}_" for t in self._tables.missing)
            raise NotFittedError(f"this {name} is not fitted: call fit, or set {left}")
        if self._tables.unchecked:
            self._tables = self._tables.checked(
                self.n_components, self.__dict__["n_features"], self.vocabulary, self.end
            )

    def _answers(self) -> Answers:
        """The model, and how data is encoded for it."""
        check_choice(("scaling", "log"), implementation=self.implementation)
        return Answers(
            self.model_,
            self.unseen,
            self._symbol_counts,
            self.characters,
            self.end,
            self.implementation == "log",
            columns=not hasattr(self, "n_features_in_"),
        )

    def _data(self, X: Any, lengths: Any) -> Sequences | None:
        """Data in the symbols of the model; where others may be unseen, those are missing."""
        if X is None:
            if lengths is not None:
                raise ValueError("lengths are of X: give both, or neither")
            return None
        if isinstance(X, Partitions):
            raise ValueError(
                "Partitions are read once, by fit, which keeps what is needed: leave out X"
            )
        return self._answers().encode(X, lengths).data


def _one_of(second: Any, lengths: Any) -> Any:
    """hmmlearn has lengths where scikit-learn has y: either will do, but not both."""
    if second is not None and lengths is not None:
        raise ValueError("lengths are given twice")
    return second if lengths is None else lengths


def _n_free(model: HMM) -> int:
    """Parameters of the three tables, less one for each row, as hmmlearn counts them."""
    k, n = model.emissionprob.shape
    return int((k - 1) + k * (k - 1) + k * (n - 1))


def _not_converged(fit: PairwiseFit, given: int | None) -> str:
    step, what = ("refinement", "data") if fit.refined else ("the pair estimate", "pairs")
    return (
        f"{step} did not converge in {given or fit.last.n_iter} passes over the {what}: raise "
        "max_iter (or tol, if the fit need not be so close); the model is the best so far"
    )
