"""The mean of curves in three messages: a coarse mean, the size of deviations, their mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine.core.types import Array, PublicFacts, ServerParts, Sizes, Step
from engine.mechanisms.summaries.mean import ClippedCurves, MeanSummary
from engine.mechanisms.summaries.parts import Block, FunctionPlan, Linear, Smoothing

if TYPE_CHECKING:
    from engine.mechanisms.families.functional_release import FunctionalRelease

SHARES = (0.20, 0.05, 0.75)  # of the budget
WIDTH = 2.0  # the clip of what is left, over its released size
_COARSE = 4  # coefficients of the coarse mean
_MIN_SIZE = 0.02  # of what is left, over τ
COARSE, SIZE, REST = (Step("noisy coarse mean"), Step("noisy size of deviations"),
                      Step("noisy coefficients about the coarse mean"))


def clip_of(size: Array | float) -> Array:
    """The norm to which deviations of this size are drawn back, at most that of a whole curve.

    Parameters
    ----------
    size : ndarray or float
        Mean norm of deviations, over τ.

    Returns
    -------
    ndarray
        Over τ.
    """
    return np.minimum(WIDTH * np.maximum(size, _MIN_SIZE), 1.0)


class CentredMean(MeanSummary):
    """Averages of curves about a coarse mean that is released first.

    With one message noise is for curves of norm τ, however small their deviations are. Here a few
    coefficients come first; then the mean norm s of the deviations from them, each held to τ; then
    the mean of deviations drawn back to norm c = 2s, for which the noise is c/τ times as large.

    *Differences.* Coefficients of curves have norm at most 1, in units of τ. Replacing one of n
    curves moves the first message within a ball of radius 2/n, as in `MeanSummary`. The second is a
    mean of numbers in [0, 1] and moves by at most 1/n. The third is sent in units of c: every
    deviation over c, drawn back, has norm at most 1 whatever centre and c are, so that it moves
    within a ball of radius 2/n. Centre and c are functions of the messages before it, the same for
    all curves. All three are about the same curves, so their shares of the budget add up.

    Clipping about a centre locates the middle of curves that are spread symmetrically about it.
    """

    def __init__(self, release: FunctionalRelease, sizes: Sizes, facts: PublicFacts) -> None:
        super().__init__(release, sizes, facts)
        self.coarse = min(_COARSE, self.space.size)

    def blocks(self, smoothing: Smoothing) -> tuple[Block, ...]:
        norms = self.space.norms

        def block(step: Step, size: int, radius: float, share: float, norms: Array) -> Block:
            every = Linear(np.ones(size))
            return Block(step, lambda n: every.differences(radius / n, radius / n, n),
                         np.ones(size), norms, share)

        return (block(COARSE, self.coarse, 2.0, SHARES[0], norms[:self.coarse]),
                block(SIZE, 1, 1.0, SHARES[1], np.ones(1)),
                block(REST, self.space.size, 2.0, SHARES[2], norms))

    def values(self, block: int, records: ClippedCurves, smoothing: Smoothing,
               earlier: Sequence[Array]) -> Array:
        if block == 0:
            return records.mean[:, None, :self.coarse]
        curves, centre = records.coefficients, self._centre(earlier)
        squared = ((curves**2).sum(axis=2)[:, None] - 2 * centre @ curves.swapaxes(1, 2)
                   + (centre**2).sum(axis=2)[..., None])
        distances = np.sqrt(np.maximum(squared, 0.0))  # (repeats, draws, n)
        if block == 1:
            return np.asarray(np.minimum(distances, 1.0).mean(axis=2, keepdims=True))
        weights = 1 / np.maximum(distances, clip_of(earlier[1]))
        return np.asarray(weights @ curves / records.n
                          - centre * weights.mean(axis=2, keepdims=True))

    def finished(self, averages: Sequence[Array], smoothing: Smoothing) -> Array:
        return np.asarray(self._centre(averages) + clip_of(averages[1]) * averages[2])

    def parts(self, plans: Sequence[FunctionPlan], records: Sequence[ClippedCurves]
              ) -> ServerParts | None:
        """None: how much noise a site adds follows from what was released."""
        return None

    def _centre(self, averages: Sequence[Array]) -> Array:
        """The coarse mean among all coefficients: (repeats, draws, r)."""
        coarse = averages[0]
        return np.concatenate([coarse, np.zeros((*coarse.shape[:2],
                                                 self.space.size - self.coarse))], axis=2)
