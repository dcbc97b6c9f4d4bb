"""Rates of whole curves released with Laplace-like noise (Lin and Reimherr, arXiv 2309.00125).

The noise kernel has eigenvalues λ_j = j^{−β}, scaled so that they add up to one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Array, Data
from engine.mechanisms.base import Mechanism
from engine.mechanisms.frl import Frl
from engine.mechanisms.gaussian_process import GaussianProcess
from engine.mechanisms.iclp import Iclp
from engine.rates import Boundary, Condition, Rate, Symbol, Term, rates
from engine.rates.powers import Point, symbols
from engine.sources import Source
from engine.sources.dense_curves import DenseCurves

PRIVACY, PEOPLE, SMOOTHING = "Privacy", "Number of people", "Smoothing"
MECHANISMS = {
    "qr": "quadratic penalty",
    "ar": "absolute penalty",
    "frl": "a few coefficients, equal noise",
    "gp": "quadratic penalty, Gaussian noise",
}

N = Symbol("n", "People", 10, 1e7, 1000)
EPSILON = Symbol("epsilon", "Privacy budget", 0.01, 10, 1, "ε")
DELTA = Symbol("delta", "Slack of the guarantee", 1e-12, 0.1, 0.01, "δ")  # only for "gp"

(n,) = symbols("n")
_BASIS_SIZE = (n ** (1 / 3)).called("M")  # the largest published; not yet a whole number

# a of ψ^{−a/(ηβ)} in the privacy term, as a function of β; for "frl" of M^a
_POWERS: dict[str, dict[str, Callable[[float], float]]] = {
    "qr": {"published": lambda b: b + 2, "tight": lambda b: b + 1, "optimal": lambda b: 2.0},
    "ar": {"published": lambda b: 2 * (b + 2), "tight": lambda b: 2 * (b + 1)},
    "gp": {"tight": lambda b: b},
    "frl": {"published": lambda b: 3.0, "tight": lambda b: 2.0},
}


@rates.register
@dataclass(frozen=True, kw_only=True)
class FunctionalReleaseRate(Rate):
    """Privacy, people and smoothing: c τ² ψ^{−k}/(nε)² + 1/n + ψ.

    With M coefficients ("frl") the last is M^{−ηβ} and ψ^{−k} is M³, or M² with the tight
    sensitivity. "published" are Theorem 14 and Corollary 15 with two constants put right: 8 for the
    absolute penalty, and the trace of the noise kernel (one) for the quadratic one. "tight" has the
    exact sensitivities, and "optimal" the best noise spectrum for the quadratic penalty; both were
    derived for this project.

    The theorem has no rate for Gaussian noise ("gp", Mirshani et al. 2019). Its privacy term is the
    noise variance of the classical Gaussian mechanism, 2 log(2/δ) Δ²/ε², proved for ε ≤ 1, with the
    bound Δ ≤ (2τ/n)(2η−1)^{1−1/(2η)} ψ^{−1/(2η)}/(2η); the other two terms are those of the same
    summary with a quadratic penalty.
    """

    key = "functional_release"
    label = "Curve released whole"
    order = 40
    tasks = frozenset({MEAN_FUNCTION.key})
    reference = "Lin and Reimherr (2023), arXiv 2309.00125, Theorem 14 and Corollary 15"
    symbols = (N, EPSILON, DELTA)
    called = MECHANISMS

    mechanism: str = param(
        "qr",
        "Mechanism",
        "What is released: "
        + ", ".join(f"{name}: {words}" for name, words in MECHANISMS.items())
        + ".",
        choices=tuple(MECHANISMS),
    )
    sensitivity: str = param(
        "tight",
        "Sensitivity",
        "Published: as printed. Tight: exact. Optimal: exact, and the "
        "noise spread over the frequencies in the best way.",
        choices=("tight", "published", "optimal"),
    )
    beta: float = param(
        4.0,
        "Decay of the noise kernel",
        "λ_j falls like j^{−β}; 4 for Matérn 3/2 on an interval.",
        low=1.01,
        high=20.0,
        symbol="β",
    )
    eta: float | None = param(
        None,
        "Smoothness of the summary",
        "In powers of the noise kernel. Empty: the smallest for which the published theorem holds.",
        low=0.5,
        high=50.0,
        symbol="η",
    )
    penalty: str = param(
        "usual",
        "Weight of the penalty",
        "Default: 1/n, but for the quadratic penalty at least "
        "1/(nε²). One over n: 1/n, as in the paper's tables.",
        choices=("usual", "one_over_n"),
    )
    tau: float = param(
        1.0,
        "Largest size of a curve",
        "Larger curves are clipped to it.",
        low=1e-6,
        high=1e6,
        symbol="τ",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        known = _POWERS[self.mechanism]
        if self.sensitivity not in known:
            raise InputError(
                f"“{self.mechanism}” has no “{self.sensitivity}” sensitivity.",
                field="sensitivity",
                hint=f"Choose {' or '.join(known)}.",
            )
        if self.mechanism == "ar" and self.smoothness < 1:
            raise InputError(
                f"η must be at least 1 with the absolute penalty; got {self.eta:g}.", field="eta"
            )

    def in_practice(self) -> tuple[Source[Data], Mechanism]:
        """Dense curves, and the mechanism with this penalty, sensitivity and noise."""
        curves = DenseCurves(mean="mixture")
        tuning: Any = {"constants": self.sensitivity}
        if self.mechanism == "frl":
            return curves, Frl(**tuning)
        tuning |= {"eta": self.eta, "rule": self.penalty}
        if self.mechanism == "gp":
            return curves, GaussianProcess(**tuning)
        return curves, Iclp(penalty="absolute" if self.mechanism == "ar" else "quadratic", **tuning)

    @property
    def smoothness(self) -> float:
        """η: the chosen one, or 1 + 2/β, twice that with the absolute penalty."""
        if self.eta is not None:
            return self.eta
        return (1 + 2 / self.beta) * (2 if self.mechanism == "ar" else 1)

    @property
    def cost_power(self) -> float:
        """k: the privacy term grows like ψ^{−k}; with M = n^{1/3} like n^k."""
        power = _POWERS[self.mechanism][self.sensitivity](self.beta)
        return power / (3 if self.mechanism == "frl" else self.smoothness * self.beta)

    @property
    def smallest_eta(self) -> float:
        """η from which ψ = 1/n keeps the privacy term below the other two at fixed ε."""
        if self.mechanism == "frl":
            return 0.0
        return _POWERS[self.mechanism][self.sensitivity](self.beta) / self.beta

    @property
    def free_privacy(self) -> bool:
        """True if the privacy term is o(1/n) with ψ = 1/n or M = n^{1/3}."""
        return self.cost_power < 1 - 1e-12

    @property
    def terms(self) -> tuple[Term, ...]:
        if self.mechanism == "frl":
            smoothing = Term(
                SMOOTHING, _BASIS_SIZE ** (-self.smoothness * self.beta), formula=r"M^{-\eta\beta}"
            )
        else:
            smoothing = Term(SMOOTHING, self.psi, formula=r"\psi")
        return (
            Term(PRIVACY, self._privacy, is_private=True, formula=self._privacy_formula),
            Term(PEOPLE, n**-1),
            smoothing,
        )

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        """The ε at which privacy starts to cost as much as the number of people."""
        return (
            Boundary(
                "privacy",
                "epsilon",
                (PRIVACY, PEOPLE),
                r"\varepsilon = \tau c^{1/2} n^{(k-1)/2}",
                self._costly_below,
            ),
        )

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Conditions on η, whatever the point, and on ε for Gaussian noise."""
        b, eta = self.beta, self.smoothness
        conditions = [_always("privacy is free, o(1/n)", self._free_formula, self.free_privacy)]
        if self.mechanism == "qr":
            # the sum behind the sensitivity must converge; the noise must have a finite variance
            min_power = {"published": 0.5 + 1 / b, "tight": 0.5 + 1 / (2 * b), "optimal": 1 / b}
            conditions.append(
                _always(
                    "the noise exists",
                    rf"\eta > {min_power[self.sensitivity]:.4g}",
                    eta > min_power[self.sensitivity],
                )
            )
        if self.mechanism == "gp":
            conditions.append(
                Condition(
                    "Gaussian noise as printed",
                    r"\varepsilon \le 1",
                    "epsilon",
                    lambda p: np.ones_like(p["epsilon"], dtype=float),
                )
            )
        return tuple(conditions)

    def tuning(self, **point: float | Array) -> dict[str, Array]:
        """Choose η, and ψ or M with the ends of its published interval, from n, ε and β alone.

        M is a whole number here and n^{1/3} in the rate. J is the first coefficient that the
        absolute penalty removes from every data set. The interval of ψ is empty where its lower
        end exceeds the upper one: for ε < 1 at the smallest published η.
        """
        p = self.at(**point)
        eta = np.full(np.shape(p["n"]), self.smoothness)
        power = self.smoothness * self.beta
        if self.mechanism == "frl":
            return {
                "eta": eta,
                "M": _floor(_BASIS_SIZE.at(p)),
                "M_low": np.maximum(1.0, np.ceil(p["n"] ** (1 / power) - 1e-9)),
                "M_high": _floor(_BASIS_SIZE.at(p)),
            }
        psi = self.psi(p)
        tuning = {"eta": eta, "psi": psi, "psi_high": 1 / p["n"]}
        if self.mechanism != "gp":
            exponent = power / _POWERS[self.mechanism]["published"](self.beta)
            tuning["psi_low"] = (p["n"] * p["epsilon"] ** 2) ** -exponent
        if self.mechanism == "ar":
            tuning["J"] = np.ceil((2 / psi) ** (2 / power) - 1e-9)
        return tuning

    def psi(self, p: Point) -> Array:
        """ψ at a full point: 1/n, or with the quadratic penalty as usual max(1/n, 1/(nε²))."""
        if self._follows_epsilon:
            return np.asarray(np.maximum(1.0, p["epsilon"] ** -2.0) / p["n"])
        return np.asarray(1 / p["n"])

    # -- the parts --------------------------------------------------------------------------

    @property
    def _follows_epsilon(self) -> bool:
        return self.penalty == "usual" and self.mechanism in ("qr", "gp")

    def _privacy(self, p: Point) -> Array:
        growth = (
            p["n"] ** self.cost_power
            if self.mechanism == "frl"
            else (self.psi(p) ** -self.cost_power)
        )
        return np.asarray(self._constant(p) * growth / (p["n"] * p["epsilon"]) ** 2.0)

    def _constant(self, p: Point) -> Array | float:
        """The constant in front of the privacy term, τ² included."""
        eta = self.smoothness
        if self.mechanism == "gp":
            widest = (2 * eta - 1) ** (2 - 1 / eta) / eta**2  # (2 max_j a_j)² without ψ^{−1/η}
            return np.asarray(2 * np.log(2 / p["delta"]) * widest * self.tau**2)
        # the last coefficient kept by the absolute penalty is J = (2/ψ)^{2/(ηβ)}
        return 8 * self.tau**2 * (2**self.cost_power if self.mechanism == "ar" else 1)

    def _costly_below(self, p: Point) -> Array:
        """Solve c τ² ψ^{−k} = nε²: at ψ = 1/n, or below ε = 1 at 1/(nε²) if usual.

        The second has a root only for k < 1; 0 where privacy never costs more.
        """
        size = np.asarray(self._constant(p) * p["n"] ** (self.cost_power - 1.0))
        if not self._follows_epsilon:
            return np.sqrt(size)
        below = size ** (0.5 / (1 - self.cost_power)) if self.free_privacy else np.zeros_like(size)
        return np.where(size >= 1, np.sqrt(size), below)

    @property
    def _privacy_formula(self) -> str:
        if self.mechanism == "gp":
            return (
                r"2\log(2/\delta)\,\tau^2 (2\eta-1)^{2-1/\eta}\eta^{-2}"
                r"\psi^{-1/\eta}(n\varepsilon)^{-2}"
            )
        growth = {
            "qr": {
                "published": r"\psi^{-(\beta+2)/(\eta\beta)}",
                "tight": r"\psi^{-(\beta+1)/(\eta\beta)}",
                "optimal": r"\psi^{-2/(\eta\beta)}",
            },
            "ar": {"published": r"J^{\beta+2}", "tight": r"J^{\beta+1}"},
            "frl": {"published": "M^3", "tight": "M^2"},
        }[self.mechanism][self.sensitivity]
        return rf"8\tau^2 {growth} (n\varepsilon)^{{-2}}"

    @property
    def _free_formula(self) -> str:
        return "k < 1" if self.mechanism == "frl" else rf"\eta > {self.smallest_eta:.4g}"


def _always(name: str, formula: str, holds: bool) -> Condition:
    """A condition on parameters alone, in the form of a limit on n that is ∞ or 0."""
    limit = np.inf if holds else 0.0
    return Condition(name, formula, "n", lambda p: np.full(np.shape(p["n"]), limit))


def _floor(size: Array) -> Array:
    return np.floor(size + 1e-9)  # the cube root of 1000 is 9.999… in floating point
