"""Rates of sparse regression and of sparse means on many machines.

After Zhang, Nakada and Zhang (2024), arXiv 2404.16287. Constants are one and the noise of the
response has variance one. One row of one machine is protected unless it is said that a whole
machine is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.core.registry import param
from engine.core.tasks import SPARSE_MEAN, SPARSE_REGRESSION
from engine.core.types import Array
from engine.mechanisms.sparse_mean_laplace import SparseMeanLaplace
from engine.mechanisms.sparse_mean_signs import SparseMeanSigns
from engine.mechanisms.sparse_mean_trusted import SparseMeanTrusted
from engine.mechanisms.sparse_regression import SparseRegression
from engine.rates import Boundary, Condition, Rate, Symbol, Term, border, rates
from engine.rates.powers import Point, Powers, constant, log, symbols
from engine.rates.trusted import ByTrust, Custody, Trust, TrustedRate
from engine.sources.sparse_means import SparseMeans
from engine.sources.sparse_rows import SparseRows

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
EPSILON = Symbol("epsilon", "Privacy budget", 0.01, 10, 1, "ε")
DELTA = Symbol("delta", "Slack of the guarantee", 1e-12, 1e-3, 1e-6, "δ")


n, machines, d, epsilon, delta = symbols("n", "S", "d", "epsilon", "delta")
features, shared, unshared = symbols("s", "s0", "s1")
_POOLED = machines * n
_LOG_FEATURES, _LOG_CHANCE = log(d).called(r"\log d"), log(delta**-1).called(r"\log(1/\delta)")


def _rows(s: Powers, rows: Powers) -> Powers:
    """Q(s, N) = s log d / N: the error without privacy."""
    return (s * _LOG_FEATURES / rows).called(rf"{s.formula}\log d\,{(rows**-1).formula}")


def _noise(s: Powers, rows: Powers) -> Powers:
    """H(s, N) = s² log²d log(1/δ) log³N / (Nε)²: what privacy adds."""
    return ((s * _LOG_FEATURES) ** 2 * _LOG_CHANCE * log(rows) ** 3 / (rows * epsilon) ** 2).called(
        _noise_formula(s, rows)
    )


def _noise_formula(s: Powers, rows: Powers) -> str:
    return (
        rf"{s.formula}^2\log^2 d\,\log(1/\delta)\log^3({rows.formula})\,"
        rf"({rows.formula}\varepsilon)^{{-2}}"
    )


def _crossover(key: str, private: Term, free: Term, s: Powers, rows: Powers) -> Boundary:
    """The ε at which H = Q."""
    return border(
        key,
        "epsilon",
        private,
        free,
        rf"\varepsilon = ({s.formula}\log d\,"
        rf"\log(1/\delta)\log^3({rows.formula})/({rows.formula}))^{{1/2}}",
    )


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

    def by_trust(self) -> ByTrust:
        """One trusted server alone: no estimator is known for the other two."""
        kinds = (
            TrustedRate(Trust.CENTRAL, self, SparseRegression(), Custody.POOLED),
            *(
                TrustedRate(trust, UntrustedServerRate(), None, custody, _NOT_REGRESSION)
                for trust, custody in (
                    (Trust.FEDERATED, Custody.SITES),
                    (Trust.LOCAL, Custody.DEVICES),
                )
            ),
            TrustedRate(Trust.NONE, self, SparseRegression(), Custody.POOLED),
        )
        source = SparseRows(n_curves=40_000, n_servers=10, n_features=20)
        return ByTrust(kinds, source, 2.0, 0.5)

    @property
    def terms(self) -> tuple[Term, ...]:
        return (
            Term(ROWS, _rows(features, _POOLED)),
            Term(PRIVACY, _noise(features, _POOLED), is_private=True),
        )

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        free, private = self.terms
        return (_crossover("crossover", private, free, features, _POOLED),)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Enough rows for Theorem 3, and what the intervals of Theorems 4 and 5 ask besides."""
        return (
            Condition(
                "Theorem 3",
                r"s^{3/2}\log d\,(\log(1/\delta)\,2\log(Sn))^{1/2}\log n"
                r"\le n\varepsilon",
                "s",
                self._most_features,
            ),
            Condition(
                "intervals, Theorems 4 and 5",
                r"s\log d \le (Sn)^{1/2}",
                "s",
                (_POOLED**0.5 / _LOG_FEATURES).at,
            ),
            Condition(
                "intervals, Theorem 5",
                _noise_formula(features, _POOLED) + r"\le 1",
                "s",
                _most_unbiased(_POOLED),
            ),
            Condition(
                "short intervals, Theorem 4",
                r"H(s, Sn) \le Q(s, Sn),\; s^2\log^2 d\,"
                r"\log(1.25/\delta)\log^3(Sn) \le Sn\varepsilon^2",
                "s",
                _most_for_short_intervals,
            ),
        )

    def _most_features(self, p: Point) -> Array:
        logs = (
            np.log(p["d"])
            * np.sqrt(2 * np.log(1 / p["delta"]) * np.log(p["S"] * p["n"]))
            * np.log(p["n"])
        )
        return np.asarray((p["n"] * p["epsilon"] / logs) ** (2 / 3))


def _most_for_short_intervals(p: Point) -> Array:
    """The s up to which privacy adds less than rows do: to coefficients, and to their limits."""
    alike = _noise(features, _POOLED).equals(_rows(features, _POOLED), "s").at(p)
    rows = _POOLED.at(p)
    logs = np.log(p["d"]) * np.sqrt(np.log(1.25 / p["delta"]) * np.log(rows) ** 3.0)
    return np.asarray(np.minimum(alike, np.sqrt(rows) * p["epsilon"] / logs))


def _most_unbiased(rows: Powers) -> Callable[[Point], Array]:
    """The s at which H(s, N) = 1, the bound of the bias that is left in intervals."""
    return _noise(features, rows).equals(constant(1.0), "s").at


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
    reference = (
        "Zhang, Nakada and Zhang (2024), arXiv 2404.16287, Theorems 1 and 2, read as "
        "hiding a whole machine; what hides a row was derived for this project"
    )
    symbols = (N, S, D, SPARSITY, EPSILON)

    hidden: str = param(
        "row",
        "What is hidden",
        "Row: one row of one machine. Machine: all rows of a machine, by one bit.",
        choices=("row", "machine"),
    )
    bound: float = param(
        4.0, "Largest value", "Values beyond it are moved to it.", low=1e-6, high=1e6, symbol="B"
    )

    def by_trust(self) -> ByTrust:
        return _MEANS

    @property
    def terms(self) -> tuple[Term, ...]:
        if self.hidden == "machine":
            return (
                Term(
                    ONE_BIT,
                    _ONE_COORDINATE / epsilon**2,
                    is_private=True,
                    formula=r"sd\,(Sn\varepsilon^2)^{-1}",
                ),
            )
        return (
            Term(
                EXACT,
                lambda p: _ONE_COORDINATE.at(p) / self._coordinates(p),
                formula=r"sd\,(Skn)^{-1}",
            ),
            Term(
                NOISY,
                lambda p: (
                    _ONE_COORDINATE.at(p) * self._coordinates(p) / self._unlimited.at(p) ** 2.0
                ),
                is_private=True,
                formula=r"8B^2sdk\,(Sn^2\varepsilon^2)^{-1}",
            ),
        )

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        """Points where s/n takes over, or k reaches 1 and d. Between these two both terms tie."""
        if self.hidden == "machine":
            return (
                border(
                    "ceiling",
                    "epsilon",
                    Term(CEILING, features / n),
                    self.terms[0],
                    r"\varepsilon = (d/S)^{1/2}",
                ),
            )
        return (
            Boundary(
                "one coordinate",
                "epsilon",
                (NOISY, EXACT),
                r"\varepsilon = 8^{1/2}B n^{-1/2}",
                self._unlimited.equals(constant(1.0), "epsilon").at,
            ),
            Boundary(
                "every coordinate",
                "epsilon",
                (NOISY, EXACT),
                r"\varepsilon = 8^{1/2}Bd n^{-1/2}",
                self._unlimited.equals(d, "epsilon").at,
            ),
        )

    @property
    def conditions(self) -> tuple[Condition, ...]:
        if self.hidden == "row":
            return ()
        return (
            Condition(
                "lower bound for single rows too",
                r"n\varepsilon^2 \le 1",
                "epsilon",
                lambda p: p["n"] ** -0.5,
            ),
            Condition("every coordinate is asked", r"d \le S", "d", lambda p: p["S"]),
        )

    def total(self, **point: float | Array) -> Array:
        """The sum of the terms; for whole machines at most s/n."""
        p = self.at(**point)
        summed = super().total(**p)
        return np.minimum(summed, p["s"] / p["n"]) if self.hidden == "machine" else summed

    def tuning(self, **point: float | Array) -> dict[str, Array]:
        """k, the coordinates that each machine sends; not rounded."""
        p = self.at(**point)
        return {"coordinates": self._coordinates(p)} if self.hidden == "row" else {}

    @property
    def _unlimited(self) -> Powers:
        """n^{1/2} ε / (8^{1/2} B), the k at which the two terms tie."""
        return n**0.5 * epsilon / constant(np.sqrt(8) * self.bound)

    def _coordinates(self, p: Point) -> Array:
        return np.clip(self._unlimited.at(p), 1.0, p["d"])


_NOT_REGRESSION = (
    "No estimator of regression coefficients is known here. Theorem 1 says what sparse means cost, "
    "which are no harder: *Sparse mean* under *Problem* measures them."
)
_ONE_COORDINATE = features * d / _POOLED  # the error without privacy of one coordinate a machine


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

    def by_trust(self) -> ByTrust:
        return _MEANS

    @property
    def terms(self) -> tuple[Term, ...]:
        noise = (features * _LOG_FEATURES) ** 2 * _LOG_CHANCE / (_POOLED * epsilon) ** 2
        return (
            Term(ROWS, _rows(features, _POOLED)),
            Term(
                PRIVACY,
                noise,
                is_private=True,
                formula=r"s^2\log^2 d\,\log(1/\delta)\,(Sn\varepsilon)^{-2}",
            ),
        )

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        free, private = self.terms
        return (
            border(
                "crossover",
                "epsilon",
                private,
                free,
                r"\varepsilon = (s\log d\,\log(1/\delta)/(Sn))^{1/2}",
            ),
        )


_MEANS = ByTrust(
    (
        TrustedRate(Trust.CENTRAL, TrustedMeanRate(), SparseMeanTrusted(), Custody.POOLED),
        TrustedRate(Trust.FEDERATED, UntrustedServerRate(), SparseMeanLaplace()),
        TrustedRate(
            Trust.LOCAL, UntrustedServerRate(hidden="machine"), SparseMeanSigns(), Custody.DEVICES
        ),
        TrustedRate(Trust.NONE, TrustedMeanRate(), SparseMeanTrusted(), Custody.POOLED),
    ),
    SparseMeans(n_curves=2_400, n_servers=60, n_features=20),
    epsilon=2.0,
    lowest_epsilon=0.5,
)


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
            Term(SHARED_ROWS, _rows(shared, _POOLED)),
            Term(SHARED_PRIVACY, _noise(shared, _POOLED), is_private=True),
            Term(OWN_ROWS, _rows(unshared, n)),
            Term(OWN_PRIVACY, _noise(unshared, n), is_private=True),
        )

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        """Points where privacy costs as much as rows, in each part, and the own part takes over."""
        shared_rows, shared_privacy, own_rows, own_privacy = self.terms
        return (
            _crossover("shared crossover", shared_privacy, shared_rows, shared, _POOLED),
            _crossover("own crossover", own_privacy, own_rows, unshared, n),
            border("own rows", "s1", shared_rows, own_rows, r"s_1 = s_0/S"),
            border(
                "own privacy",
                "s1",
                shared_privacy,
                own_privacy,
                r"s_1 = s_0 S^{-1}(\log(Sn)/\log n)^{3/2}",
            ),
        )

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Conditions of intervals for one machine (Theorem 8): s₀ + s₁ features, little bias."""
        return (
            Condition(
                "intervals, Theorem 8",
                r"(s_0+s_1)\log d \le n^{1/2},\;" + _noise_formula(unshared, n) + r"\le 1",
                "s1",
                lambda p: np.minimum(
                    np.sqrt(p["n"]) / np.log(p["d"]) - p["s0"], _most_unbiased(n)(p)
                ),
            ),
            Condition(
                "intervals, Theorem 8",
                _noise_formula(shared, _POOLED) + r"\le 1",
                "s0",
                _most_unbiased(_POOLED),
            ),
        )
