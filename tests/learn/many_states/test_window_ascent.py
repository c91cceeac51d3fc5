"""Maximum likelihood of windows: up from given starts, and zeros among the transitions."""

from itertools import pairwise

import numpy as np

from cohmm import HMM, count_triples
from cohmm.evidence.windows import Windows
from cohmm.learn.many_states.window_ascent import FLOOR, maximum_likelihood
from cohmm.learn.many_states.window_law import WindowLaw, window_probability
from cohmm.learn.sequences.likelihood import StationaryLikelihood, WindowLikelihood
from tests.learn.many_states.test_overcomplete import sparse_model
from tests.strategies import random_model

OPTIONS = {"sparsity": 0.0, "max_iter": 300, "tol": 1e-4, "smoothing": 0.1, "callback": None}


def climbed(law, starts, **options):
    return maximum_likelihood(law, starts, np.random.default_rng(0), **OPTIONS | options)


def divergence(law, model):
    likelihood = StationaryLikelihood(WindowLikelihood(law))
    return law.negative_entropy - likelihood.expected(model).log_likelihood


def test_maximum_likelihood_beats_the_truth_and_never_gets_worse():
    truth = random_model(3, 4, seed=2)
    law = WindowLaw.of(count_triples(truth.sample(20_000, random_state=0)[0]))
    seen = []
    starts = [random_model(3, 4, seed) for seed in (5, 6)]
    fit = climbed(law, starts, callback=seen.append, smoothing=0.0)
    assert fit.converged
    assert fit.divergence == fit.objective < divergence(law, truth)
    assert abs(fit.divergence - divergence(law, fit.model)) < 1e-12
    assert fit.objective == min(fit.starts)
    assert len(fit.starts) == 2
    objectives = [step.objective for step in fit.history]
    assert all(after < before for before, after in pairwise(objectives))
    assert set(fit.history) < set(seen)  # of both starts
    pi = fit.model.stationary()
    np.testing.assert_allclose(pi, np.sort(pi)[::-1])
    np.testing.assert_allclose(pi, fit.model.startprob, atol=1e-9)


def test_a_start_that_explains_the_law_is_the_answer():
    truth = sparse_model(3, 5, 2, seed=0)
    law = WindowLaw.of(Windows.from_probability(window_probability(truth, 2)))
    off = random_model(5, 3, seed=1)
    fit = climbed(law, iter([truth, off]), sparsity=3.0)
    assert len(fit.starts) == 1
    assert (fit.n_iter, fit.converged) == (1, True)
    assert max(fit.model.distance(truth)) == 0
    # With a start that is off before it, and no noise, both are climbed from.
    assert len(climbed(law, [off, truth], max_iter=1).starts) == 2


def test_sparsity_makes_zeros():
    truth = HMM(
        [1, 0, 0],
        [[0.4, 0.6, 0], [0, 0.4, 0.6], [0.6, 0, 0.4]],
        [[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4]],
    )
    law = WindowLaw.of(count_triples(truth.sample(5_000, random_state=1)[0]))
    plain, sparse = (climbed(law, [truth], smoothing=0.0, sparsity=w) for w in (0.0, 3.0))
    zeros = truth.transmat == 0
    largest = [fit.model.align_to(truth).transmat[zeros].max() for fit in (plain, sparse)]
    assert largest[1] < 1e-6 < largest[0]
    assert plain.divergence < sparse.divergence
    penalty = 3 * np.log1p(sparse.model.transmat / (FLOOR / 3)).sum() / law.n_windows
    assert abs(sparse.objective - sparse.divergence - penalty) < 1e-9
    # The preference comes after plain maximum likelihood: its first pass is not the first.
    assert plain.history[0].n_iter == 1 < plain.n_iter <= sparse.history[0].n_iter


def test_smoothing_leaves_nothing_seen_impossible():
    truth = HMM([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], [[1, 0, 0], [0, 0.99, 0.01]])
    law = WindowLaw.of(count_triples(truth.sample(2_000, random_state=0)[0]))
    hard, soft = (climbed(law, [truth], smoothing=s).model for s in (0.0, 1.0))
    assert soft.emissionprob.min() > 1e-5 > hard.emissionprob.min()
