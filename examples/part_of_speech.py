"""# Part of speech: word classes from word order alone

Which words follow which says much about what they are: *the* comes before nouns, *to* before verbs.
A hidden Markov model has to invent classes of words to explain their order.  Here its states are
laid beside the classes that linguists gave the same words, which it never saw.

The data is the Brown corpus, a million words with a tag each.  A frequent word is a symbol of its
own; a rare one is known by its last two letters, by its capital or by its digits.  Pairs of
neighbours give the first model, and passes over the text take it to maximum likelihood.  Then
every state is named after the class that most of its words are in.
"""

import argparse
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

from cohmm import HMM, PairwiseHMM
from cohmm.datasets.corpora import MissingData, brown
from cohmm.plots import STYLE

parser = argparse.ArgumentParser(description="Word classes from word order alone.")
parser.add_argument("--quick", action="store_true", help="few words, to see that it runs")
parser.add_argument("--output", default="part_of_speech.png", help="where to write the picture")
options = parser.parse_args()

CLASSES = {  # how Brown's tags begin, in two letters or in three
    "noun": "nn np nr",
    "verb": "vb be hv do md",
    "adjective": "jj",
    "adverb": "rb rp ql wr",
    "pronoun": "pp pn wp ex",
    "determiner": "at dt ap ab wd pp$",
    "preposition": "in to",
    "conjunction": "cc cs",
    "number": "cd od",
    "mark": "",  # punctuation, and the few tags that are left
}
CLASS_OF = {tag: name for name, tags in CLASSES.items() for tag in tags.split()}


def symbol(word: str, frequent: set[str]) -> str:
    """A frequent word, or what can be seen of a rare one."""
    if word.lower() in frequent:
        return word.lower()
    if any(letter.isdigit() for letter in word):
        return "<number>"
    return "<Name>" if word[0].isupper() else f"<-{word[-2:]}>"


def made_up_text(n_words: int) -> tuple[np.ndarray, np.ndarray]:
    """Words of a small grammar with their tags, for where there is no data."""
    lexicon = {"at": "the a", "jj": "old light", "nn": "dog light saw", "vb": "saw sees", ".": "."}
    grammar = {"at": "jj nn nn", "jj": "nn", "nn": "vb vb .", "vb": "at at .", ".": "at"}
    words = sorted({word for some in lexicon.values() for word in some.split()})
    emission = [[some.split().count(word) for word in words] for some in lexicon.values()]
    transmat = [[some.split().count(tag) for tag in lexicon] for some in grammar.values()]
    rows = [
        np.array(table) / np.sum(table, axis=1, keepdims=True) for table in (transmat, emission)
    ]
    drawn, states = HMM(np.eye(5)[0], *rows, words).sample(n_words, random_state=0)
    return drawn, np.array(list(lexicon))[states]


n_words, n_frequent, n_states = (20_000, 100, 8) if options.quick else (1_200_000, 1_000, 17)
try:
    corpus = brown()
    words, tags = (np.concatenate(part)[:n_words] for part in (corpus.words, corpus.tags))
    print("data: the Brown corpus")
except MissingData:
    (words, tags), n_states = made_up_text(n_words), 5
    print("data: made up, as brown.zip was not found (see COHMM_DATA)")
counts = Counter(map(str.lower, words))
frequent = {word for word, _ in counts.most_common(n_frequent)}
data = [symbol(word, frequent) for word in words]
print(f"{len(data):,} words, {len(set(data)):,} symbols")

model = PairwiseHMM(n_states, random_state=0).fit(data)
states = model.predict(data)

names = [CLASS_OF.get(tag[:3], CLASS_OF.get(tag[:2], "mark")) for tag in tags]
truth = np.array([list(CLASSES).index(name) for name in names])
shared = np.zeros((n_states, len(CLASSES)), int)
np.add.at(shared, (states, truth), 1)
most = np.bincount(truth).max() / len(truth)
print(f"{shared.max(axis=1).sum() / shared.sum():.1%} of the words are in their state's main class")
print(f"{most:.1%} would be if there were one state")

order = np.lexsort((-shared.max(axis=1), shared.argmax(axis=1)))
labels = []
for state in order:
    top = [model.vocabulary_[n] for n in np.argsort(-model.emissionprob_[state])[:5]]
    labels.append(" ".join(top))
    share = shared[state].max() / shared[state].sum()
    print(f"{list(CLASSES)[shared[state].argmax()]:<12} {share:>4.0%}  {labels[-1]}")
with plt.rc_context(STYLE):
    figure, ax = plt.subplots(figsize=(7.2, 1 + 0.17 * n_states), layout="constrained")
    shares = shared[order] / shared[order].sum(axis=1, keepdims=True)
    picture = ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    ax.set_xticks(range(len(CLASSES)), list(CLASSES), rotation=30, ha="right")
    ax.set_yticks(range(n_states), labels, parse_math=False)
    ax.set(xlabel="known class", ylabel="state, by its words")
    figure.colorbar(picture, label="share of the state's words")
    figure.savefig(options.output, dpi=160)
