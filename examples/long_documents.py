"""# Long documents: where the subject changes

A long speech is about many things, one after the other.  The hidden topic Markov model follows them
word by word: a topic lasts until it is drawn anew, and the words around a word say which it is in.
So a document comes apart into passages, each with its subject, though nobody marked a single one.

The data are the 233 addresses on the State of the Union, 1790 to 2021.  Topics are learned from all
of them, and one address is taken apart: that of January 2002.  The picture has one cell for each of
its words but the most common ones, line by line, in the colour of the word's topic.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

from cohmm import HMM, HTMM, read_documents
from cohmm.datasets.corpora import Corpus, MissingData, sotu
from cohmm.datasets.demo_topics import demo_model
from cohmm.datasets.synthetic_topics import sample_documents
from cohmm.plots import STYLE, plot_segmentation

parser = argparse.ArgumentParser(description="Where the subject of a speech changes.")
parser.add_argument("--quick", action="store_true", help="few speeches, to see that it runs")
parser.add_argument("--output", default="long_documents.png", help="where to write the picture")
options = parser.parse_args()
CHOSEN = "2002 george w bush"
LONG = 25  # words, of a passage that gets a line


def made_up_speeches(n_speeches: int) -> Corpus:
    """Speeches on twelve subjects, each of which lasts for a while, for where there is no data."""
    demo = demo_model()
    transmat = 0.85 * np.eye(12) + 0.15 * demo.transmat
    slow = HMM(demo.startprob, transmat, demo.emissionprob, demo.vocabulary)
    documents, _ = sample_documents(slow, n_speeches, length=400, random_state=0)
    names = tuple(f"speech {number}" for number in range(n_speeches))
    return Corpus("made up", tuple(map(" ".join, documents)), ((),) * n_speeches, names)


n_speeches, n_topics = (60, 3) if options.quick else (233, 12)
try:
    corpus = sotu()
    print("data: addresses on the State of the Union")
except MissingData:
    n_speeches, n_topics = 5 * n_speeches, 12
    corpus = made_up_speeches(n_speeches)
    print("data: made up, as sotu-stdlib.tar.gz was not found (see COHMM_DATA)")
texts = dict(zip(corpus.ids[-n_speeches:], corpus.texts[-n_speeches:], strict=True))
documents = read_documents(
    texts.values(), stop_words="english", token_pattern=r"[a-z]{3,}", min_df=5, max_df=0.5
)
print(documents)

topics = HTMM(n_topics, n_init=3, random_state=0).fit(documents)
print(f"a topic is drawn anew at {topics.switch_:.0%} of the words")
top = topics.top_words(4, by="relevance")

name = CHOSEN if CHOSEN in texts else corpus.ids[0]
[speech] = topics.segment([texts[name]])
print(
    f"{name}: {len(speech):,} words in {len(speech.runs)} passages; those of {LONG} words or more:"
)
for first, last, topic in speech.runs:
    if last - first >= LONG:
        begin = " ".join(speech.words[first : first + 4])
        print(f"  {last - first + 1:>4} words on {' '.join(top[topic])}: {begin} ...")

with plt.rc_context(STYLE):
    figure, ax = plt.subplots(figsize=(7.2, 3), layout="constrained")
    plot_segmentation(topics, speech, ax).set_title(name)
    figure.savefig(options.output, dpi=160)
