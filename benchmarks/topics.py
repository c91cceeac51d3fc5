"""Topics: ours and its rivals on the same documents, the same split, scored by the same code.

    python benchmarks/topics.py --steps rows            # the tables of docs/results.md, hours
    python benchmarks/topics.py --quick                 # a small corpus, to see that it runs
    python benchmarks/topics.py --corpus r52 --topics 20 --seeds 0 --models HTMM "LDA tomotopy"

Nine documents in ten are learned from; the others are held out.  Coherence as in the paper (top
20, eps .01) and NPMI (top 10, documents) are those of the training documents; diversity is of the
top 25.  Perplexities are exact, of held-out documents word by word, of their second halves given
the first, and of training documents (the paper's).  A bag of words has no chain: its own rows are
scored as such, and again inside the sticky chain, with a rate of switching learned for it.

Every row is written to a folder of steps as it is found, so that a run can be resumed.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cohmm import Documents, read_documents
from cohmm.datasets.corpora import cachopo, reuters_documents, sotu
from cohmm.datasets.synthetic_topics import sample_htmm
from cohmm.learn.anchor_words import anchor_words
from cohmm.learn.gruber import gruber
from cohmm.learn.htmm import HTMMFit, htmm, with_chain
from cohmm.learn.lda import lda
from cohmm.learn.plsa import plsa
from cohmm.learn.topic_fit import TopicFit
from cohmm.topics.coherence import coherence
from cohmm.topics.describe import diversity
from cohmm.topics.perplexity import perplexity

Learner = Callable[[Documents, int, int], TopicFit]

LEARNERS: dict[str, tuple[Learner, str]] = {
    "HTMM": (lambda d, k, s: htmm(d, k, random_state=s), "sticky"),
    "HTMM, three passes": (lambda d, k, s: htmm(d, k, refine=3, random_state=s), "sticky"),
    "HTMM, pairs only": (lambda d, k, s: htmm(d, k, refine=0, random_state=s), "sticky"),
    "HTMM, the paper's": (lambda d, k, s: htmm(d, k, lags=1, refine=0, random_state=s), "full"),
    "HTMM, Gruber's": (lambda d, k, s: gruber(d, k, random_state=s), "sticky"),
    "LDA tomotopy": (lambda d, k, s: lda(d, k, engine="tomotopy", random_state=s), "independent"),
    "LDA gensim": (lambda d, k, s: lda(d, k, engine="gensim", random_state=s), "independent"),
    "LDA sklearn": (lambda d, k, s: lda(d, k, engine="sklearn", random_state=s), "independent"),
    "pLSA": (lambda d, k, s: plsa(d, k, random_state=s), "independent"),
    "anchor words KL": (
        lambda d, k, s: anchor_words(d, k, recover="kl", random_state=s),
        "independent",
    ),
}
COLUMNS = ("paper", "npmi", "diversity", "words", "completion", "training", "chained", "seconds")
HEADS = (
    "coherence",
    "NPMI",
    "diversity",
    "word by word",
    "completion",
    "training",
    "in the sticky chain",
    "seconds",
)
FORMATS = ("{:.0f}", "{:.3f}", "{:.3f}", "{:.0f}", "{:.0f}", "{:.0f}", "{:.0f}", "{:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small corpus, to see that it runs")
    parser.add_argument("--corpus", nargs="+", choices=list(CORPORA), default=["reuters", "r52"])
    parser.add_argument("--topics", nargs="+", type=int, default=[10, 20, 50, 100])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--models", nargs="+", choices=list(LEARNERS), default=list(LEARNERS))
    parser.add_argument("--steps", type=Path, help="folder of rows found before, and of new ones")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.quick:
        arguments.corpus, arguments.topics, arguments.seeds = ["quick"], [3], [0]
    for name in arguments.corpus:
        documents = CORPORA[name]()
        for k in arguments.topics:
            table(name, documents, k, arguments.seeds, arguments.models, arguments.steps)


def table(
    name: str,
    documents: Documents,
    k: int,
    seeds: list[int],
    models: list[str],
    steps: Path | None,
) -> None:
    print(f"{name}: {documents!r}, K = {k}, means of seeds {', '.join(map(str, seeds))}\n")
    print("| model | " + " | ".join(HEADS) + " |")
    print("|---|" + "---:|" * len(HEADS))
    for model in models:
        rows = [row(name, documents, k, seed, model, steps) for seed in seeds]
        means = [np.mean([found[column] for found in rows]) for column in COLUMNS]
        cells = [form.format(mean) for form, mean in zip(FORMATS, means, strict=True)]
        print(f"| {model} | " + " | ".join(cells) + " |", flush=True)
    print()


def row(
    name: str, documents: Documents, k: int, seed: int, model: str, steps: Path | None
) -> dict[str, float]:
    """One model on one split: found before, or found now and written down."""
    file = None
    if steps is not None:
        label = "".join(c if c.isalnum() else "-" for c in f"{name} {k} {seed} {model}")
        file = steps / f"{label}.json"
        if file.is_file():
            return json.loads(file.read_text())  # type: ignore[no-any-return]
    train, held_out = documents.split(0.9, random_state=seed)
    learn, chain = LEARNERS[model]
    began = time.perf_counter()
    fit = learn(train, k, seed)
    seconds = time.perf_counter() - began
    found = scores(fit, train, held_out, chain) | {"seconds": seconds}
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(found))
    return found


def scores(fit: TopicFit, train: Documents, held_out: Documents, chain: str) -> dict[str, float]:
    how: dict[str, Any] = {"chain": chain}
    chained = fit if isinstance(fit, HTMMFit) else with_chain(fit, train)
    top = min(25, fit.components.shape[1])
    return {
        "paper": float(coherence(fit, train).mean()),
        "npmi": float(coherence(fit, train, "npmi").mean()),
        "diversity": diversity(fit.components, top),
        "words": perplexity(fit, held_out, **how),
        "completion": perplexity(fit, held_out, method="completion", **how),
        "training": perplexity(fit, train, method="training", **how),
        "chained": perplexity(chained, held_out),
    }


CORPORA: dict[str, Callable[[], Documents]] = {
    "reuters": reuters_documents,
    "r52": lambda: read_documents(cachopo("r52").texts, analyzer=str.split, min_df=5),
    "sotu": lambda: read_documents(sotu().texts, stop_words="english", min_df=5),
    "quick": lambda: (
        sample_htmm(200, n_components=3, n_words=90, length=30, random_state=0).documents
    ),
}

if __name__ == "__main__":
    main()
