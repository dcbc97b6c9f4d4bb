"""Which releases can be asked: those of one mean curve with the covariance of its coefficients."""

from __future__ import annotations

import numpy as np

from engine.core.types import Estimate
from engine.numerics.bases import Basis
from engine.numerics.public_curves import PublicCurve


def can_be_asked(estimate: Estimate, budget: int = 0, repeat: int = 0, draw: int = 0) -> bool:
    """Whether a release is one mean curve with the covariance of its coefficients.

    Parameters
    ----------
    budget, repeat, draw : int
        Which release.
    """
    band = estimate.band
    if band is None or band.bias is not None or estimate.functions:
        return False
    if not isinstance(estimate.basis, Basis) or estimate.basis.extension:
        return False
    is_known = bool(np.isfinite(band.covariance[budget, repeat, draw]).all())
    return is_known and (estimate.offset is None or public_curve(estimate) is not None)


def public_curve(estimate: Estimate) -> PublicCurve | None:
    """The public curve that is added to a release, if there is one."""
    return estimate.offset if isinstance(estimate.offset, PublicCurve) else None
