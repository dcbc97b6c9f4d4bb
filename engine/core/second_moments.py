"""Released second moments of people's deviations, and what is needed to read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.core.arrays import Array


@dataclass(frozen=True, eq=False)
class SecondMoments:
    """M, released together with a mean curve: how deviations of people's curves go together.

    D M D, D = diag(stretch), estimates the covariance of how far each curve says the mean is from
    the centre. Of several sites M is averaged by their public numbers of people.

    Parameters
    ----------
    moments : (…, r, r)
        M as released, before negative eigenvalues are taken off; symmetric, in units of the shape.
        NaN where it was not released.
    noise : (…)
        τ, the standard deviation of its noise on the diagonal; beside it τ/√2.
    stretch : (…, r)
        d/J, in response units.
    privacy : (…, r)
        Variance of the privacy noise of the centre, in squared response units.
    readings : tuple of pairs of int
        Observations of a curve, and how many people have so many: public.
    """

    moments: Array
    noise: Array
    stretch: Array
    privacy: Array
    readings: tuple[tuple[int, int], ...] = ()

    def of(self, *where: Any) -> SecondMoments:
        """Those of some of the budgets, repeats or draws.

        Parameters
        ----------
        *where : index
            As numpy indexes the leading axes.
        """
        return SecondMoments(self.moments[where], self.noise[where], self.stretch[where],
                             self.privacy[where], self.readings)
