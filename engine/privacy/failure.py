"""The one rule for δ: 1/n² for n people in all unless another one is chosen, and when it is large.

Below 200 people the usual δ is 1/(200 n): a twentieth of the usual total δ of a tenth of 1/n, so
that releases that nobody chose a δ for fit into that total, whoever asks: page, command or call.

A mechanism may publish one whole record with chance δ n and still be (ε, δ)-private, so δ must be
far below 1/n. Two limits are marked: a hundred-thousandth, which is common practice, and a tenth of
1/n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

LARGEST_COMMON = 1e-5
_ENOUGH = 200  # people, from whom 1/n² is the smaller
_OF_THE_TOTAL = 1 / 20  # for one release; see `engine.privacy.filters`
_OF_ONE_IN_N = 0.1
_ROUNDING = 1 + 1e-9


def usual_delta(n_people: int) -> float:
    """The δ that nobody chose: 1/n² for n people in all, and at most 1/(200 n).

    Examples
    --------
    >>> usual_delta(1000)
    1e-06
    """
    n = max(n_people, 1)
    return min(1.0 / n**2, _OF_THE_TOTAL * large_delta(n))


def large_delta(n_people: int) -> float:
    """A tenth of 1/n: any δ above it is large, of one release or of many together.

    Examples
    --------
    >>> large_delta(1000)
    0.0001
    """
    return _OF_ONE_IN_N / n_people


@dataclass(frozen=True)
class Delta:
    """Probability by which the limit set by ε may be exceeded, and its origin."""

    value: float
    n_people: int
    is_chosen: bool = False

    @classmethod
    def of(cls, value: float, n_people: int) -> Delta:
        """Read the δ of a budget with nothing else known: chosen, unless it is the usual one.

        Examples
        --------
        >>> Delta.of(1e-6, 1000).is_chosen, Delta.of(5e-4, 1000).is_chosen
        (False, True)
        """
        is_usual = math.isclose(value, usual_delta(n_people), rel_tol=_ROUNDING - 1)
        return cls(value, n_people, not is_usual)

    @property
    def rule(self) -> str:
        """Rule by which the usual δ follows from n."""
        return "1/n²" if self.n_people >= _ENOUGH else "1/(200 n)"

    @property
    def is_above_common(self) -> bool:
        return self.value > LARGEST_COMMON * _ROUNDING

    @property
    def is_near_one_in_n(self) -> bool:
        """True if it exceeds a tenth of 1/n."""
        return self.value > large_delta(self.n_people) * _ROUNDING

    @property
    def is_large(self) -> bool:
        """True if it is to be marked."""
        return self.is_above_common or self.is_near_one_in_n


def delta_rule(n_people: int, stated: float | None = None, is_pure: bool = False) -> Delta:
    """δ of a scenario: 0 where the method never needs one, else the stated one, else 1/n².

    A stated δ is taken as it is. A control takes none of 1/n or more; a link may hold one, made for
    fewer people: then pictures are drawn with it, marked in amber (`Delta.is_large`), and a release
    refuses it (`engine.release.certified`).
    """
    if is_pure:
        return Delta(0.0, n_people)
    if stated is None:
        return Delta(usual_delta(n_people), n_people)
    return Delta(stated, n_people, is_chosen=True)
