"""Theorem 2.2 and Corollary 2 as they are proved: logarithms, probability, and the best r."""

import math

import numpy as np
import pytest

from engine.rates.functional_mean import (
    DENSE,
    PRIVATE_DENSE,
    PRIVATE_SPARSE,
    SPARSE,
    FunctionalMeanRate,
)
from engine.rates.noisy_gradient import (
    SMOOTHING,
    NoisyGradientCoefficientsRate,
    NoisyGradientMeanRate,
)

POINT = {"n": 2000.0, "m": 25.0, "epsilon": 0.8, "delta": 1e-7, "r": 6.0, "eta": 0.02}
LOGS = math.log(2000) ** 2 * math.log(math.log(2000) / 0.02) * math.log(1e7)
both = pytest.mark.parametrize("rate", [NoisyGradientMeanRate(), NoisyGradientCoefficientsRate()])


def by_name(rate, **point):
    return dict(zip([t.name for t in rate.terms], rate.evaluate(**point), strict=True))


def test_terms_of_a_mean_are_those_of_theorem_2_2():
    terms = by_name(NoisyGradientMeanRate(smoothness=2.0), **POINT)
    expected = {
        DENSE: math.log(2000) / 2000 / 0.02,
        SPARSE: 6 * math.log(2000) / 50_000 / 0.02,
        SMOOTHING: 6**-4 / 0.02,
        PRIVATE_DENSE: LOGS / 1600**2,
        PRIVATE_SPARSE: 36 * math.log(1e5) ** 2 / 25 * LOGS / 1600**2,
    }
    assert terms == pytest.approx(expected)


def test_terms_of_coefficients_are_those_of_corollary_2():
    terms = by_name(NoisyGradientCoefficientsRate(smoothness=2.0), **POINT, d=3.0)
    expected = {
        DENSE: 3 * math.log(2000) / 2000 / 0.02,
        SPARSE: 18 * math.log(2000) / 50_000 / 0.02,
        SMOOTHING: 3 * 6**-4 / 0.02,
        PRIVATE_DENSE: 9 * LOGS / 1600**2,
        PRIVATE_SPARSE: 9 * 36 * math.log(1e5) / 25 * LOGS / 1600**2,
    }
    assert terms == pytest.approx(expected)


@both
@pytest.mark.parametrize("smoothness", [1.0, 3.0, 8.0])
def test_no_other_number_of_functions_has_a_smaller_bound(rate, smoothness):
    rate = type(rate)(smoothness=smoothness)
    point = {**POINT, "epsilon": np.array([0.05, 1.0, 9.0])}
    best = rate.tuning(**point)["truncation"]
    least = rate.total(**{**point, "r": best})
    for factor in (0.9, 1.1):
        assert (rate.total(**{**point, "r": factor * best}) > least).all()


def test_without_logarithms_it_falls_as_the_minimax_rate():
    """Over many powers of ten of n both slopes come together: what is left is logarithms."""
    bound, minimax = NoisyGradientMeanRate(), FunctionalMeanRate(privacy="central")
    ends = {"n": np.array([1e30, 1e33]), "m": 20.0, "epsilon": 1.0, "delta": 1e-12}
    r = bound.tuning(**ends)["truncation"]
    assert (r < np.exp(20.0)).all()
    slopes = [
        np.diff(np.log10(rate.total(**ends, **more)))[0] / 3
        for rate, more in ((bound, {"r": r}), (minimax, {"S": 1.0}))
    ]
    assert slopes[0] == pytest.approx(slopes[1], abs=0.03)


@both
def test_more_functions_than_the_observations_allow_do_not_meet_the_condition(rate):
    (condition,) = rate.conditions
    limit = 50_000 / math.log(2000) - math.log(math.log(2000) / 0.02)
    few = rate.at(**{**POINT, "r": limit - 1})
    assert condition.holds(few) and not condition.holds(rate.at(**{**POINT, "r": limit + 1}))
