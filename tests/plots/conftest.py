"""Pictures are drawn on no screen, and closed."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib
import pytest

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

import cohmm.plots
from cohmm import HMM, HTMM, Documents, PairwiseHMM
from cohmm.datasets.synthetic import separable_hmm
from cohmm.datasets.synthetic_topics import sample_htmm


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    plt.close("all")  # whatever tests of other folders left open
    before = dict(matplotlib.rcParams)
    yield
    assert dict(matplotlib.rcParams) == before, "a picture changed the user's settings"
    for number in plt.get_fignums():
        plt.figure(number).draw_without_rendering()  # whatever is there can be drawn
    plt.close("all")


@pytest.fixture
def ax() -> Axes:
    return plt.subplots()[1]


@pytest.fixture(scope="session")
def truth() -> HMM:
    return separable_hmm(n_symbols=12, n_components=3, random_state=0)


@pytest.fixture(scope="session")
def model(truth: HMM) -> PairwiseHMM:
    X, _ = truth.sample(200_000, random_state=0)
    return PairwiseHMM(3, random_state=0, refine=False).fit(X)


@pytest.fixture(scope="session")
def documents() -> Documents:
    return sample_htmm(200, n_components=4, n_words=60, length=40, random_state=0).documents


@pytest.fixture(scope="session")
def topics(documents: Documents) -> HTMM:
    return HTMM(4, random_state=0).fit(documents)


def pictures() -> list[str]:
    """Every function that draws."""
    return [name for name in cohmm.plots.__all__ if name.startswith("plot_")]
