"""A model loaded with its counts goes on where it stood, without the first documents."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from cohmm import HTMM, EvidenceWarning, TextWarning, read_documents, storage
from cohmm.atomic_write import StorageError
from cohmm.datasets.synthetic_topics import TopicSample, sample_htmm
from cohmm.evidence.counting import count_documents
from cohmm.learn.topics.online import Past
from cohmm.learn.topics.sticky_em import SMOOTHING, expected_counts, sticky_chain, tempered_switch
from cohmm.learn.topics.topic_fit import KIND
from tests.laws import close
from tests.topics.samples import error

TEXTS = ["oil gas oil gas", "gas oil oil", "wheat corn wheat", "corn corn wheat"] * 8


@pytest.fixture(scope="module")
def sample() -> TopicSample:
    return sample_htmm(450, n_components=4, n_words=80, random_state=1)


def again(model: HTMM, folder: Path) -> HTMM:
    model.save(folder / "topics.cohmm", counts=True)
    return HTMM.load(folder / "topics.cohmm")


def test_it_comes_near_the_fit_of_all_documents(sample: TopicSample, tmp_path: Path) -> None:
    documents = sample.documents
    parts = [documents.select(np.arange(a, a + 150)) for a in (0, 150, 300)]
    first = HTMM(4, random_state=0).fit(parts[0])
    model = again(first, tmp_path)
    assert model.counts_ == first.counts_
    model.partial_fit(parts[1])
    model = again(model, tmp_path).partial_fit(parts[2])
    assert model.counts_ == count_documents(documents, first.counts_.lags)
    assert not hasattr(model, "documents_")  # those of the beginning are not there
    whole = HTMM(4, random_state=0).fit(documents)
    assert error(model.components_, whole.components_) < 0.02
    true = sample.components
    assert error(model.components_, true) < 0.9 * error(first.components_, true)
    assert model.switch_ == pytest.approx(whole.switch_, abs=0.01)
    close(model.topic_prevalence_, whole.topic_prevalence_, 0.02)
    close(np.diag(model.topic_transitions_), np.diag(whole.topic_transitions_), 0.02)
    assert model.perplexity(documents) < 1.01 * whole.perplexity(documents)
    assert len(model.fit_.passes) == first.fit_.n_document_passes


def test_the_past_is_what_the_last_pass_counted(sample: TopicSample) -> None:
    documents = sample.documents
    model = HTMM(4, random_state=0, refine=1).fit(documents)
    past = Past.of(model.fit_, model.counts_, documents.vocabulary)
    frequency = np.bincount(documents.symbols, minlength=documents.n_symbols)
    np.testing.assert_allclose(past.words.sum(axis=1), frequency, atol=1.0)
    assert past.transitions == pytest.approx(documents.n_words - len(documents))
    pairs = HTMM(4, random_state=0, refine=0).fit(documents).fit_
    topics = sticky_chain(pairs.components.T, pairs.prior, pairs.switch)
    counted = expected_counts(documents, tempered_switch(topics), None)
    order = np.argsort(-counted.words.sum(axis=0))
    np.testing.assert_allclose(past.words, counted.words[:, order], atol=2 * SMOOTHING, rtol=1e-3)


@pytest.mark.parametrize("refine", [0, 2])
def test_new_words_labels_weights_and_decay(refine: int, tmp_path: Path) -> None:
    fitted = HTMM(2, lags=1, random_state=0, refine=refine).fit(TEXTS)
    oil = int(fitted.transform(["oil gas"])[0].argmax())
    model = again(fitted.rename({oil: "energy"}), tmp_path)
    new = ["oil gas platinum oil", "corn wheat"]
    model.partial_fit(new, sample_weight=[40.0, 1.0], decay=0.5)
    assert model.vocabulary_ == tuple(sorted({*fitted.vocabulary_, "platinum"}))
    weights = np.concatenate([np.full(len(TEXTS), 0.5), [40.0, 1.0]])
    whole = HTMM(2, lags=1, random_state=0, refine=refine, vocabulary=model.vocabulary_)
    whole.fit([*TEXTS, *new], sample_weight=weights)
    assert model.counts_ == whole.counts_
    assert error(model.components_, whole.components_) < 0.05
    energy = model.labels_.index("energy")
    assert model.transform(["oil platinum"])[0, energy] > 0.9
    assert model.labels_[1 - energy] is None


def test_a_given_vocabulary_stays(tmp_path: Path) -> None:
    words = ["corn", "gas", "oil", "wheat"]
    model = again(HTMM(2, lags=1, random_state=0, vocabulary=words).fit(TEXTS), tmp_path)
    assert model.partial_fit(["oil gas platinum"]).vocabulary_ == tuple(words)


def test_what_cannot_go_on(tmp_path: Path) -> None:
    path = tmp_path / "topics.cohmm"
    fitted = HTMM(2, lags=1, random_state=0).fit(TEXTS)
    fitted.save(path)
    loaded = HTMM.load(path)
    with pytest.raises(ValueError, match=r"partial_fit needs .* save\(path, counts=True\)"):
        loaded.partial_fit(TEXTS)
    with pytest.raises(ValueError, match="no counts to save"):
        loaded.save(tmp_path / "other", counts=True)
    assert not (tmp_path / "other").exists()
    loaded = again(fitted, tmp_path)
    before, counts = loaded.fit_, loaded.counts_
    for wrong, message in ((["oil"], "no pair of words"), ([], "no document")):
        with pytest.raises(ValueError, match=message):
            loaded.partial_fit(wrong)
        assert loaded.fit_ is before
        assert loaded.counts_ is counts
    header, arrays = storage.load(path, KIND)
    storage.save(path, KIND, header, arrays | {"counts.symbol_counts": np.arange(3)})
    with pytest.raises(StorageError, match="damaged"):
        HTMM.load(path)


# -- words, and batches of any size ------------------------------------------------------------

NEWS = [
    "oil gas oil pipeline gas barrel",
    "wheat corn grain wheat harvest corn",
    "gold silver gold ore mine silver",
] * 40


def batches(texts: list[str], size: int) -> list[list[str]]:
    return [texts[first : first + size] for first in range(0, len(texts), size)]


@pytest.mark.parametrize("size", [1, 9, 100])
def test_batches_of_any_size_end_with_the_words_of_one_fit(size: int) -> None:
    """min_df and max_df are of all documents so far, not of those in a batch."""
    rng = np.random.default_rng(0)
    texts = [f"{text} said name{rng.integers(30)} only{n}" for n, text in enumerate(NEWS)][:60]
    options = {"min_df": 3, "max_df": 0.9, "stop_words": ["ore"], "random_state": 0}
    whole = HTMM(3, **options).fit(texts)
    model = HTMM(3, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TextWarning)
        warnings.simplefilter("ignore", EvidenceWarning)
        for batch in batches(texts, size):
            before = getattr(model, "vocabulary_", ())
            assert model.partial_fit(batch) is model
            assert set(before) <= set(getattr(model, "vocabulary_", ()))
    assert set(model.vocabulary_) >= set(whole.vocabulary_)
    assert not {"ore", "only3"} & set(model.vocabulary_)
    assert len(model.documents_) == 60
    known = HTMM(3, **options | {"vocabulary": model.vocabulary_}).fit(texts)
    assert model.counts_ == known.counts_  # also of words that came too rarely at first
    assert model.documents_ == known.documents_


def test_too_few_documents_are_kept_for_the_next_call() -> None:
    model = HTMM(2, min_df=2, random_state=0)
    with pytest.warns(TextWarning, match=r"learn from, 1 .*min_df=2.*are kept"):
        model.partial_fit(["oil gas oil"], sample_weight=[2.0])
    with pytest.raises(NotFittedError):
        model.transform(["oil"])
    with pytest.warns(TextWarning, match=r"learn from, 2 .*1 words for 2 topics"):
        model.partial_fit(["oil tar"], sample_weight=[1.0], decay=0.5)
    with pytest.warns(EvidenceWarning):
        model.partial_fit(["oil gas", "tar wheat", "wheat tar gas"], decay=0.5)
    assert model.vocabulary_ == ("gas", "oil", "tar", "wheat")
    weights = [0.5, 0.5, 1, 1, 1]
    texts = ["oil gas oil", "oil tar", "oil gas", "tar wheat", "wheat tar gas"]
    with pytest.warns(EvidenceWarning):
        whole = HTMM(2, min_df=2, random_state=0).fit(texts, sample_weight=weights)
    np.testing.assert_allclose(model.components_, whole.components_)
    with pytest.raises(ValueError, match="there is no document"):
        HTMM(2).partial_fit([])


def test_a_known_word_is_never_forgotten() -> None:
    """Rare among new documents, or common among all of them."""
    model = HTMM(2, min_df=2, max_df=0.6, random_state=0).fit(TEXTS)
    before = model.vocabulary_
    model.partial_fit(["oil gas platinum", "oil tar", "oil tar"] + ["oil gas"] * 60)
    assert set(model.vocabulary_) == {*before, "tar"}


def test_the_words_seen_are_in_a_file_with_counts(tmp_path: Path) -> None:
    options = {"lags": 1, "random_state": 0, "min_df": 3}
    model = again(HTMM(2, **options).fit([*TEXTS, "oil tar", "oil tar zinc"]), tmp_path)
    assert "tar" not in model.vocabulary_
    model = again(model.partial_fit(["oil zinc gas"]), tmp_path)
    assert "tar" not in model.vocabulary_
    model.partial_fit(["gas tar", "zinc oil"])  # the third of either
    assert {"tar", "zinc"} <= set(model.vocabulary_)
    capped = again(HTMM(2, **options, max_features=5).fit([*TEXTS, "oil tar"]), tmp_path)
    capped.partial_fit(["gas tar tin", "tin oil tar", "tin tin", "tar oil"])
    assert set(capped.vocabulary_) == {"corn", "gas", "oil", "tar", "wheat"}


def test_documents_are_taken_as_they_are() -> None:
    """Their words were chosen where they were read."""
    documents = read_documents([*TEXTS, "oil zinc"])
    model = HTMM(2, min_df=5, random_state=0).fit(documents)
    assert model.vocabulary_ == documents.vocabulary
    model.partial_fit(read_documents(["oil tin"])).partial_fit(["oil lead"])
    assert set(model.vocabulary_) == {*documents.vocabulary, "tin"}
