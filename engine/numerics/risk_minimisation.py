"""Regularised risk over features: minimisers with a certificate, and how far one record moves them.

F_D(u) = (1/n) Σ_i L(y_i, f(x_i)) + ψ‖u‖² over u ∈ R^J, with f(x) = Σ_j u_j h_j(x) and convex L.
Records stand on K places ("atoms"), so that h is a table (K, J). With features
h_j = λ_j^{η/2} φ_j this is Theorem 18 of Lin and Reimherr (arXiv 2309.00125), whose penalty is the
squared norm of f in the space of C^η.

**Sensitivity.** Let L be M-admissible, |L(y, f) − L(y, g)| ≤ M |f − g|, and κ = max_x ‖h(x)‖₂. For
D and D' that differ in one record the minimisers u and u' are at most r = Mκ/(ψn) apart in ‖·‖₂.
F is strongly convex: F_D(v) ≥ F_D(u) + ψ‖v − u‖² for every v. Put v = u' for D and v = u for D' and
add: 2ψ‖u − u'‖² ≤ F_D(u') − F_D'(u') + F_D'(u) − F_D(u). All but the records z of D and z' of D'
cancels; (1/n){L(z, u') − L(z, u) + L(z', u) − L(z', u')} is left, which is at most
(2M/n) max_x |f_u(x) − f_u'(x)| ≤ (2Mκ/n)‖u − u'‖. Admissibility is used only where minimisers lie.

**Allowance.** The proof is about exact minimisers. If F is differentiable, its gradient is strongly
monotone: ‖∇F(v) − ∇F(u)‖ ≥ 2ψ‖v − u‖, so v with a gradient of norm g is within g/(2ψ) of the
minimiser. Whatever is returned here is within a `tolerance` that depends on public numbers alone,
or an error is raised; then two returned vectors are at most r + 2·tolerance apart (`radius`). The
distance certified for a data set, `slack`, depends on the data: it is neither released nor used.

**No data set fails.** An error that some data raise would say something of them. Newton's method
mostly needs a few steps, but no bound on their number is known here. Where it has not ended after
200, Nesterov's method for strongly convex functions goes on from zero: with c = H κ² + 2ψ the most
that F bends, H = `most_curvature`, q = √(2ψ/c) and m steps, F(u_m) − F* ≤ (1 − q)^m (F(0) − F* +
ψ‖u*‖²) ≤ (1 − q)^m · 2(Mκ)²/(4ψ), and the gradient is at most √(2c (F(u_m) − F*)). So `most_steps`
of public numbers are enough for every data set, rounding aside; for a real release they are looked
at first, and ψ that would ask for too many of them is refused whatever the data are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from engine.core.arrays import Array

Indices = NDArray[np.int64]
ROUNDING = 1e-4  # the hinge is rounded off over this much of the margin
_MANY = 200_000  # records, beyond which rounding errors set the tolerance
_MAX_STEPS = 200
_HALVINGS = 60
MAX_STEPS = 200_000  # of the method that ends for all data, above which no release is made
_STAGE = 1e-3  # accuracy, relative to the longest minimiser, of all stages but the last


@dataclass(frozen=True)
class GroupedRecords:
    """Records with equal effect taken together.

    Square loss needs a mean label on each place and losses of classes two counts, so that a step
    does not depend on n; for Huber's loss it does, since every record is its own.
    """

    index: Indices  # (G,) of int: where they stand
    label: Array  # (G,): their common, or mean, label
    weight: Array  # (G,): how many they are


@dataclass(frozen=True)
class ConvexLoss:
    """A convex loss L(y, f), once differentiable in f, with what its minimiser's release needs.

    `accuracy` is how exact minimisers are, relative to r; see `tolerance`.
    """

    name: ClassVar[str]
    accuracy: ClassVar[float] = 1e-9

    @property
    def most_curvature(self) -> float:
        """H, the most that L bends in f."""
        return 1.0

    def admissibility(self, kappa: float, penalty: float) -> float:
        """Constant M with |L(y, f) − L(y, g)| ≤ M |f − g|, over the f that minimisers may have.

        For κ see `kappa`.
        """
        return 1.0

    def value(self, label: Array, f: Array) -> Array:
        """L(y, f)."""
        raise NotImplementedError

    def slope(self, label: Array, f: Array) -> Array:
        """∂L/∂f."""
        raise NotImplementedError

    def curvature(self, label: Array, f: Array) -> Array:
        """∂²L/∂f²; between two pieces, of either."""
        raise NotImplementedError

    def records(self, index: Indices, y: Array, n_points: int) -> GroupedRecords:
        """The labels of one data set, held within what the loss allows.

        A label that is no number counts as 0, or as the class −1.
        """
        return _classes(index, y, n_points)

    def stages(self) -> tuple[ConvexLoss, ...]:
        """Losses to be minimised in turn, each from the minimiser before; the last is this one."""
        return (self,)


@dataclass(frozen=True)
class Square(ConvexLoss):
    """(y − f)², with y held within [−B, B].

    F(u) ≤ F(0) ≤ B² bounds the minimiser, ‖u‖ ≤ B/√ψ and |f| ≤ κB/√ψ, and with it the slope:
    M = 2B(1 + κ/√ψ).
    """

    bound: float  # B, in response units
    name: ClassVar[str] = "square"

    @property
    def most_curvature(self) -> float:
        return 2.0

    def admissibility(self, kappa: float, penalty: float) -> float:
        return float(2 * self.bound * (1 + kappa / np.sqrt(penalty)))

    def value(self, label: Array, f: Array) -> Array:
        return np.asarray((label - f) ** 2)

    def slope(self, label: Array, f: Array) -> Array:
        return np.asarray(2 * (f - label))

    def curvature(self, label: Array, f: Array) -> Array:
        return np.full(np.broadcast_shapes(label.shape, f.shape), 2.0)

    def records(self, index: Indices, y: Array, n_points: int) -> GroupedRecords:
        clipped = np.clip(_without_gaps(y), -self.bound, self.bound)
        count = np.bincount(index, minlength=n_points)
        total = np.bincount(index, clipped, n_points)
        occupied = np.flatnonzero(count)
        return GroupedRecords(
            occupied, total[occupied] / count[occupied], count[occupied].astype(float)
        )


@dataclass(frozen=True)
class Huber(ConvexLoss):
    """(y − f)²/2 up to a distance k, and k(|y − f| − k/2) beyond; M = k."""

    k: float  # above 0, in response units
    name: ClassVar[str] = "huber"
    accuracy: ClassVar[float] = 1e-6

    def admissibility(self, kappa: float, penalty: float) -> float:
        return self.k

    def value(self, label: Array, f: Array) -> Array:
        far = np.abs(label - f)
        return np.where(far <= self.k, far**2 / 2, self.k * (far - self.k / 2))

    def slope(self, label: Array, f: Array) -> Array:
        return np.clip(f - label, -self.k, self.k)

    def curvature(self, label: Array, f: Array) -> Array:
        return (np.abs(label - f) <= self.k).astype(float)

    def records(self, index: Indices, y: Array, n_points: int) -> GroupedRecords:
        return GroupedRecords(index, _without_gaps(y), np.ones(len(y)))


@dataclass(frozen=True)
class Logistic(ConvexLoss):
    """log(1 + exp(−y f)) for classes y = ±1; M = 1."""

    name: ClassVar[str] = "logistic"

    @property
    def most_curvature(self) -> float:
        return 0.25

    def value(self, label: Array, f: Array) -> Array:
        return np.asarray(np.logaddexp(0.0, -label * f))

    def slope(self, label: Array, f: Array) -> Array:
        return np.asarray(-label * expit(-label * f))

    def curvature(self, label: Array, f: Array) -> Array:
        return np.asarray(expit(f) * expit(-f))


@dataclass(frozen=True)
class Hinge(ConvexLoss):
    """max(1 − y f, 0) for classes y = ±1, rounded off by a parabola where 1 − w ≤ y f ≤ 1; M = 1.

    The rounded loss is M-admissible with the same M, so r is that of the hinge. It lies below the
    hinge by at most w/2, so its minimiser is within √(w/(2ψ)) of the hinge's; that is the worst
    case, mostly it is far nearer. It is differentiable, with a certificate of the size of the
    rounding error of its slope, about 1e-16/w. For the hinge itself a duality gap as small as
    rounding errors leaves 1e-8/√ψ of doubt, which is too much beside r when n is large.
    """

    width: float = ROUNDING  # w, as a share of the margin
    name: ClassVar[str] = "hinge"
    accuracy: ClassVar[float] = 1e-6

    @property
    def most_curvature(self) -> float:
        return 1 / self.width

    def value(self, label: Array, f: Array) -> Array:
        short = np.maximum(1 - label * f, 0.0)
        return np.where(short < self.width, short**2 / (2 * self.width), short - self.width / 2)

    def slope(self, label: Array, f: Array) -> Array:
        return np.asarray(-label * np.clip((1 - label * f) / self.width, 0.0, 1.0))

    def curvature(self, label: Array, f: Array) -> Array:
        short = 1 - label * f
        return ((short >= 0) & (short <= self.width)) / self.width

    def stages(self) -> tuple[ConvexLoss, ...]:
        """Return the parabolas from a wide to the narrow one, a factor of ten at a time."""
        wider = [width for width in (1.0, 1e-1, 1e-2, 1e-3) if width > self.width]
        return (*(replace(self, width=width) for width in wider), self)


def _without_gaps(y: Array) -> Array:
    """Labels with 0 for what is no number; infinities stay, and are held where the loss holds."""
    return np.where(np.isnan(y), 0.0, y)


def _classes(index: Indices, y: Array, n_points: int) -> GroupedRecords:
    """Counts of both classes; whatever is not above 0 belongs to −1."""
    label = np.where(y > 0, 1.0, -1.0)
    count = np.bincount(2 * index + (label > 0), minlength=2 * n_points)
    occupied = np.flatnonzero(count)
    return GroupedRecords(
        occupied // 2, np.where(occupied % 2, 1.0, -1.0), count[occupied].astype(float)
    )


def kappa(atoms: Array) -> float:
    """κ = max_x ‖h(x)‖₂ over the places, `atoms` (K, J) being the features h of each."""
    return float(np.sqrt((atoms**2).sum(axis=1).max()))


def tolerance(loss: ConvexLoss, atoms: Array, penalty: float, n: int) -> float:
    """Bound the distance ‖·‖₂ of a returned vector from the exact minimiser; public.

    A millionth of r for the hinge and Huber's loss, 1e-9 r for the others. Rounding errors set a
    limit: with more than 200 000 records it no longer falls with n, and where ψ is tiny, so that
    |f| ≤ κ²M/(2ψ) may be 10 000 times M, it grows with that bound.

    `atoms` (K, J) holds the features h of each place.
    """
    exact = _exact_radius(loss, atoms, penalty, min(n, _MANY))
    return loss.accuracy * exact * max(1.0, kappa(atoms) ** 2 / (2 * penalty) / 1e4)


def radius(loss: ConvexLoss, atoms: Array, penalty: float, n: int) -> float:
    """Bound on ‖u_D − u_D'‖₂ of what `minimise` returns: Mκ/(ψn) and twice the tolerance.

    `atoms` (K, J) holds the features h of each place.
    """
    return _exact_radius(loss, atoms, penalty, n) + 2 * tolerance(loss, atoms, penalty, n)


def _exact_radius(loss: ConvexLoss, atoms: Array, penalty: float, n: int) -> float:
    size = kappa(atoms)
    return float(loss.admissibility(size, penalty) * size / (penalty * n))


def most_steps(loss: ConvexLoss, atoms: Array, penalty: float, n: int) -> int:
    """Count the steps of `_accelerated` that bring every data set within tolerance.

    `atoms` (K, J) holds the features h of each place.
    """
    size = kappa(atoms)
    bend = loss.most_curvature * size**2 + 2 * penalty
    worst = (loss.admissibility(size, penalty) * size) ** 2 / (2 * penalty)
    slack_limit = 2 * penalty * tolerance(loss, atoms, penalty, n)  # of the gradient
    rate = -np.log1p(-np.sqrt(2 * penalty / bend) * (1 - 1e-12))
    return 1 + int(np.ceil(max(np.log(2 * bend * worst / slack_limit**2), 0.0) / rate))


@dataclass(frozen=True)
class Minimisers:
    """Minimisers with their certificates."""

    u: Array  # (…, J): coefficients
    # (…): certified distances to the exact minimisers in ‖·‖₂; they depend on the data
    slack: Array


def minimise(
    loss: ConvexLoss, atoms: Array, index: Indices, y: Array, penalty: float
) -> Minimisers:
    """Minimisers of (1/n) Σ L(y_i, Σ_j u_j h_j(x_i)) + ψ‖u‖².

    `atoms` (K, J) are features h of each place, and `index` (…, n) the place of each record; both
    atoms and ψ > 0 are public. A label that is no number counts as 0, or as the class −1.

    Examples
    --------
    >>> place, y = np.array([0, 0, 1]), np.array([1.0, 1.0, -1.0])
    >>> minimise(Square(bound=1.0), np.eye(2), place, y, penalty=0.5).u.round(4).tolist()
    [0.5714, -0.4]
    """
    n, slack_limit = index.shape[-1], tolerance(loss, atoms, penalty, index.shape[-1])
    indices, labels = index.reshape(-1, n), y.reshape(-1, n)
    solutions = [
        _minimiser(loss, loss.records(p, label, len(atoms)), atoms, penalty, n, slack_limit)
        for p, label in zip(indices, labels, strict=True)
    ]
    shape = index.shape[:-1]
    return Minimisers(
        np.array([u for u, _ in solutions]).reshape(*shape, atoms.shape[1]),
        np.array([slack for _, slack in solutions]).reshape(shape),
    )


def _minimiser(
    loss: ConvexLoss,
    records: GroupedRecords,
    atoms: Array,
    penalty: float,
    n: int,
    slack_limit: float,
) -> tuple[Array, float]:
    """One minimiser (J,) and its slack."""
    *wider, last = loss.stages()
    u, size = np.zeros(atoms.shape[1]), kappa(atoms)
    longest = loss.admissibility(size, penalty) * size / (2 * penalty)  # from ∇F(u) = 0
    for stage in wider:
        u, _ = _newton(
            _Risk(stage, records, atoms, penalty, n), u, max(_STAGE * longest, slack_limit)
        )
    risk = _Risk(last, records, atoms, penalty, n)
    u, slack = _newton(risk, u, slack_limit)
    steps = most_steps(loss, atoms, penalty, n)
    if not slack <= slack_limit and steps <= MAX_STEPS:
        u, slack = _accelerated(risk, steps, slack_limit)
    if not slack <= slack_limit:
        raise RuntimeError(
            "The regularised risk could not be minimised as exactly as its "
            "protection needs; nothing was released."
        )
    return u, slack


@dataclass(frozen=True)
class _Risk:
    """F_D with its derivatives; places without records are left out of them."""

    loss: ConvexLoss
    records: GroupedRecords
    atoms: Array
    penalty: float
    n: int

    def gradient(self, u: Array, f: Array) -> Array:
        """∇F (J,), where f = atoms @ u."""
        slope = self._over_points(self.loss.slope(self.records.label, f[self.records.index]))
        return np.asarray(slope @ self.atoms + 2 * self.penalty * u)

    def newton_step(self, gradient: Array, f: Array) -> Array:
        """−(∇²F)^{-1} ∇F, from the places that bend F."""
        from scipy.linalg import cho_factor, cho_solve  # on first use: it takes a moment

        bend = self._over_points(self.loss.curvature(self.records.label, f[self.records.index]))
        bent = np.flatnonzero(bend)
        rows = np.sqrt(bend[bent])[:, None] * self.atoms[bent]
        hessian = rows.T @ rows
        hessian[np.diag_indices_from(hessian)] += 2 * self.penalty
        return np.asarray(-cho_solve(cho_factor(hessian), gradient))

    def along(self, u: Array, step: Array, f: Array) -> Callable[[float], float]:
        """The derivative of t ↦ F(u + t·step)."""
        index, label = self.records.index, self.records.label
        across, here = (self.atoms @ step)[index], f[index]
        weight = across * self.records.weight / self.n
        start, rise = 2 * self.penalty * (u @ step), 2 * self.penalty * (step @ step)
        return lambda t: float(
            weight @ self.loss.slope(label, here + t * across) + start + t * rise
        )

    def _over_points(self, each: Array) -> Array:
        """(1/n) Σ over the records of a place: (K,)."""
        return np.bincount(self.records.index, self.records.weight * each, len(self.atoms)) / self.n


def _newton(risk: _Risk, u: Array, slack_limit: float) -> tuple[Array, float]:
    """Newton's method with line search, until the slack is at most `slack_limit`."""
    for _ in range(_MAX_STEPS):
        f = risk.atoms @ u
        gradient = risk.gradient(u, f)
        slack = float(np.linalg.norm(gradient)) / (2 * risk.penalty)
        if slack <= slack_limit:
            break
        step = risk.newton_step(gradient, f)
        u = u + _length(risk.along(u, step, f)) * step
    return u, slack


def _accelerated(risk: _Risk, steps: int, slack_limit: float) -> tuple[Array, float]:
    """Nesterov's method from zero, until the slack is `slack_limit` or steps are used up."""
    bend = risk.loss.most_curvature * kappa(risk.atoms) ** 2 + 2 * risk.penalty
    q = np.sqrt(2 * risk.penalty / bend)
    u = ahead = np.zeros(risk.atoms.shape[1])
    for _ in range(steps):
        after = ahead - risk.gradient(ahead, risk.atoms @ ahead) / bend
        ahead = after + (1 - q) / (1 + q) * (after - u)
        u = after
        slack = float(np.linalg.norm(risk.gradient(u, risk.atoms @ u))) / (2 * risk.penalty)
        if slack <= slack_limit:
            break
    return u, slack


def _length(derivative: Callable[[float], float]) -> float:
    """Find the length along a downhill step at which the rising derivative reaches 0.

    The whole step if that halves the slope; otherwise to where the slope vanishes.
    """
    start, low, high = derivative(0.0), 0.0, 1.0
    if abs(derivative(high)) <= 0.5 * abs(start) or start >= 0:  # ≥ 0: lost in rounding errors
        return 1.0
    while derivative(high) < 0:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if derivative(middle) < 0 else (low, middle)
    return (low + high) / 2
