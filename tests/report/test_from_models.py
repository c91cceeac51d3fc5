"""What is taken from topic models and hidden Markov models."""

import math
import re
import tracemalloc

import numpy as np
import pytest

from cohmm import HMM, HTMM, Documents, PairwiseHMM, Sequences, TextWarning
from cohmm.datasets.demo_topics import demo_model
from cohmm.datasets.synthetic import separable_hmm
from cohmm.datasets.synthetic_topics import sample_documents
from cohmm.diagnose import diagnose
from cohmm.evidence.counting import count_documents
from cohmm.report import from_hmm, from_topics, report_hmm, report_topics
from cohmm.report.from_hmm import hmm_material
from cohmm.report.from_topics import Aligner, texts_of, topic_material
from cohmm.report.prepare import MAX_WORDS, detectable

THEMES = (
    "ship harbour cargo tide anchor sail",
    "bread oven flour butter soup salt",
    "star planet orbit comet moon dust",
)


def written(n=60, seed=0):
    """Documents that go from one subject to another."""
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(n):
        words = []
        for theme in rng.permutation(3)[:2]:
            words += rng.choice(THEMES[theme].split(), size=12).tolist()
        texts.append("The " + ", the ".join(words).capitalize() + ".")
    return texts


@pytest.fixture(scope="module")
def texts():
    return [*written(), "nothing known here"]


@pytest.fixture(scope="module")
def topics(texts):
    return HTMM(n_components=3, stop_words=["the"], random_state=0).fit(texts[:-1])


@pytest.fixture(scope="module")
def data(topics, texts):
    with pytest.warns(TextWarning, match="no word that is kept"):
        return topics.encode(texts)


def items(material):
    return {item.name: item for item in material.summary}


def test_readings_are_those_of_the_model(topics, texts, data):
    material = topic_material(topics, texts)
    segments = topics.segment(data, posteriors=True)
    shares = topics.transform(data)
    bag = topics.fit_.as_chain("independent").infer(data, decode=True).topics
    assert len(material.readings) == material.n_texts == len(texts)
    for d, (reading, one) in enumerate(zip(material.readings, segments, strict=True)):
        assert [topics.vocabulary_[code] for code in reading.symbols] == one.words
        assert reading.path.tolist() == one.topics.tolist()
        np.testing.assert_allclose(reading.path_p, one.probabilities)
        if one.words:
            assert reading.best.tolist() == one.posteriors.argmax(axis=1).tolist()
            np.testing.assert_allclose(reading.best_p, one.posteriors.max(axis=1))
        np.testing.assert_allclose(reading.shares, shares[d])
        assert reading.bag.tolist() == bag[data.offsets[d] : data.offsets[d + 1]].tolist()
        assert reading.text == texts[d]
        found = [reading.text[begin:end].lower() for begin, end in reading.spans]
        assert found == one.words


def test_transitions_are_counted_as_documents_are_read(topics, texts, data):
    material = topic_material(topics, texts)
    counts = topics.topic_transitions_.copy()
    for one in topics.segment(data):
        for before, after in zip(one.topics[:-1], one.topics[1:], strict=True):
            counts[before, after] += 1
    np.testing.assert_allclose(material.transitions, counts / counts.sum(axis=1, keepdims=True))
    assert "counted in the documents, as the model reads them" in material.flow
    alone = topic_material(topics, None)
    np.testing.assert_array_equal(alone.transitions, topics.topic_transitions_)
    assert "those of the corpus" in alone.flow
    words = topic_material(topics, ["ship", "", "soup"])  # no word follows another
    np.testing.assert_array_equal(words.transitions, topics.topic_transitions_)


def test_transitions_of_many_words_are_counted_in_some(topics, texts, monkeypatch):
    monkeypatch.setattr("cohmm.topics.overview.MAX_DECODED", 500)
    material = topic_material(topics, texts)
    assert re.search(r"counted in 20 of the 61 documents", material.flow)
    np.testing.assert_allclose(material.transitions.sum(axis=1), 1)


def test_as_many_topics_are_detectable_as_auto_would_learn():
    """At one lag alone, the noise of topics that last is above the floor."""
    documents, _ = sample_documents(demo_model(), 1500, random_state=0)
    model = HTMM("auto", refine=0, random_state=0).fit(documents)
    found = items(topic_material(model, documents, n_texts=1))["Detectable topics"]
    assert found.value == str(model.fit_.n_components)
    assert "at lags 1, 2, 3, 4, 5, 8 stand above" in found.note
    one = detectable(diagnose(count_documents(documents, (1, 2))), [1], 12, "topics")[0]
    assert "at lag 1 stand above" in one.note
    assert int(one.value) > int(found.value)


def test_labels_are_taken_and_checked_first(topics, tmp_path):
    assert topic_material(topics, None, labels={1: "sea"}).labels == {1: "sea"}
    model = separable_hmm(n_symbols=12, n_components=3, random_state=0)
    assert hmm_material(model, None, labels={"2": "sea"}).labels == {2: "sea"}
    named = topics.rename({0: "bread", 2: "sky"})
    assert topic_material(named, None).labels == {0: "bread", 2: "sky"}
    assert topic_material(named, None, labels={2: "sea"}).labels == {0: "bread", 2: "sea"}
    for report in (topics.report, lambda path, data, **how: report_hmm(model, data, path, **how)):
        with pytest.raises(ValueError, match="there is no number 3"):
            report(tmp_path / "r.html", "nonsense", labels={3: "sea"})
    assert not list(tmp_path.iterdir())
    topics.report(tmp_path / "r.html", labels={0: "bread"}, command="typed")
    page = (tmp_path / "r.html").read_text("utf-8")
    assert '"labels":{"0":"bread"}' in page
    assert '{"name":"Command","value":"typed","note":""}' in page


def test_the_summary_of_topics(topics, texts):
    found = items(topic_material(topics, texts[:-1]))
    assert found["Documents"].value == "60"
    assert found["Topics"].value == "3"
    assert found["Lags"].value == "1, 2, 3, 4, 5"
    assert float(found["Coherence"].value) == pytest.approx(
        topics.coherence(top=18, eps=0.01), rel=1e-3
    )
    assert "18 top words" in found["Coherence"].note
    assert "eps = 0.01" in found["Coherence"].note
    perplexity = topics.perplexity(texts[:-1])
    assert float(found["Perplexity"].value) == pytest.approx(perplexity, rel=1e-3)
    assert found["Seed"].value == "0"
    assert re.match(r"3 were learned; .* noise floor", found["Detectable topics"].note)


def test_coherence_that_cannot_be_is_told_and_left_out(topics):
    material = topic_material(topics, ["bread and soup"])
    assert material.coherence is None
    assert "no document has the word" in items(material)["Coherence"].note


def test_a_model_from_a_file_and_a_model_alone(topics, texts, tmp_path):
    topics.save(tmp_path / "m.cohmm")
    loaded = HTMM.load(tmp_path / "m.cohmm")
    one, other = topic_material(loaded, texts), topic_material(topics, texts)
    assert one.readings[3].path.tolist() == other.readings[3].path.tolist()
    assert "Detectable topics" in items(one)
    alone = topic_material(loaded, None)
    assert alone.readings == ()
    assert not {"Documents", "Coherence", "Perplexity"} & set(items(alone))


def test_documents_in_every_shape(topics, texts, data, tmp_path):
    (tmp_path / "texts.txt").write_text("\n".join(texts))
    words = [re.findall(r"\w\w+", text.lower()) for text in texts]
    path = tmp_path / "texts.txt"
    whole = topic_material(topics, texts)
    for given, more, has_text in (
        (iter(texts), {}, True),
        (path, {}, True),
        (str(path), {}, True),
        (data, {"texts": iter(texts)}, True),
        (data, {}, False),
        (words, {}, False),
    ):
        found = topic_material(topics, given, **more)
        for one, other in zip(found.readings, whole.readings, strict=True):
            assert one.path.tolist() == other.path.tolist()
            assert one.text == (other.text if has_text else None)
    assert topic_material(topics, path).readings[2].name.endswith("texts.txt, line 3")


def test_some_of_many_documents_with_their_own_texts(topics, texts):
    material = topic_material(topics, texts, n_texts=7)
    assert len(material.readings) == 7
    assert material.cap.startswith("7 of 61 documents are shown, drawn at random")
    for reading in material.readings:
        assert reading.text == texts[reading.number]


def test_a_very_long_document_is_read_from_its_beginning(topics, monkeypatch):
    text = " ".join(THEMES) * 40
    whole = topic_material(topics, [text]).readings[0]
    monkeypatch.setattr(from_topics, "MAX_READ", 100)
    cut = topic_material(topics, [text]).readings[0]
    assert cut.length == whole.length == len(whole.path) > 100
    assert cut.symbols.tolist() == whole.symbols[:100].tolist()
    assert len(cut.path) == 100


def test_a_model_that_was_not_fitted_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        report_topics(HTMM(), ["a"], tmp_path / "r.html")
    with pytest.raises(ValueError, match="not fitted"):
        report_hmm(PairwiseHMM(2), [0, 1], tmp_path / "r.html")


def test_texts_whose_words_are_not_those_of_the_model_are_not_shown():
    align = Aligner(HTMM(), ("sun", "rain"))
    assert align.find("Sun; rain", ["sun", "rain"]) == ("Sun; rain", ((0, 3), (5, 9)))
    assert align.find("Sun; rain", ["rain", "sun"]) == (None, ())
    assert align.find(None, ["sun"]) == (None, ())
    assert Aligner(HTMM(analyzer=str.split), ("sun",)).find("sun", ["sun"]) == (None, ())
    # A capital whose lower case is longer than itself: shown as it was read.
    assert align.find("İ sun", ["sun"]) == ("i̇ sun", ((3, 6),))
    grouped = Aligner(HTMM(token_pattern=r"<(\w+)>"), ("sun",))
    assert grouped.find("sun <sun>", ["sun"]) == ("sun <sun>", ((5, 8),))
    assert texts_of(Documents([0], [0, 1], ("a",)), np.array([0])) == [None]


def test_an_hmm_is_read_as_it_reads_itself():
    model = separable_hmm(n_symbols=12, n_components=3, random_state=0)
    symbols, _ = model.sample(300, random_state=1)
    material = hmm_material(model, symbols, lengths=[100, 200])
    for reading, part in zip(material.readings, (symbols[:100], symbols[100:]), strict=True):
        posterior = model.posterior(part)
        path = model.decode(part)[1]
        assert reading.symbols.tolist() == part.tolist()
        assert reading.path.tolist() == path.tolist()
        np.testing.assert_allclose(reading.path_p, posterior[np.arange(len(part)), path])
        assert reading.best.tolist() == posterior.argmax(axis=1).tolist()
        alone = model.stationary()[:, None] * model.emissionprob[:, part]
        assert reading.bag.tolist() == alone.argmax(axis=0).tolist()
    found = items(material)
    assert found["Sequences"].value == "2"
    perplexity = math.exp(-model.log_likelihood(symbols, [100, 200]) / 300)
    assert float(found["Perplexity"].value) == pytest.approx(perplexity, rel=1e-3)
    assert "Coherence" not in found
    assert material.coherence is None
    assert material.vocabulary == tuple(range(12))


def test_a_long_sequence_is_read_in_pieces(monkeypatch):
    model = separable_hmm(n_symbols=12, n_components=3, random_state=0)
    n = 2 * MAX_WORDS + 300
    symbols, _ = model.sample(n, random_state=1)
    material = hmm_material(model, symbols)
    assert [reading.length for reading in material.readings] == [MAX_WORDS, MAX_WORDS, 300]
    assert np.concatenate([reading.symbols for reading in material.readings]).tolist() == (
        symbols.tolist()
    )
    assert "cut into pieces" in material.cap
    assert material.readings[1].name == f"Sequence 0, from {MAX_WORDS:,}"
    # What lies beyond the margin no longer matters; without a margin it would.
    whole = model.posterior(symbols).max(axis=1)
    np.testing.assert_allclose(
        np.concatenate([reading.best_p for reading in material.readings]), whole, atol=1e-9
    )
    monkeypatch.setattr(from_hmm, "MARGIN", 0)
    cut = np.concatenate([r.best_p for r in hmm_material(model, symbols).readings])
    assert np.abs(cut - whole).max() > 1e-3


def test_batches_of_sequences_make_the_same_report():
    model = separable_hmm(n_symbols=12, n_components=3, random_state=0)
    lengths = [2300, 40, 1, 700, 1500]
    symbols, _ = model.sample(sum(lengths), random_state=1)
    whole = hmm_material(model, symbols, lengths=lengths, n_texts=4)
    parts = np.split(symbols, np.cumsum(lengths)[:-1])
    batches = (Sequences.of(part, n_symbols=12) for part in parts)
    streamed = hmm_material(model, batches, n_texts=4)
    assert (streamed.cap, streamed.n_texts) == (whole.cap, whole.n_texts)
    assert streamed.summary == whole.summary
    assert len(whole.readings) == 4
    for one, other in zip(streamed.readings, whole.readings, strict=True):
        assert (one.number, one.name, one.length) == (other.number, other.name, other.length)
        for name in ("symbols", "path", "path_p", "best", "best_p", "bag", "shares"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    with pytest.raises(ValueError, match="sequence 3 has probability zero"):
        hmm_material(HMM([1.0], [[1.0]], [[1.0, 0.0]]), iter([[[0, 0], [0, 0]], [[0, 0], [1, 0]]]))


def test_memory_does_not_grow_with_the_sequences():
    model = separable_hmm(n_symbols=12, n_components=3, random_state=0)
    n, n_batches = 250_000, 40  # 40 MB of symbols
    symbols, _ = model.sample(n, random_state=1)
    batch = symbols.astype(np.int32)
    lengths = np.full(n // 500, 500)
    hmm_material(model, symbols[:1000])  # compiled
    tracemalloc.start()
    hmm_material(model, (Sequences.of(batch.copy(), lengths) for _ in range(n_batches)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 15e6


def test_a_chain_that_only_goes_on_can_be_cut():
    model = HMM([1, 0], [[0.999, 0.001], [0, 1]], [[1, 0], [0, 1]])
    symbols = [0] * 1500 + [1] * 1700
    material = hmm_material(model, symbols)
    assert np.concatenate([reading.path for reading in material.readings]).tolist() == symbols


def test_missing_observations_and_labels():
    model = HMM([1, 0], [[0.5, 0.5], [0.5, 0.5]], [[0.9, 0.1], [0.1, 0.9]], vocabulary=["a", "b"])
    (reading,) = hmm_material(model, [["a", None, "b"]]).readings
    assert reading.symbols.tolist() == [0, -1, 1]
    assert reading.bag.tolist() == [0, 0, 1]


def test_an_impossible_sequence_is_named():
    model = HMM([1.0], [[1.0]], [[0.5, 0.5, 0.0]])
    with pytest.raises(ValueError, match="sequence 1 has probability zero"):
        hmm_material(model, [[0, 1], [2]])


def test_an_estimator_says_how_it_was_learned():
    truth = separable_hmm(n_symbols=12, n_components=3, random_state=0)
    symbols, _ = truth.sample(60_000, random_state=1)
    model = PairwiseHMM(3, lags=(1, 2), refine=False, random_state=5).fit(symbols)
    material = hmm_material(model, symbols)
    found = items(material)
    assert found["Lags"].value == "1, 2"
    assert found["Seed"].value == "5"
    (trace,) = material.traces
    assert trace.values[-1] == model.fit_.objective
    assert trace.passes == sorted(trace.passes)
    assert hmm_material(model, None).readings == ()


def test_bad_paths_are_refused_before_any_work(topics, tmp_path):
    for path in (tmp_path, tmp_path / "nowhere" / "r.html"):
        with pytest.raises(ValueError, match="cannot write"):
            report_topics(topics, "not even documents", path)
        with pytest.raises(ValueError, match="cannot write"):
            report_hmm(None, None, path)
