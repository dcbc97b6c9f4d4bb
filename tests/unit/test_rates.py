"""Every entry of the tables of rates, regimes and boundaries of arXiv 2412.06582."""

from dataclasses import replace

import numpy as np
import pytest

from engine.rates import rates
from engine.rates.differing_sites import (
    TERMS,
    DifferingCoefficientsRate,
    DifferingMeanRate,
    DifferingSites,
    Weights,
)
from engine.rates.functional_mean import (
    DENSE,
    PRIVATE_DENSE,
    PRIVATE_SPARSE,
    SPARSE,
    FunctionalMeanRate,
    VaryingCoefficientsRate,
    largest_delta,
)
from engine.topics.rates.answer import PRESETS

ALPHAS = (1.0, 2.0, 3.5)
POINT = {"n": 300.0, "m": 12.0, "S": 5.0, "epsilon": 0.7}


def term(rate, name, **point):
    return rate.evaluate(**point)[[t.name for t in rate.terms].index(name)]


# -- exponents: Tables 1 and 4 --------------------------------------------------------------


def exponents(privacy, a):
    """Printed exponents of each term in n, m, S, ε."""
    sparse, private = -2 * a / (2 * a + 1), -a / (a + 1)
    k = {"central": (2, 2, 2), "federated": (2, 1, 2), "local": (1, 1, 2)}[privacy]  # n, S, ε
    return {
        SPARSE: (sparse, sparse, sparse, 0),
        PRIVATE_SPARSE: (k[0] * private, private, k[1] * private, k[2] * private),
        DENSE: (-1, 0, -1, 0),
        PRIVATE_DENSE: (-k[0], 0, -k[1], -k[2]),
    }


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("privacy", ["central", "federated", "local"])
@pytest.mark.parametrize("cls", [FunctionalMeanRate, VaryingCoefficientsRate])
def test_slopes_of_the_terms_are_the_printed_exponents(cls, privacy, alpha):
    rate = cls(privacy=privacy, smoothness=alpha)
    for name, expected in exponents(privacy, alpha).items():
        row = [t.name for t in rate.terms].index(name)
        slopes = [rate.slopes(symbol, **POINT)[row] for symbol in ("n", "m", "S", "epsilon")]
        assert np.allclose(slopes, expected, atol=1e-7), name


@pytest.mark.parametrize("alpha", ALPHAS)
def test_slopes_in_the_number_of_regressors_are_the_printed_ones(alpha):
    rate = VaryingCoefficientsRate(smoothness=alpha)
    names = [t.name for t in rate.terms]
    by_name = dict(zip(names, rate.slopes("d", **POINT, d=3.0), strict=True))
    assert by_name[SPARSE] == pytest.approx(1)
    assert by_name[PRIVATE_SPARSE] == pytest.approx((2 * alpha + 1) / (alpha + 1))
    assert by_name[DENSE] == pytest.approx(1)
    assert by_name[PRIVATE_DENSE] == pytest.approx(2)


def test_without_privacy_only_the_terms_of_people_and_readings_are_left():
    free = FunctionalMeanRate(privacy="none")
    assert [t.name for t in free.terms] == [SPARSE, DENSE]
    assert np.allclose(free.evaluate(**POINT), FunctionalMeanRate().evaluate(**POINT)[[0, 2]])


# -- special cases --------------------------------------------------------------------------


def test_one_site_is_central_one_person_per_site_is_local_and_one_function_is_the_mean():
    alone = {**POINT, "S": 1.0}
    single = {**POINT, "n": 1.0}
    federated = FunctionalMeanRate()
    assert np.allclose(
        federated.evaluate(**alone), FunctionalMeanRate(privacy="central").evaluate(**alone)
    )
    assert np.allclose(
        federated.evaluate(**single), FunctionalMeanRate(privacy="local").evaluate(**single)
    )
    assert np.allclose(
        federated.evaluate(**POINT), VaryingCoefficientsRate().evaluate(**POINT, d=1.0)
    )


# -- boundaries: Tables 5 to 8 --------------------------------------------------------------


def printed_boundary(key, a, p):
    """The boundaries as the tables print them, for each site trusted."""
    n, m, S, d, e = p["n"], p["m"], p["S"], p["d"], p["epsilon"]
    return {
        "A": d ** (-1 / a) * (S * n**2 * e**2) ** (1 / a),
        "B": (S * n) ** (1 / (2 * a)),
        "C": d**0.5 * S ** (1 / (4 * a + 2)) * n ** (-a / (2 * a + 1)) * m ** (1 / (4 * a + 2)),
        "D": d**0.5 * n**-0.5,
        "E": d**0.5 * S ** (1 / (2 * a)) * n ** ((1 - a) / (2 * a)) * m**-0.5,
    }[key]


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("cls", [FunctionalMeanRate, VaryingCoefficientsRate])
def test_boundaries_are_the_printed_ones_and_lie_where_their_two_terms_are_equal(cls, alpha):
    rate = cls(smoothness=alpha)
    point = rate.at(**POINT, **({"d": 4.0} if cls is VaryingCoefficientsRate else {}))
    assert rate.boundaries
    for boundary in rate.boundaries:
        value = boundary.value(point)
        assert value == pytest.approx(
            printed_boundary(boundary.key, alpha, {"d": 1.0, **point}), rel=1e-12
        )
        there = {**point, boundary.symbol: value}
        one, other = (term(rate, name, **there) for name in boundary.between)
        assert one == pytest.approx(other, rel=1e-9), boundary.key
        below = {**point, boundary.symbol: value / 2}
        first, second = (term(rate, name, **below) for name in boundary.between)
        assert first > second, boundary.key


@pytest.mark.parametrize("privacy", ["central", "local"])
def test_boundaries_of_the_other_notions_lie_where_their_two_terms_are_equal(privacy):
    rate = FunctionalMeanRate(privacy=privacy, smoothness=2.0)
    point = rate.at(**POINT)
    assert rate.boundaries
    for boundary in rate.boundaries:
        there = {**point, boundary.symbol: boundary.value(point)}
        one, other = (term(rate, name, **there) for name in boundary.between)
        assert one == pytest.approx(other, rel=1e-9), boundary.key


def ruling(rate, **point):
    return rate.terms[int(rate.dominant(**point))].name


def test_regimes_of_figure_1_follow_each_other_as_epsilon_grows():
    """n = 10⁴, α = 2: readings below n^(1/4), between, and above n^(1/2)."""
    rate, n = FunctionalMeanRate(privacy="central", smoothness=2.0), 1e4
    orders = {
        5.0: [PRIVATE_DENSE, PRIVATE_SPARSE, SPARSE],
        50.0: [PRIVATE_DENSE, PRIVATE_SPARSE, DENSE],
        500.0: [PRIVATE_DENSE, DENSE],
    }
    for m, expected in orders.items():
        seen = [ruling(rate, n=n, m=m, S=1.0, epsilon=e) for e in np.geomspace(1e-6, 1e2, 400)]
        assert [name for k, name in enumerate(seen) if k == 0 or seen[k - 1] != name] == expected
    low = 5.0**1 / n  # m^{α/2}/n
    assert ruling(rate, n=n, m=5.0, S=1.0, epsilon=0.9 * low) == PRIVATE_DENSE
    assert ruling(rate, n=n, m=5.0, S=1.0, epsilon=1.1 * low) == PRIVATE_SPARSE


def test_regimes_of_table_2_follow_from_the_largest_term():
    rate, a, n = FunctionalMeanRate(privacy="central", smoothness=2.0), 2.0, 1e4
    for epsilon in (1e-3, 5e-3):  # below n^(−1/2)
        border = (n**2 * epsilon**2) ** (1 / a)
        assert ruling(rate, n=n, m=border / 2, S=1.0, epsilon=epsilon) == PRIVATE_SPARSE
        assert ruling(rate, n=n, m=2 * border, S=1.0, epsilon=epsilon) == PRIVATE_DENSE
    assert ruling(rate, n=n, m=n**0.25 / 2, S=1.0, epsilon=10.0) == SPARSE
    assert ruling(rate, n=n, m=n**0.5 * 2, S=1.0, epsilon=10.0) == DENSE


def test_a_map_of_regimes_is_drawn_from_one_array_call():
    m, epsilon = np.meshgrid(np.geomspace(1, 1e4, 400), np.geomspace(1e-3, 10, 400))
    regimes = FunctionalMeanRate().dominant(n=1000.0, m=m, S=1.0, epsilon=epsilon)
    assert regimes.shape == (400, 400)
    assert set(np.unique(regimes)) == {0, 1, 2, 3}


# -- tuning and conditions ------------------------------------------------------------------


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_tuned_basis_size_balances_bias_with_the_largest_variance(alpha):
    rate = FunctionalMeanRate(smoothness=alpha)
    r = rate.tuning(**POINT)["truncation"]
    assert r ** (-2 * alpha) == pytest.approx(rate.evaluate(**POINT).max(), rel=1e-9)


def test_conditions_on_delta_are_checked_at_the_point():
    (condition,) = FunctionalMeanRate(privacy="central").conditions
    point = FunctionalMeanRate(privacy="central").at(n=100.0, m=2.0, S=1.0, epsilon=1.0)
    assert condition.holds({**point, "delta": 1e-12})
    assert not condition.holds({**point, "delta": 1e-2})


def test_one_curve_or_observation_at_each_site_has_the_known_rate_of_local_privacy():
    """For a regression curve (Sε²)^(−α/(α+1)); for curves the rate with nobody trusted."""
    regression, curves = PRESETS["local-regression"], PRESETS["local-curves"]
    rate, point = regression.rate, regression.rate.at(**regression.point)
    assert regression.point["n"] == curves.point["n"] == 1.0
    _, private = rate.evaluate(**regression.point)
    alpha = rate.smoothness
    known = (point["S"] * point["epsilon"] ** 2) ** (-alpha / (alpha + 1))
    assert private == pytest.approx(known)
    local = replace(curves.rate, privacy="local")
    np.testing.assert_allclose(curves.rate.evaluate(**curves.point), local.evaluate(**curves.point))


# -- sites that differ ----------------------------------------------------------------------


@pytest.mark.parametrize("alpha", ALPHAS)
def test_equal_sites_have_the_homogeneous_rate_up_to_a_constant(alpha):
    """The sum of four terms and the one-dimensional solution differ by at most a factor of 4."""
    rate = FunctionalMeanRate(smoothness=alpha)
    for n, m, e in ((100.0, 5.0, 0.2), (1e4, 3.0, 2.0), (500.0, 200.0, 0.05)):
        sites = DifferingSites(np.full(6, n), np.full(6, e), m, alpha)
        whole = float(rate.total(n=n, m=m, S=6.0, epsilon=e))
        assert whole / 4 <= sites.upper() <= 4 * whole
        assert sites.lower() <= 4 * whole
        assert sites.size() == pytest.approx(
            float(rate.tuning(n=n, m=m, S=6.0, epsilon=e)["truncation"]), rel=1e-6
        )


def test_more_rounds_never_lower_either_bound():
    sites = DifferingSites(np.array([100.0, 400.0]), np.array([0.5, 0.1]), 8.0, 2.0)
    for bound in (DifferingSites.lower, DifferingSites.upper):
        bounds = [bound(replace(sites, rounds=rounds)) for rounds in (1, 2, 5, 20)]
        assert bounds == sorted(bounds)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("cls", [DifferingMeanRate, DifferingCoefficientsRate])
def test_bounds_for_sites_that_differ_are_those_of_the_theorems(cls, alpha):
    """Eight sites are the eight kinds that a rate of spread sites is made of."""
    for n, m, e, d in ((100.0, 5.0, 0.2, 1.0), (1e4, 3.0, 2.0, 1.0), (500.0, 200.0, 0.05, 1.0)):
        rate = cls(smoothness=alpha, people_ratio=50.0, budget_ratio=20.0)
        spread = rate.sites(rate.at(n=n, epsilon=e))
        people, budgets = spread.n, spread.epsilon
        sites = DifferingSites(people, budgets, m, alpha, d, rounds=5.0)
        assert people.mean() == pytest.approx(n) and budgets.mean() == pytest.approx(e)
        point = {"n": n, "m": m, "S": 8.0, "epsilon": e, "T": 5.0}
        assert float(rate.total(**point)) == pytest.approx(sites.upper(), rel=1e-9)
        lower = cls(bound="lower", smoothness=alpha, people_ratio=50.0, budget_ratio=20.0)
        assert float(lower.total(**point)) == pytest.approx(sites.lower(), rel=1e-9)
        r = np.geomspace(1e-3, 1e6, 4001)[:, None]
        few, noisy = d * r * people * m, (people * budgets) ** 2 * m / 5
        best = (d * r[:, 0]) ** 2 / (
            np.minimum(few, noisy).sum(axis=1) + d * r[:, 0] ** (2 * alpha + 2)
        )
        dense = d**2 / np.minimum(d * people, noisy / m).sum()
        printed = max(best.max(), dense)  # at its own best r
        assert printed / 2.01 <= sites.lower() <= printed * 1.01


def some_sites(seed, count=60):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size = rng.integers(1, 9)
        yield DifferingSites(
            10 ** rng.uniform(0, 6, size),
            10 ** rng.uniform(-3, 2, size),
            10 ** rng.uniform(0, 4),
            rng.uniform(1, 6),
            10 ** rng.uniform(0, 1.5),
            statistical=10 ** rng.uniform(-3, 3),
            private=10 ** rng.uniform(-3, 3),
        )


@pytest.mark.slow
def test_the_lower_bound_is_below_the_upper_one_for_any_sites_rounds_weights_and_constants():
    for sites in some_sites(1):
        best = [replace(sites, rounds=rounds) for rounds in (1.0, 4.0, 1000.0)]
        for here in best:
            for weights in Weights:
                weighed = replace(here, weights=weights)
                assert here.lower() <= here.upper() <= weighed.upper() * (1 + 1e-9)


@pytest.mark.slow
def test_the_gap_between_the_bounds_is_one_for_alike_sites_and_no_more_than_proved():
    gaps = []
    for sites in some_sites(2, 300):
        assert 1 - 1e-9 <= sites.gap() <= sites.largest_gap() * (1 + 1e-9)
        gaps.append(float(sites.gap()))
        alike = replace(sites, n=sites.n[:1], epsilon=sites.epsilon[:1], copies=7.0)
        assert alike.gap() == pytest.approx(1)
    assert max(gaps) > 1.1


@pytest.mark.slow
def test_the_largest_gap_is_reached_by_one_site_of_many_people_and_one_of_little_budget():
    """r = m^(2/3), between the sparse and the dense terms of both kinds of site."""
    sites = min(
        (
            DifferingSites(
                np.array([1e4, 10**log_n]), np.array([1e3, 10**-log_n * 10**log_size]), m, 2.0
            )
            for m in (20.0, 60.0, 200.0)
            for log_n in (7.0,)
            for log_size in np.linspace(0.5, 5, 91)
        ),
        key=lambda sites: float(sites.largest_gap() / sites.gap()),
    )
    assert sites.gap() > 0.85 * sites.largest_gap() and sites.largest_gap() > 1.5


def test_equal_weights_have_the_mean_of_the_errors_alone_over_the_number_of_sites():
    sites = DifferingSites(
        np.array([100.0, 900.0, 40.0]), np.array([1.0, 0.2, 3.0]), 10.0, 2.0, weights=Weights.ALIKE
    )
    r = sites.size()
    alone = r**2 / sites.minima(r).sum(axis=0)
    assert r ** (-2 * 2.0) == pytest.approx(alone.mean() / 3)
    assert sites.upper() == pytest.approx(2 * alone.mean() / 3)


def test_alike_sites_have_the_harmonic_mean_of_the_errors_alone_over_their_number():
    sites = DifferingSites(np.array([100.0, 900.0, 40.0]), np.array([1.0, 0.2, 3.0]), 10.0, 2.0)
    alone = sites.size() ** 2 / sites.information()
    together = sites.size() ** 2 / sites.information().sum()
    assert together == pytest.approx(1 / (1 / alone).sum())
    assert together < alone.min()


def test_the_largest_of_the_four_errors_alone_is_what_limits_a_site():
    for sites in some_sites(4, 20):
        sites = replace(sites, rounds=3.0)
        alone = sites.alone()
        assert alone.shape == (4, len(sites.n))
        information = (sites.d * sites.size()) ** 2 / sites.information()
        np.testing.assert_allclose(alone.max(axis=0), information, rtol=1e-9)
        assert [TERMS[k] for k in alone.argmax(axis=0)] == sites.limits()


@pytest.mark.parametrize("weights", Weights)
def test_weights_add_up_to_one_over_all_sites(weights):
    for sites in some_sites(5, 20):
        sites = replace(sites, weights=weights, copies=2.5)
        shares = sites.shares(sites.size())
        assert (2.5 * shares).sum() == pytest.approx(1)
    assert (shares > 0).all()


def test_for_sites_alike_both_conditions_ask_for_at_most_snm_functions():
    """Remark 7, with T batches: condition (8) of a mean has T in both."""
    for n, m, sites, rounds in ((100.0, 5.0, 6.0, 1.0), (1e4, 3.0, 40.0, 5.0)):
        alike = DifferingSites(
            np.full(1, n), np.full(1, 0.3), m, 2.0, rounds=rounds, copies=np.array(sites)
        )
        assert alike.most_functions() == pytest.approx(2 * (sites * n * m / rounds,))


def test_conditions_on_functions_follow_from_the_weights_of_the_sites():
    """Condition (8), and Remarks 9 and 10 at the site s* with the largest ν_s/b_s, worked out."""
    n, epsilon, m, d, rounds = np.array([400.0, 50.0]), np.array([0.1, 2.0]), 4.0, 3.0, 2.0
    sites = DifferingSites(n, epsilon, m, 2.0, d=d, rounds=rounds)
    shares = sites.minima(sites.size()).sum(axis=0)
    shares = shares / shares.sum()
    together, heaviest = sites.most_functions(per_observation=False)
    assert together == pytest.approx(1 / (rounds * shares**2 * d / (n * m)).sum())
    assert heaviest == pytest.approx(1 / (rounds * shares * d / n).max())
    s = (shares / n).argmax()
    assert sites.heaviest_worth() == pytest.approx(n[s] * epsilon[s] ** 2)


@pytest.mark.parametrize(
    ("cls", "power", "has_d"),
    [
        (DifferingMeanRate, lambda a: 2 * a + 1, False),
        (DifferingCoefficientsRate, lambda a: 2 * a - 1, True),
    ],
)
def test_remarks_9_and_10_ask_for_at_least_so_many_functions(cls, power, has_d):
    rate = cls(smoothness=2.0)
    point = rate.at(n=1e4, epsilon=3.0, **({"d": 5.0} if has_d else {}))
    *_, least = rate.conditions
    worth = float(rate.sites(point).heaviest_worth())
    limit = worth ** (1 / power(2.0))
    assert least.limit(point) == pytest.approx(max(limit, 5.0 ** (1 / 3)) if has_d else limit)
    assert least.asked(point) == pytest.approx(float(rate.sites(point).size()))
    assert least.holds(point) == (least.asked(point) >= least.limit(point))


def test_what_theorems_ask_of_delta_has_its_logarithm():
    limits = np.geomspace(1e-12, 0.3, 9)
    for power in (1.0, 0.5):
        delta = largest_delta(limits, power)
        np.testing.assert_allclose(delta * np.log(1 / delta) ** power, limits, rtol=1e-9)
        assert (delta < limits).all() or power == 0.5


# -- every rate -----------------------------------------------------------------------------


@pytest.mark.parametrize("cls", rates.all(), ids=lambda cls: cls.key)
def test_every_rate_is_positive_falls_with_its_budget_and_names_its_source(cls):
    rate = cls()
    point = rate.at()
    assert (rate.evaluate(**point) >= 0).all() and rate.total(**point) > 0
    assert len(cls.reference) > 20 and all(t.formula for t in rate.terms)
    for symbol in rate.symbols:
        assert symbol.low < symbol.high and symbol.low <= symbol.default <= symbol.high
        if symbol.name in ("epsilon", "n"):
            low, high = (
                rate.total(**{**point, symbol.name: np.asarray(value)})
                for value in (symbol.low, symbol.high)
            )
            assert high <= low * (1 + 1e-12)
    names = {t.name for t in rate.terms}
    for boundary in rate.boundaries:
        value = boundary.value(point)
        there = {**point, boundary.symbol: value}
        if set(boundary.between) <= names:  # the other ones are about the most there can be
            one, other = (term(rate, name, **there) for name in boundary.between)
            assert one == pytest.approx(other, rel=1e-6)
