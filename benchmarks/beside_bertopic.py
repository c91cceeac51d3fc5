"""HTMM beside BERTopic: the same documents, the same vocabulary, words in the distinctive order.

    python benchmarks/beside_bertopic.py --steps rows               # the table of docs/results.md
    python benchmarks/beside_bertopic.py --steps rows --models htmm --again    # ours alone, anew
    python benchmarks/beside_bertopic.py --quick                   # small; ours alone without torch

BERTopic (`pip install 'cohmm[bertopic]'`) has its defaults, and K topics; the seed is UMAP's.  Its
language model, all-MiniLM-L6-v2 or that in --embedding, reads raw text (BBC: lemmas, as there is
no other).  Its words are by c-TF-IDF, ours by relevance.  Of Reuters and Wikipedia 4,000 documents
are drawn, of BBC all are taken; --corpus reuters-all has all articles.

CPU seconds are from words to topics and to the topics of all documents, of all threads, after a
warm-up; BERTopic's have those of the embeddings.  Memory is the peak above what was there before.
Stability is the mean over pairs of seeds of the total variation between P(word | topic) of matched
topics (0: the same in every run); a topic without a partner counts as 1.  Other columns are means
over the seeds.  Embeddings and rows are kept in a folder of steps, so that a run can be resumed.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from cohmm import HTMM, Documents, read_documents
from cohmm.datasets.corpora import reuters21578, reuters_documents
from cohmm.datasets.synthetic_topics import sample_htmm
from cohmm.learn.topics.bertopic import bertopic, embed
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.topics.compare import BY_RELEVANCE, MEASURES, Judged
from measure import peak_memory
from text_corpora import octis, wikipedia

SOME = 4000  # documents of Reuters and of Wikipedia: a language model takes its time
PART = 1000  # texts embedded at a time, each written down
COLUMNS = {
    "topics": ("topics", "{:.0f}"),
    "coherence-relevance": ("coherence", "{:.0f}"),
    "npmi-relevance": ("NPMI", "{:.3f}"),
    "npmi-window-relevance": ("NPMI, windows", "{:.3f}"),
    "diversity-relevance": ("diversity", "{:.3f}"),
    "outliers": ("without a topic", "{:.0%}"),
    "cpu": ("CPU s", "{:.1f}"),
    "memory": ("peak MB", "{:.0f}"),
}


class Texts(NamedTuple):
    """Documents, and what a language model reads of them: text, or vectors already."""

    documents: Documents
    raw: Any


def bbc() -> Texts:
    corpus = octis("BBC_News")
    return Texts(read_documents(corpus.texts, analyzer=str.split, min_df=5), list(corpus.texts))


def reuters() -> Texts:
    raw = [article.text for article in reuters21578().articles if article.title]
    return Texts(reuters_documents(), raw)


def some_of_reuters() -> Texts:
    documents, raw = reuters()
    chosen = drawn(len(raw))
    words = [documents.words(d) for d in chosen]
    return Texts(read_documents(words, min_df=5), [raw[d] for d in chosen])


def some_of_wikipedia() -> Texts:
    corpus = wikipedia()
    raw = [corpus.texts[d] for d in drawn(len(corpus))]
    words = {"token_pattern": r"[^\W\d_]{3,}", "stop_words": "english", "min_df": 5}
    return Texts(read_documents(raw, **words), raw)


def drawn(n: int) -> list[int]:
    """Which documents of a large corpus are taken."""
    return np.sort(np.random.default_rng(0).permutation(n)[:SOME]).tolist()  # type: ignore[no-any-return]


def quick() -> Texts:
    sample = sample_htmm(200, n_components=3, n_words=90, length=30, random_state=0)
    return Texts(sample.documents, sample.proportions)


CORPORA: dict[str, Callable[[], Texts]] = {
    "bbc": bbc,
    "reuters": some_of_reuters,
    "reuters-all": reuters,
    "wikipedia": some_of_wikipedia,
    "quick": quick,
}
USUAL = ["bbc", "reuters", "wikipedia"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small corpus, to see that it runs")
    parser.add_argument("--corpus", nargs="+", choices=list(CORPORA), default=USUAL)
    parser.add_argument("--topics", nargs="+", type=int, default=[20, 50])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2, 3, 4])
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--embedding", help="folder of a SentenceTransformer")
    parser.add_argument("--steps", type=Path, help="folder of rows found before, and of new ones")
    parser.add_argument("--again", action="store_true", help="rows of --models are found anew")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.quick:
        arguments.corpus, arguments.topics, arguments.seeds = ["quick"], [3], [0, 1]
    if find_spec("bertopic") is None and "bertopic" in arguments.models and arguments.steps is None:
        print("BERTopic is not installed, and so left out: pip install 'cohmm[bertopic]'\n")
        arguments.models.remove("bertopic")
    with TemporaryDirectory() as folder:
        steps = Steps(arguments.steps or Path(folder), arguments.embedding)
        table(steps, arguments)


class Steps:
    """What was found before, and is not found again."""

    def __init__(self, folder: Path, model: str | None):
        self.folder, self.model = folder, model
        self.warm: set[str] = set()
        self.loaded: dict[str, Texts] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def texts(self, corpus: str) -> Texts:
        if corpus not in self.loaded:
            self.loaded[corpus] = CORPORA[corpus]()
        return self.loaded[corpus]

    def row(self, corpus: str, k: int, seed: int, model: str, again: bool) -> dict[str, float]:
        file = self.folder / f"{corpus}-{k}-{seed}-{model}.json"
        if not file.is_file() or again:
            texts = self.texts(corpus)
            learn = MODELS[model]
            if model not in self.warm:
                self.warm.add(model)
                learn(quick(), 3, 0, None)
            found, fit = learn(texts, k, seed, lambda: self.embedding(corpus, texts.raw))
            judged = Judged(fit, texts.documents, texts.documents, "independent")
            found |= {name: MEASURES[name](judged) for name in BY_RELEVANCE}
            found["topics"] = fit.n_components
            np.save(self.components(file), fit.components.astype(np.float32))
            file.write_text(json.dumps(found))
        return json.loads(file.read_text())  # type: ignore[no-any-return]

    @staticmethod
    def components(file: Path) -> Path:
        return file.with_suffix(".npy")

    def stability(self, corpus: str, k: int, seeds: list[int], model: str) -> float:
        files = [self.folder / f"{corpus}-{k}-{seed}-{model}.npy" for seed in seeds]
        return float(np.mean([moved(*map(np.load, two)) for two in combinations(files, 2)]))

    def embedding(self, corpus: str, raw: Any) -> tuple[Any, float, float]:
        """The vectors of all texts, CPU seconds and memory; in parts, each written down."""
        if not isinstance(raw[0], str):
            return raw, 0.0, 0.0
        whole = self.folder / f"{corpus}-embedding.npy"
        if not whole.is_file():
            parts = [self._part(corpus, raw, begin) for begin in range(0, len(raw), PART)]
            np.save(whole, np.concatenate([np.load(path) for path in parts]))
            costs = [json.loads(path.with_suffix(".json").read_text()) for path in parts]
            cost = {"cpu": sum(c["cpu"] for c in costs), "memory": max(c["memory"] for c in costs)}
            whole.with_suffix(".json").write_text(json.dumps(cost))
        cost = json.loads(whole.with_suffix(".json").read_text())
        return np.load(whole), cost["cpu"], cost["memory"]

    def _part(self, corpus: str, raw: list[str], begin: int) -> Path:
        file = self.folder / f"{corpus}-embedding-{begin}.npy"
        if not file.is_file():
            began = time.process_time()
            texts = raw[begin : begin + PART]
            memory, vectors = peak_memory(lambda: embed(texts, self.model))
            cost = {"cpu": time.process_time() - began, "memory": memory}
            file.with_suffix(".json").write_text(json.dumps(cost))
            np.save(file, vectors)
        return file


def by_htmm(texts: Texts, k: int, seed: int, vectors: Any) -> tuple[dict[str, float], TopicFit]:
    topics = HTMM(k, random_state=seed)

    def learn() -> None:
        topics.fit(texts.documents)
        topics.transform(texts.documents)

    began = time.process_time()
    memory, _ = peak_memory(learn)
    cpu = time.process_time() - began
    return {"outliers": 0.0, "cpu": cpu, "memory": memory / 1e6}, topics.fit_


def by_bertopic(texts: Texts, k: int, seed: int, vectors: Any) -> tuple[dict[str, float], TopicFit]:
    given, cpu, most = (texts.raw, 0.0, 0.0) if vectors is None else vectors()
    began = time.process_time()
    memory, fit = peak_memory(
        lambda: bertopic(texts.documents, k, embedding=given, random_state=seed)
    )
    cpu += time.process_time() - began
    return {"outliers": fit.outliers, "cpu": cpu, "memory": max(memory, most) / 1e6}, fit


MODELS: dict[str, Callable[..., tuple[dict[str, float], TopicFit]]] = {
    "htmm": by_htmm,
    "bertopic": by_bertopic,
}
LABELS = {"htmm": "HTMM", "bertopic": "BERTopic"}


def moved(one: Any, other: Any) -> float:
    """Mean total variation between matched topics; those that have no partner count as 1."""
    apart = cdist(one, other, "cityblock") / 2
    matched = apart[linear_sum_assignment(apart)]
    most = max(len(one), len(other))
    return float((matched.sum() + most - len(matched)) / most)


def table(steps: Steps, arguments: Any) -> None:
    print(f"Means of seeds {', '.join(map(str, arguments.seeds))}\n")
    headings = [heading for heading, _ in COLUMNS.values()]
    print("| corpus | K | model | " + " | ".join(headings) + " | stability |")
    print("|---|---:|---|" + "---:|" * (len(COLUMNS) + 1))
    for corpus in arguments.corpus:
        for k in arguments.topics:
            for model in arguments.models:
                rows = [
                    steps.row(corpus, k, seed, model, arguments.again) for seed in arguments.seeds
                ]
                cells = [
                    form.format(np.mean([row[name] for row in rows]))
                    for name, (_, form) in COLUMNS.items()
                ]
                if len(rows) > 1:
                    cells.append(f"{steps.stability(corpus, k, arguments.seeds, model):.3f}")
                cells = [corpus, str(k), LABELS[model], *cells]
                print("| " + " | ".join(cells) + " |", flush=True)
    print()


if __name__ == "__main__":
    main()
