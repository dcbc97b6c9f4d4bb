"""Vectors as coefficients: errors are plain sums of squares."""

import pickle

import numpy as np
import pytest

from engine.core.types import Estimate, Truth
from engine.numerics.coordinates import Coordinates
from engine.simulation.metrics import errors_by_function, integrated_squared_errors

VECTOR = np.array([0.6, 0.0, -0.8, 0.0])


def estimate(coefficients, unprotected, functions=()):
    return Estimate(
        task="sparse_regression",
        basis=Coordinates(4),
        coefficients=coefficients,
        spends=((),),
        unprotected=unprotected,
        functions=functions,
    )


def test_the_energy_of_a_vector_is_its_sum_of_squares():
    assert Truth.of_vector(VECTOR).energy == pytest.approx(1.0)
    both = Truth.of_vector(np.stack([VECTOR, 2 * VECTOR]))
    np.testing.assert_allclose(both.energy, [1, 4])


def test_a_vector_is_its_own_best_approximation():
    best, tail = Coordinates(4).project(Truth.of_vector(VECTOR))
    assert (best == VECTOR).all() and tail == 0
    best, tail = Coordinates(4).first(2).project(Truth.of_vector(VECTOR))
    assert best.tolist() == [0.6, 0.0] and tail == pytest.approx(0.64)


def test_the_three_errors_of_a_vector_are_squared_euclidean_distances():
    rng = np.random.default_rng(1)
    released, noise_free = rng.normal(size=(2, 3, 5, 4)), rng.normal(size=(2, 3, 4))
    found = integrated_squared_errors(estimate(released, noise_free), Truth.of_vector(VECTOR))
    np.testing.assert_allclose(found.total, ((released - VECTOR) ** 2).sum(axis=-1))
    np.testing.assert_allclose(
        found.privacy, ((released - noise_free[:, :, None]) ** 2).sum(axis=-1)
    )
    np.testing.assert_allclose(found.estimation[..., 0], ((noise_free - VECTOR) ** 2).sum(axis=-1))


def test_machines_with_vectors_of_their_own_are_functions():
    rng, truth = np.random.default_rng(1), Truth.of_vector(np.stack([VECTOR, -VECTOR]))
    own = estimate(rng.normal(size=(1, 3, 5, 2, 4)), rng.normal(size=(1, 3, 2, 4)), ("a", "b"))
    each = errors_by_function(own, truth)
    assert each.shape == (1, 3, 5, 2)
    np.testing.assert_allclose(integrated_squared_errors(own, truth).total, each.sum(axis=-1))


def test_values_at_positions_are_the_entries():
    shown = estimate(VECTOR.reshape(1, 1, 1, 4), VECTOR.reshape(1, 1, 4))
    assert shown.values(np.arange(4.0))[0, 0, 0].tolist() == VECTOR.tolist()
    assert Coordinates(3)(np.array([[2.0], [0.0]])).tolist() == [[[0, 0, 1]], [[1, 0, 0]]]


def test_a_vector_pickles_and_cannot_be_changed():
    truth = pickle.loads(pickle.dumps(Truth.of_vector(VECTOR)))
    assert (truth.node_values == VECTOR).all() and truth.rule == "coordinates"
    with pytest.raises(ValueError, match="read-only"):
        Truth.of_vector(VECTOR).node_values[0] = 1.0
