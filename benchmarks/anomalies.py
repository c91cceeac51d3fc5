"""Anomalies in system calls (ADFA-LD): the detector beside hmmlearn and a bigram.

    python benchmarks/anomalies.py               # K = 20, 40, 80: six fits each
    python benchmarks/anomalies.py --states 20 --no-hmmlearn
    python benchmarks/anomalies.py --quick       # made sessions, to see that it runs

AUC of attacks against normal traces, and at the threshold that the detector sets for .5 % false
alarms, the share of attacks that are found (recall) and of normal traces that are taken for one.
"auto" is the detector's default; "mean" is the mean surprise, which is all that is made of
hmmlearn and of the bigram.  CPU seconds are of learning.  ADFA-LD is looked for in the folder that
COHMM_DATA names.  The levels and the calm window of "auto" were chosen on the attacks of kinds
Adduser, Hydra_SSH and Java_Meterpreter; "others" is the AUC of the other three kinds.
"""

from __future__ import annotations

import argparse
import logging
import os
import time
import warnings
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from hmmlearn.hmm import CategoricalHMM
from sklearn.metrics import roc_auc_score

from cohmm import HMM, AnomalyDetector, PairwiseHMM

FALSE_ALARMS = 0.005
ITERATIONS = 20  # of hmmlearn
CHOSEN_ON = ("Adduser", "Hydra_SSH", "Java_Meterpreter")
Traces = list[np.ndarray]


class Data(NamedTuple):
    train: Traces
    normal: Traces
    attacks: Traces
    others: np.ndarray  # of the attacks, those on which nothing was chosen


def adfa_ld() -> Data:
    """The traces of the three folders, as numbers."""
    path = Path(os.environ.get("COHMM_DATA", "."), "adfa-ld.zip")
    if not path.is_file():
        raise SystemExit(f"there is no {path}: COHMM_DATA must name the folder that has it")
    traces: dict[str, Traces] = {"Training": [], "Validation": [], "Attack": []}
    kinds = []
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            part = next((part for part in traces if f"{part}_Data_Master/" in name), None)
            calls = np.array(archive.read(name).split(), np.int64) if part else np.empty(0)
            if part is None or not name.endswith(".txt") or not len(calls):
                continue
            traces[part].append(calls)
            if part == "Attack":
                kinds.append(name.split("/")[2])
    others = np.array([not kind.startswith(CHOSEN_ON) for kind in kinds])
    return Data(*traces.values(), others)


def made(seed: int = 0) -> Data:
    """Sessions of four stages; attacks have two events swapped."""
    transmat = [[0, 1, 0, 0, 0], [0, 0.6, 0.4, 0, 0], [0, 0, 0.5, 0.5, 0], [0, 0, 0, 0, 1]]
    server = HMM(np.eye(5)[0], [*transmat, [0, 0, 0, 0, 1]], np.eye(5))
    rng = np.random.default_rng(seed)
    drawn = [server.sample(12, rng)[0] for _ in range(600)]
    sessions = [y[: int(np.argmax(y == 4)) or len(y)] for y in drawn]
    attacks = [np.r_[y[1], y[0], y[2:]] for y in sessions[500:]]
    return Data(sessions[:300], sessions[300:500], attacks, np.arange(100) % 2 == 0)


def bigram(train: Traces, traces: Traces) -> np.ndarray:
    """The mean surprise of every trace under a smoothed chain of the events themselves."""
    n = 2 + max(int(y.max()) for y in train + traces)
    counts = np.zeros((n, n))
    for y in train:
        np.add.at(counts, (np.r_[n - 1, y], np.r_[y, n - 1]), 1.0)
    share = (counts.sum(axis=0) + 0.5) / (counts.sum() + 0.5 * n)
    log_probs = np.log((counts + share) / (counts.sum(axis=1, keepdims=True) + 1))
    return np.array([-log_probs[np.r_[n - 1, y], np.r_[y, n - 1]].mean() for y in traces])


def by_hmmlearn(train: Traces, traces: Traces, k: int) -> tuple[np.ndarray, float]:
    """The mean surprise of every trace, what was never seen made improbable, and CPU seconds."""
    n = 1 + max(int(y.max()) for y in train + traces)
    began = time.process_time()
    theirs = CategoricalHMM(k, n_features=n, n_iter=ITERATIONS, random_state=0)
    theirs.fit(np.concatenate(train)[:, None], [len(y) for y in train])
    seconds = time.process_time() - began
    total = sum(map(len, train))
    emission = theirs.emissionprob_ + 0.5 / total
    emission /= emission.sum(axis=1, keepdims=True)
    start, transmat = theirs.startprob_ + 1e-9, theirs.transmat_ + 1e-9  # nothing is impossible
    model = HMM(start / start.sum(), transmat / transmat.sum(axis=1, keepdims=True), emission)
    return -model.log_likelihoods(traces) / [len(y) for y in traces], seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="made sessions, to see that it runs")
    parser.add_argument("--states", type=int, nargs="+", default=[20, 40, 80])
    parser.add_argument("--no-hmmlearn", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.getLogger("hmmlearn").setLevel(logging.ERROR)
    data = made() if arguments.quick else adfa_ld()
    judged = data.normal + data.attacks
    is_attack = np.repeat([0, 1], [len(data.normal), len(data.attacks)])
    shown = np.append(np.ones(len(data.normal), bool), data.others)
    print("| model | K | AUC | others | recall | false alarms | CPU s |")
    print("|---|---|---|---|---|---|---|")

    def row(name: str, k: int | str, scores: np.ndarray, at: str = "| | |", cpu: float = 0) -> None:
        auc = roc_auc_score(is_attack, scores)
        others = roc_auc_score(is_attack[shown], scores[shown])
        print(f"| {name} | {k} | {auc:.3f} | {others:.3f} {at} {cpu:.1f} |", flush=True)

    row("bigram, mean", "", bigram(data.train, judged))
    for k in [4] if arguments.quick else arguments.states:
        began = time.process_time()
        model = PairwiseHMM(k, end=True, random_state=0)
        detector = AnomalyDetector(model, false_alarms=FALSE_ALARMS).fit(data.train)
        seconds = time.process_time() - began
        is_odd = detector.predict(judged) < 0
        found, wrong = is_odd[is_attack == 1].mean(), is_odd[is_attack == 0].mean()
        at = f"| {found:.3f} | {wrong:.4f} |"
        row("detector, auto", k, -detector.score_samples(judged), at, seconds)
        means = -detector.model_.score_sequences(judged) / [len(y) + 1 for y in judged]
        row("detector, mean", k, means)
        if not arguments.no_hmmlearn:
            scores, seconds = by_hmmlearn(data.train, judged, k)
            row("hmmlearn, mean", k, scores, "| | |", seconds)


if __name__ == "__main__":
    main()
