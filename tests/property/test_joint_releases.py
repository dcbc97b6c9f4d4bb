"""Sizes and second moments go with a location at the sensitivity of the location alone."""

import numpy as np
import pytest

from engine.core.random_streams import generator
from engine.core.types import Budget
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.numerics.symmetric_matrices import as_matrix, as_vector
from engine.sources.sparse_curves import SparseCurves
from tests.heavy import few

ROUNDING = 1 + 1e-9
TRIES, CLIMBS = 400, 60


def in_ball(points, radius=1.0):
    """Points (…, p) drawn back to a ball, in units of its radius."""
    points = points / radius
    return points / np.maximum(1.0, np.linalg.norm(points, axis=-1, keepdims=True))


def with_sizes(weight):
    def message(points):
        location = in_ball(points)
        return np.concatenate([location, np.sqrt(weight) * np.abs(location)], axis=-1)

    return message


def with_moments(weight, radius=1.0):
    """The moments are those of points clipped at a radius of their own, in units of its square."""

    def message(points):
        clipped = in_ball(points, radius)
        products = clipped[..., :, None] * clipped[..., None, :]
        return np.concatenate([in_ball(points), np.sqrt(weight) * as_vector(products)], axis=-1)

    return message


def with_moments_about(shift):
    """The location is about 0, and the moments about another centre, as no message has them."""

    def message(points):
        of_moments = with_moments(0.5)(points + shift)[..., points.shape[-1] :]
        return np.concatenate([in_ball(points), of_moments], axis=-1)

    return message


def largest_shift(message, size, seed=3):
    """The largest distance of two messages, over random, mirrored and climbing pairs of points."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((2, TRIES, size)) * rng.uniform(0.1, 2, (2, TRIES, 1))
    points[1, ::4] = -points[0, ::4]
    points[1, 1::4] = points[0, 1::4] * rng.choice([-1.0, 1.0], (TRIES // 4, size))

    def shift(pair):
        return np.linalg.norm(message(pair[0]) - message(pair[1]), axis=-1)

    largest = shift(points)
    for step in np.geomspace(0.5, 1e-3, CLIMBS):
        tried = points + step * rng.standard_normal(points.shape)
        better = shift(tried) > largest
        points[:, better] = tried[:, better]
        largest = shift(points)
    return largest.max()


@pytest.mark.parametrize("size", few([2, 14, 1, 5], 2))
@pytest.mark.parametrize(
    "message",
    [
        with_sizes(1.0),
        with_moments(0.5),
        with_moments(0.5, radius=0.7),
        with_moments(0.5, radius=0.2),
    ],
    ids=["sizes", "moments", "tighter", "tightest"],
)
def test_a_pair_moves_no_farther_than_its_location_alone(message, size):
    """Twice the radius, which mirrored curves attain; moments may be clipped more tightly."""
    assert 0.999 * 2 <= largest_shift(message, size) <= 2 * ROUNDING


@pytest.mark.parametrize(
    "message",
    [with_sizes(1.1), with_moments(0.55), with_moments(0.55, radius=0.7)],
    ids=["sizes", "moments", "tighter"],
)
def test_the_weights_are_the_largest_for_which_that_holds(message):
    """A tenth more of the sizes or of the second moments is found out."""
    assert largest_shift(message, 5) > 2 * 1.001


def test_moments_about_another_centre_than_that_of_their_location_would_not_be_free():
    """So a ball about the middle of the bounds sends both about the middle."""
    assert largest_shift(with_moments_about(0.5), 2) > 2 * 1.01


def test_a_matrix_and_its_vector_have_one_norm_and_each_gives_the_other_back():
    matrices = np.random.default_rng(1).standard_normal((3, 7, 7))
    matrices = matrices + matrices.swapaxes(1, 2)
    vectors = as_vector(matrices)
    assert np.linalg.norm(vectors, axis=-1) == pytest.approx(np.linalg.norm(matrices, axis=(1, 2)))
    assert as_matrix(vectors) == pytest.approx(matrices)


def test_without_noise_joint_and_separate_releases_give_the_same_centre():
    """Where clipping is so wide that it takes nothing away, only the noise differs."""
    data = SparseCurves(n_curves=60).draw(2, generator(1, 0, 0))
    joint, separate = (
        AdaptiveMean(
            releases=releases, truncation=4, clipping="wide", shrink="never"
        ).without_protection(data)
        for releases in ("joint", "separate")
    )
    assert joint.coefficients == pytest.approx(separate.coefficients, abs=0.05)


def test_joint_releases_are_left_where_delta_is_zero():
    """There the noise grows with how many numbers a message has."""
    sizes = SparseCurves(n_curves=400).draw(1, generator(1, 0, 0))
    spends = (
        AdaptiveMean(releases="joint").release(sizes, (Budget(4.0),), generator(1, 1, 0)).spends[0]
    )
    assert len(spends) == 6 and all(line.epsilon is not None for line in spends)
