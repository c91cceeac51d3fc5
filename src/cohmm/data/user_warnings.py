"""Moved to `cohmm._validation`."""

from cohmm._validation import silenced as silenced
from cohmm._validation import warn as warn
