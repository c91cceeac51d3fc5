"""Steering an HTMM: new models, the old as it was, and files that keep the names."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from cohmm import HTMM, storage
from cohmm.learn.topics.htmm_fit import HTMMFit
from cohmm.output import StorageError
from cohmm.report.prepare import model_key
from cohmm.topics.htmm_file import KIND
from tests.laws import close

TEXTS = ["oil gas oil"] * 12 + ["wheat corn wheat"] * 9 + ["gold ore gold"] * 6


@pytest.fixture(scope="module")
def topics() -> HTMM:
    return HTMM(3, lags=1, random_state=0).fit(TEXTS)


def test_the_old_model_stays_as_it_was(topics: HTMM) -> None:
    fit, shares = topics.fit_, topics.transform(TEXTS)
    named = topics.rename({0: "energy", 2: "metals"})
    merged = named.merge([[0, 2]])
    dropped = named.drop(["metals"])
    assert topics.fit_ is fit
    assert (topics.labels_, topics.n_components) == ((None,) * 3, 3)
    np.testing.assert_array_equal(topics.transform(TEXTS), shares)
    assert named.labels_ == ("energy", None, "metals")
    assert (merged.labels_, merged.n_components) == (("energy / metals", None), 2)
    assert (dropped.labels_, dropped.n_components) == (("energy", None), 2)
    close(merged.transform(TEXTS), np.column_stack([shares[:, [0, 2]].sum(axis=1), shares[:, 1]]),
          1e-3)  # fmt: skip
    for model in (named, merged, dropped):
        assert isinstance(model, HTMM)
        assert isinstance(model.fit_, HTMMFit)
        assert model.documents_ is topics.documents_
        assert model.counts_ is topics.counts_
        assert np.isfinite(model.coherence("npmi", top=3))
        assert model.perplexity(TEXTS) > 0
    with pytest.raises(NotFittedError):
        HTMM().merge([[0, 1]])
    with pytest.raises(ValueError, match="there is no topic 3"):
        topics.drop(3)


def test_labels_that_a_reader_saved(topics: HTMM, tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    saved = {"model": model_key(topics.components_), "labels": {"1": "grain"}}
    path.write_text(json.dumps(saved))
    assert topics.rename(path).labels_ == (None, "grain", None)
    assert topics.rename(str(path)).rename({0: "oil"}).rename(path).labels_[:2] == ("oil", "grain")
    with pytest.raises(ValueError, match="labels of another model"):
        topics.drop(2).rename(path)
    with pytest.raises(ValueError, match="there is no file grain"):
        topics.rename("grain")


def test_settings_are_not_shared(topics: HTMM) -> None:
    first = topics.rename({}).set_output(transform="default")
    first.rename({0: "oil"}).set_output(transform="pandas")
    assert isinstance(first.transform(TEXTS), np.ndarray)


def test_learning_on_keeps_the_labels(topics: HTMM) -> None:
    named = topics.rename({0: "energy", 2: "metals"})
    named.partial_fit(["gold ore silver gold"] * 40)
    assert sorted(named.labels_, key=str) == [None, "energy", "metals"]
    top = dict(zip(named.labels_, named.top_words(1), strict=True))
    assert (top["energy"], top["metals"]) == (["oil"], ["gold"])
    assert named.labels_[0] == "metals"  # the most frequent by now
    merged = topics.merge([[0, 1]]).partial_fit(["oil gas"])
    assert merged.components_.shape == (2, 6)


def test_labels_are_kept_in_files(topics: HTMM, tmp_path: Path) -> None:
    path = tmp_path / "topics.cohmm"
    topics.rename({1: "Getreide \N{WHEEL OF DHARMA}"}).save(path)
    read = HTMM.load(path)
    assert read.labels_ == (None, "Getreide \N{WHEEL OF DHARMA}", None)
    assert read.merge([[0, 2]]).labels_ == (None, "Getreide \N{WHEEL OF DHARMA}")
    header, arrays = storage.load(path, KIND)
    old = {name: value for name, value in header.items() if name != "labels"}
    storage.save(path, KIND, {**old}, arrays)
    assert HTMM.load(path).labels_ == (None, None, None)
    for wrong in (["a", "a", None], ["a"], [1, 2, 3], 7):
        storage.save(path, KIND, header | {"labels": wrong}, arrays)
        with pytest.raises(StorageError, match="damaged"):
            HTMM.load(path)
