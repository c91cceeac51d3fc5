"""A diagnosis on one screen, in plain words."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from cohmm.diagnose.advice import amount
from cohmm.learn.pairs.pair_evidence import MAX_STATES

if TYPE_CHECKING:
    from cohmm.diagnose.diagnosis import Diagnosis

WIDTH = 98
LABEL = 16
MOST_CLOSE = 3


def in_words(given: Diagnosis) -> str:
    """Some lines, each with what it is about."""
    next_steps = ((f"next, {i}" if i else "next", text) for i, text in _numbered(given.advice))
    return "\n".join(_row(label, text) for label, text in (*lines_of(given), *next_steps))


def lines_of(given: Diagnosis) -> tuple[tuple[str, str], ...]:
    """What each line is about, and its text; without what to do next."""
    rows = (
        ("fit of", _subject(given)),
        (f"{given.kind}s shown", _shown(given)),
        ("one more", _one_more(given)),
        ("scatter", _scatter(given)),
        (f"{given.kind}s", _states(given)),
        ("conditioning", _conditioning(given)),
        ("model fit", _fit(given)),
        *(("not answered", text) for text in given.missing),
    )
    return tuple((label, text) for label, text in rows if text)


def _row(label: str, text: str) -> str:
    lines = wrap(text, WIDTH - LABEL, break_long_words=False) or [""]
    return "\n".join(
        f"{label if i == 0 else '':<{LABEL}}{line}".rstrip() for i, line in enumerate(lines)
    )


def _numbered(lines: tuple[str, ...]) -> list[tuple[int, str]]:
    return [(i if len(lines) > 1 else 0, line) for i, line in enumerate(lines, 1)]


def _subject(given: Diagnosis) -> str:
    what = (
        "counts alone" if given.n_components is None else f"{_many(given.n_components, given.kind)}"
    )
    text = f"{what}, {_many(given.n_symbols, 'symbol')}"
    if given.n_pairs:
        text += f", {given.n_pairs:,.0f} {'pair' if given.n_pairs == 1 else 'pairs'}"
    if given.n_sequences is not None:
        text += f" of {_many(given.n_sequences, 'sequence')}"
    if given.refined is not None and given.kind == "state":
        text += ", refined on the data" if given.refined else ", from pairs alone"
    return text


def _many(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _shown(given: Diagnosis) -> str:
    if not given.spectra:
        return ""
    each = ", ".join(f"{n} at lag {lag}" for lag, n in given.detectable.items())
    lags = ", ".join(map(str, given.suggested_lags))
    best = given.suggested_states
    plural = "s" if len(given.suggested_lags) > 1 else ""
    if given.kind == "topic":
        least = "at least " if best == MAX_STATES else ""
        return f"{least}{best} stand out from the noise of the pairs"
    return f"{each}; suggested: {_many(best or 1, given.kind)}, lag{plural} {lags}"


def _one_more(given: Diagnosis) -> str:
    more = given.pairs_for_one_more
    if more is None:
        return ""
    return f"{amount(more)} pairs would show one more {given.kind}, if there is one"


def _scatter(given: Diagnosis) -> str:
    seen = given.scatter
    if seen is None or seen.n_components == 1:
        return ""
    least, most = int(seen.zeros.min()), int(seen.zeros.max())
    zeros = f"{least} to {most} zeros" if least < most else _many(most, "zero")
    zeros += f" per {given.kind}"
    verdict = str(seen).replace("state", given.kind)
    within = " within the noise" if seen.thresholds is not None else ""
    own = [k for k, symbols in enumerate(seen.anchors) if len(symbols)]
    have = "has a symbol of its own" if len(own) == 1 else "have a symbol of their own"
    anchors = f"{len(own)} of {seen.n_components} {given.kind}s {have}"
    share = f"{10**seen.log10_volume_ratio:.1g}"
    volume = f"the ball that the rows of M must hold is {share} of the simplex"
    warning = (
        " (exact zeros alone: a smoothed model has none)"
        if seen.thresholds is None
        else " (a warning: it depends on what counts as zero)"
    )
    return f"{verdict}{warning if seen.refuted else ''}; {zeros}{within}; {anchors}; {volume}"


def _states(given: Diagnosis) -> str:
    if given.n_components is None or given.n_components == 1:
        return "one: nothing is hidden" if given.n_components == 1 else ""
    parts = [
        f"{close.first} and {close.second} emit nearly the same (total variation "
        f"{close.distance:.2f})"
        for close in given.close[:MOST_CLOSE]
    ]
    if len(given.close) > MOST_CLOSE:
        parts.append(f"{len(given.close) - MOST_CLOSE} more such pairs")
    if given.undetected:
        several = len(given.undetected) > 1
        parts.append(
            f"{', '.join(map(str, given.undetected))} {'are' if several else 'is'} mostly below "
            "what these pairs can show"
        )
    return "; ".join(parts) or "all are apart from each other" + (
        " and stand out from the noise" if given.spectra else ""
    )


def _conditioning(given: Diagnosis) -> str:
    if given.conditioning is None or given.n_components == 1:
        return ""
    found = given.conditioning
    judged = "" if min(found) > 0.05 else ": errors of the pairs are magnified"
    return (
        f"smallest singular value {found.emissions:.2g} of the emissions, {found.joint:.2g} of "
        f"the joint law of two {given.kind}s (1 is best){judged}"
    )


def _fit(given: Diagnosis) -> str:
    if given.fit is not None:
        text = str(given.fit)
        if given.fit.one_sequence:
            text += "; groups are blocks of one sequence"
        return f"{text}; {given.fit.untested}" if given.fit.untested else text
    if given.outside:
        least = min(given.outside, key=lambda lag: given.outside[lag])
        p = min(1.0, given.outside[least] * len(given.outside))
        if p < 0.05:
            return f"the pairs at lag {least} need more states (p = {p:.2g}, from counts alone)"
        return f"the pairs do not ask for more states (p = {p:.2g}, from counts alone)"
    return ""
