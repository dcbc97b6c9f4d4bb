"""Sparse regression without privacy: optimality, closed forms and the paper's lengths.

Moments of normal rows are drawn from their law (Wishart, by Bartlett's triangle) wherever rows
themselves do not matter, so that 60 000 rows of 800 features cost as much as one matrix.
"""

import numpy as np
import pytest
from scipy.special import ndtri

from engine.numerics.correlated import covariance
from engine.numerics.sparse_fits import (
    largest_quantile,
    lasso,
    moments,
    precision_rows,
    usual_penalty,
)
from tests.heavy import few

SIGMA = 0.5


def oracle(gram, cross, support):
    """Least squares on the features that matter, as if they were known: (…, d)."""
    out = np.zeros(cross.shape)
    inner = gram[..., support[:, None], support]
    out[..., support] = np.linalg.solve(inner, cross[..., support, None])[..., 0]
    return out


def debiased(beta, precision, gram, cross):
    """β + Θ X'(y − Xβ)/n: (…, d). The step back towards the data undoes what selection did."""
    left = cross[..., None] - gram @ beta[..., None]
    return beta + (precision @ left)[..., 0]


def standard_errors(covariance):
    return np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))


def debiased_covariance(precision, gram, n):
    """σ² ΘGΘ'/n: (…, d, d), the covariance of `debiased` for given features."""
    return SIGMA**2 * precision @ gram @ precision.swapaxes(-1, -2) / n


def drawn_gram(law, n, rng):
    """X'X/n of n rows N(0, law)."""
    size = len(law)
    triangle = np.tril(rng.standard_normal((size, size)), -1)
    triangle[np.diag_indices(size)] = np.sqrt(rng.chisquare(n - np.arange(size)))
    root = np.linalg.cholesky(law) @ triangle
    return root @ root.T / n


def drawn_moments(beta, n, rng, repeats, kind="ar1"):
    """X'X/n and X'y/n of `repeats` data sets with noise of standard deviation ½."""
    size = len(beta)
    law = np.zeros((size + 1, size + 1))
    law[:size, :size], law[size, size] = covariance(kind, size), SIGMA**2
    both = np.stack([drawn_gram(law, n, rng) for _ in range(repeats)])
    gram = both[:, :size, :size]
    return gram, gram @ beta + both[:, :size, size]


def spikes(size, where):
    beta = np.zeros(size)
    beta[where] = 1 / np.sqrt(len(where))
    return beta


FAR_APART = np.array([3, 20, 41, 60, 88])
BETA = spikes(100, FAR_APART) * np.where(np.arange(100) % 2, 1, -1)


def test_moments_are_averages_over_rows():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 7, 3)), rng.normal(size=(2, 7))
    gram, cross = moments(x, y)
    np.testing.assert_allclose(gram, np.einsum("rij,rik->rjk", x, x) / 7)
    np.testing.assert_allclose(cross, np.einsum("rij,ri->rj", x, y) / 7)


# -- coefficients -----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [60, 5000])
def test_the_lasso_meets_its_optimality_conditions(n):
    """Also with fewer rows than features, where G is singular."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((3, n, 100))
    gram, cross = moments(x, x @ BETA + SIGMA * rng.standard_normal((3, n)))
    penalty = usual_penalty(SIGMA, 100, n) / 2
    beta = lasso(gram, cross, penalty)
    slope = cross - (gram @ beta[..., None])[..., 0]
    active = beta != 0
    np.testing.assert_allclose(slope[active], penalty * np.sign(beta[active]), atol=1e-8)
    assert np.abs(slope[~active]).max() <= penalty + 1e-8
    assert active.any() and not active.all()


def test_the_lasso_is_soft_thresholding_where_features_are_uncorrelated():
    cross = np.array([0.5, -0.2, 0.1, -0.9])
    np.testing.assert_allclose(lasso(np.eye(4), cross, 0.15), [0.35, -0.05, 0, -0.75], atol=1e-12)
    assert (lasso(np.eye(4), cross, 0.9) == 0).all()


def test_the_lasso_errs_as_much_as_its_reference():
    """N = 200 000, d = 100, five features: 2.7e-4, most of it shrinkage; eight data sets."""
    gram, cross = drawn_moments(BETA, 200_000, np.random.default_rng(1), 8)
    result = lasso(gram, cross, usual_penalty(SIGMA, 100, 200_000))
    assert ((result - BETA) ** 2).sum(axis=1).mean() == pytest.approx(2.7e-4, rel=0.2)


# -- inference --------------------------------------------------------------------------------


def test_precision_rows_solve_their_equations_where_rounds_suffice():
    law = covariance("ar1", 40)
    rows = precision_rows(law, rounds=80)
    np.testing.assert_allclose(rows, np.linalg.inv(law), atol=1e-4)
    assert ((rows != 0).sum(axis=1) == 3).all()


@pytest.mark.parametrize(
    ("rounds", "expected"), [(8, 1.237), (15, 1.573), (25, 1.657), (60, 1.667)]
)
def test_rows_that_are_stopped_early_are_too_short(rounds, expected):
    law = covariance("ar1", 40)
    rows = precision_rows(law, rounds=rounds)
    assert (rows @ law @ rows.T)[20, 20] == pytest.approx(expected, abs=1e-3)


def test_data_sets_are_fitted_together_as_they_would_be_alone():
    grams = np.stack(
        [drawn_gram(covariance("ar1", 12), 300, np.random.default_rng(k)) for k in range(3)]
    )
    together = precision_rows(grams)
    for gram, rows in zip(grams, together, strict=True):
        np.testing.assert_allclose(precision_rows(gram), rows)


def test_removing_the_bias_centres_every_coefficient_at_the_truth():
    """400 data sets of 4000 rows; the fit is shrunk by a twentieth. Five standard errors.

    The sign of the correction that is printed in the paper doubles the bias where features matter
    and is invisible elsewhere.
    """
    rng, n, where = np.random.default_rng(3), 4000, np.array([0, 5, 8, 13, 17])
    beta = spikes(20, where)
    gram, cross = drawn_moments(beta, n, rng, 400)
    exact = np.broadcast_to(np.linalg.inv(covariance("ar1", 20)), gram.shape)
    shrunk = 0.95 * oracle(gram, cross, where)
    result = debiased(shrunk, exact, gram, cross)
    errors = standard_errors(debiased_covariance(exact, gram, n))
    scores = (result - beta) / errors
    assert np.abs(scores.mean(axis=0)).max() < 5 / np.sqrt(400)
    assert scores.var() == pytest.approx(1, rel=5 * np.sqrt(2 / 8000))
    printed = ((2 * shrunk - result - beta) / errors).mean(axis=0)
    assert (printed[where] < -4).all() and np.abs(np.delete(printed, where)).max() < 5 / 20


def test_the_largest_of_independent_normals_has_its_closed_quantile():
    """P(max |Z| ≤ q) = (2Φ(q) − 1)^d; 40 000 draws of 50, five standard errors of a share."""
    result = largest_quantile(4 * np.eye(50), 0.95, 40_000, np.random.default_rng(1))
    assert result == pytest.approx(2 * ndtri((1 + 0.95 ** (1 / 50)) / 2), rel=0.01)
    alone = largest_quantile(np.eye(1), 0.95, 40_000, np.random.default_rng(1))
    assert alone == pytest.approx(1.96, rel=0.02)


def test_negative_variances_of_noisy_moments_count_as_none():
    result = largest_quantile(np.diag([1.0, -5.0]), 0.95, 40_000, np.random.default_rng(1))
    assert result == pytest.approx(1.96, rel=0.02)


@pytest.mark.parametrize(("n", "length"), few([(4000, 0.0388), (3000, 0.0449), (5000, 0.0348)]))
def test_intervals_of_one_machine_are_as_long_as_their_reference(n, length):
    """15 machines, d = 800: Θ from all rows after 15 rounds, the interval from one machine's."""
    law = covariance("ar1", 800)
    gram = drawn_gram(law, 15 * n, np.random.default_rng(1))
    rows = precision_rows(gram)
    errors = standard_errors(debiased_covariance(rows, gram, n))
    assert 2 * 1.96 * errors.mean() == pytest.approx(length, abs=1e-4)


@pytest.mark.parametrize(("n", "length"), [(4000, 0.0400), (3000, 0.0462), (5000, 0.0358)])
def test_intervals_with_the_exact_precision_are_as_long_as_their_reference(n, length):
    law = covariance("ar1", 800)
    errors = standard_errors(debiased_covariance(np.linalg.inv(law), law, n))
    assert 2 * 1.96 * errors.mean() == pytest.approx(length, abs=6e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exact", "lengths", "within"),
    few([(True, (0.0816, 0.0596, 0.0815), 8e-4), (False, (0.079, 0.058, 0.079), 1e-3)]),
)
def test_bands_of_one_machine_are_as_wide_as_their_reference(exact, lengths, within):
    """All 800 coefficients, the 15 that matter, the others; 4000 draws."""
    rng, law = np.random.default_rng(1), covariance("ar1", 800)
    gram = law if exact else drawn_gram(law, 60_000, rng)
    rows = np.linalg.inv(law) if exact else precision_rows(gram)
    spread = debiased_covariance(rows, gram, 4000)
    matter = np.append(np.arange(8), 8 + rng.permutation(792)[:7])
    groups = (np.arange(800), matter, np.setdiff1d(np.arange(800), matter))
    found = [
        2 * float(largest_quantile(spread[np.ix_(group, group)], 0.95, 4000, rng))
        for group in groups
    ]
    assert found == pytest.approx(lengths, abs=within)
