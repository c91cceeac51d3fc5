"""How far a fit can be trusted, in plain words: some sentences, each with a traffic light."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from cohmm.diagnose.diagnosis import Diagnosis
from cohmm.kernels.types import Floats

TOP = 10  # symbols of a state, whose probabilities are looked at
PRECISE, ROUGH = 0.1, 0.3  # half of an interval, as a share of the probability
MANY = 0.75  # of the states stand out from chance


class Light(NamedTuple):
    """A sentence, and how good that is."""

    level: Literal["good", "fair", "poor", "unknown"]
    text: str


def in_plain_words(
    diagnosis: Diagnosis, intervals: tuple[Floats, Floats] | None
) -> tuple[Light, ...]:
    """What a diagnosis comes to.

    Parameters
    ----------
    diagnosis : Diagnosis
        Of a model.
    intervals : arrays (K, N), or None
        The ends of the intervals of P(symbol | state), where they are known.
    """
    lights = (_shown(diagnosis), _unique(diagnosis), _apart(diagnosis), _explained(diagnosis))
    return (*(light for light in lights if light is not None), _precise(diagnosis, intervals))


def _shown(diagnosis: Diagnosis) -> Light:
    """Whether there is enough data for so many states."""
    kind, k = diagnosis.kind, diagnosis.n_components or 0
    if not diagnosis.spectra:
        return Light("unknown", f"How many {kind}s there are cannot be checked without the data.")
    n = diagnosis.detectable[min(diagnosis.spectra)]
    if n >= k:
        which = f"the one {kind}" if k == 1 else f"all {k} {kind}s"
        return Light("good", f"There is enough data to tell {which} from chance.")
    level: Literal["fair", "poor"] = "fair" if n >= MANY * k else "poor"
    return Light(
        level,
        f"{n} of the {k} {kind}s stand out from chance: there is little data behind the others.",
    )


def _unique(diagnosis: Diagnosis) -> Light | None:
    """Whether other states would do as well."""
    kind, scatter = diagnosis.kind, diagnosis.scatter
    if scatter is None:
        return None
    if not scatter.refuted:
        return Light("good", f"No other {kind}s were found that explain the data as well.")
    mixed = " and ".join(map(str, scatter.states))
    return Light(
        "fair",
        f"Slightly different {kind}s, {mixed} above all, would explain the data as well: single "
        "numbers are less sure than the whole.",
    )


def _apart(diagnosis: Diagnosis) -> Light:
    """Whether states differ."""
    kind, close = diagnosis.kind, diagnosis.close
    if not close:
        return Light("good", f"The {kind}s differ clearly from one another.")
    more = f", and so are {len(close) - 1} more pairs" if len(close) > 1 else ""
    first = close[0]
    return Light(
        "fair", f"{kind.capitalize()}s {first.first} and {first.second} are much alike{more}."
    )


def _explained(diagnosis: Diagnosis) -> Light | None:
    """Whether a test finds something that the states do not explain."""
    if diagnosis.fit is None:
        return None
    k = diagnosis.n_components
    if diagnosis.fit.fits:
        return Light("good", f"A test finds nothing in the data that {k} states do not explain.")
    return Light("fair", f"The data has regularities that {k} states do not explain.")


def _precise(diagnosis: Diagnosis, intervals: tuple[Floats, Floats] | None) -> Light:
    """How far the numbers may be off."""
    word = "word" if diagnosis.kind == "topic" else "symbol"
    if intervals is None:
        return Light("unknown", "How far the numbers may be off is not known without the data.")
    low, high = intervals
    middle = (low + high) / 2
    top = np.argsort(-middle, axis=1)[:, :TOP]
    middle, width = (np.take_along_axis(array, top, 1) for array in (middle, high - low))
    share = float(width.sum() / 2 / middle.sum())  # the probable ones count most
    level: Literal["good", "fair", "poor"] = (
        "good" if share <= PRECISE else "fair" if share <= ROUGH else "poor"
    )
    off = f"{max(100 * share, 1):.0f} %"
    return Light(level, f"Probabilities of the most frequent {word}s may be off by about {off}.")
