"""Reading input in the terms of a model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cohmm.cli.options import Unseen
from cohmm.cli.session import Watch

if TYPE_CHECKING:
    from cohmm.data.files import Layout
    from cohmm.data.sequences import Sequences
    from cohmm.evidence.pairs import Cooccurrence
    from cohmm.model.hmm import HMM


def batches_for(
    model: HMM | Cooccurrence,
    inputs: list[str],
    layout: Layout,
    unseen: Unseen,
    watch: Watch,
) -> Iterator[Sequences]:
    """The sequences of the input, in the symbols of a model or of counts."""
    from cohmm.data.files import read_files

    return read_files(
        inputs,
        layout,
        vocabulary=model.vocabulary,
        n_symbols=model.n_symbols if model.vocabulary is None else None,
        unseen=unseen.value,
        progress=watch.progress,
        notice=watch.notice,
    )


def finite(value: float) -> float | None:
    """JSON has no infinity: what is impossible is null there."""
    return value if abs(value) < float("inf") else None


def json_line(value: Any) -> str:
    """One line of strict JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
