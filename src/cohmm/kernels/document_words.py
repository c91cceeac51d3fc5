"""Passes over the words of documents: ``symbols[offsets[d]:offsets[d + 1]]`` are document d's.

``count_documents`` counts the documents of every word; ``recode`` gives words new codes, in place,
and takes out those without one.
"""

from cohmm._native import count_documents as count_documents
from cohmm._native import recode as recode
