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


def checked_labels(given: Labels | None, k: int, key: str) -> dict[int, str]:
    """The label of every topic that has one, by its number from 0 to ``k`` - 1.

    Parameters
    ----------
    given : path, mapping from numbers to labels, or None
        Blank labels are none.
    k : int
        How many topics there are.
    key : str
        Of the model: labels that were saved for another one are refused.

    >>> checked_labels({1: "the  sea", 0: ""}, 2, "")
    {1: 'the sea'}
    """
    if given is None:
        return {}
    where, content = "labels", given
    if isinstance(given, (str, os.PathLike)):
        where, content = os.fspath(given), _read(Path(given))
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
    pairs = [(_number(where, number, k), label) for number, label in content.items()]
    if len(dict(pairs)) < len(pairs):
        raise ValueError(f"{where}: a number has two labels")
    texts = ((number, _text(where, number, label)) for number, label in sorted(pairs, key=_first))
    return {number: text for number, text in texts if text}


def _first(pair: tuple[int, Any]) -> int:
    return pair[0]


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes().decode("utf-8-sig"), object_pairs_hook=_once)
    except FileNotFoundError:
        raise ValueError(f"there is no file {path}") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{path}: not JSON ({error})") from None
    except KeyError as error:
        raise ValueError(f"{path}: {error.args[0]!r} is there twice") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; JSON itself would let the last of two equal names win."""
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise KeyError(name)
        members[name] = value
    return members


def _number(where: str, number: Any, k: int) -> int:
    text = "" if isinstance(number, bool) else str(number)
    if not (text.isascii() and text.isdigit() and str(int(text)) == text and int(text) < k):
        which = "0" if k == 1 else f"from 0 to {k - 1}"
        raise ValueError(f"{where}: there is no number {number!r} to label: they are {which}")
    return int(text)


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
