"""The picture of a selection."""

import pytest

from cohmm.diagnose.selection import Candidate, Selection
from cohmm.plots import plot_selection


def test_candidates_and_their_errors():
    rows = tuple(
        Candidate(k, -1 - behind, behind, 0.01, 1.0, 5, 0.1)
        for k, behind in ((3, 0.2), (4, 0.005), (5, 0.0))
    )
    ax = plot_selection(Selection(rows, 4, "why", 3, "topic", 10))
    assert ax.get_xlabel() == "number of topics"
    drawn = {tuple(line.get_xdata()) for line in ax.lines}
    assert (4,) in drawn
    assert (3, 5) in drawn
    assert ax.get_legend_handles_labels()[1][0] == "recommended: 4"


def test_what_is_no_selection_is_named():
    with pytest.raises(ValueError, match=r"give a Selection, .* not a list"):
        plot_selection([1])
