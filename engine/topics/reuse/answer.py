"""Why noise is never used twice: one draw at two budgets gives the exact answer away.

With noise of sizes s₁ ≠ s₂, both public, and one draw ξ, r₁ = f + s₁ξ and r₂ = f + s₂ξ. Two
equations, two unknowns: f = (s₂r₁ − s₁r₂)/(s₂ − s₁). With a draw of its own for each release the
same formula gives noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.random_streams import DATA_STREAM, NOISE_STREAM, generator
from engine.core.types import Array, Budget
from engine.mechanisms.gaussian_process import GaussianProcess
from engine.sources.sparse_curves import SparseCurves

SOURCE = SparseCurves(mean="growth", n_curves=200, n_observations_per_curve=33, times="common")
FACTS = SOURCE.facts
MECHANISM = GaussianProcess(penalty_weight=0.01)  # not by a rule: f must not depend on ε
DELTA = 1.0 / SOURCE.n_curves**2
FORMULA = (
    r"r_1 = f + s_1\xi,\quad r_2 = f + s_2\xi\quad\Rightarrow\quad "
    r"f = \frac{s_2 r_1 - s_1 r_2}{s_2 - s_1}"
)


@dataclass(frozen=True)
class ReuseAnswer:
    """Two releases of one average, and what the formula makes of them, on a grid: (GRID_SIZE,).

    `exact` is the average that was protected. `scales` are the sizes of the noise.
    """

    times: Array
    first: Array
    second: Array
    exact: Array
    recovered: Array
    budgets: tuple[Budget, Budget]
    scales: tuple[float, float]

    @property
    def largest_error(self) -> float:
        """Largest error of the recovered curve."""
        return float(np.abs(self.recovered - self.exact).max())

    @property
    def noise(self) -> tuple[float, float]:
        """Typical distances of the two releases from the average they protect."""
        first, second = (
            float(np.sqrt(np.mean((release - self.exact) ** 2)))
            for release in (self.first, self.second)
        )
        return first, second


def reuse_answer(
    first: float, second: float, delta: float, seed: int, is_fresh: bool
) -> ReuseAnswer:
    """Publish the average of simulated curves at two ε, with one draw or with fresh noise.

    Parameters
    ----------
    first : float
        ε of one release.
    second : float
        ε of the other.
    is_fresh : bool
        Whether the second release draws its own noise; otherwise it reuses the first draw.

    Returns
    -------
    ReuseAnswer
        Both releases, and what the formula makes of them.
    """
    if first == second:
        raise InputError(
            "The two budgets must differ.",
            field="epsilon",
            hint="At one budget the same draw gives the same curve again.",
        )
    budgets = (Budget(first, delta), Budget(second, delta))
    data = SOURCE.draw(1, generator(seed, DATA_STREAM, 0))
    both = MECHANISM.release_many(
        data, [(budget,) for budget in budgets], 1, generator(seed, NOISE_STREAM, 0)
    )
    curves = both.coefficients[:, 0, 0]
    if is_fresh:
        alone = MECHANISM.release_many(data, [(budgets[1],)], 1, generator(seed, NOISE_STREAM, 1))
        curves = np.stack([curves[0], alone.coefficients[0, 0, 0]])
    scales = float(both.spends[0][0].noise_scale[0]), float(both.spends[1][0].noise_scale[0])
    recovered = (scales[1] * curves[0] - scales[0] * curves[1]) / (scales[1] - scales[0])
    values = both.on_grid(np.stack([*curves, both.unprotected[0, 0], recovered]), drawing_grid())
    return ReuseAnswer(
        data.facts.from_unit_time(drawing_grid()),
        values[0],
        values[1],
        values[2],
        values[3],
        budgets,
        scales,
    )
