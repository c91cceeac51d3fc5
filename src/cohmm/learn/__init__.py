"""Learners: pure functions from evidence, or data, to a `Fit`.

One line per learner.  A contract that all of them keep is in ``tests/learn/test_contract.py``,
which finds them here.
"""

from cohmm.learn.pairs.min_volume import min_volume
from cohmm.learn.pairs.nmf import nmf
from cohmm.learn.pairwise import pairwise
from cohmm.learn.sequences.baum_welch import baum_welch
from cohmm.learn.sequences.refine import refine
from cohmm.learn.topics.anchor_words import anchor_words
from cohmm.learn.topics.htmm import htmm
from cohmm.learn.topics.lda import lda
from cohmm.learn.topics.plsa import plsa
from cohmm.learn.topics.sticky_em import gruber
from cohmm.learn.windows.cpd_em import cpd_em
from cohmm.learn.windows.overcomplete import grouped, overcomplete
from cohmm.learn.windows.tensor import tensor
from cohmm.learn.windows.window_ml import window_ml

__all__ = [
    "anchor_words",
    "baum_welch",
    "cpd_em",
    "grouped",
    "gruber",
    "htmm",
    "lda",
    "min_volume",
    "nmf",
    "overcomplete",
    "pairwise",
    "plsa",
    "refine",
    "tensor",
    "window_ml",
]
