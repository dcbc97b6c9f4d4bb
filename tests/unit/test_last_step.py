"""The last step of large studies at common times is about the middle of the bounds, clipping nobody."""

import numpy as np
import pytest

from engine.core.random_streams import generator
from engine.core.types import Budget, CurveData, Design, PublicFacts
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.numerics.bases import Basis
from engine.numerics.deviations import largest_norm
from engine.sources.activity_days import ActivityDays
from tests.benchmark.plain_means import GOAL, compared

TIMES = tuple(((np.arange(24) + 0.5) / 24).tolist())
LARGE = Budget(3.0, 1e-7)


def rare(n=3000, seed=1):
    """Observations of which nine in ten are at the lower bound, and a tenth at the upper."""
    ends = np.where(np.random.default_rng(seed).random((1, n, 24)) < 0.1, 1.0, -1.0)
    return CurveData(
        times=np.tile(TIMES, n)[None],
        values=ends.reshape(1, -1),
        counts=np.full(n, 24),
        server=np.zeros(n, dtype=np.int64),
        facts=PublicFacts(design=Design.common(TIMES)),
    )


def released(data):
    return AdaptiveMean(shrink="never", truncation=15).release(data, (LARGE,), generator(1, 1, 0))


def test_nobody_is_clipped_so_that_without_noise_rare_values_keep_their_mean():
    data = rare()
    means = data.values.reshape(-1, 24).mean(axis=0)
    rows = Basis(15, family="cosine")(np.array(TIMES))
    kept = rows @ np.linalg.lstsq(rows, means, rcond=None)[0]
    assert rows @ released(data).unprotected[0, 0] == pytest.approx(kept, abs=1e-6)


def test_its_error_is_that_of_the_noise_of_column_means_on_fewer_functions():
    """(high − low)√r/(N√w), here N = 2950 and w = .85, with less from the steps before it."""
    data = rare()
    estimate = AdaptiveMean(shrink="never", truncation=15).release_many(
        data, [(LARGE,)], 200, generator(1, 1, 0)
    )
    noise = estimate.coefficients[0, 0] - estimate.unprotected[0, 0]
    effective = estimate.tuning[0]["effective_size"]
    expected = 2 * np.sqrt(15 / 0.85) / effective
    assert 0.85 * expected < np.sqrt((noise**2).sum(axis=-1).mean()) < 1.05 * expected


def test_the_norm_is_known_of_everybody_at_all_of_enough_common_times():
    assert largest_norm(Basis(21, family="cosine"), Design.common(TIMES), 24) == pytest.approx(1)
    assert (
        largest_norm(Basis(21, family="cosine"), Design.common(TIMES), 23) == np.inf
    )  # some miss some times
    assert largest_norm(Basis(5, family="cosine"), Design(), 100) == np.inf


@pytest.mark.parametrize("size", [3, 9, 15])
def test_no_curve_within_the_bounds_exceeds_the_norm(size):
    """Of visits a half hour, one, two, … apart, at all of which everybody is observed."""
    times = np.linspace(0, 1, 30) ** 1.3
    inverse = np.linalg.pinv(Basis(size, family="cosine")(times))
    z = np.sign(np.random.default_rng(1).standard_normal((len(times), 300)))
    for _ in range(30):
        z = np.sign(inverse.T @ (inverse @ z))
    assert np.linalg.norm(inverse @ z, axis=0).max() <= largest_norm(
        Basis(size, family="cosine"), Design.common(times), 30
    )


def test_settings_that_were_stored_before_stand_for_a_last_step_near_the_centre():
    earlier = {
        name: value for name, value in AdaptiveMean().values().items() if name != "last_step"
    }
    assert AdaptiveMean(**AdaptiveMean.stored(earlier)).last_step == "near"


def test_errors_are_not_above_those_of_plain_column_means():
    """Days of activity, of which most observations are zero: 3 × 4 releases, and their errors."""
    assert compared(3000, 3, data_sets=3).ratio < GOAL


def test_fewer_common_times_than_functions_are_met_with_the_noise_of_their_means():
    """Days of activity at 20 times, 21 functions, 10 000 people, ε = 3: errors at these times."""
    source, budget = ActivityDays(n_curves=10_000, n_observations_per_curve=20), Budget(3.0, 1e-8)
    data = source.draw(1, generator(3, 0, 0))
    times = np.array(data.facts.common_times)
    means = data.facts.value_middle + data.on_grid(data.facts.common_times).mean(axis=1)[0]
    estimate = AdaptiveMean().release_many(data, [(budget,)], 12, generator(3, 1, 0))
    noise = 60 * np.sqrt(20 / 0.85) / estimate.tuning[0]["effective_size"]
    assert np.sqrt(((estimate.values(times)[0, 0] - means) ** 2).mean()) < 1.1 * noise
