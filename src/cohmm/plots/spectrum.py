"""How many states stand out from the noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from cohmm._validation import check_whole
from cohmm.diagnose.fit_summary import as_fitted_hmm, as_fitted_topics
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.learn.pairs.pair_evidence import Combine, PairEvidence, PairFit
from cohmm.learn.pairs.spectrum import Spectrum
from cohmm.plots.canvas import COLOURS, GREY, canvas, plain

MAX_DRAWN = 30
BEYOND = 1.5  # values are drawn to this multiple of K, at least


def plot_spectrum(value: Any, ax: Axes | None = None, *, n_components: int | None = None) -> Axes:
    """The singular values of whitened pairs, and the floor under which they are noise.

    Filled dots stand above the floor; a vertical line marks the number of states chosen.  See
    `cohmm.learn.pairs.spectrum`.

    Parameters
    ----------
    value : Cooccurrence, PairwiseHMM, HTMM, PairFit or Spectrum
        The pairs, of which those at the shortest lag are shown (for an `HTMM`, the lags
        together), or what was learned from them.
    ax : Axes, optional
        Where to draw; default: a new figure.
    n_components : int, optional
        K, to be marked; default: that of the model, or as many as stand out.

    >>> ax = plot_spectrum(Spectrum(np.array([1, .5, .1, .05]), floor=.2))
    >>> ax.get_legend_handles_labels()[1]
    ['above the noise: 2', 'noise', 'noise floor, 0.2', 'K = 2']
    """
    shown, k = _spectrum(value)
    if n_components is not None:
        check_whole(n_components=n_components)
        k = int(n_components)
    drawn = shown.values[: max(MAX_DRAWN, int(BEYOND * max(k, shown.n_detectable)))]
    place = np.arange(1, len(drawn) + 1)
    above = drawn > shown.floor
    with canvas(ax, height=2.3) as ax:
        blue, label = COLOURS[0], f"above the noise: {shown.n_detectable}"
        ax.plot(place[above], drawn[above], "o", color=blue, label=label)
        ax.plot(place[~above], drawn[~above], "o", color=blue, mfc="none", label="noise")
        ax.axhline(
            shown.floor, c=COLOURS[1], ls="--", lw=1, label=f"noise floor, {shown.floor:.2g}"
        )
        ax.axvline(k + 0.5, color=GREY, linestyle=":", linewidth=1, label=f"K = {k}")
        ax.set_yscale("log")
        lowest = min(shown.floor, drawn[drawn > 0].min(initial=shown.floor))
        ax.set_ylim(max(lowest, shown.floor / 10) / 1.5, 1.5)
        ax.set_xlim(0, max(len(drawn), k) + 1)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlabel("number of the singular value")
        ax.set_ylabel("singular value")
        plain(ax)
        ax.grid(visible=False, which="both")
        ax.legend(frameon=False)
        return ax


def _spectrum(value: Any) -> tuple[Spectrum, int]:
    """The spectrum of pairs, and how many states the model has, or the pairs show."""
    k = 0
    combine: Combine = "tied"
    if (hmm := as_fitted_hmm(value)) is not None:
        k, pairs = hmm.model_.n_components, getattr(hmm, "pair_fit_", None)
        value = pairs if isinstance(pairs, PairFit) else getattr(hmm, "counts_", None)
    elif (topics := as_fitted_topics(value)) is not None:
        k, combine = topics.fit_.n_components, "summed"
        value = getattr(topics, "counts_", None)
    if value is None:
        raise ValueError(
            "the spectrum needs the pairs, which a model that was set by hand or loaded from a "
            "file does not have: give counts of them"
        )
    if isinstance(value, PairFit):
        k, value = value.model.n_components, value.spectrum
    if isinstance(value, Cooccurrence):
        lags = [lag for lag in value.lags if value.n_pairs(lag) > 0]
        value = PairEvidence.of(value, lags or None, combine).spectrum()
    if not isinstance(value, Spectrum):
        raise ValueError(
            "a spectrum is that of a Cooccurrence, a PairwiseHMM, an HTMM, a PairFit or a Spectrum,"
            f" not of a {type(value).__name__}"
        )
    return value, k or value.n_detectable
