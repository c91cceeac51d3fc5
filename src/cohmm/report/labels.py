"""Labels that a reader gave to topics, so that they outlive the page they were written on.

A page saves them as ``{"model": "1f0c...", "labels": {"3": "the sea"}}``; without the model, any
``{"3": "the sea"}`` will do.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cohmm.model.topic_model import MAX_LABEL  # what the page lets a reader write

Labels = Mapping[Any, str] | str | os.PathLike[str]


def checked_labels(labels: Labels | None, k: int, key: str) -> dict[int, str]:
    """The label of every topic that has one, by its number from 0 to ``k`` - 1.

    Parameters
    ----------
    labels : path, mapping from numbers to labels, or None
        Blank labels are none.
    k : int
        How many topics there are.
    key : str
        Of the model: labels that were saved for another one are refused.

    >>> checked_labels({1: "the  sea", 0: ""}, 2, "")
    {1: 'the sea'}
    """
    if labels is None:
        return {}
    where, content = "labels", labels
    if isinstance(labels, (str, os.PathLike)):
        where, content = os.fspath(labels), _read(Path(labels))
    if not isinstance(content, Mapping):
        raise ValueError(f'{where}: labels are an object, such as {{"0": "weather"}}')
    if "labels" in content:
        if content.get("model", key) != key:
            raise ValueError(
                f"{where}: these are labels of another model ({content['model']}, not {key}), "
                'whose topics have other numbers; without its "model" the file is taken for any'
            )
        content = content["labels"]
        if not isinstance(content, Mapping):
            raise ValueError(f'{where}: "labels" must be an object, such as {{"0": "weather"}}')
    checked: dict[int, str] = {}
    for name, label in content.items():
        number = _number(where, name, k)
        if number in checked:
            raise ValueError(f"{where}: a number has two labels")
        checked[number] = _text(where, number, label)
    return {number: text for number, text in sorted(checked.items()) if text}


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes().decode("utf-8-sig"), object_pairs_hook=_once)
    except FileNotFoundError:
        message = f"there is no file {path}"
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
    except UnicodeDecodeError as error:
        message = f"{path}: not UTF-8 text (byte {error.start})"
    except (json.JSONDecodeError, RecursionError) as error:
        message = f"{path}: not JSON ({error})"
    except KeyError as error:
        message = f"{path}: {error.args[0]!r} is there twice"
    raise ValueError(message)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; JSON itself would let the last of two equal names win."""
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise KeyError(name)
        members[name] = value
    return members


def _number(where: str, name: Any, k: int) -> int:
    numbers = {str(number): number for number in range(k)}
    if isinstance(name, bool) or str(name) not in numbers:
        which = "0" if k == 1 else f"from 0 to {k - 1}"
        raise ValueError(f"{where}: there is no number {name!r} to label: they are {which}")
    return numbers[str(name)]


def _text(where: str, number: int, label: Any) -> str:
    if not isinstance(label, str):
        raise ValueError(f"{where}: the label of {number} must be a string, not {label!r}")
    text = " ".join(label.split())
    if len(text) > MAX_LABEL:
        raise ValueError(
            f"{where}: the label of {number} has {len(text)} characters; the page has room for "
            f"{MAX_LABEL}"
        )
    return text
