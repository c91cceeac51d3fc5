"""Hypothesis: the same examples in every run, and no clock."""

from hypothesis import settings

settings.register_profile(
    "cohmm", derandomize=True, deadline=None, max_examples=60, database=None, print_blob=False
)
settings.load_profile("cohmm")
