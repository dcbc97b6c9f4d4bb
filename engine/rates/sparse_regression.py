"""Rates of sparse regression and of sparse means on many machines.

After Zhang, Nakada and Zhang (2024), arXiv 2404.16287. Constants are one and the noise of the
response has variance one. One row of one machine is protected unless it is said that a whole
machine is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.rates import Boundary, Condition, Point, Rate, Symbol, Term, rates
from engine.registry import param
from engine.tasks import SPARSE_MEAN, SPARSE_REGRESSION
from engine.types import Array

ROWS, PRIVACY = "Number of rows", "Privacy"
SHARED_ROWS, SHARED_PRIVACY = "Rows, shared part", "Privacy, shared part"
OWN_ROWS, OWN_PRIVACY = "Rows, own part", "Privacy, own part"
ONE_BIT, CEILING = "Privacy, one bit per machine", "One machine without privacy"
EXACT, NOISY = "Number of rows asked", "Privacy, one row"

N = Symbol("n", "Rows on each machine", 10, 1e7, 20_000)
S = Symbol("S", "Machines", 1, 1e6, 10)
D = Symbol("d", "Features", 2, 1e5, 100)
SPARSITY = Symbol("s", "Features that matter", 1, 1000, 5)
SHARED = Symbol("s0", "Features that matter everywhere", 1, 1000, 5, "s_0")
OWN = Symbol("s1", "Features that matter on one machine", 1, 1000, 2, "s_1")
EPSILON = Symbol("epsilon", "Protection", 0.01, 10, 1, "ε")
DELTA = Symbol("delta", "Chance the limit fails", 1e-12, 1e-3, 1e-6, "δ")


def _rows(s: Array, rows: Array, p: Point) -> Array:
    """Q(s, N) = s log d / N: the error without privacy."""
    return np.asarray(s * np.log(p["d"]) / rows)


def _noise(s: Array, rows: Array, p: Point) -> Array:
    """H(s, N) = s² log²d log(1/δ) log³N / (Nε)²: what privacy adds."""
    return np.asarray((s * np.log(p["d"])) ** 2.0 * np.log(1 / p["delta"]) * np.log(rows) ** 3.0
                      / (rows * p["epsilon"]) ** 2.0)


def _crossover(s: Array, rows: Array, p: Point) -> Array:
    """The ε at which H = Q."""
    return np.sqrt(s * np.log(p["d"]) * np.log(1 / p["delta"]) * np.log(rows) ** 3.0 / rows)


def _pooled(p: Point) -> Array:
    return np.asarray(p["S"] * p["n"])


def _crossover_formula(s: str, rows: str) -> str:
    return rf"\varepsilon = ({s}\log d\,\log(1/\delta)\log^3({rows})/({rows}))^{{1/2}}"


def _noise_formula(s: str, rows: str) -> str:
    return rf"{s}^2\log^2 d\,\log(1/\delta)\log^3({rows})\,({rows}\varepsilon)^{{-2}}"


@rates.register
@dataclass(frozen=True, kw_only=True)
class TrustedServerRate(Rate):
    """Machines send exact sums and noise is added once, by the server: Q(s, Sn) + H(s, Sn)."""

    key = "sparse_regression"
    label = "Sparse regression, trusted server"
    order = 50
    tasks = frozenset({SPARSE_REGRESSION.key})
    reference = "Zhang, Nakada and Zhang (2024), arXiv 2404.16287, Theorem 3"
    symbols = (N, S, D, SPARSITY, EPSILON, DELTA)

    @property
    def terms(self) -> tuple[Term, ...]:
        return (Term(ROWS, r"s\log d\,(Sn)^{-1}", lambda p: _rows(p["s"], _pooled(p), p)),
                Term(PRIVACY, _noise_formula("s", "Sn"),
                     lambda p: _noise(p["s"], _pooled(p), p), is_private=True))

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        return (Boundary("crossover", "epsilon", (PRIVACY, ROWS), _crossover_formula("s", "Sn"),
                         lambda p: _crossover(p["s"], _pooled(p), p)),)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Enough rows for Theorem 3, and what the intervals of Theorems 4 and 5 ask besides."""
        return (
            Condition("Theorem 3", r"s^{3/2}\log d\,(\log(1/\delta)\,2\log(Sn))^{1/2}\log n"
                      r"\le n\varepsilon", "s", self._most_features),
            Condition("intervals, Theorems 4 and 5", r"s\log d \le (Sn)^{1/2}", "s",
                      lambda p: np.sqrt(_pooled(p)) / np.log(p["d"])),
            Condition("intervals, Theorem 5", _noise_formula("s", "Sn") + r"\le 1", "s",
                      lambda p: _most_unbiased(_pooled(p), p)),
            Condition("short intervals, Theorem 4", r"H(s, Sn) \le Q(s, Sn),\; s^2\log^2 d\,"
                      r"\log(1.25/\delta)\log^3(Sn) \le Sn\varepsilon^2", "s",
                      _most_for_short_intervals))

    def _most_features(self, p: Point) -> Array:
        logs = (np.log(p["d"]) * np.sqrt(2 * np.log(1 / p["delta"]) * np.log(_pooled(p)))
                * np.log(p["n"]))
        return np.asarray((p["n"] * p["epsilon"] / logs) ** (2 / 3))


def _most_for_short_intervals(p: Point) -> Array:
    """The s up to which privacy adds less than rows do: to coefficients, and to their limits."""
    rows = _pooled(p)
    alike = (p["epsilon"] / _crossover(np.ones(()), rows, p)) ** 2
    logs = np.log(p["d"]) * np.sqrt(np.log(1.25 / p["delta"]) * np.log(rows) ** 3.0)
    return np.asarray(np.minimum(alike, np.sqrt(rows) * p["epsilon"] / logs))


def _most_unbiased(rows: Array, p: Point) -> Array:
    """The s at which H(s, N) = 1, the bound of the bias that is left in intervals."""
    return np.asarray(_noise(np.ones(()), rows, p) ** -0.5)


@rates.register
@dataclass(frozen=True, kw_only=True)
class UntrustedServerRate(Rate):
    """A sparse mean when every message of a machine must be private, with δ = 0.

    "machine": one message hides all rows of its machine, and sends one bit. This is the printed
    rate, min(s/n, sd/(Snε²)). It is right for whole machines and for n = 1; the paper states it
    for single rows, where it is not a lower bound. "row": one row is hidden. What a clipped mean
    of k coordinates per machine with Laplace noise attains, sd/(Skn) + 8B²sdk/(Sn²ε²), at the
    best k between 1 and d and without logarithms; derived for this project.
    """

    key = "sparse_mean_untrusted"
    label = "Sparse mean, untrusted server"
    order = 51
    tasks = frozenset({SPARSE_MEAN.key})
    reference = ("Zhang, Nakada and Zhang (2024), arXiv 2404.16287, Theorems 1 and 2, read as "
                 "hiding a whole machine; what hides a row was derived for this project")
    symbols = (N, S, D, SPARSITY, EPSILON)

    hidden: str = param("row", "What is hidden", "Row: one row of one machine. Machine: all rows "
                        "of a machine, by one bit.", choices=("row", "machine"))
    bound: float = param(4.0, "Largest value", "Values beyond it are moved to it.",
                         low=1e-6, high=1e6, symbol="B")

    @property
    def terms(self) -> tuple[Term, ...]:
        if self.hidden == "machine":
            return (Term(ONE_BIT, r"sd\,(Sn\varepsilon^2)^{-1}",
                         lambda p: _one_coordinate(p) / p["epsilon"] ** 2.0, is_private=True),)
        return (Term(EXACT, r"sd\,(Skn)^{-1}",
                     lambda p: _one_coordinate(p) / self._coordinates(p)),
                Term(NOISY, r"8B^2sdk\,(Sn^2\varepsilon^2)^{-1}",
                     lambda p: _one_coordinate(p) * self._coordinates(p)
                     / self._unlimited(p) ** 2.0, is_private=True))

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        """Where s/n takes over; or where k reaches 1 and d. Between the last two both terms tie."""
        if self.hidden == "machine":
            return (Boundary("ceiling", "epsilon", (CEILING, ONE_BIT),
                             r"\varepsilon = (d/S)^{1/2}", lambda p: np.sqrt(p["d"] / p["S"])),)

        def at(k: Array, p: Point) -> Array:
            return np.asarray(np.sqrt(8) * self.bound * k / np.sqrt(p["n"]))

        return (Boundary("one coordinate", "epsilon", (NOISY, EXACT),
                         r"\varepsilon = 8^{1/2}B n^{-1/2}", lambda p: at(np.ones(()), p)),
                Boundary("every coordinate", "epsilon", (NOISY, EXACT),
                         r"\varepsilon = 8^{1/2}Bd n^{-1/2}", lambda p: at(p["d"], p)))

    @property
    def conditions(self) -> tuple[Condition, ...]:
        if self.hidden == "row":
            return ()
        return (Condition("lower bound for single rows too", r"n\varepsilon^2 \le 1", "epsilon",
                          lambda p: p["n"] ** -0.5),
                Condition("every coordinate is asked", r"d \le S", "d", lambda p: p["S"]))

    def total(self, **point: float | Array) -> Array:
        """The sum of the terms; for whole machines at most s/n."""
        p = self.at(**point)
        summed = super().total(**p)
        return np.minimum(summed, p["s"] / p["n"]) if self.hidden == "machine" else summed

    def tuning(self, **point: float | Array) -> dict[str, Array]:
        """k, the coordinates that each machine sends; not rounded."""
        p = self.at(**point)
        return {"coordinates": self._coordinates(p)} if self.hidden == "row" else {}

    def _unlimited(self, p: Point) -> Array:
        """n^{1/2} ε / (8^{1/2} B), the k at which the two terms tie."""
        return np.asarray(np.sqrt(p["n"]) * p["epsilon"] / (np.sqrt(8) * self.bound))

    def _coordinates(self, p: Point) -> Array:
        return np.clip(self._unlimited(p), 1.0, p["d"])


def _one_coordinate(p: Point) -> Array:
    """sd/(Sn): the error without privacy when each machine sends one coordinate."""
    return np.asarray(p["s"] * p["d"] / _pooled(p))


@rates.register
@dataclass(frozen=True, kw_only=True)
class TrustedMeanRate(Rate):
    """A sparse mean when a trusted server pools all rows and adds noise once; a row is hidden.

    What trust is worth: the number of features enters through its logarithm alone. Derived for
    this project from noisy selection on the pooled mean.
    """

    key = "sparse_mean_trusted"
    label = "Sparse mean, trusted server"
    order = 52
    tasks = frozenset({SPARSE_MEAN.key})
    reference = "noisy selection on the pooled mean; derived for this project"
    symbols = (N, S, D, SPARSITY, EPSILON, DELTA)

    @property
    def terms(self) -> tuple[Term, ...]:
        return (Term(ROWS, r"s\log d\,(Sn)^{-1}", lambda p: _rows(p["s"], _pooled(p), p)),
                Term(PRIVACY, r"s^2\log^2 d\,\log(1/\delta)\,(Sn\varepsilon)^{-2}", _pooled_noise,
                     is_private=True))

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        return (Boundary("crossover", "epsilon", (PRIVACY, ROWS),
                         r"\varepsilon = (s\log d\,\log(1/\delta)/(Sn))^{1/2}",
                         lambda p: np.sqrt(p["s"] * np.log(p["d"]) * np.log(1 / p["delta"])
                                           / _pooled(p))),)


def _pooled_noise(p: Point) -> Array:
    return np.asarray((p["s"] * np.log(p["d"])) ** 2.0 * np.log(1 / p["delta"])
                      / (_pooled(p) * p["epsilon"]) ** 2.0)


@rates.register
@dataclass(frozen=True, kw_only=True)
class DifferingMachinesRate(Rate):
    """A part shared by all machines and a part of one's own.

    Q(s₀, Sn) + H(s₀, Sn) + Q(s₁, n) + H(s₁, n) for the coefficients of one machine, with log²d
    (the paper once prints log d²). Its rows take part in both steps, so that the two budgets
    (ε, δ) behind the formula add. The limit of machines that are alike is s₁/s₀ → 0, which the
    paper prints upside down.
    """

    key = "sparse_regression_differing"
    label = "Sparse regression, machines that differ"
    order = 53
    tasks = frozenset({SPARSE_REGRESSION.key})
    reference = "Zhang, Nakada and Zhang (2024), arXiv 2404.16287, Theorem 7"
    symbols = (N, S, D, SHARED, OWN, EPSILON, DELTA)

    @property
    def terms(self) -> tuple[Term, ...]:
        return (
            Term(SHARED_ROWS, r"s_0\log d\,(Sn)^{-1}", lambda p: _rows(p["s0"], _pooled(p), p)),
            Term(SHARED_PRIVACY, _noise_formula("s_0", "Sn"),
                 lambda p: _noise(p["s0"], _pooled(p), p), is_private=True),
            Term(OWN_ROWS, r"s_1\log d\,n^{-1}", lambda p: _rows(p["s1"], p["n"], p)),
            Term(OWN_PRIVACY, _noise_formula("s_1", "n"), lambda p: _noise(p["s1"], p["n"], p),
                 is_private=True))

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        """Where privacy costs as much as rows, in each part; where the own part takes over."""
        return (
            Boundary("shared crossover", "epsilon", (SHARED_PRIVACY, SHARED_ROWS),
                     _crossover_formula("s_0", "Sn"),
                     lambda p: _crossover(p["s0"], _pooled(p), p)),
            Boundary("own crossover", "epsilon", (OWN_PRIVACY, OWN_ROWS),
                     _crossover_formula("s_1", "n"), lambda p: _crossover(p["s1"], p["n"], p)),
            Boundary("own rows", "s1", (SHARED_ROWS, OWN_ROWS), r"s_1 = s_0/S",
                     lambda p: p["s0"] / p["S"]),
            Boundary("own privacy", "s1", (SHARED_PRIVACY, OWN_PRIVACY),
                     r"s_1 = s_0 S^{-1}(\log(Sn)/\log n)^{3/2}",
                     lambda p: p["s0"] / p["S"] * (np.log(_pooled(p)) / np.log(p["n"])) ** 1.5))

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What intervals for one machine ask (Theorem 8): s₀ + s₁ features, and little bias."""
        return (Condition("intervals, Theorem 8", r"(s_0+s_1)\log d \le n^{1/2},\;"
                          + _noise_formula("s_1", "n") + r"\le 1", "s1",
                          lambda p: np.minimum(np.sqrt(p["n"]) / np.log(p["d"]) - p["s0"],
                                               _most_unbiased(p["n"], p))),
                Condition("intervals, Theorem 8", _noise_formula("s_0", "Sn") + r"\le 1", "s0",
                          lambda p: _most_unbiased(_pooled(p), p)))
