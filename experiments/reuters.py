"""The paper's figures of Reuters: coherence and perplexity against K, and the article's topics.

Models learn from nine documents in ten; one in ten is held out.  The article is the one that the
paper prints: pLSA and HTMM learn from all articles of R52, as the paper's authors had them, and
say which topic every word of it has.  Topics of pLSA bear the numbers of the HTMM's that are
nearest to them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from cohmm import Documents, read_documents
from cohmm.datasets.corpora import (
    REUTERS,
    MissingData,
    cachopo,
    paper_article,
    reuters_documents,
)
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.storage import replacing
from cohmm.topics.compare import RIVALS, compare_one, part
from cohmm.topics.rich_text import Run, coloured, colours_of, runs_of
from cohmm.topics.top_words import top_words

from .experiment import Experiment, Plan, Row, Step, Table, grid, means
from .figures import Line, curves, figure, legend_below, plain_axis, save

NAME = "reuters"
LINES = {
    "htmm": Line("HTMM", "#D55E00", "o"),
    "htmm-paper": Line("HTMM, the paper's", "#D55E00", "s", "--"),
    "plsa": Line("pLSA", "#0072B2", "v"),
    "lda-tomotopy": Line("LDA tomotopy", "#009E73", "^"),
    "anchor-words": Line("anchor words KL", "#CC79A7", "D"),
}
MOST_TOPICS = {"anchor-words": 50}  # minutes of work by then, and it grows faster than K
READERS = ("plsa", "htmm", "htmm-paper")  # of the article
MEASURES = {
    "coherence": "coherence: the paper's, top 20 words, eps .01",
    "npmi": "NPMI: top 10 words",
    "diversity": "diversity: top 25 words",
    "perplexity": "perplexity of held-out documents, word by word",
    "training": "perplexity of the documents learned from: the paper's",
}
HELD_OUT = 0.1
TOP = 6
WIDTH = 96  # letters in a line of the article's figure


@dataclass(frozen=True)
class Size:
    """The corpora, and numbers of topics."""

    name: str
    documents: Callable[[], Documents]  # of the curves
    topics: tuple[int, ...]
    texts: Callable[[], tuple[str, ...]]  # that the article is read after
    article_topics: int
    instances: int = 1


def few_articles() -> tuple[str, ...]:
    """Some hundred of R8, with that of the paper."""
    return (*cachopo("r8", "test").texts[:300], paper_article())


FULL = Size("Reuters-21578", reuters_documents, (10, 20, 50, 100), lambda: cachopo("r52").texts, 20)
QUICK = Size(
    "301 articles of R8",
    lambda: read_documents(few_articles(), analyzer=str.split, min_df=2),
    (5,),
    few_articles,
    5,
)


def size_of(plan: Plan) -> Size:
    return QUICK if plan.quick else FULL


def missing(plan: Plan) -> str | None:
    """What is needed and is not there."""
    try:
        paper_article()
        if not plan.quick:
            REUTERS.find()
            cachopo("r52")
    except MissingData as error:
        return f"{error} (the loaders are in cohmm.datasets.corpora)"
    return None


@lru_cache(maxsize=1)
def corpus(size: Size) -> Documents:
    return size.documents()


# -- steps --------------------------------------------------------------------------------------


def steps(plan: Plan) -> list[Step]:
    size = size_of(plan)
    seeds = range(plan.seed, plan.seed + (plan.instances or size.instances))
    scored = [
        Step(
            NAME,
            {"corpus": size.name, "model": model, "K": k, "seed": seed, "held_out": HELD_OUT},
            partial(scores, size, model, k, seed),
            f"{size.name}, K={k}, seed {seed}, {LINES[model].label}",
            k if model == "lda-tomotopy" else k / 2,
        )
        for seed in seeds
        for k in size.topics
        for model in LINES
        if RIVALS[model].is_installed and k <= MOST_TOPICS.get(model, k)
    ]
    k = size.article_topics
    article = Step(
        f"{NAME}-article",
        {"corpus": size.name, "K": k, "seed": plan.seed},
        partial(read_article, size, k, plan.seed),
        f"the paper's article, K={k}",
        k,
    )
    return [*scored, article]


def scores(size: Size, model: str, k: int, seed: int) -> list[Row]:
    """One model on one split."""
    train, held_out = part(corpus(size), HELD_OUT, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rivals' packages
        found = compare_one(train, held_out, model, k, seed, list(MEASURES))
    if found.failed is not None:
        raise ValueError(f"{model}, K={k}: {found.failed}")
    row = found.as_row() | {"method": LINES[model].label, "corpus": size.name}
    del row["model"]
    return [row]


def read_article(size: Size, k: int, seed: int) -> list[Row]:
    """A topic for every word of the article, by every model that reads it."""
    documents = read_documents(size.texts(), analyzer=str.split)
    article = read_documents([paper_article()], analyzer=str.split, vocabulary=documents.vocabulary)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = {name: RIVALS[name].learn(documents, k, random_state=seed) for name in READERS}
    rows = []
    for name, fit in fits.items():
        numbers = nearest(fit, fits["htmm"])
        found = fit.as_chain(RIVALS[name].chain).infer(article, decode=True)
        topics = numbers[found.topics]
        runs = runs_of(article.words(0), topics)
        words = top_words(fit.components, fit.vocabulary, TOP)
        places = np.argsort(numbers)
        rows.append(
            {
                "method": LINES[name].label,
                "K": k,
                "seed": seed,
                "corpus": "R52" if size is FULL else size.name,
                "article": " ".join(article.words(0)),
                "topics": " ".join(map(str, topics.tolist())),
                "mean_run": len(topics) / len(runs),
                "top_words": "; ".join(
                    f"{topic}: {' '.join(words[places[topic]])}"
                    for topic in sorted(set(topics.tolist()))
                ),
            }
        )
    return rows


def nearest(fit: TopicFit, other: TopicFit) -> np.ndarray:
    """The numbers that topics have in ``other``, each once, by total variation of their words."""
    if fit is other:
        return np.arange(fit.n_components)
    distances = np.array([np.abs(row - other.components).sum(axis=1) for row in fit.components])
    return np.asarray(linear_sum_assignment(distances)[1])


# -- what is made of the rows -------------------------------------------------------------------


def articles(rows: list[Row]) -> list[Row]:
    return [row for row in rows if "article" in row]


def summary(rows: list[Row]) -> list[Row]:
    scored = [row for row in rows if "article" not in row]
    return means(scored, ("corpus", "method", "K"), (*MEASURES, "seconds")) + articles(rows)


def tables(found: list[Row]) -> list[Table]:
    scored = [row for row in found if "article" not in row]
    first = scored[0]
    formats = {"coherence": "{:.0f}", "npmi": "{:.3f}", "diversity": "{:.3f}"}
    left_out = [line.label for name, line in LINES.items() if not RIVALS[name].is_installed]
    note = f"; not installed: {', '.join(left_out)}" if left_out else ""
    return [
        *(
            grid(
                f"{title[0].upper()}{title[1:]}; {first['corpus']}, seeds: "
                f"{first['instances']}{note}",
                scored,
                "method",
                "K",
                lambda row, name=name: formats.get(name, "{:.0f}").format(row[name]),
            )
            for name, title in MEASURES.items()
        ),
        grid(
            "Seconds of learning, by the clock",
            scored,
            "method",
            "K",
            lambda row: f"{row['seconds']:.1f}",
        ),
        Table(
            "The paper's article: how long a topic lasts",
            ["method", "words in a run, mean", "topics"],
            [
                [row["method"], f"{row['mean_run']:.2f}", str(len(set(row["topics"].split())))]
                for row in articles(found)
            ],
        ),
    ]


def runs_in(row: Row) -> list[Run]:
    return runs_of(row["article"].split(), map(int, row["topics"].split()))


def colours_in(rows: list[Row]) -> dict[int, Any]:
    """One topic has one colour, whichever model found it."""
    return colours_of(int(topic) for row in rows for topic in row["topics"].split())


def shown(rows: list[Row]) -> list[Any]:
    """The article for a terminal, in colour."""
    from rich.text import Text

    found = articles(rows)
    colours = colours_in(found)
    parts: list[Any] = []
    for row in found:
        parts += [
            Text(heading(row)),
            coloured(runs_in(row), colours),
            Text(""),
            *(Text(f"  {line}") for line in row["top_words"].split("; ")),
            Text(""),
        ]
    return parts


def heading(row: Row) -> str:
    return (
        f"The article by {row['method']}, K={row['K']}: a topic lasts {row['mean_run']:.2f} words "
        "on average; behind a run its topic"
    )


def extras(rows: list[Row], folder: Path) -> list[str]:
    """The article as text, and as a figure."""
    with replacing(folder / f"{NAME}-article.txt") as file:
        file.write("".join(f"{part.plain}\n" for part in shown(rows)).encode())
    with replacing(folder / f"{NAME}-article.png") as file:
        draw_article(articles(rows), file)
    return [f"{NAME}-article.txt", f"{NAME}-article.png"]


def draw(rows: list[Row], file: Any) -> None:
    scored = [row | {"T": row["K"]} for row in rows if "article" not in row]
    picture, axes = figure(3)
    panels = {
        "coherence": "coherence (more is better)",
        "perplexity": "perplexity, held out, word by word",
        "training": "perplexity, learned from (the paper's)",
    }
    sizes = sorted({row["K"] for row in scored})
    for ax, (what, title) in zip(axes, panels.items(), strict=True):
        curves(ax, list(LINES.values()), scored, what)
        ax.set_xscale("log")
        ax.set_xticks(sizes, [str(k) for k in sizes], minor=False)
        ax.set_xticks([], minor=True)
        ax.set_xlabel("topics, K")
        plain_axis(ax, title)
    picture.suptitle(f"{scored[0]['corpus']}: mean, and from least to most of the seeds")
    legend_below(picture, axes[0], columns=5)
    save(picture, file)


def draw_article(rows: list[Row], file: Any) -> None:
    """Words on the colours of their topics, a panel a model."""
    from matplotlib.figure import Figure

    colours = colours_in(rows)
    laid = [lay_out(runs_in(row)) for row in rows]
    heights = [lines + 2.0 for _, lines in laid]
    picture = Figure(figsize=(10.5, 0.26 * sum(heights) + 0.3), layout="constrained")
    axes = picture.subplots(len(rows), 1, gridspec_kw={"height_ratios": heights}, squeeze=False)
    for ax, row, (words, lines) in zip(axes[:, 0], rows, laid, strict=True):
        ax.set_axis_off()
        ax.set_xlim(0, WIDTH)
        ax.set_ylim(lines, -0.2)
        ax.set_title(heading(row), fontsize=9, loc="left")
        for text, topic, column, line in words:
            colour = None if topic is None else colours[topic]
            if colour is not None:
                ax.fill(
                    [
                        column - 0.3,
                        column + len(text) + 0.3,
                        column + len(text) + 0.3,
                        column - 0.3,
                    ],
                    [line + 0.05, line + 0.05, line + 0.9, line + 0.9],
                    color=colour.paper,
                    linewidth=0,
                )
            ax.text(
                column + len(text) / 2,
                line + 0.48,
                text,
                family="monospace",
                fontsize=8 if topic is not None else 6.5,
                color=colour.ink if colour else "black",
                ha="center",
                va="center",
            )
    save(picture, file)


def lay_out(runs: list[Run]) -> tuple[list[tuple[str, int | None, int, int]], int]:
    """Words, and numbers of topics behind runs, with their column and line; how many lines."""
    placed: list[tuple[str, int | None, int, int]] = []
    column = line = 0
    for run in runs:
        for word, topic in [*((w, run.topic) for w in run.words), (str(run.topic), None)]:
            if column + len(word) > WIDTH - 1:
                column, line = 0, line + 1
            placed.append((word, topic, column, line))
            column += len(word) + 1
    return placed, line + 1


EXPERIMENT = Experiment(
    name=NAME,
    title="Reuters: coherence and perplexity against K; the article",
    steps=steps,
    summary=summary,
    tables=tables,
    draw=draw,
    on_data=True,
    missing=missing,
    extras=extras,
    shown=shown,
)
