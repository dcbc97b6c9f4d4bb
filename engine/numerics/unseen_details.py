"""What few common times do not show of a smooth curve, and how uncertain it is between them.

Everybody was observed at the times s_1 … s_T, and these do not tell the r functions that are kept
from each other, let alone from finer ones. There the last coefficients come from the prior, so
that they tell no slopes at the ends (`numerics.end_slopes`). Details beyond the kept functions are
taken to be b ~ N(0, D) with D = diag(κ²l⁻³), l > r: a prior for smooth curves. Their values at the
common times, Ψ(s) b, were fitted by kept functions, with coefficients W Ψ(s) b for

    W = Δ Φ(s)ᵀ (Φ(s) Δ Φ(s)ᵀ + νI)⁻¹,   Δ = diag(κ²l⁻³), l ≤ r,

where ν is the variance that the release has at the common times. So the true curve is
Φ(t)(a − W Ψ(s) b) + Ψ(t) b: its coefficients have the released ones as their mean, and covariance
((C + W M Wᵀ, −W Ψ(s) D), (·, D)) with M = Ψ(s) D Ψ(s)ᵀ. At the times both parts cancel, and what
everybody was asked is as certain as it was released; between them the details are uncertain. All of
it is computed from the release and from public facts. Derived in this project.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.core.arrays import Array
from engine.core.bands import standard_errors
from engine.core.types import Design, TimeLaw
from engine.numerics.bases import Basis
from engine.numerics.deviations import are_told_apart

DETAILS = 40  # further functions; all those beyond have an eighth of their variance or less
SIZE = 0.6  # κ, in halves of the stated range of values: one and a half times the release's prior
_DECAY = 3.0  # of variances with l


@dataclass(frozen=True)
class UnseenDetails:
    """The details that common times leave open.

    Parameters
    ----------
    family : {"cosine", "fourier"}
        Of the basis.
    times : tuple of float
        The common times, on [0, 1].
    scale : float
        κ, in response units: the standard deviation of the first coefficient.
    """

    family: str
    times: tuple[float, ...]
    scale: float

    @classmethod
    def of(cls, basis: Basis, design: Design, half_width: float) -> UnseenDetails | None:
        """What a stated design leaves open.

        Parameters
        ----------
        basis : Basis
            Of the release.
        design : Design
            How observation times come about.
        half_width : float
            Half the stated range of values, in response units.

        Returns
        -------
        UnseenDetails or None
            None where there are no common times, or where they tell all functions of the basis
            from each other.
        """
        if are_told_apart(basis, design):
            return None
        return cls(basis.family, design.times, SIZE * half_width)

    def are_open(self, size: int) -> bool:
        """Whether the common times leave open what this many functions draw.

        Parameters
        ----------
        size : int
            r.
        """
        return not are_told_apart(Basis(size, family=self.family),
                                  Design(law=TimeLaw.COMMON, times=self.times))

    def functions(self, size: int) -> Basis:
        """The kept functions and those of the details.

        Parameters
        ----------
        size : int
            r.
        """
        return Basis(size + DETAILS, family=self.family)

    def covariance(self, released: Array) -> Array:
        """Of the coefficients of all these functions, about the released ones and zeros.

        Parameters
        ----------
        released : (…, r, r)
            C, of the released coefficients, in squared response units.

        Returns
        -------
        (…, r + 40, r + 40)

        Examples
        --------
        >>> unseen, released = UnseenDetails("cosine", (0.0, 0.5, 1.0), 1.0), 0.01 * np.eye(6)
        >>> at_times = unseen.functions(6)(np.array(unseen.times))
        >>> bool((standard_errors(unseen.covariance(released), at_times) < 0.5).all())
        True
        """
        size = released.shape[-1]
        values = self.functions(size)(np.array(self.times))  # (times, r + 40)
        noise = (standard_errors(released, values[:, :size]) ** 2).mean(axis=-1)[..., None, None]
        # of many times, r combinations tell as much
        orthogonal, upper = np.linalg.qr(values[:, :size])
        details = orthogonal.T @ values[:, size:]
        variances = self.scale**2 * np.arange(1.0, values.shape[1] + 1) ** -_DECAY
        fitted = (variances[:size, None] * upper.T) @ np.linalg.inv(
            (upper * variances[:size]) @ upper.T + noise * np.eye(len(upper)))  # W: (…, r, times)
        per_detail = fitted @ details  # the coefficients that one detail each was taken for
        joint = np.zeros((*released.shape[:-2], *(2 * values.shape[1:])))
        spread = (per_detail * variances[size:]) @ per_detail.swapaxes(-1, -2)
        joint[..., :size, :size] = released + spread
        joint[..., :size, size:] = -per_detail * variances[size:]
        joint[..., size:, :size] = joint[..., :size, size:].swapaxes(-1, -2)
        joint[..., size:, size:] = np.diag(variances[size:])
        return joint
