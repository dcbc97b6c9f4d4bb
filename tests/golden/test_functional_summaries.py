"""Whole functions under pure privacy reproduce independently worked-out numbers.

Unless a test says otherwise: 100 midpoints, Matérn kernel ν = 3/2 and ρ = 0.1, ε = 1, δ = 0.01 for
Gaussian processes, ψ = 1/n, M the whole part of n^(1/3), η = 3/2 for the quadratic penalty and 3
for the absolute one, Bernstein polynomials of degree 20. Closed forms agree to the digits given.
"""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from engine.core.random_streams import generator
from engine.core.types import Budget, CurveData, Design, Public, PublicFacts, Sizes
from engine.mechanisms.bernstein import Bernstein
from engine.mechanisms.frl import Frl
from engine.mechanisms.gaussian_process import GaussianProcess
from engine.mechanisms.iclp import Iclp
from engine.numerics.bernstein import BernsteinBasis
from engine.numerics.eigensystems import Eigenbasis, Kernel, eigensystem, midpoints
from engine.privacy import accounting
from engine.simulation.experiments import mean_and_se
from tests.heavy import few

BUDGET = Budget(1.0, 0.01)
GRID = midpoints(100)
MATERN = Kernel("matern", 1.5, 0.1)
QUADRATIC, ABSOLUTE = {"eta": 1.5}, {"penalty": "absolute", "eta": 3.0}
FACTS = PublicFacts(design=Design.common(GRID.times))
PUBLIC_DATA = Path(
    os.environ.get("PUBLIC_CURVES", Path(__file__).parents[3] / "shared" / "data")
)  # not part of the project


def digits(text):
    """The number and half a unit of its last digit."""
    mantissa, _, exponent = text.partition("e")
    places = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return float(text), 0.51 * 10.0**-places


def assert_digits(found, text):
    number, half = digits(text)
    assert abs(found - number) <= half, (found, text)


def plan(mechanism, n, facts=FACTS, budget=BUDGET):
    return mechanism.plan(Public(Sizes((n,), n, 1), facts), (budget,))


def energy(mechanism, n, facts=FACTS, budget=BUDGET):
    return mechanism.expected_error(Sizes((n,), n, 1), (budget,), facts)


# -- closed forms --------------------------------------------------------------------------------

# M; FRL published, tight; J*; AR published, with all coordinates moving at once, tight; QR
# published, tight, optimal; degrees of freedom; QR published over tight, over optimal.
NOISE = {
    50: (
        "3",
        ".0864",
        ".0288",
        7,
        "1.298",
        ".1401",
        ".1401",
        "1.088",
        ".08584",
        ".08084",
        "5.03",
        "12.7",
        "13.5",
    ),
    100: (
        "4",
        ".0512",
        ".0128",
        9,
        ".8551",
        ".07763",
        ".07082",
        ".5536",
        ".03781",
        ".03320",
        "6.44",
        "14.6",
        "16.7",
    ),
    500: (
        "7",
        ".01098",
        ".001568",
        12,
        ".1158",
        ".008944",
        ".008944",
        ".1006",
        ".005093",
        ".003186",
        "9.98",
        "19.8",
        "31.6",
    ),
    1000: (
        "10",
        ".008",
        ".0008",
        14,
        ".05890",
        ".004219",
        ".003825",
        ".04741",
        ".002144",
        ".001085",
        "11.65",
        "22.1",
        "43.7",
    ),
    5000: (
        "17",
        ".001572",
        "9.248e-5",
        18,
        ".008153",
        "5.174e-4",
        "5.075e-4",
        ".008336",
        "2.967e-4",
        "8.245e-5",
        "16.05",
        "28.1",
        "101.1",
    ),
}
every_size = pytest.mark.parametrize("n", NOISE)


@every_size
def test_noise_of_the_first_coefficients(n):
    m, published, tight, *_ = NOISE[n]
    assert plan(Frl(), n).smoothings[0].shrink.sum() == int(m)
    assert_digits(energy(Frl(constants="published"), n), published)
    assert_digits(energy(Frl(), n), tight)
    assert energy(Frl(constants="optimal"), n) == pytest.approx(energy(Frl(), n), rel=1e-12)


@every_size
def test_noise_of_the_absolute_penalty(n):
    _, _, _, first_zero, published, all_at_once, tight, *_ = NOISE[n]
    changes = plan(Iclp(**ABSOLUTE), n).smoothings[0].differences(2 / n, 2 / n, n)
    shape = np.sqrt(eigensystem(MATERN, GRID).values)
    assert changes.moving.sum() == first_zero - 1
    assert_digits(energy(Iclp(**ABSOLUTE, constants="published"), n), published)
    assert_digits(energy(Iclp(**ABSOLUTE), n), tight)
    at_once = 4 / n**2 * (changes.moving / shape**2).sum()  # all coordinates, by Cauchy and Schwarz
    assert_digits(2 * at_once * (shape**2 * changes.moving).sum(), all_at_once)


@every_size
def test_noise_of_the_quadratic_penalty_and_its_degrees_of_freedom(n):
    *_, published, tight, optimal, df, over_tight, over_optimal = NOISE[n]
    rows = [
        energy(Iclp(**QUADRATIC, constants=constants), n)
        for constants in ("published", "tight", "optimal")
    ]
    for number, text in zip(rows, (published, tight, optimal), strict=True):
        assert_digits(number, text)
    shrink = plan(Iclp(**QUADRATIC), n).smoothings[0].shrink
    assert_digits(shrink.sum(), df)
    assert_digits(rows[0] / rows[1], over_tight)
    assert_digits(rows[0] / rows[2], over_optimal)
    assert rows[2] == pytest.approx(8 * shrink.sum() ** 2 / n**2, rel=1e-8)


@pytest.mark.parametrize(
    ("n", "absolute", "quadratic", "optimal"),
    [
        (50, 9.3, 12.7, 13.5),
        (100, 12.1, 14.6, 16.7),
        (200, 11.7, 16.8, 21.5),
        (500, 12.9, 19.8, 31.6),
        (1000, 15.4, 22.1, 43.7),
        (2000, 17.7, 24.6, 61.9),
        (5000, 16.1, 28.1, 101),
    ],
)
def test_exact_constants_save_noise(n, absolute, quadratic, optimal):
    def saved(default, better):
        return energy(Iclp(**default, constants="published"), n) / energy(
            Iclp(**default, **better), n
        )

    assert saved(ABSOLUTE, {}) == pytest.approx(absolute, abs=0.06)
    assert saved(QUADRATIC, {}) == pytest.approx(quadratic, abs=0.06)
    assert saved(QUADRATIC, {"constants": "optimal"}) == pytest.approx(optimal, rel=0.0045)


def test_eigenvalues_of_the_kernel():
    values = eigensystem(MATERN, GRID).values
    for number, text in zip(
        values, (".21984", ".19075", ".15326", ".11640", ".08528"), strict=False
    ):
        assert_digits(number, text)
    assert_digits(values[9], ".016612")
    assert_digits(values[24], "6.002e-4")


@pytest.mark.parametrize(
    ("mechanism", "used", "exact"),
    [
        (Iclp(**QUADRATIC, constants="published"), ".5261", ".13750"),
        (Iclp(**QUADRATIC), ".13750", ".13750"),
        (Iclp(**ABSOLUTE, constants="published"), ".6884", ".1981"),
        (Iclp(**ABSOLUTE), ".1981", ".1981"),
        (Frl(constants="published"), ".08", ".04"),
        (Frl(), ".04", ".04"),
    ],
    ids=lambda one: getattr(one, "key", one),
)
def test_sensitivities_of_a_hundred_curves(mechanism, used, exact):
    """At ε = 1 the multiplier of the noise is the sensitivity that was used."""
    (spend,) = plan(mechanism, 100).spends[:1]
    assert_digits(spend.noise_scale[0], used)
    assert_digits(spend.sensitivity[0], exact)
    assert spend.epsilon == pytest.approx(spend.sensitivity[0] / spend.noise_scale[0])


def test_multipliers_of_gaussian_noise():
    assert_digits(np.sqrt(2 * np.log(2 / 0.01)), "3.2552")
    assert_digits(1 / accounting.exact_mu(1.0, 0.01), "1.8779")
    for constants, text in (("published", "3.2552"), ("tight", "1.8779")):
        spend = plan(GaussianProcess(**QUADRATIC, constants=constants), 100).spends[0]
        assert_digits(spend.noise_scale[0] / spend.sensitivity[0], text)
        assert spend.mu == pytest.approx(spend.sensitivity[0] / spend.noise_scale[0])


@pytest.mark.parametrize(
    ("iterations", "expected"),
    [
        (1, {5: ".36941", 10: ".27026", 20: ".19455"}),
        (2, {5: ".4615", 10: ".3512", 20: ".2602"}),
        (3, {5: ".5298", 10: ".4056", 20: ".3018"}),
    ],
)
def test_noise_on_lattice_values_is_added_up_by_their_polynomials(iterations, expected):
    for degree, text in expected.items():
        basis, m = BernsteinBasis(degree, iterations), degree + 1
        added = basis.squared_distance(np.eye(basis.size)).sum()
        assert_digits(added, text)
        assert energy(Bernstein(degree=degree, iterations=iterations), 1000) == pytest.approx(
            2 * (2 * m / 1000) ** 2 * added, rel=1e-8
        )


# -- simulated means -----------------------------------------------------------------------------


def peak(middle, spread):
    return lambda t: np.exp(-((t - middle) ** 2) / (2 * spread**2)) / (spread * np.sqrt(2 * np.pi))


def many_peaks(t):
    return 0.2 * (
        peak(0, 0.03)(t)
        + peak(0.2, 0.05)(t)
        + peak(0.5, 0.05)(t)
        - peak(0.75, 0.03)(t)
        + peak(1, 0.03)(t)
    )


def rough(t):
    """25 eigenfunctions with uniform coefficients."""
    return Eigenbasis(MATERN, GRID, 25)(t) @ np.random.default_rng(4).uniform(-1, 1, 25)


MEANS = {
    "S-1": (lambda t: 10 * t * np.exp(-t), 4.5),
    "S-2": (lambda t: 0.3 * peak(0.3, 0.05)(t) + 0.7 * peak(0.8, 0.05)(t), 4.0),
    "S-3": (many_peaks, 3.0),
    "S-4": (rough, 5.0),
}
WAYS = {
    "FRL published": Frl(constants="published"),
    "FRL": Frl(),
    "AR": Iclp(**ABSOLUTE),
    "QR published": Iclp(**QUADRATIC, constants="published"),
    "QR": Iclp(**QUADRATIC),
    "QR optimal": Iclp(**QUADRATIC, constants="optimal"),
    "Bernstein": Bernstein(),
    "GP classical": GaussianProcess(**QUADRATIC, constants="published"),
    "GP": GaussianProcess(**QUADRATIC),
    "GP best spectrum": GaussianProcess(**QUADRATIC, constants="optimal"),
}
# estimation errors of FRL, AR, QR, Bernstein; total errors in the order of WAYS
ERRORS = {
    "S-1": (
        (".00769", ".0778", ".00621", ".0030"),
        (".1697", ".0239", ".155", ".966", ".0496", ".0282", ".0169", ".0302", ".0142", ".0088"),
    ),
    "S-2": (
        (".1036", ".4442", ".0546", ".843"),
        (".2316", ".1164", ".505", ".813", ".0889", ".0719", ".854", ".0736", ".0609", ".0567"),
    ),
    "S-3": (
        (".2438", ".3504", ".1094", ".377"),
        (".3158", ".2510", ".385", ".536", ".1287", ".1191", ".383", ".1200", ".1129", ".1105"),
    ),
    "S-4": (
        ("5.687", "6.547", "4.172", "5.577"),
        ("5.887", "5.707", "6.643", "5.357", "4.225", "4.199", "5.594", "4.201", "4.181", "4.175"),
    ),
}
SMOOTH = eigensystem(Kernel("gaussian", length=0.2), GRID).paths


def curves(mean, tau, n, repeats, errors):
    """Curves on the grid with deviations `errors` (repeats, n, K), and the mean on the grid."""
    true = mean(GRID.points[:, 0])
    values = (true + errors).reshape(repeats, -1)
    facts = PublicFacts(
        value_low=-1e4, value_high=1e4, norm_bound=tau, design=Design.common(GRID.times)
    )
    return CurveData(
        np.broadcast_to(np.tile(GRID.times, n), values.shape),
        values,
        np.full(n, GRID.size),
        np.zeros(n, int),
        facts,
    ), true


@cache
def gaussian_curves(name, repeats):
    mean, tau = MEANS[name]
    rng = generator(int(name[-1]), 0, 0)
    errors = rng.standard_normal((repeats, 1000, len(SMOOTH))) @ SMOOTH
    return curves(mean, tau, 1000, repeats, errors)


def estimation(mechanism, data, true):
    """∫ (estimate without noise − mean)² on the grid, for every data set: (repeats, 1)."""
    estimate = mechanism.release_many(data, [(BUDGET,)], 1, generator(7, 1, 0))
    off = estimate.on_grid(estimate.unprotected[0], GRID.points[:, 0]) - true
    return (off**2).mean(axis=-1)[:, None]


def assert_errors(name, repeats):
    """Within five standard errors of both runs, and half a digit; the reference has 200 data sets."""
    data, true = gaussian_curves(name, repeats)
    estimated, totals = ERRORS[name]
    for way, text in zip(("FRL", "AR", "QR", "Bernstein"), estimated, strict=True):
        assert_close(mean_and_se(estimation(WAYS[way], data, true)), text, repeats)
    for mechanism, text in zip(WAYS.values(), totals, strict=True):
        added = mechanism.expected_error(data.sizes, (BUDGET,), data.facts)
        assert_close(mean_and_se(estimation(mechanism, data, true) + added), text, repeats)


def assert_close(found, text, repeats):
    number, half = digits(text)
    se = found["se"] * np.sqrt(1 + repeats / 200)
    assert abs(found["mean"] - number) <= 5 * se + half, (found, text)


@pytest.mark.parametrize("name", few(MEANS))
def test_errors_of_simulated_means(name):
    """40 data sets of 1000 curves each: four estimation errors and ten totals."""
    assert_errors(name, 40)


@pytest.mark.slow
@pytest.mark.parametrize("name", MEANS)
def test_errors_of_simulated_means_over_many_data_sets(name):
    """200 data sets, as many as in the reference."""
    assert_errors(name, 200)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tau", "clipped", "whole", "smoothed"), [(4.5, 1.0, 3.51, None), (16.0, 0.04, 0.085, 0.011)]
)
def test_errors_with_heavy_tails_need_a_large_bound(tau, clipped, whole, smoothed):
    """E‖e‖² = 166.7: at τ = 4.5 every curve is clipped. 20 data sets of 2000 curves."""
    rng, system = generator(9, 0, 0), eigensystem(MATERN, GRID)
    errors = rng.standard_t(5, (20, 2000, 100)) @ system.functions
    data, true = curves(MEANS["S-1"][0], tau, 2000, 20, errors)
    norms = np.sqrt((data.values.reshape(20, 2000, 100) ** 2).mean(axis=-1))
    assert (norms > tau).mean() == pytest.approx(clipped, abs=0.005)
    found = mean_and_se(estimation(Frl(n_functions=100), data, true))
    assert abs(found["mean"] - whole) <= 5 * found["se"] + 0.005
    if smoothed is not None:
        found = mean_and_se(estimation(Iclp(**QUADRATIC), data, true))
        assert abs(found["mean"] - smoothed) <= 5 * found["se"] + 0.0005


# -- covariances ---------------------------------------------------------------------------------

PAIRS = {"task": "covariance", "positive": False, **QUADRATIC, "rule": "one_over_n"}


def test_noise_of_covariances_about_nothing():
    n = 500
    default, best = (Iclp(**PAIRS, centre="nothing", constants=c) for c in ("tight", "optimal"))
    changes = plan(default, n).blocks[0][0].differences(n)
    assert_digits(changes.radius, ".0028284")
    assert_digits(plan(default, n).spends[0].sensitivity[0], ".042507")
    assert_digits(energy(default, n), ".0036137")
    assert_digits(energy(best, n), ".0031803")
    assert_digits(changes.shrink.sum(), "14.0985")


def test_noise_of_covariances_about_a_released_mean_is_the_same_for_their_share():
    """Half of ε = 2, or 1, for the second moments; the weight 1/n does not look at ε."""
    for budget, factor in ((Budget(2.0), 1), (Budget(1.0), 4)):
        mechanism = Iclp(**PAIRS, centre="private_mean")
        assert_digits(energy(mechanism, 500, budget=budget) / factor, ".0036137")
        assert [spend.epsilon for spend in plan(mechanism, 500, budget=budget).spends] == (
            pytest.approx([budget.epsilon / 2] * 2)
        )
    centred = energy(Iclp(**PAIRS, centre="sample_mean"), 500)
    assert centred == pytest.approx(0.0036137 * 8 * (499 / 500) ** 2, rel=1e-4)


# -- public data ---------------------------------------------------------------------------------


def electricity():
    """508 Mondays: (MW − 1500)/1000 at 48 half-hours."""
    frame = pd.read_csv(PUBLIC_DATA / "adelaide_monday_demand.csv")
    return (frame.filter(like="hh_").to_numpy() - 1500) / 1000


def scans():
    """382 scans at 93 positions: 2 FA − 1, missing cells by straight lines."""
    frame = pd.read_csv(PUBLIC_DATA / "dti_cca.csv")
    return 2 * frame.filter(like="cca_").to_numpy() - 1, frame["id"]


def persons():
    values, ids = scans()
    filled = pd.DataFrame(values).interpolate(axis=1, limit_direction="both")
    return filled.groupby(ids.to_numpy()).mean().to_numpy()


DATA = {"electricity": electricity, "scans": lambda: scans()[0], "persons": persons}


@cache
def public_curves(name):
    if not PUBLIC_DATA.is_dir():
        pytest.skip("the public data sets are not there; name their folder in PUBLIC_CURVES")
    values = DATA[name]()
    n, k = values.shape
    times = tuple(np.linspace(0, 1, k).tolist())
    facts = PublicFacts(value_low=-2, value_high=2, norm_bound=1.0, design=Design.common(times))
    return CurveData(
        np.tile(times, n)[None], values.reshape(1, -1), np.full(n, k), np.zeros(n, int), facts
    )


def distance(mechanism, name, epsilon):
    """E‖release − sample mean‖², bias and noise both averaged over the times of the readings."""
    data, budget = public_curves(name), (Budget(epsilon, 0.01),)
    estimate = mechanism.release_many(data, [budget], 1, generator(1, 1, 0))
    sample = mechanism.without_protection(data)
    grid = np.array(data.facts.common_times)
    bias = estimate.on_grid(estimate.unprotected, grid) - sample.on_grid(sample.unprotected, grid)
    noise = mechanism.plan(data.public, budget).noise[0][0][0]
    spread = (estimate.basis(grid) ** 2).mean(axis=0) @ noise.scales**2
    return (bias**2).mean() + 2 * spread  # the variance of Laplace noise of scale one


AT_ONE_OVER_N = {
    "FRL": Frl(),
    "AR": Iclp(**ABSOLUTE),
    "QR": Iclp(**QUADRATIC, rule="one_over_n"),
    "QR optimal": Iclp(**QUADRATIC, rule="one_over_n", constants="optimal"),
    "Bernstein": Bernstein(),
}
# ε = 1/4, 1, 4
TABLE = {
    "electricity": (
        508,
        7,
        {
            "FRL": (".02524", ".002454", ".001029"),
            "AR": (".1400", ".01404", ".00617"),
            "QR": (".08156", ".005364", ".000602"),
            "QR optimal": (".05135", ".003476", ".000484"),
            "Bernstein": (".04976", ".005838", ".003093"),
        },
    ),
    "scans": (
        382,
        7,
        {
            "FRL": (".04471", ".004412", ".001893"),
            "AR": (".2146", ".01942", ".00722"),
            "QR": (".1158", ".007806", ".001055"),
            "QR optimal": (".07841", ".005468", ".000909"),
            "Bernstein": (".08066", ".006689", ".002066"),
        },
    ),
    "persons": (
        142,
        5,
        {
            "FRL": (".1611", ".01236", ".003059"),
            "QR": (".3979", ".02594", ".002700"),
            "QR optimal": (".3322", ".02184", ".002443"),
            "Bernstein": (".5727", ".03738", ".003923"),
        },
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_distances_to_the_sample_mean_of_public_data(name):
    n, m, rows = TABLE[name]
    data = public_curves(name)
    assert data.n_curves == n and Frl().default(n) == m
    for way, expected in rows.items():
        for epsilon, text in zip((0.25, 1.0, 4.0), expected, strict=True):
            assert_digits(distance(AT_ONE_OVER_N[way], name, epsilon), text)


def test_the_usual_weight_of_the_penalty_helps_where_little_may_be_spent():
    for constants, text in (("tight", ".01394"), ("optimal", ".01362")):
        default = Iclp(**QUADRATIC, constants=constants)
        assert_digits(distance(default, "electricity", 0.25), text)


@pytest.mark.parametrize("name", ["electricity", "scans"])
def test_distances_are_a_bias_and_noise_that_falls_with_the_square_of_epsilon(name):
    """Six budgets, fitted by the first two and the last; QR is better than AR at all of them."""
    epsilons = 2.0 ** np.arange(-3, 3)
    by_name = {
        way: np.array([distance(mechanism, name, epsilon) for epsilon in epsilons])
        for way, mechanism in AT_ONE_OVER_N.items()
    }
    for values in by_name.values():
        slope = (values[0] - values[1]) / (epsilons[0] ** -2 - epsilons[1] ** -2)
        bias = values[-1] - slope / epsilons[-1] ** 2
        assert np.abs((bias + slope / epsilons**2) / values - 1).max() < 0.01
    assert (by_name["QR"] < by_name["AR"]).all()
