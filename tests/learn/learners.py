"""Every learner, found by itself, with evidence that suits it: what `test_contract` runs on."""

from __future__ import annotations

import inspect
import pkgutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

import cohmm.learn
from cohmm import HMM, Cooccurrence, Sequences, Triples, count_pairs, count_triples
from cohmm.data.documents import Documents
from cohmm.datasets.synthetic import random_hmm
from cohmm.datasets.synthetic_topics import sample_htmm
from cohmm.evidence.windows import Windows, count_windows
from cohmm.learn.learner import Fit, Progress, learner
from cohmm.learn.topics.topic_fit import TopicFit

KINDS = (Cooccurrence, Triples, Windows, Sequences, Documents)
K = 3


@dataclass(frozen=True, eq=False)
class Case:
    """A learner with one kind of evidence that it takes."""

    name: str
    learner: Callable[..., Any]
    kind: type
    takes_model: bool
    hints: Mapping[str, Any]
    """The type of every option: all that is neither the evidence nor the model to begin at."""

    def __str__(self) -> str:
        return f"{self.name}-{self.kind.__name__}"

    def __call__(self, evidence: Any = None, *, model: HMM | None = None, **options: Any) -> Any:
        """A fit, short and from one start unless ``options`` say otherwise."""
        usual = {"n_components": K, "random_state": 0, "max_iter": 30, "n_init": 1, "n_pencils": 1}
        options = {name: v for name, v in usual.items() if name in self.hints} | options
        given = [evidence_of(self.kind) if evidence is None else evidence]
        if self.takes_model:
            given.insert(0, start_of(self.kind) if model is None else model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cohmm.EvidenceWarning)
            return self.learner(*given, **options)

    @property
    def starts_at(self) -> str | None:
        """What the model that it begins at is called."""
        return "model" if self.takes_model else "start" if "start" in self.hints else None


def cases() -> list[Case]:
    """All learners of `cohmm.learn`, with every kind of evidence that they take."""
    return [
        case for name in cohmm.learn.__all__ for case in _cases(name, getattr(cohmm.learn, name))
    ]


def learners_in_files() -> set[str]:
    """Functions that are marked as learners, and learn states or improve on those of a model."""
    names = set()
    for info in pkgutil.walk_packages(cohmm.learn.__path__, "cohmm.learn."):
        for name, function in vars(import_module(info.name)).items():
            if not hasattr(function, "__wrapped__") or function.__module__ != info.name:
                continue
            if function.__code__.co_filename != inspect.getsourcefile(learner):
                continue  # decorated by another
            result = get_type_hints(function)["return"]
            assert issubclass(result, (Fit, TopicFit))
            if {"n_components", "model"} & inspect.signature(function).parameters.keys():
                names.add(name)
    return names


def _cases(name: str, learner: Callable[..., Any]) -> Iterator[Case]:
    hints = get_type_hints(learner)
    names = list(inspect.signature(learner).parameters)
    takes_model = hints[names[0]] is HMM
    evidence = names[int(takes_model)]
    # `X: Any` is what `Sequences.of` reads.
    annotation = Sequences if (evidence, hints[evidence]) == ("X", Any) else hints[evidence]
    options = {name: hints[name] for name in names if name not in (evidence, "model")}
    for kind in KINDS:
        if kind is annotation or kind in get_args(annotation):
            yield Case(name, learner, kind, takes_model, options)


def values_of(hint: Any) -> tuple[Any, ...]:
    """What a `Literal` allows, also where it is one of several types."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return tuple(value for part in get_args(hint) for value in values_of(part))


def is_of(hint: Any, kind: type) -> bool:
    """Whether ``kind`` is the type, or one of several."""
    return hint is kind or kind in get_args(hint)


def is_function(hint: Any) -> bool:
    """Whether it is a function, or may be one."""
    return get_origin(hint) is Callable or any(is_function(part) for part in get_args(hint))


# -- evidence -------------------------------------------------------------------------------


@cache
def truth_of(kind: type) -> HMM:
    """The model that data of this kind is drawn from; windows are long, so of few symbols."""
    if kind is Windows:
        return random_hmm(4, K, zeros=0.3, stay=0.4, random_state=0)
    if kind is Documents:
        topics = np.random.default_rng(5).dirichlet(np.full(60, 0.15), K)
        return HMM(np.full(K, 1 / K), np.full((K, K), 1 / K), topics)
    return random_hmm(12, K, stay=0.4, random_state=0)


@cache
def start_of(kind: type) -> HMM:
    """Somewhere near the truth, with nothing impossible."""
    truth = truth_of(kind)
    rng = np.random.default_rng(3)
    k, n = truth.emissionprob.shape
    return HMM(
        np.full(k, 1 / k),
        0.6 * truth.transmat + 0.4 * rng.dirichlet(np.ones(k), k),
        0.6 * truth.emissionprob + 0.4 * rng.dirichlet(np.ones(n), k),
    )


@cache
def evidence_of(kind: type, seed: int = 1, order: tuple[int, ...] | None = None) -> Any:
    """Evidence of ``kind``; with an ``order``, symbol i is what order[i] was."""
    truth = truth_of(kind)
    code = np.argsort(order) if order else np.arange(truth.n_symbols)
    if kind is Documents:
        sample = sample_htmm(
            200, length=40, switch=0.2, components=truth.emissionprob, random_state=seed
        )
        words = np.array([f"w{word:02}" for word in range(truth.n_symbols)])
        return Documents(
            code[sample.documents.symbols].astype(np.int32),
            sample.documents.offsets,
            tuple(words[list(order)] if order else words),
        )
    y = code[truth.sample(5000 if kind is Windows else 20_000, random_state=seed)[0]]
    data = Sequences.of(y.astype(np.int32), n_symbols=truth.n_symbols)
    return {
        Sequences: lambda: data,
        Cooccurrence: lambda: count_pairs(data, lags=(1, 2, 3)),
        Triples: lambda: count_triples(data),
        Windows: lambda: count_windows(data),
    }[kind]()


def as_sparse(counts: Cooccurrence) -> Cooccurrence:
    """The same counts in CSR arrays, over which the work is shared."""
    matrices = {lag: sparse.csr_array(counts[lag]) for lag in counts.lags}
    return Cooccurrence(matrices, counts.symbol_counts, counts.start_counts, counts.vocabulary)


# -- results --------------------------------------------------------------------------------


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """All that a result says, and where, but for how long it took."""
    if isinstance(value, KINDS):
        named = None
    elif is_dataclass(value):
        named = {field.name: getattr(value, field.name) for field in fields(value)}
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        named = value._asdict()
    elif isinstance(value, dict):
        named = {str(key): part for key, part in value.items()}
    elif isinstance(value, tuple) and not all(isinstance(part, str) for part in value):
        named = {str(i): part for i, part in enumerate(value)}
    else:
        named = None
    if named is None:
        yield path, value
        return
    for name, part in named.items():
        if name != "seconds":
            yield from numbers(part, f"{path}.{name}" if path else name)


def differences(one: Any, other: Any) -> list[str]:
    """Where two results are not the same, bit for bit."""
    left, right = dict(numbers(one)), dict(numbers(other))
    missing = sorted(left.keys() ^ right.keys())
    return missing + [
        path for path in left.keys() & right.keys() if not _same(left[path], right[path])
    ]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)


def histories(result: Any) -> list[tuple[Progress, ...]]:
    """Every record of iterations in a result, and in the results that it is made of."""
    if isinstance(result, tuple) and result and isinstance(result[0], Progress):
        return [result]
    if not is_dataclass(result) or isinstance(result, KINDS):
        return []
    found: list[tuple[Progress, ...]] = []
    for field in fields(result):
        for history in histories(getattr(result, field.name)):
            if history not in found:
                found.append(history)
    return found


def tables(fit: Any) -> tuple[np.ndarray, np.ndarray]:
    """Emissions (K, N) and transitions (K, K); of topics without a chain their prevalence."""
    if isinstance(fit, Fit):
        return fit.model.emissionprob, fit.model.transmat
    return fit.components, fit.transitions


def apart(fit: Any, other: Any, order: Any = None) -> float:
    """Most total variation between rows of two fits, states matched; columns by ``order``."""
    (emission, transmat), (emissions, transmats) = tables(fit), tables(other)
    if order is not None:
        emission = emission[:, list(order)]
    cost = cdist(emission, emissions, "cityblock")
    _, states = linear_sum_assignment(cost)
    moved = np.abs(emission - emissions[states]).sum(axis=1).max()
    turned = np.abs(transmat - transmats[np.ix_(states, states)]).sum(axis=1).max()
    return float(max(moved, turned) / 2)
