"""A sparse mean from one bit, or a few, of each machine: randomised response to signs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfinv, expit

from engine.core.enumerations import NoiseLaw
from engine.core.types import Array, PublicFacts, Sizes, Step, Unit
from engine.mechanisms import mechanisms
from engine.mechanisms.families.untrusted_means import AnswerPlan, UntrustedMean

CAP = 0.999  # of an average of signs, where the inverse of the error function grows without limit


@mechanisms.register
@dataclass(frozen=True, kw_only=True)
class SparseMeanSigns(UntrustedMean):
    """Each machine says, not always truly, whether its own means are above zero.

    Machine i averages its n rows. For each of its l coordinates it reports the sign of the average,
    turned round with chance 1/(1 + e^{ε/l}). The server averages what it hears for coordinate j,
    multiplies by (e^{ε/l} + 1)/(e^{ε/l} − 1), which makes the result v_j unbiased for
    erf(√(n/2) μ_j/σ), keeps the s largest |v_j|, holds them to ±0.999 and inverts:
    μ_j = σ √(2/n) erf⁻¹(v_j). Usually l = max(1, ⌊ε⌋).

    Notes
    -----
    *Unit of protection.* A whole machine: neighbouring data replace all rows of one machine by
    others. That is more than hiding one row.

    *Privacy.* A reported bit b has chance e^{ε/l}/(1 + e^{ε/l}) or 1/(1 + e^{ε/l}), whatever the
    rows are, so that two data sets give any bit with odds at most e^{ε/l}, and l independent bits
    with odds at most e^ε. Nothing else leaves the machine; δ = 0. Sizes are public.

    *What it cannot do.* Averages of n rows scatter by σ/√n. Where |μ_j| is much larger, all
    machines have the same sign, and how large μ_j is cannot be told: estimates end at
    σ √(2/n) erf⁻¹(0.999) = 3.29 σ/√n. The paper's error bound takes erf⁻¹
    for Lipschitz, which it is not near ±1; it holds for |μ_j| √n of order 1.

    Where machines have unequal numbers of rows, each uses as many as the smallest has.

    References
    ----------
    Zhang, Nakada and Zhang (2024), arXiv 2404.16287, appendix A.2, read as hiding whole machines;
    randomised response: Warner (1965).
    """

    key = "sparse_mean_signs"
    label = "One bit from each machine"
    order = 20
    dash, marker = "2px,3px", "diamond-open"
    protects = Unit.MACHINE
    noise_law = NoiseLaw.BITS
    step = Step("signs")
    why = (
        "Protected are all rows of a machine together: whatever they are, each bit is turned "
        "round with the same chance."
    )
    reference = "Zhang, Nakada and Zhang (2024), arXiv 2404.16287, appendix A.2; Warner (1965)"
    formula = (
        r"\hat\mu_j = \sigma\sqrt{2/n}\;\mathrm{erf}^{-1}\Big("
        r"\frac{e^{\varepsilon/l}+1}{e^{\varepsilon/l}-1}\,\overline{B_j}\Big)"
    )

    def usual_per_machine(self, sizes: Sizes, epsilon: float, facts: PublicFacts) -> int:
        """One bit for each whole unit of ε: max(1, ⌊ε⌋), at most d."""
        return max(1, int(min(epsilon, sizes.n_covariates)))

    def rows_used(self, per_machine: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.full_like(per_machine, per_machine.min())

    def answers(self, means: Array) -> Array:
        return np.where(means > 0, 1.0, -1.0)

    def standard(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        return rng.random(shape)

    def private(self, answers: Array, plan: AnswerPlan, standard: Array) -> Array:
        """Signs, each turned round with its chance."""
        turned = standard < self.turn_chance(plan)[:, None]
        return np.where(turned, -answers, answers)

    def turn_chance(self, plan: AnswerPlan) -> Array:
        """The chance 1/(1 + e^{ε/l}) that a bit is turned round, for every machine: (m,)."""
        return np.asarray(expit(-plan.epsilon))

    def noise_sd(self, plan: AnswerPlan) -> Array:
        chance = self.turn_chance(plan)
        return np.asarray(2 * np.sqrt(chance * (1 - chance)))

    def gain(self, plan: AnswerPlan) -> Array:
        """(e^{ε/l} + 1)/(e^{ε/l} − 1): (m,)."""
        return np.asarray(1 / np.tanh(plan.epsilon / 2))

    def variance(self, plan: AnswerPlan) -> Array:
        return self.gain(plan) ** 2

    def noise_variance(self, plan: AnswerPlan) -> Array:
        return self.gain(plan) ** 2 - 1

    def means(self, averages: Array, plan: AnswerPlan) -> Array:
        clipped = np.clip(averages, -CAP, CAP)
        return np.asarray(plan.sd * np.sqrt(2 / plan.rows[0]) * erfinv(clipped))

    def slope(self, plan: AnswerPlan) -> float:
        """σ √(π/(2n)), as erf⁻¹ has slope √π/2 at 0."""
        return plan.sd * math.sqrt(math.pi / (2 * float(plan.rows[0])))

    def sensitivity(self, plan: AnswerPlan) -> Array:
        """2: a sign changes from −1 to 1 or back."""
        return np.full(len(plan.rows), 2.0)

    def scale(self, plan: AnswerPlan) -> Array:
        return self.noise_sd(plan)
