"""HTMM beside LDA on eight corpora of all kinds: news, articles, speeches, titles.

    python benchmarks/corpora.py --steps rows       # the table of docs/results.md, an hour
    python benchmarks/corpora.py --stability        # how far topics differ between five seeds
    python benchmarks/corpora.py --quick            # a small corpus, to see that it runs

Nine documents in ten are learned from, the others held out, and means of the seeds are printed;
measures are those of `cohmm.topics.compare`.  LDA is tomotopy's, 300 iterations.  "ahead" says on
which measures HTMM is: coherence, NPMI, its median over topics, diversity, perplexity.  "twins" are
pairs of topics closer than a total variation of .3, and "converged" says of how many seeds the fit
of HTMM was not cut short.  CPU seconds are of one thread, with counting.  Settings of HTMM were
chosen on the corpora marked "chosen on", seeds 0 and 1.

Stability is the mean total variation between matched topics of two seeds, both from all documents.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from cohmm import Documents, read_documents, threads
from cohmm.datasets.corpora import cachopo, reuters_documents, sotu
from cohmm.datasets.synthetic_topics import sample_htmm
from cohmm.topics.compare import HELD_OUT, MEASURES, RIVALS, Judged, part
from cohmm.topics.stability import mean_variation
from text_corpora import octis, wikipedia

MODELS = ("htmm", "lda-tomotopy")
BETTER = {"coherence": 1, "npmi": 1, "npmi-median": 1, "diversity": 1, "perplexity": -1}
FORMS = {
    "coherence": "{:.0f}",
    "npmi": "{:.3f}",
    "npmi-median": "{:.3f}",
    "diversity": "{:.3f}",
    "perplexity": "{:.0f}",
}
LETTERS = {"coherence": "C", "npmi": "N", "npmi-median": "M", "diversity": "D", "perplexity": "P"}


def articles(min_words: int, n: int) -> Documents:
    """Some articles of the sample of Wikipedia, always the same."""
    texts = wikipedia(min_words).texts
    chosen = np.sort(np.random.default_rng(0).permutation(len(texts))[:n])
    return read_documents([texts[d] for d in chosen], stop_words="english", min_df=5)


def lemmas(name: str) -> Documents:
    return read_documents(octis(name).texts, analyzer=str.split, min_df=5)  # type: ignore[arg-type]


CORPORA: dict[str, tuple[bool, Callable[[], Documents]]] = {  # whether settings were chosen on it
    "BBC": (True, lambda: lemmas("BBC_News")),
    "Wikipedia, 4,000 articles": (True, lambda: articles(50, 4000)),
    "State of the Union": (True, lambda: read_documents(sotu().texts, **PLAIN)),
    "DBLP titles": (True, lambda: lemmas("DBLP")),
    "Reuters": (True, reuters_documents),
    "R52": (False, lambda: read_documents(cachopo("r52").texts, analyzer=str.split, min_df=5)),
    "Wikipedia, 1,000 over 1,000 words": (False, lambda: articles(1000, 1000)),
    "M10 titles": (False, lambda: lemmas("M10")),
}
PLAIN = {"stop_words": "english", "min_df": 5}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small corpus, to see that it runs")
    parser.add_argument("--stability", action="store_true", help="print stability instead")
    parser.add_argument("--topics", nargs="+", type=int, default=[20, 50])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=Path, help="folder of rows found before, and of new ones")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with threads(1):
        if arguments.quick:
            table({"quick": (False, quick)}, [3], 1, arguments.steps)
            stability({"quick": (False, quick)}, 3, 2)
        elif arguments.stability:
            stability(CORPORA, arguments.topics[0], 5)
        else:
            table(CORPORA, arguments.topics, arguments.seeds, arguments.steps)


@cache
def quick() -> Documents:
    return sample_htmm(200, n_components=3, n_words=90, length=30, random_state=0).documents


def table(
    corpora: dict[str, tuple[bool, Callable[[], Documents]]],
    sizes: list[int],
    seeds: int,
    steps: Path | None,
) -> None:
    headings = "coherence | NPMI | median NPMI | diversity | perplexity | twins | converged | CPU s"
    print(f"| corpus | K | {headings} | ahead |")
    print(f"|---|{'---:|' * 9}---|")
    for name, (chosen, read) in corpora.items():
        documents = cache(read)
        for k in sizes:
            ours, theirs = (
                mean([row(name, documents, k, seed, model, steps) for seed in range(seeds)])
                for model in MODELS
            )
            cells = [f"{FORMS[m]} / {FORMS[m]}".format(ours[m], theirs[m]) for m in BETTER]
            ahead = "".join(
                LETTERS[m] if (ours[m] - theirs[m]) * BETTER[m] > 0 else "-" for m in BETTER
            )
            cells += [
                f"{ours['twins']:.1f} / {theirs['twins']:.1f}",
                f"{ours['converged']:.0%}",
                f"{ours['seconds']:.1f} / {theirs['seconds']:.1f}",
            ]
            where = f"{name} (chosen on)" if chosen else name
            print(f"| {where} | {k} | {' | '.join(cells)} | {ahead} |", flush=True)


def mean(rows: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([one[name] for one in rows])) for name in rows[0]}


def row(
    name: str, documents: Callable[[], Documents], k: int, seed: int, model: str, steps: Path | None
) -> dict[str, float]:
    """One model on one split: found before, or found now and written down."""
    plain = "".join(c if c.isalnum() else "-" for c in name)
    file = None if steps is None else steps / f"{plain}-{k}-{seed}-{model}.json"
    if file is not None and file.is_file():
        return json.loads(file.read_text())  # type: ignore[no-any-return]
    train, held_out = part(documents(), HELD_OUT, seed)
    rival = RIVALS[model]
    began = time.process_time()
    fit = rival.learn(train, k, random_state=seed)
    found = {"seconds": time.process_time() - began}
    judged = Judged(fit, train, held_out, rival.chain)
    found |= {measure: MEASURES[measure](judged) for measure in (*BETTER, "twins")}
    found["converged"] = float(bool(fit.converged))
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(found))
    return found


def stability(corpora: dict[str, tuple[bool, Callable[[], Documents]]], k: int, seeds: int) -> None:
    print(f"\nK = {k}, {seeds} seeds\n\n| corpus | HTMM | LDA | ratio |\n|---|---:|---:|---:|")
    for name, (_, read) in corpora.items():
        documents = read()
        ours, theirs = (
            mean_variation(
                [
                    RIVALS[model].learn(documents, k, random_state=seed).components
                    for seed in range(seeds)
                ]
            )
            for model in MODELS
        )
        print(f"| {name} | {ours:.3f} | {theirs:.3f} | {ours / theirs:.2f} |", flush=True)


if __name__ == "__main__":
    main()
