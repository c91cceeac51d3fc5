"""The map of topics and the ribbon of a document."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_rgb
from scipy.spatial.distance import pdist

from cohmm import HTMM, Documents
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.model.topic_model import Segmented
from cohmm.plots import plot_emissions, plot_segmentation, plot_topic_map, plot_transitions
from cohmm.plots.topic_map import coordinates
from cohmm.topics.rich_text import PALETTE


def fit_of(k: int, v: int = 30, seed: int = 0) -> TopicFit:
    rng = np.random.default_rng(seed)
    words = tuple(f"word{n}" for n in range(v))
    prevalence = np.sort(rng.dirichlet(np.ones(k)))[::-1]
    components = rng.dirichlet(np.full(v, 0.2), size=k)
    return TopicFit(components, prevalence, np.ones(k), words, name="by hand")


def circles(ax: Axes) -> PathCollection:
    (found,) = (c for c in ax.collections if isinstance(c, PathCollection))
    return found


# -- map ------------------------------------------------------------------------------------


def test_three_topics_are_as_far_apart_as_their_words() -> None:
    components = fit_of(3).components
    places, shares = coordinates(components)
    np.testing.assert_allclose(pdist(places), pdist(np.sqrt(components)) / 2**0.5)
    assert shares.sum() == pytest.approx(1)


def test_a_plane_never_overstates_distances_and_keeps_them_in_any_order() -> None:
    components = fit_of(12).components
    places, shares = coordinates(components)
    assert (pdist(places) <= pdist(np.sqrt(components)) / 2**0.5 + 1e-12).all()
    assert 1 > shares[0] > shares[1] > 0
    shuffle = np.random.default_rng(0).permutation(12)
    np.testing.assert_allclose(coordinates(components[shuffle])[0], places[shuffle], atol=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3, 60])
def test_area_is_prevalence(k: int) -> None:
    fit = fit_of(k)
    ax = plot_topic_map(fit)
    sizes = circles(ax).get_sizes()
    np.testing.assert_allclose(sizes / sizes.sum(), fit.prevalence)
    np.testing.assert_array_equal(circles(ax).get_offsets(), coordinates(fit.components)[0])
    numbers = [text.get_text() for text in ax.texts[:k]]
    assert numbers == [str(topic) for topic in range(k)]
    low, high = ax.get_xlim()
    assert (low < circles(ax).get_offsets()[:, 0]).all()
    assert (circles(ax).get_offsets()[:, 0] < high).all()


def test_labels_are_top_words_that_do_not_cover_one_another() -> None:
    fit = fit_of(40)
    ax = plot_topic_map(fit, n_words=2)
    ax.figure.draw_without_rendering()
    labels = ax.texts[40:]
    assert 5 < len(labels) < 40
    overall = fit.prevalence @ fit.components
    for drawn, values in (
        (ax, fit.components / np.sqrt(overall)),
        (plot_topic_map(fit, n_words=2, order="probability"), fit.components),
    ):
        best = {" ".join(f"word{n}" for n in np.argsort(-row)[:2]) for row in values}
        assert {label.get_text() for label in drawn.texts[40:]} <= best
    boxes = [label.get_window_extent() for label in labels]
    for number, box in enumerate(boxes):
        assert not box.count_overlaps(boxes[:number])
        assert ax.get_window_extent().count_contains(box.get_points()) == 2


def test_labels_that_topics_were_given(topics: HTMM, documents: Documents) -> None:
    named = topics.rename({0: "the $sea$"})
    labels = [text.get_text() for text in plot_topic_map(named).texts]
    assert "the $sea$" in labels
    assert " ".join(topics.top_words(3, "relevance")[1]) in labels
    ax = plot_transitions(named, seriate=False)
    numbers = [str(k) for k in range(1, named.n_components)]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["the $sea$", *numbers]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["the $sea$", *numbers]
    assert plot_emissions(named).get_xticklabels()[0].get_text() == "the $sea$"
    for order in ("relevance", "probability"):
        ax = plot_segmentation(named, documents.words(0), order=order)
        words = " ".join(topics.top_words(4, order)[0])
        legend = [text.get_text() for text in ax.get_legend().get_texts()]
        assert f"0: the $sea$ ({words})" in legend
        ax.figure.draw_without_rendering()


def test_words_of_topics_are_drawn_by_relevance() -> None:
    common = np.array([[0.5, 0.3, 0.2, 0, 0], [0.5, 0, 0, 0.3, 0.2]])
    words = ("said", "oil", "gas", "corn", "wheat")
    fit = TopicFit(common, [0.5, 0.5], [1.0, 1.0], words, name="by hand")
    ax = plot_emissions(fit, n_symbols=2)
    assert {tick.get_text() for tick in ax.get_yticklabels()} == {"oil", "corn"}
    ax = plot_emissions(common, n_symbols=2)
    assert "0" in {tick.get_text() for tick in ax.get_yticklabels()}


def test_topics_alike_and_words_that_look_like_formulas() -> None:
    same = TopicFit([[0.5, 0.5]] * 2, [0.5, 0.5], [1.0, 1.0], ("$a_$", "b\nb"), name="by hand")
    ax = plot_topic_map(same, n_words=2)
    assert np.isfinite(circles(ax).get_offsets()).all()
    ax.figure.draw_without_rendering()
    labels = [text.get_text() for text in plot_topic_map(same).texts]  # three, if there were
    assert any("b b" in label for label in labels)


def test_an_estimator_is_its_fit(topics: HTMM) -> None:
    one, other = plot_topic_map(topics), plot_topic_map(topics.fit_)
    np.testing.assert_array_equal(circles(one).get_offsets(), circles(other).get_offsets())


# -- ribbon ---------------------------------------------------------------------------------


def cells(ax: Axes) -> PolyCollection:
    (found,) = (c for c in ax.collections if isinstance(c, PolyCollection))
    return found


def test_words_are_in_the_colours_of_their_topics(topics: HTMM, documents: Documents) -> None:
    words = documents.words(0)
    (read,) = topics.segment([words])
    ax = plot_segmentation(topics, words)
    assert [text.get_text() for text in ax.texts] == words == read.words
    legend = {
        int(text.get_text().split(":")[0]): np.array(patch.get_facecolor()[:3])
        for text, patch in zip(
            ax.get_legend().get_texts(), ax.get_legend().get_patches(), strict=True
        )
    }
    assert set(legend) == set(read.topics.tolist())
    assert len({tuple(colour) for colour in legend.values()}) == len(legend)
    for topic, probability, fill in zip(
        read.topics, read.probabilities, cells(ax).get_facecolors(), strict=True
    ):
        opacity = 0.25 + 0.75 * probability
        np.testing.assert_allclose(fill[:3], opacity * legend[int(topic)] + 1 - opacity)


def test_words_stand_in_their_cells_line_by_line(topics: HTMM, documents: Documents) -> None:
    ax = plot_segmentation(topics, documents.words(0))
    ax.figure.draw_without_rendering()
    for text, path in zip(ax.texts, cells(ax).get_paths(), strict=True):
        cell = ax.transData.transform(path.vertices)
        box = text.get_window_extent()
        assert cell[:, 0].min() - 1 < box.x0 < box.x1 < cell[:, 0].max() + 1
        assert cell[:, 1].min() < box.y0 < box.y1 < cell[:, 1].max()
    firsts = [int(label.get_text()) for label in ax.get_yticklabels()]
    assert firsts[0] == 0
    assert (np.diff(firsts) > 0).all()


def test_a_text_a_list_and_what_was_read_are_the_same(topics: HTMM, documents: Documents) -> None:
    words = documents.words(1)
    (read,) = topics.segment([words])
    wanted = cells(plot_segmentation(topics, words)).get_facecolors()
    for given in (" ".join(words), tuple(words), read):
        found = cells(plot_segmentation(topics, given)).get_facecolors()
        np.testing.assert_array_equal(found, wanted)


def test_a_long_document_is_a_ribbon_without_words(topics: HTMM) -> None:
    n = 1003
    read = Segmented(["w"] * n, np.arange(n) % 4, np.ones(n))
    ax = plot_segmentation(topics, read)
    assert not ax.texts
    boxes = np.array([path.vertices[:4] for path in cells(ax).get_paths()])
    assert len(boxes) == n
    np.testing.assert_allclose(np.ptp(boxes[:, :, 0], axis=1), 1)
    lines = boxes[:, :, 1].mean(axis=1).round()
    assert len(set(lines)) == len(ax.get_yticklabels()) == 4
    assert (np.diff(lines) >= 0).all()


@pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")  # there are fewer in so few words
def test_the_tenth_topic_and_more_share_a_colour() -> None:
    words = [f"w{n}" for n in range(24)]
    topics = HTMM(12, lags=1, random_state=0)
    topics.fit([words[2 * k : 2 * k + 2] * 5 for k in range(12)])
    read = Segmented(["w0"] * 12, np.arange(12), np.ones(12))
    ax = plot_segmentation(topics, read)
    fills = cells(ax).get_facecolors()[:, :3]
    np.testing.assert_allclose(fills[:9], [to_rgb(colour.paper) for colour in PALETTE[:9]])
    assert len(np.unique(fills[9:], axis=0)) == 1
    assert ax.get_legend().get_texts()[-1].get_text() == "other topics"


def test_words_of_all_kinds_are_drawn_as_they_are(topics: HTMM) -> None:
    words = ["$x_$", "<b>", "y" * 90, "a\nb", r"\alpha", "%"]
    ax = plot_segmentation(topics, Segmented(words, np.zeros(6, int), np.full(6, 0.5)))
    ax.figure.draw_without_rendering()
    drawn = [text.get_text() for text in ax.texts]
    assert drawn == ["$x_$", "<b>", "y" * 23 + "…", "a b", r"\alpha", "%"]


def test_documents_that_cannot_be_drawn(topics: HTMM) -> None:
    with pytest.raises(ValueError, match="no word that the model knows"):
        plot_segmentation(topics, Segmented([], np.zeros(0, int), np.zeros(0)))
    with pytest.raises(ValueError, match="not a int"):
        plot_segmentation(topics, 3)
    with pytest.raises(ValueError, match="the document has topic 9, the model 4 topics"):
        plot_segmentation(topics, Segmented(["w"], np.array([9]), np.ones(1)))
    with pytest.raises(ValueError, match="topics must be an HTMM, not a TopicFit"):
        plot_segmentation(fit_of(2), "oil")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not fitted"):
        plot_segmentation(HTMM(2), "oil")


def test_axes_of_a_figure_within_a_figure(topics: HTMM) -> None:
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(8, 4))
    left, right = figure.subfigures(1, 2)
    assert plot_topic_map(fit_of(3), left.subplots()).texts
    word = topics.vocabulary_[0]
    assert plot_segmentation(topics, [word] * 3, right.subplots()).collections
    plt.close(figure)
