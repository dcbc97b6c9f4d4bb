"""What is audited of each mechanism: settings on small data, and how much of a claim is attained.

A mechanism that is not named here is audited with its usual settings, and must attain its claim to
95 %. Budgets do not matter for ratios; where only large ones let a few records be released at all,
a large one is taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from engine.mechanisms import Mechanism
from engine.privacy import accounting
from engine.tasks import COVARIANCE, DENSITY, MEAN_FUNCTION, RISK_MINIMISATION, VARYING_COEFFICIENTS
from engine.types import Budget

ATTAINED = 0.95
_USUAL = Budget(1.0, 1e-3)
_FEWEST_PAIRS = 40  # at a time
_FEW_SUFFICE = 4.0  # up to this ε of a case its few records do; others need as much for a release
_ONE_NUMBER = ("The proof lets a change of second moments fall on one number alone; those that one "
               "person can make fall on two at least.")
_SEVERAL_STEPS = ("A row that is worst for the Gram matrix is not worst for averages, residuals, "
                  "or the choice of features.")
_WHOLE_ROWS = ("The proof lets all chosen entries of a row be at their clip; with the few features "
               "here the norm that rows are held to allows fewer.")
_A_BOUND = ("The proof bounds how far a minimiser moves, not where to: it allows the direction "
            "that the noise hides least, in which no single record was found to move it.")
_LINES = "Each step has its own worst curve; a few random ones come near all of them."


@dataclass(frozen=True)
class Case:
    """A mechanism as it is set and the budget it gets on the small data of its family.

    `attains` is the least share of the claim that must be found, and `why` what keeps it from
    being 0.95. `chunk` pairs are tried at a time. Each record of the small data is there `copies`
    times.
    """

    mechanism: Any
    budget: Budget = _USUAL
    attains: float = ATTAINED
    why: str = ""
    chunk: int = 400
    copies: int = 1

    def at(self, budget: Budget) -> Case:
        """The same at another budget; where few records would release nothing, with more."""
        if self.budget.epsilon <= _FEW_SUFFICE:
            return replace(self, budget=budget)
        copies = max(1, math.ceil(_precision(self.budget) / _precision(budget)))
        chunk = max(_FEWEST_PAIRS, self.chunk // math.isqrt(copies))
        return replace(self, budget=budget, copies=copies, chunk=min(chunk, self.chunk))


def _precision(budget: Budget) -> float:
    """What noise falls with: μ, or ε where δ = 0."""
    return budget.epsilon if budget.is_pure else accounting.exact_mu(budget.epsilon, budget.delta)


def cases_of(cls: type[Mechanism]) -> tuple[Case, ...]:
    """Everything that is audited of one class of mechanisms."""
    if cls.family == "functional":
        return tuple(_whole(cls, task) for task in sorted(cls.tasks) if task in _WHOLE)
    if cls.key in _SETTINGS:
        return tuple(Case(cls(**chosen), budget, **more)
                     for chosen, budget, more in _SETTINGS[cls.key])
    return (Case(cls()),)


def case_like(mechanism: Mechanism) -> Case:
    """The first case of this kind, with the mechanism as it is set."""
    task = getattr(mechanism, "task", None)
    found = cases_of(type(mechanism))
    same = [case for case in found if getattr(case.mechanism, "task", None) == task] or found
    first = same[0]
    return replace(first, mechanism=mechanism)


def _whole(cls: Any, task: str) -> Case:
    chosen, more = _WHOLE[task]
    more = {**more, **_LOOSE.get((cls.key, task), {})}
    return Case(cls(task=task, **chosen), Budget(0.8, 1e-3), **more)


_WHOLE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    MEAN_FUNCTION.key: ({}, {}),
    DENSITY.key: ({}, {"chunk": 1000}),
    COVARIANCE.key: ({}, {}),
    VARYING_COEFFICIENTS.key: ({}, {"chunk": 200}),
    RISK_MINIMISATION.key: ({"grid_size": 30, "risk_weight": 1.0}, {"chunk": 60}),
}
_LOOSE: dict[tuple[str, str], dict[str, Any]] = {
    ("gaussian_process", COVARIANCE.key): {"attains": 0.94, "why": _ONE_NUMBER},
    ("gaussian_process", RISK_MINIMISATION.key): {"attains": 0.9, "why": _A_BOUND},
    ("iclp", RISK_MINIMISATION.key): {"attains": 0.75, "why": _A_BOUND},
    ("bernstein", RISK_MINIMISATION.key): {"attains": 0.55, "why": _A_BOUND},
}
_FEW = {"truncation": 3, "n_iterations": 3}
_FEW_CHOSEN = {"sparsity": 2, "rounds": 3}
_AT_ONCE = {"level": 4, "clip": 3.0, "radius": 1e-3}
_AMPLE = Budget(2000.0, 1e-3)  # at which noise does not decide how averages are whitened
_SOME = {"attains": 0.6, "why": _SEVERAL_STEPS}
_BY_ITEM, _BY_PERSON = ("central_item", "local_item", "site"), ("central_user", "local_user")
_SETTINGS: dict[str, list[tuple[dict[str, Any], Budget, dict[str, Any]]]] = {
    "noisy_gradient_mean": [(_FEW, _USUAL, {}), ({**_FEW, "scheme": "split"}, _USUAL, {})],
    "noisy_gradient_coefficients": [(_FEW, _USUAL, {})],
    "adaptive_mean": [({"truncation": 3}, Budget(40.0, 1e-3), {}),
                      ({"truncation": 3}, Budget(40.0), {"attains": 0.9, "why": _LINES})],
    "adaptive_coefficients": [({"truncation": 2}, Budget(400.0, 1e-3), {})],
    "wavelet_global": [(_AT_ONCE, Budget(200.0, 1e-5), {}),
                       ({**_AT_ONCE, "edges": "corrected"}, Budget(200.0, 1e-5), {})],
    "wavelet_pointwise": [(_AT_ONCE, Budget(200.0, 1e-5), {}),
                          ({**_AT_ONCE, "noise": "curve"}, Budget(200.0, 1e-5), {})],
    "sparse_regression": [(_FEW_CHOSEN, _USUAL, {}), ({}, Budget(1.0, 1e-6), {"chunk": 120})],
    "sparse_newton": [({"sparsity": 2, "pilot": "moments"}, _AMPLE, _SOME),
                      ({"pilot": "thresholding", "rounds": 3}, _AMPLE, _SOME)],
    "sparse_inference": [(chosen, _AMPLE, _SOME) for chosen in (
        {"pilot": "moments"}, {**_FEW_CHOSEN, "features": "1", "directions": "column"})],
    "sparse_heterogeneous": [({"n_shared": 2, "n_own": 1, "rounds": 3}, _USUAL,
                              {"attains": 0.75, "why": _WHOLE_ROWS})],
    "sparse_mean_trusted": [({}, Budget(0.8, 1e-3), {}), ({}, Budget(0.8), {})],
    "univariate_mean": [
        *(({"setting": setting}, Budget(0.8), {}) for setting in _BY_ITEM),
        *(({"setting": setting}, Budget(0.8), {"chunk": 40}) for setting in _BY_PERSON),
        *(({"setting": setting, "person_spread": 5.0}, Budget(0.8), {"chunk": 40})
          for setting in _BY_PERSON)],  # who differ so much that no vote is held
}
