"""``cohmm demo``: topics that are known, learned again from pairs of words."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from cohmm.cli import options
from cohmm.cli.app import fitting, json_line, screen
from cohmm.cli.files import check_output, documents_of
from cohmm.cli.output import writing
from cohmm.cli.progress import learning, working

if TYPE_CHECKING:
    from cohmm.data.documents import Documents
    from cohmm.estimators.htmm import HTMM
    from cohmm.kernels.types import Floats, Ints
    from cohmm.model.hmm import HMM

LENGTH = 80  # words of a document, on average
MAX_WIDTH = 100
TOP_WORDS = 10
PASSAGE = 20  # words
PASSAGE_FROM = 4000  # documents that the passage is chosen from


class Paths(NamedTuple):
    """What the demo writes."""

    corpus: Path
    model: Path
    report: Path

    @classmethod
    def of(cls, folder: Path) -> Paths:
        """In a folder, which is made where it is missing; or one line that says why not."""
        try:
            folder.mkdir(exist_ok=True)
        except FileExistsError:
            raise ValueError(f"cannot write to {folder}: it is a file, not a folder") from None
        except FileNotFoundError:
            raise ValueError(
                f"cannot write to {folder}: there is no folder {folder.parent}"
            ) from None
        except OSError as error:
            raise ValueError(f"cannot write to {folder}: {error.strerror}") from None
        paths = cls(folder / "corpus.txt", folder / "topics.cohmm", folder / "report.html")
        if paths.corpus.exists() and not (paths.model.exists() or is_of_a_demo(paths.corpus)):
            raise ValueError(
                f"{paths.corpus} is not of a demo: choose another folder with --output"
            )
        return paths


class Comparison(NamedTuple):
    """How close topics came to the truth; those of the truth are in the order of the learned."""

    subjects: list[str]
    """What the topics are called in the truth, K names."""
    prevalence: list[float]
    top_words: list[list[str]]
    topic_errors: list[float]
    """Total variation of every topic."""
    transition_error: float
    """Mean total variation of the rows of the corpus' transitions."""
    right: float
    """Share of words that get their true topic from the learned model."""
    right_by_truth: float
    """The same, by the parameters that the words were drawn from."""
    runs: list[float]
    """Mean number of words for which each topic lasts, as it was decoded."""
    true_runs: list[float]
    passage: tuple[int, list[str], list[int]]
    """Some words of a document: which one, the words, and their decoded topics."""

    @property
    def topic_error(self) -> float:
        """The mean over topics."""
        return sum(self.topic_errors) / len(self.topic_errors)


@options.with_options
def demo(
    output: Path = Path("cohmm-demo"),
    documents: int = 4000,
    random_state: int | None = 0,
    json: bool = False,
    threads: int | None = None,
) -> None:
    """Draw documents from topics that are known, learn the topics again, and say how close it came.

    Every document goes from subject to subject. Topics are learned from how often words follow
    one another, without a look at the truth. Written are the corpus, the model and a report about
    it, which any browser opens. There is no input, and no network.

    **Examples**

        cohmm demo

        cohmm demo --documents 20000 --random-state 1 --output larger
    """
    paths = Paths.of(output)
    check_output(*paths)
    seconds: dict[str, float] = {}

    @contextmanager
    def timed(step: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        seconds[step] = time.perf_counter() - began

    with working(threads):
        from cohmm.datasets.demo_topics import demo_model
        from cohmm.estimators.htmm import HTMM

        truth = demo_model()
        with timed("draw"):
            states = write_corpus(truth, paths.corpus, documents, random_state)
        with timed("read"):
            corpus = documents_of([str(paths.corpus)])
        with timed("learn"), learning() as callback:
            model = HTMM(truth.n_components, random_state=0).fit(corpus, callback=callback)
            model.save(paths.model)
        with timed("compare"):
            comparison = compare(model, corpus, truth, states)
        with timed("report"):
            model.report(
                paths.report,
                corpus,
                title="Twelve subjects, found again",
                texts=paths.corpus.read_text("utf-8").splitlines(),
            )
    if not json:
        show(corpus, comparison, seconds, paths)
        return
    passage = dict(zip(("document", "words", "topics"), comparison.passage, strict=True))
    summary = {
        "documents": len(corpus),
        "words": corpus.n_words,
        "vocabulary": corpus.n_symbols,
        "topics": len(comparison.subjects),
        "seconds": seconds,
        "topic_error": comparison.topic_error,
        **comparison._asdict(),
        "words_by": "relevance",
        "passage": passage,
        "files": {name: str(path) for name, path in paths._asdict().items()},
    }
    typer.echo(json_line(summary))


def is_of_a_demo(corpus: Path) -> bool:
    """Whether a corpus without a model is what an interrupted demo has left."""
    from cohmm.datasets.demo_topics import demo_model

    with corpus.open(encoding="utf-8", errors="replace") as file:
        words = file.readline(10_000).lower().replace(".", "").split()
    return bool(words) and set(words) <= set(demo_model().vocabulary or ())


def write_corpus(truth: HMM, path: Path, n_documents: int, seed: int | None) -> Ints:
    """Draw documents, write one per line, and return the subject of every word."""
    from cohmm.datasets.demo_topics import sentences
    from cohmm.datasets.synthetic_topics import sample_documents
    from cohmm.model.sampling import generator

    rng = generator(seed)
    documents, states = sample_documents(truth, n_documents, length=LENGTH, random_state=rng)
    with writing(path) as write:
        for words in documents:
            write(sentences(words, rng) + "\n")
    return states


def compare(model: HTMM, documents: Documents, truth: HMM, states: Ints) -> Comparison:
    """What was learned beside what the words were drawn from."""
    from dataclasses import replace

    import numpy as np

    from cohmm.datasets.demo_topics import SUBJECTS
    from cohmm.model.markov_chain import match_rows, total_variation
    from cohmm.topics.overview import count_runs

    k, words = truth.n_components, truth.vocabulary or ()
    place = {word: code for code, word in enumerate(words)}
    codes = np.array([place[word] for word in documents.vocabulary])
    components = np.zeros((k, len(words)))
    components[:, codes] = model.components_
    which = match_rows(truth.emissionprob, components)  # the state that each topic stands for
    emission = truth.emissionprob[which]
    transitions = truth.transmat[np.ix_(which, which)]
    topic = np.argsort(which)  # and the topic that each state is
    inferred = np.concatenate([segmented.topics for segmented in model.segment(documents)])
    _, best = replace(truth, vocabulary=None).decode(codes[documents.symbols], documents.lengths)
    return Comparison(
        subjects=[list(SUBJECTS)[state] for state in which],
        prevalence=model.topic_prevalence_.tolist(),
        top_words=model.top_words(TOP_WORDS, "relevance"),
        topic_errors=(np.abs(components - emission).sum(axis=1) / 2).tolist(),
        transition_error=total_variation(model.topic_transitions_, transitions),
        right=float(np.mean(which[inferred] == states)),
        right_by_truth=float(np.mean(best == states)),
        runs=count_runs(inferred, documents.offsets, k).means.tolist(),
        true_runs=count_runs(topic[states], documents.offsets, k).means.tolist(),
        passage=passage(documents, inferred, emission[:, codes]),
    )


def passage(
    documents: Documents, topics: Ints, emission: Floats
) -> tuple[int, list[str], list[int]]:
    """The beginning of a document that changes its subject: best one with a word in two senses."""
    subjects = (emission > 0).sum(axis=0)
    shared = (subjects > 1) & (subjects < len(emission))

    def score(d: int) -> tuple[bool, int, int, int]:
        begin, end = documents.offsets[d : d + 2].tolist()
        part = slice(begin, min(begin + PASSAGE, end))
        mine, ambiguous = topics[part], documents.symbols[part][shared[documents.symbols[part]]]
        senses = set(zip(documents.symbols[part].tolist(), mine.tolist(), strict=True))
        twice = len({s for s, _ in senses if shared[s] and sum(s == t for t, _ in senses) > 1})
        changes = int((mine[1:] != mine[:-1]).sum())
        return 1 <= changes <= 2, twice, len(ambiguous), -d

    d = max(range(min(len(documents), PASSAGE_FROM)), key=score)
    begin = int(documents.offsets[d])
    words = documents.words(d)[:PASSAGE]
    return d, words, topics[begin : begin + len(words)].tolist()


def show(
    documents: Documents, comparison: Comparison, seconds: dict[str, float], paths: Paths
) -> None:
    """One screen of at most 24 lines."""
    from rich.text import Text

    from cohmm.topics.rich_text import coloured, colours_of, runs_of

    console = screen()
    width, k = min(console.width, MAX_WIDTH), len(comparison.subjects)
    steps = ", ".join(f"{name} {value:.1f}" for name, value in seconds.items())
    typer.echo(
        f"{len(documents):,} documents, {documents.n_words:,} words, drawn from a chain of {k} "
        f"known topics\n{sum(seconds.values()):.1f} s: {steps}\n\n"
        "topic  the truth    share    off  lasts  truth  most distinctive words"
    )
    for t, subject in enumerate(comparison.subjects):
        head = (
            f"{t:5d}  {subject:10s} {comparison.prevalence[t]:7.1%} "
            f"{comparison.topic_errors[t]:6.1%} {comparison.runs[t]:6.1f} "
            f"{comparison.true_runs[t]:6.1f}  "
        )
        typer.echo(head + fitting(comparison.top_words[t], width - len(head)))
    typer.echo(
        f"topics {comparison.topic_error:.1%} off the truth on average (total variation), "
        f"transitions {comparison.transition_error:.1%}\n"
        f"{comparison.right:.1%} of words get their true topic; with the true parameters "
        f"{comparison.right_by_truth:.1%}\n"
    )
    d, words, topics = comparison.passage
    text = Text(f"document {d}: ") + coloured(runs_of(words, topics), colours_of(topics))
    console.print(text.append(" ..."), width=width)
    command = ["cohmm", "topics", str(paths.corpus), "-k", str(k)]
    typer.echo(
        f"wrote {paths.report} (open it in a browser), {paths.model.name}, {paths.corpus.name}\n"
        f"next: {shlex.join(command)}"
    )
