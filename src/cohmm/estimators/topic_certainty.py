"""How sure a fitted HTMM is of its topics."""

from __future__ import annotations

from typing import Any

from cohmm.data.documents import Documents
from cohmm.diagnose.topic_errors import GROUPS, TopicErrors, topic_errors
from cohmm.learn.topics.htmm_fit import HTMMFit


class TopicCertainty:
    """Standard errors of the topics that `_fitted` gives."""

    def _fitted(self) -> HTMMFit:
        raise NotImplementedError

    def _training(self, what: str) -> Any:
        raise NotImplementedError

    def encode(self, X: Any) -> Documents:
        """Documents in the words of the model."""
        raise NotImplementedError

    def standard_errors(self, documents: Any = None, *, n_groups: int = GROUPS) -> TopicErrors:
        """How sure words, transitions and prevalence are: see `cohmm.diagnose.TopicErrors`.

        By leaving out one group of documents after the other, in one pass over them.

        Parameters
        ----------
        documents
            What the topics are from; default: the training documents.
        n_groups : int
            Groups of documents.

        >>> from cohmm import HTMM
        >>> topics = HTMM(2, random_state=0).fit(["oil gas oil pipe", "wheat corn wheat"] * 9)
        >>> topics.standard_errors().top_words(1)[0][0].word in ("oil", "wheat")
        True
        """
        fit = self._fitted()
        if documents is not None:
            return topic_errors(fit, self.encode(documents), n_groups=n_groups)
        training = self._training("standard_errors")
        if not isinstance(training, Documents):
            raise ValueError(
                "standard_errors reads documents in memory, and the training documents are "
                "elsewhere: give some"
            )
        return topic_errors(fit, training, getattr(self, "_weights", None), n_groups=n_groups)
