"""Distinguishability of neighbouring data: exact trade-off curves, or bounds on them.

An attacker who sees a release decides which of two neighbouring data sets it came from. A curve
says how often they detect the right one when a share α of their alarms may be false (f of Dong,
Roth and Su 2022, J. R. Stat. Soc. B 84, is one less that), and, as δ(ε), how far the two laws are
apart: the largest P(A) − e^ε Q(A). Both say the same. What is not exact is never below the truth.
All curves are those of pairs of neighbours that may be exchanged, so that

    δ(−ε) = 1 − e^(−ε) + e^(−ε) δ(ε).

Every method works elementwise on arrays.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_ndtr, ndtr, ndtri

from engine.core.errors import InputError
from engine.core.types import Budget

Chances = NDArray[np.float64]
_LARGEST_EXPONENT = 700.0  # e^700 is still finite; beyond it every curve says 1 anyway
_SLOPES = np.concatenate([np.linspace(0, 8, 1601), np.geomspace(8, 60, 200)[1:]])
_ORDERS = 1 + np.geomspace(1e-3, 2e3, 60)  # of Rényi divergences
_HALVINGS = 40
_ALARMS = np.concatenate([np.geomspace(1e-9, 1e-3, 60), np.linspace(1e-3, 1, 400)[1:]])
_FINEST, _MAX_STEPS = 1e-4, 1e4  # of a discretised loss: its step, and steps over its range
_NOT_COMPUTED = 1e-13  # rounding of a convolution, far above what it is


class Curve:
    """Bound on how well two neighbouring data sets can be told apart.

    A subclass gives `delta`; the rest follows from it. `exact` says whether some pair of neighbours
    attains the curve for this noise, `name` is its kind.

    Examples
    --------
    >>> curve = Gaussian(1.0)
    >>> round(float(curve.detection(0.05)), 3)  # right catches at 5 false alarms in 100
    0.26
    >>> round(float(curve.delta(1.0)), 3), round(float(curve.right()), 3)
    (0.127, 0.691)
    """

    exact = True  # whether some pair of neighbours attains it for this noise
    name = ""

    def detection(self, false_positive_rate: ArrayLike) -> Chances:
        """Share of right detections, at least α: min over ε of e^ε α + δ(ε), both ways round."""
        alpha, delta = np.asarray(false_positive_rate, dtype=float)[..., None], self._bounds
        few = np.exp(self.slopes) * alpha + delta
        many = 1 - np.exp(-self.slopes) * (1 - delta - alpha)
        chances: Chances = np.clip(np.minimum(few, many).min(axis=-1), alpha[..., 0], 1.0)
        return chances

    def delta(self, epsilon: ArrayLike) -> Chances:
        """δ(ε): the largest P(A) − e^ε Q(A) over events A."""
        raise NotImplementedError

    @property
    def slopes(self) -> Chances:
        """The ε at which the curve is bounded."""
        return _SLOPES

    @cached_property
    def _bounds(self) -> Chances:
        return self.delta(self.slopes)

    def right(self, prior: ArrayLike = 0.5) -> Chances:
        """Chance that the best guess is right if one of the two had the chance `prior`.

        1 − π + π δ(log((1 − π)/π)): nothing is learnt where that is the larger of π and 1 − π.
        """
        prior = np.asarray(prior, dtype=float)
        known = np.maximum(prior, 1 - prior)
        return np.clip(1 - prior + prior * self.delta(np.log1p(-prior) - np.log(prior)), known, 1)


def _mirrored(epsilon: Chances, delta: Chances) -> Chances:
    """δ at any ε from `delta`, its values at |ε|."""
    shrink = np.exp(-np.abs(epsilon))
    return np.where(epsilon >= 0, delta, 1 - shrink + shrink * delta)


@dataclass(frozen=True)
class Gaussian(Curve):
    """N(0, 1) against N(μ, 1), which Gaussian noise attains; see Balle and Wang (2018), Thm 8."""

    mu: float
    name = "gaussian"

    def __post_init__(self) -> None:
        _at_least_zero(self.mu, "mu")

    def detection(self, false_positive_rate: ArrayLike) -> Chances:
        """Φ(Φ⁻¹(α) + μ)."""
        return np.asarray(ndtr(ndtri(np.asarray(false_positive_rate, dtype=float)) + self.mu))

    def delta(self, epsilon: ArrayLike) -> Chances:
        """Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)."""
        epsilon = np.asarray(epsilon, dtype=float)
        if self.mu == 0:
            delta: Chances = np.maximum(0.0, -np.expm1(epsilon))
            return delta
        if math.isinf(self.mu):
            return np.ones_like(epsilon)
        far = epsilon / self.mu
        delta = np.maximum(
            0.0, ndtr(self.mu / 2 - far) - np.exp(epsilon + log_ndtr(-self.mu / 2 - far))
        )
        return delta


@dataclass(frozen=True)
class Laplace(Curve):
    """Laplace noise of scale 1 against the same, moved by θ; see Dong, Roth and Su, section 2.

    No noise that is added to numbers and proved private by the length of their change does worse:
    if log-densities change by at most the length of a move and a record moves numbers by at most
    θ, then the move can be cut into N steps, each of which is θ/N-DP. What N such steps allow one
    after another (group privacy, their Theorem 2.14) tends to this curve. So it holds for Laplace
    noise in several numbers, however Σ|Δ_j|/b_j = θ is split among them, where a move of one number
    attains it, and for density exp(−‖z‖). Several such releases that sum to θ are again no worse:
    changing their data one release after another is such a path.
    """

    theta: float
    name = "laplace"

    def __post_init__(self) -> None:
        _at_least_zero(self.theta, "epsilon")

    def detection(self, false_positive_rate: ArrayLike) -> Chances:
        """e^θ α up to α = e^(−θ)/2, 1 − e^(−θ)/(4α) up to one half, 1 − e^(−θ)(1 − α) beyond."""
        alpha = np.asarray(false_positive_rate, dtype=float)
        theta = min(self.theta, _LARGEST_EXPONENT)
        middle = 1 - math.exp(-theta) / (4 * np.maximum(alpha, 1e-300))
        few, many = math.exp(theta) * alpha, 1 - math.exp(-theta) * (1 - alpha)
        return np.where(alpha <= math.exp(-theta) / 2, few, np.where(alpha < 0.5, middle, many))

    def delta(self, epsilon: ArrayLike) -> Chances:
        """1 − e^((ε − θ)/2) for 0 ≤ ε ≤ θ, 0 beyond, and the mirror image below 0."""
        epsilon = np.asarray(epsilon, dtype=float)
        within = -np.expm1((np.abs(epsilon) - min(self.theta, 1e6)) / 2)
        return _mirrored(epsilon, np.maximum(0.0, within))


@dataclass(frozen=True)
class CountsNoise(Curve):
    """Discrete Laplace noise of scale 2/ε on counts of people, each of whom is in one cell.

    Replacing a person moves one count up by 1 and another down by 1. Of each of the two the loss is
    ε/2 or −ε/2, with odds e^{ε/2}: what is seen tells as much as two bits that are turned round
    with these odds. So the loss is ε with chance p², −ε with chance (1 − p)² and else 0,
    p = 1/(1 + e^{−ε/2}).
    """

    epsilon: float
    name = "counts"

    def __post_init__(self) -> None:
        _at_least_zero(self.epsilon, "epsilon")

    @property
    def _chance(self) -> float:
        return float(expit(min(self.epsilon, 2 * _LARGEST_EXPONENT) / 2))

    def detection(self, false_positive_rate: ArrayLike) -> Chances:
        """The broken line through (0, 0), (q², p²), (1 − p², 1 − q²) and (1, 1), q = 1 − p."""
        hit, miss = self._chance**2, (1 - self._chance) ** 2
        return np.asarray(
            np.interp(
                np.asarray(false_positive_rate, dtype=float),
                [0.0, miss, 1 - hit, 1.0],
                [0.0, hit, 1 - miss, 1.0],
            )
        )

    def delta(self, epsilon: ArrayLike) -> Chances:
        """p² − q² e^{ε'} for ε' from 0 to ε, 0 beyond, and the mirror image below 0."""
        epsilon = np.asarray(epsilon, dtype=float)
        size = np.minimum(np.abs(epsilon), _LARGEST_EXPONENT)
        within = self._chance**2 - (1 - self._chance) ** 2 * np.exp(size)
        return _mirrored(epsilon, np.maximum(0.0, within))


@dataclass(frozen=True)
class Approximate(Curve):
    """All that (ε, δ) allows; with δ = 0 a bit turned round with odds e^ε attains it.

    Wasserman and Zhou (2010): the lower of two lines.
    """

    budget: Budget
    exact = False
    name = "budget"

    def detection(self, false_positive_rate: ArrayLike) -> Chances:
        """The lower of e^ε α + δ and 1 − e^(−ε)(1 − δ − α)."""
        alpha, failing = np.asarray(false_positive_rate, dtype=float), self.budget.delta
        exponent = min(self.budget.epsilon, _LARGEST_EXPONENT)
        few = math.exp(exponent) * alpha + failing
        many = 1 - math.exp(-exponent) * (1 - failing - alpha)
        return np.clip(np.minimum(few, many), 0.0, 1.0)

    def delta(self, epsilon: ArrayLike) -> Chances:
        """The budget's δ from its ε on; before that a line in e^ε, by the corner of the curve."""
        epsilon = np.asarray(epsilon, dtype=float)
        size = np.minimum(np.abs(epsilon), _LARGEST_EXPONENT)
        failing = self.budget.delta
        corner = (1 - failing) * float(expit(-self.budget.epsilon))  # alarms where the lines meet
        return _mirrored(epsilon, np.maximum(failing, 1 - corner * (1 + np.exp(size))))


@dataclass(frozen=True)
class Zcdp(Curve):
    """All that ρ of zero-concentrated privacy allows, by every order of Rényi's divergence.

    A test with a share α of false alarms and p of detections has a divergence of its own, which is
    no larger: p^a α^(1−a) + (1 − p)^a (1 − α)^(1−a) ≤ exp((a − 1) a ρ) for all a > 1. That is
    tighter than by way of (ε, δ); see Balle, Barthe, Gaboardi, Hsu and Sato (2020), AISTATS.
    """

    rho: float
    exact = False
    name = "zcdp"

    def __post_init__(self) -> None:
        _at_least_zero(self.rho, "rho")

    def detection(self, false_positive_rate: ArrayLike) -> Chances:
        """The largest p that every order of the divergence allows, by halving the range."""
        alpha = np.asarray(false_positive_rate, dtype=float)
        flat = np.clip(alpha, 1e-300, 1.0).ravel()
        if math.isinf(self.rho):
            return np.ones_like(alpha)
        low, high = np.repeat(flat[None], len(_ORDERS), 0), np.ones((len(_ORDERS), len(flat)))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            fits = self._fits(middle, flat)
            low, high = np.where(fits, middle, low), np.where(fits, high, middle)
        return np.asarray(high.min(axis=0).reshape(alpha.shape))

    def _fits(self, power: Chances, alarms: Chances) -> Any:
        """True if both divergences of a test are allowed, order by order."""
        order = _ORDERS[:, None]
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            p, q = np.log(power), np.log1p(-power)
            a, b = np.log(alarms), np.log1p(-alarms)
            forward = np.logaddexp(
                order * p + (1 - order) * a, _no_nan(order * q + (1 - order) * b)
            )
            backward = np.logaddexp(
                order * a + (1 - order) * p, _no_nan(order * b + (1 - order) * q)
            )
        return np.maximum(forward, backward) <= (order - 1) * order * self.rho

    @cached_property
    def _table(self) -> Chances:
        return self.detection(_ALARMS)

    def delta(self, epsilon: ArrayLike) -> Chances:
        """The largest p − e^ε α over a table: p at the upper of two neighbours, α at the lower."""
        epsilon = np.asarray(epsilon, dtype=float)
        weight = np.exp(np.minimum(np.abs(epsilon), _LARGEST_EXPONENT))[..., None]
        below = np.concatenate([[0.0], _ALARMS[:-1]])
        largest_gap = (self._table - weight * below).max(axis=-1)
        return _mirrored(epsilon, np.clip(largest_gap, 0.0, 1.0))

    def right(self, prior: ArrayLike = 0.5) -> Chances:
        """Chance that the best guess is right; at even chances, exactly of the two divergences.

        At even chances the best test has as many false alarms as misses.
        """
        general = super().right(prior)
        return np.where(np.asarray(prior) == 0.5, self._balanced, general)

    @cached_property
    def _balanced(self) -> float:
        low, high = np.full((len(_ORDERS), 1), 0.5), np.ones((len(_ORDERS), 1))
        for _ in range(_HALVINGS if math.isfinite(self.rho) else 0):
            middle = (low + high) / 2
            fits = self._fits(middle, 1 - middle)
            low, high = np.where(fits, middle, low), np.where(fits, high, middle)
        return float(high.min())


def _no_nan(values: Chances) -> Chances:
    """0 · log 0 is 0: nothing of a chance that is not there."""
    return np.where(np.isnan(values), -np.inf, values)


@dataclass(frozen=True)
class ReleasePart(ABC):
    """Releases of one kind about the same people, by their worst pair."""

    size: float
    count: int

    @property
    @abstractmethod
    def largest_loss(self) -> float:
        """Upper end of the summed losses, but for a chance of 1e-22."""

    @abstractmethod
    def summed_loss(self, step: float) -> Any:
        """The law of the summed losses, of dp-accounting, discretised in steps and rounded up."""


@dataclass(frozen=True)
class GaussianPart(ReleasePart):
    """Gaussian noise: its size is μ."""

    @property
    def largest_loss(self) -> float:
        return self.count * (self.size**2 / 2 + 10 * self.size)

    def summed_loss(self, step: float) -> Any:
        from dp_accounting.pld import privacy_loss_distribution as pld

        return pld.from_gaussian_mechanism(
            1 / (self.size * math.sqrt(self.count)), value_discretization_interval=step
        )


@dataclass(frozen=True)
class PurePart(ReleasePart):
    """Releases with δ = 0, of which no more is known: bits turned round, and their size is ε."""

    @classmethod
    def of_counts(cls, epsilon: float, count: int) -> PurePart:
        """Make counts of people with discrete Laplace noise: bits of ε/2, as in `CountsNoise`."""
        return cls(epsilon / 2, 2 * count)

    @property
    def largest_loss(self) -> float:
        """Upper end of the summed losses; for many releases, but for a chance of 1e-22.

        They have mean at most ε²/2 each (Bun and Steinke 2016, Proposition 3) and a range of 2ε, so
        that their sum exceeds its mean by 10 ε √count with chance e^(−50) (Hoeffding).
        """
        return min(
            self.count * self.size,
            self.count * self.size**2 / 2 + 10 * self.size * math.sqrt(self.count),
        )

    def summed_loss(self, step: float) -> Any:
        loss = self._loss(step)
        return loss if self.count == 1 else loss.self_compose(self.count)

    def _loss(self, step: float) -> Any:
        """The law of the loss of one release."""
        from dp_accounting.pld import privacy_loss_distribution as pld

        return pld.PrivacyLossDistribution.create_from_rounded_probability(
            _turned_bit(self.size, step), 0.0, step
        )


@dataclass(frozen=True)
class LaplacePart(PurePart):
    """Noise whose loss follows from how far numbers move: its size is θ, as in `Laplace`."""

    def _loss(self, step: float) -> Any:
        from dp_accounting.pld import privacy_loss_distribution as pld

        return pld.from_laplace_mechanism(1 / self.size, value_discretization_interval=step)


@dataclass(frozen=True)
class Losses(Curve):
    """Releases of several kinds about the same people, by the law of their privacy loss.

    Each is replaced by its worst pair, and their losses, on a grid and rounded up, are added
    (Koskela, Jälkö and Honkela 2020; Doroshenko et al. 2022; Zhu, Dong and Wang 2022, Thm 10 that
    worst pairs may be composed, adaptively too). Computed by dp-accounting.
    """

    parts: tuple[ReleasePart, ...]
    exact = False
    name = "losses"

    def detection(self, false_positive_rate: ArrayLike) -> Chances:
        """Bound detection by the summed losses; by the summed ε too if all parts are pure."""
        chances = super().detection(false_positive_rate)
        together = self._together
        if together is None:
            return chances
        return np.minimum(chances, together.detection(false_positive_rate))

    def delta(self, epsilon: ArrayLike) -> Chances:
        """δ by chords between tabulated ε, which lie above: δ is convex in e^ε."""
        epsilon = np.asarray(epsilon, dtype=float)
        sizes = np.abs(epsilon)
        above = np.interp(np.exp(np.minimum(sizes, _SLOPES[-1])), np.exp(_SLOPES), self._table)
        if self._together is not None:  # which rounding up may exceed
            above = np.minimum(above, self._together.delta(sizes))
        return _mirrored(epsilon, np.clip(above, 0.0, 1.0))

    @cached_property
    def _table(self) -> Chances:
        deltas = loss_distribution(self.parts).get_delta_for_epsilon(_SLOPES)
        return np.asarray(deltas) + _NOT_COMPUTED

    @cached_property
    def _together(self) -> Curve | None:
        """Curve of the sum, if all parts are pure."""
        if not all(isinstance(part, PurePart) for part in self.parts):
            return None
        total = math.fsum(part.size * part.count for part in self.parts) * (1 + 1e-12)
        is_laplace = all(isinstance(part, LaplacePart) for part in self.parts)
        return Laplace(total) if is_laplace else Approximate(Budget(total))

    def epsilon(self, delta: float) -> float:
        """The ε proved at δ, rounded up; ∞ if rounding of the sums could hide a δ so small."""
        left = delta * (1 - 1e-9) - _NOT_COMPUTED
        if left <= 0:
            return math.inf
        return float(loss_distribution(self.parts).get_epsilon_for_delta(left)) * (1 + 1e-9)


@lru_cache(maxsize=512)
def loss_distribution(parts: tuple[ReleasePart, ...]) -> Any:
    """The law of the summed loss, never too small.

    In steps of 1e-4, or coarser if the losses reach far.
    """
    step = max(_FINEST, 2 * sum(part.largest_loss for part in parts) / _MAX_STEPS)
    return reduce(
        lambda total, loss: total.compose(loss), (part.summed_loss(step) for part in parts)
    )


def _turned_bit(epsilon: float, step: float) -> dict[int, float]:
    """Chances of the loss of a bit turned round with odds e^ε, at multiples of a step; none lost.

    The loss ε lies between two multiples, a ≤ ε ≤ b. What has it is split into two outcomes, with
    losses a and b, so that both laws keep their chance of it:

        u + v = p,    e^(−a) u + e^(−b) v = e^(−ε) p,    p = 1/(1 + e^(−ε)),

    and so is, mirrored, what has −ε. Whoever sees which of the two it was can forget it, and then
    has the turned bit: the split pair tells no less. Rounding ε up to b instead would add up to
    `step` to each of many losses in a row; this adds up to a quarter of its square to their
    variance (Doroshenko et al. 2022 connect the dots of any law in this way).
    """
    position = epsilon / step
    low = math.floor(position)
    a, b = low * step, (low + 1) * step
    chance = float(expit(epsilon))
    share = min(max(math.expm1(b - epsilon) / math.expm1(step), 0.0), 1.0)
    u, v = chance * share, chance * (1 - share)
    split = {low: u, low + 1: v}
    for loss, mirrored in ((low, math.exp(-a) * u), (low + 1, math.exp(-b) * v)):
        split[-loss] = split.get(-loss, 0.0) + mirrored
    return split


@dataclass(frozen=True)
class Subsampled(Curve):
    """The same release of a secret random sample: a share q of a larger group takes part.

    Sampled without replacement, so that one of the larger group being replaced changes the sample
    with chance q. For ε ≥ 0 then δ'(log(1 + q(e^ε − 1))) = q δ(ε) (Balle, Barthe and Gaboardi
    2018, NeurIPS, Theorem 9), and the mirror image for the other direction, which is C_q of Dong,
    Roth and Su (2022), Theorem 4.2.
    """

    full: Curve  # what is known about those who take part
    share: float  # q in (0, 1]
    exact = False
    name = "subsampled"

    @property
    def slopes(self) -> Chances:
        """Those of the full release, in what they become."""
        return np.asarray(np.log1p(self.share * np.expm1(_SLOPES)))

    def delta(self, epsilon: ArrayLike) -> Chances:
        """The share q times δ of the full release at the ε that becomes this one."""
        epsilon = np.asarray(epsilon, dtype=float)
        size = np.minimum(np.abs(epsilon), _LARGEST_EXPONENT)
        before = np.log1p(np.expm1(size) / self.share)
        return _mirrored(epsilon, self.share * self.full.delta(before))


@dataclass(frozen=True)
class UpperEnvelope(Curve):
    """The largest chance at each point of several curves: a bound for whoever has one of them.

    Curves of different noise cross: a release with Laplace noise may tell more at one rate of false
    alarms, one with Gaussian noise at another. The largest δ(ε) is convex in e^ε and mirrored as
    each of them is.

    Examples
    --------
    >>> curve = UpperEnvelope((Laplace(1.1), Gaussian(0.54)))
    >>> [round(float(each.detection(0.01)), 4) for each in (*curve.curves, curve)]
    [0.03, 0.037, 0.037]
    >>> [round(float(each.right()), 3) for each in (*curve.curves, curve)]
    [0.712, 0.606, 0.712]
    """

    curves: tuple[Curve, ...]
    exact = False  # each part of it is of some pair of neighbours, but not all of one

    @property
    def name(self) -> str:  # type: ignore[override]
        """The kind of all of them, or "sites" where they are of several kinds."""
        names = {curve.name for curve in self.curves}
        return names.pop() if len(names) == 1 else "sites"

    def detection(self, false_positive_rate: ArrayLike) -> Chances:
        """The largest chance of a detection."""
        each = [curve.detection(false_positive_rate) for curve in self.curves]
        return np.asarray(np.max(each, axis=0))

    def delta(self, epsilon: ArrayLike) -> Chances:
        """The largest δ(ε)."""
        return np.asarray(np.max([curve.delta(epsilon) for curve in self.curves], axis=0))

    def right(self, prior: ArrayLike = 0.5) -> Chances:
        """The largest chance of a right guess."""
        return np.asarray(np.max([curve.right(prior) for curve in self.curves], axis=0))


# -- checks ---------------------------------------------------------------------------------------


def _at_least_zero(value: ArrayLike, field: str) -> Chances:
    """The values as an array, refused where one is negative or missing."""
    array = np.asarray(value, dtype=float)
    if not (array >= 0).all():  # also refuses NaN
        raise InputError(f"“{field}” must not be negative or missing.", field=field)
    return array
