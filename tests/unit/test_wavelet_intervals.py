"""Intervals of wavelet regression: the bound on the bias, when there is none, and coverage."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.coverage import wavelets as coverage_of_wavelets
from engine.core.bands import limits
from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.families.wavelets.bias import CurveClass, largest_kernel_mass, left_out
from engine.mechanisms.wavelet_global import WaveletGlobal
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.numerics.clipping.normal_readings import clipped_mean
from engine.numerics.signals import SIGNALS, signal
from engine.numerics.wavelet_bases import WaveletBasis
from engine.sources.regression_points import RegressionPoints
from engine.topics.coverage import answer as coverage_topic
from engine.topics.regression.intervals import stated

SOURCE = RegressionPoints(n_curves=16_000, n_servers=4)
BUDGETS = (Budget(1.0, 1e-5),) * 4
ESTIMATORS = [
    WaveletPointwise(points="0.37"),
    WaveletPointwise(points="0.2, 0.7", noise="curve"),
    WaveletGlobal(),
    WaveletGlobal(edges="corrected"),
]
every_estimator = pytest.mark.parametrize("mechanism", ESTIMATORS, ids=repr)


def details(levels, smoothness, radius, basis):
    """A curve with a single wavelet of every level, each as tall as the class allows."""
    coefficients, grid = np.zeros(basis.size), np.arange(2**14) / 2**14
    for level, place in basis.levels[1:]:
        if level in levels:
            one = np.zeros(basis.size)
            one[place.start] = 1.0
            coefficients += (
                one
                * radius
                * 2 ** (-smoothness * level)
                / np.abs(basis.curve(basis.from_levels(one), grid)).max()
            )
    return basis.curve(basis.from_levels(coefficients), grid)


# -- the bound ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("smoothness", "radius"), [(0.6, 3.0), (1.0, 1.0), (2.5, 0.2)])
def test_details_of_a_curve_in_the_class_add_up_to_the_bound_at_most(smoothness, radius):
    curves, basis = CurveClass(smoothness, radius), WaveletBasis(2**12)
    for level in (4, 6, 8):
        worst = np.abs(details(range(level, 12), smoothness, radius, basis)).max()
        assert 0.3 * curves.detail_bound(level) < worst <= curves.detail_bound(level)
        assert curves.detail_bound(level + 1) == pytest.approx(
            curves.detail_bound(level) * 2**-smoothness
        )


@pytest.mark.parametrize(
    ("moments", "edges"),
    [(1, "periodic"), (2, "periodic"), (4, "periodic"), (2, "corrected"), (4, "corrected")],
)
def test_the_mass_of_the_kernel_is_nowhere_above_its_bound(moments, edges):
    bound = largest_kernel_mass(moments, edges)
    for level in (3, 5):
        basis = WaveletBasis(2**level, moments, edges)
        masses = [basis.absolute_kernel(x) for x in np.linspace(0, 1, 41)]
        assert 1 - 1e-3 < max(masses) <= bound


@every_estimator
@pytest.mark.parametrize("name", ["smooth", "ramp", "cusp"])
def test_the_exact_bias_stays_within_the_bound_wherever_an_interval_is_given(mechanism, name):
    """E f̂ − f by quadrature of the clipped mean; a periodic curve in its basis has an interval."""
    source = replace(SOURCE, signal=name)
    checked = stated(mechanism, source, BUDGETS)
    if checked.refusal:
        assert name != "smooth" or mechanism.edges == "corrected"
        return
    plan = checked.mechanism.plan(source.public, BUDGETS)
    nodes, weights = source.truth.quadrature
    mean = clipped_mean(source.truth.node_values, plan.clip, source.noise_sd)
    scaling = plan.basis.inner_products(nodes, (weights * mean)[None])[0]
    times = (
        np.array(mechanism.values_at.points)
        if isinstance(mechanism, WaveletPointwise)
        else np.linspace(0, 1, 101)
    )
    bias = plan.basis.curve(scaling, times) - source.curve(times)
    assert np.abs(bias).max() <= plan.bias


def test_an_interval_is_wider_than_its_standard_errors_by_the_bound():
    mechanism = WaveletPointwise(points="0.37", class_stated=True)
    data = SOURCE.draw(1, generator(1, 0, 0))
    estimate = mechanism.release(data, BUDGETS, generator(1, 1, 0))
    low, high = limits(estimate, estimate.band)
    error = np.sqrt(estimate.band.covariance[0, 0, 0, 0, 0])
    bias = estimate.tuning[0]["bias"]
    assert (high - low)[0, 0, 0, 0] / 2 == pytest.approx(1.959964 * error + bias)
    assert estimate.band.of(0).bias.shape == estimate.band.of(0).centre.shape[:-1]


# -- refusals -------------------------------------------------------------------------------------


@every_estimator
def test_without_a_stated_class_there_is_no_band(mechanism):
    data = SOURCE.draw(1, generator(1, 0, 0))
    assert not mechanism.class_stated
    assert mechanism.release(data, BUDGETS, generator(1, 1, 0)).band is None
    stating = replace(mechanism, class_stated=True)
    released = [m.release(data, BUDGETS, generator(1, 1, 0)) for m in (mechanism, stating)]
    assert released[1].band is not None
    assert np.array_equal(released[0].coefficients, released[1].coefficients)


@pytest.mark.parametrize(
    ("mechanism", "change", "words"),
    [
        (WaveletGlobal(class_stated=True), {"signal": "blocks"}, "rougher"),
        (WaveletGlobal(class_stated=True), {"signal": "doppler"}, "rougher"),
        (WaveletGlobal(class_stated=True), {"times": "rising"}, "spread evenly"),
        (WaveletPointwise(points="0.4", class_stated=True), {"signal": "blocks"}, "rougher"),
        (WaveletPointwise(points="1", class_stated=True), {"signal": "ramp"}, "rougher"),
        (WaveletPointwise(points="0.5", class_stated=True), {"times": "rising"}, "spread evenly"),
        (WaveletGlobal(invert_clip=True, class_stated=True), {}, "clipping"),
        (WaveletGlobal(design="released", class_stated=True), {}, "law"),
    ],
    ids=str,
)
def test_an_interval_that_would_be_wrong_is_refused_with_the_reason(mechanism, change, words):
    checked = stated(mechanism, replace(SOURCE, **change), BUDGETS)
    assert words in checked.refusal and not checked.mechanism.class_stated


def test_a_budget_that_releases_nothing_gives_no_interval():
    checked = stated(WaveletPointwise(), SOURCE, (Budget(1e-3, 1e-5),) * 4)
    assert "nothing is released" in checked.refusal


def test_the_coverage_laboratory_refuses_what_the_page_refuses():
    budget = coverage_topic.Experiment(
        "reading",
        replace(SOURCE, signal="blocks"),
        WaveletPointwise(points="0.4"),
        Budget(1.0, 1e-5),
        where=0.4,
    )
    with pytest.raises(InputError, match="rougher"):
        next(coverage_topic.repetitions(budget))


# -- options and points -----------------------------------------------------------------------------


def test_options_of_the_whole_curve_are_carried_to_a_point():
    chosen = {
        "moments": 3,
        "edges": "corrected",
        "weights": "published",
        "bound": 1.5,
        "noise_sd": 0.7,
        "clip": 3.0,
        "level": 6,
        "class_stated": True,
    }
    whole = WaveletGlobal(**chosen, smoothness=1.5, radius=4.0)
    point = coverage_topic.mechanism_for("reading", whole, 0.2)
    assert isinstance(point, WaveletPointwise) and point.points == "0.2"
    assert {name: getattr(point, name) for name in chosen} == chosen
    assert (point.smoothness, point.radius) == (1.25, 2.0)
    assert WaveletPointwise.like(WaveletGlobal(), "0.5") == WaveletPointwise()
    mine = WaveletPointwise(points="0.1", noise="gaussian")
    assert WaveletPointwise.like(mine, "0.9") == replace(mine, points="0.9")


@pytest.mark.parametrize("edges", ["periodic", "corrected"])
def test_both_ends_of_the_range_are_points(edges):
    """20 data sets: the average of the released values is the curve's, within five errors."""
    source = RegressionPoints(
        signal="smooth" if edges == "periodic" else "ramp", n_curves=16_000, n_servers=4
    )
    mechanism = WaveletPointwise(points="0, 1", edges=edges, level=5)
    data = source.draw(20, generator(3, 0, 0))
    values = mechanism.release(data, BUDGETS, generator(3, 1, 0)).coefficients[0, :, 0]
    error = values.std(axis=0) / np.sqrt(len(values))
    truth = source.curve(np.array([0.0, 1.0]))
    assert (np.abs(values.mean(axis=0) - truth) < 5 * error + 0.02).all()
    for text in ("-0.1", "1.001"):
        with pytest.raises(InputError, match="from 0 to 1"):
            WaveletPointwise(points=text)


@pytest.mark.parametrize("name", SIGNALS)
def test_what_a_basis_leaves_out_is_the_curve_less_its_projection(name):
    basis, times = WaveletBasis(64), np.array([0.2, 0.37, 0.6])
    out = left_out(RegressionPoints(signal=name).truth, basis, times)
    x = (np.arange(2**16) + 0.5) / 2**16
    best = basis.inner_products(x, (signal(name)(x) + 0 * x)[None] / len(x))[0]
    assert np.allclose(out, signal(name)(times) - basis.curve(best, times), atol=5e-3)


# -- coverage -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_interval_that_is_given_covers_and_jumps_get_none():
    """100 data sets for each row: 90 % less five standard errors of a share is 75 %."""
    rows = [
        coverage_of_wavelets.measured(setting, 100, seed=1)
        for setting in coverage_of_wavelets.settings()
        if setting.n <= 16_000
    ]
    assert len(rows) == 16
    for row in rows:
        assert row.refusal or row.coverage > 0.9 - 5 * 0.03
    assert all(
        row.refusal
        for row in rows
        if row.setting.signal == "blocks" and not row.setting.is_pointwise
    )
    cusp = [row for row in rows if row.setting.signal == "cusp" and row.setting.is_pointwise]
    assert all(row.coverage > row.without_bias and not row.refusal for row in cusp)
