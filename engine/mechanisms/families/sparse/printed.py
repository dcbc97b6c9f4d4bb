"""The paper's print for sparse inference where it does not hold: for comparison alone.

Nothing here is used by a release. The printed interval adds the correction with the wrong sign and
lets σ̂ multiply the privacy noise; the printed band leaves that noise out; and each of the parts of
an interval, and every draw of the band's bootstrap, has the whole budget.

References
----------
Zhang, Nakada and Zhang (2024), arXiv 2404.16287: equation (4.1), Algorithms 6 and 7, Theorem 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from engine.core.types import Array
from engine.mechanisms.families.sparse.corrections import Corrected, simultaneous_half_width
from engine.privacy import accounting

PEELING_COST = 5 / 24  # ρ of choosing and releasing at the printed scale, in units of ε²/log(1/δ)


def wrong_sign(vectors: Array, corrected: Corrected) -> Array:
    """β̂ less the correction, as in (4.1): twice the selection bias; (repeats, columns, g)."""
    return 2 * vectors - corrected.values


def scaled_errors(corrected: Corrected) -> Array:
    """σ̂ (V/n + s²)^{1/2}, as in Algorithm 6: too small where σ < 1: (repeats, columns, g)."""
    sampling, privacy = (
        np.diagonal(covariance, axis1=-2, axis2=-1)
        for covariance in (corrected.sampling, corrected.privacy)
    )
    return np.sqrt(sampling + corrected.variance[..., None] * privacy)


def half_width_without_privacy(corrected: Corrected) -> Array:
    """Half width of a band whose bootstrap has chance in rows alone: (repeats, columns)."""
    return simultaneous_half_width(corrected.sampling)


# -- section 12: what the parts cost together -----------------------------------------------------


@dataclass(frozen=True)
class PublishedCost:
    """Cost of a task if each of its releases has (ε, δ)."""

    task: str
    releases: int
    added: float  # ε added up
    proved: float  # ε as ρ proves it

    @property
    def total(self) -> float:
        """The smaller one: what is really spent."""
        return min(self.added, self.proved)


def published_costs(
    epsilon: float,
    machines: int,
    per_machine: int,
    size: int,
    rounds: int,
    draws: int,
    is_sharp: bool = False,
) -> tuple[PublishedCost, ...]:
    """Costs of the printed pipelines at δ = 1/(2N), for m machines with so many rows each.

    If `is_sharp`, noise in eigenvalues is made for their true sensitivity, B₃/(2m), at which each
    of them costs 1.5ε; with the printed B₃ it is far too much, and they cost almost nothing.
    """
    delta = 1 / (2 * machines * per_machine)
    normal = accounting.printed_mu(epsilon, delta, "isotropic") ** 2 / 2
    descent = rounds * PEELING_COST * (epsilon / rounds) ** 2 / math.log(rounds / delta)
    maximum = PEELING_COST * epsilon**2 / math.log(1 / delta)
    choice = epsilon / (1 if is_sharp else 2 * machines)
    eigenvalues = 2 * (choice**2 / 2 + (choice / 2) ** 2 / 2)
    common, each = descent + normal, descent + 2 * normal  # β̂, σ̂²; Θ̂_k, V, β̃_k
    one_interval = common + eigenvalues + each

    def cost(task: str, releases: int, rho: float) -> PublishedCost:
        return PublishedCost(
            task, releases, releases * epsilon, accounting.epsilon_of_rho(rho, delta)
        )

    return (
        cost("coefficients", 1, descent),
        cost("one interval", 7, one_interval),
        cost("an interval for every coefficient", 4 + 3 * size, common + eigenvalues + size * each),
        cost(
            "a band around all coefficients",
            2 + 2 * size + draws,
            common + size * (descent + normal) + draws * maximum,
        ),
        cost("one interval on one of several differing machines", 8, one_interval + descent),
    )
