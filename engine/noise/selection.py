"""Private choice of the largest entries of a vector, and the release of those that were chosen.

`v` is a vector (…, d) whose every entry moves by at most λ when one record is replaced; so do the
sizes |v_j|. Chosen are s entries by noisy sizes; then they are released with fresh noise. Four laws
are offered; with r = λ/scale of the noise in the choice they cost

    Gumbel             all at once     ρ = s r²/2
    peeling            Laplace, drawn anew for each choice    s choices, each ε = 2r: ρ = 2s r²
    permute and flip   exponential, drawn anew for each choice    the same: ρ = 2s r²
    one shot           Laplace, all at once    ε = 2s r: ρ = 2s² r²

and the s values, each moving by λ, cost ρ = s r²/2 with Gaussian noise of standard deviation λ/r
and with Laplace noise of scale λ/r (where each has ε = r).

*Proofs.* Gumbel: the s largest of |v_j| + b G_j have, in order, the law of s exponential mechanisms
one after another without replacement (Durfee and Rogers 2019), each with bounded range
e = 2λ/b and so e²/8-zCDP (Cesar and Rogers 2021). Peeling: the argmax of sizes with Lap(b) on each
is 2λ/b-DP, because the noise of the winner can make up for the others' λ and its own. Permute and
flip is the argmax with exponential noise of scale b (Ding and others 2021), 2λ/b-DP (McKenna and
Sheldon 2020). One shot: shifting the noise of the s winners by 2λ each makes up for the others' λ
and their own, whatever their order. A choice or value that is ε-DP is ε²/2-zCDP, and ρ's add.

Samplers are textbook ones in floating point: a demonstration, not hardened against attacks on low
bits.

References
----------
Zhang, Nakada and Zhang (2024), arXiv 2404.16287, Algorithm 1 (peeling); Qiao, Su and Zhang (2021)
for one shot.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.core.arrays import Array, Indices, largest, only_at
from engine.core.errors import InputError
from engine.noise.laplace import laplace

Sampler = Callable[[tuple[int, ...], np.random.Generator], Array]
_MAX_ONE_SHOT = (0.2, 0.05)  # ε and δ up to which the printed scale is proved


def _normal(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    return rng.standard_normal(shape)


@dataclass(frozen=True)
class SelectionLaw:
    """Law by which entries are chosen and released."""

    key: str
    choice: Sampler  # draws standard noise for the choice, from a shape and a generator
    is_fresh: bool  # whether noise is drawn anew for each choice
    cost: Callable[[int], float]  # ρ of choosing s entries where the noise has scale λ
    value: Sampler
    # whether choices and values have noise of the same scale, as printed, so that the budget cannot
    # be divided otherwise
    has_one_scale: bool = False

    @property
    def is_gaussian(self) -> bool:
        """True if values are released with Gaussian noise."""
        return self.value is _normal

    @property
    def value_deviation(self) -> float:
        """Standard deviation of the standard noise of values."""
        return 1.0 if self.is_gaussian else math.sqrt(2)


GUMBEL = SelectionLaw(
    "gumbel", lambda shape, rng: rng.gumbel(size=shape), False, lambda s: s / 2, _normal
)
PEELING = SelectionLaw("peeling", laplace, True, lambda s: 2.0 * s, laplace, has_one_scale=True)
PERMUTE_AND_FLIP = SelectionLaw(
    "permute_and_flip",
    lambda shape, rng: rng.standard_exponential(shape),
    True,
    lambda s: 2.0 * s,
    _normal,
)
ONE_SHOT = SelectionLaw(
    "one_shot", laplace, False, lambda s: 2.0 * s**2, laplace, has_one_scale=True
)
LAWS = {law.key: law for law in (GUMBEL, PEELING, PERMUTE_AND_FLIP, ONE_SHOT)}


# -- what they cost, and the scales that a cost allows -------------------------------------------


@dataclass(frozen=True)
class Scales:
    """Scale of the noise in sizes when entries are chosen, and in the values released."""

    choice: float
    values: float


def costs(law: SelectionLaw, s: int, sensitivity: float, scales: Scales) -> tuple[float, float]:
    """Compute the cost of choosing entries, and of releasing them.

    Parameters
    ----------
    scales : Scales
        Of the noise, in the units of the entries.

    Returns
    -------
    tuple of float
        ρ of the choice and ρ of the values; infinite without noise.
    """
    return (
        _over(law.cost(s) * sensitivity**2, scales.choice**2),
        _over(s / 2 * sensitivity**2, scales.values**2),
    )


def scales_of(law: SelectionLaw, s: int, sensitivity: float, rho: float) -> Scales:
    """The scales at which choice and values together cost ρ.

    Half goes to each, except where both have one scale: λ ((cost + s/2)/ρ)^{1/2}.

    Returns
    -------
    Scales
        In the units of the entries; zero at ρ = ∞.

    Examples
    --------
    >>> scales = scales_of(GUMBEL, s=2, sensitivity=0.1, rho=0.5)
    >>> costs(GUMBEL, 2, 0.1, scales)
    (0.25, 0.25)
    """
    if law.has_one_scale:
        common = sensitivity * math.sqrt((law.cost(s) + s / 2) / rho)
        return Scales(common, common)
    return Scales(sensitivity * math.sqrt(2 * law.cost(s) / rho), sensitivity * math.sqrt(s / rho))


def printed_scale(
    law: SelectionLaw, s: int, sensitivity: float, epsilon: float, delta: float, size: int
) -> float:
    """The scale that is printed for (ε, δ), for choice and values alike.

    Peeling: 2λ(3s log(1/δ))^{1/2}/ε, which is (5/24)ε²/log(1/δ)-zCDP and so keeps (ε, δ) up to
    ε = .41 log(1/δ). One shot among d entries: 8λ(s log(d/δ))^{1/2}/ε.

    Parameters
    ----------
    epsilon, delta : float
        The budget of choice and values together.
    size : int
        d, from how many entries.

    Returns
    -------
    float
        In the units of the entries; 0 at ε = ∞.

    Raises
    ------
    InputError
        If there is no printed scale: for other laws, δ = 0, or one shot beyond ε = .2 or δ = .05.
    """
    if not law.has_one_scale:
        raise InputError(
            "There are printed constants for peeling and one shot only.",
            field="selection",
            hint="Choose one of them, or tight constants.",
        )
    if math.isinf(epsilon):
        return 0.0
    if delta == 0:
        raise InputError(
            "δ must be above 0 for the printed constants; got 0.",
            field="delta",
            hint="Choose δ below 1/n, for example 1/n².",
        )
    if law is PEELING:
        return 2 * sensitivity * math.sqrt(3 * s * math.log(1 / delta)) / epsilon
    most_epsilon, most_delta = _MAX_ONE_SHOT
    if epsilon > most_epsilon or delta > most_delta:
        raise InputError(
            f"The printed constants of one shot are proved up to ε = {most_epsilon:g} "
            f"and δ = {most_delta:g} in each round; got {epsilon:g} and {delta:g}.",
            field="epsilon",
            hint="Take more rounds, a smaller ε or tight constants.",
        )
    return 8 * sensitivity * math.sqrt(s * math.log(size / delta)) / epsilon


def pure_one_shot_scale(s: int, sensitivity: float, epsilon: float) -> float:
    """3sλ/ε: one shot with δ = 0, values included.

    The choice costs 2sλ/scale and the s fresh values sλ/scale. The 2sλ/ε that is printed pays for
    the choice alone.

    Returns
    -------
    float
        In the units of the entries.
    """
    return 3 * s * sensitivity / epsilon


def _over(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator > 0 else math.inf


# -- choosing and releasing ------------------------------------------------------------------------


@dataclass(frozen=True)
class Draw:
    """Standard noise of one release: `choice` (1 or s, …, d) and `values` (…, d)."""

    choice: Array
    values: Array


def draw(law: SelectionLaw, s: int, shape: tuple[int, ...], rng: np.random.Generator) -> Draw:
    """Standard noise of one release of s entries.

    Parameters
    ----------
    shape : (…, d)
        Of the vectors.
    rng : Generator
        Where the noise is drawn from.
    """
    return Draw(law.choice((s if law.is_fresh else 1, *shape), rng), law.value(shape, rng))


def choose(sizes: Array, s: int, noise: Array, scale: Array | float) -> Indices:
    """The places of s entries in the order in which they are chosen.

    Parameters
    ----------
    sizes : (…, d)
        Sizes |v_j| of the entries.
    noise : (1, …, d) or (s, …, d)
        Standard noise, for all choices at once or for each.
    scale : float or (…, 1)
        Scale of the noise. Noise and scale broadcast against sizes.

    Returns
    -------
    (…, s) of int
        No entry twice.
    """
    if len(noise) == 1:
        return largest(sizes + scale * noise[0], s)
    # one entry after another, with noise of its own: (…, d) each
    is_chosen = np.zeros(np.broadcast_shapes(sizes.shape, noise[0].shape), dtype=bool)
    where = np.empty((*is_chosen.shape[:-1], s), dtype=np.intp)
    for k in range(s):
        keys = np.where(is_chosen, -np.inf, sizes + scale * noise[k])
        where[..., k] = keys.argmax(axis=-1)
        np.put_along_axis(is_chosen, where[..., k : k + 1], True, axis=-1)
    return where


def noisy_hard_threshold(
    values: Array, s: int, choice_scale: Array | float, value_scale: Array | float, noise: Draw
) -> Array:
    """The s largest entries in size, chosen and released with noise, zero elsewhere.

    Parameters
    ----------
    values : (…, d)
        Vectors; scales and noise broadcast against them.
    choice_scale, value_scale : float or (…, 1)
        Scales of the noise, in the units of the entries; see `scales_of`.

    Returns
    -------
    (…, d)
        With s entries that may differ from zero.

    Examples
    --------
    >>> noise = draw(GUMBEL, 1, (3,), np.random.default_rng(1))
    >>> noisy_hard_threshold(np.array([0.0, 9.0, 1.0]), 1, 0.1, 0.1, noise).nonzero()[0].tolist()
    [1]
    """
    where = choose(np.abs(values), s, noise.choice, choice_scale)
    return only_at(values + value_scale * noise.values, where)
