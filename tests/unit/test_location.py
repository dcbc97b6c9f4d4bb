"""The engine that finds the mean: deviations, clipping, reference law, releases and their filter."""

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.types import Design
from engine.mechanisms.families.adaptive import location
from engine.mechanisms.families.adaptive.constants import Constants
from engine.mechanisms.families.adaptive.filters import Combined, Independent, Joint
from engine.mechanisms.families.adaptive.location import SiteDeviations, locate
from engine.numerics.bases import Basis
from engine.numerics.clipping.clipped_averages import averages
from engine.numerics.deviations import (
    AffineDeviations,
    mean_slopes_inverse,
    plain,
    weighted_within_curves,
)
from engine.numerics.exact_sums import Statistic
from engine.numerics.moments import curve_moments
from engine.numerics.monotone import non_increasing_fit
from engine.numerics.observation_times import Stratified, draw_times, stated_density
from engine.numerics.public_curves import PublicCurve
from engine.numerics.reference_law import heavy_tailed, of_observed_curves
from engine.numerics.time_histograms import (
    Mixing,
    may_leave_a_part_empty,
    mixing_of_shares,
    n_bins,
    time_shares,
)

COUNTS = np.array([3, 5, 0, 8, 5])
KINDS = (Statistic.LOCATION, Statistic.SIZE, Statistic.MOMENTS)


def curves(family="cosine", size=4, seed=2, repeats=2):
    """Moments of five curves, their times and values, and the basis."""
    rng, basis = np.random.default_rng(seed), Basis(size, family=family)
    times = rng.random((repeats, COUNTS.sum()))
    values = rng.normal(size=times.shape)
    return curve_moments(times, values, COUNTS, basis), times, values, basis


def own_readings(array, curve):
    stop = int(np.cumsum(COUNTS)[curve])
    return array[:, stop - COUNTS[curve] : stop]


# -- deviations -----------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["cosine", "fourier"])
def test_deviations_are_those_of_the_formula_curve_by_curve(family):
    moments, times, values, basis = curves(family, 5)
    centres = np.random.default_rng(1).normal(size=(2, 3, 5))
    sizes = {}
    for size, found in weighted_within_curves(moments, COUNTS, {3, 5}, Design()):
        sizes[size] = found.from_centres(centres[..., :size], slice(None))
    for size, seen in sizes.items():
        small = basis.first(size)
        for curve in np.flatnonzero(COUNTS):
            m = int(COUNTS[curve])
            inverse = mean_slopes_inverse(small, m, Design())
            for repeat in range(2):
                waves = small(own_readings(times, curve)[repeat])
                gram, cross = waves.T @ waves / m, waves.T @ own_readings(values, curve)[repeat] / m
                ridge = np.diag(np.arange(1.0, size + 1) ** 3) / m
                lift = inverse @ np.linalg.inv(gram + ridge)
                expected = centres[repeat, :, :size] @ (lift @ gram).T - lift @ cross
                assert np.allclose(seen[repeat, ..., curve], expected, atol=1e-9)
        assert (seen[..., 2] == 0).all()  # no reading: no deviation from any centre


def test_slopes_are_the_identity_on_average_over_the_public_law_of_the_times():
    """20 000 curves of six readings, five standard errors."""
    rng, basis = np.random.default_rng(8), Basis(4, family="cosine")
    times, counts = rng.random((1, 120_000)), np.full(20_000, 6)
    moments = curve_moments(times, np.zeros_like(times), counts, basis)
    ((_, found),) = weighted_within_curves(moments, counts, {4}, Design())
    slopes = found.slopes[0]
    errors = slopes.std(axis=2) / np.sqrt(20_000) + 1 / np.sqrt(4000) * slopes.std(axis=2)
    assert (np.abs(slopes.mean(axis=2) - np.eye(4)) < 5 * errors).all()


def test_without_weighting_the_deviation_is_the_plain_gradient():
    moments, *_ = curves()
    centres = np.random.default_rng(1).normal(size=(2, 3, 4))
    seen = plain(moments).from_centres(centres, slice(None))
    assert np.allclose(seen, moments.gradients(centres)(slice(None)), atol=1e-12)


def test_a_common_grid_without_gaps_has_the_slopes_of_that_grid():
    grid = tuple(((np.arange(8) + 0.5) / 8).tolist())
    inverse = mean_slopes_inverse(Basis(3, family="cosine"), 8, Design.common(grid))
    waves = Basis(3, family="cosine")(np.array(grid))
    gram, ridge = waves.T @ waves / 8, np.diag([1.0, 8.0, 27.0]) / 8
    assert np.allclose(inverse, np.linalg.inv(np.linalg.inv(gram + ridge) @ gram), atol=1e-9)


# -- clipping -------------------------------------------------------------------------------


def test_averages_of_clipped_deviations_are_those_of_a_loop():
    moments, *_ = curves()
    rng = np.random.default_rng(4)
    centres = rng.normal(size=(2, 3, 4))
    shape, radius = rng.uniform(0.2, 1, (2, 3, 4)), rng.uniform(0.1, 2, (2, 3))
    own = plain(moments)
    h = own.from_centres(centres, slice(None))
    norm = np.sqrt(((h / shape[..., None]) ** 2).sum(axis=2, keepdims=True))
    psi = h * np.minimum(1, radius[..., None, None] / np.maximum(norm, 1e-300))
    x = psi / shape[..., None]
    location, size = averages(own, centres, shape, radius, Statistic.LOCATION, Statistic.SIZE)
    assert np.allclose(location, psi.mean(axis=-1))
    assert np.allclose(size, abs(psi).mean(axis=-1))
    (moments,) = averages(own, centres, shape, radius, Statistic.MOMENTS)
    assert np.allclose(moments, np.einsum("rclk,rcmk->rclm", x, x) / 5)


def test_results_do_not_depend_on_how_the_work_is_cut_into_blocks():
    moments, *_ = curves()
    centres = np.random.default_rng(4).normal(size=(2, 3, 4))
    args = (plain(moments), centres, np.ones_like(centres), np.ones((2, 3)))
    whole = averages(*args, *KINDS)
    for each, of_whole in zip(averages(*args, *KINDS, block=20, few=2), whole, strict=True):
        assert np.allclose(each, of_whole, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("bad", [np.nan, 1e300, -1e300])
def test_one_bad_curve_moves_a_clipped_average_by_at_most_two_radii_over_n(bad):
    moments, times, values, basis = curves(repeats=1)
    broken = values.copy()
    broken[0, :3] = bad
    centre, shape = np.zeros((1, 1, 4)), np.array([[[1.0, 0.5, 0.4, 0.3]]])
    radius = np.array([[0.7]])
    one, other = (
        averages(plain(each), centre, shape, radius, Statistic.LOCATION)[0]
        for each in (moments, curve_moments(times, broken, COUNTS, basis))
    )
    assert np.linalg.norm((one - other) / shape) <= 2 * 0.7 / 5 * (1 + 1e-12)


# -- isotonic fit and reference law ---------------------------------------------------------


def pooled_adjacent_violators(values):
    """The textbook algorithm, one sequence at a time."""
    blocks = []
    for value in values:
        blocks.append([value, 1])
        while len(blocks) > 1 and blocks[-2][0] < blocks[-1][0]:
            last, n = blocks.pop()
            before, m = blocks.pop()
            blocks.append([(before * m + last * n) / (m + n), m + n])
    return np.repeat([b[0] for b in blocks], [b[1] for b in blocks])


def test_the_isotonic_fit_is_that_of_the_textbook_algorithm_and_keeps_the_mean():
    values = np.random.default_rng(6).normal(size=(40, 9)) - 0.1 * np.arange(9)
    fit = non_increasing_fit(values)
    assert (np.diff(fit, axis=-1) <= 1e-12).all()
    assert np.allclose(fit.mean(axis=-1), values.mean(axis=-1))
    assert np.allclose(fit, [pooled_adjacent_violators(row) for row in values])


def test_the_reference_law_is_standardised_and_wide_radii_lose_nothing():
    law = heavy_tailed(5)
    assert np.allclose(law.squared.mean(axis=0), 1)
    spread = np.linspace(1, 0.2, 5)
    assert np.allclose(law.retained_share(spread, np.sqrt(spread), np.array(1e9)), 1)
    assert np.allclose(law.slope(spread, np.sqrt(spread), np.array(1e9)), 1)


@pytest.mark.parametrize("n_directions", [1, 2, 5, 20])
def test_people_without_outliers_are_beyond_a_radius_no_more_often_than_the_law_has_it(
    n_directions,
):
    rng, spread = np.random.default_rng(4), np.arange(1.0, 21) ** -1.5
    shape = np.sqrt(spread)
    axes = np.linalg.qr(rng.standard_normal((20, 20)))[0][:, :n_directions] / np.sqrt(n_directions)
    axes *= (spread / np.maximum(np.linalg.norm(axes, axis=1), 1e-9))[:, None]
    lengths = np.linalg.norm(rng.standard_normal((100_000, n_directions)) @ axes.T / shape, axis=1)
    for radius in np.sqrt(spread.sum()) * np.array([0.8, 1.0, np.sqrt(2), 2.5]):
        usual = heavy_tailed(20).share_beyond(spread, shape, radius)
        assert np.mean(lengths > 2 * radius) <= usual[1] + 0.005


def test_the_slope_is_the_derivative_of_the_clipped_average():
    """Numerically, by shifting every vector of the sample a little in one coordinate."""
    law, rng = heavy_tailed(3), np.random.default_rng(0)
    signs = rng.choice([-1.0, 1.0], law.absolute.shape)
    spread, shape, radius = np.array([1.0, 0.6, 0.3]), np.array([1.0, 0.8, 0.5]), 1.2

    def clipped(h):
        return h * np.minimum(1, radius / np.linalg.norm(h / shape, axis=1))[:, None]

    h = spread * signs * law.absolute
    for column in range(3):
        step = np.eye(3)[column] * 1e-5
        numeric = (clipped(h + step) - clipped(h - step))[:, column].mean() / 2e-5
        assert law.slope(spread, shape, np.array(radius))[column] == pytest.approx(
            numeric, abs=1e-4
        )


# -- releases and their filter --------------------------------------------------------------

WIDE = Constants(
    first_radius=1e6, first_scale=1.0, scale_width=1e9, final_width=1e9, middle_width=1e9, prior=1e6
)


def sites(parts, noise_size=0.0, repeats=1, columns=2, p=3, seed=0, band=True):
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((5, repeats, columns, p))
    square = rng.standard_normal((repeats, columns, p, p))
    unit = np.full((6, columns), max(noise_size, 1e-12))
    return [
        SiteDeviations(
            part,
            part.n_curves,
            unit,
            noise,
            (square + square.swapaxes(-1, -2)) / 2 if band else None,
        )
        for part in parts
    ]


def identity_deviations(targets):
    """T_i = I: each curve says where it is."""
    p, n = targets.shape[1:]
    slopes = np.broadcast_to(np.eye(p)[None, :, :, None], (len(targets), p, p, n))
    return AffineDeviations.of(slopes, targets)


def test_without_noise_clipping_and_prior_the_centre_is_the_sample_mean():
    targets = np.random.default_rng(1).normal(size=(1, 3, 50))
    result = locate(sites([identity_deviations(targets)]), np.full(3, 0.5), heavy_tailed(3), WIDE)
    assert np.allclose(result.centre[0], targets[0].mean(axis=-1), atol=1e-6)


def test_several_sites_without_noise_find_the_pooled_mean_when_they_are_of_one_size():
    targets = np.random.default_rng(1).normal(size=(1, 3, 60))
    parts = [identity_deviations(targets[..., k : k + 20]) for k in (0, 20, 40)]
    result = locate(sites(parts), np.full(3, 0.5), heavy_tailed(3), WIDE)
    assert np.allclose(result.centre[0], targets[0].mean(axis=-1), atol=1e-3)


@pytest.mark.parametrize("n_sites", [1, 3])
def test_the_covariance_is_symmetric_semidefinite_and_above_the_privacy_noise(n_sites):
    targets = np.random.default_rng(1).normal(size=(4, 3, 90)) * 0.2
    parts = [identity_deviations(t) for t in np.split(targets, n_sites, axis=2)]
    made = sites(parts, 0.02, repeats=4, columns=5)
    result = locate(made, np.full(3, 0.5), heavy_tailed(3))
    again = locate(
        [SiteDeviations(s.deviations, s.n_curves, s.unit, s.noise) for s in made],
        np.full(3, 0.5),
        heavy_tailed(3),
    )
    assert np.allclose(result.covariance, result.covariance.swapaxes(-1, -2))
    assert (np.linalg.eigvalsh(result.covariance) > 0).all()
    diagonal = np.diagonal(result.covariance, axis1=-2, axis2=-1)
    assert (result.centre == again.centre).all()
    without_sixth = np.diagonal(again.covariance, axis1=-2, axis2=-1)
    assert (diagonal > 0).all() and (without_sixth > 0).all()
    off = again.covariance - without_sixth[..., None] * np.eye(3)
    assert (off == 0).all()


def test_what_is_sent_is_the_statistic_with_the_stated_noise():
    """One location release at the prior: g = 2 c d/(n μ), with c and d from the public scale."""
    scale, unit = np.array([0.5, 0.3, 0.2]), 0.01
    (site,) = sites([identity_deviations(np.zeros((1, 3, 10)))], unit)
    state = location._start(site, scale, Constants(), heavy_tailed(3), None)
    expected = 2 * unit * 0.5 * np.sqrt(scale.sum()) * np.sqrt(scale)
    assert np.allclose(location._noise_scale(site, location.FIRST_CENTRE, state), expected)
    assert np.allclose(state.shape, np.sqrt(scale)) and (state.centre == 0).all()


def test_no_site_and_no_order_of_curves_is_special():
    targets = np.random.default_rng(1).normal(size=(1, 3, 40)) * 0.3
    mixed = targets[..., np.random.default_rng(2).permutation(40)]
    one, other = (
        locate(sites([identity_deviations(t)], 0.01), np.full(3, 0.5), heavy_tailed(3))
        for t in (targets, mixed)
    )
    assert np.allclose(one.centre, other.centre, atol=1e-12)
    assert np.allclose(one.covariance, other.covariance, atol=1e-12)


# -- densities and stated curves ------------------------------------------------------------


def test_shares_of_times_are_counted_and_a_curve_that_is_no_number_has_none():
    times = np.array([[0.0, 0.1, 0.5, 1.0, 0.3, 0.7]])
    values = np.array([[1.0, 1.0, 1.0, 1.0, np.nan, 1.0]])
    shares = time_shares(times, values, np.array([4, 0, 2]), 4)
    assert shares[0].T.tolist() == [[0.5, 0.0, 0.25, 0.25], [0.0] * 4, [0.0] * 4]


@pytest.mark.parametrize(
    "basis", [Basis(4, family="cosine"), Basis(3, family="fourier")], ids=["cosine", "fourier"]
)
def test_without_noise_the_design_is_that_of_the_times(basis):
    """E φφ' under the density 0.4 + 1.2t, by 400 000 stratified times."""
    rng = Stratified(np.random.default_rng(1))
    times = draw_times(Design(density=(0.4, 1.6)), 400_000, 1, rng).reshape(1, -1)
    shares = time_shares(times, np.zeros_like(times), np.full(400_000, 1), n_bins(basis.size))
    matrix = mixing_of_shares(shares.mean(axis=2)[:, None], np.full(1, 1e-9), basis).matrix
    values = basis(times[0])
    assert np.allclose(matrix[0, 0], values.T @ values / len(values), atol=0.01)


@pytest.mark.parametrize("family", ["cosine", "fourier"])
def test_errors_of_released_times_move_the_design_in_its_stated_directions(family):
    basis, bins = Basis(3, family=family), n_bins(3)
    shares = np.full((1, 1, bins), 1 / bins)
    bent = shares + 1e-4 * np.cos(np.pi * (np.arange(bins) + 0.5) / bins)  # √2 cos(πt) alone
    before, after = (mixing_of_shares(each, np.full(1, 1e-12), basis) for each in (shares, bent))
    moved = 1e-4 * bins / np.sqrt(2)  # of E √2 cos(πt)
    assert np.allclose(after.matrix - before.matrix, moved * before.directions[0], atol=1e-6)


def test_shares_that_noise_explains_are_taken_for_even_times():
    noise = 0.02 * np.random.default_rng(2).standard_normal((1, 1, n_bins(5)))
    mixing = mixing_of_shares(1 / n_bins(5) + noise, np.full(1, 0.1), Basis(5, family="cosine"))
    assert np.allclose(mixing.matrix, np.eye(5))
    assert (mixing.uncertainty(np.eye(5)[None, None]) > 0).all()


@pytest.mark.parametrize(("first", "last"), [(0.4, 0.6), (0.3, 0.7), (0.0, 0.3), (0.75, 1.0)])
def test_released_times_with_a_gap_void_a_band_and_rarer_times_do_not(first, last):
    bins = n_bins(10)
    middles = (np.arange(bins) + 0.5) / bins
    scale = np.array([0.002])
    noise = scale * np.random.default_rng(4).standard_normal((50, 1, bins))
    is_outside = (middles < first) | (middles > last)
    gap = is_outside / is_outside.sum()
    rare = np.where(is_outside, 1.0, 0.5) / np.where(is_outside, 1.0, 0.5).sum()
    assert may_leave_a_part_empty(gap + noise, scale).all()
    assert not may_leave_a_part_empty(rare + noise, scale).any()


def test_where_noise_could_hide_a_gap_released_times_void_a_band():
    shares = np.full((1, 1, n_bins(8)), 1 / n_bins(8))
    assert may_leave_a_part_empty(shares, np.full(1, 0.1)).all()


def test_a_filter_of_all_coefficients_is_one_of_each_where_the_design_is_the_identity():
    rng = np.random.default_rng(3)
    prior, measured, noise = rng.random(4) + 0.5, rng.normal(size=4), rng.random(4) + 0.1
    slope = rng.random(4) / 2 + 0.5
    step, innovation, left = Independent(prior).update(measured, noise, slope, noise, None, None)
    both, of_both, joint = Joint.start(prior, prior).update(
        measured, noise, slope, noise, np.diag(slope), None
    )
    assert np.allclose(step, both) and np.allclose(innovation, of_both)
    assert np.allclose(left.variance, joint.variance)


def test_what_no_measurement_tells_stays_with_the_prior_and_its_doubt():
    """The design sees the sum of two coefficients only."""
    sees = np.array([[0.5, 0.5], [0.5, 0.5]])
    known = Joint.start(np.ones(2), np.ones(2))
    for _ in range(3):
        *_, known = known.update(np.zeros(2), np.full(2, 1e-6), np.ones(2), np.zeros(2), sees, None)
    covariance = known.covariance(np.zeros((2, 2)))
    together, apart = np.array([1.0, 1.0]) / np.sqrt(2), np.array([1.0, -1.0]) / np.sqrt(2)
    assert together @ covariance @ together < 1e-5
    assert apart @ covariance @ apart == pytest.approx(2.0)  # prior in the filter and in the band


def test_an_uncertain_design_makes_a_measurement_less_certain():
    design = Mixing(np.eye(2), np.full(1, 0.25), np.eye(2)[None])
    sure, unsure = (
        Joint.start(np.ones(2), np.ones(2)).update(
            np.ones(2),
            np.full(2, 0.1),
            np.ones(2),
            np.zeros(2),
            None,
            Combined([each], np.ones((1, 2))),
        )
        for each in (Mixing(np.eye(2)), design)
    )
    assert (sure[-1].variance < unsure[-1].variance).all()
    assert (np.abs(sure[0]) > np.abs(unsure[0])).all()


@pytest.mark.parametrize(
    "design",
    [Design(), Design(density=(1.0, 2.0)), Design(law="windows", window=0.3), Design.visits(0.1)],
)
def test_the_response_of_the_reference_law_is_the_derivative_of_its_clipped_average(design):
    """Numerically: the centre of simulated curves is moved in each coefficient."""
    law, radius = of_observed_curves(Basis(3, family="cosine"), 4, design), 1.1
    spread, shape = np.array([1.0, 0.6, 0.3]), np.array([1.0, 0.8, 0.5])

    def clipped(step):
        h = spread * law.sample + law.slopes @ step
        return (h * np.minimum(1, radius / np.linalg.norm(h / shape, axis=1))[:, None]).mean(axis=0)

    numeric = np.stack([(clipped(1e-5 * e) - clipped(-1e-5 * e)) / 2e-5 for e in np.eye(3)], axis=1)
    response = law.response(spread, shape, np.array(radius))
    assert np.allclose(response, numeric, atol=2e-3)
    assert np.allclose(
        law.slope(spread, shape, np.array(radius)), np.diag(response) / np.diag(law.mean_slopes)
    )


def test_directions_that_a_design_hardly_tells_are_not_blown_up():
    """Nobody is observed after four fifths of the range."""
    cut = Design(density=(1.0,) * 9 + (0.0,) * 2)
    basis = Basis(10, family="cosine")
    assert np.linalg.norm(mean_slopes_inverse(basis, 5, cut), 2) < 12 * np.linalg.norm(
        mean_slopes_inverse(basis, 5, Design()), 2
    )


def test_stratified_numbers_fill_every_stratum_once():
    drawn = Stratified(np.random.default_rng(4)).random((50, 3))
    assert (np.sort((drawn * 50).astype(int), axis=0) == np.arange(50)[:, None]).all()


def test_a_stated_density_is_scaled_to_one_and_inverted():
    density = PublicCurve.stated("1, 3", "density").as_density("density")
    assert density.heights == (0.5, 1.5)
    shares = np.linspace(0, 1, 11)
    t = density.quantile(shares)
    assert np.allclose(0.5 * t + 0.5 * t**2, shares, atol=1e-6)
    assert stated_density(Design(density=(1.0, 3.0))) == density
    assert stated_density(Design()) is None


@pytest.mark.parametrize("text", ["", "1, x", "inf", "1;2", "nan, 1", ", ".join(["1"] * 500)])
def test_a_stated_curve_that_is_no_list_of_numbers_is_refused_kindly(text):
    with pytest.raises(InputError, match="must be at most 400 numbers with commas"):
        PublicCurve.stated(text, "prior")


@pytest.mark.parametrize("text", ["-1, 2", "0, 0"])
def test_a_density_below_zero_or_without_mass_is_refused(text):
    with pytest.raises(InputError, match="must not go below zero"):
        PublicCurve.stated(text, "density").as_density("density")


def test_columns_that_ask_the_same_get_the_answer_of_one_column():
    rng = np.random.default_rng(5)
    result = identity_deviations(rng.normal(size=(2, 3, 50)))
    same = (np.zeros((2, 4, 3)), np.ones((2, 4, 3)), np.full((2, 4), 0.7))
    for kind in KINDS:
        (one,) = averages(result, *(each[:, :1] for each in same), kind)
        (alike,) = averages(result, *same, kind)
        assert np.allclose(alike, np.repeat(one, 4, axis=1), atol=1e-12)
        other = (np.concatenate([same[0][:, :3], np.ones((2, 1, 3))], axis=1), *same[1:])
        assert not np.allclose(averages(result, *other, kind)[0][:, 3], one[:, 0])


class ScaledByColumn:
    """Deviations that are larger in the second column."""

    is_common = False

    def __init__(self, own):
        self.own, self.n_curves, self.entries = own, own.n_curves, own.entries

    def blocks(self, most):
        return [ScaledByColumn(each) for each in self.own.blocks(most)]

    def from_centres(self, centres, repeats):
        return self.own.from_centres(centres, repeats) * np.array([1.0, 2.0])[:, None, None]


def test_columns_with_deviations_of_their_own_are_never_answered_as_one():
    result = ScaledByColumn(identity_deviations(np.random.default_rng(6).normal(size=(1, 3, 10))))
    (found,) = averages(
        result, np.zeros((1, 2, 3)), np.ones((1, 2, 3)), np.ones((1, 2)), Statistic.LOCATION
    )
    assert not np.allclose(found[:, 0], found[:, 1])


def test_more_visits_than_fit_are_drawn_closer_together_and_stop_nothing():
    times = draw_times(Design.visits(0.2), 5, 40, np.random.default_rng(1))
    assert times.shape == (5, 40) and times.min() >= 0 and times.max() <= 1
