"""Reading input in the terms of a model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cohmm.cli.options import Unseen
from cohmm.cli.session import Watch

if TYPE_CHECKING:
    from cohmm.data.read_sequences import Layout
    from cohmm.data.sequences import Sequences
    from cohmm.evidence.cooccurrence import Cooccurrence
    from cohmm.kernels.types import Ints
    from cohmm.model.hmm import HMM

PIECE = 2**14  # symbols that are made text at a time


def batches_for(
    model: HMM | Cooccurrence,
    inputs: list[str],
    layout: Layout,
    unseen: Unseen,
    watch: Watch,
) -> Iterator[Sequences]:
    """The sequences of the input, in the symbols of a model or of counts."""
    from cohmm.data.read_sequences import read_files

    return read_files(
        inputs,
        layout,
        vocabulary=model.vocabulary,
        n_symbols=model.n_symbols if model.vocabulary is None else None,
        unseen=unseen.value,
        progress=watch.progress,
        notice=watch.notice,
    )


def in_pieces(
    names: Sequence[str], codes: Ints, between: str, head: str = "", tail: str = ""
) -> Iterator[str]:
    """A name for every code; of a long sequence, some thousands at a time.

    >>> import numpy as np
    >>> "".join(in_pieces(["a", "b"], np.array([0, 1, 1]), ", ", "[", "]"))
    '[a, b, b]'
    """
    for begin in range(0, max(len(codes), 1), PIECE):
        text = between.join([names[code] for code in codes[begin : begin + PIECE].tolist()])
        end = tail if begin + PIECE >= len(codes) else ""
        yield f"{between if begin else head}{text}{end}"


def finite(value: float) -> float | None:
    """JSON has no infinity: what is impossible is null there."""
    return value if abs(value) < float("inf") else None


def json_line(value: Any) -> str:
    """One line of strict JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
