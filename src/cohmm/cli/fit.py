"""``cohmm fit``: from files, or from counts of them, to a model."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cohmm.cli import files, options
from cohmm.cli.app import fitting, plural, print_result, screen, table_of
from cohmm.cli.progress import learning, working

if TYPE_CHECKING:
    from cohmm.learn.pairwise import PairwiseFit
    from cohmm.model.hmm import HMM

OTHER_COLUMNS = 34  # characters of a row that are not its symbols


@options.with_options
def fit(
    inputs: list[str],
    output: Path,
    n_components: str = "auto",
    lags: str | None = None,
    refine: bool | None = None,
    random_state: int | None = 0,
    json: bool = False,
    *,
    layout: Any,
    integers: bool = False,
    end: bool = False,
    unseen: Literal["rare", "missing", "error"] = "rare",
    refine_by: Literal["sequences", "triples"] | None = None,
    sparsity: str = "auto",
    penalty: str | None = None,
    n_init: int = 1,
    max_iter: int | None = None,
    tol: float = 1e-3,
    smoothing: float = 0.1,
    memory: str | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    threads: int | None = None,
) -> None:
    """Learn a hidden Markov model from pair counts, and refine it on the data.

    INPUT is data, as for cohmm count, or files that cohmm count wrote, whose counts are added.

    **Examples**

        cohmm fit words.txt -k 20 -o model.cohmm

        cohmm fit monday.cohmm tuesday.cohmm -k auto -o week.cohmm

        cohmm fit clicks.csv --column page --group user -k 8 --lags 1,2,3 -o clicks-model.cohmm

        cohmm fit logs/*.txt -k 12 --workers 8 -o logs.cohmm
    """
    files.check_output(output, inputs=files.files_of(inputs))
    from_counts = all(map(files.is_ours, inputs))
    distances = None if lags is None else options.whole_numbers("--lags", lags, "1,2,3")
    learner: dict[str, Any] = {
        "n_components": options.n_components_of(n_components),
        "lags": distances,
        "penalty": options.number_or_auto("--penalty", penalty),
        "n_init": n_init,
        "max_iter": max_iter,
        "tol": tol,
        "smoothing": smoothing,
        "refine": refine_by or ("auto" if refine is None else refine),
        "sparsity": options.number_or_auto("--sparsity", sparsity),
        "random_state": random_state,
    }
    _check_refinement(learner, refine, refine_by, from_counts)
    with working(threads), files.cluster(workers, scheduler) as client:
        from cohmm.data.partitioned import as_data
        from cohmm.learn import pairwise  # what PairwiseHMM.fit calls, without scikit-learn
        from cohmm.learn.pairwise import check_ends
        from cohmm.model.answers import Answers, save_fitted

        began = time.perf_counter()
        if from_counts:
            data: Any = files.load_counts(inputs, distances)
        elif client is None:
            data = files.sequences_of(inputs, **layout, integers=integers, memory=memory)
        else:
            parts = files.partitions(inputs, layout, integers, client)
            data = as_data(parts, characters=layout["characters"])
        if end:
            data = data if from_counts else data.with_end()
            check_ends(data)
        with learning() as callback:
            learned = pairwise(data, **learner, callback=callback)
        counts, characters = learned.counts.symbol_counts, layout["characters"]
        parameters = {**learner, "lags": learned.counts.lags, "end": end, "unseen": unseen}
        save_fitted(
            output,
            Answers(learned.model, unseen, counts, characters, end),
            parameters | {"characters": characters},
        )
        seconds = time.perf_counter() - began
    print_result(
        json,
        _summary(learned, seconds),
        _lines(learned, output, seconds),
        *_tables(learned.model, learned.shares),
    )


def _check_refinement(
    learner: dict[str, Any], refine: bool | None, refine_by: str | None, from_counts: bool
) -> None:
    """Refuse options that contradict one another, or the input."""
    if refine_by is not None and refine is False:
        raise ValueError(f"--refine-by {refine_by} and --no-refine: give one of the two")
    if from_counts and (refine or refine_by is not None):
        option = "--refine" if refine_by is None else "--refine-by"
        raise ValueError(f"{option} reads the data itself: give files of it, not counts")
    if learner["sparsity"] not in (0, "auto") and (refine is False or from_counts):
        raise ValueError("--sparsity is for refining: give files of data, without --no-refine")


def _summary(learned: PairwiseFit, seconds: float) -> dict[str, Any]:
    """For machines."""
    model, refined = learned.model, learned.refined
    pairs: Any = learned.pairs  # a PairFit
    summary = {
        "states": model.n_components,
        "symbols": model.n_symbols,
        "pairs": learned.counts.n_pairs(min(learned.counts.lags)),
        "began": learned.began,
        "refined": None,
        "prevalence": learned.shares,
        "stationary": model.stationary(),
        "persistence": model.transmat.diagonal(),
        "seconds": seconds,
    }
    if learned.choice is not None:
        summary["choice"] = learned.choice.reason
    if pairs is not None:
        summary |= {
            "detectable": pairs.spectrum.n_detectable,
            "objective": pairs.objective,
            "divergence": pairs.divergence,
            "penalty": pairs.penalty,
            "lag_weights": {str(lag): weight for lag, weight in pairs.lag_weights.items()},
            "passes": pairs.n_iter,
            "converged": pairs.converged,
            "starts": learned.starts,
        }
    if refined is not None:
        by_triples = refined.evidence == "triples"
        summary["refined"] = {
            "evidence": refined.evidence,
            "passes": refined.n_iter,
            "window_passes": refined.window_passes,
            "converged": refined.converged,
            "gained": refined.gained,
            "log_likelihood": None if by_triples else -refined.divergence,
        }
    return summary


def _lines(learned: PairwiseFit, output: Path, seconds: float) -> list[str]:
    """How it went."""
    model, refined = learned.model, learned.refined
    pairs: Any = learned.pairs  # a PairFit
    n_pairs = learned.counts.n_pairs(min(learned.counts.lags))
    lines = [
        f"{output}: {plural(model.n_components, 'state')}, {plural(model.n_symbols, 'symbol')}, "
        f"{n_pairs:,.0f} pairs, {seconds:.1f} s"
    ]
    if learned.choice is not None:
        lines.append(learned.choice.reason)
    if pairs is not None:
        lines += [
            f"{plural(pairs.n_iter, 'pass', 'es')} over pairs, {_ended(pairs.converged)}; "
            f"divergence {pairs.divergence:.6f} nats per pair",
            f"these pairs can show {plural(pairs.spectrum.n_detectable, 'state')}: so many "
            f"singular values exceed {pairs.spectrum.floor:.3g}",
        ]
    if learned.began != "pairs":
        lines.append(f"learned from {learned.began}, which lead further than pairs here")
    if refined is not None:
        what, quality = (
            ("triples", f"divergence {refined.divergence:.6f} nats per triple")
            if refined.evidence == "triples"
            else ("data", f"log-likelihood {-refined.divergence:.6f} nats per symbol")
        )
        lines.append(
            f"refined in {plural(refined.n_iter, 'pass', 'es')} over the {what}, "
            f"{_ended(refined.converged)}; {quality}, {refined.gained:.2g} gained"
        )
    return lines


def _ended(converged: bool) -> str:
    return "converged" if converged else "not converged: the passes ran out"


def _tables(model: HMM, shares: Any) -> list[Any]:
    """One row per state, and how many more there are."""
    from cohmm._html import more_than
    from cohmm.model.state_table import state_rows

    width = screen().width - OTHER_COLUMNS
    rows = [
        [str(k), row.share, row.mean_run, line_of(row.symbols, width)]
        for k, row in enumerate(state_rows(model, shares))
    ]
    table = table_of(["state", "share", "mean run", "most probable symbols"], rows, left=[3])
    more = more_than(len(rows), model.n_components, "states")
    return [table, *[more] * bool(more)]


def line_of(symbols: list[tuple[str, str]], width: int) -> str:
    """Symbols and their probabilities: as many as there is room for, the first in any case.

    >>> line_of([("sun", "0.80"), ("rain", "0.20")], 12)
    'sun 0.80'
    """
    from rich.cells import set_cell_size

    (name, probability), *_ = symbols
    short = set_cell_size(name, max(width - 6, 1)) + f"… {probability}"
    return fitting(map(" ".join, symbols), width, between="  ") or short
