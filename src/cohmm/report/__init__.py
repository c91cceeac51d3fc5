"""The report: one HTML file that shows what a model has learned, and opens anywhere.

Material (arrays) -> prepare_report -> plain values -> render_page -> one file
"""

from cohmm.report.from_hmm import report_hmm
from cohmm.report.from_topics import report_topics

__all__ = ["report_hmm", "report_topics"]
