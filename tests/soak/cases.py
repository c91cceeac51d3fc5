"""Every command that writes: how it is called, and which files it leaves."""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

from cohmm.datasets.demo_topics import demo_model

WORDS = ("walk", "shop", "clean", "read", "sleep")


class Case(NamedTuple):
    """A command; ``{out}`` is the folder to write to, old files are those of another ``{seed}``."""

    name: str
    args: str
    files: tuple[str, ...]

    def command(self, out: Path, seed: int) -> list[str]:
        """Its arguments."""
        return [part.format(out=out, seed=seed) for part in self.args.split()]


CASES = (
    Case("count", "count data{seed}.txt -o {out}/pairs.cohmm --lags 1,2 --triples {out}/t.cohmm",
         ("pairs.cohmm", "t.cohmm")),
    Case("fit", "fit data{seed}.txt -k 3 --seed {seed} -o {out}/m.cohmm", ("m.cohmm",)),
    Case("topics", "topics texts{seed}.txt -k 3 --seed {seed} -o {out}/t.cohmm "
         "--report {out}/t.html", ("t.cohmm", "t.html")),
    Case("topics, elsewhere", "topics texts{seed}.txt -k 3 --seed {seed} -o {out}/t.cohmm "
         "--shares {out}/t.parquet --memory 1GB", ("t.cohmm", "t.parquet")),
    Case("sample", "sample model.cohmm -n 300000 --seed {seed} -o {out}/s.txt", ("s.txt",)),
    Case("decode", "decode model.cohmm data{seed}.txt -o {out}/d.txt", ("d.txt",)),
    Case("decode to Parquet", "decode model.cohmm data{seed}.txt -o {out}/d.parquet",
         ("d.parquet",)),
    Case("report", "report model.cohmm data{seed}.txt -o {out}/r.html", ("r.html",)),
    Case("compare", "compare texts{seed}.txt -k 2 --models plsa --seed {seed} --csv {out}/c.csv",
         ("c.csv",)),
    Case("demo", "demo -n 60 --seed {seed} -o {out}/demo",
         ("demo/corpus.txt", "demo/topics.cohmm", "demo/report.html")),
)  # fmt: skip


def make_inputs(folder: Path, size: int) -> None:
    """Sequences and documents of two seeds, and a model."""
    from cohmm import HMM

    truth = demo_model()
    words = [str(word) for word in (truth.vocabulary or ())][:60]
    for seed in (0, 1):
        rng = random.Random(seed)
        for name, labels, length in (("data", WORDS, 40), ("texts", words, 30)):
            lines = (" ".join(rng.choices(labels, k=length)) for _ in range(size))
            (folder / f"{name}{seed}.txt").write_text("".join(f"{line}\n" for line in lines))
    HMM(
        [0.6, 0.4],
        [[0.9, 0.1], [0.2, 0.8]],
        [[0.1, 0.3, 0.2, 0.2, 0.2], [0.4, 0.2, 0.1, 0.2, 0.1]],
        vocabulary=WORDS,
    ).save(folder / "model.cohmm")
