"""Pictures for papers: one per file, each a function ``plot_x(value, ax=None) -> Axes``.

Without ``ax`` a picture gets a figure of its own, as wide as the column of a paper; on an ``ax``
of yours it takes your settings; ``plt.rc_context(STYLE)`` makes them ours.  Importing this
package imports matplotlib (``pip install 'cohmm[plots]'``); importing `cohmm` does not.
"""

from cohmm.plots.canvas import STYLE, WIDTH
from cohmm.plots.convergence import plot_convergence
from cohmm.plots.error_against_length import Line, plot_error_against_length
from cohmm.plots.heat_maps import plot_emissions, plot_transitions
from cohmm.plots.scatter import plot_scatter
from cohmm.plots.segmentation import plot_segmentation
from cohmm.plots.selection import plot_selection
from cohmm.plots.spectrum import plot_spectrum
from cohmm.plots.topic_map import plot_topic_map
from cohmm.plots.topic_tree import plot_topic_tree
from cohmm.plots.topics_over import plot_topics_over

__all__ = [
    "STYLE",
    "WIDTH",
    "Line",
    "plot_convergence",
    "plot_emissions",
    "plot_error_against_length",
    "plot_scatter",
    "plot_segmentation",
    "plot_selection",
    "plot_spectrum",
    "plot_topic_map",
    "plot_topic_tree",
    "plot_topics_over",
    "plot_transitions",
]
