"""# News topics: what the wires wrote about

A topic model in which word order counts gives every word of an article a topic, and neighbours tend
to share it.  The topics come from how often words follow one another, one to five apart, and from a
pass over the articles; nobody says what they are.

The data is Reuters-21578: articles of 1987 that editors gave labels such as *grain* or *money-fx*.
Labels are only looked at in the end: for each, the topic that takes the largest share of its
articles.  Held-out articles tell what word order is worth: the same topics predict each word
better when they know which words came just before it.
"""

import argparse
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

from cohmm import HTMM, read_documents
from cohmm.datasets.corpora import MissingData, reuters21578
from cohmm.datasets.data_files import Corpus
from cohmm.datasets.demo_topics import SUBJECTS, demo_model
from cohmm.datasets.synthetic_topics import sample_documents
from cohmm.plots import STYLE

parser = argparse.ArgumentParser(description="What the wires wrote about.")
parser.add_argument("--quick", action="store_true", help="few articles, to see that it runs")
parser.add_argument("--output", default="news_topics.png", help="where to write the picture")
options = parser.parse_args()


def made_up_articles(n_articles: int) -> Corpus:
    """Articles that move between twelve subjects, labelled by the main one, if there is no data."""
    documents, states = sample_documents(demo_model(), n_articles, random_state=0)
    main = [
        Counter(part).most_common(1)[0][0] for part in np.split(states, documents.offsets[1:-1])
    ]
    labels = tuple((list(SUBJECTS)[subject],) for subject in main)
    return Corpus(
        "made up", tuple(map(" ".join, documents)), labels, tuple(map(str, range(len(main))))
    )


n_articles, n_topics = (2_000, 12) if options.quick else (12_000, 20)
try:
    corpus = reuters21578()
    print("data: Reuters-21578")
except MissingData:
    corpus = made_up_articles(n_articles)
    print("data: made up, as reuters21578.tar.gz was not found (see COHMM_DATA)")
labelled = [d for d, some in enumerate(corpus.labels) if some][:n_articles]
labels = [corpus.labels[d] for d in labelled]
documents = read_documents(
    [corpus.texts[d] for d in labelled],
    stop_words="english",
    token_pattern=r"[a-z]{3,}",
    min_df=5,
    max_df=0.5,  # nearly every article ends with "reuter"
)
train, held_out = documents.split(0.9, random_state=0)
print(train)

topics = HTMM(n_topics, n_init=3, random_state=0).fit(train)
order_ignored = topics.set_params(chain="independent").perplexity(held_out)
order_counts = topics.set_params(chain="sticky").perplexity(held_out)
print(f"perplexity of held-out articles: {order_counts:.0f}")
print(f"with the same topics, word order ignored: {order_ignored:.0f}")

top = topics.top_words(4, by="relevance")
shares = topics.transform(documents)
frequent = Counter(label for some in labels for label in some).most_common(10)
table = np.array([[label in some for some in labels] for label, _ in frequent]) @ shares
table /= table.sum(axis=1, keepdims=True)
for (label, count), row in zip(frequent, table, strict=True):
    words = " ".join(top[row.argmax()])
    print(f"{label:<12} {count:>5} articles, {row.max():.0%} in the topic {words}")

with plt.rc_context(STYLE):
    figure, ax = plt.subplots(figsize=(7.2, 1 + 0.17 * n_topics), layout="constrained")
    order = np.lexsort((-table.max(axis=0), table.argmax(axis=0)))
    picture = ax.imshow(table.T[order], cmap="Blues", vmin=0, aspect="auto")
    ax.set_xticks(range(len(frequent)), [label for label, _ in frequent], rotation=30, ha="right")
    ax.set_yticks(range(n_topics), [" ".join(top[topic]) for topic in order])
    ax.set(xlabel="label given by editors", ylabel="topic, by its words")
    figure.colorbar(picture, label="share of the words of its articles")
    figure.savefig(options.output, dpi=160)
