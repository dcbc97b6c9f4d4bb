"""Sizes of sets of changes: closed forms, pairs that attain them, and spectra that are the best."""

import numpy as np
import pytest
from scipy.optimize import minimize

from engine.numerics.difference_sets import Atoms, BoxMoments, Ellipsoid, LinearImage, Thresholded
from engine.numerics.eigensystems import Kernel, eigensystem, midpoints
from tests.heavy import few

KERNEL = Kernel("matern", 1.5, 0.1)
SYSTEM = eigensystem(KERNEL, midpoints(100))
ROOT = np.sqrt(SYSTEM.values)
SIZES_OF_DATA = (50, 100, 200, 500, 1000, 2000, 5000)


def filtered(n, eta=1.5):
    """Averages of n unit vectors with the quadratic penalty ψ = 1/n."""
    powers = SYSTEM.values**eta
    return Ellipsoid(powers / (powers + 1 / n), 2 / n)


def thresholded(n, eta=3.0):
    """The absolute penalty ψ = 1/n."""
    return Thresholded(1 / (2 * n * SYSTEM.values ** (eta / 2)), n)


def soft(thresholds, x):
    return np.sign(x) * np.maximum(np.abs(x) - thresholds, 0)


def atoms(rows):
    """The changes between rows, not divided by a number of records."""
    return Atoms(np.asarray(rows, dtype=float), 1.0)


def bumps(eta=1.5, length=0.1):
    """Bumps at every point of the grid: the kernel's power η, in eigenfunctions."""
    system = eigensystem(Kernel("gaussian", length=length), midpoints(60))
    return atoms(system.values**eta * system.functions.T), system.values


def features(smooth=True):
    grid = np.linspace(0, 1, 9)
    if smooth:
        return np.exp(-((grid[:, None] - np.linspace(0, 1, 6)) ** 2) / 0.08)
    return np.random.default_rng(0).normal(size=(9, 6))


# -- closed forms --------------------------------------------------------------------------------


def test_equal_noise_on_m_coordinates_costs_the_root_of_m_where_papers_say_m():
    changes, ones = Ellipsoid(np.ones(4), 2 / 100), np.ones(4)
    assert changes.l1(ones) == pytest.approx(0.04, rel=1e-14)
    assert changes.published(ones) == pytest.approx(0.08, rel=1e-14)
    assert changes.l2(ones) == 0.02


def test_the_filter_of_the_quadratic_penalty_has_the_two_sums_of_its_weights():
    changes = filtered(100)
    weights = SYSTEM.values / (SYSTEM.values**1.5 + 1 / 100)  # λ^(η − 1/2)/(λ^η + ψ)
    assert changes.published(ROOT) == pytest.approx(0.02 * weights.sum(), rel=1e-12)
    assert changes.l1(ROOT) == pytest.approx(0.02 * np.sqrt((weights**2).sum()), rel=1e-12)
    assert changes.l2(ROOT) == pytest.approx(0.02 * weights.max(), rel=1e-12)


def test_without_the_filter_gaussian_changes_stay_below_the_bound_of_the_largest_weight():
    """max_λ λ^(η−½)/(λ^η + ψ) = (2η − 1)^(1 − 1/2η) ψ^(−1/2η)/2η."""
    for eta, n in ((1.0, 100), (1.5, 100), (1.5, 5000), (3.0, 1000)):
        bound = 2 / n * (2 * eta - 1) ** (1 - 1 / (2 * eta)) * n ** (1 / (2 * eta)) / (2 * eta)
        assert 0.8 * bound < filtered(n, eta).l2(ROOT) <= bound


def test_coordinates_that_never_move_cost_nothing_and_need_no_noise():
    scales = np.array([1.0, 2.0, 0.0])
    changes = Ellipsoid(np.array([1.0, 0.5, 0.0]), 3.0)
    assert changes.moving.tolist() == [1, 1, 0]
    assert changes.l1(scales) == pytest.approx(3 * np.hypot(1, 0.25))
    assert changes.l2(scales) == 3 and changes.published(scales) == 3.75
    assert Ellipsoid(np.ones(2), 3.0, 4.0).published(np.ones(2)) == 8


def test_noise_on_a_coordinate_that_moves_must_not_be_zero():
    for changes in (
        Ellipsoid(np.ones(2), 1.0),
        Thresholded(np.full(2, 0.1), 50),
        atoms(np.eye(2)),
        LinearImage(np.ones((2, 2)), 1.0),
    ):
        assert changes.l1(np.array([1e-100, 1.0])) > 1e90


@pytest.mark.parametrize(
    ("n", "first_zero"), [(50, 7), (100, 9), (500, 12), (1000, 14), (5000, 18)]
)
def test_thresholds_decide_how_many_coordinates_can_move(n, first_zero):
    moving = thresholded(n).moving
    assert moving.sum() == first_zero - 1
    assert (np.diff(moving) <= 0).all()


def test_the_published_sum_runs_one_coordinate_further_and_stops_at_the_grid():
    thresholds, scales = np.array([0.1, 0.9, 1.0, 2.0]), np.array([1.0, 0.5, 0.25, 0.1])
    assert Thresholded(thresholds, 10).published(scales) == pytest.approx(0.2 * (1 + 2 + 4))
    assert Thresholded(thresholds / 10, 10).published(scales) == pytest.approx(
        0.2 * (1 + 2 + 4 + 10)
    )


def test_coordinates_that_cannot_move_at_once_make_the_set_smaller():
    """Two coordinates with thresholds of 0.9: 0.9² + 0.9² > (1 + 2/n)², so one and a part move."""
    changes, ones = Thresholded(np.array([0.9, 0.9]), 100), np.ones(2)
    share = (1.02**2 - 0.81) / 0.81
    assert changes.l1(ones) == pytest.approx(0.02 * np.sqrt(1 + share), rel=1e-12)
    assert Thresholded(np.array([0.6, 0.6]), 100).l1(ones) == pytest.approx(0.02 * np.sqrt(2))


def test_atoms_have_the_largest_distance_of_any_pair():
    changes = atoms([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]])
    assert changes.l1(np.array([1.0, 2.0])) == pytest.approx(5)
    assert changes.l2(np.ones(2)) == pytest.approx(5)
    assert atoms([[1.0, 2.0], [1.0, 3.0]]).moving.tolist() == [0, 1]


# -- attained ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SIZES_OF_DATA)
@pytest.mark.parametrize("scales", ["own", "best", "flat"])
def test_two_opposite_curves_along_the_weights_attain_the_size_of_a_filtered_ball(n, scales):
    """X = τv and X' = −τv with v ∝ s/b, the others anything."""
    changes = filtered(n)
    scales = {"own": ROOT, "best": changes.spectrum, "flat": np.ones(100)}[scales]
    v = changes.shrink / scales
    v /= np.linalg.norm(v)
    others = np.random.default_rng(n).normal(size=100)
    move = changes.shrink * ((others + v) / n - (others - v) / n)
    assert np.abs(move / scales).sum() == pytest.approx(changes.l1(scales), rel=1e-12)


def test_a_curve_spread_evenly_over_the_kept_coordinates_attains_theirs():
    x, ones = np.full(10, 1 / np.sqrt(10)), np.ones(10)
    assert np.abs(2 * x / 1000).sum() == pytest.approx(
        Ellipsoid(ones, 2 / 1000).l1(ones), rel=1e-12
    )


@pytest.mark.parametrize("n", [50, 200, 500])
def test_explicit_neighbours_attain_the_size_under_thresholds(n):
    """The other n − 1 curves are one curve that lifts both means above all thresholds."""
    changes = thresholded(n)
    moving = changes.moving > 0
    v = changes.moving / ROOT
    v /= np.linalg.norm(v)
    other = np.where(moving, (n * changes.thresholds + v) / (n - 1), 0.0) * (1 + 1e-12)
    assert np.linalg.norm(other) <= 1  # there is room
    means = [((n - 1) * other + sign * v) / n for sign in (1, -1)]
    one, two = (soft(changes.thresholds, mean) for mean in means)
    assert np.abs((one - two) / ROOT).sum() == pytest.approx(changes.l1(ROOT), rel=1e-9)


@pytest.mark.parametrize("n", [100, 1000])
def test_where_thresholds_leave_no_room_the_bound_is_below_that_of_the_ball(n):
    changes = thresholded(n)
    assert changes.l1(ROOT) < 0.97 * 2 / n * np.sqrt((changes.moving / ROOT**2).sum())


def test_all_signs_alike_attain_the_size_of_values_of_a_smooth_function():
    """BBᵀ has no negative entry, so u ∝ Bᵀ(1/b) is the worst."""
    rng = np.random.default_rng(2)
    changes, scales = LinearImage(features(), 0.3), rng.uniform(0.5, 2, 9)
    u = changes.features.T @ (1 / scales)
    move = changes.features @ (u / np.linalg.norm(u)) * 0.3
    assert np.abs(move / scales).sum() == pytest.approx(changes.l1(scales), rel=1e-12)


# -- never exceeded ------------------------------------------------------------------------------


def of_ellipsoid(changes, rng, tries):
    c = rng.standard_normal((tries, len(changes.shrink))) * rng.choice([0.01, 1, 100], (tries, 100))
    return changes.shrink * c / np.linalg.norm(c, axis=1, keepdims=True) * changes.radius


def of_thresholds(changes, rng, tries):
    """Neighbours whose coordinates lie near their thresholds, of either sign."""
    size, n = len(changes.thresholds), changes.n
    v = rng.standard_normal((tries, size)) * changes.moving * (rng.random((tries, size)) < 0.7)
    v[: tries // 2] = np.abs(v[: tries // 2])
    v /= np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-9)
    rest = np.minimum(changes.thresholds, 1) * rng.uniform(0.8, 1.3, (tries, size))
    rest *= rng.random((tries, size)) < rng.random((tries, 1))
    rest /= np.maximum(1, np.linalg.norm(rest, axis=1, keepdims=True))
    one, two = ((rest * (n - 1) + sign * v) / n for sign in (1, -1))
    return soft(changes.thresholds, one) - soft(changes.thresholds, two)


def of_atoms(changes, rng, tries):
    pairs = rng.integers(len(changes.atoms), size=(tries, 2))
    return changes.atoms[pairs[:, 0]] - changes.atoms[pairs[:, 1]]


def of_image(changes, rng, tries):
    u = rng.standard_normal((tries, changes.features.shape[1]))
    u[0], u[1] = changes.features.sum(axis=0), changes.features[0]
    return u / np.linalg.norm(u, axis=1, keepdims=True) * changes.radius @ changes.features.T


SEARCHES = [
    (filtered(100), of_ellipsoid),
    (filtered(5000), of_ellipsoid),
    *((thresholded(n), of_thresholds) for n in (50, 100, 500, 1000)),
    (bumps()[0], of_atoms),
    (LinearImage(features(), 0.3), of_image),
    (LinearImage(features(smooth=False), 0.3), of_image),
]


@pytest.mark.parametrize(
    ("changes", "draw"),
    few(SEARCHES, 3),
    ids=lambda one: getattr(one, "__name__", type(one).__name__),
)
def test_no_change_of_twenty_thousand_is_larger_than_the_set(changes, draw):
    rng = np.random.default_rng(3)
    data = draw(changes, rng, 20_000)
    for scales in (
        np.ones(data.shape[1]),
        rng.uniform(0.1, 1, data.shape[1]),
        changes.spectrum + 1e-6,
    ):
        sums, norms = (np.linalg.norm(data / scales, order, axis=1).max() for order in (1, 2))
        assert 0.1 * changes.l1(scales) < sums <= changes.l1(scales) * (1 + 1e-12)
        assert 0.1 * changes.l2(scales) < norms <= changes.l2(scales) * (1 + 1e-12)
        if not isinstance(changes, Atoms):  # what is printed for densities may be too small
            assert changes.l1(scales) <= changes.published(scales) * (1 + 1e-12)


@pytest.mark.parametrize("n", SIZES_OF_DATA)
def test_what_cannot_move_under_thresholds_is_zero_for_every_mean(n):
    changes = thresholded(n)
    still = changes.moving == 0
    assert (soft(changes.thresholds, np.eye(100)[still])[:, still] == 0).all()
    assert (np.diag(soft(changes.thresholds, np.eye(100)))[~still] > 0).all()


# -- spectra -------------------------------------------------------------------------------------


def energy(changes, shape, size="l1"):
    """Σ b_j² at ε = 1 with noise of this shape."""
    return getattr(changes, size)(shape) ** 2 * ((shape * changes.moving) ** 2).sum()


@pytest.mark.parametrize("make", [filtered, thresholded], ids=["quadratic", "absolute"])
@pytest.mark.parametrize("n", SIZES_OF_DATA)
def test_the_best_noise_is_no_more_than_the_tight_and_that_no_more_than_the_published(make, n):
    changes = make(n)
    best = energy(changes, changes.spectrum)
    assert best <= energy(changes, ROOT) * (1 + 1e-12)
    assert energy(changes, ROOT) < energy(changes, ROOT, "published")


def test_the_best_total_of_a_filter_is_the_square_of_its_degrees_of_freedom():
    """2 Σ b² = 8 df²/n², df = Σ s."""
    changes = filtered(1000)
    assert 2 * energy(changes, changes.spectrum) == pytest.approx(
        8 * changes.shrink.sum() ** 2 / 1000**2, rel=1e-12
    )
    assert changes.l2(changes.gaussian_spectrum) == pytest.approx(changes.radius)


def test_no_small_change_of_the_best_spectrum_of_a_filter_makes_it_better():
    changes, rng = filtered(200), np.random.default_rng(4)
    best = energy(changes, changes.spectrum)
    for size in (1e-3, 0.03, 0.5):
        for _ in range(300):
            nearby = changes.spectrum * np.exp(size * rng.standard_normal(100))
            assert energy(changes, nearby) >= best * (1 - 1e-12)


def test_the_problem_is_convex_and_a_solver_that_starts_elsewhere_ends_there():
    shrink = np.array([0.9, 0.5, 0.1, 0.02])
    changes = Ellipsoid(shrink, 1.0)
    found = minimize(lambda log: np.log(energy(changes, np.exp(log))), np.zeros(4), tol=1e-14).x
    found = np.exp(found - found[0])
    np.testing.assert_allclose(found, changes.spectrum / changes.spectrum[0], rtol=1e-4)


def test_no_gaussian_noise_has_a_smaller_total_than_white_noise_through_the_filter():
    changes, rng = filtered(200), np.random.default_rng(5)
    best = energy(changes, changes.gaussian_spectrum, "l2")
    assert best == pytest.approx(changes.radius**2 * (changes.shrink**2).sum(), rel=1e-12)
    others = [ROOT, np.ones(100), *(changes.shrink * np.exp(rng.normal(size=(200, 100))))]
    assert all(energy(changes, shape, "l2") >= best * (1 - 1e-12) for shape in others)


@pytest.mark.parametrize("eta", [1.25, 1.5, 2.0])
@pytest.mark.parametrize("length", [0.05, 0.1, 0.3])
def test_the_spectrum_found_for_atoms_is_better_than_equal_noise_and_powers_of_the_kernel(
    eta, length
):
    changes, values = bumps(eta, length)
    best = energy(changes, changes.spectrum)
    for power in (0.0, 0.25, eta / 4, eta / 3, 0.5, eta / 2):
        assert best < energy(changes, values**power)


@pytest.mark.parametrize(
    "changes",
    [
        atoms(np.eye(12)),
        atoms(np.random.default_rng(1).normal(size=(30, 8))),
        atoms(np.random.default_rng(1).exponential(size=(40, 5)) * 10.0 ** -np.arange(5)),
    ],
    ids=["corners", "normal", "falling"],
)
def test_the_spectra_of_any_atoms_are_close_to_those_of_a_solver(changes):
    size = changes.atoms.shape[1]
    start = np.log(np.ptp(changes.atoms, axis=0)) / 2
    for name, kind, worse in (("spectrum", "l1", 1.06), ("gaussian_spectrum", "l2", 1.2)):
        result = energy(changes, getattr(changes, name), kind)
        solved = minimize(
            lambda log, kind=kind: np.log(energy(changes, np.exp(log), kind)),
            start,
            method="Powell",
            options={"maxiter": 30 * size, "xtol": 1e-5},
        ).fun
        assert result <= np.exp(solved) * worse


# -- second moments of covariates in a box --------------------------------------------------------


def moved_moments(one, other):
    """Coordinates of xx' − yy' for x = (1, z), but for the first: (pairs, entries)."""
    x, y = (np.concatenate([np.ones((len(z), 1)), z], axis=1) for z in (one, other))
    j, k = (own[1:] for own in np.triu_indices(x.shape[1]))
    return (x[:, j] * x[:, k] - y[:, j] * y[:, k]) * np.where(j == k, 1.0, np.sqrt(2))


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_moments_of_a_box_move_by_their_sizes_and_no_more(d):
    """50 000 pairs in the box and at its corners; the worst pair of the proof attains both."""
    rng, scales, moments = (
        np.random.default_rng(d),
        np.ones(BoxMoments(d, 1).size),
        BoxMoments(d, 1),
    )
    one, other = rng.uniform(-1, 1, (2, 50_000, d))
    one[::2], other[::2] = np.sign(one[::2]), np.sign(other[::2])
    c = 4 + 2 * np.sqrt(2) * (d - 1)
    b = (2 * np.sqrt(2) + c) / (2 * c)  # v is the same in all entries, and so is u
    one[0], other[0] = 1.0, 1 - 2 * b
    moved = moved_moments(one, other)
    sums, lengths = np.abs(moved).sum(axis=1), np.linalg.norm(moved, axis=1)
    assert sums.max() == pytest.approx(moments.l1(scales)) and sums.argmax() == 0
    assert lengths.max() == pytest.approx(moments.l2(scales))
    assert moments.l1(2 * scales) == pytest.approx(moments.l1(scales) / 2)
    assert moments.l1(scales) < moments.published(scales)


def test_moments_of_a_box_know_one_size_of_noise_only():
    with pytest.raises(ValueError, match="same noise"):
        BoxMoments(1, 10).l1(np.array([1.0, 2.0]))
