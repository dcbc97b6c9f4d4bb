"""A sparse mean from noisy averages of a few coordinates of each machine."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from engine.core.enumerations import NoiseLaw
from engine.core.types import Array, PublicFacts, Sizes, Step, Unit
from engine.mechanisms import mechanisms
from engine.mechanisms.families.untrusted_means import AnswerPlan, UntrustedMean, bound
from engine.noise.laplace import laplace


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class SparseMeanLaplace(UntrustedMean):
    """Each machine sends averages of its own rows, for k coordinates, with Laplace noise.

    Numbers are clipped to ±B, B = max|μ| + σ √(2 log 2N), both stated. Machine i with n rows
    sends, for each of its k coordinates, the average plus Lap(2Bk/(nε)). The server averages what
    it hears for each coordinate, weights being inverse to variances, and keeps the s largest.

    *How many coordinates.* More of them mean more averages for each coordinate, m k/d, and more
    noise in each. The error s d σ²/(m k n) + 8 B² s d k/(m n² ε²) is least at
    k = √n ε σ/(√8 B), held to [1, d] and rounded, and k m ≥ d.

    Notes
    -----
    *Unit of protection.* One row: neighbouring data replace one row of one machine. A machine as a
    whole, with n rows, is protected with nε only. Sizes are public.

    *Privacy.* A number clipped to ±B moves by at most 2B when its row is replaced, so an average
    of n moves by at most 2B/n, and each of the machine's k averages does. Noise Lap(2Bk/(nε))
    makes each (ε/k)-DP, all k together ε-DP. What is no number counts as 0. δ = 0.

    References
    ----------
    Derived for this project, to show that hiding a row costs less than the lower bound printed as
    Theorem 1 of Zhang, Nakada and Zhang (2024), arXiv 2404.16287; see `rates.sparse_regression`.

    Examples
    --------
    >>> from engine.sources.sparse_means import SparseMeans
    >>> from engine.core.types import Budget
    >>> source = SparseMeans()
    >>> plan = SparseMeanLaplace().plan(source.public, (Budget(1.0),))
    >>> plan.per_machine
    1
    """

    key = "sparse_mean_laplace"
    label = "A few noisy averages from each machine"
    order = 10
    dash, marker = "8px,3px", "diamond"
    protects = Unit.ROW
    noise_law = NoiseLaw.LAPLACE
    step = Step("averages")
    why = (
        "Protected is one row: replacing it moves each average by at most its sensitivity. A "
        "machine with n rows is protected as a whole with nε only."
    )
    reference = "clipped averages with Laplace noise; derived for this project"
    formula = (
        r"\hat\mu_j = \sum_i w_{ij}\big(\overline{x_{ij}} + "
        r"\tfrac{2Bk}{n_i\varepsilon} L_{ij}\big),\qquad L_{ij} \sim \mathrm{Lap}(1)"
    )

    def usual_per_machine(self, sizes: Sizes, epsilon: float, facts: PublicFacts) -> int:
        """The k of the least error at the average number of rows, enough to ask for everything."""
        size, rows = sizes.n_covariates, sizes.n_curves / sizes.n_servers
        best = math.sqrt(rows / 8) * epsilon * facts.reading_sd / bound(sizes, facts)
        return max(1, math.ceil(size / sizes.n_servers), round(min(best, size)))

    def sensitivity(self, plan: AnswerPlan) -> Array:
        """2B/n: the most that one row moves an average of every machine: (m,)."""
        return np.asarray(2 * plan.bound / plan.rows)

    def scale(self, plan: AnswerPlan) -> Array:
        """Scale of the Laplace noise of every machine: (m,)."""
        return np.asarray(self.sensitivity(plan) / plan.epsilon)

    def standard(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        return laplace(shape, rng)

    def private(self, answers: Array, plan: AnswerPlan, standard: Array) -> Array:
        return answers + self.scale(plan)[:, None] * standard

    def noise_sd(self, plan: AnswerPlan) -> Array:
        return math.sqrt(2) * self.scale(plan)

    def variance(self, plan: AnswerPlan) -> Array:
        return plan.sd**2 / plan.rows + self.noise_variance(plan)

    def noise_variance(self, plan: AnswerPlan) -> Array:
        return 2 * self.scale(plan) ** 2
