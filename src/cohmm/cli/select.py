"""``cohmm select``: how many states, or topics, by held-out data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cohmm.cli import options
from cohmm.cli.app import plural, print_result, say
from cohmm.cli.files import check_output, documents_of, files_of, is_ours, sequences_of
from cohmm.cli.progress import working


@options.with_options
def select(
    inputs: list[str],
    n_components: str | None = None,
    topics: bool = False,
    lags: str = "1",
    plot: Path | None = None,
    random_state: int | None = 0,
    json: bool = False,
    *,
    layout: Any,
    integers: bool = False,
    texts: Any,
    threads: int | None = None,
) -> None:
    """Compare numbers of states on held-out data, and recommend one.

    A part of the sequences, or blocks of a long one, is held out; the table has its log-likelihood
    per symbol, BIC on parameters that are not zero, and how far the states of two halves differ. Of
    topics: perplexity of held-out documents, NPMI, and how far the topics of two seeds differ.

    **Examples**

        cohmm select words.txt

        cohmm select clicks.csv --column page --group user -k 2-10 --lags 1,2,3

        cohmm select news.txt --topics -k 10,20,40 --stop-words english --min-df 5 --plot k.png
    """
    check_output(plot, inputs=files_of(inputs, texts=topics))
    _check_kind(topics, lags, integers, texts)
    candidates = None
    if n_components is not None:
        candidates = options.whole_numbers("--n-components", n_components, "2,4,8 or 2-8")
    if any(map(is_ours, inputs)):
        raise ValueError("select holds data out: give the data itself, not counts or a model")
    shared: dict[str, Any] = {
        "n_components": candidates,
        "random_state": random_state or 0,
        "callback": lambda k: say(f"learning {plural(k, 'topic' if topics else 'state')} ..."),
    }
    with working(threads):
        if topics:
            from cohmm.diagnose.selection import select_topics

            documents = documents_of(inputs, layout["column"], **options.read_options(texts))
            selection = select_topics(documents, **shared)
        else:
            from cohmm.diagnose.selection import select as select_states

            data = sequences_of(inputs, **layout, integers=integers)
            distances = options.whole_numbers("--lags", lags, "1,2,3")
            selection = select_states(data, lags=distances, **shared)
        if plot is not None:
            from cohmm.plots.selection import plot_selection

            plot_selection(selection).figure.savefig(plot)  # type: ignore[union-attr]
    print_result(json, selection.to_dict(), [str(selection)])


def _check_kind(topics: bool, lags: str, integers: bool, texts: dict[str, Any]) -> None:
    """An error where an option of topics is given for states, or one of states for topics."""
    if topics:
        others = {"--lags": lags != "1", "--integers": integers}
    else:
        defaults = {name: default for name, (_, default) in options.GROUPS["texts"].items()}
        others = {
            f"--{name.replace('_', '-')}": value != defaults[name] for name, value in texts.items()
        }
    for name, is_set in others.items():
        if is_set:
            remedy = "leave it out" if topics else "add --topics, or leave it out"
            raise ValueError(f"{name} is not for {'topics' if topics else 'states'}: {remedy}")
