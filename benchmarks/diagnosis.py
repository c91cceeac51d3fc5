"""What the diagnosis says of real data: visits to a news site, tags of sentences, news.

    COHMM_DATA=folder python benchmarks/diagnosis.py           # minutes
    COHMM_DATA=folder python benchmarks/diagnosis.py --quick
    COHMM_DATA=folder python benchmarks/diagnosis.py --only msnbc

msnbc: the pages of the first visits, with 8 states.  Brown: the tags of the first sentences, as far
as the first mark in them (nn for nn-tl), with 12 states.  Reuters: 20 topics.  What is not found in
the folder is left out, and said.
"""

from __future__ import annotations

import argparse
import re
import time
import warnings
from collections.abc import Callable
from typing import Any

from cohmm import HTMM, PairwiseHMM, Sequences, threads
from cohmm.datasets.corpora import reuters_documents
from cohmm.datasets.data_files import MissingData
from cohmm.datasets.public_sequences import brown, msnbc
from cohmm.diagnose import Diagnosis


def visits(quick: bool) -> Diagnosis:
    data = msnbc()
    n, k = (500, 2) if quick else (60_000, 8)
    X = data.spans(data.offsets[:n], data.offsets[1 : n + 1])
    return PairwiseHMM(k, random_state=0).fit(X).diagnose(X)


def tags(quick: bool) -> Diagnosis:
    n, k = (100, 2) if quick else (10_000, 12)
    sentences = [[short(tag) for tag in sentence] for sentence in brown().tags[:n]]
    X = Sequences.of(sentences)
    return PairwiseHMM(k, lags=(1, 2), random_state=0).fit(X).diagnose(X)


def short(tag: str) -> str:
    return re.split(r"(?<=.)[-+*$]", tag.removeprefix("fw-"))[0]


def news(quick: bool) -> Diagnosis:
    documents = reuters_documents()
    if quick:
        documents = documents.split(0.02, random_state=0)[0]
    return HTMM(20, random_state=0).fit(documents).diagnose()


SUBJECTS: dict[str, Callable[[bool], Diagnosis]] = {"msnbc": visits, "brown": tags, "reuters": news}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="little of each, to see that it runs")
    parser.add_argument("--only", choices=SUBJECTS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    with threads(1):
        for name, diagnosed in SUBJECTS.items():
            if arguments.only in (None, name):
                show(name, diagnosed, arguments.quick)


def show(name: str, diagnosed: Callable[[bool], Any], quick: bool) -> None:
    began = time.process_time()
    try:
        found = diagnosed(quick)
    except MissingData as missing:
        print(f"{name} was left out: {missing}\n")
        return
    print(
        f"{name}\n{found}\n{time.process_time() - began:.0f} CPU s, the fit included\n", flush=True
    )


if __name__ == "__main__":
    main()
