"""The scalar example: sensitivities are proved and reached, and the best share is where noise is least."""

import numpy as np
import pytest

from reproductions.functional_summaries.scalar import best_share, sums_about_means


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 1.0), (3.0, 3.5)])
def test_no_replaced_pair_moves_covariance_or_variance_beyond_the_proved_bound(low, high):
    rng = np.random.default_rng(7)
    for n in (2, 3, 8, 40):
        x, y = rng.choice([low, high, rng.uniform(low, high)], size=(2, 4000, n))
        here = np.stack(sums_about_means(x, y))
        x[:, 0], y[:, 0] = rng.choice([low, high], size=(2, 4000))
        moved = np.abs(np.stack(sums_about_means(x, y)) - here)
        assert moved.max() <= (high - low) ** 2 * (1 - 1 / n) * (1 + 1e-9)


def test_the_bound_is_reached_where_all_others_are_at_one_end():
    x, y = np.zeros(5), np.zeros(5)
    first = np.stack(sums_about_means(x, y))
    x[0] = y[0] = 1.0
    np.testing.assert_allclose(np.stack(sums_about_means(x, y)) - first, 1 - 1 / 5)


@pytest.mark.parametrize("slope", [0.05, 0.5, 1.0, -4.0])
def test_the_best_share_has_the_least_noise_to_first_order(slope):
    shares = np.linspace(0.01, 0.99, 9801)
    noise = 1 / shares**2 + slope**2 / (1 - shares) ** 2
    assert shares[noise.argmin()] == pytest.approx(best_share(slope), abs=1e-3)
