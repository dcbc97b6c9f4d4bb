"""Wavelet regression: plans from public facts, refusals, options, exact risks, and the source."""

from dataclasses import replace

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.random_streams import generator
from engine.core.types import NON_PRIVATE, Budget, CurveData, DataKind, Public, PublicFacts
from engine.mechanisms.wavelet_global import OFF_MIDDLE, WaveletGlobal
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.numerics.clipping.normal_readings import (
    clipped_mean,
    clipped_square,
    unclipped,
    worst_bias,
)
from engine.numerics.designs import KnownDesign
from engine.numerics.signals import SELF_SIMILAR_RADIUS, SIGNALS, signal
from engine.numerics.wavelet_bases import WaveletBasis
from engine.privacy import accounting, transcript
from engine.simulation.metrics import coverage, integrated_squared_errors
from engine.sources.besov_points import BesovPoints
from engine.sources.regression_points import CONFIGURATIONS, RegressionPoints, configuration_budgets
from engine.topics.regression.intervals import stated
from tests.heavy import few

SOURCE = RegressionPoints(n_curves=20_000, n_servers=4)
BUDGETS = (Budget(1.0, 1e-5), Budget(0.3, 1e-5), Budget(3.0, 1e-6), Budget(np.inf))
EVERY = [
    WaveletGlobal(),
    WaveletGlobal(edges="corrected"),
    WaveletGlobal(design="released"),
    WaveletPointwise(points="0.2, 0.7"),
    WaveletPointwise(noise="curve"),
    WaveletPointwise(noise="gaussian"),
]
every_mechanism = pytest.mark.parametrize("mechanism", EVERY, ids=repr)
TOO_LITTLE = (Budget(1e-3, 1e-5),)


def data_of(source=SOURCE, repeats=1, seed=1):
    return source.draw(repeats, generator(seed, 0, 0))


# -- plans -----------------------------------------------------------------------------------


@every_mechanism
def test_where_nothing_is_released_the_ledger_is_about_readings(mechanism):
    plan = mechanism.plan(SOURCE.public, TOO_LITTLE)
    assert not plan.released
    for line in plan.spends:
        assert (line.mu, line.unit) == (0.0, "reading")
        assert line.why.startswith("Too few readings")


@every_mechanism
def test_weights_are_shares_and_a_site_without_protection_adds_no_noise(mechanism):
    plan = mechanism.plan(SOURCE.public, BUDGETS)
    assert (plan.weights > 0).all()
    assert plan.weights.sum() == pytest.approx(1)
    assert plan.scales[3] == 0 and (plan.scales[:3] > 0).all()
    assert plan.weights[3] > plan.weights[2] > plan.weights[0] > plan.weights[1]
    assert accounting.guarantees(plan.spends)[1].epsilon <= 0.3


@every_mechanism
def test_a_budget_that_allows_no_estimate_is_not_spent_and_says_so(mechanism):
    estimate = mechanism.release(data_of(), TOO_LITTLE, generator(1, 1, 0))
    assert (estimate.coefficients == 0).all()
    assert estimate.tuning[0]["released"] is False
    assert accounting.total_mu(estimate.spends[0]) == 0
    assert np.isnan(mechanism.expected_error(SOURCE.sizes, TOO_LITTLE, SOURCE.facts))
    energy = float(SOURCE.truth.energy)
    if isinstance(mechanism, WaveletGlobal) and mechanism.design == "even":
        assert mechanism.exact_risk(SOURCE, TOO_LITTLE) == pytest.approx(energy)


def test_the_literal_method_releases_nothing_where_its_resolution_is_one_or_less():
    literal = WaveletGlobal(plan_rule="literal")
    assert not literal.plan(SOURCE.public, (Budget(1e-5, 1e-6),) * 4).released
    assert literal.plan(SOURCE.public, (Budget(1.0, 1e-6),) * 4).released


@every_mechanism
def test_renaming_the_sites_renames_weights_and_noise_and_nothing_else(mechanism):
    order = [2, 0, 3, 1]
    sizes = replace(SOURCE, configuration="listed", sizes_listed="1000, 2000, 4000, 8000").sizes
    turned = replace(sizes, n_curves_per_server=tuple(sizes.n_curves_per_server[k] for k in order))
    one = mechanism.plan(Public(sizes, SOURCE.facts), BUDGETS)
    other = mechanism.plan(Public(turned, SOURCE.facts), tuple(BUDGETS[k] for k in order))
    assert (one.basis, one.clip) == (other.basis, other.clip)
    assert np.allclose(one.weights[order], other.weights)
    assert np.allclose(one.scales[order], other.scales)


@pytest.mark.parametrize("mechanism", [WaveletGlobal(), WaveletPointwise()], ids=repr)
def test_a_plan_scales_with_the_unit_of_the_readings(mechanism):
    """Centimetres instead of metres: same level and weights, everything else a hundredfold."""
    scaled = replace(mechanism, radius=100 * mechanism.radius)
    facts = replace(SOURCE.facts, value_low=-200.0, value_high=200.0, reading_sd=100.0)
    one, other = (
        m.plan(Public(SOURCE.sizes, f), BUDGETS)
        for m, f in ((mechanism, SOURCE.facts), (scaled, facts))
    )
    assert (one.basis, one.released) == (other.basis, other.released)
    assert other.clip == pytest.approx(100 * one.clip)
    assert np.allclose(other.scales, 100 * one.scales)
    assert other.criterion == pytest.approx(1e4 * one.criterion)


@pytest.mark.parametrize(
    "mechanism",
    [WaveletGlobal(), WaveletGlobal(edges="corrected"), WaveletPointwise(points="0.3")],
    ids=repr,
)
def test_an_estimate_moves_with_the_middle_of_the_bounds(mechanism):
    data = data_of()
    lifted = replace(
        data, values=data.values + 7.0, facts=replace(data.facts, value_low=5.0, value_high=9.0)
    )
    one, other = (mechanism.release(d, BUDGETS, generator(1, 1, 0)) for d in (data, lifted))
    grid = drawing_grid()
    assert np.allclose(other.values(grid), one.values(grid) + 7.0, atol=1e-5)
    assert one.tuning == other.tuning


@every_mechanism
def test_several_budgets_at_once_give_what_each_gives_alone(mechanism):
    """Levels may differ, so that coefficients are filled up; curves are the same."""
    data, grid = data_of(), drawing_grid()
    budgets = [(Budget(0.2, 1e-5),), BUDGETS, (Budget(4.0, 1e-5),)]
    together = mechanism.release_many(data, budgets, 2, generator(1, 1, 0))
    assert len(set(together.basis_sizes)) > 1 or not isinstance(mechanism, WaveletGlobal)
    for k, one in enumerate(budgets):
        alone = mechanism.release_many(data, [one], 2, generator(1, 1, 0))
        assert alone.spends[0] == together.spends[k]
        assert np.allclose(
            alone.on_grid(alone.unprotected, grid)[0],
            together.on_grid(together.unprotected, grid)[k],
            atol=0.02,
        )
        deviation = alone.parts.noise[0], together.parts.noise[k]
        assert np.allclose(*deviation)


@pytest.mark.parametrize(
    "mechanism",
    [
        WaveletGlobal(),
        WaveletGlobal(edges="corrected"),
        WaveletPointwise(points="0.2, 0.7"),
        WaveletPointwise(points="0.2, 0.7", noise="curve"),
    ],
    ids=repr,
)
def test_noise_has_the_variance_that_was_planned(mechanism):
    """2000 draws: the privacy error within 5 % of what the plan says."""
    estimate = mechanism.release_many(data_of(), [BUDGETS], 2000, generator(1, 1, 0))
    privacy = integrated_squared_errors(estimate, None).privacy.mean()
    assert privacy == pytest.approx(
        mechanism.expected_error(SOURCE.sizes, BUDGETS, SOURCE.facts), rel=0.05
    )
    assert estimate.parts.noise.sum() == pytest.approx(privacy, rel=0.05)


@pytest.mark.parametrize("edges", ["periodic", "corrected"])
def test_messages_carry_the_noise_that_is_stated_with_them(edges):
    """3000 draws of each number a site sends."""
    heard = []

    class Listener:
        def sent(self, site, step, values, noise):
            heard.append((values, noise))
            return values

    with transcript.overheard(Listener()):
        WaveletGlobal(edges=edges).release_many(data_of(), [BUDGETS], 3000, generator(1, 1, 0))
    values, noise = heard[0]
    assert np.allclose(values[0].std(axis=0), noise[:1], rtol=0.08)
    assert (heard[3][1] == 0).all()


def test_with_corrected_edges_values_at_both_ends_are_those_of_the_curve():
    source = RegressionPoints(n_curves=200_000, signal="ramp")
    truth = signal("ramp")(np.array([0.0, 1.0]))
    for edges, is_close in (("corrected", True), ("periodic", False)):
        estimate = WaveletPointwise(points="0, 1", edges=edges).release(
            data_of(source), (Budget(8.0),), generator(1, 1, 0)
        )
        errors = np.abs(estimate.coefficients[0, 0, 0] - truth)
        assert bool(errors.max() < 0.3) is is_close


@pytest.mark.parametrize("moments", few([5, 8]))
def test_smooth_wavelets_have_corrected_edges_whose_sensitivity_no_observation_exceeds(moments):
    """The norm of b(x), edges weighted as their noise is, over times crowded at both ends."""
    mechanism = WaveletGlobal(edges="corrected", moments=moments)
    plan = mechanism.plan(SOURCE.public, BUDGETS)
    assert plan.released
    basis = mechanism.wavelets(int(plan.tuning["level"]))
    ends = np.geomspace(1e-6, 0.5, 2000)
    norms = np.sqrt((basis.scaling(np.concatenate([[0, 1], ends, 1 - ends])) ** 2).sum(axis=1))
    assert 0.98 <= norms.max() / basis.sup_norm <= 1 + 1e-9


# -- refusals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"edges": "corrected", "moments": 1}, "2 to 8"),
        ({"edges": "corrected", "constants": "published"}, "periodic"),
        ({"edges": "corrected", "plan_rule": "literal"}, "periodic"),
        ({"level": 1}, "levels 3 to 14"),
        ({"edges": "corrected", "level": 12}, "levels 3 to 10"),
        ({"design": "weighted"}, "must be stated"),
        ({"design": "ranked", "density": "0, 2"}, "above zero"),
        ({"design": "released", "edges": "corrected"}, "periodic"),
        ({"design": "ranked", "density": "1", "constants": "published"}, "evenly"),
    ],
    ids=str,
)
def test_what_does_not_fit_together_is_refused(chosen, words):
    with pytest.raises(InputError, match=words):
        WaveletGlobal(**chosen)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"facts": PublicFacts()}, "must be stated"),
        (
            {"counts": np.array([2, *[1] * 19_998]), "server": np.repeat([0, 1], [9999, 10_000])},
            "one observation from every person",
        ),
        ({"server": np.repeat([0, 2], 10_000)}, "at least one observation"),
    ],
    ids=["σ", "two readings", "gap"],
)
def test_data_that_do_not_fit_are_refused(change, words):
    with pytest.raises(InputError, match=words):
        WaveletGlobal().release(
            replace(data_of(), **change), (Budget(1.0, 1e-5),), generator(1, 1, 0)
        )


def test_gaussian_noise_on_values_needs_delta_and_laplace_noise_does_not():
    data = data_of()
    with pytest.raises(InputError, match="δ must be above 0"):
        WaveletPointwise(noise="gaussian").release(data, (Budget(1.0),), generator(1, 1, 0))
    estimate = WaveletPointwise().release(data, (Budget(1.0),), generator(1, 1, 0))
    assert estimate.tuning[0]["noise"] == "laplace"
    assert accounting.guarantees(estimate.spends[0]) == (Budget(1.0),) * 4


def test_what_is_known_of_the_ends_is_cautioned():
    open_ended = RegressionPoints(signal="ramp").facts
    assert "corrected" in WaveletGlobal().unsuited_because(open_ended)
    assert not WaveletGlobal(edges="corrected").unsuited_because(open_ended)
    assert not WaveletGlobal().unsuited_because(SOURCE.facts)


# -- points -------------------------------------------------------------------------------------


def test_distant_points_cost_hardly_more_than_one():
    """Forty points by Laplace noise with the joint sensitivity, not forty times ε."""

    def planned(points):
        mechanism = WaveletPointwise(points=points, level=6, clip=4.0, noise="laplace")
        return mechanism.plan(SOURCE.public, (Budget(1.0),) * 4).scales[0]

    one, two = planned("0.203"), planned("0.203, 0.703")
    many = planned(", ".join(str((k + 0.5) / 40) for k in range(40)))
    assert two == pytest.approx(one, rel=0.5)
    assert many < 4 * one


def test_very_many_points_are_read_off_a_curve():
    budgets = (Budget(1.0, 1e-3),) * 4
    points = ", ".join(str((k + 0.5) / 101) for k in range(101))
    few, many = (WaveletPointwise(points=text, level=4) for text in ("0.3", points))
    kinds = [m.plan(SOURCE.public, budgets).kind for m in (few, many)]
    assert kinds == ["laplace", "curve"]


def test_a_value_read_off_a_curve_is_the_curve_of_the_global_release():
    data = data_of()
    point = WaveletPointwise(points="0.3, 0.6", noise="curve", level=4, clip=3.0)
    curve = WaveletGlobal(level=4, clip=3.0)
    plans = [m.plan(SOURCE.public, BUDGETS) for m in (point, curve)]
    assert np.allclose(plans[0].scales, plans[1].scales)
    at = point.release(data, BUDGETS, generator(1, 1, 0)).unprotected[0, 0]
    noise_free = curve.release(data, BUDGETS, generator(1, 1, 0))
    values = noise_free.on_grid(noise_free.unprotected, np.array([0.3, 0.6]))[0, 0]
    assert np.allclose(at, values, atol=0.02)  # weights differ a little


def test_values_at_points_are_clipped_kernel_means():
    """(1/n) Σ [Y]_τ K_J(x0, X), worked out reading by reading."""
    data, budgets = data_of(), (NON_PRIVATE,)
    mechanism = WaveletPointwise(points="0.3", level=4, clip=1.5)
    basis = WaveletBasis(16)
    kernel = basis.scaling(data.times[0]) @ basis.scaling(np.array([0.3]))[0]
    expected = (np.clip(data.values[0], -1.5, 1.5) * kernel).mean()
    estimate = mechanism.release(data, budgets, generator(1, 1, 0)).coefficients.item()
    assert estimate == pytest.approx(expected, abs=1e-10)


# -- options --------------------------------------------------------------------------------------


def mean_error(mechanism, source, budgets, repeats=40):
    data = source.draw(repeats, generator(1, 0, 0))
    estimate = mechanism.release(data, budgets, generator(1, 1, 0))
    return integrated_squared_errors(estimate, data.truth).total.mean()


@pytest.mark.slow
def test_undoing_the_clip_removes_most_of_its_bias():
    """40 data sets each; the reference is 0.0032 against 0.0316."""
    source, budgets = (
        RegressionPoints(configuration="homogeneous"),
        configuration_budgets("homogeneous"),
    )
    as_it_is, undone = (
        mean_error(WaveletGlobal(level=5, clip=2.0, invert_clip=flag), source, budgets)
        for flag in (False, True)
    )
    assert as_it_is == pytest.approx(0.0316, rel=0.05)
    assert undone == pytest.approx(0.0032, rel=0.15)


@pytest.mark.slow
def test_times_that_are_not_even_leave_a_bias_that_no_sample_size_removes_and_repairs_remove_it():
    free, known = (NON_PRIVATE,), "0.5, 1.5"
    rising = RegressionPoints(configuration="homogeneous", times="rising")
    many = replace(rising, configuration="even", n_curves=64_000_000)
    biased = [WaveletGlobal(level=5).exact_risk(source, free) for source in (rising, many)]
    assert biased == pytest.approx([0.083, 0.082], abs=6e-4)
    weighted = WaveletGlobal(level=5, design="weighted", density=known)
    assert weighted.exact_risk(rising, free) == pytest.approx(0.0012, abs=6e-5)
    for mechanism in (
        weighted,
        WaveletGlobal(level=5, design="ranked", density=known),
        WaveletGlobal(level=5, design="released"),
    ):
        assert mean_error(mechanism, rising, free) < 0.0014


def test_values_at_points_follow_times_of_a_stated_density():
    """Without the density the value at .25 is off by (g(.25) − 1)f, a quarter of the curve."""
    rising = RegressionPoints(configuration="homogeneous", times="rising")
    data = rising.draw(20, generator(8, 0, 0))
    off = {}
    for density in (None, "0.5, 1.5"):
        method = WaveletPointwise(points="0.25, 0.8", level=5, density=density)
        estimate = method.release(data, (NON_PRIVATE,), generator(8, 1, 0))
        off[density] = np.abs(
            estimate.coefficients[0, :, 0].mean(axis=0) - rising.curve(np.array([0.25, 0.8]))
        )
    spread = 5 * 3 * np.sqrt(32 / (rising.sizes.n_curves * 20))
    assert off["0.5, 1.5"].max() < spread + 0.1 < off[None].max()


def test_a_stated_density_changes_neither_sensitivity_nor_noise_beyond_where_points_lie():
    even = WaveletPointwise(points="0.375", level=5, clip=3.0)
    ranked = WaveletPointwise(points="0.5", level=5, clip=3.0, density="0.5, 1.5")
    source = RegressionPoints(configuration="homogeneous")
    budgets = configuration_budgets("homogeneous")
    plans = [method.plan(source.public, budgets) for method in (even, ranked)]
    assert plans[0].scales == pytest.approx(plans[1].scales)
    assert (
        WaveletPointwise.like(WaveletGlobal(design="ranked", density="1, 2"), "0.5").density
        == "1, 2"
    )


@pytest.mark.slow
def test_the_exact_risk_holds_for_weights_and_for_wrong_times():
    """100 data sets: within 4 standard errors of simulated errors."""
    rising = RegressionPoints(configuration="homogeneous", times="rising")
    budgets, data = configuration_budgets("homogeneous"), rising.draw(100, generator(7, 0, 0))
    for chosen in ({}, {"design": "weighted", "density": "0.5, 1.5"}):
        mechanism = WaveletGlobal(**chosen)
        errors = integrated_squared_errors(
            mechanism.release(data, budgets, generator(7, 1, 0)), data.truth
        ).total.ravel()
        gap = errors.mean() - mechanism.exact_risk(rising, budgets)
        assert abs(gap) < 4 * errors.std() / 10


def test_a_known_design_is_a_distribution():
    design = KnownDesign.stated("1, 3, 2", "density")
    x = np.linspace(0, 1, 501)
    assert design.rank(np.array([0.0, 1.0])) == pytest.approx([0, 1])
    slope = np.gradient(design.rank(x), x)
    assert np.allclose(slope[1:-1], design.density(x)[1:-1], atol=0.01)


@pytest.mark.slow
def test_bands_of_a_stated_class_cover_the_whole_curve():
    """50 data sets; bands are wide because they rest on public bounds."""
    data = data_of(RegressionPoints(configuration="homogeneous"), 50)
    for mechanism in (
        WaveletGlobal(class_stated=True),
        WaveletGlobal(edges="corrected", class_stated=True),
    ):
        estimate = mechanism.release(data, configuration_budgets("homogeneous"), generator(1, 1, 0))
        assert coverage(estimate, data.truth).of_curve.mean() > 0.93


# -- clipped readings -------------------------------------------------------------------------------


def test_moments_of_clipped_readings_are_those_of_a_million_draws():
    """10⁶ draws for each value: within 4 standard errors."""
    rng = np.random.default_rng(2)
    draws = rng.standard_normal(1_000_000)
    for value in (-1.9, 0.0, 0.7):
        clipped = np.clip(value + 0.8 * draws, -2.2, 2.2)
        assert clipped.mean() == pytest.approx(clipped_mean(value, 2.2, 0.8), abs=4e-3)
        assert (clipped**2).mean() == pytest.approx(clipped_square(value, 2.2, 0.8), abs=6e-3)


def test_the_worst_bias_is_above_that_of_every_curve_and_the_clip_can_be_undone():
    curve = np.linspace(-2, 2, 401)
    for clip in (2.0, 2.7, 5.0):
        means = clipped_mean(curve, clip, 1.3)
        assert np.abs(means - curve).max() <= worst_bias(clip, 2.0, 1.3) + 1e-12
        assert np.allclose(unclipped(means, clip, 2.0, 1.3), curve, atol=1e-6)
    assert unclipped(np.array([9.0, -9.0]), 3.0, 2.0, 1.0).tolist() == [2.0, -2.0]


# -- source ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SIGNALS)
def test_every_curve_has_its_sup_norm(name):
    values = signal(name)((np.arange(2**17) + 0.5) / 2**17)
    assert np.abs(values).max() == pytest.approx(1.9 if name == "self_similar" else 2.0, rel=1e-5)


def test_the_self_similar_curve_is_as_rough_at_every_level():
    truth = RegressionPoints(signal="self_similar").truth
    assert float(truth.energy) == pytest.approx(0.647756, abs=1e-6)
    best, _ = WaveletBasis(2**10).project(truth)
    for level, place in WaveletBasis(2**10).levels[1:]:
        size = np.sqrt((best[place] ** 2).sum()) * 2**level
        assert size == pytest.approx(SELF_SIMILAR_RADIUS, rel=1e-3)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_configuration_fixes_sizes_and_states_budgets(name):
    source = RegressionPoints(configuration=name)
    assert source.draw(1, generator(1, 0, 0)).sizes == source.sizes
    assert source.n_servers == len(source.budgets()) == len(CONFIGURATIONS[name][0])
    assert source.n_curves == sum(CONFIGURATIONS[name][0])
    assert {budget.delta for budget in source.budgets(1e-7)} == {1e-7}


def test_sizes_can_be_listed_and_nonsense_is_refused():
    source = RegressionPoints(configuration="listed", sizes_listed="10, 20,5")
    assert source.sizes.n_curves_per_server == (10, 20, 5)
    assert (source.n_curves, source.n_servers) == (35, 3)
    for wrong in (None, "", "3, x", "4, 0", "1.5", "-2, 3", "1", "1_0", "9" * 12):
        with pytest.raises(InputError, match=r"whole numbers|listed sites"):
            RegressionPoints(configuration="listed", sizes_listed=wrong)
    with pytest.raises(InputError, match="state no budgets"):
        source.budgets()
    assert source.resized(100, 1, 3).sizes.n_curves_per_server == (100, 100, 100)


def test_rising_times_have_their_density():
    """100 000 times: shares of quarters within 4 standard errors of G = (x + x²)/2."""
    times = RegressionPoints(n_curves=100_000, times="rising").draw(1, generator(1, 0, 0)).times[0]
    edges = np.linspace(0, 1, 5)
    shares = np.histogram(times, edges)[0] / 1e5
    assert np.allclose(shares, np.diff((edges + edges**2) / 2), atol=4 * 0.5 / 1e5**0.5)


@pytest.mark.parametrize(
    ("level", "design", "expected"),
    [(8, "even", True), (50, "even", False), (8, "released", False)],
)
def test_a_curve_far_from_the_middle_is_told_where_times_by_chance_outweigh_the_forecast(
    level, design, expected
):
    """Of 20 000 people at ε = 5: the forecast is 0.6, and the error of the first one 1.8."""
    rng = np.random.default_rng(1)
    times = rng.random(20_000)
    values = level + 3 * np.sin(2 * np.pi * times) + 3 * rng.standard_normal(times.shape)
    facts = PublicFacts(value_low=0, value_high=100, reading_sd=3.0, kind=DataKind.UPLOAD)
    data = CurveData(
        times[None],
        np.clip(values, 0, 100)[None],
        np.ones(20_000, int),
        np.zeros(20_000, int),
        facts,
    )
    mechanism = WaveletGlobal(design=design, **({"edges": "corrected"} if design == "even" else {}))
    estimate = mechanism.release(data, (Budget(5.0, 1e-9),), generator(1, 1, 0))
    assert (OFF_MIDDLE in estimate.warnings) == expected


# -- curves of a Besov class -------------------------------------------------------------------


@pytest.mark.parametrize(("p", "share"), [(2.0, 1.0), (2.0, 0.1), (4.0, 0.02), (20.0, 1.0)])
def test_a_besov_curve_has_the_stated_norm_at_every_level(p, share):
    source = BesovPoints(smoothness=0.9, integrability=p, share=share, radius=1.5)
    basis = WaveletBasis(2**12)
    coefficients = basis.coefficients(source.truth)
    coarse, *levels = basis.levels
    assert np.abs(coefficients[coarse[1]]).max() < 1e-6
    for level, index in levels[:-2]:  # midpoints are too few for the finest two
        details = coefficients[index]
        norm = 2 ** (level * (0.9 + 1 / 2 - 1 / p)) * np.linalg.norm(details, p)
        assert norm == pytest.approx(1.5, rel=0.02)
        assert np.linalg.norm(details) <= 1.02 * 1.5 * 2 ** (-0.9 * level)


def test_the_exact_risk_for_a_besov_curve_stays_below_the_bound_of_its_class():
    source = BesovPoints(n_curves=20_000, n_servers=4)
    method = WaveletGlobal(smoothness=source.smoothness, radius=source.radius)
    risk = method.exact_risk(source, (Budget(1.0, 1e-5),) * 4)
    plan = method.plan(source.public, (Budget(1.0, 1e-5),) * 4)
    assert 0 < risk < plan.criterion


def test_an_interval_at_a_point_is_refused_where_a_besov_curve_is_rougher_than_stated():
    rough, smooth = (
        BesovPoints(smoothness=alpha, radius=1.5, n_curves=40_000, n_servers=4)
        for alpha in (0.6, 1.5)
    )
    method = WaveletPointwise(smoothness=1.4, radius=2.0, points="0.21, 0.37, 0.63")
    budgets = (Budget(3.0, 1e-5),) * 4
    assert stated(method, rough, budgets).refusal
    assert not stated(method, smooth, budgets).refusal


def test_a_besov_curve_beyond_the_stated_bound_is_refused():
    with pytest.raises(InputError) as caught:
        BesovPoints(radius=50.0, bound=2.0)
    assert caught.value.field == "radius"
