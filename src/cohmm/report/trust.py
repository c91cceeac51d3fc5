"""Can this fit be trusted?  What a report says of it: a diagnosis, and intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from cohmm.data.documents import Documents
from cohmm.data.sequences import Sequences
from cohmm.diagnose.diagnosis import Diagnosis, diagnose
from cohmm.diagnose.fit_summary import FitSummary
from cohmm.diagnose.format import UNANSWERED
from cohmm.diagnose.standard_errors import StandardErrors, standard_errors
from cohmm.diagnose.topic_errors import topic_errors
from cohmm.evidence.pairs import Cooccurrence
from cohmm.kernels.types import Floats
from cohmm.learn.fitted import FittedHMM, FittedTopics
from cohmm.model.hmm import HMM

LEVEL = 0.9  # coverage of the intervals


class Between(NamedTuple):
    """From where to where probabilities may be."""

    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Certain:
    """How far a fit can be trusted.

    Parameters
    ----------
    lines : tuple of pairs
        What each line of the diagnosis is about, and its text.
    advice : tuple of str
        What to do next, in order.
    components : Between or None
        Of P(word | topic), (K, V); None where errors are not known.
    transitions : Between or None
        Of the transitions, (K, K).
    """

    lines: tuple[tuple[str, str], ...]
    advice: tuple[str, ...]
    components: Between | None = None
    transitions: Between | None = None


def trust_hmm(
    hmm: HMM,
    estimator: FittedHMM | None,
    data: Sequences | None,
    counts: Cooccurrence | None,
) -> Certain:
    """Of a hidden Markov model.

    Parameters
    ----------
    estimator : PairwiseHMM or None
        What learned the model; None where it was set by hand, or loaded.
    data : Sequences or None
        What the model is shown on, where that is in memory.
    counts : Cooccurrence or None
        Pairs of that data.

    >>> hmm = HMM([.5, .5], [[.9, .1], [.1, .9]], [[1, 0], [0, 1]])
    >>> dict(trust_hmm(hmm, None, None, None).lines)["intervals"]
    'not known: this model has no data with it; give the sequences that it was learned from'
    """
    learned = estimator is not None and estimator.fit_.model == hmm
    tested = data
    if learned and estimator is not None and data is not None and _fewer(data, estimator.counts_):
        tested = None  # what is shown says less than what the model was learned from
    diagnosis = _diagnosis(hmm if estimator is None else estimator, tested, counts)
    try:
        errors, said = _errors(hmm, estimator if learned else None, data)
    except ValueError as refused:
        errors, said = None, f"not known: {refused}"
    if errors is None:
        return _certain(diagnosis, said)
    low, high = errors.interval(LEVEL)
    return _certain(
        diagnosis,
        said,
        *(("not determined", change) for change in errors.undetermined),
        components=Between(low.emissionprob, high.emissionprob),
        transitions=Between(low.transmat, high.transmat),
    )


def trust_topics(model: FittedTopics, data: Documents, counts: Cooccurrence | None) -> Certain:
    """Of topics: intervals are those of their words.

    The transitions of a report are counted in the documents that it shows, and have none.
    ``data`` and ``counts`` are those of the documents shown, which a loaded model is compared with.
    """
    diagnosis = diagnose(model, counts=counts)
    condition: tuple[str, ...] = ()
    try:
        errors = model.standard_errors()
    except ValueError as refused:
        some = np.flatnonzero(data.lengths)
        if len(some) < 2:
            return _certain(diagnosis, f"not known: {refused}")
        errors = topic_errors(model.fit_, data.select(some))
        condition = ("true if the topics were learned from these documents",)
    low, high = errors.interval(LEVEL)
    groups = f"by leaving out each of {errors.n_groups} groups of documents"
    said = "; ".join((f"of words, {_percent()}, {groups}", *errors.notes, *condition))
    return _certain(diagnosis, said, components=Between(low.components, high.components))


def _diagnosis(model: Any, data: Sequences | None, counts: Cooccurrence | None) -> Diagnosis:
    try:
        return diagnose(model, data, counts=counts)
    except ValueError as refused:  # too little data to say more than the model does
        alone = diagnose(model)
        return replace(alone, missing=(*alone.missing, f"what these sequences show: {refused}"))


def _fewer(data: Sequences, counts: Cooccurrence) -> bool:
    lag = min(counts.lags)
    return bool(np.maximum(data.lengths - lag, 0).sum() < counts.n_pairs(lag))


def _errors(
    hmm: HMM, estimator: FittedHMM | None, data: Sequences | None
) -> tuple[StandardErrors | None, str]:
    if estimator is not None:
        errors, condition = estimator.standard_errors(), ""
    elif data is not None:
        errors = standard_errors(FitSummary.of(data, hmm, None), None)
        condition = "; true if the model was learned from these sequences, by maximum likelihood"
    else:
        return None, (
            "not known: this model has no data with it; give the sequences that it was learned from"
        )
    notes = "".join(f"; {note}" for note in errors.notes)
    return errors, f"{_percent()}, from {errors.evidence}{notes}{condition}"


def _certain(diagnosis: Diagnosis, said: str, *more: tuple[str, str], **tables: Between) -> Certain:
    """Intervals are said before what is not answered."""
    answered = tuple(line for line in diagnosis.findings if line[0] != UNANSWERED)
    rest = diagnosis.findings[len(answered) :]
    lines = (*answered, ("intervals", said), *more, *rest)
    return Certain(lines, diagnosis.advice, **tables)


def _percent() -> str:
    return f"{100 * LEVEL:g} %"
