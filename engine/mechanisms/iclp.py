"""Whole functions with a Laplace-like process as noise (Lin and Reimherr, arXiv 2309.00125)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.registry import param
from engine.core.tasks import MEAN_FUNCTION, RISK_MINIMISATION
from engine.core.types import Array
from engine.mechanisms import mechanisms
from engine.mechanisms.families.functional.kernel_release import PenalisedRelease
from engine.mechanisms.summaries.parts import Linear, Smoothing, Soft
from engine.mechanisms.summaries.selection import Selection

THEOREM_8_EXCESS = math.sqrt(2)  # its printed scale gives √2 ε


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class Iclp(Selection, PenalisedRelease):
    """θ̃_j = θ_j + Lap(b_j), b_j = √λ_j Δ/ε, Δ = sup Σ |θ_j − θ'_j|/√λ_j: pure ε-privacy.

    The noise is a path of a process whose coefficients in the eigenfunctions of the kernel are
    independent Laplace variables. θ is the average c with a penalty on its smoothness:
    "quadratic" θ_j = c_j λ_j^η/(λ_j^η + ψ); "absolute" θ_j = sgn(c_j) max(|c_j| − T_j, 0) with
    T_j = ψ/(2 λ_j^{η/2}), for the mean of curves.

    "optimal" noise has scales b_j ∝ √s_j instead: the least total for the filter s, whatever the
    kernel. The scale printed in Theorem 8 spends √2 ε; it is never used.

    *Spaces.* Laws of h + noise and of noise have densities to each other where h is in the
    Cameron–Martin space, Σ h_j²/λ_j finite (Theorem 5). Pure privacy asks for Σ |h_j|/√λ_j finite
    (Theorems 6 and 7), which Σ h_j²/λ_j^η and tr(C^{η−1}) finite ensure for η > 1. Where the kernel
    is Hölder on a compact range, as all Matérn and Gaussian kernels are, the process has continuous
    paths (Theorem 9): values at single points are post-processing.

    See `engine.mechanisms.families.functional.release` for what is protected and why.

    Examples
    --------
    >>> from engine.core.random_streams import generator
    >>> from engine.sources.dense_curves import DenseCurves
    >>> from engine.core.types import Budget
    >>> data = DenseCurves(n_curves=100).draw(1, generator(1, 0, 0))
    >>> estimate = Iclp().release(data, (Budget(1.0),), generator(1, 1, 0))
    >>> [round(float(line.epsilon), 9) for line in estimate.spends[0]]
    [1.0]
    """

    key = "iclp"
    label = "Laplace-like process (ICLP)"
    order = 60
    dash, marker = "10px,2px", "square"
    attains: ClassVar[Mapping[str, float]] = {RISK_MINIMISATION.key: 0.75}
    reference = "Lin and Reimherr (2023), arXiv 2309.00125, Algorithm 1 and section 5"
    formula = (
        r"\tilde f = \sum_j \Big(s_j c_j + \tfrac{\Delta}{\varepsilon}\sqrt{\lambda_j}\,"
        r"L_j\Big)\phi_j,\qquad L_j \sim \mathrm{Lap}(1)"
    )

    penalty: str = param(
        "quadratic",
        "Penalty",
        "Quadratic: shrinks every coefficient. Absolute: sets small ones to zero; for means only.",
        choices=("quadratic", "absolute"),
        only_for=(MEAN_FUNCTION.key,),
    )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return ((cls.label, {}), ("ICLP, absolute penalty", {"penalty": "absolute"}))

    @classmethod
    def serves(cls, task: str, settings: dict[str, Any]) -> bool:
        return _PENALTIES[settings.get("penalty", "quadratic")].serves(task)

    def check_task(self) -> None:
        """Refuse what the absolute penalty is not made for."""
        super().check_task()
        if not self._penalty.serves(self.task):
            raise InputError(
                "The absolute penalty is made for the mean of curves.",
                field="penalty",
                hint="Choose the quadratic penalty.",
            )
        if self.power < self._penalty.least_power:
            raise InputError(
                f"η must be at least 1 with the absolute penalty; got {self.eta:g}.", field="eta"
            )

    @property
    def has_least_power(self) -> bool:
        """True if the η from which the sensitivity is finite without a grid is known."""
        return self._penalty is _PENALTIES["quadratic"]

    @property
    def power(self) -> float:
        default = self._penalty.usual_powers if self.eta is None else 1
        return default * super().power

    def weight(self, n: float, effective: float) -> float:
        if self.penalty_weight is None and not self._penalty.counts_noise:
            return 1 / n
        return super().weight(n, effective)

    def smoothings(
        self, eigenvalues: Array, n: float, effective: float, order: NDArray[np.int64] | None = None
    ) -> tuple[Smoothing, ...]:
        return tuple(
            self._penalty.smoothing(eigenvalues**self.power, psi)
            for psi in self.candidates(self.weight(n, effective))
        )

    @property
    def _penalty(self) -> _Penalty:
        return _PENALTIES[self.penalty]


@dataclass(frozen=True)
class _Penalty:
    """A penalty on the smoothness of a function."""

    smoothing: Callable[[Array, float], Smoothing]  # from λ^η (r,) and ψ what it does to averages.
    tasks: frozenset[str] | None = None
    usual_powers: int = 1
    least_power: float = 0.0
    counts_noise: bool = True

    def serves(self, task: str) -> bool:
        return self.tasks is None or task in self.tasks


_PENALTIES = {
    "quadratic": _Penalty(lambda powers, psi: Linear(powers / (powers + psi))),
    "absolute": _Penalty(
        lambda powers, psi: Soft(psi / (2 * np.sqrt(powers))),
        frozenset({MEAN_FUNCTION.key}),
        usual_powers=2,
        least_power=1.0,
        counts_noise=False,
    ),
}
