"""Topics as other packages have them: pandas, pyLDAvis, gensim and OCTIS."""

from __future__ import annotations

from typing import Any

from cohmm.data.documents import Documents
from cohmm.estimators.topic_figures import TopicFigures
from cohmm.kernels.compiled import Floats
from cohmm.topics.interchange import gensim_lists, octis_output, pyldavis_arrays
from cohmm.topics.topic_frames import TopicTable, topic_frame
from cohmm.topics.word_order import Order


class TopicExports(TopicFigures):
    """What an `HTMM` offers to other packages."""

    def to_frame(
        self,
        what: TopicTable,
        documents: Any = None,
        *,
        n_words: int = 10,
        order: Order = "relevance",
    ) -> Any:
        """A pandas data frame, in long form; needs pandas.

        ``what``: "topics" (share, expected run, coherence, contrast, top words), "words" (the
        ``n_words`` top words of every topic), "transitions"; of documents, those of training
        where none are given: "documents" (the share of every topic), "tokens" (a topic for every
        word), "segments" (runs of one topic).  A model loaded from a file has no coherence or
        contrast to show.  Contrast tells subjects, near 1, from sections, near 0: see
        `cohmm.topics.contrast`.  ``order`` is that of top words: "relevance", "probability" or
        "frex" (see `top_words`).  Where topics have labels, these stand beside the numbers.

        >>> from cohmm import HTMM
        >>> topics = HTMM(2, random_state=0).fit(["oil gas oil", "wheat corn wheat"] * 9)
        >>> topics.to_frame("tokens", ["oil corn"]).columns.tolist()
        ['document', 'place', 'word', 'topic', 'probability']
        """
        return topic_frame(
            what,
            self._fitted(),
            self._chains(),
            self._known(documents),
            n_words=n_words,
            order=order,
        )

    def to_pyldavis(self, documents: Any = None) -> dict[str, Any]:
        """The five arrays of ``pyLDAvis.prepare``, by name; documents of training by default.

        >>> from cohmm import HTMM
        >>> topics = HTMM(2, random_state=0).fit(["oil gas oil", "wheat corn wheat"] * 9)
        >>> topics.to_pyldavis()["term_frequency"].tolist()  # of corn, gas, oil, wheat
        [9, 9, 18, 18]
        """
        fit = self._fitted()
        data = self._training("to_pyldavis") if documents is None else self.encode(documents)
        return pyldavis_arrays(fit, data, self._chains().infer(data).shares)

    def to_gensim(
        self, documents: Any = None, *, n_words: int = 10, minimum_probability: float = 0.01
    ) -> dict[str, Any]:
        """What gensim's `LdaModel` would answer, as plain lists.

        "topics" as ``show_topics(formatted=False)`` has them, (topic, [(word, probability)]);
        "id2word"; and "document_topics" as ``get_document_topics``, of training by default:
        a model loaded from a file has none.

        >>> from cohmm import HTMM
        >>> topics = HTMM(2, random_state=0).fit(["oil gas oil", "wheat corn wheat"] * 9)
        >>> [words[0][0] for _, words in topics.to_gensim(n_words=2)["topics"]]
        ['wheat', 'oil']
        """
        shares = self._known_shares(documents)
        return gensim_lists(self._fitted(), shares, n_words, minimum_probability)

    def to_octis(self, documents: Any = None, *, n_words: int = 10) -> dict[str, Any]:
        """What a model of OCTIS returns, for its measures.

        "topics", lists of top words; "topic-word-matrix", (K, V); "topic-document-matrix",
        (K, D), of training by default: a model loaded from a file has none.

        >>> from cohmm import HTMM
        >>> topics = HTMM(2, random_state=0).fit(["oil gas oil", "wheat corn wheat"] * 9)
        >>> topics.to_octis(n_words=2)["topic-document-matrix"].shape
        (2, 18)
        """
        return octis_output(self._fitted(), self._known_shares(documents), n_words)

    def _known(self, documents: Any) -> Documents | None:
        """The documents, those of training where none are given, or None where there are none."""
        if documents is None:
            return getattr(self, "documents_", None)
        return self.encode(documents)

    def _known_shares(self, documents: Any) -> Floats | None:
        known = self._known(documents)
        return None if known is None else self._chains().infer(known).shares
