"""What to do next about a fit, the most urgent first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cohmm.diagnose.model_fit import LEVEL

if TYPE_CHECKING:
    from cohmm.diagnose.diagnosis import Diagnosis


def advice_for(diagnosis: Diagnosis) -> tuple[str, ...]:
    """One line for each thing to do; one that says so where there is none."""
    lines = [
        line
        for rule in (_no_state, _too_many, _too_few, _wrong_order, _lags, _refine, _twins, _scatter)
        if (line := rule(diagnosis))
    ]
    return tuple(lines) or (_nothing(diagnosis),)


def _nothing(given: Diagnosis) -> str:
    if given.n_components is None:
        lags = ", ".join(map(str, given.suggested_lags))
        lags += "," if len(given.suggested_lags) == 1 else ""
        return f"learn a model: PairwiseHMM({given.suggested_states}, lags=({lags}))"
    if not given.spectra and given.kind == "topic":
        return "diagnose the topics where they are learned: a file does not keep their pairs"
    if not given.spectra:
        return "compare the model with its data: diagnose(model, X)"
    if given.undetected:
        several = len(given.undetected) > 1
        return (
            f"look at the standard errors of {given.kind}{'s' if several else ''} "
            f"{', '.join(map(str, given.undetected))}, which these pairs hardly show"
        )
    return "nothing: as far as this data tells, the fit can be trusted"


def _no_state(given: Diagnosis) -> str:
    if given.suggested_states != 1 or (given.fit is not None and given.fit.blames == "states"):
        return ""
    return (
        "find more data, or other symbols: these pairs look like those of independent symbols, "
        f"and show no {given.kind}s"
    )


def _too_many(given: Diagnosis) -> str:
    shown, k = given.suggested_states, given.n_components
    if shown is None or k is None or shown == 1 or k <= shown:
        return ""
    if given.refined and 2 * shown > k and given.kind == "state":
        return ""  # the data itself shows more than its pairs, as `warn_of_noise` says
    more = given.pairs_for_one_more
    needs = "" if more is None else f", or find more data (one more needs {amount(more)} pairs)"
    return f"ask for fewer {given.kind}s: the pairs show {shown} of {k}{needs}"


def _too_few(given: Diagnosis) -> str:
    k = given.n_components
    if k is None:
        return ""
    untold = given.fit is None and any(
        p < LEVEL / max(len(given.outside), 1) for p in given.outside.values()
    )
    if untold or (given.fit is not None and given.fit.blames == "states"):
        return (
            f"try more {given.kind}s than {k}, which do not explain the pairs; select(X) compares "
            "several numbers on held-out data"
        )
    shown = given.suggested_states
    if shown is None or shown <= k or given.fit is not None:
        return ""
    if given.kind == "topic":
        return "ask for more topics if you want finer ones: select_topics compares numbers of them"
    return f"try {shown} states: so many stand out from the noise, and this model has {k}"


def _wrong_order(given: Diagnosis) -> str:
    if given.fit is None or given.fit.blames != "order":
        return ""
    return (
        "mind that the chain remembers more than its last state: try more states, which can stand "
        "for what came before, and trust forecasts of the next symbol more than those further on"
    )


def _lags(given: Diagnosis) -> str:
    more = [lag for lag in given.suggested_lags if lag not in given.lags]
    if given.n_components is None or given.refined or not more or not given.lags:
        return ""
    lags = ", ".join(map(str, given.suggested_lags))
    return f"count more lags: lags=({lags}) show states too"


def _refine(given: Diagnosis) -> str:
    if given.refined is not False or given.n_components == 1:
        return ""
    return "refine on the sequences, where they are at hand (refine=True): pairs do not say all"


def _twins(given: Diagnosis) -> str:
    if not given.close:
        return ""
    first = given.close[0]
    others = f", and {len(given.close) - 1} more such pairs" if len(given.close) > 1 else ""
    return (
        f"look at {given.kind}s {first.first} and {first.second}, which emit nearly the same"
        f"{others}: fewer {given.kind}s may do"
    )


def _scatter(given: Diagnosis) -> str:
    seen = given.scatter
    if seen is None or not seen.refuted or seen.thresholds is None or given.kind == "topic":
        return ""  # a model that was smoothed has no zeros of its own, which says nothing
    if given.refined:
        return ""
    return (
        "do not take emissions from pairs alone for the only answer: other models explain these "
        "pairs as well; sequences (refine=True) tell them apart"
    )


def amount(n: float) -> str:
    """A number of pairs, to two figures, rounded up a little.

    >>> amount(1_234_567)
    'at least 1,200,000'
    """
    digits = max(len(str(int(n))) - 2, 0)
    return f"at least {round(n / 10**digits) * 10**digits:,.0f}"
