"""Densities of points: what records become, exact sensitivities, refusals, and the grid's part."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import Budget, Covariate, Public, PublicFacts, SampleData, Sizes
from engine.mechanisms.bernstein import Bernstein
from engine.mechanisms.frl import Frl
from engine.mechanisms.gaussian_process import GaussianProcess
from engine.mechanisms.iclp import Iclp
from engine.mechanisms.summaries.density import GridCounts
from engine.numerics.bases import Basis, CosineProducts
from engine.numerics.bernstein import BernsteinBasis
from engine.numerics.eigensystems import Kernel, eigensystem, midpoints, of_times
from engine.numerics.kernel_densities import (
    bumps,
    cosine_atoms,
    lattice_atoms,
    nearest_density,
    spectral_atoms,
)
from engine.simulation.experiments import mean_and_se
from engine.simulation.metrics import integrated_squared_errors
from engine.sources.ages_at_death import AgesAtDeath
from engine.sources.density_points import DensityPoints
from engine.topics.summaries.feasible_smoothness import (
    least_power,
    printed_density,
    sensitivity_by_grid,
)
from tests.heavy import few

SOURCE = DensityPoints()
PLANE = DensityPoints(design="two_modes_2d")
PURE, WITH_DELTA = (Budget(1.0, 0.0),), (Budget(1.0, 0.01),)
EVERY = [
    Iclp(task="density"),
    Frl(task="density"),
    Bernstein(task="density"),
    GaussianProcess(task="density"),
    Frl(task="density", noise="norm"),
    Iclp(task="density", constants="optimal"),
]
every_mechanism = pytest.mark.parametrize("mechanism", EVERY, ids=repr)
both_ranges = pytest.mark.parametrize("source", [SOURCE, PLANE], ids=["interval", "plane"])


def budget_of(mechanism):
    return WITH_DELTA if mechanism.guarantee == "approximate" else PURE


def data_of(source=SOURCE, repeats=1, seed=1):
    return source.draw(repeats, generator(seed, 0, 0))


def plan_of(mechanism, source=SOURCE):
    return mechanism.plan(source.public, budget_of(mechanism))


# -- records -----------------------------------------------------------------------------------


def test_every_record_stands_on_its_nearest_grid_point_and_none_is_lost():
    facts = PublicFacts(covariates=(Covariate("x", 10, 20),))
    x = np.array([[10.0, 10.99, 11.01, 25.0, -np.inf, np.nan, 20.0]])[..., None]
    counts = GridCounts.of(SampleData(x, None, np.zeros(7, dtype=np.int64), facts), midpoints(10))
    assert counts.counts.tolist() == [[2, 1, 0, 0, 0, 2, 0, 0, 0, 2]]


def test_points_of_the_plane_are_counted_by_row_and_column():
    facts = PublicFacts(covariates=(Covariate("x", 0, 1), Covariate("y", 0, 2)))
    x = np.array([[[0.1, 1.9], [0.6, 0.1]], [[0.9, 0.1], [0.9, 0.2]]])
    counts = GridCounts.of(SampleData(x, None, np.zeros(2, dtype=np.int64), facts), midpoints(2, 2))
    assert counts.counts.tolist() == [[0, 1, 1, 0], [0, 0, 2, 0]]


def test_the_nearest_point_of_an_uneven_grid_is_the_nearest():
    grid = of_times((0.0, 0.1, 0.5, 1.0), 2)
    points = generator(1, 0, 0).random((500, 2))
    near = ((points[:, None] - grid.points) ** 2).sum(axis=-1).argmin(axis=1)
    assert (grid.nearest(points) == near).all()


@pytest.mark.parametrize("columns", [0, 3])
def test_records_of_no_number_or_three_are_refused(columns):
    facts = PublicFacts(covariates=tuple(Covariate(f"x{k}") for k in range(columns)))
    with pytest.raises(InputError, match="one or two numbers"):
        Iclp(task="density").plan(Public(Sizes((100,), 100, 1, columns), facts), PURE)


def test_a_grid_of_the_plane_has_a_limit():
    with pytest.raises(InputError, match="at most 40"):
        plan_of(Iclp(task="density", grid_size=41), PLANE)


# -- atoms -------------------------------------------------------------------------------------


def test_spectral_atoms_are_a_power_of_the_kernel_with_mass_one_in_the_middle():
    grid, kernel = midpoints(60), Kernel("exponential", length=0.1)
    atoms = spectral_atoms(kernel, 2.0, grid)
    gram = np.exp(-np.abs(grid.points - grid.points.T) / 0.1)
    square = gram @ gram / 60  # the second spectral power, under the weights
    assert atoms.atoms @ atoms.on_grid.T == pytest.approx(square / square[30].mean(), rel=1e-9)


def test_a_gaussian_kernel_to_a_power_is_nearly_a_wider_bump_away_from_the_ends():
    grid = midpoints(200)
    atoms = spectral_atoms(Kernel("gaussian", length=0.03), 1.5, grid)
    wide = bumps(0.03 * np.sqrt(1.5), grid)[100]
    assert np.abs(atoms.atoms[100] @ atoms.on_grid.T - wide).max() < 0.02 * wide.max()


def test_cosine_atoms_are_inner_products_of_bumps_with_cosines():
    grid = midpoints(200)
    atoms = cosine_atoms(0.05, 6, grid)
    bump = np.exp(-(((grid.points - 0.5025) / 0.05) ** 2) / 2)[:, 0] / (0.05 * np.sqrt(2 * np.pi))
    cosines = np.sqrt(2) * np.cos(np.pi * np.arange(1, 6) * grid.points)
    assert atoms.atoms[100, 0] == pytest.approx(1)
    assert atoms.atoms[100, 1:] == pytest.approx(bump @ cosines / 200, rel=1e-9)


def test_lattice_atoms_are_values_of_bumps_at_the_lattice():
    atoms = lattice_atoms(0.1, BernsteinBasis(4), midpoints(100))
    expected = np.exp(-(((0.255 - np.arange(5) / 4) / 0.1) ** 2) / 2) / (0.1 * np.sqrt(2 * np.pi))
    assert atoms.atoms[25] == pytest.approx(expected, rel=1e-5)


def test_products_of_cosines_are_orthonormal_and_come_by_frequency():
    basis = CosineProducts(30)
    nodes, weights = (np.polynomial.legendre.leggauss(60)[k] for k in (0, 1))
    axis = (nodes + 1) / 2
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
    values = basis(points).reshape(-1, 30)
    gram = values.T @ (np.outer(weights, weights).ravel()[:, None] / 4 * values)
    assert gram == pytest.approx(np.eye(30), abs=1e-12)
    assert basis.frequencies[:4].tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert (np.diff((basis.frequencies**2).sum(axis=1)) >= 0).all()
    one = Basis(9, family="cosine")(axis)
    assert values[:, 3].reshape(60, 60) == pytest.approx(np.outer(one[:, 1], one[:, 1]))


def test_no_frequency_of_the_plane_is_left_out():
    frequencies = CosineProducts(200).frequencies
    most = (frequencies**2).sum(axis=1).max()
    side = np.arange(40)
    assert ((side[:, None] ** 2 + side**2) < most).sum() <= 200


def test_products_of_cosines_project_a_truth_with_nothing_lost():
    best, tail = CosineProducts(150).project(PLANE.truth)
    assert best[0] == pytest.approx(1, rel=1e-4)
    assert (best**2).sum() + tail == pytest.approx(PLANE.truth.energy)
    assert 0 < tail < 0.02 * PLANE.truth.energy


# -- the nearest density -----------------------------------------------------------------------


def test_the_nearest_density_is_a_density_and_nearer_to_every_other_one():
    rng, weights = generator(3, 0, 0), np.array([0.1, 0.3, 0.2, 0.15, 0.25])
    values = rng.normal(1, 2, (50, 5))
    result = nearest_density(values, weights)
    assert (result >= 0).all()
    assert result @ weights == pytest.approx(np.ones(50))
    others = rng.dirichlet(np.ones(5), (50, 200)) / weights
    before = ((values[:, None] - others) ** 2) @ weights
    after = ((result[:, None] - others) ** 2) @ weights
    assert (after <= before + 1e-12).all()
    best = ((values - result) ** 2) @ weights  # no other density is as near to the values
    assert (before >= best[:, None] - 1e-12).all()


def test_a_density_is_its_own_nearest_density():
    values = generator(3, 0, 0).dirichlet(np.ones(40)) * 40
    assert nearest_density(values, np.full(40, 1 / 40)) == pytest.approx(values, abs=1e-12)


@every_mechanism
@pytest.mark.parametrize("source", few([SOURCE, PLANE]), ids=["interval", "plane"])
def test_what_is_released_is_a_density_unless_it_is_to_be_left_as_it_is(mechanism, source):
    data = data_of(source)
    estimate = mechanism.release(data, budget_of(mechanism), generator(1, 1, 0))
    assert (estimate.coefficients >= 0).all()
    assert estimate.coefficients.mean(axis=-1) == pytest.approx(1)
    rough = replace(mechanism, clean=False).release(data, budget_of(mechanism), generator(1, 1, 0))
    assert rough.basis.size == len(plan_of(mechanism, source).noise[0][0][0].scales)
    errors = [
        integrated_squared_errors(one, source.truth).total.item() for one in (estimate, rough)
    ]
    assert errors[0] < 1.1 * errors[1]  # with a truth that a grid knows only in part


# -- sensitivities and noise -------------------------------------------------------------------


@both_ranges
def test_the_ledger_holds_the_largest_loss_over_all_pairs_of_records(source):
    mechanism = Iclp(task="density")
    atoms = mechanism.atoms(
        mechanism.grid(source.facts, source.sizes.n_covariates), source.n_curves
    )
    plan = plan_of(mechanism, source)
    losses = pdist(atoms.atoms / plan.noise[0][0][0].scales, "cityblock") / source.n_curves
    assert losses.max() == pytest.approx(1, rel=1e-6)
    assert losses.max() <= 1
    assert plan.spends[0].epsilon == 1


@every_mechanism
def test_the_planned_noise_energy_is_the_measured_one(mechanism):
    """400 draws; five standard errors."""
    rough = replace(mechanism, clean=False)
    estimate = rough.release_many(data_of(), [budget_of(mechanism)], 400, generator(2, 1, 0))
    found = mean_and_se(integrated_squared_errors(estimate, None).privacy[0])
    planned = mechanism.expected_error(SOURCE.sizes, budget_of(mechanism), SOURCE.facts)
    assert abs(found["mean"] - planned) < 5 * found["se"]


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", [Iclp, Frl, Bernstein, GaussianProcess])
@both_ranges
def test_the_best_shape_of_noise_is_never_worse_than_the_usual_one(mechanism, source):
    usual, best = (
        plan_of(mechanism(task="density", constants=constants), source).energy(0)
        for constants in ("tight", "optimal")
    )
    assert best <= usual * (1 + 1e-9)


def test_sizes_of_atoms_are_found_once_for_all_budgets_and_sites(monkeypatch):
    calls = []
    monkeypatch.setattr(
        "scipy.spatial.distance.pdist", lambda *args: calls.append(args) or pdist(*args)
    )
    mechanism, source = Iclp(task="density", bandwidth=0.1234), DensityPoints(n_servers=3)
    for epsilon in (0.5, 1.0, 2.0):
        mechanism.plan(source.public, (Budget(epsilon, 0.0),))
    assert len(calls) == 1


def test_three_sites_spend_each_their_own_budget_and_are_weighed_by_their_noise():
    source = DensityPoints(n_servers=3)
    budgets = (Budget(0.5, 0.0), Budget(1.0, 0.0), Budget(4.0, 0.0))
    mechanism = Iclp(task="density")
    plan = mechanism.plan(source.public, budgets)
    assert [spend.epsilon for spend in plan.spends] == [0.5, 1.0, 4.0]
    assert plan.weights[0, 0] < plan.weights[0, 1] < plan.weights[0, 2]
    estimate = mechanism.release_many(data_of(source, 3), [budgets], 2, generator(1, 1, 0))
    assert estimate.coefficients.shape == (1, 3, 2, 200)


# -- printed constants -------------------------------------------------------------------------


def test_a_printed_constant_that_is_too_small_is_refused_with_what_it_would_spend():
    with pytest.raises(InputError, match=r"would spend 1\.22") as caught:
        plan_of(Iclp(task="density", constants="published"))
    assert caught.value.field == "constants"


def test_a_printed_constant_that_holds_is_used_and_costs_less_than_it_says():
    mechanism = Iclp(task="density", constants="published", eta=1.25)
    plan, audit = plan_of(mechanism), printed_density(mechanism, 1000)
    assert plan.spends[0].epsilon == pytest.approx(audit.ratio, rel=1e-6)
    assert plan.noise[0][0][0].multiplier == pytest.approx(audit.printed, rel=1e-6)


@pytest.mark.parametrize("mechanism", [Frl, Bernstein])
@both_ranges
def test_competitors_as_published_are_private_and_need_more_noise(mechanism, source):
    spent = plan_of(mechanism(task="density", constants="published"), source).spends[0].epsilon
    assert 0.02 < spent < 0.5


def test_the_exact_sensitivity_never_exceeds_the_bound_put_right():
    """√(2M) (tr K^{η−1})^{½} for kernels that are never negative; 2√M for all."""
    for eta in (1.25, 1.5, 2.0):
        kernel, grid = Kernel("gaussian", length=0.03), midpoints(200)
        system = eigensystem(kernel, grid)
        peak = (system.functions.T**2 @ system.values**eta).max()
        trace = (system.values ** (eta - 1)).sum()
        differences = spectral_atoms(kernel, eta, grid).differences
        exact = differences.l1(np.sqrt(system.values)) / differences.printed
        assert exact * 2 * peak * np.sqrt(trace) <= np.sqrt(2 * peak * trace)


# -- how it grows with the grid ----------------------------------------------------------------


def exponential(task="density", **chosen):
    return Iclp(task=task, kernel="exponential", **chosen)


@pytest.mark.parametrize(
    ("task", "constants", "dimension", "least"),
    [
        ("density", "tight", 1, 1.0),
        ("density", "published", 1, 1.5),
        ("density", "tight", 2, 0.5 + 2 / 3),
        ("density", "published", 2, 1 + 2 / 3),
        ("mean_function", "tight", 1, 0.75),
        ("mean_function", "published", 1, 1.0),
        ("covariance", "tight", 1, 0.75),
        ("varying_coefficients", "tight", 1, 0.75),
        ("risk_minimisation", "tight", 1, 1.5),
    ],
)
def test_the_least_smoothness_follows_from_the_decay_of_the_kernel(
    task, constants, dimension, least
):
    assert least_power(exponential(task, constants=constants), dimension) == pytest.approx(least)


@pytest.mark.parametrize(
    ("task", "constants"),
    [
        ("density", "tight"),
        ("density", "published"),
        ("mean_function", "tight"),
        ("mean_function", "published"),
        ("risk_minimisation", "tight"),
    ],
)
def test_sensitivities_grow_without_end_below_the_least_smoothness_and_settle_above(
    task, constants
):
    """Doubling K multiplies partial sums Σ j^{−p} by about 2^{1−p} for p < 1, and by 1 for p > 1."""
    least = least_power(exponential(task, constants=constants))
    growth = []
    for eta in (least - 0.2, least + 0.5):
        sweep = sensitivity_by_grid(
            exponential(task, constants=constants, eta=eta, penalty_weight=0.1),
            500,
            sizes=(100, 200, 400),
        )
        growth.append(sweep.sensitivity[2] / sweep.sensitivity[1])
        assert sweep.is_finite == (eta > least)
    assert growth[0] > 1.1 and abs(growth[1] - 1) < 0.02


def test_the_trace_on_grids_is_the_known_one():
    sweep = sensitivity_by_grid(
        exponential("mean_function", eta=1.01), 500, sizes=(50, 100, 200, 500)
    )
    assert sweep.trace == pytest.approx([47.6, 93.9, 185, 455], rel=2e-3)


def test_the_sweep_is_about_noise_from_the_kernel_only():
    with pytest.raises(InputError, match="Only with the quadratic penalty"):
        sensitivity_by_grid(Iclp(task="density", constants="optimal"), 100)


def test_only_what_matters_for_a_density_is_shown():
    of_curves = {"size", "length", "penalty_weight", "rule", "share", "loss"}
    for mechanism in EVERY:
        names = {parameter.name for parameter in mechanism.relevant_parameters()}
        assert {"bandwidth", "clean", "grid_size"} <= names and not names & of_curves
        assert ("kernel" in names) == isinstance(mechanism, Iclp | GaussianProcess)


# -- references --------------------------------------------------------------------------------


def test_the_reference_is_the_same_for_every_mechanism():
    data = data_of()
    values = [one.without_protection(data).coefficients for one in EVERY]
    assert all((one == values[0]).all() for one in values)
    assert (
        integrated_squared_errors(EVERY[0].without_protection(data), SOURCE.truth).total.item()
        < 0.03
    )


def test_ages_at_death_can_be_released_and_stay_near_their_reference():
    data = AgesAtDeath(region="Western Europe").draw(1, generator(1, 0, 0))
    mechanism = Frl(task="density")
    estimate = mechanism.release(data, PURE, generator(1, 1, 0))
    reference = mechanism.without_protection(data)
    distance = reference.squared_distance(estimate.coefficients - reference.coefficients).item()
    assert distance < 0.05 * reference.squared_distance(reference.coefficients).item()
