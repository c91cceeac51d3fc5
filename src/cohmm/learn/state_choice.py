"""How many states: what was compared, what was taken, and what to do about it.

`cohmm.learn.sequences.held_out` compares; "auto", `select`, `diagnose` and warnings say it by this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

TOLERANCE = 0.02  # nats per symbol that a smaller number of states may cost

Kind = Literal["state", "topic"]


class Tried(NamedTuple):
    """One number of states on held-out data."""

    n_components: int
    held_out: float
    """Log-likelihood, nats per symbol."""
    behind: float
    """How far that is behind the best, nats per symbol; 0 for the best."""
    standard_error: float
    """Of ``behind``."""

    @property
    def is_enough(self) -> bool:
        """Whether the best is ahead by a standard error at most, and by `TOLERANCE` at most."""
        return self.behind <= min(self.standard_error, TOLERANCE)


@dataclass(frozen=True)
class StateChoice:
    """A number of states, and why.

    Parameters
    ----------
    n_components : int
        The number that was taken.
    detectable : int
        How many stand out from the noise of the pairs.
    tried : tuple of Tried
        Those that were compared on held-out data, ascending; empty where the pairs alone decided.
    kind : "state" or "topic"
        What is counted.
    """

    n_components: int
    detectable: int
    tried: tuple[Tried, ...] = ()
    kind: Kind = "state"

    @property
    def best(self) -> int:
        """The number with the best held-out likelihood, or the one that was taken."""
        if not self.tried:
            return self.n_components
        return max(self.tried, key=lambda one: (one.held_out, -one.n_components)).n_components

    @property
    def rising(self) -> bool:
        """Whether the largest number that was tried is the best: more may be better still."""
        return len(self.tried) > 1 and self.best == self.tried[-1].n_components

    @property
    def reason(self) -> str:
        """One line.

        >>> rows = (Tried(1, -2., .5, .1), Tried(3, -1.51, .01, .02), Tried(4, -1.5, 0., 0.))
        >>> print(StateChoice(3, 2, rows).reason)
        3 states: the smallest within a standard error of 4 states, the best of 1 to 4 on held-out \
data (-1.500 nats per symbol; 3: -1.510); the pairs show 2; still rising at the largest tried, 4
        """
        return f"{self.n_components} {self.kind}{'s' * (self.n_components != 1)}: {self.why}"

    @property
    def why(self) -> str:
        """The same without the number."""
        k, shown = self.n_components, f"; the pairs show {self.detectable}"
        if not self.tried:
            return "so many stand out from the noise of the pairs"
        if len(self.tried) == 1:
            return "the only candidate"
        if self.kind == "topic":
            return self._why_topics
        scores = {one.n_components: one.held_out for one in self.tried}
        among = f"the best of {min(scores)} to {max(scores)} on held-out data"
        rising = f"; still rising at the largest tried, {max(scores)}" if self.rising else ""
        if k not in scores:
            return f"the pairs show so many, and {self.best}, {among}, are fewer"
        if k == self.best:
            return f"{among} ({scores[k]:.3f} nats per symbol){shown}{rising}"
        return (
            f"the smallest within a standard error of {self.best} {self.kind}s, {among} "
            f"({scores[self.best]:.3f} nats per symbol; {k}: {scores[k]:.3f}){shown}{rising}"
        )

    @property
    def _why_topics(self) -> str:
        """What stands out, and what predicts best, are ends of a range: readers choose.

        >>> rows = (Tried(9, -6.2, .2, .01), Tried(18, -6.1, .1, .01), Tried(36, -6., 0., 0.))
        >>> print(StateChoice(36, 18, rows, "topic").why)
        18 stand out from the noise, which "auto" takes; held-out perplexity still falls at 36, \
the largest tried: from 18 to 36, choose by how fine you want to read
        """
        shown = f'{self.detectable} stand out from the noise, which "auto" takes'
        best = self.best
        if self.rising:
            scored = f"held-out perplexity still falls at {best}, the largest tried"
        elif best == self.tried[0].n_components:
            scored = f"held-out perplexity is lowest at {best}, the smallest tried"
        else:
            scored = f"held-out perplexity is lowest at {best}"
        if best != self.n_components:
            scored += f", and as good, to a standard error, at {self.n_components}"
        low, high = sorted((self.detectable, self.n_components))
        if low == high and not self.rising:
            return f"{shown}; {scored}"
        return f"{shown}; {scored}: from {low} to {high}, choose by how fine you want to read"


def advice_on_states(
    k: int,
    choice: StateChoice,
    *,
    refined: bool = False,
    refused: bool = False,
    tested: bool = False,
    more_pairs: str = "",
    kind: Kind = "state",
) -> str:
    """What to do about ``k`` states, with the evidence; "" where nothing is to be done.

    Held-out data decides where it was looked at, else the test of model fit, which may have
    ``refused`` the model, else the pairs; these say little of a model that was ``refined``, and
    nothing more of one that was ``tested`` and not refused.
    ``more_pairs`` would show one more state.

    >>> advice_on_states(9, StateChoice(3, 3))
    'ask for fewer states: the pairs show 3 of 9'
    >>> rows = (Tried(3, -1.6, .1, .01), Tried(9, -1.5, 0., 0.))
    >>> advice_on_states(9, StateChoice(9, 3, rows))
    ''
    """
    shown = choice.detectable
    if choice.tried:
        enough = next((one.is_enough for one in choice.tried if one.n_components == k), False)
        if enough or choice.n_components == k:
            return ""
        more = "more" if choice.n_components > k else "fewer"
        return f"try {more} {kind}s than {k}: {choice.reason}"
    if refused:
        return (
            f"try more {kind}s than {k}, which do not explain the pairs; select(X) compares "
            "several numbers on held-out data"
        )
    if 1 < shown < k and not (refined and 2 * shown > k):
        needs = f", or find more data (one more needs {more_pairs} pairs)" if more_pairs else ""
        return f"ask for fewer {kind}s: the pairs show {shown} of {k}{needs}"
    if shown > k and kind == "topic" and not tested:
        return (
            f'ask for more topics if you want finer ones: {shown} stand out, which "auto" takes, '
            "and select_topics compares numbers of them on held-out documents"
        )
    if shown > k and not tested:
        return f"try {shown} states: so many stand out from the noise, and this model has {k}"
    return ""
