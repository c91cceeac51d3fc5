"""How many states pairs can show, and the space of their emissions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from cohmm.datasets.synthetic import random_hmm
from cohmm.learn.pairs import spectrum as module
from cohmm.learn.pairs.pair_law import pair_law
from cohmm.learn.pairs.spectrum import Spectrum, frequent_symbols, spectrum, whitened_basis
from tests.learn.pairs.test_min_volume import counts_of, quiet


def test_auto_states_are_seldom_too_many() -> None:
    for stay, length, least in ((0.0, 10**6, 15), (0.5, 10**6, 20), (0.8, 10**6, 20)):
        truth = random_hmm(100, 20, stay=stay, random_state=4)
        fit = quiet(counts_of(truth, length), "auto", max_iter=1, random_state=0)
        assert least <= fit.model.n_components <= 20
        assert fit.spectrum.values[0] == pytest.approx(1, abs=0.01)
        assert fit.spectrum.n_detectable == fit.model.n_components


def test_noise_is_seldom_taken_for_states() -> None:
    """Independent symbols, some of them rare: one state, but for about a twentieth of the data."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        symbols = rng.choice(16, 5000, p=rng.dirichlet(np.ones(16)))
        counts = np.zeros((16, 16))
        np.add.at(counts, (symbols[:-1], symbols[1:]), 1)
        counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=1) > 0]
        found.append(spectrum(pair_law(counts / counts.sum()), 4999, 10).n_detectable)
    assert found.count(1) >= 36
    assert max(found) <= 2


def test_singular_values_of_an_exact_law_are_its_states() -> None:
    truth = random_hmm(30, 4, stay=0.5, random_state=0)
    found = spectrum(pair_law(truth.pair_probability()), 1e12, 10)
    assert found.n_detectable == 4
    assert found.values[0] == pytest.approx(1)
    assert found.values[4] < 1e-12
    assert Spectrum(np.array([1.0, 0.2]), 2.0).n_detectable == 1  # there is always one


def test_large_laws_are_treated_as_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = random_hmm(40, 4, stay=0.5, random_state=0)
    law = pair_law(sparse.csr_array(counts_of(truth, 10**5)[1] / (10**5 - 1)))
    monkeypatch.setattr(module, "MAX_SIMULATED", 10)
    usual, (basis, symbols) = spectrum(law, 1e5, 6), whitened_basis([law], [1.0], 1e5, 4)
    monkeypatch.setattr(module, "LARGEST_DENSE", 10)
    large, (other, same) = spectrum(law, 1e5, 6), whitened_basis([law], [1.0], 1e5, 4)
    np.testing.assert_allclose(large.values, usual.values[:6], rtol=1e-9)
    assert large.floor == usual.floor
    np.testing.assert_array_equal(symbols, same)
    # The same space: what one basis spans, the other does.
    left = np.linalg.lstsq(basis, other, rcond=None)[0]
    np.testing.assert_allclose(basis @ left, other, atol=1e-8)


def test_rare_symbols_are_left_out() -> None:
    omega = np.full((60, 60), 1.0)
    omega[7] = omega[:, 7] = 1e-6
    law = pair_law(omega / omega.sum())
    assert frequent_symbols(law, 1e6).tolist() == [n for n in range(60) if n != 7]
    assert len(frequent_symbols(law, 100.0)) == 60  # where all are rare, none is
