"""Seed words from a file: one topic per line, its label, a colon, and its words."""

from __future__ import annotations

from pathlib import Path


def seed_words_in(path: Path) -> dict[str, list[str]]:
    """The seed words of every topic, by label; see `cohmm.learn.topics.pair_topics`."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 text (byte {error.start})") from None
    found: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        label, colon, words = line.partition(":")
        label = " ".join(label.split())
        if not colon or not label or not words.split():
            raise ValueError(
                f"{path}, line {number}: a line has a label, a colon and words, such as "
                f'"grain: wheat maize", not {line.strip()!r}'
            )
        if label in found:
            raise ValueError(f"{path}, line {number}: there is a topic {label!r} above")
        found[label] = words.split()
    if not found:
        raise ValueError(f"{path}: there is no line with a label, a colon and words")
    return found
