"""Plans, exact errors and slopes of wavelet regression reproduce independently worked-out numbers.

Four networks of 64 000 readings (`CONFIGURATIONS`), σ = 1, δ = 1e-5, periodic db4; curve: α = 1,
R = 2, B = 2; point 0.37: ν = 0.75, R = 1, B = 2. Errors are exact, so they agree to the digits
given. Both integrate on 2^15 midpoints, which moves curves with jumps by up to 3e-4.
"""

from dataclasses import replace

import numpy as np
import pytest

from engine.core.random_streams import generator
from engine.core.types import NON_PRIVATE, Budget
from engine.mechanisms.families.wavelets.sites import WaveletSites
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.privacy import accounting
from engine.simulation.experiments import mean_and_se
from engine.simulation.metrics import integrated_squared_errors
from engine.sources.regression_points import CONFIGURATIONS, RegressionPoints, configuration_budgets
from engine.topics.regression.slopes import PATHS
from tests.heavy import few

POINT = WaveletPointwise(points="0.37")
CURVES = ("smooth", "blocks", "bumps", "heavisine", "doppler")
Z = 3.5

RESOLUTION = {
    "homogeneous": (83.651164, 40.0, 9.146101),
    "dominant": (71.582484, 36.002619, 9.146101),
    "many_small": (61.682726, 36.846235, 9.146101),
    "mixed_eps": (79.338158, 40.0, 9.146101),
}
# J, τ, bound; exact errors for the five curves.
CURVE_PLANS = {
    "homogeneous": (5, 3.6, 0.0121807, (0.0050665, 0.113370, 0.0446824, 0.00778567, 0.154306)),
    "dominant": (5, 4.2, 0.0094722, (0.0019672, 0.110199, 0.0413203, 0.00467176, 0.151287)),
    "many_small": (4, 2.8, 0.103988, (0.070510, 0.258122, 0.114795, 0.0743351, 0.383193)),
    "mixed_eps": (5, 3.7, 0.0134846, (0.0050693, 0.113238, 0.0441679, 0.00773534, 0.154420)),
}
POINT_PLANS = {
    "homogeneous": (6, 4.0, 0.0170044, 0.015341),
    "dominant": (6, 4.5, 0.0176896, 0.014931),
    "many_small": (5, 3.3, 0.0658419, 0.066554),
    "mixed_eps": (6, 4.0, 0.0196086, 0.017663),
}
ZERO = {
    "blocks": 0.89790,
    "bumps": 0.08004,
    "heavisine": 1.05849,
    "doppler": 1.38744,
    "smooth": 1.19199,
}
SLOPES = {
    "G1": -0.65687,
    "G2": -0.49813,
    "G3": -0.88658,
    "G4": 0.48200,
    "G5": -0.44191,
    "P1": -0.57926,
    "P2": -0.39617,
    "P3": -0.77057,
    "P4": 0.42580,
}
every_network = pytest.mark.parametrize("network", CONFIGURATIONS)


def points_of(network, signal="smooth"):
    return RegressionPoints(configuration=network, signal=signal)


def plan_of(mechanism, network):
    source = points_of(network)
    return mechanism.plan(source.public, source.budgets())


def error_of(mechanism, network, signal="smooth"):
    return mechanism.exact_risk(points_of(network, signal), configuration_budgets(network))


@every_network
def test_the_resolution_has_six_digits(network):
    sites = WaveletSites(*map(np.array, CONFIGURATIONS[network]))
    rows = [sites.resolution(gamma) for gamma in (0.75, 1.0, 2.0)]
    assert rows == pytest.approx(RESOLUTION[network], abs=6e-7)


@pytest.mark.parametrize(
    ("epsilon", "exact", "printed"),
    [
        (0.1, 30.749566, 69.874381),
        (0.5, 7.031827, 13.974876),
        (1, 3.730632, 6.987438),
        (2, 1.993812, 3.493719),
        (5, 0.891868, 1.397488),
        (8, 0.600229, 0.873430),
    ],
)
def test_noise_over_sensitivity_has_six_digits(epsilon, exact, printed):
    source = RegressionPoints(n_servers=1)
    sites = WaveletGlobal().sites(source.sizes, (Budget(epsilon, 1e-5),), source.facts)
    assert sites.exact_multiplier[0] == pytest.approx(exact, abs=6e-7)
    assert sites.printed_multiplier[0] == pytest.approx(printed, abs=6e-7)
    assert accounting.exact_epsilon(1 / exact, 1e-5) == pytest.approx(epsilon, rel=1e-5)


@every_network
def test_tuned_plans_and_their_exact_errors(network):
    level, clip, bound, errors = CURVE_PLANS[network]
    plan = plan_of(WaveletGlobal(), network)
    assert (plan.basis.level, round(plan.clip, 6)) == (level, clip)
    assert plan.criterion == pytest.approx(bound, rel=1e-5)
    rows = [error_of(WaveletGlobal(), network, signal) for signal in CURVES]
    assert rows == pytest.approx(errors, rel=1.5e-5)


@every_network
def test_tuned_plans_at_a_point_and_their_exact_errors(network):
    level, clip, criterion, error = POINT_PLANS[network]
    plan = plan_of(POINT, network)
    assert (plan.kind, plan.basis.level, round(plan.clip, 6)) == ("laplace", level, clip)
    assert plan.criterion == pytest.approx(criterion, rel=1e-5)
    assert error_of(POINT, network, "cusp") == pytest.approx(error, rel=1e-4)


def test_the_parts_of_one_error():
    parts = WaveletGlobal().risk_parts(
        points_of("homogeneous"), configuration_budgets("homogeneous")
    )
    assert parts.projection == pytest.approx(1.710e-6, rel=2e-3)
    assert (parts.clip, parts.data, parts.privacy) == pytest.approx(
        (7.322e-5, 1.05940e-3, 3.93219e-3), rel=1e-4
    )
    for signal, energy in ZERO.items():
        assert float(points_of("homogeneous", signal).truth.energy) == pytest.approx(
            energy, abs=6e-5
        )


@pytest.mark.parametrize(
    ("network", "level", "clip", "error"),
    [
        ("dominant", 4, 2.8, 0.0636687),
        ("mixed_eps", 4, 3.3, 0.0172823),
        ("homogeneous", 5, 3.6, 0.0050665),
        ("many_small", 4, 2.8, 0.070510),
    ],
)
def test_published_weights_with_their_own_plans(network, level, clip, error):
    mechanism = WaveletGlobal(weights="published")
    plan = plan_of(mechanism, network)
    assert (plan.basis.level, round(plan.clip, 6)) == (level, clip)
    assert error_of(mechanism, network) == pytest.approx(error, rel=1e-5)


def test_the_literal_method_is_worse_than_the_zero_curve_at_this_size():
    literal = WaveletGlobal(plan_rule="literal")
    plan = plan_of(literal, "homogeneous")
    assert (plan.basis.level, plan.clip) == (7, pytest.approx(6.2426, abs=5e-5))
    assert error_of(literal, "homogeneous") == pytest.approx(6.30324, rel=1e-5)
    assert accounting.keeps_promise(plan.spends)


@pytest.mark.parametrize(
    ("chosen", "clip", "error"),
    [
        ({}, 3.9, 0.0313203),
        ({"edges": "corrected", "edge_noise": "equal"}, 3.6, 0.00606597),
        ({"edges": "corrected", "level": 4, "clip": 3.6}, 3.6, 0.00382),
    ],
    ids=str,
)
def test_corrected_edges_pay_for_a_curve_that_does_not_end_where_it_began(chosen, clip, error):
    mechanism, source = (
        WaveletGlobal(smoothness=2.0, radius=8.0, **chosen),
        points_of("homogeneous", "ramp"),
    )
    plan = mechanism.plan(source.public, source.budgets())
    assert (plan.basis.level, round(plan.clip, 6)) == (4, clip)
    assert mechanism.exact_risk(source, source.budgets()) == pytest.approx(error, rel=2e-3)


@pytest.mark.parametrize(
    ("clip", "error"), [(2.0, 0.0316003), (2.5, 0.00934109), (3.0, 0.00479292), (3.5, 0.00489167)]
)
def test_exact_errors_as_the_clip_moves(clip, error):
    assert error_of(WaveletGlobal(level=5, clip=clip), "homogeneous") == pytest.approx(
        error, rel=1e-5
    )


@pytest.mark.parametrize("path", few(PATHS, 2), ids=lambda path: path.key)
def test_slopes_have_three_digits(path):
    assert path.slope() == pytest.approx(SLOPES[path.key], abs=5e-4)
    if path.key in ("G3", "P3"):
        inner = {"G3": (1 / 32, -0.90604), "P3": (1 / 64, -0.84682)}[path.key]
        part = replace(path, x=tuple(x for x in path.x if x <= inner[0]))
        assert part.slope() == pytest.approx(inner[1], abs=5e-4)


def monte_carlo(mechanism, network, signal, repeats, budgets=None):
    """How many standard errors simulated errors are from the exact one; 100 data sets at a time."""
    source, errors = points_of(network, signal), []
    budgets = budgets or source.budgets()
    for block in range(repeats // 100):
        data = source.draw(100, generator(11, block, 0))
        estimate = mechanism.release(data, budgets, generator(11, block, 1))
        errors.append(integrated_squared_errors(estimate, data.truth).total[0])
    got = mean_and_se(np.concatenate(errors))
    return (got["mean"] - mechanism.exact_risk(source, budgets)) / got["se"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chosen", "network", "signal"),
    few(
        [
            ({}, "homogeneous", "smooth"),
            ({}, "dominant", "heavisine"),
            ({}, "many_small", "bumps"),
            ({"weights": "published"}, "mixed_eps", "smooth"),
            ({"plan_rule": "literal"}, "homogeneous", "smooth"),
            ({"edges": "corrected"}, "homogeneous", "ramp"),
            ({"moments": 1}, "homogeneous", "blocks"),
        ]
    ),
    ids=str,
)
def test_simulated_errors_agree_with_exact_ones(chosen, network, signal):
    """200 data sets for each cell."""
    assert abs(monte_carlo(WaveletGlobal(**chosen), network, signal, 200)) < Z


@pytest.mark.slow
@pytest.mark.parametrize("network", few(["homogeneous", "many_small"]))
def test_simulated_errors_at_a_point_agree_with_exact_ones(network):
    """200 data sets for each cell."""
    assert abs(monte_carlo(POINT, network, "cusp", 200)) < Z


@pytest.mark.slow
@every_network
@pytest.mark.parametrize("signal", CURVES)
@pytest.mark.parametrize(
    "chosen", [{}, {"weights": "published"}, {"plan_rule": "literal"}], ids=str
)
def test_all_simulated_errors_agree_with_exact_ones(chosen, network, signal):
    assert abs(monte_carlo(WaveletGlobal(**chosen), network, signal, 200)) < Z


@pytest.mark.slow
@every_network
@pytest.mark.parametrize("signal", CURVES)
def test_all_simulated_errors_without_protection_agree_with_exact_ones(network, signal):
    free = (NON_PRIVATE,) * len(CONFIGURATIONS[network][0])
    assert abs(monte_carlo(WaveletGlobal(), network, signal, 200, free)) < Z


@pytest.mark.slow
@every_network
def test_all_simulated_errors_at_a_point_agree_with_exact_ones(network):
    assert abs(monte_carlo(POINT, network, "cusp", 400)) < Z
