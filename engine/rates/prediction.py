"""Rates of a prediction by regularised risk (Lin and Reimherr, arXiv 2309.00125)."""

from __future__ import annotations

from dataclasses import dataclass

from engine.core.registry import param
from engine.core.tasks import RISK_MINIMISATION
from engine.core.types import Array, Data
from engine.mechanisms.base import Mechanism
from engine.mechanisms.iclp import Iclp
from engine.rates import Boundary, Rate, Symbol, Term, border, rates
from engine.rates.powers import Exponent, Powers, constant, symbols
from engine.sources import Source
from engine.sources.labelled_points import LabelledPoints

PRIVACY, PEOPLE, SMOOTHING = "Privacy", "Number of records", "Smoothing"
N = Symbol("n", "Records", 10, 1e7, 1000)
EPSILON = Symbol("epsilon", "Privacy budget", 0.01, 10, 1, "ε")
n, epsilon = symbols("n", "epsilon")


@rates.register
@dataclass(frozen=True, kw_only=True)
class PredictionRate(Rate):
    """Privacy, records and smoothing: ψ^{−k}(nε)^{−2} + ψ^{−1/(ηβ)}/n + ψ, at ψ = n^{−q}.

    The first term is Theorem 18: the noise has a variance of 2 (Mκ/(ψnε))² tr(C^{η−1}) tr(C), so
    that k = 2 where the loss has a fixed slope M, as Huber’s, the logistic and the hinge have. The
    square has M = 2B(1 + κ/√ψ), and k = 3. The paper has no theory of the error without privacy:
    the other two are those of kernel ridge regression for a function in the space of the penalty,
    whose ψ^{−1/(ηβ)} effective coefficients each have a variance of order 1/n.
    """

    key = "prediction"
    label = "Regression function released whole"
    order = 46
    tasks = frozenset({RISK_MINIMISATION.key})
    reference = (
        "Lin and Reimherr (2023), arXiv 2309.00125, Theorem 18 for privacy; Caponnetto "
        "and De Vito (2007) for kernel ridge regression"
    )
    symbols = (N, EPSILON)

    loss: str = param(
        "huber",
        "Loss",
        "Huber: any loss with a fixed slope, of numbers or classes. "
        "Square: its slope grows with what it is applied to, and so does the noise.",
        choices=("huber", "square"),
    )
    decay: float = param(
        0.5,
        "Weight of the penalty",
        "ψ = n^{−q}: larger q smooths less.",
        low=0.05,
        high=1.0,
        symbol="q",
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
        "Smoothness of the function",
        "In powers of the noise kernel. Empty: 1 + 2/β.",
        low=0.5,
        high=50.0,
        symbol="η",
    )

    def in_practice(self) -> tuple[Source[Data], Mechanism]:
        """Numbers around a sine, and their minimiser with Laplace-like noise."""
        return LabelledPoints(), Iclp(task=RISK_MINIMISATION.key, loss=self.loss, eta=self.eta)

    @property
    def cost_power(self) -> int:
        """The exponent k of 1/ψ in the privacy term."""
        return 3 if self.loss == "square" else 2

    @property
    def terms(self) -> tuple[Term, ...]:
        eta = 1 + 2 / self.beta if self.eta is None else self.eta
        coefficients = Exponent(-1 / (eta * self.beta), r"-1/(\eta\beta)")
        return (
            Term(PRIVACY, self._weight**-self.cost_power * (n * epsilon) ** -2, is_private=True),
            Term(PEOPLE, self._weight**coefficients / n, formula=r"\psi^{-1/(\eta\beta)}n^{-1}"),
            Term(SMOOTHING, self._weight),
        )

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        """The ε at which privacy starts to cost as much as smoothing, or as too few records."""
        private, people, smoothing = self.terms
        k = self.cost_power
        return (
            border(
                "smoothing",
                "epsilon",
                private,
                smoothing,
                rf"\varepsilon = n^{{-1}}\psi^{{-{k + 1}/2}}",
            ),
            border(
                "records",
                "epsilon",
                private,
                people,
                rf"\varepsilon = n^{{-1/2}}\psi^{{-{k}/2 + 1/(2\eta\beta)}}",
            ),
        )

    def tuning(self, **point: float | Array) -> dict[str, Array]:
        return {"psi": self._weight.at(self.at(**point))}

    @property
    def _weight(self) -> Powers:
        """The weight ψ."""
        return (constant(1.0) * n**-self.decay).called(r"\psi")
