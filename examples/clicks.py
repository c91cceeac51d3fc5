"""# Clicks: what visitors of a site came for

A visit is a sequence of pages, and which page comes next depends on what the visitor is there for,
which nobody has written down.  A hidden Markov model finds it: its states are interests, each with
its pages and with the number of pages for which it lasts.

The data are visits to msnbc.com on one day of 1999: the category of every page, out of 17.  Pairs
of pages one, two and three apart are counted, a model is learned from the counts, and some passes
over the visits take it to maximum likelihood.  Twelve interests then predict the pages of other
visits nearly as well as the chain of all 17 categories does, in which nothing is hidden.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

from cohmm import HMM, PairwiseHMM, Sequences, count_pairs
from cohmm.datasets.corpora import MissingData, msnbc
from cohmm.plots import STYLE, plot_emissions, plot_transitions

parser = argparse.ArgumentParser(description="What visitors of a site came for.")
parser.add_argument("--quick", action="store_true", help="few visits, to see that it runs")
parser.add_argument("--output", default="clicks.png", help="where to write the picture")
options = parser.parse_args()


def made_up_visits(n_visits: int) -> Sequences:
    """Visits to a site with four interests, for where there is no data."""
    pages = ["front", "news", "weather", "sports", "scores", "business", "stocks", "health", "food"]
    own = [["front", "news", "weather"], ["sports", "scores"], ["business", "stocks"], pages[7:]]
    emission = np.array([[1.0 if page in mine else 0.02 for page in pages] for mine in own])
    transmat = np.full((4, 4), 0.05) + 0.8 * np.eye(4)
    emission /= emission.sum(axis=1, keepdims=True)
    site = HMM([0.7, 0.1, 0.1, 0.1], transmat, emission, pages)
    rng = np.random.default_rng(0)
    return Sequences.of([site.sample(n, rng)[0] for n in rng.geometric(0.2, n_visits)])


def some(visits: Sequences, start: int, stop: int) -> Sequences:
    """Visits ``start`` to ``stop``."""
    offsets = visits.offsets[start : stop + 1]
    pages = visits.symbols[offsets[0] : offsets[-1]]
    return Sequences(pages, offsets - offsets[0], visits.n_symbols, visits.vocabulary)


n_visits, n_interests = (10_000, 6) if options.quick else (200_000, 12)
try:
    visits = msnbc()
    print("data: msnbc.com, 28 September 1999")
except MissingData:
    visits, n_interests = made_up_visits(n_visits), 4
    print("data: made up, as msnbc.tar.gz was not found (see COHMM_DATA)")
train, test = some(visits, 0, n_visits * 4 // 5), some(visits, n_visits * 4 // 5, n_visits)
print(f"learned from {len(train):,} visits, {len(train.symbols):,} pages")
model = PairwiseHMM(n_interests, lags=(1, 2, 3), random_state=0).fit(train)

# Beside it a simpler model, in which nothing is hidden: a chain of the pages themselves.
counts = count_pairs(train)
first, pairs = counts.start_counts + 0.1, counts[1] + 0.1
transmat = pairs / pairs.sum(axis=1, keepdims=True)
chain = HMM(first / first.sum(), transmat, np.eye(train.n_symbols), train.vocabulary)
for name, one in ((f"{n_interests} interests", model.model_), ("the pages' own chain", chain)):
    nats = -one.log_likelihood(test) / len(test.symbols)
    print(f"{name:<20} {nats:.3f} nats per page of {len(test):,} other visits")

for k, emission in enumerate(model.emissionprob_):
    top = np.argsort(-emission)[:3]
    pages = ", ".join(f"{model.vocabulary_[n]} {emission[n]:.0%}" for n in top)
    print(f"interest {k:>2} lasts {1 / (1 - model.transmat_[k, k]):>2.0f} pages: {pages}")
visit = test[0][:3]
ahead = model.forecast(visit)[0]
print(f"after {', '.join(visit)} comes {model.vocabulary_[ahead.argmax()]}, {ahead.max():.0%}")

with plt.rc_context(STYLE):
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.3), layout="constrained")
    plot_emissions(model, left).set(xlabel="interest", ylabel="page")
    plot_transitions(model, right, leaving=True, seriate=False)
    right.set(xlabel="to interest", ylabel="from interest")
    figure.savefig(options.output, dpi=160)
