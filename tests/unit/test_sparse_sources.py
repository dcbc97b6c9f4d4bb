"""Simulated rows with few things that matter: their laws, sizes and stated facts."""

from itertools import pairwise

import numpy as np
import pytest

from engine.core.errors import InputError
from engine.core.types import SampleData
from engine.numerics.correlated import CORRELATIONS, covariance, largest_variance
from engine.sources import sources
from engine.sources.sparse_means import SparseMeans, machine_means
from engine.sources.sparse_rows import SparseRows

SMALL = {
    "sparse_rows": {"n_curves": 90, "n_servers": 4, "n_features": 13},
    "sparse_means": {"n_curves": 90, "n_servers": 4, "n_features": 13},
}
every_small = pytest.mark.parametrize(
    "source", [sources.get(key)(**chosen) for key, chosen in SMALL.items()], ids=repr
)


def rng(seed=1):
    return np.random.default_rng(seed)


@every_small
def test_stated_facts_and_sizes_are_those_of_every_draw(source):
    data = source.draw(2, rng())
    assert isinstance(data, SampleData) and data.n_repeats == 2
    assert (data.facts, data.sizes) == (source.facts, source.sizes)
    assert source.sizes.n_curves_per_server == (23, 23, 22, 22)


@every_small
def test_the_same_seed_gives_the_same_rows_and_the_same_recipe_the_same_truth(source):
    one, two = source.draw(1, rng()), source.draw(1, rng())
    assert (one.x == two.x).all()
    assert (one.truth.node_values == source.draw(1, rng(2)).truth.node_values).all()
    assert not (one.x == source.draw(1, rng(2)).x).any()


@every_small
def test_resizing_keeps_what_is_to_be_found(source):
    other = source.resized(30, 1, 3)
    assert other.sizes.n_curves_per_server == (30, 30, 30)
    assert (other.truth.node_values == source.truth.node_values).all()


@pytest.mark.parametrize(
    ("cls", "chosen", "field"),
    [
        (SparseRows, {"n_curves": 5, "n_servers": 6}, "n_servers"),
        (SparseRows, {"n_features": 6, "n_shared": 5, "n_own": 2}, "n_shared"),
        (SparseRows, {"n_curves": 1_000_000, "n_features": 1000}, "n_curves"),
        (SparseMeans, {"n_curves": 5, "n_servers": 6}, "n_servers"),
        (SparseMeans, {"n_features": 6, "n_nonzero": 7}, "n_nonzero"),
        (SparseMeans, {"n_curves": 1_000_000, "n_features": 1000}, "n_curves"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(cls, chosen, field):
    with pytest.raises(InputError) as refused:
        cls(**chosen)
    assert refused.value.field == field


@pytest.mark.parametrize("cls", [SparseRows, SparseMeans])
def test_every_preset_can_be_made(cls):
    for _, chosen in cls.presets():
        source = cls(**chosen)
        assert source.truth.node_values.shape[-1] == source.n_features


# -- regression -------------------------------------------------------------------------------


@pytest.mark.parametrize("design", CORRELATIONS)
def test_features_have_the_stated_covariance(design):
    """40 000 rows of 12; entries of a covariance of normals have variance at most 2/n."""
    source = SparseRows(n_curves=40_000, n_features=12, design=design)
    x = source.draw(1, rng()).x[0]
    assert np.abs(x.mean(axis=0)).max() < 5 / 200
    assert np.abs(x.T @ x / len(x) - source.covariance).max() < 5 * np.sqrt(2) / 200


@pytest.mark.parametrize("design", CORRELATIONS)
def test_no_sparse_direction_varies_more_than_is_stated(design):
    """All directions with entries in a window of neighbours, which vary most."""
    sigma = covariance(design, 63)
    assert np.linalg.eigvalsh(sigma)[0] > 0.11 and (np.diag(sigma) == 1).all()
    for entries in (1, 5, 20, 63):
        most = max(
            np.linalg.eigvalsh(sigma[k : k + entries, k : k + entries])[-1]
            for k in range(64 - entries)
        )
        assert most <= largest_variance(design, entries) + 1e-12


def test_the_precision_of_the_usual_design_is_the_papers():
    precision = np.linalg.inv(covariance("ar1", 30))
    np.testing.assert_allclose(np.diag(precision), [4 / 3, *[5 / 3] * 28, 4 / 3])
    np.testing.assert_allclose(np.diag(precision, 1), -2 / 3)
    np.testing.assert_allclose(np.diag(precision, 2), 0, atol=1e-12)
    assert np.linalg.norm(precision[15]) == pytest.approx(1.915, abs=5e-4)


def test_responses_are_the_features_that_matter_and_noise():
    """20 000 residuals: five standard errors of their mean and variance."""
    source = SparseRows(n_curves=20_000, n_features=20, n_own=3, n_servers=4, noise_sd=0.7)
    data = source.draw(1, rng())
    beta = source.truth.node_values[data.server]
    residual = data.y[0] - (data.x[0] * beta).sum(axis=1)
    assert abs(residual.mean()) < 5 * 0.7 / np.sqrt(20_000)
    assert residual.var() == pytest.approx(0.49, rel=5 * np.sqrt(2 / 20_000))
    assert np.abs(data.y).max() < data.facts.value_high


def test_coefficients_have_length_one_and_the_papers_form():
    source = SparseRows(n_features=30, n_shared=6, n_own=3, positions="first", signs="equal")
    beta = source.truth.node_values
    assert beta.shape == (10, 30)
    np.testing.assert_allclose(source.truth.energy, 1)
    assert (beta[:, :6] == 1 / 3).all()
    assert ((beta[:, 6:] == 1 / 3).sum(axis=1) == 3).all() and (beta >= 0).all()
    assert any((one != other).any() for one, other in pairwise(beta))


def test_alike_machines_share_one_vector_with_random_places_and_signs():
    beta = SparseRows(n_features=200, n_shared=40).truth.node_values
    assert beta.shape == (200,) and (beta != 0).sum() == 40
    assert (beta > 0).any() and (beta < 0).any() and (beta[:40] == 0).any()
    assert (beta != SparseRows(n_features=200, n_shared=40, pattern=2).truth.node_values).any()


def test_the_coefficients_of_a_machine_do_not_follow_how_many_machines_there_are():
    few, many = (SparseRows(n_own=2, n_servers=m).truth.node_values for m in (3, 9))
    assert (few == many[:3]).all()


# -- means ------------------------------------------------------------------------------------


def test_rows_scatter_around_the_means_with_standard_deviation_one():
    """40 000 rows of 10: five standard errors."""
    source = SparseMeans(n_curves=40_000, n_features=10)
    data = source.draw(1, rng())
    assert np.abs(data.x[0].mean(axis=0) - source.truth.node_values).max() < 5 / 200
    assert np.abs(data.x[0].var(axis=0) - 1).max() < 5 * np.sqrt(2 / 40_000)
    assert data.y is None
    assert (np.abs(source.truth.node_values[source.truth.node_values != 0]) == 0.5).all()


def test_means_of_machines_drawn_as_such_have_the_law_of_means_of_rows():
    """60 000 of each entry: five standard errors of mean and variance 1/25."""
    mean, asked = np.array([0.0, 0.5, -1.0]), np.tile([[2, 0], [1, 2]], (10_000, 1))
    drawn = machine_means(mean, 25, asked, 3, rng())
    assert drawn.shape == (3, 20_000, 2)
    for j in range(3):
        own = drawn[:, asked == j]
        assert abs(own.mean() - mean[j]) < 5 / 5 / np.sqrt(own.size)
        assert own.var() == pytest.approx(1 / 25, rel=5 * np.sqrt(2 / own.size))
