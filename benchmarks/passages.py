"""Where a text changes subject: passages beside block distance and runs of the best path.

    python benchmarks/passages.py            # Wikipedia, Reuters, State of the Union; minutes
    python benchmarks/passages.py --quick    # made texts, to see that it runs

Texts are glued, as Choi did it in 2000: ten pieces of 3 to 11 sentences of different documents,
which the topics were not learned from.  Pk and WindowDiff count how often two sentences half a
piece apart are wrongly said to be in one piece, or in two; less is better.  "borders" is how many
more borders there are than true ones.  Block distance is TextTiling's: the cosine of the words of
six sentences on either side, borders where it has a valley deeper than most; a run of the best path
is a stretch of sentences most of whose words have the same topic.  "length known" is told how long
pieces are.  Settings of passages were chosen on Wikipedia.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from cohmm import HTMM, read_documents, threads
from cohmm.data.read_documents import TextWarning
from cohmm.datasets.corpora import reuters21578, sotu
from cohmm.datasets.synthetic_topics import sample_htmm
from cohmm.topics.passages import sentences
from text_corpora import wikipedia

PIECES, SHORTEST, LONGEST = 10, 3, 11
WINDOW = 6  # sentences on either side, of block distance
Texts = list[tuple[str, list[int]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="made texts, to see that it runs")
    parser.add_argument("--texts", type=int, default=40, help="how many are glued of each corpus")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", TextWarning)
    corpora: dict[str, tuple[int, Callable[[], list[str]]]] = {
        "Wikipedia": (50, articles),
        "Reuters": (50, lambda: [article.text for article in reuters21578().articles]),
        "State of the Union": (20, lambda: list(sotu().texts)),
    }
    if arguments.quick:
        corpora = {"quick": (4, made)}
    print("| corpus | method | Pk | WindowDiff | borders |\n|---|---|---:|---:|---:|")
    with threads(1):
        for name, (k, load) in corpora.items():
            table(name, k, load(), 3 if arguments.quick else arguments.texts)


def table(name: str, k: int, documents: list[str], n_texts: int) -> None:
    documents = [text for text in documents if len(sentences(text)) >= LONGEST]
    order = np.random.default_rng(1).permutation(len(documents))
    cut = int(0.7 * len(order))
    learned, unread = ([documents[d] for d in part] for part in (order[:cut], order[cut:]))
    topics = HTMM(k, stop_words="english", min_df=5, random_state=0).fit(learned[:8000])
    texts = [glued(unread, np.random.default_rng(seed)) for seed in range(n_texts)]
    length = np.mean([len(text.split()) for text, _ in texts]) / PIECES
    methods: dict[str, Callable[[str, list[str]], Any]] = {
        "passages": lambda text, _: by_passages(topics, text, None),
        "passages, length known": lambda text, _: by_passages(topics, text, float(length)),
        "block distance": lambda _, parts: by_block_distance(parts),
        "runs of the best path": lambda _, parts: by_runs(topics, parts),
        "no border": lambda _, parts: np.eye(1, len(parts))[0],
    }
    for method, cut_at in methods.items():
        rows = []
        for text, begins in texts:
            places = sentences(text)
            starts = np.array([first for first, _ in places])
            true = np.isin(starts, begins)
            found = np.asarray(cut_at(text, [text[a:b] for a, b in places]), bool)
            rows.append((*errors(true, found), found.sum() - true.sum()))
        p_k, difference, more = np.mean(rows, axis=0)
        print(f"| {name} | {method} | {p_k:.3f} | {difference:.3f} | {more:+.1f} |", flush=True)


def glued(documents: list[str], rng: np.random.Generator) -> tuple[str, list[int]]:
    """Pieces of documents, one after the other, and where each begins."""
    text, begins = "", []
    for d in rng.choice(len(documents), PIECES, replace=False):
        places = sentences(documents[d])
        n = min(int(rng.integers(SHORTEST, LONGEST + 1)), len(places))
        first = int(rng.integers(0, len(places) - n + 1))
        piece = documents[d][places[first][0] : places[first + n - 1][1]]
        begins.append(len(text))
        text += piece + "\n\n"
    return text, begins


def errors(true: np.ndarray, found: np.ndarray) -> tuple[float, float]:
    """Pk and WindowDiff, for borders at the first sentence of every piece."""
    half = max(2, round(len(true) / true.sum() / 2))
    here = np.arange(len(true) - half)
    between = [np.cumsum(cuts)[here + half] - np.cumsum(cuts)[here] for cuts in (true, found)]
    p_k = np.mean((between[0] > 0) != (between[1] > 0))
    return float(p_k), float(np.mean(between[0] != between[1]))


def by_passages(topics: HTMM, text: str, length: float | None) -> np.ndarray:
    begins = {passage.start for passage in topics.passages([text], length=length)[0]}
    return np.array([first in begins for first, _ in sentences(text)])


def by_block_distance(parts: list[str]) -> np.ndarray:
    counts = read_documents(parts, stop_words="english").term_counts().toarray()
    n = len(counts)
    alike = np.ones(n)
    for place in range(1, n):
        before = counts[max(0, place - WINDOW) : place].sum(axis=0)
        after = counts[place : place + WINDOW].sum(axis=0)
        norm = np.sqrt((before @ before) * (after @ after))
        alike[place] = before @ after / max(norm, 1e-12)
    depth = np.zeros(n)
    for place in range(1, n):
        left = right = place
        while left > 1 and alike[left - 1] >= alike[left]:
            left -= 1
        while right < n - 1 and alike[right + 1] >= alike[right]:
            right += 1
        depth[place] = alike[left] + alike[right] - 2 * alike[place]
    threshold = depth[1:].mean() - depth[1:].std() / 2
    peaks = [
        depth[p] > threshold and depth[p] == depth[max(1, p - 1) : p + 2].max() for p in range(1, n)
    ]
    return np.array([True, *peaks])


def by_runs(topics: HTMM, parts: list[str]) -> np.ndarray:
    """Sentences by the topic that most of their words have, as a whole text is decoded."""
    blocks = topics.encode(parts)
    (decoded,) = topics.segment([[word for words in blocks for word in words]])
    leading, last = [], -1
    for first, end in zip(blocks.offsets[:-1], blocks.offsets[1:], strict=True):
        if end > first:
            last = int(np.bincount(decoded.topics[first:end]).argmax())
        leading.append(last)
    return np.append(True, np.diff(leading) != 0)


def articles() -> list[str]:
    texts = wikipedia(150).texts
    chosen = np.random.default_rng(0).permutation(len(texts))[:4000]
    return [texts[d] for d in chosen]


def made() -> list[str]:
    """Texts of one topic each, in sentences of eight words."""
    rng = np.random.default_rng(0)
    sample = sample_htmm(4, n_components=4, n_words=160, random_state=0)
    laws, words = sample.components, sample.documents.vocabulary
    texts = []
    for d in range(80):
        drawn = rng.choice(len(words), (20, 8), p=laws[d % 4])
        texts.append(" ".join(" ".join(words[w] for w in row).capitalize() + "." for row in drawn))
    return texts


if __name__ == "__main__":
    main()
