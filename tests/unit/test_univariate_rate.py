"""Rates of univariate means: the exponents of the slides, and where terms are equal."""

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.rates import rates
from engine.rates.functional_mean import DENSE, PRIVATE_DENSE
from engine.rates.univariate_mean import LOST, RateSetting, UnivariateMeanRate
from tests.sentences import of_topic

wording = of_topic("plan")

POINT = {"S": 300.0, "n": 40.0, "epsilon": 0.2}
EXPONENTS = {  # of S, n and ε, term by term
    "none": {DENSE: (-1, -1, 0)},
    "local_item": {PRIVATE_DENSE: (-1, -1, -2)},
    "local_user_small_n": {PRIVATE_DENSE: (-1, -1, -2)},
    "central_item": {DENSE: (-1, -1, 0), PRIVATE_DENSE: (-2, -2, -2)},
    "central_user": {DENSE: (-1, -1, 0), PRIVATE_DENSE: (-2, -1, -2)},
    "site": {DENSE: (-1, -1, 0), PRIVATE_DENSE: (-1, -2, -2)},
}
FORMULAS = {
    DENSE: {r"(Sn)^{-1}"},
    PRIVATE_DENSE: {
        r"(Sn\varepsilon^2)^{-1}",
        r"(S^2n^2\varepsilon^2)^{-1}",
        r"(S^2n\varepsilon^2)^{-1}",
        r"(Sn^2\varepsilon^2)^{-1}",
    },
    LOST: {r"e^{-S\varepsilon^2}"},
}


@pytest.mark.parametrize("setting", EXPONENTS)
def test_slopes_of_the_terms_are_the_exponents_of_the_table(setting):
    rate = UnivariateMeanRate(setting=setting)
    assert [term.name for term in rate.terms] == list(EXPONENTS[setting])
    slopes = np.array([rate.slopes(symbol, **POINT) for symbol in ("S", "n", "epsilon")]).T
    assert np.allclose(slopes, list(EXPONENTS[setting].values()), atol=1e-8)


@pytest.mark.parametrize("setting", EXPONENTS)
def test_terms_have_the_constant_one(setting):
    s, n, e = POINT["S"], POINT["n"], POINT["epsilon"]
    by_hand = [s**a * n**b * e**c for a, b, c in EXPONENTS[setting].values()]
    assert np.allclose(UnivariateMeanRate(setting=setting).evaluate(**POINT), by_hand, rtol=1e-12)


def test_with_many_numbers_for_each_person_more_of_them_do_not_help():
    rate = UnivariateMeanRate(setting="local_user_large_n")
    assert rate.total(**POINT) == pytest.approx(np.exp(-300 * 0.04))
    assert rate.slopes("n", **POINT) == pytest.approx([0.0])
    assert rate.slopes("S", **POINT) == pytest.approx([-300 * 0.04], rel=1e-6)


@pytest.mark.parametrize("setting", RateSetting)
def test_formulas_are_those_of_the_slides(setting):
    for term in UnivariateMeanRate(setting=setting).terms:
        assert term.formula in FORMULAS[term.name]


@pytest.mark.parametrize("setting", ["central_item", "central_user", "site"])
def test_a_boundary_is_where_two_terms_are_equal_and_the_first_rules_below(setting):
    rate = UnivariateMeanRate(setting=setting)
    (boundary,) = rate.boundaries
    point = {"S": np.array([3.0, 300.0]), "n": np.array([1.0, 70.0])}
    at = boundary.value(rate.at(**point))
    names = [term.name for term in rate.terms]
    on = dict(zip(names, rate.evaluate(**point, epsilon=at), strict=True))
    below = dict(zip(names, rate.evaluate(**point, epsilon=at / 2), strict=True))
    first, second = boundary.between
    assert np.allclose(on[first], on[second], rtol=1e-12)
    assert (below[first] > below[second]).all()


@pytest.mark.parametrize(
    "setting", [s for s in RateSetting if s.startswith("local") or s == "none"]
)
def test_a_rate_of_one_term_has_no_boundary(setting):
    assert UnivariateMeanRate(setting=setting).boundaries == ()


def limit(rate, name, **point):
    (condition,) = [c for c in rate.conditions if c.name.startswith(name)]
    return condition.limit(rate.at(**point))


def test_small_n_ends_where_the_two_local_rates_of_people_are_equal():
    small, large = (
        UnivariateMeanRate(setting=f"local_user_{size}_n") for size in ("small", "large")
    )
    n = limit(small, "small n", S=400.0, epsilon=0.1)
    assert small.total(S=400.0, n=n, epsilon=0.1) == pytest.approx(
        large.total(S=400.0, n=n, epsilon=0.1), rel=1e-9
    )
    assert limit(large, "large n", S=400.0, n=n) == pytest.approx(0.1, rel=1e-9)
    assert limit(large, "large n", S=400.0, n=2.0) == 0.0
    assert np.isposinf(limit(small, "small n", S=1e5, epsilon=10.0))


def test_the_table_is_known_to_hold_up_to_one():
    for setting in RateSetting:
        rate = UnivariateMeanRate(setting=setting)
        if setting == "none":
            assert rate.conditions == ()
            continue
        table = rate.conditions[0]
        assert table.holds(rate.at(epsilon=1.0)) and not table.holds(rate.at(epsilon=1.1))


def test_the_rate_serves_its_task_and_says_what_is_our_understanding():
    assert UnivariateMeanRate in rates.for_task("univariate_mean")
    wording.found("lecture slides rates", UnivariateMeanRate.reference)
    wording.found("we understand them", UnivariateMeanRate.reference)
    assert UnivariateMeanRate().setting == "central_item"
    with pytest.raises(InputError, match="site"):
        UnivariateMeanRate(setting="federated")
