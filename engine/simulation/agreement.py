"""Does an estimate agree with what it should be? One rule for slopes, coverage and other rates.

Every estimate comes with a 95 % confidence interval, and that interval alone decides: where it
leaves out the target they differ; where it contains the target and reaches no farther from it than
a stated tolerance they agree; where it contains the target and reaches farther, the estimate is
too imprecise to tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from scipy.special import betaincinv

from engine.core.bands import LEVEL, NORMAL

COVERAGE_TOLERANCE = 0.04  # coverage within 91 to 99 % is said to agree with 95 %
_TAIL = (1 - LEVEL) / 2


class AgreementVerdict(StrEnum):
    """The conclusion of a 95 % confidence interval about a target."""

    AGREES = "agrees"
    ABOVE = "above"
    BELOW = "below"
    IMPRECISE = "too imprecise to tell"


@dataclass(frozen=True)
class Agreement:
    """An estimate, its 95 % confidence interval, and what it should be.

    Examples
    --------
    >>> Agreement.normal(-0.48, 0.02, target=-0.5, tolerance=0.1).verdict
    <AgreementVerdict.AGREES: 'agrees'>
    """

    estimate: float  # a slope, a share, or whatever was measured
    # low, high: ends of its 95 % confidence interval
    low: float
    high: float
    target: float  # what it should be, in the same unit
    tolerance: float  # how far from the target the interval may reach where both are said to agree

    @classmethod
    def normal(
        cls, estimate: float, standard_error: float, target: float, tolerance: float
    ) -> Agreement:
        """Judge an estimate that is close to normal; the interval is ± 1.96 standard errors."""
        half = NORMAL * standard_error
        return cls(estimate, estimate - half, estimate + half, target, tolerance)

    @classmethod
    def coverage(cls, covered: int, n: int) -> Agreement:
        """Judge the number of 95 % bands that contained the truth in n independent repetitions."""
        return cls(covered / n, *clopper_pearson(covered, n), LEVEL, COVERAGE_TOLERANCE)

    @property
    def half_width(self) -> float:
        """The larger part of the interval, on one side of the estimate."""
        return max(self.high - self.estimate, self.estimate - self.low)

    @property
    def verdict(self) -> AgreementVerdict:
        """The conclusion of the interval about the target; see the module."""
        if self.low > self.target:
            return AgreementVerdict.ABOVE
        if self.high < self.target:
            return AgreementVerdict.BELOW
        farthest = max(self.high - self.target, self.target - self.low)
        return AgreementVerdict.AGREES if farthest <= self.tolerance else AgreementVerdict.IMPRECISE


def clopper_pearson(count: int, n: int) -> tuple[float, float]:
    """Compute the exact 95 % confidence interval for the probability behind `count` of n cases.

    References
    ----------
    C. J. Clopper, E. S. Pearson (1934). The use of confidence or fiducial limits illustrated in
    the case of the binomial. Biometrika 26.

    Examples
    --------
    >>> low, high = clopper_pearson(19, 20)
    >>> f"{low:.3f} to {high:.3f}"
    '0.751 to 0.999'
    """
    low = float(betaincinv(count, n - count + 1, _TAIL)) if count else 0.0
    high = float(betaincinv(count + 1, n - count, 1 - _TAIL)) if count < n else 1.0
    return low, high
