"""What every learner keeps to, however it learns.

Learners are found in `cohmm.learn`, their evidence by the annotation of their first parameter and
their options by the signature (see `tests.learn.learners`): a new one is held to all of this by
its line in ``learn/__init__.py``.  What a learner cannot keep is in a table with the reason.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import cohmm.learn
from cohmm import HMM, Cooccurrence, Sequences, Triples, count_pairs, threads
from cohmm.data.documents import Documents
from cohmm.evidence.counting import count_documents
from cohmm.evidence.windows import Windows
from cohmm.kernels import blocks
from cohmm.kernels import threads as threading
from cohmm.learn.constraints import Constraints, PseudoCounts
from cohmm.learn.refinement import Past
from cohmm.learn.sequences import multistart as starts
from tests.laws import rows_are_distributions
from tests.learn.learners import (
    KINDS,
    Case,
    K,
    apart,
    as_sparse,
    cases,
    differences,
    evidence_of,
    histories,
    is_function,
    is_of,
    learners_in_files,
    start_of,
    tables,
    truth_of,
    values_of,
)

CASES = cases()
each_learner = pytest.mark.parametrize("case", CASES, ids=str)
each_option = pytest.mark.parametrize(
    ("case", "option"), [(case, name) for case in CASES for name in case.hints], ids=str
)

NO_OBJECTIVE = {
    "anchor_words": "the share of words whose mixture did not converge",
    "lda": "what another package says of its sampler or its bound",
}
NO_STOP_RULE = {"lda": "all sweeps are made"}
FIRST_STEP = {"pairwise": "pairs"}  # of a recipe, which max_iter and tol are about
ONE_THREAD = {
    "grouped": "dense products of small arrays alone",
    "overcomplete": "dense products of small arrays alone",
    "lda": "threads are the other package's, one unless asked",
}
PRECISION = 2e-4  # total variation: what stop rules leave over
CHANCE = {  # instead, where the order of the symbols decides on a start that cannot be given
    "gruber": 0.01,
    "lda": 0.1,  # and on every draw of a sampler
}


@pytest.fixture(autouse=True)
def _short_races(monkeypatch: pytest.MonkeyPatch) -> None:
    """One race of starts with few moves, as there is one start of learners: all fits are short."""
    monkeypatch.setattr(starts, "RACES", 1)
    monkeypatch.setattr(starts, "MOVES", 1)


def test_every_learner_is_found() -> None:
    names = {case.name for case in CASES}
    assert names == set(cohmm.learn.__all__)
    assert names == learners_in_files()
    assert names >= {
        "anchor_words", "baum_welch", "cpd_em", "grouped", "gruber", "htmm", "lda", "min_volume",
        "nmf", "overcomplete", "plsa", "refine", "tensor", "window_ml",
    }  # fmt: skip
    assert {case.kind for case in CASES} == set(KINDS)
    for table in (NO_OBJECTIVE, NO_STOP_RULE, ONE_THREAD, CHANCE):
        assert names >= set(table)
    for name, step in FIRST_STEP.items():
        assert all(hasattr(usual(case), step) for case in CASES if case.name == name)


@cache
def usual(case: Case) -> Any:
    """A short fit with the options that `Case` has."""
    return case()


@cache
def settled(case: Case, order: tuple[int, ...] | None = None) -> Any:
    """A fit that goes on until nothing is left to gain, from a start that is near, if it may."""
    options: dict[str, Any] = {}
    if "tol" in case.hints:
        options |= {"tol": 1e-9}
    if "max_iter" in case.hints:
        options |= {"max_iter": 120}
    return case(evidence_of(case.kind, order=order), **options, **near(case, order=order))


def near(case: Case, order: Any = None, states: Any = None) -> dict[str, Any]:
    """The option that says where to start, symbols and states renumbered."""
    if case.starts_at is None:
        return {}
    start = start_of(case.kind)
    if order is not None:
        start = HMM(start.startprob, start.transmat, start.emissionprob[:, list(order)])
    if states is not None:
        start = start.with_states(states)
    if case.starts_at == "model" or is_of(case.hints["start"], HMM):
        return {case.starts_at: start}
    return {"start": start.emissionprob}


# -- results --------------------------------------------------------------------------------


@each_learner
def test_the_result_is_a_model_in_order(case: Case) -> None:
    fit = usual(case)
    for table in tables(fit):
        rows_are_distributions(table)
    shares = fit.prevalence if hasattr(fit, "prevalence") else fit.model.stationary()
    assert (np.diff(shares) <= 1e-9).all()
    assert tables(fit)[0].shape == truth_of(case.kind).emissionprob.shape


@each_learner
def test_threads_and_repetition_change_nothing(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = count_parts(monkeypatch)
    evidence = shared(case.kind, monkeypatch)
    fits = []
    for n in (1, 2, 4, 8, 3, 2):
        parts.clear()
        with threads(n), threadpool_limits(n, "blas"):
            fits.append(case(evidence, max_iter=6) if "max_iter" in case.hints else case(evidence))
    for other in fits[1:]:
        assert differences(fits[0], other) == []
    if case.name in ONE_THREAD:
        assert not parts
    else:
        assert parts
        alone = [
            place
            for place, most in parts.items()
            if most < 2 and not place.startswith("evidence/")  # counting has tests of its own
        ]
        assert not alone, "one part of work cannot show what threads do: give more evidence here"


def count_parts(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """The most parts that `run` was given, by who called it."""
    parts: dict[str, int] = {}
    run = threading.run

    def counted(task: Any, given: Any) -> Any:
        code = sys._getframe(1).f_code
        place = f"{code.co_filename.rpartition('cohmm/')[2]}:{code.co_qualname}"
        parts[place] = max(parts.get(place, 0), len(given))
        return run(task, given)

    for module in modules():
        for name, value in list(vars(module).items()):
            if value is run:
                monkeypatch.setattr(module, name, counted)
    return parts


def shared(kind: type, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Evidence whose work has several parts: sparse, and parts much smaller than usual."""
    for module in modules():
        if isinstance(getattr(module, "PART", None), int):
            monkeypatch.setattr(module, "PART", 20)
    monkeypatch.setattr(blocks, "LONG_BLOCK", 500)
    evidence = evidence_of(kind)
    if kind is Cooccurrence:
        return as_sparse(evidence)
    if kind is Documents:  # with so many words that their pairs are kept sparse
        copies = np.random.default_rng(0).integers(0, 20, len(evidence.symbols))
        v = len(evidence.vocabulary)
        symbols = (evidence.symbols + v * copies).astype(np.int32)
        words = tuple(f"{word}-{i}" for i in range(20) for word in evidence.vocabulary)
        return Documents(symbols, evidence.offsets, words)
    return evidence


def modules() -> list[Any]:
    return [module for name, module in sys.modules.items() if name.startswith("cohmm.")]


@each_learner
def test_symbols_may_be_relabelled(case: Case) -> None:
    order = tuple(np.random.default_rng(0).permutation(truth_of(case.kind).n_symbols).tolist())
    fit, other = settled(case), settled(case, order)
    assert apart(fit, other, order) < CHANCE.get(case.name, PRECISION)
    assert apart(fit, other) > 0.1  # it is another model unless the symbols are put back


@pytest.mark.parametrize("case", [case for case in CASES if case.starts_at], ids=str)
def test_states_of_a_start_may_be_relabelled(case: Case) -> None:
    options = {"max_iter": 10}
    fit = case(**near(case), **options)
    other = case(**near(case, states=[2, 0, 1]), **options)
    assert apart(fit, other) < PRECISION
    assert apart(fit, usual(case)) > 0


# -- history --------------------------------------------------------------------------------


@each_learner
def test_the_objective_never_rises(case: Case) -> None:
    for fit in (usual(case), settled(case)):
        objectives = [step.objective for step in fit.history]
        assert np.isfinite(objectives).all()
        if case.name not in NO_OBJECTIVE:
            assert len(objectives) > 2
            assert all(after <= before for before, after in pairwise(objectives))
            assert objectives[-1] < objectives[0]


def without_stage(step: Any) -> Any:
    """A step as histories have it: of which stage it is, a callback alone is told."""
    return step._replace(stage="", max_iter=None)


@each_learner
def test_the_history_is_complete(case: Case) -> None:
    told: list[Any] = []
    fit = case(callback=lambda step: told.append(without_stage(step)))
    assert differences(fit, usual(case)) == []  # whoever listens changes nothing
    assert fit.history
    assert fit.history[0].n_iter >= 1
    records = histories(fit)  # of a recipe, those of its steps among them
    assert sorted(told) == sorted(step for history in records for step in history)
    for history in records:
        first = told.index(history[0])
        assert tuple(told[first : first + len(history)]) == history
        assert all(after.n_iter > before.n_iter for before, after in pairwise(history))
        assert all(after.seconds >= before.seconds >= 0 for before, after in pairwise(history))
    last = fit.history[-1]
    for name in ("n_iter", "objective", "divergence"):
        assert getattr(fit, name, getattr(last, name)) == getattr(last, name)


@each_learner
def test_iterations_are_limited_and_running_out_is_told(case: Case) -> None:
    if case.name in NO_STOP_RULE:
        assert usual(case).converged is None
        return
    assert limited(case, tol=1e6).converged is True
    assert limited(case, max_iter=1).converged is False
    for most in (1, 2, 5):
        assert len(limited(case, max_iter=most).history) <= most + 1  # one may be the start


def limited(case: Case, **options: Any) -> Any:
    """The fit that ``max_iter`` and ``tol`` are about."""
    fit = case(**options)
    return getattr(fit, FIRST_STEP[case.name]) if case.name in FIRST_STEP else fit


@pytest.mark.parametrize(
    "case", [case for case in CASES if {"n_init", "n_pencils"} & case.hints.keys()], ids=str
)
def test_the_history_is_that_of_the_best_start(case: Case) -> None:
    told: list[Any] = []
    name = "n_init" if "n_init" in case.hints else "n_pencils"
    fit = case(callback=lambda step: told.append(without_stage(step)), **{name: 3})
    first = told.index(fit.history[0])
    assert tuple(told[first : first + len(fit.history)]) == fit.history


# -- options --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "option"), sorted({(case.name, option) for case in CASES for option in case.hints})
)
@pytest.mark.filterwarnings("ignore:.*workers.*:RuntimeWarning")  # tomotopy's, of chance
def test_every_option_changes_something(name: str, option: str) -> None:
    assert any(is_felt(case, option) for case in CASES if case.name == name), (
        f"{option} changes nothing: say in other_values which value would, or take it away"
    )


def is_felt(case: Case, option: str) -> bool:
    context = {"n_init": 3, "n_dimensions": 5} if option == "random_state" else {}  # chance decides
    context = {name: value for name, value in context.items() if name in case.hints}
    evidence = evidence_for(case, option)
    before = case(evidence, **context)
    told: list[Any] = []
    return any(
        differences(before, case(evidence, **context | {option: value})) or told
        for value in other_values(case, option, told)
    )


def evidence_for(case: Case, option: str) -> Any:
    """The evidence; codes alone where their lengths are an option."""
    evidence = evidence_of(case.kind)
    return evidence.symbols if option == "lengths" else evidence


def other_values(case: Case, option: str, told: list[Any]) -> Iterator[Any]:
    """Values of an option that are not its default, those first that are likely to be felt."""
    hint, n = case.hints[option], len(getattr(evidence_of(case.kind), "offsets", [0])) - 1
    special = {
        "counts": [count_documents(evidence_of(Documents, 2), (1,))],
        "lags": [(1,), (2,)],
        "lengths": [[12_000, 8_000]],
        "n_components": [2],
        "start": near(case).values(),
        "triples": [evidence_of(Triples, 2)],
        "volume": ["none"],
        "weights": []
        if case.kind is Cooccurrence
        else [np.linspace(0.5, 1, n) if n > 1 else [2.0]],
        "constraints": [Constraints(transmat=start_of(case.kind).transmat)],
        "past": [
            Past(
                evidence_of(Cooccurrence)
                if case.kind is Cooccurrence
                else count_pairs(evidence_of(Sequences)),
                start_of(case.kind),
            )
        ],
        "states": [np.where(np.arange(20_000) % 10, -1, np.arange(20_000) % K)],
        "learned": ["te"],
        "seed_words": [[evidence_of(Documents).vocabulary[-3:]]],
        "prior": [PseudoCounts(1.0, 1.0, 1.0)],
    }
    if option in special:
        yield from special[option]
        return
    default = inspect.signature(case.learner).parameters[option].default
    if is_function(hint):

        def listen(*of: Any) -> Any:
            told.append(of)
            return nullcontext(told.append)

        yield listen
    yield from (value for value in values_of(hint) if value != default)
    if is_of(hint, bool):
        yield not default
    if is_of(hint, int):
        yield from (7, 2, 1, 60)
    if is_of(hint, float):
        yield from (0.0, 1.0, 1e6)
    if hasattr(hint, "_fields"):
        yield hint(*[1.0] * len(hint._fields))


@each_option
def test_bad_values_are_named(case: Case, option: str) -> None:
    bad = list(bad_values(case, option))
    assert bad, f"say in bad_values what {option} cannot be"
    for value, words in bad:
        with pytest.raises(ValueError) as caught:
            case(evidence_for(case, option), **{option: value})
        for word in (option.removesuffix("s"), *words):  # one of several lags is a lag
            assert word in str(caught.value), f"{option}={value!r}"


def bad_values(case: Case, option: str) -> Iterator[tuple[Any, list[str]]]:
    """What an option cannot be, and what the complaint must say beside its name."""
    hint = case.hints[option]
    other = HMM([1.0], [[1.0]], [[0.5, 0.5]])
    n = len(getattr(evidence_of(case.kind), "offsets", [0])) - 1
    special: dict[str, list[tuple[Any, list[str]]]] = {
        "counts": [(evidence_of(Cooccurrence), ["12", "60"]), ("pairs", ["'pairs'"])],
        "lags": [((), ["empty"]), ((0,), ["0"]), ((99_999,), ["99999"]), (("x",), ["x"])],
        "lengths": [([3, 4], ["7", "20,000"]), ([-1, 20_001], ["-1"])],
        "triples": [(evidence_of(Triples, 2).__class__.from_probability(
            np.full((2, 2, 2), 1 / 8)), ["2 symbols"]), ("abc", ["'abc'"])],
        "volume": [("area", ["'area'"]), (3.0, ["3.0"])],
        "weights": [("heavy", ["weights"])] if case.kind is Cooccurrence
        else [(np.ones(n + 1), [str(n + 1), str(n)]), (-np.ones(n), ["0"])],
        "constraints": [("much", ["'much'"])],
        "past": [("much", ["'much'"])],
        "states": [([0, 1], ["20000", "2"]), (np.full(20_000, K), [str(K), "position 0"])],
        "learned": [("x", ["'x'"]), (3, ["3"])],
        "seed_words": [("grain", ["'grain'"]), (7, ["7"])],
        "start": [(other, ["1 states"]), ("here", ["'here'"])]
        if is_of(hint, HMM)
        else [(np.ones((K, 1)), ["(3, 1)"]), (-np.ones((K, 60)), ["0"]), ("here", ["'here'"])],
    }  # fmt: skip
    if option in special:
        yield from special[option]
        return
    if option == "n_components":
        wrong = [0, -1, 2.5, True, "many"]
    elif option == "random_state":
        wrong = ["lucky", 1.5, -1, True]
    elif is_of(hint, int):
        wrong = [
            -1,
            1.5,
            True,
            "many",
            *([] if option == "refine" else [0]),
        ]  # passes: none will do
    elif is_of(hint, float):
        wrong = [-1.0, np.nan, np.inf, "much"]
    elif values_of(hint) or hint is bool:
        wrong = ["nonsense", 3]
    elif is_function(hint):
        wrong = ["print"]
    elif is_of(hint, PseudoCounts) and hint is not PseudoCounts:
        wrong = ["much"]
    elif hasattr(hint, "_fields"):
        yield from (
            (hint(**{name: value}), [f"{option}.{name}", repr(value)])
            for name in hint._fields
            for value in (-1.0, np.nan)
        )
        wrong = ["much"]
    else:
        wrong = []
    for value in wrong:
        yield value, [repr(value)]


GIVE = {
    Cooccurrence: "count_pairs",
    Triples: "count_triples",
    Windows: "count_windows",
    Sequences: "Sequences",
    Documents: "Documents",
}
COUNTS = (Cooccurrence, Triples, Windows)


@each_learner
def test_other_evidence_is_refused_with_what_to_give(case: Case) -> None:
    taken = {other.kind for other in CASES if other.name == case.name}
    others = {*COUNTS, *({Sequences} if case.kind is Documents else {})}  # documents are sequences
    if Windows in taken:  # triples are windows of three
        others -= {Triples}
    for kind in others - taken:
        with pytest.raises(ValueError) as caught:
            case(evidence_of(kind))
        message = str(caught.value)
        assert case.name in message
        assert kind.__name__ in message
        assert any(GIVE[kind] in message for kind in taken) or "give the data" in message
