"""``cohmm anomalies``: which sequences a model of normal ones does not expect."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from cohmm.cli import options
from cohmm.cli.app import plural, print_result
from cohmm.cli.files import check_output, sequences_of
from cohmm.cli.progress import working

MAX_ROWS = 20  # of the table
MAX_EVENTS = 3  # that are explained of each sequence


@options.with_options
def anomalies(
    normal: str,
    inputs: list[str],
    n_components: str = "auto",
    false_alarms: float = 0.005,
    by: Literal["auto", "max", "mean", "window", "total"] = "auto",
    end: bool = False,
    lags: str = "1",
    output: Path | None = None,
    random_state: int | None = 0,
    json: bool = False,
    *,
    layout: Any,
    integers: bool = False,
    threads: int | None = None,
) -> None:
    """Learn from normal sequences, and say which of others are anomalies, and why.

    The threshold is set by parts of the normal sequences, scored by models of the others. A row of
    the table is a sequence, the oddest first, with its most surprising event and what was
    expected instead. An output is the detector, as AnomalyDetector.load and HMM.load read it.

    **Examples**

        cohmm anomalies train.txt new.txt --false-alarms .005 --end

        cohmm anomalies may.csv june.csv --column event --group session --order time -k 14 --end
    """
    check_output(output, inputs=[normal, *inputs])
    with working(threads):
        from cohmm.estimators.anomaly_detector import AnomalyDetector
        from cohmm.estimators.pairwise_hmm import PairwiseHMM

        model = PairwiseHMM(
            options.n_components_of(n_components),
            options.whole_numbers("--lags", lags, "1,2,3"),
            end=end,
            random_state=random_state,
        )
        detector = AnomalyDetector(model, by, false_alarms, random_state=random_state)
        detector.fit(sequences_of([normal], **layout, integers=integers))
        data = sequences_of(inputs, **layout, integers=integers)
        scores = detector.decision_function(data)
        if output is not None:
            detector.save(output)
    alarms = [int(s) for s in scores.argsort(kind="stable") if scores[s] < 0]
    low, high = detector.false_alarm_interval_
    explained = [
        {
            "sequence": data.name_of(s),
            "score": float(scores[s]),
            "events": [event._asdict() for event in detector.explain([data[s]], MAX_EVENTS)],
        }
        for s in alarms
    ]
    summary = {
        "sequences": len(data),
        "anomalies": len(alarms),
        "false_alarms": [low, high],
        "found": explained,
    }
    lines = [
        f"{len(alarms):,} of {plural(len(data), 'sequence')} "
        f"{'is an anomaly' if len(alarms) == 1 else 'are anomalies'}; of normal ones "
        f"{low:.2%} to {high:.2%} would be"
    ]
    lines += [_line(one) for one in explained[:MAX_ROWS]]
    if len(explained) > MAX_ROWS:
        lines.append(f"... and {len(explained) - MAX_ROWS:,} more")
    print_result(json, summary, lines)


def _line(one: dict[str, Any]) -> str:
    """An anomaly, and its oddest event."""
    event = one["events"][0]
    expected = ", ".join(f"{label} {probability:.2f}" for label, probability in event["expected"])
    symbol = "missing" if event["symbol"] is None else event["symbol"]
    return (
        f"{one['score']:8.2f}  {one['sequence']}: event {event['position']} is {symbol}, "
        f"a surprise of {event['surprise']:.1f} nats; expected {expected}"
    )
