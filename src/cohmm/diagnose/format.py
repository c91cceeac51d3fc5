"""A diagnosis in plain words: findings, what to do next, and both on one screen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from cohmm.diagnose.model_fit import LEVEL
from cohmm.learn.pairs.pair_evidence import MAX_STATES
from cohmm.learn.state_choice import StateChoice, advice_on_states

if TYPE_CHECKING:
    from cohmm.diagnose.diagnosis import Diagnosis

WIDTH = 98
LABEL = 16
MAX_CLOSE = 3  # pairs of states that are named
POOR = 0.05  # smallest singular value, at most, of a model whose errors are magnified
UNANSWERED = "not answered"


class Finding(NamedTuple):
    """One line: what it is about, and its text."""

    subject: str
    text: str


def formatted(lines: Iterable[Finding], advice: tuple[str, ...]) -> str:
    """Findings and advice, one under the other."""
    several = len(advice) > 1
    steps = (Finding(f"next, {i}" if several else "next", text) for i, text in enumerate(advice, 1))
    rows = []
    for subject, text in (*lines, *steps):
        for i, line in enumerate(wrap(text, WIDTH - LABEL, break_long_words=False) or [""]):
            rows.append(f"{'' if i else subject:<{LABEL}}{line}".rstrip())
    return "\n".join(rows)


def findings(diagnosis: Diagnosis) -> tuple[Finding, ...]:
    """What is known, and what could not be answered; without what to do next."""
    kind = diagnosis.kind
    rows = (
        Finding("fit of", _subject(diagnosis)),
        Finding(f"{kind}s shown", _shown(diagnosis)),
        Finding("one more", _one_more(diagnosis)),
        Finding("held out", _held_out(diagnosis)),
        Finding("scatter", _scatter(diagnosis)),
        Finding(f"{kind}s", _states(diagnosis)),
        Finding("conditioning", _conditioning(diagnosis)),
        Finding("model fit", _fit(diagnosis)),
        *(Finding(UNANSWERED, text) for text in diagnosis.missing),
    )
    return tuple(row for row in rows if row.text)


def _subject(d: Diagnosis) -> str:
    what = "counts alone" if d.n_components is None else _many(d.n_components, d.kind)
    text = f"{what}, {_many(d.n_symbols, 'symbol')}"
    if d.n_pairs:
        text += f", {d.n_pairs:,.0f} {'pair' if d.n_pairs == 1 else 'pairs'}"
    if d.n_sequences is not None:
        text += f" of {_many(d.n_sequences, 'sequence')}"
    if d.refined is not None and d.kind == "state":
        text += ", refined on the data" if d.refined else ", from pairs alone"
    return text


def _many(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _shown(d: Diagnosis) -> str:
    if not d.spectra:
        return ""
    if d.kind == "topic":
        least = "at least " if d.suggested_states == MAX_STATES else ""
        return (
            f'{least}{d.suggested_states} stand out from the noise of the pairs: what "auto" takes'
        )
    each = ", ".join(f"{n} at lag {lag}" for lag, n in d.detectable.items())
    lags = f"lag{'s' if len(d.suggested_lags) > 1 else ''} {_listed(d.suggested_lags)}"
    return f"{each}; suggested: {_many(d.suggested_states or 1, d.kind)}, {lags}"


def _one_more(d: Diagnosis) -> str:
    more = d.pairs_for_one_more
    return (
        ""
        if more is None
        else f"{amount(more)} pairs would show one more {d.kind}, if there is one"
    )


def _held_out(d: Diagnosis) -> str:
    return "" if d.choice is None or not d.choice.tried else f"{d.choice.reason}"


def _scatter(d: Diagnosis) -> str:
    seen = d.scatter
    if seen is None or seen.n_components == 1:
        return ""
    exact = seen.thresholds is None
    verdict = str(seen).replace("state", d.kind)
    if seen.refuted:
        why = "exact zeros alone: a smoothed model has none"
        verdict += f" ({why if exact else 'a warning: it depends on what counts as zero'})"
    least, most = int(seen.zeros.min()), int(seen.zeros.max())
    zeros = f"{least} to {most} zeros" if least < most else _many(most, "zero")
    within = "" if exact else " within the noise"
    n = sum(len(symbols) > 0 for symbols in seen.anchors)
    have = "has a symbol of its own" if n == 1 else "have a symbol of their own"
    share = f"{10**seen.log10_volume_ratio:.1g}"
    return (
        f"{verdict}; {zeros} per {d.kind}{within}; {n} of {seen.n_components} {d.kind}s {have}; "
        f"the ball that the rows of M must hold is {share} of the simplex"
    )


def _states(d: Diagnosis) -> str:
    if d.n_components is None or d.n_components == 1:
        return "one: nothing is hidden" if d.n_components == 1 else ""
    parts = [
        f"{one.first} and {one.second} emit nearly the same (total variation {one.distance:.2f})"
        for one in d.close[:MAX_CLOSE]
    ]
    if len(d.close) > MAX_CLOSE:
        parts.append(f"{len(d.close) - MAX_CLOSE} more such pairs")
    if d.undetected:
        are = "are" if len(d.undetected) > 1 else "is"
        parts.append(f"{_listed(d.undetected)} {are} mostly below what these pairs can show")
    if parts:
        return "; ".join(parts)
    return f"all are apart from each other{' and stand out from the noise' if d.spectra else ''}"


def _conditioning(d: Diagnosis) -> str:
    smallest = d.conditioning
    if smallest is None or d.n_components == 1:
        return ""
    judged = "" if min(smallest) > POOR else ": errors of the pairs are magnified"
    return (
        f"smallest singular value {smallest.emissions:.2g} of the emissions, {smallest.joint:.2g} "
        f"of the joint law of two {d.kind}s (1 is best){judged}"
    )


def _fit(d: Diagnosis) -> str:
    if d.fit is not None:
        blocks = "groups are blocks of one sequence" if d.fit.one_sequence else ""
        return "; ".join(text for text in (str(d.fit), blocks, d.fit.untested) if text)
    if not d.outside:
        return ""
    least = min(d.outside, key=lambda lag: d.outside[lag])
    p = min(1.0, d.outside[least] * len(d.outside))
    how = f"(p = {p:.2g}, from counts alone)"
    if p < LEVEL:
        return f"the pairs at lag {least} need more states {how}"
    return f"the pairs do not ask for more states {how}"


def advice_for(diagnosis: Diagnosis) -> tuple[str, ...]:
    """What to do next, the most urgent first; one line that says so where there is nothing."""
    steps = (*_about_number(diagnosis), *_about_evidence(diagnosis))
    return steps or (_nothing(diagnosis),)


def _about_number(d: Diagnosis) -> Iterator[str]:
    """Of states: none, too many, or too few."""
    shown, k, kind = d.suggested_states, d.n_components, d.kind
    blamed = d.fit is not None and d.fit.blames == "states"
    outside = any(p < LEVEL / len(d.outside) for p in d.outside.values())
    choice = d.choice or (None if shown is None else StateChoice(shown, shown))
    if shown == 1 and not blamed and (choice is None or choice.n_components == 1):
        yield (
            "find more data, or other symbols: these pairs look like those of independent symbols, "
            f"and show no {kind}s"
        )
    if k is None or choice is None:
        return
    more = d.pairs_for_one_more
    advice = advice_on_states(
        k,
        choice,
        refined=bool(d.refined) and kind == "state",
        refused=blamed or (d.fit is None and outside),
        tested=d.fit is not None,
        more_pairs="" if more is None else amount(more),
        kind=kind,
    )
    if advice:
        yield advice


def _about_evidence(d: Diagnosis) -> Iterator[str]:
    """Its order, its lags, what it was learned from, and what that leaves open."""
    if d.fit is not None and d.fit.blames == "order":
        more = "" if d.choice and d.choice.tried else "try more states, which can "
        more += "stand for what came before, and " if more else ""
        yield (
            f"mind that the chain remembers more than its last state: {more}trust forecasts of the "
            "next symbol more than those further on"
        )
    pairs_alone = d.n_components is not None and not d.refined
    if pairs_alone and d.lags and not set(d.suggested_lags) <= set(d.lags):
        yield f"count more lags: lags=({_listed(d.suggested_lags)}) show states too"
    if d.refined is False and d.n_components != 1:
        yield "refine on the sequences, where they are at hand (refine=True): pairs do not say all"
    if d.close and not (d.choice and d.choice.tried):  # held-out data has decided how many
        first, others = d.close[0], len(d.close) - 1
        more = f", and {others} more such pairs" if others else ""
        yield (
            f"look at {d.kind}s {first.first} and {first.second}, which emit nearly the same"
            f"{more}: fewer {d.kind}s may do"
        )
    # A model that was smoothed has no zeros of its own, which says nothing.
    refuted = d.scatter is not None and d.scatter.refuted and d.scatter.thresholds is not None
    if refuted and d.kind == "state" and not d.refined:
        yield (
            "do not take emissions from pairs alone for the only answer: other models explain "
            "these pairs as well; sequences (refine=True) tell them apart"
        )


def _nothing(d: Diagnosis) -> str:
    if d.n_components is None:
        lags = _listed(d.suggested_lags) + ("," if len(d.suggested_lags) == 1 else "")
        return f"learn a model: PairwiseHMM({d.suggested_states}, lags=({lags}))"
    if not d.spectra and d.kind == "topic":
        return "diagnose the topics where they are learned: a file does not keep their pairs"
    if not d.spectra:
        return "compare the model with its data: diagnose(model, X)"
    if d.undetected:
        which = f"{d.kind}{'s' if len(d.undetected) > 1 else ''} {_listed(d.undetected)}"
        return f"look at the standard errors of {which}, which these pairs hardly show"
    return "nothing: as far as this data tells, the fit can be trusted"


def amount(n: float) -> str:
    """A number of pairs, to two figures, rounded up a little.

    >>> amount(1_234_567)
    'at least 1,200,000'
    """
    digits = max(len(str(int(n))) - 2, 0)
    return f"at least {round(n / 10**digits) * 10**digits:,.0f}"
