"""Strings read symbol by symbol, and hints where they are not."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm import (
    HMM,
    PairwiseHMM,
    Sequences,
    TextWarning,
    count_pairs,
    count_triples,
    count_windows,
)

TEXTS = ["ACGT", "AC"]
KINDS = {
    "list": TEXTS,
    "tuple": tuple(TEXTS),
    "generator": (text for text in TEXTS),
    "array": np.array(TEXTS),
    "column": np.array(TEXTS)[:, None],
    "objects": np.array(TEXTS, object),
    "pandas": pd.Series(TEXTS),
    "polars": pl.Series(TEXTS),
    "pyarrow": pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_strings_are_sequences_of_characters(kind):
    data = Sequences.of(KINDS[kind], characters=True)
    assert data.labels() == [list(text) for text in TEXTS]
    assert data.vocabulary == ("A", "C", "G", "T")


def test_one_string_is_one_sequence():
    assert Sequences.of("abab", characters=True).labels() == [list("abab")]
    assert Sequences.of("abab", [1, 3], characters=True).labels() == [["a"], list("bab")]
    with pytest.raises(ValueError, match="'abab' is a single string: characters=True reads it"):
        Sequences.of("abab")


def test_single_characters_are_a_column():
    X = np.array(list("abab"))[:, None]
    assert Sequences.of(X, characters=True).labels() == [list("abab")]
    assert Sequences.of(list("abab"), [1, 3], characters=True).labels() == [["a"], list("bab")]


@given(st.lists(st.text(min_size=1, max_size=5), min_size=2).filter(lambda t: max(map(len, t)) > 1))
def test_any_text_comes_back(texts):
    data = Sequences.of(texts, characters=True)
    assert ["".join(labels) for labels in data] == texts
    assert list(data.vocabulary) == sorted(set("".join(texts)))


@pytest.mark.parametrize(
    ("X", "lengths", "message"),
    [
        ("", None, "there is no data"),
        ([], None, "there is no data"),
        (["ab", ""], None, "sequence 1 is empty"),
        (["ab", 3], None, "item 1 of X is 3: characters=True reads strings"),
        ([["ab"]], None, r"item 0 of X is \['ab'\]"),
        (["ab", None], None, "item 1 of X is None"),
        (b"ab", None, "item 0 of X is 97"),
        (["ab", "c"], [2, 1], "leave out lengths"),
        (["ab", "\ud800"], None, r"the character '\\ud800' is not Unicode text"),
    ],
)
def test_what_has_no_characters(X, lengths, message):
    with pytest.raises(ValueError, match=message):
        Sequences.of(X, lengths, characters=True)


def test_everything_that_counts_reads_characters():
    assert count_pairs("abab", characters=True)[1].tolist() == [[0, 2], [1, 0]]
    assert count_triples(["aba", "ab"], characters=True).triples.tolist() == [[0, 1, 0]]
    assert count_windows("aba", tau=1, characters=True).n_windows == 1


def test_a_model_of_characters_reads_a_string():
    model = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.3, 0.7]], ["a", "b"])
    assert model.log_likelihood("abba") == model.log_likelihood(list("abba"))
    assert len(model.decode("abba")[1]) == 4
    with pytest.raises(ValueError, match=r"unseen symbol 'abba' .* characters=True"):
        model.log_likelihood(["abba", "ab"])
    assert model.log_likelihoods(Sequences.of(["abba", "ab"], characters=True)).shape == (2,)
    named = HMM(model.startprob, model.transmat, model.emissionprob, ["a", "bc"])
    with pytest.raises(ValueError, match="is a single string"):
        named.log_likelihood("abba")


def test_an_estimator_of_characters():
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("ab"), 40, p=p)) for p in ([0.9, 0.1], [0.1, 0.9]) * 50]
    lists = [list(text) for text in texts]
    options = {"random_state": 0, "max_iter": 20, "refine": False}
    model = PairwiseHMM(2, characters=True, **options).fit(texts)
    by_lists = PairwiseHMM(2, **options).fit(lists)
    assert model.model_ == by_lists.model_
    assert model.score(texts) == by_lists.score(lists)
    assert model.predict(texts).tolist() == by_lists.predict(lists).tolist()
    assert model.bic(texts) == by_lists.bic(lists)
    assert model.forecast(texts[0]).shape == (1, 2)
    for name in ("predict_proba", "filter"):
        np.testing.assert_array_equal(getattr(model, name)(texts), getattr(by_lists, name)(lists))
    X, _ = model.sample(20, random_state=0)
    assert model.score(X) == model.score("".join(X[:, 0]))
    assert model.partial_fit(texts[:2]).counts_.n_pairs() == 102 * 39


# -- hints -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "X", [["ACGT", "ACG"], ["abab", "baba", "aabb"], pd.Series(["0101", "110"])]
)
def test_strings_that_look_like_sequences_get_a_hint(X):
    with pytest.warns(TextWarning, match=re.escape("characters=True reads them symbol by symbol")):
        assert len(Sequences.of(X)) == 1


@pytest.mark.parametrize(
    "X",
    [
        ["sun", "rain"],
        ["home", "cart", "pay"],
        ["walk", "shop", "clean"],
        ["ACGT", "ACG", "ACGT"],  # a label that occurs twice is one
        ["ab", "ba"],
        list("abcd"),
        ["ACGT"],
        [["ACGT", "ACG"], ["TTTT"]],
        [f"user{n}" for n in range(100)],
    ],
)
def test_labels_get_none(X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Sequences.of(X)
