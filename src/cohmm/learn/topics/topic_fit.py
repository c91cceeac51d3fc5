"""What a learner of topics returns, its file, and what all do at their beginning and end."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import Any, cast

import numpy as np
from scipy import sparse

from cohmm import storage
from cohmm._validation import is_whole
from cohmm.data.documents import Documents
from cohmm.evidence.cooccurrence import Cooccurrence, checked_lag
from cohmm.kernels.types import Floats
from cohmm.learn.learner import Progress, warn
from cohmm.model.topic_model import TopicLabels, TopicModel

PRIOR_PER_TOPIC = 0.1  # pseudo-counts

KIND = "topic model"  # of a file
COUNTS = "counts."  # before the names of their arrays
ARRAYS = ("components", "prevalence", "prior", "transitions")
HISTORIES = ("history", "passes")
FIGURES = 6  # numbers of a `Progress`, which are kept: without its stage and its limit


@dataclass(frozen=True)
class Choices:
    """What documents that were held back have chosen, and by what.

    Parameters
    ----------
    n_documents, n_words : int
        How much was held back.
    lags : dict
        How much the pairs of every lag count (`cohmm.learn.topics.topic_lags`).
    passes : int
        Passes over the documents.
    perplexities : tuple of float
        Of the documents held back, word by word, after one pass, two, and so on.
    errors : tuple of float
        Standard errors of the logarithms of these, beside the lowest.
    prior : float
        How many draws the prior of a document's topics is worth.
    by_prior : dict
        The perplexity by every number of draws that was compared.
    """

    n_documents: int
    n_words: int
    lags: dict[int, float]
    passes: int
    perplexities: tuple[float, ...]
    errors: tuple[float, ...]
    prior: float
    by_prior: dict[float, float]

    def as_json(self) -> dict[str, Any]:
        """As a file's header can hold it."""
        return {
            name: list(map(list, value.items())) if isinstance(value, dict) else value
            for name, value in asdict(self).items()
        }

    @classmethod
    def from_json(cls, content: Any) -> Choices | None:
        """What `as_json` gave; None where a file has none, as those of earlier versions."""
        if content is None:
            return None
        return cls(
            n_documents=int(content["n_documents"]),
            n_words=int(content["n_words"]),
            lags={int(lag): float(share) for lag, share in content["lags"]},
            passes=int(content["passes"]),
            perplexities=tuple(map(float, content["perplexities"])),
            errors=tuple(map(float, content["errors"])),
            prior=float(content["prior"]),
            by_prior={float(n): float(perplexity) for n, perplexity in content["by_prior"]},
        )


@dataclass(frozen=True, eq=False, repr=False)
class TopicFit(TopicModel):
    """Topics, and how they were learned: the same for every learner.

    Parameters
    ----------
    name : str
        Which learner it was.
    converged : bool or None
        Whether the stop rule was met before the iterations ran out; None: there is no such rule,
        as for a sampler.
    history : tuple of Progress
        Every iteration, as far as the learner says; of `cohmm.learn.htmm`, the passes over pairs.
    seconds : float
        Wall time.
    passes : tuple of Progress
        The passes over the documents; the objective is minus the log-likelihood per word.
    starts : tuple of float
        The objective of each start after a few passes over the pairs, the best of which was
        learned from; the last objective where there was one start.
    counts : Cooccurrence or None
        The pairs that the topics were learned from, where they were.
    choices : Choices or None
        What was chosen by documents that were held back, where something was.

    The others are those of `cohmm.model.topic_model.TopicModel`.

    >>> TopicFit([[.5, .5], [0, 1]], [.6, .4], [1., 1.], ("oil", "gold"), name="by hand")
    TopicFit(by hand: 2 topics, 2 words)
    """

    name: str
    converged: bool | None = None
    history: tuple[Progress, ...] = ()
    seconds: float = 0.0
    passes: tuple[Progress, ...] = field(default=(), kw_only=True)
    starts: tuple[float, ...] = field(default=(), kw_only=True)
    counts: Cooccurrence | None = field(default=None, kw_only=True)
    choices: Choices | None = field(default=None, kw_only=True)

    @property
    def n_iter(self) -> int:
        """Passes over the pairs."""
        return self.history[-1].n_iter if self.history else 0

    @property
    def n_document_passes(self) -> int:
        """Passes over the documents that made the topics: those tried beyond are in ``passes``."""
        return len(self.passes) if self.choices is None else self.choices.passes

    def __repr__(self) -> str:
        k, v = self.components.shape
        return f"TopicFit({self.name}: {k:,} topics, {v:,} words)"


def default_prior(prevalence: Floats) -> Floats:
    """max(1, K / 10) pseudo-counts, shared as the corpus shares its topics.

    >>> default_prior(np.array([.75, .25]))
    array([0.75, 0.25])
    """
    return np.asarray(max(1.0, PRIOR_PER_TOPIC * len(prevalence)) * prevalence)


def topic_fit(
    components: Floats,
    prevalence: Floats,
    vocabulary: tuple[Any, ...],
    *,
    prior: Floats | None = None,
    transitions: Floats | None = None,
    labels: TopicLabels = (),
    **how: Any,
) -> TopicFit:
    """A `TopicFit` with its topics in order, and sums that are one to rounding."""
    prevalence = prevalence / prevalence.sum()
    order = np.argsort(-prevalence, kind="stable")
    components = components[order]
    if transitions is not None:
        how["transitions"] = transitions[np.ix_(order, order)]
    return TopicFit(
        components / components.sum(axis=1, keepdims=True),
        prevalence[order],
        (default_prior(prevalence) if prior is None else prior)[order],
        vocabulary,
        labels=tuple(labels[k] for k in order) if labels else (),
        **how,
    )


def smoothed(components: Floats, n_words: Floats, smoothing: float) -> Floats:
    """Topics (K, V) of ``n_words`` words each that have seen ``smoothing`` more of every word.

    What never happened is then improbable, not impossible; a topic that died out, without any
    word, becomes uniform.
    """
    dead = n_words <= 0
    if dead.any():
        warn(f"{dead.sum()} of {len(dead)} topics died out: fewer explain these documents as well")
    counts = components * n_words[:, None] + smoothing
    counts[dead] = 1.0
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def term_counts(documents: Documents, n_components: int) -> Any:
    """The document-term counts, a CSR array (D, V) of float64; a `ValueError` without words."""
    counts = sparse.csr_array(documents.term_counts(), dtype=np.float64)
    if not counts.nnz:
        raise ValueError(f"there is no word in the {counts.shape[0]} documents")
    if not is_whole(n_components) or not 1 <= n_components <= counts.shape[1]:
        raise ValueError(
            f"n_components must be a whole number from 1 to {counts.shape[1]}, the size of the "
            f"vocabulary, not {n_components!r}"
        )
    return counts


def optional_package(learner: str, module: str, extra: str) -> Any:
    """A module of a package that is installed with one of our extras."""
    try:
        with warnings.catch_warnings():  # of what these packages would also like to have
            warnings.simplefilter("ignore")
            return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise ImportError(
            f"{learner} needs the package {package}: pip install 'cohmm[{extra}]'"
        ) from None


# -- files -----------------------------------------------------------------------------------


def save_fit(
    path: str | os.PathLike[str],
    fit: TopicFit,
    parameters: dict[str, Any],
    words_seen: Any = None,
) -> None:
    """Write topics, the parameters that they were learned with, and their pairs if there are.

    ``words_seen`` are what a later `cohmm.learn.topics.online.grown_htmm` admits words by, if any.
    """
    counts = fit.counts
    header = {
        "vocabulary": fit.vocabulary,
        "name": fit.name,
        "converged": fit.converged,
        "seconds": fit.seconds,
        "switch": float(fit.switch),
        "starts": [float(start) for start in fit.starts],
        "labels": fit.labels,
        "parameters": {name: storage.plain(name, value) for name, value in parameters.items()},
        "counts": None if counts is None else list(counts.lags),
        "choices": None if fit.choices is None else fit.choices.as_json(),
        "words_seen": words_seen,
    }
    arrays = {name: getattr(fit, name) for name in ARRAYS}
    for name in HISTORIES:
        steps = [step[:FIGURES] for step in getattr(fit, name)]
        arrays[name] = np.array(steps, np.float64).reshape(-1, FIGURES)
    if counts is not None:
        arrays |= {f"{COUNTS}{name}": array for name, array in counts.arrays().items()}
    storage.save(path, KIND, header, arrays)


def load_fit(
    path: str | os.PathLike[str], known: Iterable[str]
) -> tuple[TopicFit, dict[str, Any], Any]:
    """What `save_fit` wrote; there is no other parameter than the ``known`` ones."""
    header, arrays = storage.load(path, KIND)

    def build() -> tuple[TopicFit, dict[str, Any], Any]:
        vocabulary, counts = tuple(header["vocabulary"]), None
        if header.get("counts") is not None:
            own = {n.removeprefix(COUNTS): a for n, a in arrays.items() if n.startswith(COUNTS)}
            counts = Cooccurrence.from_arrays(header["counts"], own, vocabulary)
        content: dict[str, Any] = {name: arrays[name] for name in ARRAYS}
        for name in HISTORIES:
            rows = arrays[name].tolist()
            content[name] = tuple(Progress(int(row[0]), *row[1:]) for row in rows)
        fit = TopicFit(
            **content,
            vocabulary=vocabulary,
            name=str(header["name"]),
            converged=bool(header["converged"]),
            seconds=float(header["seconds"]),
            switch=float(header["switch"]),
            starts=tuple(map(float, header["starts"])),
            labels=tuple(header.get("labels", ())),  # files of earlier versions have none
            counts=counts,
            choices=Choices.from_json(header.get("choices")),
        )
        parameters = dict(header["parameters"])
        lags = parameters.get("lags", 1)
        if isinstance(lags, dict):
            lags = parameters["lags"] = {int(lag): share for lag, share in lags.items()}
        for lag in lags if isinstance(lags, (list, dict)) else [lags] if lags != "auto" else []:
            checked_lag(lag)
        for name in parameters.keys() - set(known):
            raise ValueError(f"there is no parameter {name!r}")
        return fit, parameters, header.get("words_seen")  # None in files of earlier versions

    return cast(tuple[TopicFit, dict[str, Any], Any], storage.reading(path, build))
