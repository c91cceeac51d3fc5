"""Moved to `cohmm._validation`."""

from cohmm._validation import LARGEST_CODE as LARGEST_CODE
from cohmm._validation import Value as Value
from cohmm._validation import as_amount as as_amount
from cohmm._validation import as_floats as as_floats
from cohmm._validation import as_n_symbols as as_n_symbols
from cohmm._validation import as_numbers as as_numbers
from cohmm._validation import as_offsets as as_offsets
from cohmm._validation import as_tuple as as_tuple
from cohmm._validation import frozen as frozen
from cohmm._validation import listed as listed
from cohmm._validation import own as own
from cohmm._validation import shown as shown
