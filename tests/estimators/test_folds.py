"""SequenceKFold: folds of whole sequences, wherever scikit-learn takes a cv."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from cohmm import PairwiseHMM, SequenceKFold, Sequences
from cohmm.datasets.synthetic import separable_hmm

TRUTH = separable_hmm(12, 3, stay=0.6, random_state=0)


def test_cross_validation_never_cuts_a_sequence() -> None:
    sequences = [TRUTH.sample(length, random_state=length)[0] for length in range(400, 1400, 50)]
    data = Sequences.of(sequences, n_symbols=12)
    folds = list(SequenceKFold(4).split(data))
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(20))
    sizes = [data.lengths[test].sum() for _, test in folds]
    assert max(sizes) - min(sizes) <= data.lengths.max()
    for training, test in folds:
        assert not set(training) & set(test)
    model = PairwiseHMM(3, n_features=12, refine=False, random_state=0)
    scores = cross_val_score(model, data, cv=SequenceKFold(4))
    training, test = folds[0]
    by_hand = clone(model).fit([sequences[s] for s in training])
    assert scores[0] == pytest.approx(by_hand.score([sequences[s] for s in test]))
    np.testing.assert_allclose(scores, cross_val_score(model, sequences, cv=SequenceKFold(4)))


def test_cross_validation_keeps_labels_and_missing_observations() -> None:
    rng = np.random.default_rng(0)
    sequences = [
        [None if rng.random() < 0.1 else "xyz"[s] for s in rng.integers(0, 3, 200)]
        for _ in range(6)
    ]
    data = Sequences.of(sequences)
    model = PairwiseHMM(1, random_state=0)
    np.testing.assert_allclose(
        cross_val_score(model, data, cv=SequenceKFold(3)),
        cross_val_score(model, sequences, cv=SequenceKFold(3)),
    )


def test_grid_search_over_states() -> None:
    sequences = [TRUTH.sample(2000, random_state=seed)[0] for seed in range(6)]
    search = GridSearchCV(
        PairwiseHMM(n_features=12, refine=False, random_state=0),
        {"n_components": [1, 3]},
        cv=SequenceKFold(2),
    )
    search.fit(sequences)
    assert search.best_params_ == {"n_components": 3}


def test_too_few_sequences_to_split() -> None:
    with pytest.raises(ValueError, match="2 sequences cannot be split into 3 folds"):
        list(SequenceKFold(3).split([[0, 1], [1, 0]]))
    with pytest.raises(ValueError, match="at least 2"):
        SequenceKFold(1)
