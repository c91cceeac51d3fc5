"""How the objective fell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from cohmm.diagnose.fit_summary import as_fitted_hmm, as_fitted_topics
from cohmm.kernels.types import Floats
from cohmm.learn.learner import Fit
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.plots.canvas import COLOURS, GREY, canvas, plain, plain_legend


class Trace(NamedTuple):
    """Passes made, the objective after them, and where other starts ended."""

    passes: Floats
    objectives: Floats
    starts: tuple[float, ...]


def plot_convergence(fit: Any, ax: Axes | None = None) -> Axes:
    """How far the objective was above the lowest that was reached, after every pass.

    The last point of the best run is that lowest itself: on the logarithmic axis its line ends
    one step before.  Dotted lines are where other starts of a fit ended, if there were any.

    Parameters
    ----------
    fit : Fit, TopicFit, PairwiseHMM, HTMM, or a dict of names and such
        What was learned, with its history: of a refined model the refinement, of topics the
        passes over the pairs.  Several are drawn above the lowest of all, so that they must
        have the same data and the same objective: other seeds, say.
    ax : Axes, optional
        Where to draw; default: a new figure.

    >>> from cohmm.learn.learner import Progress
    >>> steps = tuple(Progress(n, 1 / n, 1 / n) for n in (1, 2, 4))
    >>> fit = TopicFit([[1.]], [1.], [1.], ("oil",), "by hand", history=steps)
    >>> plot_convergence(fit).lines[0].get_ydata()
    array([0.75, 0.25])
    """
    several = isinstance(fit, Mapping)
    if several and not fit:
        raise ValueError("there is no fit to draw: the dict is empty")
    traces = {str(name): _trace(one) for name, one in (fit if several else {"": fit}).items()}
    lowest = min(trace.objectives[-1] for trace in traces.values())
    with canvas(ax, height=2.3) as ax:
        for number, (name, trace) in enumerate(traces.items()):
            gap = trace.objectives - lowest
            drawn = gap > 0
            colour = COLOURS[number % len(COLOURS)]
            style = ("-", "--", "-.")[number // len(COLOURS) % 3]
            label = name if several else "the start that was kept"
            ax.plot(trace.passes[drawn], gap[drawn], style, color=colour, label=label)
            for place, end in enumerate(sorted({end for end in trace.starts if end > lowest})):
                first = place == 0 and not several
                ax.axhline(
                    end - lowest,
                    color=colour if several else GREY,
                    linestyle=":",
                    linewidth=0.8,
                    label="where other starts ended" if first else None,
                )
        ax.set_yscale("log")
        ax.set_xlabel("passes")
        ax.set_ylabel("objective above the lowest, nats")
        plain(ax)
        ax.grid(visible=False, which="minor")
        if several or any(trace.starts for trace in traces.values()):
            plain_legend(ax)
        return ax


def _trace(fit: Any) -> Trace:
    fitted = as_fitted_hmm(fit) or as_fitted_topics(fit)
    fit = fit if fitted is None else fitted.fit_
    if not isinstance(fit, (Fit, TopicFit)):
        raise ValueError(
            "convergence is that of a Fit, a TopicFit, a PairwiseHMM or an HTMM, or of a dict of "
            f"these, not of a {type(fit).__name__}"
        )
    if len(fit.history) < 2:
        raise ValueError(
            f"there is no convergence to draw: the history has {len(fit.history)} of the two "
            "steps that a line needs"
        )
    steps = np.array([(step.n_iter, step.objective) for step in fit.history])
    starts = fit.starts if isinstance(fit, Fit) else ()
    # The start that was kept is the line itself.
    return Trace(steps[:, 0], steps[:, 1], tuple(end for end in starts if end > steps[-1, 1]))
