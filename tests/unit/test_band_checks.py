"""Released coefficients say where the band around them may miss the truth."""

import numpy as np
import pytest

from engine.core.bands import standard_errors
from engine.core.grids import drawing_grid
from engine.mechanisms.families.adaptive.band_checks import have_finer_detail, have_steep_ends
from engine.numerics.bases import Basis

FINE = (np.arange(20_000) + 0.5) / 20_000
NOISE = 0.003 / (1 + np.arange(24) / 4)  # standard errors of coefficients, as releases have them


def peak(width):
    return lambda t: 0.2 + 0.5 * np.exp(-(((t - 0.4) / width) ** 2))


def rise(width):
    return lambda t: 0.3 + 0.4 * np.exp(-t / width)


def released(curve, size, releases=200, family="cosine"):
    """The basis, coefficients of a curve with fresh noise in many releases, and what is known of it.

    That is their covariance, and half the width of the band that follows from it.
    """
    basis = Basis(size, family=family)
    exact = curve(FINE) @ basis(FINE) / len(FINE)
    noise = NOISE[:size] * np.random.default_rng(2).standard_normal((releases, size))
    covariance = np.broadcast_to(np.diag(NOISE[:size] ** 2), (releases, size, size))
    half_width = 1.96 * standard_errors(covariance, basis(drawing_grid())).mean(axis=-1)
    return basis, exact + noise, covariance, half_width


@pytest.mark.parametrize("size", [9, 13, 20])
def test_peaks_too_narrow_for_the_kept_functions_are_seen_and_wide_ones_are_not(size):
    assert have_finer_detail(*released(peak(0.8 / size), size)).mean() > 0.98
    assert have_finer_detail(*released(peak(3 / size), size)).mean() < 0.01


@pytest.mark.parametrize("place", [0.3, 0.45, 0.62, 0.7])
def test_a_step_is_seen_wherever_it_is_and_four_turns_are_not(place):
    """There are places at which the last four coefficients alone hardly show a step."""
    assert have_finer_detail(*released(lambda t: 0.2 * (t > place), 17)).mean() > 0.9
    assert have_finer_detail(*released(lambda t: 0.2 * np.cos(5 * np.pi * t), 17)).mean() < 0.01


@pytest.mark.parametrize("size", [11, 13])
@pytest.mark.parametrize("place", [0.3, 0.45, 0.6, 0.7])
def test_a_step_is_seen_wherever_it_is_by_few_coefficients_too_and_two_turns_are_not(size, place):
    assert have_finer_detail(*released(lambda t: 0.15 * (t > place), size)).mean() > 0.9
    assert have_finer_detail(*released(lambda t: 0.1 * np.sin(4 * np.pi * t), size)).mean() < 0.01


@pytest.mark.parametrize("size", [13, 21])
def test_of_a_period_too_narrow_peaks_are_seen_and_so_is_a_jump_between_its_ends(size):
    told = {
        name: have_finer_detail(*released(curve, size, family="fourier")).mean()
        for name, curve in {
            "narrow": peak(0.8 / size),
            "wide": peak(3 / size),
            "jump": lambda t: 0.2 + 0.5 * t,
        }.items()
    }
    assert told["narrow"] > 0.98 and told["jump"] > 0.98 and told["wide"] < 0.01
    assert not have_steep_ends(*released(rise(0.02), size, family="fourier")).any()


@pytest.mark.parametrize(
    "curve",
    [
        lambda t: 0.2 + 0.5 * t,
        lambda t: 0.2 + 0.5 * t**0.6,
        lambda t: 0.5 + 0.3 * np.sin(4 * np.pi * t),
        peak(0.12),
        rise(0.3),
    ],
    ids=["line", "growth", "two turns", "wide peak", "slow rise"],
)
def test_curves_that_bands_cover_are_hardly_ever_doubted(curve):
    check = released(curve, 20)
    assert have_finer_detail(*check).mean() < 0.01 and have_steep_ends(*check).mean() < 0.1


@pytest.mark.parametrize("width", [0.01, 0.02])
def test_a_rise_within_a_small_part_of_the_range_is_seen_at_either_end(width):
    basis, centre, *noise = released(rise(width), 20)
    assert have_steep_ends(basis, centre, *noise).mean() > 0.9
    turned = centre * (-1.0) ** np.arange(20)  # the same curve from its other end
    assert have_steep_ends(basis, turned, *noise).mean() > 0.9


def test_with_few_functions_or_much_noise_nothing_is_said():
    basis, centre, *noise = released(peak(0.03), 5)
    assert not have_finer_detail(basis, centre, *noise).any()
    assert not have_steep_ends(basis, centre, *noise).any()
    basis, centre, *noise = released(lambda t: 0 * t, 20)
    assert not have_finer_detail(basis, centre, *noise).any()
