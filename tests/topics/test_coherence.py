"""Coherence: by hand, by definition, by its laws, and beside gensim."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from cohmm import threads
from cohmm.data.documents import Documents
from cohmm.learn.topics.topic_fit import topic_fit
from cohmm.topics.coherence import coherence, occurrences
from cohmm.topics.top_words import top_words
from tests.laws import close
from tests.topics.samples import documents_of, sampled, separable_topics

MEASURES = ("paper", "umass", "npmi", "c_v")

TEXTS = st.lists(st.lists(st.integers(0, 5), max_size=12), min_size=1, max_size=8)


def windows_of(text: list[int], size: int) -> list[list[int]]:
    return [text[i : i + size] for i in range(max(1, len(text) - size + 1))]


def by_definition(words, texts, measure, eps, window=None) -> float:
    """One topic's coherence, set by set."""
    sets = [set(text) for text in texts]
    if window is not None:
        sets = [set(part) for text in texts for part in windows_of(list(text), window)]

    def freq(*wanted: int) -> int:
        return sum(set(wanted) <= found for found in sets)

    def npmi(v: int, w: int) -> float:
        p = freq(v, w) / len(sets) + eps
        if p >= 1:
            return 1.0
        return math.log(p * len(sets) ** 2 / (freq(v) * freq(w))) / -math.log(p)

    if measure == "paper":
        return sum(math.log((freq(v, w) + eps) / freq(v)) for v in words for w in words)
    if measure == "umass":
        return sum(
            math.log((freq(words[i], words[j]) + eps) / freq(words[j]))
            for i in range(len(words))
            for j in range(i)
        )
    if measure == "npmi":
        values = [npmi(v, w) for v, w in permutations(words, 2)]
        return sum(values) / len(values)
    whole = np.array([sum(npmi(v, w) for v in words) for w in words])
    total = 0.0
    for v in words:
        context = np.array([npmi(v, w) for w in words])
        total += context @ whole / np.linalg.norm(context) / np.linalg.norm(whole)
    return total / len(words)


@given(TEXTS, st.integers(1, 14))
def test_occurrences_are_those_of_all_windows(texts: list[list[int]], window: int) -> None:
    documents = documents_of(texts, 6)
    words = np.array([[0, 1, 2], [3, 1, 5]])
    found = occurrences(documents, words, window)
    sets = [set(part) for text in texts for part in windows_of(text, window)]
    assert found.total == len(sets)
    for k, row in enumerate(words):
        for i, v in enumerate(row):
            for j, w in enumerate(row):
                assert found.joint[k, i, j] == sum({v, w} <= there for there in sets)
    whole = occurrences(documents, words)
    assert whole.total == len(texts)
    np.testing.assert_array_equal(whole.joint, occurrences(documents, words, 12).joint)
    of_counts = occurrences(documents.term_counts(), words)
    np.testing.assert_array_equal(whole.joint, of_counts.joint)


@pytest.fixture(scope="module")
def corpus() -> tuple[np.ndarray, Documents]:
    topics = separable_topics(4, 60, seed=1)
    rng = np.random.default_rng(2)
    short = sampled(topics, 150, 30, seed=3)
    texts = [
        list(short.symbols[a:b]) for a, b in zip(short.offsets, short.offsets[1:], strict=False)
    ]
    texts += [list(rng.integers(0, 60, 200)), [], [7]]
    return topics, documents_of(texts, 60)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("eps", [None, 0.5])
def test_coherence_is_what_its_definition_says(corpus, measure: str, eps: float | None) -> None:
    topics, documents = corpus
    texts = [
        documents.symbols[a:b]
        for a, b in zip(documents.offsets, documents.offsets[1:], strict=False)
    ]
    used = {"paper": 0.01, "umass": 1.0}.get(measure, 1e-12) if eps is None else eps
    window = 110 if measure == "c_v" else None
    found = coherence(topics, documents, measure, top=6, eps=eps)
    for k, row in enumerate(topics):
        words = np.argsort(-row, kind="stable")[:6].tolist()
        assert found[k] == pytest.approx(by_definition(words, texts, measure, used, window))


def test_by_hand() -> None:
    # w0 in 3 documents, w1 in 2, w2 in 2; w0 and w1 in 2, w0 and w2 in 1, w1 and w2 in 1; of 4
    documents = documents_of([[0, 1, 0], [0, 1, 2], [0], [2]])
    components = np.array([[0.5, 0.3, 0.2]])
    a, b, c = 3, 2, 2
    ab, ac, bc = 2.01, 1.01, 1.01
    expected = sum(map(math.log, (3.01 / a, 2.01 / b, 2.01 / c)))
    expected += sum(map(math.log, (ab / a, ac / a, ab / b, bc / b, ac / c, bc / c)))
    close(coherence(components, documents, "paper", top=3), [expected])
    close(
        coherence(components, documents, "umass", top=3),
        [math.log(3 / a) + math.log(2 / a) + math.log(2 / b)],
    )
    npmi = [
        math.log(0.5 / (0.75 * 0.5)) / -math.log(0.5),
        math.log(0.25 / (0.75 * 0.5)) / -math.log(0.25),
        math.log(0.25 / (0.5 * 0.5)) / -math.log(0.25),
    ]
    close(coherence(components, documents, "npmi", top=3), [np.mean(npmi)])


def test_defaults_are_those_of_the_table(corpus) -> None:
    topics, documents = corpus
    for measure, top, options in (
        ("paper", 20, {"eps": 0.01}),
        ("umass", 20, {"eps": 1.0}),
        ("npmi", 10, {"eps": 1e-12}),
        ("c_v", 10, {"eps": 1e-12, "window": 110}),
    ):
        close(
            coherence(topics, documents, measure),
            coherence(topics, documents, measure, top=top, **options),
        )


def test_always_together_and_never_together() -> None:
    documents = documents_of([[0, 1]] * 3 + [[2], [3], [4]])
    together, apart = [[0.5, 0.5, 0, 0, 0]], [[0, 0, 0.5, 0.5, 0]]
    assert coherence(together, documents, "npmi", top=2)[0] == pytest.approx(1)
    assert coherence(apart, documents, "npmi", top=2, eps=0)[0] == -1
    # the default eps is that of Roeder et al., by which never is not quite -1
    never = math.log(1e-12 * 36) / -math.log(1e-12)
    assert coherence(apart, documents, "npmi", top=2)[0] == pytest.approx(never)
    assert coherence(together, documents, "c_v", top=2)[0] == pytest.approx(1)
    everywhere = documents_of([[0, 1], [1, 0]])
    assert coherence([[0.5, 0.5]], everywhere, "npmi", top=2)[0] == 1


@pytest.mark.parametrize("measure", MEASURES)
def test_topics_may_be_permuted_and_words_relabelled(corpus, measure: str) -> None:
    topics, documents = corpus
    rng = np.random.default_rng(0)
    order, words = rng.permutation(len(topics)), rng.permutation(topics.shape[1])
    before = coherence(topics, documents, measure, top=8)
    close(coherence(topics[order], documents, measure, top=8), before[order])
    code = np.argsort(words)  # new word i was words[i]
    renamed = Documents(
        code[documents.symbols],
        documents.offsets,
        tuple(documents.vocabulary[word] for word in words),
    )
    close(coherence(topics[:, words], renamed, measure, top=8), before)


@pytest.mark.parametrize("measure", MEASURES)
def test_words_components_fits_and_matrices_are_all_the_same(corpus, measure: str) -> None:
    topics, documents = corpus
    before = coherence(topics, documents, measure, top=5)
    lists = top_words(topics, documents.vocabulary, 5)
    close(coherence(lists, documents, measure), before)
    longer = top_words(topics, documents.vocabulary, 9)
    close(coherence(longer, documents, measure, top=5), before)
    fit = topic_fit(topics, np.array([0.4, 0.3, 0.2, 0.1]), documents.vocabulary, name="truth")
    close(coherence(fit, documents, measure, top=5), before)
    backwards = topic_fit(
        topics[:, ::-1], np.array([0.4, 0.3, 0.2, 0.1]), documents.vocabulary[::-1], name="truth"
    )
    close(coherence(backwards, documents, measure, top=5), before)
    if measure != "c_v":
        close(coherence(topics, documents.term_counts(), measure, top=5), before)


def test_any_number_of_threads(corpus) -> None:
    topics, documents = corpus
    for measure in MEASURES:
        with threads(1):
            one = coherence(topics, documents, measure)
        with threads(2):
            np.testing.assert_array_equal(coherence(topics, documents, measure), one)


def test_true_topics_are_more_coherent_than_random_ones() -> None:
    topics = separable_topics(5, 200, seed=4)
    documents = sampled(topics, 800, 60, seed=5)
    random = np.random.default_rng(6).random((5, 200)) * documents.term_counts().sum(axis=0)
    for measure in MEASURES:
        good, bad = (coherence(t, documents, measure, top=10).mean() for t in (topics, random))
        assert good > bad


# -- beside gensim ----------------------------------------------------------------------------


def gensim_coherence(documents: Documents, words: list[list[str]], measure: str, **options):
    models = pytest.importorskip("gensim.models.coherencemodel")
    dictionary = pytest.importorskip("gensim.corpora").Dictionary([list(documents.vocabulary)])
    texts = list(documents)
    return np.array(
        models.CoherenceModel(
            topics=words,
            texts=texts,
            corpus=[dictionary.doc2bow(text) for text in texts],
            dictionary=dictionary,
            coherence=measure,
            topn=len(words[0]),
            processes=1,
            **options,
        ).get_coherence_per_topic()
    )


@pytest.fixture(scope="module")
def without_repeats() -> tuple[np.ndarray, Documents]:
    """No word stands twice in a document.

    Where one stands twice in a window, gensim takes it out of all windows from where its first
    occurrence leaves, and counts too little.
    """
    rng = np.random.default_rng(0)
    topics = separable_topics(4, 80, seed=7)
    texts = []
    for _ in range(200):
        law = 0.9 * topics[rng.integers(4)] + 0.1 / 80
        texts.append(rng.choice(80, size=rng.integers(2, 40), replace=False, p=law / law.sum()))
    return topics, documents_of(texts, 80)


def test_umass_is_gensims(without_repeats) -> None:
    # gensim's is the mean instead of the sum, and adds 1e-12 to probabilities, not 1 to counts
    topics, documents = without_repeats
    words = top_words(topics, documents.vocabulary, 8)
    found = coherence(topics, documents, "umass", top=8, eps=1e-12 * len(documents)) / (8 * 7 / 2)
    close(found, gensim_coherence(documents, words, "u_mass"))


@pytest.mark.parametrize("window", [5, 10])
def test_npmi_in_windows_is_gensims(without_repeats, window: int) -> None:
    topics, documents = without_repeats
    words = top_words(topics, documents.vocabulary, 8)
    found = coherence(topics, documents, "npmi", top=8, window=window)
    close(found, gensim_coherence(documents, words, "c_npmi", window_size=window))


def test_npmi_in_documents_is_gensims_in_a_window_that_holds_any(without_repeats) -> None:
    topics, documents = without_repeats
    words = top_words(topics, documents.vocabulary, 8)
    found = coherence(topics, documents, "npmi", top=8)
    close(found, gensim_coherence(documents, words, "c_npmi", window_size=100))


@pytest.mark.parametrize("window", [None, 7])
def test_c_v_is_gensims(without_repeats, window: int | None) -> None:
    topics, documents = without_repeats
    words = top_words(topics, documents.vocabulary, 8)
    found = coherence(topics, documents, "c_v", top=8, window=window)
    close(found, gensim_coherence(documents, words, "c_v", window_size=window))


# -- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "topics", "options"),
    [
        ("one of paper, umass, npmi, c_v, not 'uci'", None, {"measure": "uci"}),
        ("eps must be finite and above 0 for 'paper', not 0", None, {"eps": 0}),
        ("eps must be .* not nan", None, {"measure": "npmi", "eps": math.nan}),
        ("'umass' is defined by .*window=5", None, {"measure": "umass", "window": 5}),
        ("top must be a whole number from 2, not 1", None, {"top": 1}),
        ("from 1 to 60.* not 61", None, {"top": 61}),
        ("window must be .* not 0", None, {"measure": "npmi", "window": 0}),
        ("the components have 59 words, .* has 60", np.full((2, 59), 0.1), {}),
        ("lists of words, not an array of int64", np.ones((2, 60), np.int64), {}),
        ("'gold' of topic 1 is not in", [["w1", "w2"], ["w3", "gold"]], {}),
        ("topic 0 has 2 words, not as many as", [["w1", "w2"], ["w3"]], {}),
        ("topic 0 has 2 words, not top=3", [["w1", "w2"]], {"top": 3}),
        ("topic 0 has the word 'w1' twice", [["w1", "w2", "w1"]], {}),
        ("at least 2 words", [["w1"], ["w2"]], {}),
    ],
)
def test_bad_input_is_named(corpus, message: str, topics, options: dict) -> None:
    with pytest.raises(ValueError, match=message):
        coherence(corpus[0] if topics is None else topics, corpus[1], **options)


def test_what_a_matrix_cannot_answer(corpus) -> None:
    counts = corpus[1].term_counts()
    with pytest.raises(ValueError, match="no order of words"):
        coherence(corpus[0], counts, "c_v")
    with pytest.raises(ValueError, match="no vocabulary to look words up in"):
        coherence([["w1", "w2"]], counts)


def test_a_top_word_that_no_document_has() -> None:
    documents = documents_of([[0, 1], [1, 0]], n_words=3)
    with pytest.raises(ValueError, match="no document has the word 'w2', number 2 of topic 0"):
        coherence([[0.5, 0.1, 0.4]], documents, top=2)
    with pytest.raises(ValueError, match="no document has the word 2, number 2 of topic 0"):
        coherence([[0.5, 0.1, 0.4]], sparse.csr_array([[1, 1, 0]]), top=2)
