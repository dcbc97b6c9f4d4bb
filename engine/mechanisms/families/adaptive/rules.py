"""Rules shared by our own estimators: the public scale, numbers of functions and the ledger.

They all learn the size of deviations before they spend most of the budget; see
`engine.mechanisms.families.adaptive.location` for the releases and their proofs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from engine.core.enumerations import NoiseLaw
from engine.core.types import Array, Budget, Composition, PublicFacts, Sizes, Spend, Step, Unit
from engine.mechanisms.families.adaptive.checked_facts import FACTS, FAR
from engine.mechanisms.families.adaptive.constants import DETAIL
from engine.privacy import accounting
from engine.privacy.feasibility import Feasibility

NOTHING = Step("nothing")


def effective_size(sizes: Sizes, budgets: tuple[Budget, ...], by_people: bool = False) -> float:
    """N = √Σ (n_s μ_s)²: what sizes and budgets are worth together; μ = ε/4 where δ = 0.

    Where sites count by their people N = n/√Σ μ_s⁻², n being the people of all sites: the same
    where sites have equal sizes and budgets, and else less.

    Examples
    --------
    >>> round(effective_size(Sizes((100, 100), 2000, 10), (Budget(1.0, 1e-3),) * 2), 1)
    54.9
    """
    if by_people:
        return sizes.n_curves / math.hypot(*(1 / mu_of(budget) for budget in budgets))
    return math.sqrt(
        sum(
            (n * mu_of(budget)) ** 2
            for n, budget in zip(sizes.n_curves_per_server, budgets, strict=True)
        )
    )


def public_scale(size: int, sizes: Sizes) -> Array:
    """u_l = √(1/m + l⁻³), how far r curves deviate in each coefficient, in unit scale: (r,)."""
    order = np.arange(1.0, size + 1)
    return np.sqrt(1 / max(sizes.fewest_per_curve, 1) + order**-3)


def basis_size(
    sizes: Sizes,
    effective: float,
    max_size: int,
    facts: PublicFacts | None = None,
    factor: float = DETAIL,
) -> int:
    """Choose r where the noise of a k⁻² tail equals the tail, at most what sampling supports.

    With `facts`, r is at most the number of common times.
    """
    if facts is not None and facts.common_times:
        max_size = min(max_size, len(facts.common_times))
    n, m = sizes.n_curves, max(sizes.fewest_per_curve, 1)
    by_noise = factor * math.sqrt(min(effective, 1e6) * math.sqrt(m))
    by_sampling: float = (n * m) ** 0.25
    return max(1, min(max_size, round(by_noise), math.ceil(1.25 * by_sampling) + 3))


def mu_of(budget: Budget) -> float:
    """μ of a budget; where δ = 0, ε/4, which rules for sizes take in its place."""
    if budget.is_private and budget.is_pure:
        return budget.epsilon / 4
    return accounting.exact_mu(budget.epsilon, budget.delta)


def ledger(
    sizes: Sizes,
    budgets: tuple[Budget, ...],
    verdict: Feasibility,
    releases: Sequence[tuple[Step, float]],
) -> tuple[Spend, ...]:
    """Write a line for each site and release, or one for each site that says nothing is spent.

    Each release comes with its share of μ², or of ε where δ = 0.
    """
    if not verdict.is_feasible:
        return nothing_spent(budgets)
    return tuple(
        _spend(step, share, s, budget, n)
        for s, (budget, n) in enumerate(zip(budgets, sizes.n_curves_per_server, strict=True))
        for step, share in releases
    )


def nothing_spent(budgets: tuple[Budget, ...], unit: Unit = Unit.CURVE) -> tuple[Spend, ...]:
    """The ledger where nothing useful could be released."""
    why = f"Too few {unit}s for this budget: nothing is released and nothing is spent."
    return tuple(
        Spend(
            step=NOTHING,
            server=s,
            mu=0.0,
            sensitivity=(0.0,),
            noise_scale=(0.0,),
            count=1,
            composition=Composition.SEQUENTIAL,
            budget=budget,
            unit=unit,
            norm="ℓ2",
            noise=NoiseLaw.NONE,
            why=why,
        )
        for s, budget in enumerate(budgets)
    )


def is_nothing_spent(spends: Sequence[Spend]) -> bool:
    """True if a ledger says that nothing was released."""
    return all(spend.step.key == NOTHING.key for spend in spends)


def _spend(step: Step, share: float, server: int, budget: Budget, n: int) -> Spend:
    """One line; sensitivity and noise are in units of the ellipsoid that deviations are clipped to.

    With Δ the sensitivity that the step states, they are Δ/n and Δ/(n μ_k).
    """
    assert step.sensitivity is not None
    sensitivity = step.sensitivity / n
    units = (
        "shares of observations or people"
        if step.key in (FACTS.key, FAR.key)
        else "units of the radius that curves are clipped to"
    )
    why = (
        "All curves take part in every release; squares of μ add up to the total, whatever the "
        f"releases were. Shifts and noise are in {units}."
    )
    if budget.is_private and budget.is_pure:
        epsilon = share * budget.epsilon
        norm, law = ("ℓ1", NoiseLaw.LAPLACE) if step.key == FACTS.key else ("ℓ2", NoiseLaw.NORM)
        return Spend(
            step=step,
            server=server,
            mu=None,
            epsilon=epsilon,
            sensitivity=(sensitivity,),
            noise_scale=(sensitivity / epsilon,),
            count=1,
            composition=Composition.SEQUENTIAL,
            budget=budget,
            why=why.replace("squares of μ", "the ε"),
            unit=Unit.CURVE,
            norm=norm,
            noise=law,
        )
    mu = math.sqrt(share) * accounting.exact_mu(budget.epsilon, budget.delta)
    return Spend(
        step=step,
        server=server,
        mu=mu,
        sensitivity=(sensitivity,),
        noise_scale=(sensitivity / mu,),
        count=1,
        composition=Composition.SEQUENTIAL,
        budget=budget,
        why=why,
        unit=Unit.CURVE,
        norm="ℓ2",
        noise=NoiseLaw.GAUSSIAN,
    )
