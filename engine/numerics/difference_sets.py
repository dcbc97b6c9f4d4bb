"""Sets of all changes that replacing one record can make to a summary, and their size.

A summary is a vector of coefficients; noise of scale b_j is added to each on its own. What it
costs is the size of the set of possible changes d in the units of the noise: with Laplace noise
the largest Σ |d_j|/b_j, which is ε, and with Gaussian noise the largest (Σ d_j²/b_j²)^{1/2}, which
is μ. Coordinates that never change need no noise.

References
----------
Lin and Reimherr (2023), arXiv 2309.00125: sections 4 and 5. The published sizes take every
coordinate at its largest at once; those of `l1` and `l2` are suprema unless said otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from engine.core.arrays import Array

_ROUNDS, _FEW = 60, 64  # steps of the search for the best spectrum of atoms, and atoms it looks at


class DifferenceSet(Protocol):
    """All changes d (r,) of a summary between neighbours."""

    def l1(self, scales: Array) -> float:
        """The largest Σ |d_j|/b_j: ε of Laplace noise.

        The scales b (r,) are in the units of the summary; 0 where nothing can change.
        """
        ...

    def l2(self, scales: Array) -> float:
        """The largest (Σ d_j²/b_j²)^{1/2}: μ of Gaussian noise.

        The standard deviations b (r,) are 0 where nothing can change.
        """
        ...

    def published(self, scales: Array) -> float:
        """A bound on `l1`, at scales b (r,), as papers print it."""
        ...

    @property
    def moving(self) -> Array:
        """1 for coordinates that can change and need noise, else 0: (r,)."""
        ...

    @property
    def spectrum(self) -> Array:
        """Shape (r,) of the Laplace scales with the least total variance at any ε."""
        ...

    @property
    def gaussian_spectrum(self) -> Array:
        """Shape (r,) of Gaussian standard deviations with a small total variance at any μ."""
        ...


@dataclass(frozen=True)
class Ellipsoid(DifferenceSet):
    """{s∘c : ‖c‖₂ ≤ radius}: averages of vectors in a ball, filtered.

    By the inequality of Cauchy and Schwarz Σ |s_j c_j|/b_j ≤ radius ‖s/b‖₂, with equality for c
    proportional to s/b; (Σ s_j² c_j²/b_j²)^{1/2} ≤ radius max s_j/b_j, with equality for a single
    coordinate. Minimising Σ b_j² under ‖s/b‖₂ = 1 gives b_j ∝ √s_j (stationarity: b_j⁴ ∝ s_j²).

    Examples
    --------
    >>> changes = Ellipsoid(np.array([1.0, 0.25]), radius=0.02)
    >>> round(changes.l1(np.array([0.01, 0.01])), 4), changes.l2(np.array([0.01, 0.01]))
    (2.0616, 2.0)
    """

    shrink: Array  # (r,): s ≥ 0, the filter
    radius: float
    # the published bound takes |c_j| this large in all coordinates at once; None: `radius`
    loose_radius: float | None = None

    def l1(self, scales: Array) -> float:
        """The radius times ‖s/b‖₂, attained."""
        return self.radius * float(np.sqrt((_in_units(self.shrink, scales) ** 2).sum()))

    def l2(self, scales: Array) -> float:
        """The radius times max s_j/b_j, attained."""
        return self.radius * float(_in_units(self.shrink, scales).max(initial=0.0))

    def published(self, scales: Array) -> float:
        """Every coordinate at its largest at once."""
        loose = self.radius if self.loose_radius is None else self.loose_radius
        return loose * float(_in_units(self.shrink, scales).sum())

    @property
    def moving(self) -> Array:
        return (self.shrink > 0).astype(float)

    @property
    def spectrum(self) -> Array:
        return np.asarray(np.sqrt(self.shrink))

    @property
    def gaussian_spectrum(self) -> Array:
        """The filter itself: every coordinate then costs the same, and none can get less noise."""
        return self.shrink


@dataclass(frozen=True)
class Thresholded(DifferenceSet):
    """Changes of S_T(c), c the mean of n vectors with ‖c‖₂ ≤ 1, by soft thresholds.

    |S_T(x) − S_T(y)| ≤ |x − y|, so changes lie in the ball of radius 2/n, and coordinates with
    T_j ≥ 1 are always 0. Further, coordinate j moves only if |c_j| or |c'_j| exceeds T_j; as
    ‖|c| ∨ |c'|‖₂ ≤ ‖c‖₂ + ‖c − c'‖₂ ≤ 1 + 2/n, the coordinates S that move at once have
    Σ_S T_j² < (1 + 2/n)². So Σ |d_j|/b_j ≤ (2/n) (max_S Σ_S 1/b_j²)^{1/2}, of which the fractional
    knapsack is an upper bound: coordinates in order of 1/(b_j T_j)², the last one in part.
    It is an upper bound, attained wherever the thresholds leave room; `l2` is that of the ball.
    """

    thresholds: Array  # (r,): T > 0
    n: float

    @cached_property
    def moving(self) -> Array:
        """1 for coordinates that can be other than 0: (r,)."""
        return (self.thresholds < 1).astype(float)

    def l1(self, scales: Array) -> float:
        """The bound by the fractional knapsack."""
        # items (r,) with the value 1/b² and the cost T²; the knapsack holds (1 + 2/n)²
        value = _in_units(self.moving, scales) ** 2
        cost = self.thresholds**2
        order = np.argsort(-value / cost, kind="stable")
        spent = np.cumsum(cost[order])
        slack = (1 + 2 / self.n) ** 2 - (spent - cost[order])
        share = np.clip(slack / cost[order], 0.0, 1.0)
        return 2 / self.n * float(np.sqrt((value[order] * share).sum()))

    def l2(self, scales: Array) -> float:
        """(2/n) max 1/b_j over the coordinates that move."""
        return 2 / self.n * float(_in_units(self.moving, scales).max(initial=0.0))

    def published(self, scales: Array) -> float:
        """(2/n) Σ 1/b_j with j up to J*, the first coordinate that is always 0, as printed."""
        last = min(int(self.moving.sum()), len(scales) - 1)
        return 2 / self.n * float((1 / scales[: last + 1]).sum())

    @property
    def spectrum(self) -> Array:
        return self.moving

    @property
    def gaussian_spectrum(self) -> Array:
        return self.moving


@dataclass(frozen=True)
class BoxMoments(DifferenceSet):
    """Changes of the mean of xx' over n records x = (1, z), z anywhere in [−1, 1]^d.

    Coordinates are those of the upper triangle but for the first, √2 times the entries beside the
    diagonal; noise is the same on all. With u = (z + z')/2 and v = (z − z')/2, entries of xx' move
    by 2v_j, 4u_jv_j and 2(u_jv_k + v_ju_k), and |u_j| + |v_j| ≤ 1 is all that is known of them. So
    with b_j = |v_j| and |u_j| = 1 − b_j, which is the best, no Σ|d_j| is larger than

        2√2 Σ b_j + 4 Σ b_j(1 − b_j) + 2√2 Σ_{j<k} ((1 − b_j) b_k + b_j (1 − b_k)),

    and signs can be taken to attain it. It is concave in b and the same in all b_j, hence largest
    at equal ones: d(2√2 + c)²/(4c) with c = 4 + 2√2(d − 1). In the Euclidean norm the change of xx'
    is convex in every z_j, hence largest at corners, where ‖x‖² = ‖y‖² = p = d + 1 and ⟨x, y⟩ is
    p less a multiple of 2: its square is 2p² − 2⟨x, y⟩², and ⟨x, y⟩ can be 0 for even p, else 1.
    """

    d: int
    n: float

    @property
    def size(self) -> int:
        return (self.d + 1) * (self.d + 2) // 2 - 1

    def l1(self, scales: Array) -> float:
        """The largest Σ |d_j|, in units of the noise; attained."""
        root, c = 2 * math.sqrt(2), 4 + 2 * math.sqrt(2) * (self.d - 1)
        return self.d * (root + c) ** 2 / (4 * c) / (self.n * self._common(scales))

    def l2(self, scales: Array) -> float:
        """Largest Euclidean norm of d, in units of the noise; attained at corners of the box."""
        p = self.d + 1
        return math.sqrt(2 * (p * p - p % 2)) / (self.n * self._common(scales))

    def _common(self, scales: Array) -> float:
        if np.ptp(scales) > 0:
            raise ValueError("moments of a box need the same noise on all entries")
        return float(scales[0])

    def published(self, scales: Array) -> float:
        """Every entry by as much as all together, √2 p/n."""
        return math.sqrt(2) * (self.d + 1) / self.n * float((1 / scales).sum())

    @property
    def moving(self) -> Array:
        return np.ones(self.size)

    @property
    def spectrum(self) -> Array:
        return np.ones(self.size)

    @property
    def gaussian_spectrum(self) -> Array:
        return np.ones(self.size)


@dataclass(frozen=True, eq=False)
class Atoms(DifferenceSet):
    """{g_x − g_x'}: what a record adds to a sum, being one of K atoms.

    Sizes are maxima over all pairs, hence exact; each is computed once. The best spectrum solves a
    convex problem: in 1/b_j constraints are linear and Σ b_j² is convex, and b_j³ is in proportion
    to Σ m |g_xj − g_x'j| for weights m on binding pairs. It is found from the pairs of a few atoms,
    spread over all of them, which is cheap and loses a few hundredths; the cost of the noise it
    leads to is exact either way.
    """

    atoms: Array  # (K, r): g, one row for each
    # what papers print for the scales that are theirs. It is passed on as it is, even where it is
    # below `l1` and so protects less than it says.
    printed: float

    @cached_property
    def moving(self) -> Array:
        return np.asarray((np.ptp(self.atoms, axis=0) > 0).astype(float))

    def l1(self, scales: Array) -> float:
        """The largest Σ |d_j|/b_j over all pairs of atoms; exact."""
        return self._largest(scales, "cityblock")

    def l2(self, scales: Array) -> float:
        """The largest (Σ d_j²/b_j²)^{1/2} over all pairs of atoms; exact."""
        return self._largest(scales, "euclidean")

    def _largest(self, scales: Array, metric: str) -> float:
        from scipy.spatial.distance import pdist  # on first use: it takes a moment

        key = metric, scales.tobytes()
        if key not in self._known:
            distances = pdist(_in_units(self.atoms, scales), metric)
            self._known[key] = float(distances.max(initial=0.0))
        return self._known[key]

    @cached_property
    def _known(self) -> dict[tuple[str, bytes], float]:
        return {}

    def published(self, scales: Array) -> float:
        """`printed`, whatever the scales."""
        return self.printed

    @cached_property
    def spectrum(self) -> Array:
        few = np.linspace(0, len(self.atoms) - 1, min(len(self.atoms), _FEW)).round().astype(int)
        first, second = np.triu_indices(len(few), 1)
        distance = np.abs(self.atoms[few[first]] - self.atoms[few[second]])
        mixed = distance.mean(axis=0)
        for k in range(_ROUNDS):  # Frank and Wolfe: weight moves to the pair that costs most
            worst = _in_units(distance, np.cbrt(mixed)).sum(axis=1).argmax()
            mixed += 2 / (k + 3) * (distance[worst] - mixed)
        return np.asarray(np.cbrt(np.maximum(mixed, 1e-9 * mixed.max())) * self.moving)

    @cached_property
    def gaussian_spectrum(self) -> Array:
        """Proportional to the largest distance of an atom from the middle, by coordinate."""
        return np.asarray(np.sqrt(np.ptp(self.atoms, axis=0)))


@dataclass(frozen=True, eq=False)
class Averaged(DifferenceSet):
    """{d/n}: the changes of an average of n records, from those of their sum."""

    changes: DifferenceSet  # d, of the sum
    n: float

    def l1(self, scales: Array) -> float:
        return self.changes.l1(scales) / self.n

    def l2(self, scales: Array) -> float:
        return self.changes.l2(scales) / self.n

    def published(self, scales: Array) -> float:
        return self.changes.published(scales) / self.n

    @property
    def moving(self) -> Array:
        return self.changes.moving

    @property
    def spectrum(self) -> Array:
        return self.changes.spectrum

    @property
    def gaussian_spectrum(self) -> Array:
        return self.changes.gaussian_spectrum


@dataclass(frozen=True, eq=False)
class LinearImage(DifferenceSet):
    """{Bu : ‖u‖₂ ≤ radius}: values of a smooth function on a lattice.

    Σ |(Bu)_v|/b_v = max over signs σ of ⟨Bᵀ(σ/b), u⟩ ≤ radius (Σ_vw |BBᵀ|_vw/(b_v b_w))^{1/2}; it
    is the supremum where BBᵀ has no negative entry.
    """

    features: Array  # (r, J): B
    radius: float  # of the ball in which u moves

    @property
    def moving(self) -> Array:
        return np.ones(len(self.features))

    def l1(self, scales: Array) -> float:
        """The bound above; the supremum where BBᵀ has no negative entry."""
        units = self.features / scales[:, None]
        return self.radius * float(np.sqrt(np.abs(units @ units.T).sum()))

    def l2(self, scales: Array) -> float:
        """The radius times the largest singular value of B/b; attained."""
        return self.radius * float(np.linalg.norm(self.features / scales[:, None], 2))

    def published(self, scales: Array) -> float:
        """Every value at its largest at once."""
        units = self.features / scales[:, None]
        return self.radius * float(np.sqrt((units**2).sum(axis=1)).sum())

    @property
    def spectrum(self) -> Array:
        return np.ones(len(self.features))

    @property
    def gaussian_spectrum(self) -> Array:
        return np.ones(len(self.features))


def _in_units(values: Array, scales: Array) -> Array:
    """values/scales, 0 where nothing changes and no noise is needed."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(values == 0, 0.0, values / scales)
