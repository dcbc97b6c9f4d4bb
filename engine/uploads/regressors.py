"""Suitability of covariates to explain curves: each varies, and none follows from the others."""

from __future__ import annotations

import numpy as np

from engine.core.errors import InputError
from engine.core.lists import listed
from engine.core.types import Array, PublicFacts

MAX_COVARIATES = 8
"""Each covariate adds a whole curve of coefficients, and noise for it, to every release."""

MAX_CONDITION = 1e6
"""Largest condition number of the regressors' Gram matrix on [−1, 1].

It is a ratio of mean squares, so at the limit some combination of regressors moves by a thousandth
of what the strongest does. A descent would need about a million rounds to see it. Honest bounds
stay far below: a covariate whose standard deviation is a hundredth of its half-range has 10⁴.
"""

_INVOLVED = 0.1  # of a unit vector of weights; with at most 9 regressors one covariate passes


def check_regressors(facts: PublicFacts, covariates: Array) -> None:
    """Refuse covariates (n_curves, d) whose coefficients no estimate could tell apart.

    Looks at all curves at once: what it says is for their holder alone. A curve with a missing one
    says nothing here, as in an estimate.
    """
    names = [covariate.name for covariate in facts.covariates]
    known = np.isfinite(covariates).all(axis=1)
    if names and not known.any():
        raise InputError(
            f"No curve has a number for each of {listed(names, MAX_COVARIATES)}.",
            field="covariates",
            hint="Leave out the one that is missing most.",
        )
    regressors = facts.to_regressors(covariates[known])
    _refuse_constant(names, regressors)
    _refuse_collinear(names, regressors)


def _refuse_constant(names: list[str], regressors: Array) -> None:
    constant = [
        name
        for name, column in zip(names, regressors.T[1:], strict=True)
        if column.min() == column.max()
    ]
    if constant:
        raise InputError(
            f"The same for all curves within what was stated: {listed(constant, MAX_COVARIATES)}.",
            field="covariates",
            hint="What does not vary explains nothing: leave it out, or correct its "
            "stated range from its public source.",
        )


def _refuse_collinear(names: list[str], regressors: Array) -> None:
    strengths, weights = np.linalg.eigh(regressors.T @ regressors / len(regressors))
    weak = strengths * MAX_CONDITION < strengths[-1]
    if not weak.any():
        return
    involved = (np.abs(weights[1:, weak]) > _INVOLVED).any(axis=1)
    weak_names = [name for name, is_involved in zip(names, involved, strict=True) if is_involved]
    raise InputError(
        f"{_follow(weak_names)} (condition number {_condition(strengths)}; at most "
        f"{MAX_CONDITION:,.0f}).",
        field="covariates",
        hint="Leave one of them out."
        if len(weak_names) > 1
        else "Leave it out, or correct its stated range from its public source.",
    )


def _follow(names: list[str]) -> str:
    if len(names) == 1:
        return f"{listed(names)} hardly varies within what was stated"
    return f"Each of {listed(names, MAX_COVARIATES)} follows from the rest"


def _condition(strengths: Array) -> str:
    """Largest over smallest, to two digits; beyond 10¹² the smallest is rounding."""
    condition = strengths[-1] / max(strengths[0], strengths[-1] * 1e-12)
    return f"{float(f'{condition:.2g}'):,.0f}" if condition < 0.99e12 else "above 10¹²"
