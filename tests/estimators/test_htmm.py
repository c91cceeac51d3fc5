"""The estimator: scikit-learn's conventions, text in, files, bad input."""

from __future__ import annotations

import json
import warnings
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline

import cohmm
from cohmm import HTMM, Documents, StorageError, TextWarning, read_documents, storage, threads
from cohmm.datasets.synthetic_topics import TopicSample, sample_htmm
from cohmm.estimators import htmm as module
from cohmm.estimators.htmm import TEXT_OPTIONS
from cohmm.evidence.counting import count_documents
from cohmm.learn.learner import EvidenceWarning, progress_log
from cohmm.learn.topics import htmm as recipe
from cohmm.learn.topics.htmm import htmm
from cohmm.learn.topics.online import grown_htmm, with_new_documents
from cohmm.learn.topics.topic_fit import KIND, TopicFit
from cohmm.report.prepare import model_key
from cohmm.topics.coherence import coherence
from cohmm.topics.perplexity import perplexity
from tests.laws import close, rows_are_distributions
from tests.topics.samples import error

pytestmark = pytest.mark.filterwarnings("ignore:these pairs can show")

TEXTS = [
    "oil gas oil barrel gas oil",
    "gas barrel oil barrel oil gas",
    "wheat corn grain wheat corn",
    "corn grain wheat grain corn",
    "oil barrel gas wheat grain corn wheat",
] * 6
COMMODITIES = ["oil gas oil"] * 12 + ["wheat corn wheat"] * 9 + ["gold ore gold"] * 6


@pytest.fixture(scope="module")
def sample() -> TopicSample:
    return sample_htmm(600, n_components=4, n_words=120, length=50, random_state=0)


@pytest.fixture(scope="module")
def topics(sample: TopicSample) -> HTMM:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        return HTMM(4, random_state=0).fit(sample.documents)


class Heard(Exception):
    """What a function was called with."""


def recorder(function: Any) -> Any:
    def record(*args: Any, **options: Any) -> Any:
        raise Heard(signature(function).bind(*args, **options).arguments)

    return record


def test_every_option_reaches_its_learner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of text reach `read_documents`, the others the learner, but for these two."""
    learned = {
        "n_components": 3,
        "lags": (1, 7),
        "refine": 5,
        "max_iter": 17,
        "tol": 0.25,
        "n_init": 4,
        "seed_words": [["oil"]],
        "random_state": 11,
    }
    text: dict[str, Any] = {name: object() for name in TEXT_OPTIONS}
    assert {*learned, *text, "chain", "verbose"} == HTMM().get_params().keys()
    with monkeypatch.context() as patch:
        patch.setattr(module, "read_documents", recorder(read_documents))
        with pytest.raises(Heard) as heard:
            HTMM(**text).fit(TEXTS)
    assert heard.value.args[0] == text | {"X": TEXTS}
    monkeypatch.setattr(module, "htmm", recorder(htmm))
    with pytest.raises(Heard) as heard:
        HTMM(**learned, verbose=True).fit(TEXTS, sample_weight=[2.0] * len(TEXTS))
    options = heard.value.args[0]
    assert options.pop("weights").tolist() == [2.0] * len(TEXTS)
    assert options.pop("documents") == read_documents(TEXTS)
    assert options == learned | {"callback": progress_log(True)}


def test_every_option_reaches_the_learner_that_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    options = {"refine": 5, "max_iter": 17, "tol": 0.25, "random_state": 11}
    model = HTMM(2, lags=1, random_state=0, refine=0).fit(TEXTS)
    model.save(tmp_path / "topics", counts=True)
    loaded = HTMM.load(tmp_path / "topics")
    for learner, one in ((with_new_documents, model), (grown_htmm, loaded)):
        monkeypatch.setattr(module, learner.__name__, recorder(learner))
        with pytest.raises(Heard) as heard:
            one.set_params(**options).partial_fit(TEXTS[:5], sample_weight=[3.0] * 5, decay=0.5)
        given = heard.value.args[0]
        given |= given.pop("options")
        assert {name: given[name] for name in options} == options
        assert (given["decay"], given.get("lags", 1)) == (0.5, 1)
        assert given["weights"] in ([3.0] * 5, (None, [3.0] * 5))


def test_a_typo_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "read_documents", recorder(read_documents))
    with pytest.raises(ValueError, match="chain must be one of full, sticky, independent"):
        HTMM(2, chain="stiky").fit(TEXTS)  # type: ignore[arg-type]
    for wrong in ({"refine": -1}, {"tol": -1.0}, {"seed_words": [["unheard"]]}, {"max_iter": 0}):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(recipe, "count_documents", recorder(count_documents))
            with pytest.raises(ValueError):
                htmm(read_documents(TEXTS), 2, **wrong)


def test_fitted_attributes(topics: HTMM, sample: TopicSample) -> None:
    assert topics.components_.shape == (4, 120)
    rows_are_distributions(topics.components_)
    rows_are_distributions(topics.topic_prevalence_)
    rows_are_distributions(topics.topic_transitions_)
    assert topics.topic_transitions_.shape == (4, 4)
    assert topics.vocabulary_ == sample.documents.vocabulary
    assert topics.documents_ == sample.documents
    assert 0 < topics.switch_ < 1
    assert topics.n_iter_ == topics.fit_.n_iter > 1
    assert isinstance(topics.converged_, bool)
    assert error(topics.components_, sample.components) < 0.1
    assert list(topics.get_feature_names_out()) == ["htmm0", "htmm1", "htmm2", "htmm3"]


@pytest.mark.filterwarnings("ignore:topics were still changing")
def test_it_hands_on_what_it_is_given(sample: TopicSample) -> None:
    given = {"lags": (1, 3), "refine": 2, "max_iter": 7, "tol": 0.5, "n_init": 3, "random_state": 3}
    found = HTMM(5, **given).fit(sample.documents).fit_
    wanted = htmm(sample.documents, 5, **given)
    np.testing.assert_array_equal(found.components, wanted.components)
    assert len(found.passes) == 2
    assert found.starts == wanted.starts
    assert len(found.starts) == 3


def test_passes_that_run_out_are_warned_of(sample: TopicSample) -> None:
    documents = sample.documents
    with pytest.warns(ConvergenceWarning, match="still changing after 7 passes .* raise max_iter"):
        short = HTMM(4, max_iter=6, random_state=0).fit(documents)
    assert not short.converged_
    assert HTMM(4, random_state=0).fit(documents).converged_
    with pytest.warns(ConvergenceWarning, match="still changing"):
        HTMM(4, random_state=0).fit(documents).set_params(max_iter=1).partial_fit(documents)


def test_parameters_survive_cloning() -> None:
    model = HTMM(7, lags=(1, 2), chain="full", min_df=2, stop_words="english", random_state=1)
    other = clone(model)
    assert other.get_params() == model.get_params()
    assert other.set_params(refine=0).refine == 0
    assert clone(HTMM()).get_params() == HTMM().get_params()


def test_text_becomes_words(tmp_path: Path) -> None:
    given = {"stop_words": ["barrel"], "min_df": 2, "random_state": 0}
    found = HTMM(2, **given).fit(TEXTS)
    assert found.vocabulary_ == ("corn", "gas", "grain", "oil", "wheat")
    halves = {frozenset(words[:2]) for words in found.top_words(2)}
    assert {"oil", "gas"} in halves
    same = HTMM(2, **given).fit(iter([text.split() for text in TEXTS]))
    np.testing.assert_array_equal(same.components_, found.components_)
    (tmp_path / "news.txt").write_text("\n".join(TEXTS))
    read = HTMM(2, **given).fit(tmp_path / "news.txt")
    np.testing.assert_array_equal(read.components_, found.components_)
    shouted = HTMM(2, analyzer=lambda text: text.upper().split(), random_state=0).fit(TEXTS)
    assert "OIL" in shouted.vocabulary_
    known = HTMM(2, vocabulary=["wheat", "oil", "corn", "gas"], random_state=0).fit(TEXTS)
    assert known.vocabulary_ == ("wheat", "oil", "corn", "gas")


def test_shares(topics: HTMM, sample: TopicSample) -> None:
    shares = topics.transform(sample.documents)
    assert shares.shape == (600, 4)
    rows_are_distributions(shares)
    close(shares, topics.fit_.infer(sample.documents).shares)
    # They are near those that the words were drawn with.
    true = np.zeros((600, 4))
    np.add.at(true, (np.repeat(np.arange(600), sample.documents.lengths), sample.topics), 1)
    true /= true.sum(axis=1, keepdims=True)
    assert max(np.corrcoef(shares[:, 0], true[:, k])[0, 1] for k in range(4)) > 0.95


def test_fit_transform_reads_an_iterator_once() -> None:
    model = HTMM(2, random_state=0)
    shares = model.fit_transform(iter(TEXTS))
    close(shares, model.transform(TEXTS))
    assert shares.shape == (30, 2)


def test_a_document_without_known_words_has_a_row() -> None:
    model = HTMM(2, random_state=0).fit(TEXTS)
    with pytest.warns(TextWarning, match="2 of 3 documents have no word that is kept"):
        shares = model.transform(["nothing known", "oil gas oil", ""])
    assert shares.shape == (3, 2)
    close(shares[0], model.fit_.prior / model.fit_.prior.sum())
    assert shares[1].max() > 0.9
    with pytest.warns(TextWarning):
        assert model.segment(["unheard of"])[0].runs == []


def test_segments() -> None:
    model = HTMM(2, random_state=0).fit(TEXTS)
    (found,) = model.segment(["oil gas xyz oil barrel gas wheat corn grain wheat corn"])
    assert found.words == [
        "oil",
        "gas",
        "oil",
        "barrel",
        "gas",
        "wheat",
        "corn",
        "grain",
        "wheat",
        "corn",
    ]
    assert [(a, b) for a, b, _ in found.runs] == [(0, 4), (5, 9)]
    assert found.posteriors is None
    (found,) = model.segment(["oil gas wheat"], posteriors=True)
    assert found.posteriors.shape == (3, 2)


def test_scores(topics: HTMM, sample: TopicSample) -> None:
    documents = sample.documents
    close(topics.perplexity(documents), np.exp(-topics.score(documents) / documents.n_words))
    for method in ("words", "completion", "training"):
        wanted = perplexity(topics.fit_, documents, method=method)  # type: ignore[arg-type]
        close(topics.perplexity(documents, method=method), wanted)
    each = coherence(topics.fit_, documents, "npmi")
    close(topics.coherence("npmi"), each.mean())
    close(topics.coherence("npmi", by_topic=True), each)
    close(topics.coherence("paper", top=5), coherence(topics.fit_, documents, top=5).mean())
    half = documents.select(np.arange(300))
    close(
        topics.coherence("umass", half, top=10),
        coherence(topics.fit_, half, "umass", top=10).mean(),
    )


def test_the_chain_decides_how_documents_are_read(topics: HTMM, sample: TopicSample) -> None:
    found = {}
    for chain in ("full", "sticky", "independent"):
        model = clone(topics).set_params(chain=chain)
        model.fit_ = topics.fit_
        found[chain] = model.perplexity(sample.documents)
        wanted = perplexity(topics.fit_, sample.documents, chain=chain)  # type: ignore[arg-type]
        close(found[chain], wanted)
    assert found["sticky"] < found["full"] < found["independent"]


def test_weights(sample: TopicSample) -> None:
    documents = sample.documents
    weights = np.arange(600) < 300
    part = HTMM(4, random_state=0).fit(documents.select(np.arange(300)))
    weighed = HTMM(4, random_state=0).fit(documents, sample_weight=weights)
    close(part.components_, weighed.components_, 1e-3)
    shares = HTMM(4, random_state=0).fit_transform(documents, sample_weight=weights)
    np.testing.assert_array_equal(shares, weighed.transform(documents))


def test_learning_on(sample: TopicSample) -> None:
    documents = sample.documents
    first, second = (documents.select(np.arange(a, a + 300)) for a in (0, 300))
    model = HTMM(4, random_state=0).partial_fit(first)
    before = error(model.components_, sample.components)
    model.partial_fit(second)
    assert len(model.documents_) == 600
    for lag in range(1, 6):
        np.testing.assert_array_equal(model.counts_[lag], count_documents(documents, lag)[lag])
    assert error(model.components_, sample.components) < before
    whole = HTMM(4, random_state=0).fit(documents)
    assert error(model.components_, whole.components_) < 0.02


def test_new_words_are_admitted_unless_the_vocabulary_was_given() -> None:
    new = ["oil gas platinum oil", "corn wheat"]
    model = HTMM(2, random_state=0).partial_fit(TEXTS)
    before = model.vocabulary_
    model.partial_fit(new, sample_weight=[2.0, 1.0])
    assert model.vocabulary_ == tuple(sorted({*before, "platinum"}))
    assert len(model.documents_) == len(TEXTS) + 2
    word = model.vocabulary_.index("platinum")
    oil = model.vocabulary_.index("oil")
    assert model.components_[:, word].argmax() == model.components_[:, oil].argmax()
    assert model.components_[:, word].max() > 1e-3
    whole = HTMM(2, random_state=0, vocabulary=model.vocabulary_).fit([*TEXTS, *new])
    assert error(model.components_, whole.components_) < 0.1
    fixed = HTMM(2, random_state=0, vocabulary=before).partial_fit(TEXTS)
    assert fixed.partial_fit(new).vocabulary_ == before


def test_the_past_is_forgotten() -> None:
    early, late = ["oil gas oil gas"] * 30, ["oil tar oil tar"] * 30
    kept = HTMM(1, random_state=0).partial_fit(early).partial_fit(late)
    forgot = HTMM(1, random_state=0).partial_fit(early).partial_fit(late, decay=0.1)
    gas, tar = (kept.vocabulary_.index(word) for word in ("gas", "tar"))
    assert kept.components_[0, gas] == pytest.approx(kept.components_[0, tar], rel=1e-3)
    assert forgot.components_[0, gas] == pytest.approx(0.1 * forgot.components_[0, tar], rel=0.01)
    weights = np.repeat([0.1, 1.0], 30)
    weighed = HTMM(1, random_state=0).fit([*early, *late], sample_weight=weights)
    np.testing.assert_allclose(forgot.components_, weighed.components_, atol=1e-6)
    for wrong in (0, 1.5, -1, float("nan"), "x", True):
        with pytest.raises(ValueError, match="decay must be a number above 0 and up to 1"):
            kept.partial_fit(late, decay=wrong)  # type: ignore[arg-type]


def test_the_first_call_alone_compares_starts(sample: TopicSample) -> None:
    first, second = (sample.documents.select(np.arange(a, a + 300)) for a in (0, 300))
    model = HTMM(4, n_init=3, random_state=0).partial_fit(first)
    assert model.fit_.starts == HTMM(4, n_init=3, random_state=0).fit(first).fit_.starts
    assert len(model.fit_.starts) == 3
    model.partial_fit(second)
    assert model.fit_.starts == (model.fit_.history[-1].objective,)


def test_the_same_seed_with_any_number_of_threads(sample: TopicSample) -> None:
    found = []
    for n in (1, 2):
        with threads(n):
            found.append(HTMM(4, random_state=5).fit_transform(sample.documents))
    np.testing.assert_array_equal(*found)


def test_files(topics: HTMM, sample: TopicSample, tmp_path: Path) -> None:
    path = tmp_path / "topics.cohmm"
    topics.save(path)
    read = HTMM.load(path)
    assert read.fit_.starts == topics.fit_.starts != ()
    np.testing.assert_array_equal(read.components_, topics.components_)
    np.testing.assert_array_equal(
        read.transform(sample.documents), topics.transform(sample.documents)
    )
    assert read.fit_.history == topics.fit_.history
    assert read.fit_.passes == topics.fit_.passes
    assert read.get_params() == topics.get_params()
    with pytest.raises(ValueError, match=r"coherence needs the training documents.*give documents"):
        read.coherence()
    assert read.coherence("npmi", sample.documents) == topics.coherence("npmi")
    with pytest.raises(ValueError, match="partial_fit needs the training documents"):
        read.partial_fit(sample.documents)


def test_parameters_in_files(tmp_path: Path) -> None:
    path = tmp_path / "topics.cohmm"
    model = HTMM(
        np.int64(2), stop_words={"gold", "and"}, random_state=np.random.RandomState(0), min_df=0.01
    ).fit(TEXTS)
    model.save(path)
    read = HTMM.load(path)
    assert (read.n_components, read.random_state, read.min_df) == (2, None, 0.01)
    assert read.stop_words == ["and", "gold"]
    model = HTMM(2, analyzer=str.split).fit(TEXTS)
    with pytest.raises(ValueError, match=r"analyzer=.* is a function, which a file cannot hold"):
        model.save(path)
    header, arrays = storage.load(path, KIND)
    header["parameters"]["speed"] = 9
    storage.save(path, KIND, header, arrays)
    with pytest.raises(StorageError, match=r"topics\.cohmm is damaged: .* no parameter 'speed'"):
        HTMM.load(path)
    sample_htmm(2, n_components=2, n_words=9).documents.save(path)
    with pytest.raises(StorageError, match="holds a documents, not a topic model"):
        HTMM.load(path)


def test_in_a_pipeline() -> None:
    from sklearn.linear_model import LogisticRegression

    about_oil = [int(text.startswith(("oil", "gas"))) for text in TEXTS]
    model = make_pipeline(HTMM(2, random_state=0), LogisticRegression()).fit(TEXTS, about_oil)
    assert model.score(TEXTS, about_oil) > 0.75


def test_verbose(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "cohmm"):
        HTMM(2, random_state=0, verbose=True).fit(TEXTS)
    assert caplog.text.count("pass") > 2


def test_bad_input(sample: TopicSample) -> None:
    with pytest.raises(NotFittedError):
        HTMM().transform(TEXTS)
    with pytest.raises(NotFittedError):
        HTMM().components_  # noqa: B018
    with pytest.raises(ValueError, match=r"n_components=50 topics .* from pairs of 6 words"):
        HTMM(50).fit(TEXTS)
    with pytest.raises(ValueError, match="no pair of words"):
        HTMM(2).fit(["oil", "gas", "wheat"])
    with pytest.raises(ValueError, match=r"chain must be one of .*, not 'loose'"):
        HTMM(2, chain="loose").fit(TEXTS)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one string is not a list of documents"):
        HTMM(2).fit("oil gas oil")
    with pytest.raises(ValueError, match="min_df"):
        HTMM(2, min_df=100).fit(TEXTS)
    with pytest.raises(ValueError, match="there is no document"):
        HTMM(2).fit([])
    with pytest.raises(ValueError, match="no known word"), pytest.warns(TextWarning):
        HTMM(2, random_state=0).fit(TEXTS).perplexity(["unheard of"])
    with pytest.raises(ValueError, match="one number per document"):
        HTMM(2).fit(TEXTS, sample_weight=[1.0, 2.0])
    with pytest.raises(ValueError, match=r"the weight of document 3 is -1\.0"):
        HTMM(2).fit(TEXTS, sample_weight=[1.0] * 3 + [-1.0] + [1.0] * 26)


def test_one_document_is_worth_a_warning() -> None:
    with pytest.warns(TextWarning, match="there is one document"):
        model = HTMM(2, random_state=0).fit([" ".join(TEXTS)])
    assert model.transform(TEXTS).shape == (30, 2)


def test_public_names() -> None:
    assert cohmm.HTMM is HTMM
    assert cohmm.Documents is Documents
    assert cohmm.read_documents is read_documents
    assert {"HTMM", "Documents", "read_documents", "TextWarning"} <= set(cohmm.__all__)


def test_report_writes_a_page(tmp_path: Path) -> None:
    documents = sample_htmm(40, n_components=2, n_words=30, random_state=0).documents
    model = HTMM(2, random_state=0).fit(documents)
    model.report(tmp_path / "report.html", documents, title="A title of its own")
    page = (tmp_path / "report.html").read_text()
    assert "A title of its own" in page
    assert documents.vocabulary[0] in page


def test_scikit_learns_checks() -> None:
    """Only the checks that need no matrix of numbers: documents are text, and the tags say so."""
    from sklearn.exceptions import SkipTestWarning
    from sklearn.utils.estimator_checks import check_estimator

    with pytest.warns(SkipTestWarning, match="requires input"):
        results = check_estimator(HTMM(random_state=0), on_skip=None)
    assert {result["status"] for result in results} == {"passed"}
    tags = HTMM().__sklearn_tags__().input_tags
    assert (tags.string, tags.two_d_array) == (True, False)


# -- topics renamed, merged and dropped ---------------------------------------------------------


@pytest.fixture(scope="module")
def commodities() -> HTMM:
    return HTMM(3, lags=1, random_state=0).fit(COMMODITIES)


def test_the_old_model_stays_as_it_was(commodities: HTMM) -> None:
    fit, shares = commodities.fit_, commodities.transform(COMMODITIES)
    named = commodities.rename({0: "energy", 2: "metals"})
    merged = named.merge([[0, 2]])
    dropped = named.drop(["metals"])
    assert commodities.fit_ is fit
    assert (commodities.labels_, commodities.n_components) == ((None,) * 3, 3)
    np.testing.assert_array_equal(commodities.transform(COMMODITIES), shares)
    assert named.labels_ == ("energy", None, "metals")
    assert (merged.labels_, merged.n_components) == (("energy / metals", None), 2)
    assert (dropped.labels_, dropped.n_components) == (("energy", None), 2)
    summed = np.column_stack([shares[:, [0, 2]].sum(axis=1), shares[:, 1]])
    close(merged.transform(COMMODITIES), summed, 1e-3)
    for model in (named, merged, dropped):
        assert isinstance(model, HTMM)
        assert isinstance(model.fit_, TopicFit)
        assert model.documents_ is commodities.documents_
        assert model.counts_ is commodities.counts_
        assert np.isfinite(model.coherence("npmi", top=3))
        assert model.perplexity(COMMODITIES) > 0
    with pytest.raises(NotFittedError):
        HTMM().merge([[0, 1]])
    with pytest.raises(ValueError, match="there is no topic 3"):
        commodities.drop(3)


def test_labels_that_a_reader_saved(commodities: HTMM, tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    saved = {"model": model_key(commodities.components_), "labels": {"1": "grain"}}
    path.write_text(json.dumps(saved))
    assert commodities.rename(path).labels_ == (None, "grain", None)
    assert commodities.rename(str(path)).rename({0: "oil"}).rename(path).labels_[:2] == (
        "oil",
        "grain",
    )
    with pytest.raises(ValueError, match="labels of another model"):
        commodities.drop(2).rename(path)
    with pytest.raises(ValueError, match="there is no file grain"):
        commodities.rename("grain")


def test_settings_are_not_shared(commodities: HTMM) -> None:
    first = commodities.rename({}).set_output(transform="default")
    first.rename({0: "oil"}).set_output(transform="pandas")
    assert isinstance(first.transform(COMMODITIES), np.ndarray)


def test_learning_on_keeps_the_labels(commodities: HTMM) -> None:
    named = commodities.rename({0: "energy", 2: "metals"})
    named.partial_fit(["gold ore silver gold"] * 40)
    assert sorted(named.labels_, key=str) == [None, "energy", "metals"]
    top = dict(zip(named.labels_, named.top_words(1), strict=True))
    assert (top["energy"], top["metals"]) == (["oil"], ["gold"])
    assert named.labels_[0] == "metals"  # the most frequent by now
    merged = commodities.merge([[0, 1]]).partial_fit(["oil gas"])
    assert merged.components_.shape == (2, 6)


def test_labels_are_kept_in_files(commodities: HTMM, tmp_path: Path) -> None:
    path = tmp_path / "topics.cohmm"
    commodities.rename({1: "Getreide \N{WHEEL OF DHARMA}"}).save(path)
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
