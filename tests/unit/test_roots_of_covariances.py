"""Widths of bands do not follow which eigenvectors a processor happens to find."""

import numpy as np
import pytest

from engine.core.bands import simultaneous_factor
from engine.mechanisms.families.adaptive.percentile_stages import rotation
from engine.numerics import sparse_fits
from engine.numerics.bases import Basis

ROWS = Basis(7, family="fourier")(np.linspace(0, 1, 60))


def nearly_equal(size, seed):
    """Eigenvalues that agree to ten digits: any directions serve as eigenvectors."""
    noise = np.random.default_rng(seed).standard_normal((size, size))
    return np.eye(size) + 1e-10 * (noise + noise.T)


def test_simultaneous_bands_of_nearly_equal_covariances_are_equally_wide():
    factors = [float(simultaneous_factor(nearly_equal(7, seed), ROWS)) for seed in range(6)]
    assert factors == pytest.approx([factors[0]] * 6, rel=1e-8)


def test_simultaneous_intervals_of_nearly_equal_covariances_are_equally_wide():
    factors = [
        float(
            sparse_fits.largest_quantile(
                nearly_equal(7, seed), 0.95, 2000, np.random.default_rng(1)
            )
        )
        for seed in range(6)
    ]
    assert factors == pytest.approx([factors[0]] * 6, rel=1e-8)


def test_directions_of_shares_begin_above_zero_on_every_processor():
    """An eigenvector has either sign; this rule leaves one."""
    directions, variances = rotation(np.array([0.05, 0.25, 0.5, 0.75, 0.95])[:, None])
    assert (directions[0] > 0).all() and (np.diff(variances) < 0).all()
    assert directions.T @ directions == pytest.approx(np.eye(5), abs=1e-12)
