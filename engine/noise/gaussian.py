"""Standard deviations of Gaussian noise for several numbers released at once.

Nothing is drawn here: standard normal numbers come from the generator of a release.
"""

from __future__ import annotations

import numpy as np

from engine.core.arrays import Array


def anisotropic_scales(sensitivity: Array, mu: float) -> Array:
    """Standard deviations σ_l with Σ Δ_l²/σ_l² = μ² and the least total variance.

    σ_l² = Δ_l ‖Δ‖₁ / μ²: the shape of Lemma 1 (arXiv 2412.06582) at the exact level, optimal among
    diagonal Gaussians by a Lagrange argument.

    Parameters
    ----------
    sensitivity : (…, p)
        Δ_l ≥ 0, the most that one record moves each coordinate, all at once.

    Returns
    -------
    (…, p)
        In the units of the sensitivity; zero where μ is infinite.

    Examples
    --------
    >>> anisotropic_scales(np.array([4.0, 1.0]), mu=1.0).round(3).tolist()
    [4.472, 2.236]
    """
    return np.asarray(np.sqrt(sensitivity * sensitivity.sum(axis=-1, keepdims=True)) / mu)


def isotropic_scales(sensitivity: Array, mu: float) -> Array:
    """Equal standard deviations σ = ‖Δ‖₂ / μ in every coordinate.

    Parameters
    ----------
    sensitivity : (…, p)
        Δ_l ≥ 0, the most that one record moves each coordinate, all at once.

    Returns
    -------
    (…, p)
        Read-only, in the units of the sensitivity.

    Examples
    --------
    >>> isotropic_scales(np.array([4.0, 1.0]), mu=1.0).round(3).tolist()
    [4.123, 4.123]
    """
    norm = np.sqrt((sensitivity**2).sum(axis=-1, keepdims=True))
    return np.asarray(np.broadcast_to(norm / mu, sensitivity.shape))
