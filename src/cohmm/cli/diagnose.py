"""``cohmm diagnose``: whether a fit can be trusted, and what would help."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from cohmm.cli import options
from cohmm.cli.app import print_result
from cohmm.cli.files import answers_of, is_ours, load_counts, sequences_of
from cohmm.cli.progress import learning, working


@options.with_options
def diagnose(
    subject: str,
    inputs: list[str] | None = None,
    n_components: str = "auto",
    random_state: int | None = 0,
    json: bool = False,
    *,
    layout: Any,
    integers: bool = False,
    unseen: Literal["error", "missing"] = "error",
    threads: int | None = None,
) -> None:
    """Say how far a fit can be trusted, on one screen, and what to do next.

    How many states the data can show, whether pairs determine them (sufficient scatter), which are
    hard to tell apart, and whether a first-order chain of so many states explains the data.

    **Examples**

        cohmm diagnose model.cohmm words.txt

        cohmm diagnose monday.cohmm

        cohmm diagnose clicks.csv --column page --group user -k 8 --json
    """
    paths, k = inputs or [], options.n_components_of(n_components)
    layout |= {"integers": integers}
    with working(threads):
        if is_ours(subject):
            if k != "auto":
                raise ValueError(
                    "--n-components is of a model that is fitted to data: give data, not counts"
                )
            diagnosis = _of_file(subject, paths, layout, unseen, random_state or 0)
        else:
            diagnosis = _of_data([subject, *paths], k, layout, random_state or 0)
    print_result(json, diagnosis.to_dict(), [str(diagnosis)])


def _of_data(paths: list[str], k: Any, layout: dict[str, Any], seed: int) -> Any:
    from cohmm.diagnose.diagnosis import diagnose
    from cohmm.learn import pairwise

    data = sequences_of(paths, **layout)
    with learning() as callback:
        fit = pairwise(data, k, random_state=seed, callback=callback)
    return diagnose(fit, data, random_state=seed)


def _of_file(path: str, paths: list[str], layout: dict[str, Any], unseen: str, seed: int) -> Any:
    """Of a model, or of counts."""
    from cohmm import storage
    from cohmm.diagnose.diagnosis import diagnose

    kind = storage.kind(path)
    if kind == "cooccurrence":
        if not all(map(is_ours, paths)):
            raise ValueError(f"{path} has counts: data goes with a model, not with them")
        return diagnose(load_counts([path, *paths]), random_state=seed)
    if kind != "HMM":
        from cohmm.estimators.htmm import HTMM

        if paths:
            raise ValueError("topics are diagnosed from the counts in their file: give no data")
        return HTMM.load(path).diagnose(random_state=seed)
    answers = answers_of(Path(path))
    model = answers.model
    if not paths:
        return diagnose(model, random_state=seed)
    if all(map(is_ours, paths)):
        return diagnose(model, counts=load_counts(paths), random_state=seed)
    labels, n = answers.symbols
    known: dict[str, Any] = {"vocabulary": labels, "unseen": unseen}
    if labels is None:
        known["n_symbols"] = n
    data = answers.encoded(sequences_of(paths, **layout | known)).data
    return diagnose(model, data, random_state=seed)
