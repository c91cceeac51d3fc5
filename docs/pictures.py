"""The pictures of the guide: ``python docs/pictures.py`` writes them to ``docs/figures``.

Each function draws one, from a model small enough to be looked at.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import PowerNorm
from matplotlib.patches import Polygon

from cohmm import HMM, HTMM, Cooccurrence, Documents, PairwiseHMM
from cohmm.datasets.corpora import sotu
from cohmm.datasets.demo_topics import demo_model
from cohmm.datasets.synthetic import random_hmm
from cohmm.datasets.synthetic_topics import sample_documents
from cohmm.learn import min_volume, nmf
from cohmm.plots import (
    STYLE,
    plot_scatter,
    plot_segmentation,
    plot_spectrum,
    plot_topic_map,
    plot_topic_tree,
    plot_topics_over,
    plot_transitions,
)
from cohmm.plots.canvas import COLOURS, GREY, SHADES
from cohmm.plots.scatter import CORNERS

FIGURES = Path(__file__).parent / "figures"
PICTURES = (
    "pair_matrix",
    "scatter",
    "volume",
    "spectrum",
    "topic_pictures",
    "segmentation",
    "topic_tree",
    "topics_over_time",  # of the addresses on the State of the Union: needs COHMM_DATA
)
PIXELS = 1150  # of the width of a picture
WIDE = 7.2  # inches, as wide as the text

CHAIN = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.25, 0.05, 0.7]])
# Rows of M, a symbol each, up to their scale.
SEPARABLE = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 2], [3, 1, 1], [1, 2, 1], [2, 2, 1]])
SCATTERED = np.array(
    [[9, 2, 0], [9, 0, 2], [2, 9, 0], [0, 9, 2], [2, 0, 9], [0, 2, 9], [3, 3, 2], [1, 2, 2]]
)
CLUSTERED = np.array([[6, 3, 2], [5, 2, 4], [3, 6, 2], [2, 5, 4], [3, 2, 6], [2, 4, 5], [3, 3, 3]])


def main() -> None:
    """Draw all, or those whose names are given."""
    names = sys.argv[1:] or PICTURES
    with plt.rc_context(STYLE):
        for draw in map(globals().__getitem__, names):
            figure = draw()
            name = draw.__name__.replace("_", "-")
            figure.savefig(FIGURES / f"{name}.png", dpi=PIXELS / figure.get_figwidth())
            plt.close(figure)


def model_of(rows: Any) -> HMM:
    """Three states with these rows of M."""
    emission = np.asarray(rows, float).T
    return HMM([1 / 3] * 3, CHAIN, emission / emission.sum(axis=1, keepdims=True))


def pair_matrix() -> Any:
    """Omega = M Theta M', as heat maps whose cells are all of one size."""
    truth = random_hmm(12, 3, stay=0.6, random_state=4)
    order = np.argsort(truth.emissionprob.argmax(axis=0), kind="stable")
    m = truth.emissionprob[:, order].T
    theta = truth.stationary()[:, None] * truth.transmat
    panels = (
        (m @ theta @ m.T, "pairs of symbols, $\\Omega$"),
        (m, "emissions, $M$"),
        (theta, "pairs of\nstates, $\\Theta$"),
        (m.T, "emissions, $M^\\top$"),
    )
    gap = 3  # cells
    width = sum(values.shape[1] for values, _ in panels) + gap * len(panels)
    height = len(m) + 2
    figure = plt.figure(figsize=(WIDE, WIDE * height / width))
    left = gap / 2
    for number, (values, name) in enumerate(panels):
        rows, columns = values.shape
        bottom = (len(m) - rows) / 2 + 0.4
        ax = figure.add_axes(
            (left / width, bottom / height, columns / width, rows / height), xticks=[], yticks=[]
        )
        ax.imshow(values, cmap=SHADES, norm=PowerNorm(0.6, vmin=0), aspect="auto")
        ax.set_title(name)
        if number == 1:
            ax.text(-gap / 2 - 0.5, (rows - 1) / 2, "=", size=16, ha="center", va="center")
        left += columns + gap
    return figure


def scatter() -> Any:
    """Emissions of three states: separable, sufficiently scattered, and not."""
    figure, axes = plt.subplots(1, 3, figsize=(WIDE, 2.45), layout="constrained")
    for ax, rows in zip(axes, (SEPARABLE, SCATTERED, CLUSTERED), strict=True):
        plot_scatter(model_of(rows), ax)
    return figure


def volume() -> Any:
    """Models with the same pairs, as triangles around the rows of M; one has the least volume."""
    figure, axes = plt.subplots(1, 2, figsize=(WIDE, 3.3), layout="constrained")
    for ax, rows, name in zip(
        axes, (SCATTERED, CLUSTERED), ("sufficiently scattered", "not scattered"), strict=True
    ):
        truth = model_of(rows)
        exact = Cooccurrence.from_probability(truth.pair_probability())
        m = truth.emissionprob.T
        points = (m / m.sum(axis=1, keepdims=True)) @ CORNERS
        ax.add_patch(Polygon(CORNERS, fill=False, lw=1.4, label="the truth"))
        for seed in range(4):
            other = nmf(exact, 3, max_iter=5000, tol=0, random_state=seed).model
            ax.add_patch(
                Polygon(
                    triangle(other, m),
                    fill=False,
                    lw=0.9,
                    ls="--",
                    ec=GREY,
                    label="others with the same pairs (NMF)" if seed == 0 else None,
                )
            )
        least = min_volume(exact, 3, random_state=0).model
        ax.add_patch(
            Polygon(
                triangle(least, m), fc=COLOURS[4], ec=COLOURS[4], alpha=0.35, label="least volume"
            )
        )
        ax.plot(*points.T, "o", color=COLOURS[0], label="rows of $M$, a symbol each")
        ax.set_title(name)
        ax.set_xlim(-1.45, 1.45)
        ax.set_ylim(-0.95, 1.45)
        ax.set_aspect("equal")
        ax.set_axis_off()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, ncols=4, loc="outside lower center", frameon=False)
    return figure


def triangle(model: HMM, m: np.ndarray) -> np.ndarray:
    """The states of a model that has the range of ``m``, among those of ``m``, (3, 2)."""
    corners = np.linalg.lstsq(model.emissionprob.T, m, rcond=None)[0]
    return (corners / corners.sum(axis=1, keepdims=True)) @ CORNERS


def spectrum() -> Any:
    """Singular values over the noise floor, at three lengths."""
    truth = random_hmm(n_symbols=50, n_components=8, stay=0.5, random_state=1)
    figure, axes = plt.subplots(1, 3, figsize=(WIDE, 2.5), sharey=True, layout="constrained")
    for ax, length in zip(axes, (10_000, 100_000, 1_000_000), strict=True):
        symbols, _ = truth.sample(length, random_state=0)
        plot_spectrum(PairwiseHMM("auto", refine=False, random_state=0).fit(symbols), ax)
        ax.set_title(f"{length:,} symbols, 8 states in truth")
        ax.set_ylim(0.008, 1.5)
    for ax in axes[1:]:
        ax.set_ylabel("")
    return figure


def demo_topics() -> tuple[HTMM, Documents]:
    """Topics of the demo's chain, and documents that were drawn from it."""
    documents, _ = sample_documents(demo_model(), 4000, random_state=0)
    return HTMM(12, max_df=0.5, random_state=4).fit(documents), documents


def topic_pictures() -> Any:
    """A map of topics, and which leads to which."""
    topics, _ = demo_topics()
    figure, axes = plt.subplots(1, 2, figsize=(WIDE, 3.4), layout="constrained")
    plot_topic_map(topics, axes[0])
    plot_transitions(topics, axes[1], leaving=True)
    return figure


def segmentation() -> Any:
    """One document, word by word."""
    topics, documents = demo_topics()
    return plot_segmentation(topics, documents.words(5)[:60]).figure


def topic_tree() -> Any:
    """Which topics of the demo merge, and what it costs."""
    topics, _ = demo_topics()
    figure, ax = plt.subplots(figsize=(WIDE, 3.2), layout="constrained")
    plot_topic_tree(topics.tree(), ax)
    return figure


def topics_over_time() -> Any:
    """The addresses on the State of the Union by decade: topics that come and go."""
    corpus = sotu()
    topics = HTMM(20, stop_words="english", min_df=5, random_state=0).fit(corpus.texts)
    over = topics.over(corpus.texts, by=corpus.dates, period="decade")
    figure, ax = plt.subplots(figsize=(WIDE, 3.9), layout="constrained")
    plot_topics_over(over, ax)
    return figure


if __name__ == "__main__":
    main()
