"""Can these sizes and this budget give anything useful? Decided before any data are read.

`verdict` joins that with what the band of a release lets one read.

The one number that decides is N, the number of curves times the Gaussian-DP parameter μ of the
budget (over several sites, √Σ (n_s μ_s)²), for each function that is estimated. With covariates
that is for covariates spread evenly over their ranges; how they are spread only a release can show.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine.core.types import Budget
from engine.privacy import accounting

NOT_FEASIBLE, COARSE, USABLE, GOOD = 12.0, 35.0, 100.0, 300.0  # below each of them


@dataclass(frozen=True)
class Feasibility:
    """The verdict for one effective size N.

    A model with covariates has `n_functions` above 1 and needs N ≥ 35 for each of them, because
    their effects are told apart before they are measured.

    Examples
    --------
    >>> Feasibility(50.0).verdict
    'usable'
    >>> Feasibility(20.0).verdict, Feasibility(20.0).curves_needed(100)
    ('coarse', 175)
    """

    effective_size: float  # N = √Σ (n_s μ_s)² over sites
    n_functions: int = 1

    @property
    def per_function(self) -> float:
        return self.effective_size / self.n_functions

    @property
    def verdict(self) -> str:
        """Verdict: "not feasible", "coarse", "usable", "good" or "nearly free"."""
        if not self.is_feasible:
            return "not feasible"
        for limit, word in ((COARSE, "coarse"), (USABLE, "usable"), (GOOD, "good")):
            if self.per_function < limit:
                return word
        return "nearly free"

    @property
    def min_per_function(self) -> float:
        """N needed for each function so that anything is released."""
        return NOT_FEASIBLE if self.n_functions == 1 else COARSE

    @property
    def is_feasible(self) -> bool:
        return self.per_function >= self.min_per_function

    @property
    def shortfall(self) -> float:
        """Factor by which n μ must grow for a result worth having.

        First until anything is released, then until it is more than coarse.
        """
        aim = self.min_per_function if not self.is_feasible else COARSE
        return aim / self.per_function

    def curves_needed(self, n_curves: int) -> int:
        """Count the curves that make up the shortfall at the same budget."""
        return math.ceil(n_curves * self.shortfall)

    def epsilon_needed(self, budget: Budget) -> float:
        """The ε that makes up the shortfall with the same curves and δ, if all sites have it."""
        factor = self.shortfall
        if budget.is_pure:
            return budget.epsilon * factor
        mu = accounting.exact_mu(budget.epsilon, budget.delta)
        return accounting.exact_epsilon(mu * factor, budget.delta)


WIDE = 0.25  # of the stated range: a band that wide shows hardly more than a level


def verdict(
    feasibility: Feasibility | None,
    wide: float = 0.0,
    is_flat: bool = False,
    is_unreliable: bool = False,
    is_tested: bool = True,
) -> str | None:
    """Grade what can be read from a curve: the one verdict of pages, previews and files.

    As `Feasibility.verdict`, but "usable" at most if facts were not tested; "doubtful" if the band
    cannot be relied on, and "coarse" if it tells no more than a level; None if nothing is known.
    `wide` is the average width of the band as a share of the stated range, 0 without a band.

    Examples
    --------
    >>> verdict(Feasibility(500.0)), verdict(Feasibility(500.0), is_flat=True), verdict(None, 0.3)
    ('nearly free', 'coarse', 'coarse')
    >>> verdict(Feasibility(500.0), is_flat=True, is_unreliable=True)
    'doubtful'
    """
    if feasibility is not None and not feasibility.is_feasible:
        return feasibility.verdict
    if is_unreliable:
        return "doubtful"
    if wide >= WIDE or is_flat:
        return "coarse"
    if feasibility is None:
        return None
    is_better = feasibility.verdict in ("good", "nearly free")
    return "usable" if is_better and not is_tested else feasibility.verdict


MAX_NOISE, COARSE_NOISE, USABLE_NOISE, GOOD_NOISE = 0.10, 0.05, 0.02, 0.005  # of a share


@dataclass(frozen=True)
class CountFeasibility(Feasibility):
    """The verdict for a curve of shares; `effective_size` is nε of the smallest group.

    s = √(τ²(m + 1)/6)/n is the root mean square of the noise in a cumulative share of n people,
    over all prefixes of m cells whose total is known, with noise of variance τ² in each.

    Examples
    --------
    >>> verdict = CountFeasibility(228.0, noise=0.02003)
    >>> verdict.verdict, CountFeasibility(20.0, noise=0.2).curves_needed(100)
    ('usable', 200)
    """

    noise: float = 0.0  # s

    @property
    def verdict(self) -> str:
        """Verdict: "not feasible", "coarse", "usable", "good" or "nearly free"."""
        for limit, word in (
            (MAX_NOISE, "not feasible"),
            (COARSE_NOISE, "coarse"),
            (USABLE_NOISE, "usable"),
            (GOOD_NOISE, "good"),
        ):
            if self.noise > limit:
                return word
        return "nearly free"

    @property
    def is_feasible(self) -> bool:
        return self.noise <= MAX_NOISE

    @property
    def shortfall(self) -> float:
        """Factor by which nε must grow, roughly: first until anything is released."""
        return self.noise / (COARSE_NOISE if self.is_feasible else MAX_NOISE)

    def epsilon_needed(self, budget: Budget) -> float:
        return budget.epsilon * self.shortfall
