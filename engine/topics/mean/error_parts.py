"""The effect of each step of a release on the curve, and the parts of its error.

For looking, like `engine.topics.mean.answer`: the same seeds, so the same curves and the same
noise. What is shown without noise never leaves a curator's screen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from engine.core.grids import drawing_grid
from engine.core.types import Array, CurveData, Estimate
from engine.mechanisms.study import Study
from engine.simulation.metrics import distances, root_mean_square
from engine.simulation.non_private import non_private_mean
from engine.simulation.studies import SHOWN_DRAWS
from engine.sources.twin import studied
from engine.topics.mean.answer import on_screen, simulated

PARTS = ("noise", "sampling", "bias")
Chosen = tuple[bool, bool, bool]  # of PARTS, in their order


@dataclass(frozen=True)
class CurveByStep:
    """The average of the curves on screen after each step, (GRID_SIZE,) each, in response units.

    `ordinary` before any; `fewer` with the first `n_coefficients` alone; `noise_free` clipped
    and smoothed as well; `released` with noise.
    """

    n_coefficients: int
    ordinary: Array
    fewer: Array
    noise_free: Array
    released: Array

    @property
    def moves(self) -> tuple[float, float, float]:
        """The distance that each step moves the curve: root mean squares over time."""
        after = (self.ordinary, self.fewer, self.noise_free, self.released)
        squares = [((b - a) ** 2).mean() for a, b in pairwise(after)]
        first, second, third = map(float, distances(np.array(squares)))
        return first, second, third


@dataclass(frozen=True)
class ErrorParts:
    """Errors of releases at one budget, each as a sum of three curves, in response units.

    `noise` and `sampling` (draws, GRID_SIZE) and `bias` (GRID_SIZE,) add up to a release less the
    truth; of real curves, a release of their twin. `error` is the root mean squared distance that
    any of the parts leave together. `times` (GRID_SIZE,) are in their own unit.
    """

    times: Array
    noise: Array
    sampling: Array
    bias: Array
    error: dict[Chosen, float]
    steps: CurveByStep

    def lines(self, included: Chosen) -> Array:
        """Compute the errors left by these parts alone: (draws, GRID_SIZE)."""
        return sum(
            (
                part
                for part, is_on in zip(
                    (self.noise, self.sampling, self.bias), included, strict=True
                )
                if is_on
            ),
            np.zeros_like(self.noise),
        )


def error_parts(study: Study[CurveData]) -> ErrorParts:
    """Split the errors of the picture at one budget."""
    source, mechanism = study.source, study.mechanism
    scenario = source, mechanism, study.budgets, study.seed
    data, estimate = on_screen(*scenario)
    average = mechanism.without_protection(data) if source.is_random else non_private_mean(source)
    steps = _steps(estimate, average.values(drawing_grid())[0, 0, 0])
    return _of_fresh_curves(*simulated(studied(source), *scenario[1:]), steps)


def _steps(estimate: Estimate, ordinary: Array) -> CurveByStep:
    grid = drawing_grid()
    n_coefficients = estimate.basis_sizes[0] if estimate.basis_sizes else estimate.basis.size
    offset = 0.0 if estimate.offset is None else estimate.offset(grid)
    waves = estimate.basis(grid)[:, :n_coefficients]
    nearest = np.linalg.lstsq(waves, ordinary - offset, rcond=None)[0]
    return CurveByStep(
        n_coefficients,
        ordinary,
        waves @ nearest + offset,
        estimate.on_grid(estimate.unprotected[0, 0], grid),
        estimate.on_grid(estimate.coefficients[0, 0, 0], grid),
    )


def _of_fresh_curves(data: CurveData, estimate: Estimate, steps: CurveByStep) -> ErrorParts:
    """Split errors in coefficients as a study does: noise, spread over data sets, and the rest."""
    assert data.truth is not None
    waves, truth = estimate.basis(drawing_grid()), data.truth.grid_values
    best, tail = estimate.project(data.truth)
    # (data sets, releases, basis) and (data sets, basis); below, one row for each release.
    released, noise_free = estimate.coefficients[0], estimate.unprotected[0]
    centre = noise_free.mean(axis=0)
    noise = (released - noise_free[:, None]).reshape(-1, released.shape[-1])
    sampling = np.repeat(noise_free - centre, released.shape[1], axis=0)
    parts = (noise, sampling, np.broadcast_to(centre - best, noise.shape))

    def error(included: Chosen) -> float:
        left = _sum(parts, included)
        squared = estimate.squared_distance(left) + included[2] * tail.sum()
        return float(root_mean_square(distances(squared)))

    first = slice(SHOWN_DRAWS)
    return ErrorParts(
        data.facts.from_unit_time(drawing_grid()),
        noise[first] @ waves.T,
        sampling[first] @ waves.T,
        estimate.on_grid(centre, drawing_grid()) - truth,
        _every(error),
        steps,
    )


def _sum(parts: Sequence[Array], included: Chosen) -> Array:
    return np.asarray(sum(part * is_on for part, is_on in zip(parts, included, strict=True)))


def _every(error: Callable[[Chosen], float]) -> dict[Chosen, float]:
    return {(a, b, c): error((a, b, c)) for a, b, c in product((False, True), repeat=3)}
