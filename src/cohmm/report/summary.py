"""Lines of the summary that all models share."""

from __future__ import annotations

from cohmm.evidence.pairs import Cooccurrence
from cohmm.learn.learner import Progress
from cohmm.learn.pairs.pair_evidence import Combine, PairEvidence
from cohmm.report.values import Item, Trace
from cohmm.version import __version__

MOST_STEPS = 400


def number(value: float) -> str:
    """Four digits, and no more zeros than are needed.

    >>> number(1234.567), number(-0.000123456)
    ('1,235', '-0.0001235')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def trace(name: str, steps: tuple[Progress, ...]) -> Trace:
    """A history, of which a long one is thinned out; the last step stays."""
    every = -(-len(steps) // MOST_STEPS)
    kept = [*steps[:-1:every], steps[-1]]
    return Trace(name, [step.n_iter for step in kept], [float(step.objective) for step in kept])


def detectable(
    counts: Cooccurrence | None, k: int, what: str, combine: Combine = "tied"
) -> list[Item]:
    """How many states stand out from the noise of the pairs, where there are pairs.

    By what learners go by: the first lag, or, "summed", all of them together.
    """
    lags = [] if counts is None else [lag for lag in counts.lags if counts.n_pairs(lag)]
    if combine == "tied":
        lags = lags[:1]
    if counts is None or not lags:
        return []
    shown = PairEvidence.of(counts, lags, combine).spectrum()
    n = shown.n_detectable
    least = "at least " if n == len(shown.values) < counts.n_symbols else ""
    than = f"fewer than the {k} learned" if n < k and not least else f"{k} were learned"
    at = f"lag {lags[0]}" if len(lags) == 1 else f"lags {', '.join(map(str, lags))}"
    note = (
        f"{than}; so many singular values of the pairs at {at} stand above the noise floor "
        f"of {shown.floor:.3g}"
    )
    return [Item(f"Detectable {what}", f"{least}{n:,}", note)]


def command_items(command: str | None) -> list[Item]:
    """Version, and what was typed."""
    return [Item("cohmm", __version__), *([Item("Command", command)] if command else [])]
