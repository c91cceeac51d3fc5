"""What a report says of how far a fit can be trusted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cohmm import HMM, HTMM, PairwiseHMM, Sequences
from cohmm.datasets.synthetic import separable_hmm
from cohmm.datasets.synthetic_topics import sample_htmm
from cohmm.report import from_hmm
from cohmm.report.from_hmm import hmm_material
from cohmm.report.from_topics import topic_material
from cohmm.report.prepare import prepare_report
from cohmm.report.render import render_page
from tests.report.samples import a_trust, material


@pytest.fixture(scope="module")
def symbols():
    truth = separable_hmm(n_symbols=8, n_components=3, stay=0.6, random_state=0)
    return truth.sample(20_000, random_state=0)[0]


@pytest.fixture(scope="module")
def model(symbols):
    return PairwiseHMM(3, random_state=0).fit(symbols)


def about(trust):
    return dict(trust.findings)


def test_a_fit_has_its_own_diagnosis_and_its_own_errors(model, symbols):
    trust = hmm_material(model, symbols).trust
    diagnosis = model.diagnose(symbols)
    assert [line for line in trust.findings if line[0] != "intervals"] == list(diagnosis.findings)
    assert trust.advice == diagnosis.advice
    assert "model fit" in about(trust)
    errors = model.standard_errors()
    assert about(trust)["intervals"].startswith(f"90 %, from {errors.evidence}")
    low, high = errors.interval(0.9)
    np.testing.assert_array_equal(trust.components[0], low.emissionprob)
    np.testing.assert_array_equal(trust.components[1], high.emissionprob)
    np.testing.assert_array_equal(trust.transitions[0], low.transmat)
    np.testing.assert_array_equal(trust.transitions[1], high.transmat)


def test_less_than_the_training_data_is_not_what_a_fit_is_judged_by(model, symbols):
    trust = hmm_material(model, symbols[:50]).trust
    assert about(trust)["fit of"] == model.diagnose().findings[0][1]
    assert "19,999 pairs" in about(trust)["fit of"]
    assert trust.components is not None


def test_a_model_by_itself_says_which_answers_are_left(model):
    trust = hmm_material(model.model_, None).trust
    assert about(trust)["intervals"].startswith("not known: this model has no data with it")
    assert trust.components is trust.transitions is None
    assert "not answered" in about(trust)
    assert "states shown" not in about(trust)
    assert {"scatter", "conditioning"} <= set(about(trust))


def test_a_model_with_data_is_compared_with_that(model, symbols):
    trust = hmm_material(model.model_, symbols).trust
    assert "true if the model was learned from these sequences" in about(trust)["intervals"]
    own = hmm_material(model, symbols).trust
    np.testing.assert_allclose(trust.transitions[0], own.transitions[0], atol=0.01)


def test_batches_are_judged_like_the_whole_until_they_are_too_many(model, symbols, monkeypatch):
    def batches():
        return (Sequences.of(part, n_symbols=8) for part in np.split(symbols, 4))

    whole = hmm_material(model.model_, symbols, lengths=[5000] * 4).trust
    assert hmm_material(model.model_, batches()).trust.findings == whole.findings
    monkeypatch.setattr(from_hmm, "MAX_KEPT", 15_000)
    many = hmm_material(model.model_, batches()).trust
    assert "19,996 pairs" in about(many)["fit of"]
    assert many.components is None
    assert "whether triples are explained" in about(many)["not answered"]


@pytest.mark.parametrize("data", [[[0]], [[0, 1, None, 2]], [[0], [1]]])
def test_data_that_says_nothing_does_no_harm(data):
    hmm = HMM([0.5, 0.5], [[0.6, 0.4], [0.3, 0.7]], [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    encoded = Sequences.of(data, n_symbols=3)
    trust = hmm_material(hmm, encoded).trust
    assert "2 states, 3 symbols" in about(trust)["fit of"]
    assert prepare_report(hmm_material(hmm, encoded))["trust"]["advice"]


def test_a_model_too_large_for_errors_says_so(symbols, monkeypatch):
    monkeypatch.setattr("cohmm.diagnose.standard_errors.MAX_PARAMETERS", 10)
    hmm = separable_hmm(n_symbols=8, n_components=3, stay=0.6, random_state=0)
    trust = hmm_material(hmm, symbols[:500]).trust
    assert about(trust)["intervals"].startswith("not known: ")
    assert "transitions and emissions" in about(trust)["intervals"]


def test_topics_have_intervals_of_their_words(tmp_path):
    documents = sample_htmm(60, n_components=3, n_words=30, length=40, random_state=0).documents
    model = HTMM(3, random_state=0).fit(documents)
    trust = topic_material(model, documents).trust
    low, high = model.standard_errors().interval(0.9)
    np.testing.assert_array_equal(trust.components[0], low.components)
    np.testing.assert_array_equal(trust.components[1], high.components)
    assert trust.transitions is None
    assert trust.advice == model.diagnose().advice
    assert about(trust)["intervals"].startswith("of words, 90 %, by leaving out each of 20 groups")
    model.save(tmp_path / "m.cohmm")
    loaded = topic_material(HTMM.load(tmp_path / "m.cohmm"), documents).trust
    assert about(loaded)["intervals"].endswith("if the topics were learned from these documents")
    np.testing.assert_allclose(loaded.components[0], low.components, atol=1e-9)
    assert about(loaded)["topics shown"] == about(trust)["topics shown"]
    alone = topic_material(HTMM.load(tmp_path / "m.cohmm"), None).trust
    assert about(alone)["intervals"].startswith("not known: standard_errors needs the training")
    assert alone.components is None
    assert "not answered" in about(alone)


def test_plain_words_about_a_fit_that_is_good_and_one_that_is_not(model, symbols):
    good = hmm_material(model, symbols).trust.lights
    assert [light.level for light in good] == ["good"] * 5
    assert good[0].text == "There is enough data to tell all 3 states from chance."
    little = symbols[:300]
    many = HMM(np.full(6, 1 / 6), np.full((6, 6), 1 / 6), np.full((6, 8), 1 / 8))
    poor = hmm_material(many, little).trust
    assert poor.lights[0].level in ("fair", "poor")
    assert "of the 6 states stand out from chance" in poor.lights[0].text
    assert poor.lights[-1].level != "good"


def test_plain_words_say_what_is_not_known(model):
    lights = hmm_material(model.model_, None).trust.lights
    assert lights[0].level == lights[-1].level == "unknown"
    assert "cannot be checked without the data" in lights[0].text


def test_states_that_are_alike_are_named(symbols):
    twins = HMM(
        [0.4, 0.3, 0.3],
        [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]],
        [[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0.5001, 0.4999]],
    )
    lights = hmm_material(twins, twins.sample(500, random_state=0)[0]).trust.lights
    assert ("fair", "States 1 and 2 are much alike.") in lights


def test_intervals_are_those_of_the_words_on_the_page():
    given = replace(material(), trust=a_trust())
    report = prepare_report(given)
    for k, topic in enumerate(report["topics"]):
        codes = [given.vocabulary.index(report["vocabulary"][w]) for w in topic["words"]]
        for end, values in zip(given.trust.components, (topic["low"], topic["high"]), strict=True):
            np.testing.assert_allclose(values, end[k, codes], rtol=1e-3)
    np.testing.assert_allclose(report["transitions_high"], given.trust.transitions[1], rtol=1e-3)
    assert report["trust"]["lines"][0].name == "Fit of"
    assert report["trust"]["advice"] == ["Try <b>5</b> states", "Find more data"]
    bare = prepare_report(material())
    assert (bare["trust"], bare["transitions_low"], bare["topics"][0]["low"]) == (None, [], [])


def test_a_page_has_the_section_where_there_is_something_to_say():
    page = render_page(prepare_report(replace(material(), trust=a_trust())))
    assert page.startswith("<!doctype html>")
    assert "<li>Try &lt;b&gt;5&lt;/b&gt; states</li>" in page
    assert "How sure the numbers are stands where they are" in page
    assert 'id="trust"' not in render_page(prepare_report(material()))
