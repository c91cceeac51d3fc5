"""Where modules of version 0.1 went: an old path fails with a line that names the new one."""

from __future__ import annotations

TYPE_CHECKING = False  # of typing, which takes its time to import
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

_LEARNERS = (
    *("anchor_words", "baum_welch", "cpd_em", "grouped", "gruber", "htmm", "lda", "min_volume"),
    *("nmf", "overcomplete", "plsa", "refine", "tensor"),
)

_NEW = {f"cohmm.learn.{name}": f"from cohmm.learn import {name}" for name in _LEARNERS} | {
    "cohmm.datasets.files": "cohmm.datasets.data_files",
    "cohmm.datasets.sequences": "cohmm.datasets.public_sequences",
    "cohmm.evidence.documents": "from cohmm import Documents",
    "cohmm.evidence.files": "cohmm.data.files, and count_files in cohmm.evidence.file_counts",
    "cohmm.evidence.readers": "cohmm.data.readers",
    "cohmm.evidence.sequences": "from cohmm import Sequences",
    "cohmm.evidence.text": "from cohmm import read_documents",
    "cohmm.hmm": "from cohmm import PairwiseHMM",
    "cohmm.learn.evidence": "from cohmm import EvidenceWarning",
    "cohmm.learn.joint_transitions": "cohmm.learn.many_states.joint_transitions",
    "cohmm.learn.spectrum": "cohmm.learn.pairs.spectrum",
    "cohmm.learn.topic_fit": "cohmm.learn.topics.topic_fit",
    "cohmm.learn.window_em": "from cohmm.learn import window_ml",
    "cohmm.learn.window_law": "cohmm.learn.many_states.window_law",
    "cohmm.topics.htmm": "from cohmm import HTMM",
}


class Moved:
    """Asked last, for what no other finder has."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Nothing; an error for what was there once."""
        if name in _NEW:
            raise ModuleNotFoundError(f"{name} has moved: {_NEW[name]}", name=name)
        return None
