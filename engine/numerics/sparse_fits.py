"""Sparse regression without privacy: what private answers are compared with.

Everything is computed from moments G = X'X/n (…, d, d) and c = X'y/n (…, d), which are sufficient,
so that one pass over the rows serves all methods, and data sets are fitted together along the
leading axes. Released moments can be put in their place: what is computed from them costs nothing.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array, hard_threshold, largest
from engine.numerics.symmetric_matrices import matrix_root

_MAX_STEPS = 20_000
_STEP = 0.5  # of the gradient steps towards rows of a precision matrix
_SHORTEST = 1e-9  # a subgradient at which the LASSO ends
_MIN_VARIANCE = 0.05  # of a feature given others, where noisy moments would have it near zero


def moments(x: Array, y: Array) -> tuple[Array, Array]:
    """Moments X'X/n (…, d, d) and X'y/n (…, d), which are all that the fits below need."""
    across = x.swapaxes(-1, -2)
    return across @ x / x.shape[-2], (across @ y[..., None])[..., 0] / x.shape[-2]


# -- coefficients -----------------------------------------------------------------------------


def lasso(gram: Array, cross: Array, penalty: float) -> Array:
    """The minimiser of ½ b'Gb − c'b + penalty ‖b‖₁, which is ‖y − Xb‖²/(2n) + penalty ‖b‖₁.

    Accelerated proximal gradient steps (FISTA), which start afresh when they turn back. They end
    when some subgradient at b is shorter than 1e-9: with L the largest eigenvalue of G, a step from
    z to b leaves one of length at most 2L‖z − b‖.

    Examples
    --------
    >>> lasso(np.eye(2), np.array([1.0, 0.2]), penalty=0.5).round(9).tolist()
    [0.5, 0.0]
    """
    steepest = np.linalg.eigvalsh(gram)[..., -1:]
    beta = np.zeros(np.broadcast_shapes(cross.shape, gram.shape[:-1]))
    ahead, pace = beta, np.ones((*beta.shape[:-1], 1))
    for _ in range(_MAX_STEPS):
        moved = ahead + (cross - (gram @ ahead[..., None])[..., 0]) / steepest
        new = np.sign(moved) * np.maximum(np.abs(moved) - penalty / steepest, 0.0)
        if (2 * steepest[..., 0] * np.linalg.norm(ahead - new, axis=-1) <= _SHORTEST).all():
            return np.asarray(new)
        turned = ((ahead - new) * (new - beta)).sum(axis=-1, keepdims=True) > 0
        pace = np.where(turned, 1.0, pace)
        faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        ahead = new + (pace - 1) / faster * (new - beta)
        beta, pace = new, faster
    raise ArithmeticError(f"The LASSO did not converge in {_MAX_STEPS} steps.")


def usual_penalty(noise_sd: float, size: int, n: int) -> float:
    """Compute the penalty 2σ √(2 log d/n), σ being that of the responses around their mean."""
    return 2 * noise_sd * math.sqrt(2 * math.log(size) / n)


def best_subset(gram: Array, cross: Array, s: int, ridge: Array) -> Array:
    """Coefficients with s entries that nearly minimise ½ b'(G + ridge I)b − c'b: (…, d).

    Entries are added one by one, each time the one that lowers the minimum most, and then exchanged
    one by one while that helps, in at most s rounds over all of them. Unlike thresholding of steps
    this does not depend on a step size, so that correlated features do no harm.
    """
    size = cross.shape[-1]
    grams, crosses = gram.reshape(-1, size, size), cross.reshape(-1, size)
    ridges = np.broadcast_to(ridge, cross.shape[:-1]).reshape(-1)
    where = np.zeros((len(crosses), 0), dtype=np.int64)
    for _ in range(s):
        where = np.column_stack([where, _best_additions(grams, crosses, ridges, where)])
    moving = np.arange(len(crosses))  # the problems in which some exchange may still help
    for _ in range(s):
        before, problems = where[moving], (grams[moving], crosses[moving], ridges[moving])
        moved = before.copy()
        for k in range(s):
            moved[:, k] = _best_additions(*problems, np.delete(moved, k, axis=1))
        where[moving] = moved
        moving = moving[(moved != before).any(axis=1)]
        if not len(moving):
            break
    out = np.zeros(crosses.shape)
    right = np.take_along_axis(crosses, where, axis=1)[..., None]
    np.put_along_axis(out, where, np.linalg.solve(_square(grams, ridges, where), right)[..., 0], 1)
    return out.reshape(cross.shape)


def _square(grams: Array, ridges: Array, where: NDArray[np.int64]) -> Array:
    """The entries of G + ridge I at `where` (problems, s): (problems, s, s)."""
    each = np.arange(len(grams))[:, None, None]
    inner = grams[each, where[:, :, None], where[:, None, :]]
    return np.asarray(inner + ridges[:, None, None] * np.eye(where.shape[1]))


def _best_additions(
    grams: Array, crosses: Array, ridges: Array, where: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The entry of each problem that, beside those at `where`, lowers its minimum most."""
    rest, variance = crosses, np.diagonal(grams, axis1=1, axis2=2) + ridges[:, None]
    if where.shape[1]:
        each = np.arange(len(grams))[:, None]
        beside = grams[each, where]  # (problems, chosen, d)
        beside[each, np.arange(where.shape[1]), where] += ridges[:, None]
        right = np.concatenate(
            [beside, np.take_along_axis(crosses, where, axis=1)[..., None]], axis=2
        )
        fitted = np.linalg.solve(_square(grams, ridges, where), right)
        rest = rest - np.einsum("mkd,mk->md", beside, fitted[..., -1])
        variance = variance - np.einsum("mkd,mkd->md", beside, fitted[..., :-1])
    gain = rest**2 / np.maximum(variance, _MIN_VARIANCE)
    np.put_along_axis(gain, where, -1.0, axis=1)
    return np.asarray(gain.argmax(axis=1))


# -- inference --------------------------------------------------------------------------------


def precision_rows(gram: Array, s: int = 3, rounds: int = 15) -> Array:
    """Rows Θ_k with s entries each that nearly solve GΘ_k = e_k; not symmetrised.

    Gradient steps on ½ θ'Gθ − θ_k from 0, each cut to its s largest entries. Stopped early, rows
    are too short and intervals with them: for the design ½^|j−k| the diagonal of ΘGΘ' is 1.57 after
    15 rounds, 1.66 after 25 and the true 5/3 after 60.
    """
    size = gram.shape[-1]
    grams = gram.reshape(-1, size, size)
    target = _STEP * np.eye(size)
    batch = np.arange(len(grams))[:, None, None]
    rows = np.zeros((len(grams), *target.shape))
    for _ in range(rounds):
        where = largest(np.abs(rows), s)
        values = np.take_along_axis(rows, where, axis=-1)  # (matrices, rows, s), like `where`
        products = np.einsum("bks,bksj->bkj", values, grams[batch, where])  # ΘG, s terms each
        rows = hard_threshold(rows - _STEP * products + target, s)
    return rows.reshape(*gram.shape[:-2], *target.shape)


def largest_quantile(
    covariance: Array, level: float, draws: int, rng: np.random.Generator
) -> Array:
    """Simulate a quantile of max_k |Z_k| for a normal Z with covariance (…, d, d): (…).

    Simulated, with the same standard normals for all matrices. This is the bootstrap with normal
    multipliers: given the rows, n^{−1/2} Σ_j e_j Θx_j is normal with covariance ΘGΘ'. Directions of
    negative variance, as noise in released moments makes them, count as zero.
    """
    sample = matrix_root(covariance) @ rng.standard_normal((covariance.shape[-1], draws))
    return np.asarray(np.quantile(np.abs(sample).max(axis=-2), level, axis=-1))
