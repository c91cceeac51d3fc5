"""Warnings, of which one thread is told and another is not."""

from __future__ import annotations

import threading
import warnings

import pytest

from cohmm._validation import silenced, warn


def test_only_what_was_named_is_silenced() -> None:
    with silenced(UserWarning, "of pairs"):
        warn("of pairs: few", UserWarning)
        with pytest.warns(UserWarning, match="of words"):
            warn("of words: few", UserWarning)
        with pytest.warns(RuntimeWarning, match="of pairs"):
            warn("of pairs: few", RuntimeWarning)
    with pytest.warns(UserWarning, match="of pairs"):
        warn("of pairs: few", UserWarning)


def test_filters_are_left_alone_and_other_threads_are_told() -> None:
    before, heard = list(warnings.filters), []

    def other() -> None:
        try:
            warn("here", UserWarning)  # warnings are errors in tests
        except UserWarning as warning:
            heard.append(str(warning))

    with silenced():
        assert list(warnings.filters) == before
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert heard == ["here"]
