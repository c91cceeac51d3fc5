"""Learners: pure functions from evidence to a `Fit`, one textbook algorithm a file."""
