"""Rates of wavelet regression, of curves released whole and of sparse regression."""

from itertools import pairwise

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.mechanisms.families.wavelets.sites import WaveletSites
from engine.rates import rates
from engine.rates.functional_release import FunctionalReleaseRate
from engine.rates.sparse_regression import (
    DifferingMachinesRate,
    TrustedMeanRate,
    TrustedServerRate,
    UntrustedServerRate,
)
from engine.rates.wavelet_regression import WaveletRate
from tests.heavy import few

CONFIGURATIONS = {
    "homogeneous": WaveletSites(np.full(16, 4000), np.ones(16)),
    "dominant": WaveletSites(np.r_[40_000, np.full(24, 1000)], np.r_[2.0, np.full(24, 0.1)]),
    "many_small": WaveletSites(np.full(200, 320), np.full(200, 0.3)),
    "mixed_eps": WaveletSites(np.full(16, 4000), np.tile([0.1, 0.3, 1.0, 3.0], 4)),
}
GAMMAS = (0.75, 1.0, 2.0)
POINTWISE = WaveletRate(error="pointwise", smoothness=2.0, integrability=4.0)
EVERY_RELEASE = [
    FunctionalReleaseRate(mechanism=mechanism, sensitivity=sensitivity, penalty=penalty)
    for mechanism, sensitivity in (
        ("qr", "published"),
        ("qr", "tight"),
        ("qr", "optimal"),
        ("ar", "published"),
        ("ar", "tight"),
        ("frl", "published"),
        ("frl", "tight"),
        ("gp", "tight"),
    )
    for penalty in ("usual", "one_over_n")
]
ALL = [
    WaveletRate(smoothness=0.8),
    WaveletRate(smoothness=2.5),
    POINTWISE,
    *EVERY_RELEASE,
    TrustedServerRate(),
    UntrustedServerRate(hidden="row"),
    UntrustedServerRate(hidden="machine"),
    TrustedMeanRate(),
    DifferingMachinesRate(),
]


def name(rate):
    return f"{rate.key} {' '.join(map(str, rate.values().values()))}"


def term(rate, wanted, point):
    """The size of a term by its name; the ceilings of capped rates are no terms."""
    ceilings = {
        "Nothing can be learnt": np.ones(rate.at(**point)["n"].shape),
        "One machine without privacy": rate.at(**point).get("s", 1) / rate.at(**point)["n"],
    }
    sizes = dict(zip((t.name for t in rate.terms), rate.evaluate(**point), strict=True))
    return (ceilings | sizes)[wanted]


# -- what every rate keeps ------------------------------------------------------------------


@pytest.mark.parametrize("rate", ALL, ids=name)
def test_every_boundary_is_where_its_two_terms_are_equal(rate):
    sizes = {"n": np.array([50.0, 3000.0, 1e6]), "S": np.array([3.0, 20.0, 900.0])}
    for boundary in rate.boundaries:
        point = {k: v for k, v in sizes.items() if k in rate.at() and k != boundary.symbol}
        result = boundary.value(rate.at(**point))
        exists = result > 0
        at = rate.at(**{**point, boundary.symbol: np.where(exists, result, 1.0)})
        left, right = (term(rate, wanted, at) for wanted in boundary.between)
        np.testing.assert_allclose(left[exists], right[exists], rtol=1e-9)


@pytest.mark.parametrize("rate", ALL, ids=name)
def test_the_term_named_first_rules_below_a_boundary(rate):
    for boundary in rate.boundaries:
        result = boundary.value(rate.at())
        if result == 0:
            continue
        below, above = (rate.at(**{boundary.symbol: result * factor}) for factor in (0.99, 1.01))
        first, second = boundary.between
        if first in ("Nothing can be learnt", "One machine without privacy"):
            assert term(rate, first, below) < term(rate, second, below)  # the smaller one rules
        elif (boundary.key, boundary.symbol) == ("one coordinate", "epsilon"):
            assert term(rate, first, below) > term(rate, second, below)  # and then they tie
        elif boundary.key == "every coordinate":
            assert term(rate, first, above) < term(rate, second, above)
        else:
            assert term(rate, first, below) > term(rate, second, below)
            assert term(rate, first, above) < term(rate, second, above)


@pytest.mark.parametrize("rate", few(ALL, 6), ids=name)
def test_a_map_of_400_by_400_points_is_one_evaluation(rate):
    n, epsilon = np.meshgrid(np.geomspace(10, 1e6, 400), np.geomspace(0.01, 10, 400))
    total, sizes = rate.total(n=n, epsilon=epsilon), rate.evaluate(n=n, epsilon=epsilon)
    assert total.shape == (400, 400) and sizes.shape == (len(rate.terms), 400, 400)
    assert np.isfinite(total).all() and (total > 0).all()
    assert all(
        np.shape(c.holds(rate.at(n=n, epsilon=epsilon))) == (400, 400) for c in rate.conditions
    )
    assert all(np.shape(v) == (400, 400) for v in rate.tuning(n=n, epsilon=epsilon).values())


@pytest.mark.parametrize("rate", ALL, ids=name)
def test_more_people_and_weaker_protection_never_raise_the_error(rate):
    n, epsilon = np.geomspace(30, 1e6, 60)[:, None], np.geomspace(0.01, 10, 60)
    total = rate.total(n=n, epsilon=epsilon)
    assert (np.diff(total, axis=1) <= 1e-12 * total[:, 1:]).all()
    if rate.capped or rate.key in ("functional_release", "sparse_mean_untrusted"):
        assert (np.diff(total, axis=0) <= 1e-12 * total[1:]).all()


def test_the_tasks_have_their_rates():
    by_name = {
        task: {cls.key for cls in rates.for_task(task)}
        for task in ("wavelet_regression", "sparse_regression", "sparse_mean")
    }
    assert by_name["wavelet_regression"] == {"wavelet_regression"}
    assert by_name["sparse_regression"] == {"sparse_regression", "sparse_regression_differing"}
    assert by_name["sparse_mean"] == {"sparse_mean_untrusted", "sparse_mean_trusted"}
    assert all(cls.reference and cls.label for cls in rates.all())


# -- wavelet regression, sites that are alike -----------------------------------------------


@pytest.mark.parametrize(
    ("rate", "gamma"),
    [
        (WaveletRate(smoothness=1.0), 1.0),
        (POINTWISE, 1.75),
        (WaveletRate(smoothness=0.8), 0.8),
        (WaveletRate(error="pointwise", smoothness=3.0, integrability=None), 3.0),
    ],
)
def test_wavelet_terms_have_the_printed_exponents(rate, gamma):
    g, point = gamma, {"n": 5000.0, "S": 7.0, "epsilon": 0.02}
    assert rate.gamma == pytest.approx(gamma)
    expected = {
        "n": (-2 * g / (2 * g + 1), -2 * g / (g + 1)),
        "epsilon": (0, -2 * g / (g + 1)),
        "S": (-2 * g / (2 * g + 1), -g / (g + 1)),
        "delta": (0, 0),
    }
    for symbol, slopes in expected.items():
        np.testing.assert_allclose(rate.slopes(symbol, **point), slopes, atol=1e-7)


def test_spreading_the_same_readings_over_more_sites_costs_with_power_gamma_over_gamma_plus_one():
    rate, sites = POINTWISE, np.array([4.0, 8.0])
    private = rate.evaluate(n=2.0**20 / sites, S=sites, epsilon=0.01)[1]
    assert np.log2(private[1] / private[0]) == pytest.approx(1.75 / 2.75)


def test_the_cost_of_privacy_is_the_printed_factor_below_elbow_1_and_one_above():
    rate, point = WaveletRate(smoothness=1.3), {"n": 4000.0, "S": 16.0}
    elbow = rate.boundaries[0].value(rate.at(**point))
    epsilon, g = elbow * np.array([0.3, 0.9, 1.1, 5.0]), 1.3
    cost = rate.cost_of_privacy(**point, epsilon=epsilon)
    printed = (16 ** (1 / (2 * g + 1)) * 4000 ** (-2 * g / (2 * g + 1)) * epsilon**-2.0) ** (
        2 * g / (2 * g + 2)
    )
    np.testing.assert_allclose(cost[:2], printed[:2], rtol=1e-12)
    np.testing.assert_allclose(cost[2:], 1.0)
    unconstrained = rate.evaluate(**point, epsilon=epsilon)[0]
    resolution = rate.tuning(**point, epsilon=epsilon)["resolution"]
    np.testing.assert_allclose(cost, resolution ** (-2 * g) / unconstrained, rtol=1e-12)
    np.testing.assert_allclose(rate.total(**point, epsilon=epsilon) / unconstrained, 1 + printed)


def test_below_elbow_2_the_error_is_as_large_as_the_class():
    rate, point = WaveletRate(), {"n": 400.0, "S": 16.0}
    elbow = rate.boundaries[1].value(rate.at(**point))
    assert elbow == pytest.approx(1 / (400 * 4))
    assert rate.total(**point, epsilon=elbow / 3) == 1
    assert rate.tuning(**point, epsilon=elbow / 3)["level"] == 0
    free = rate.evaluate(**point)[0]
    assert rate.cost_of_privacy(**point, epsilon=elbow / 3) == pytest.approx(1 / free)


def test_between_the_two_first_elbows_only_the_value_at_one_point_pays():
    curve = WaveletRate(smoothness=2.0)
    point = {"n": 4000.0, "S": 16.0}
    epsilon = np.sqrt(
        curve.boundaries[0].value(curve.at(**point))
        * POINTWISE.boundaries[0].value(POINTWISE.at(**point))
    )
    assert curve.cost_of_privacy(**point, epsilon=epsilon) == 1
    assert POINTWISE.cost_of_privacy(**point, epsilon=epsilon) > 1


def test_the_level_is_the_binary_logarithm_of_the_resolution_rounded_up():
    rate = WaveletRate(smoothness=1.0)
    result = rate.tuning(n=np.array([4000.0, 2048.0]), S=np.array([16.0, 16.0]), epsilon=1.0)
    np.testing.assert_allclose(result["resolution"], [40.0, 32.0], rtol=1e-12)
    assert result["level"].tolist() == [6, 5]


def test_the_condition_on_delta_depends_on_the_error():
    point = {"n": 1000.0, "S": 4.0, "epsilon": 0.1, "delta": 1e-3}
    for rate, limit in ((WaveletRate(smoothness=2.0), 0.005), (POINTWISE, 0.00025)):
        first = rate.conditions[0]
        assert first.limit(rate.at(**point)) == pytest.approx(limit)
        assert first.holds(rate.at(**point)) == (limit > 1e-3)


def test_curves_too_rough_for_a_value_at_one_point_are_refused():
    with pytest.raises(InputError, match="exceed 1/2") as problem:
        WaveletRate(error="pointwise", smoothness=0.75, integrability=4.0)
    assert problem.value.field == "smoothness"
    assert WaveletRate(error="pointwise").gamma == 0.75  # the usual p is 4
    assert WaveletRate(smoothness=0.75).gamma == 0.75  # and ∞ for the whole curve


# -- wavelet regression, sites that differ --------------------------------------------------


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        ("homogeneous", (83.651164, 40.000000, 9.146101)),
        ("dominant", (71.582484, 36.002619, 9.146101)),
        ("many_small", (61.682726, 36.846235, 9.146101)),
        ("mixed_eps", (79.338158, 40.000000, 9.146101)),
    ],
)
def test_the_resolution_is_the_reference_number(configuration, expected):
    rows = [CONFIGURATIONS[configuration].resolution(g) for g in GAMMAS]
    np.testing.assert_allclose(rows, expected, rtol=0, atol=5.0001e-7)


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        ("homogeneous", ("neither",) * 3),
        ("dominant", ("regime 9",) * 3),
        ("many_small", ("regime 8", "regime 8", "neither")),
        ("mixed_eps", ("neither",) * 3),
    ],
)
def test_the_regimes_are_those_of_the_four_configurations(configuration, expected):
    assert tuple(CONFIGURATIONS[configuration].regime(g) for g in GAMMAS) == expected


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        ("homogeneous", "2.209e-04"),
        ("dominant", "2.949e-04"),
        ("many_small", "3.247e-04"),
        ("mixed_eps", "2.381e-04"),
    ],
)
def test_the_pure_lower_bound_is_the_reference_number(configuration, expected):
    assert f"{CONFIGURATIONS[configuration].pure_dp_lower_bound(1.0, 2.0):.3e}" == expected


def test_the_lower_bound_without_protection_still_falls_with_the_readings():
    few, many = (WaveletSites([n], [np.inf]).pure_dp_lower_bound(1.0, 2.0) for n in (1e3, 1e6))
    assert 0 < many < few < 1
    nothing = WaveletSites([100], [0.0]).pure_dp_lower_bound(1.0, 2.0, sigma=3.0)
    assert nothing == pytest.approx(4 / np.pi**2)


@pytest.mark.parametrize("gamma", [0.51, 0.75, 1.0, 2.0, 9.0])
def test_the_resolution_solves_its_equation_for_random_sites(gamma):
    rng = np.random.default_rng(5)
    for _ in range(40):
        k = int(rng.integers(1, 30))
        sites = WaveletSites(np.round(10 ** rng.uniform(0, 9, k)), 10 ** rng.uniform(-6, 3, k))
        d = sites.resolution(gamma)
        right = np.minimum((sites.n * sites.epsilon) ** 2, sites.n * d).sum()
        assert d == pytest.approx(right ** (1 / (2 * gamma + 2)), rel=1e-13)


def test_the_resolution_has_its_closed_forms_at_both_ends():
    n = np.array([10.0, 500.0, 70_000.0])
    free = WaveletSites(n, np.full(3, np.inf))
    assert free.resolution(1.0) == pytest.approx(n.sum() ** (1 / 3), rel=1e-13)
    assert not free.privacy_limited(1.0).any()
    bound = WaveletSites(n, np.full(3, 1e-3))
    assert bound.resolution(0.6) == pytest.approx((1e-6 * (n**2).sum()) ** (1 / 3.2), rel=1e-13)
    assert bound.privacy_limited(0.6).all()


def test_the_resolution_survives_the_ends_of_floating_point():
    assert WaveletSites([100, 5], [0.0, 0.0]).resolution(1.0) == 0
    assert WaveletSites([100, 5], [0.0, 0.0]).rate(1.0) == 1
    assert WaveletSites([100, 5], [0.0, 0.0]).regime(1.0) == "neither"
    assert WaveletSites([1], [np.inf]).resolution(1.0) == 1
    tiny = WaveletSites([1e9], [1e-200])
    assert tiny.resolution(1.0) == pytest.approx(1e9**0.5 * 1e-100, rel=1e-12)
    mixed = WaveletSites([100, 1000], [0.0, np.inf])
    assert mixed.resolution(1.0) == pytest.approx(10.0, rel=1e-13)
    assert mixed.privacy_limited(1.0).tolist() == [True, False]
    assert mixed.regime(1.0) == "regime 9"
    assert WaveletSites([1000, 1000], [np.inf, np.inf]).regime(1.0) == "neither"


def test_alike_sites_agree_with_the_homogeneous_rate():
    rate = WaveletRate(smoothness=1.4)
    for epsilon in (0.003, 0.03, 0.3, 3.0):
        sites = WaveletSites(np.full(16, 4000), np.full(16, epsilon))
        tuned = rate.tuning(n=4000.0, S=16.0, epsilon=epsilon)["resolution"]
        assert sites.resolution(1.4) == pytest.approx(float(tuned), rel=1e-12)
        assert sites.rate(1.4) == pytest.approx(min(float(tuned) ** -2.8, 1), rel=1e-12)


def test_a_site_exactly_at_the_edge_counts_as_held_back():
    flags = CONFIGURATIONS["mixed_eps"].privacy_limited(1.0)
    assert flags.tolist() == [True, False, False, False] * 4


def test_a_single_site_is_enough_by_itself():
    for epsilon in (1e-4, 0.1, np.inf):
        assert WaveletSites([5000], [epsilon]).regime(1.0) == "regime 9"


def test_a_dominant_site_alone_is_within_the_printed_factor():
    sites = CONFIGURATIONS["dominant"]
    for gamma in GAMMAS:
        alone = WaveletSites(sites.n[:1], sites.epsilon[:1]).resolution(gamma)
        assert alone <= sites.resolution(gamma) <= 2 ** (1 / (2 * gamma + 1)) * alone


def test_the_order_of_the_sites_does_not_matter():
    sites, order = CONFIGURATIONS["dominant"], np.random.default_rng(1).permutation(25)
    shuffled = WaveletSites(sites.n[order], sites.epsilon[order])
    assert shuffled.resolution(1.0) == pytest.approx(sites.resolution(1.0), rel=1e-14)
    assert shuffled.regime(1.0) == sites.regime(1.0)


@pytest.mark.parametrize(
    ("n", "epsilon", "field"),
    [
        ([10, 10], [1.0], "epsilon"),
        ([], [], "epsilon"),
        ([0, 10], [1.0, 1.0], "n"),
        ([10], [-1.0], "epsilon"),
        ([10], [np.nan], "epsilon"),
        ([np.inf], [1.0], "n"),
    ],
)
def test_sites_that_make_no_sense_are_refused(n, epsilon, field):
    with pytest.raises(InputError) as problem:
        WaveletSites(n, epsilon)
    assert problem.value.field == field


# -- curves released whole ------------------------------------------------------------------


def release(mechanism, sensitivity, **chosen):
    return FunctionalReleaseRate(mechanism=mechanism, sensitivity=sensitivity, **chosen)


@pytest.mark.parametrize(
    ("mechanism", "sensitivity", "power"),
    [
        ("qr", "published", 6 / 8),
        ("qr", "tight", 5 / 8),
        ("qr", "optimal", 2 / 8),
        ("ar", "published", 12 / 8),
        ("ar", "tight", 10 / 8),
        ("frl", "published", 1),
        ("frl", "tight", 2 / 3),
        ("gp", "tight", 1 / 2),
    ],
)
def test_release_terms_have_the_printed_exponents(mechanism, sensitivity, power):
    rate = release(mechanism, sensitivity, beta=4.0, eta=2.0, penalty="one_over_n")
    point = {"n": 700.0, "epsilon": 0.4}
    smoothing = -8 / 3 if mechanism == "frl" else -1
    np.testing.assert_allclose(rate.slopes("n", **point), [power - 2, -1, smoothing], atol=1e-7)
    np.testing.assert_allclose(rate.slopes("epsilon", **point), [-2, 0, 0], atol=1e-7)


@pytest.mark.parametrize(
    ("mechanism", "sensitivity", "expected"),
    [
        ("frl", "published", 8 * 10**3 / 1e6),
        ("frl", "tight", 8 * 10**2 / 1e6),
        ("qr", "published", 8 * 1000 / 1e6),
        ("qr", "tight", 8 * 1000 ** (5 / 6) / 1e6),
        ("qr", "optimal", 8 * 1000 ** (1 / 3) / 1e6),
        ("ar", "published", 8 * 2000 / 1e6),
        ("gp", "tight", 2 * np.log(200) * 2 ** (4 / 3) / 2.25 * 1000 ** (2 / 3) / 1e6),
    ],
)
def test_the_privacy_term_at_a_thousand_people(mechanism, sensitivity, expected):
    rate = release(mechanism, sensitivity)
    result = rate.evaluate(n=1000.0, epsilon=1.0, delta=0.01)
    np.testing.assert_allclose(result[:2], [expected, 1e-3], rtol=1e-12)
    longer = release(mechanism, sensitivity, tau=3.0).evaluate(n=1000.0, epsilon=1.0, delta=0.01)
    np.testing.assert_allclose(longer, result * np.array([9, 1, 1]), rtol=1e-12)


@pytest.mark.parametrize(
    ("mechanism", "sensitivity", "least"),
    [
        ("qr", "published", 1.5),
        ("qr", "tight", 1.25),
        ("qr", "optimal", 0.5),
        ("ar", "published", 3.0),
        ("ar", "tight", 2.5),
    ],
)
def test_with_the_penalty_one_over_n_privacy_is_free_beyond_the_printed_smoothness(
    mechanism, sensitivity, least
):
    n = np.array([1e4, 1e8, 1e16])

    def against_people(eta):
        rate = release(mechanism, sensitivity, beta=4.0, eta=eta, penalty="one_over_n")
        private, people, _ = rate.evaluate(n=n, epsilon=1.0)
        return rate, private / people

    rate, ratio = against_people(least + 0.2)
    assert rate.smallest_eta == pytest.approx(least) and rate.free_privacy
    assert (np.diff(ratio) < 0).all()
    edge, ratio = against_people(least)
    assert not edge.free_privacy
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)  # as large as 1/n, and no smaller
    if least > 1:
        _, ratio = against_people(least - 0.1)
        assert (np.diff(ratio) > 0).all()


@pytest.mark.parametrize("rate", EVERY_RELEASE, ids=name)
def test_the_condition_of_free_privacy_follows_eta_alone(rate):
    condition = rate.conditions[0]
    assert condition.name.startswith("privacy is free")
    assert bool(condition.holds(rate.at())) == rate.free_privacy
    if rate.sensitivity == "published":
        assert not rate.free_privacy  # the smallest published η is the edge itself


def test_a_few_coefficients_cost_less_than_people_up_to_the_printed_number():
    rate, point = release("frl", "tight"), {"n": 8000.0}
    edge = rate.boundaries[0].value(rate.at(**point))
    assert edge * np.sqrt(8000 / 8) == pytest.approx(20)


def test_selection_depends_on_public_sizes_as_published():
    point = {"n": np.array([50.0, 1000.0, 5000.0]), "epsilon": 0.5}
    quadratic = release("qr", "tight").tuning(**point)
    np.testing.assert_allclose(quadratic["psi"], 4 / point["n"])
    np.testing.assert_allclose(quadratic["psi_low"], 4 / point["n"])
    np.testing.assert_allclose(quadratic["psi_high"], 1 / point["n"])
    np.testing.assert_allclose(quadratic["eta"], 1.5)
    estimate = release("qr", "tight", penalty="one_over_n").tuning(**point)["psi"]
    np.testing.assert_allclose(estimate, 1 / point["n"])
    absolute = release("ar", "tight").tuning(**point)
    np.testing.assert_allclose(absolute["psi"], 1 / point["n"])
    np.testing.assert_allclose(absolute["eta"], 3.0)
    few = release("frl", "tight").tuning(**point)
    assert few["M"].tolist() == [3, 10, 17]
    assert few["M_low"].tolist() == [2, 4, 5]


def test_the_absolute_penalty_removes_every_coefficient_from_j_on():
    estimate = release("ar", "tight").tuning(n=1000.0)
    psi, j = estimate["psi"], float(estimate["J"])
    threshold = psi / (2 * np.array([j - 1, j]) ** (-4.0 * 3 / 2))
    assert threshold[0] < 1 <= threshold[1]


def test_the_better_sensitivity_never_costs_more():
    n = np.geomspace(10, 1e7, 50)
    for mechanism, order in (
        ("qr", ("published", "tight", "optimal")),
        ("ar", ("published", "tight")),
        ("frl", ("published", "tight")),
    ):
        costs = [release(mechanism, s).evaluate(n=n)[0] for s in order]
        assert all((b <= a).all() for a, b in pairwise(costs))


@pytest.mark.parametrize(
    ("mechanism", "sensitivity"),
    [("gp", "published"), ("gp", "optimal"), ("ar", "optimal"), ("frl", "optimal")],
)
def test_a_sensitivity_that_does_not_exist_is_refused(mechanism, sensitivity):
    with pytest.raises(InputError, match="tight") as problem:
        release(mechanism, sensitivity)
    assert problem.value.field == "sensitivity"


def test_the_absolute_penalty_needs_eta_of_at_least_one():
    with pytest.raises(InputError, match="at least 1"):
        release("ar", "tight", eta=0.9)


def test_noise_that_cannot_exist_is_a_condition_that_fails():
    rough = release("qr", "tight", beta=4.0, eta=0.6)
    assert not rough.conditions[1].holds(rough.at())
    assert release("qr", "tight").conditions[1].holds(rough.at())


# -- sparse regression ----------------------------------------------------------------------


def test_sparse_terms_have_the_printed_exponents_and_logarithms():
    rate, log_rows = TrustedServerRate(), np.log(2e5)
    expected = {
        "n": (-1, -2 + 3 / log_rows),
        "S": (-1, -2 + 3 / log_rows),
        "s": (1, 2),
        "epsilon": (0, -2),
        "d": (1 / np.log(100), 2 / np.log(100)),
        "delta": (0, -1 / np.log(1e6)),
    }
    for symbol, slopes in expected.items():
        np.testing.assert_allclose(
            rate.slopes(symbol, n=20_000, S=10, d=100, delta=1e-6), slopes, atol=1e-6
        )


def test_sparse_terms_are_the_printed_formulas():
    result = TrustedServerRate().evaluate(n=1000.0, S=10.0, d=50.0, s=4.0, epsilon=0.5, delta=1e-5)
    ln = np.log
    np.testing.assert_allclose(
        result, [4 * ln(50) / 1e4, 16 * ln(50) ** 2 * ln(1e5) * ln(1e4) ** 3 / 5000**2], rtol=1e-12
    )


def test_conditions_on_sparsity_are_where_their_statements_turn():
    rate = TrustedServerRate()
    _, width, exists, short = (c.limit(rate.at()) for c in rate.conditions)
    n_pooled = 200_000
    assert width * np.log(100) / np.sqrt(n_pooled) == pytest.approx(1)
    assert rate.evaluate(s=exists)[1] == pytest.approx(1)
    asked = short**2 * np.log(100) ** 2 * np.log(1.25e6) * np.log(n_pooled) ** 3
    assert asked == pytest.approx(n_pooled * rate.at()["epsilon"] ** 2)
    rows, privacy = rate.evaluate(s=rate.conditions[3].limit(rate.at(epsilon=0.2)), epsilon=0.2)
    assert rows == pytest.approx(privacy)
    s, point = rate.conditions[0].limit(rate.at()), rate.at()
    needed = (
        s**1.5
        * np.log(100)
        * np.sqrt(np.log(1e6) * 2 * np.log(n_pooled))
        * np.log(20_000)
        / point["epsilon"]
    )
    assert needed == pytest.approx(20_000)


def test_one_bit_per_machine_has_the_printed_exponents_and_ceiling():
    rate = UntrustedServerRate(hidden="machine")
    point = {"n": 100.0, "S": 5000.0, "d": 50.0, "s": 3.0, "epsilon": 0.5}
    for symbol, slope in {"n": -1, "S": -1, "d": 1, "s": 1, "epsilon": -2}.items():
        np.testing.assert_allclose(rate.slopes(symbol, **point), [slope], atol=1e-7)
    assert rate.total(**point) == pytest.approx(3 * 50 / (5000 * 100 * 0.25))
    assert rate.total(**{**point, "epsilon": 0.01}) == pytest.approx(3 / 100)
    assert [bool(c.holds(rate.at(**point))) for c in rate.conditions] == [False, True]


def test_hiding_a_row_is_achieved_at_the_best_number_of_coordinates():
    rate, point = UntrustedServerRate(), {"n": 1e4, "S": 2000.0, "d": 200.0, "s": 5.0}
    k = np.geomspace(1, 200, 20_001)
    for epsilon in (0.01, 1.0, 50.0):
        any_k = 1000 / (2000 * k * 1e4) + 8 * 16 * 1000 * k / (2000 * 1e8 * epsilon**2)
        assert rate.total(**point, epsilon=epsilon) == pytest.approx(any_k.min(), rel=1e-6)
        best = rate.tuning(**point, epsilon=epsilon)["coordinates"]
        assert best == pytest.approx(k[any_k.argmin()], rel=1e-3)


def test_hiding_a_row_beats_the_printed_rate_that_was_meant_for_it():
    point = {"n": 1e4, "S": 2e6, "d": 200.0, "s": 5.0, "epsilon": 0.05}
    printed = UntrustedServerRate(hidden="machine").total(**point)
    assert printed == pytest.approx(2e-5)
    assert UntrustedServerRate().total(**point) < printed


def test_a_trusted_server_pays_for_features_by_their_logarithm():
    point = {"n": 1000.0, "S": 10.0, "d": 50.0, "s": 4.0, "epsilon": 0.5, "delta": 1e-5}
    ln = np.log
    np.testing.assert_allclose(
        TrustedMeanRate().evaluate(**point),
        [4 * ln(50) / 1e4, 16 * ln(50) ** 2 * ln(1e5) / 5000**2],
        rtol=1e-12,
    )
    more = TrustedMeanRate().evaluate(**{**point, "d": 2500.0})
    np.testing.assert_allclose(more / TrustedMeanRate().evaluate(**point), [2, 4])


def test_differing_machines_add_the_shared_and_the_own_error():
    rate = DifferingMachinesRate()
    point = {"n": 30_000.0, "S": 8.0, "d": 100.0, "epsilon": 1.0, "delta": 1e-6}
    shared = TrustedServerRate().evaluate(**point, s=5.0)
    result = TrustedServerRate().evaluate(**{**point, "S": 1.0}, s=2.0)
    np.testing.assert_allclose(
        rate.evaluate(**point, s0=5.0, s1=2.0), [*shared, *result], rtol=1e-12
    )
    alike = rate.total(**point, s0=5.0, s1=1e-9)
    assert alike == pytest.approx(shared.sum(), rel=1e-6)


def test_intervals_of_a_machine_ask_for_little_bias_of_both_parts():
    rate = DifferingMachinesRate()
    own, shared = rate.conditions
    assert (own.limit(rate.at()) + 5) * np.log(100) == pytest.approx(np.sqrt(20_000))
    strict = {"epsilon": 0.1}
    assert rate.evaluate(**strict, s1=own.limit(rate.at(**strict)))[3] == pytest.approx(1)
    assert rate.evaluate(**strict, s0=shared.limit(rate.at(**strict)))[1] == pytest.approx(1)


def test_differing_machines_have_the_printed_exponents():
    rate = DifferingMachinesRate()
    np.testing.assert_allclose(rate.slopes("s0"), [1, 2, 0, 0], atol=1e-7)
    np.testing.assert_allclose(rate.slopes("s1"), [0, 0, 1, 2], atol=1e-7)
    np.testing.assert_allclose(rate.slopes("epsilon"), [0, -2, 0, -2], atol=1e-7)
    np.testing.assert_allclose(rate.slopes("S")[2:], 0, atol=1e-7)
