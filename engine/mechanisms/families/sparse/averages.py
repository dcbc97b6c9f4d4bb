"""Averages of machines over their rows for sparse regression, from rows or from moments.

Everything that is published about a sparse regression is such an average over rows, with noise.
`RowAverages` clips every row's contribution, so that replacing a row moves an average by a known
amount at most; releases use it alone. `RowMoments` has the same averages without clips, from
sufficient statistics, which for normal rows can be drawn without drawing rows: thousands of data
sets of any size in seconds, to see how often intervals hold. Clips at four standard deviations
change so little that the two agree.

What one row can do, whatever it holds; R, τ, W and B are the clips and N the rows averaged over:

    gradient            [x'b − y]_R x     2Rc/N in every entry, features being clipped to ±c
    products            [x'b]_τ x         2τc/N in every entry
    squared residuals   [y − x'b]_R²      R²/N, as squares lie in [0, R²]
    unclipped share     |y − x'b| ≤ R     1/N; with squared residuals in units of R²: √2/N together
    residuals           [y − x'b]_R       2R/N; with both of these, in units of 2R: 1.512/N together
    squared products    [x'b]_τ²          τ²/N
    squared lengths     ‖x‖², ‖x‖ ≤ B     B²/N, as they lie in [0, B²]
    Gram matrix         x x', ‖x‖ ≤ B     √2 B²/N in the Euclidean norm of its entries, because
                                          ‖xx' − zz'‖² = ‖x‖⁴ + ‖z‖⁴ − 2(x'z)² ≤ 2B⁴
    corrections         w [y − x'b]_R with w = Θx, ‖w‖ ≤ W     2WR/N in the Euclidean norm
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from engine.core.arrays import Indices
from engine.core.types import Array, Step
from engine.mechanisms.families.sparse.thresholding import MachineRows
from engine.numerics.clipping.norms import norm_clip_factors
from engine.privacy import transcript

AVERAGE_PRODUCT = Step("average product")
_PIECE = 2**19  # numbers of rows whose products are summed at once


class Averages(Protocol):
    """Averages over n rows at vectors (repeats, columns, d), several at once for each data set."""

    @property
    def n(self) -> int: ...

    def gradient(self, vectors: Array, clip: float = math.inf) -> Array:
        """Average [x'b − y]_R x for vectors b; both (repeats, columns, d)."""
        ...

    def products(self, vectors: Array, clip: float = math.inf) -> Array:
        """Average [x'b]_τ x for vectors b; both (repeats, columns, d)."""
        ...

    def squared_residuals(self, vectors: Array, clip: float = math.inf) -> Array:
        """Average [y − x'b]_R²: (repeats, columns), for b (repeats, columns, d)."""
        ...

    def within(self, vectors: Array, clip: float = math.inf) -> Array:
        """Average 1{|y − x'b| ≤ R}: (repeats, columns), for b (repeats, columns, d)."""
        ...

    def residuals(self, vectors: Array, clip: float = math.inf) -> Array:
        """Average [y − x'b]_R: (repeats, columns), for b (repeats, columns, d)."""
        ...

    def squared_products(self, vectors: Array, clip: float = math.inf) -> Array:
        """Average [x'b]_τ²: (repeats, columns), for b (repeats, columns, d)."""
        ...

    def gram(self, norm: float = math.inf) -> Array:
        """Averages of x x', rows clipped to a norm: (repeats, d, d)."""
        ...

    def gram_on(self, where: Indices, norm: float = math.inf) -> Array:
        """Average x_S x_S', x_S clipped to a norm: (repeats, columns, s, s).

        The places S are (repeats, columns, s) array of int.
        """
        ...

    def corrections(
        self,
        vectors: Array,
        directions: Array,
        clip: float = math.inf,
        norms: Array | float = math.inf,
    ) -> Array:
        """Averages of w [y − x'b]_R, w = Θx clipped to norm W: (repeats, columns, g)."""
        ...


@dataclass(frozen=True, eq=False)
class RowAverages:
    """Clipped averages over the rows of some machines, which entrust them to the centre."""

    rows: MachineRows

    @property
    def n(self) -> int:
        return self.rows.n

    def of_machine(self, machine: int) -> RowAverages:
        """The averages over the rows of one machine alone."""
        stop = int(np.cumsum(self.rows.per_machine)[machine])
        size = self.rows.per_machine[machine]
        rows = slice(stop - size, stop)
        counts = tuple(size if k == machine else 0 for k in range(len(self.rows.per_machine)))
        return RowAverages(
            replace(self.rows, x=self.rows.x[:, rows], y=self.rows.y[:, rows], per_machine=counts)
        )

    def gradient(self, vectors: Array, clip: float = math.inf) -> Array:
        return self.rows.gradient(vectors, clip)

    def products(self, vectors: Array, clip: float = math.inf) -> Array:
        """Gradients of rows whose responses are 0; see `Averages.products`."""
        without_response = replace(self.rows, y=np.zeros_like(self.rows.y))
        return without_response.gradient(vectors, clip, step=AVERAGE_PRODUCT)

    def squared_residuals(self, vectors: Array, clip: float = math.inf) -> Array:
        def part(r: int, rows: slice) -> Array:
            residuals = self.rows.x[r, rows] @ vectors[r].T - self.rows.y[r, rows, None]
            return _sum_of_squares(residuals, clip)

        return self._average(Step("average squared residual"), vectors.shape[:2], part)

    def within(self, vectors: Array, clip: float = math.inf) -> Array:
        def part(r: int, rows: slice) -> Array:
            residuals = self.rows.x[r, rows] @ vectors[r].T - self.rows.y[r, rows, None]
            return np.asarray((np.abs(residuals) <= clip).sum(axis=0, dtype=float))

        return self._average(Step("share of residuals within their clip"), vectors.shape[:2], part)

    def residuals(self, vectors: Array, clip: float = math.inf) -> Array:
        def part(r: int, rows: slice) -> Array:
            residuals = self.rows.y[r, rows, None] - self.rows.x[r, rows] @ vectors[r].T
            return np.asarray(np.clip(residuals, -clip, clip).sum(axis=0))

        return self._average(Step("average residual"), vectors.shape[:2], part)

    def squared_products(self, vectors: Array, clip: float = math.inf) -> Array:
        def part(r: int, rows: slice) -> Array:
            return _sum_of_squares(self.rows.x[r, rows] @ vectors[r].T, clip)

        return self._average(Step("average squared product"), vectors.shape[:2], part)

    def means(self) -> Array:
        """Averages of x: (repeats, d)."""
        return self._average(
            Step("average row"),
            (len(self.rows.x), 1, self.rows.n_features),
            lambda r, rows: self.rows.x[r, rows].sum(axis=0)[None],
        )[:, 0]

    def squared_lengths(self) -> Array:
        """Averages of ‖x‖²: (repeats, 1)."""

        def part(r: int, rows: slice) -> Array:
            x = self.rows.x[r, rows].ravel()
            return np.asarray([x @ x])

        return self._average(Step("average squared length"), (len(self.rows.x), 1), part)

    def gram(self, norm: float = math.inf) -> Array:
        def part(r: int, rows: slice) -> Array:
            x = _clip_rows(self.rows.x[r, rows], norm)
            return np.asarray(x.T @ x)[None]

        size = self.rows.n_features
        # adding up d² numbers for each piece costs little beside products of 2d rows
        pieces = self.rows.pieces(max(2 * size, _PIECE // size))
        return self._average(
            Step("average of x x'"), (len(self.rows.x), 1, size, size), part, pieces
        )[:, 0]

    def gram_on(self, where: Indices, norm: float = math.inf) -> Array:
        def part(r: int, rows: slice) -> Array:
            each = [_clip_rows(self.rows.x[r, rows][:, places], norm) for places in where[r]]
            return np.stack([x.T @ x for x in each])

        return self._average(
            Step("average of x x' of chosen features"), (*where.shape, where.shape[-1]), part
        )

    def corrections(
        self,
        vectors: Array,
        directions: Array,
        clip: float = math.inf,
        norms: Array | float = math.inf,
    ) -> Array:
        limits = np.broadcast_to(norms, vectors.shape[:2])

        def part(r: int, rows: slice) -> Array:
            x = self.rows.x[r, rows]
            residuals = np.clip(self.rows.y[r, rows, None] - x @ vectors[r].T, -clip, clip)
            out = np.empty(directions.shape[1:3])
            for c, matrix in enumerate(directions[r]):
                products = x @ matrix.T
                out[c] = (residuals[:, c] * _clip_factors(products, limits[r, c])) @ products
            return out

        return self._average(Step("average correction"), directions.shape[:3], part)

    def _average(
        self,
        step: Step,
        shape: tuple[int, ...],
        part: Callable[[int, slice], Array],
        pieces: tuple[tuple[slice, ...], ...] | None = None,
    ) -> Array:
        """Sums over blocks of rows, put together machine by machine, over the number of rows."""
        total = np.zeros(shape)
        for machine, blocks in enumerate(self.rows.blocks if pieces is None else pieces):
            if blocks:
                sums = np.zeros(shape)
                for r, total_of in enumerate(sums):
                    for rows in blocks:
                        total_of += part(r, rows)
                if not self.rows.is_secure:
                    transcript.entrusted(machine, step, sums / self.rows.per_machine[machine])
                total += sums
        if self.rows.is_secure:
            transcript.entrusted(transcript.CENTRE, step, total / self.n)
        return total / self.n


def _sum_of_squares(values: Array, clip: float) -> Array:
    return np.asarray((np.clip(values, -clip, clip) ** 2).sum(axis=0))


def _clip_rows(rows: Array, norm: float) -> Array:
    """Rows with norms above `norm` clipped to it."""
    return rows if math.isinf(norm) else np.asarray(rows * _clip_factors(rows, norm)[:, None])


def _clip_factors(rows: Array, norm: float) -> Array:
    """Compute factors that bring rows to at most this norm: (rows,)."""
    if math.isinf(norm):
        return np.ones(len(rows))
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return norm_clip_factors(norms, norm)


# -- without rows ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RowMoments:
    """Averages over n rows without the rows.

    Clips are accepted and not applied: for studies of simulated data, never for a release.
    """

    n: int
    second: Array  # (repeats, d, d): averages of x x'
    cross: Array  # (repeats, d): averages of x y
    square: Array  # (repeats,): averages of y²

    def gradient(self, vectors: Array, clip: float = math.inf) -> Array:
        return np.asarray(vectors @ self.second - self.cross[:, None])

    def products(self, vectors: Array, clip: float = math.inf) -> Array:
        return np.asarray(vectors @ self.second)

    def squared_residuals(self, vectors: Array, clip: float = math.inf) -> Array:
        linear = (vectors @ self.cross[..., None])[..., 0]
        return np.asarray(self.square[:, None] - 2 * linear + self.squared_products(vectors))

    def within(self, vectors: Array, clip: float = math.inf) -> Array:
        return np.ones(vectors.shape[:2])

    def residuals(self, vectors: Array, clip: float = math.inf) -> Array:
        return np.zeros(vectors.shape[:2])  # of rows whose means are known to be zero

    def squared_products(self, vectors: Array, clip: float = math.inf) -> Array:
        return np.asarray(((vectors @ self.second) * vectors).sum(axis=-1))

    def gram(self, norm: float = math.inf) -> Array:
        return self.second

    def gram_on(self, where: Indices, norm: float = math.inf) -> Array:
        repeats = np.arange(len(where))[:, None, None, None]
        return np.asarray(self.second[repeats, where[..., :, None], where[..., None, :]])

    def corrections(
        self,
        vectors: Array,
        directions: Array,
        clip: float = math.inf,
        norms: Array | float = math.inf,
    ) -> Array:
        return -np.asarray((directions @ self.gradient(vectors)[..., None])[..., 0])


def of_rows(averages: RowAverages) -> RowMoments:
    """The exact moments of some rows."""
    x, y = averages.rows.x, averages.rows.y
    cross = -averages.gradient(np.zeros_like(x[:, :1]))[:, 0]
    return RowMoments(averages.n, averages.gram(), cross, np.asarray((y**2).mean(axis=1)))


def pooled(parts: Sequence[RowMoments]) -> RowMoments:
    """The moments of the rows of several machines together."""
    n = sum(part.n for part in parts)

    def mean(name: str) -> Array:
        return np.asarray(sum(part.n / n * getattr(part, name) for part in parts))

    return RowMoments(n, mean("second"), mean("cross"), mean("square"))


def sample_moments(
    covariance: Array, vector: Array, sd: float, n: int, repeats: int, rng: np.random.Generator
) -> RowMoments:
    """Draw moments of n rows x ~ N(0, Σ), y = x'β + σw, w ~ N(0, 1), for each of several data sets.

    X'X = RR' is a Wishart matrix, drawn by its triangular factor (Bartlett); given X, X'w = Rz with
    z standard normal, and ‖w‖² = ‖z‖² + χ² with n − d degrees of freedom. Needs n ≥ d.
    """
    size = len(covariance)
    factor = np.tril(rng.standard_normal((repeats, size, size)), -1)
    factor[:, np.arange(size), np.arange(size)] = np.sqrt(
        rng.chisquare(n - np.arange(size), (repeats, size))
    )
    root = np.linalg.cholesky(covariance) @ factor / math.sqrt(n)
    z = rng.standard_normal((repeats, size))
    noise = sd / math.sqrt(n) * (root @ z[..., None])[..., 0]
    rest = rng.chisquare(n - size, repeats) if n > size else 0
    energy = sd**2 / n * ((z**2).sum(axis=1) + rest)
    second = root @ root.swapaxes(1, 2)
    signal = second @ vector
    return RowMoments(n, second, signal + noise, signal @ vector + 2 * noise @ vector + energy)
