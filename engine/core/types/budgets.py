"""A privacy budget."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from engine.core.errors import InputError, brief
from engine.core.typed import check_fields, checked_record

MIN_EPSILON, MAX_EPSILON = 1e-12, 1e12


@checked_record
@dataclass(frozen=True, slots=True)
class Budget:
    """One privacy budget (ε, δ).

    Parameters
    ----------
    epsilon : float
        ε > 0; ∞ means no protection.

    Raises
    ------
    InputError
        If ε is not positive, is finite and outside [1e-12, 1e12], beyond which squares and
        exponentials leave floating point, or if δ is outside [0, 1).

    Examples
    --------
    >>> Budget(1.0, 1e-6).is_pure, Budget(1.0).is_pure, NON_PRIVATE.is_private
    (False, True, False)
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.epsilon > 0:
            raise InputError(
                f"ε must be positive; got {brief(self.epsilon)}.",
                field="epsilon",
                hint="Common values lie between 0.05 and 10.",
            )
        if not MIN_EPSILON <= self.epsilon <= MAX_EPSILON and self.epsilon != math.inf:
            raise InputError(
                f"ε must lie between {MIN_EPSILON:g} and {MAX_EPSILON:g}; got "
                f"{brief(self.epsilon)}.",
                field="epsilon",
                hint="Common values lie between 0.05 and 10.",
            )
        if not 0 <= self.delta < 1:
            raise InputError(
                f"δ must lie between 0 and 1; got {brief(self.delta)}.",
                field="delta",
                hint="Choose δ below 1/n, for example 1/n².",
            )

    @classmethod
    def covering(cls, epsilon: float, delta: float = 0.0) -> Budget:
        """The smallest budget that promises no more than what was proved.

        Parameters
        ----------
        epsilon : float
            ε ≥ 0 that was proved, of any size.

        Returns
        -------
        Budget
            With ε rounded up where no budget can state it: to 1e-12 below that, to ∞ above 1e12.

        Examples
        --------
        >>> Budget.covering(3e12).epsilon, Budget.covering(0.0).epsilon
        (inf, 1e-12)
        """
        return cls(math.inf if epsilon > MAX_EPSILON else max(epsilon, MIN_EPSILON), delta)

    @classmethod
    def covering_all(cls, budgets: Iterable[Budget]) -> Budget:
        """The budget that holds for whoever has one of several: the largest ε, the largest δ.

        Whatever is (ε, δ)-private is so for any larger ε and δ.

        Parameters
        ----------
        budgets : iterable of Budget
            One at least.

        Examples
        --------
        >>> Budget.covering_all([Budget(2.0), Budget(1.0, 1e-6)])
        Budget(epsilon=2.0, delta=1e-06)
        """
        listed = list(budgets)
        return cls(max(budget.epsilon for budget in listed), max(budget.delta for budget in listed))

    @property
    def is_private(self) -> bool:
        return math.isfinite(self.epsilon)

    @property
    def is_pure(self) -> bool:
        return self.delta == 0


NON_PRIVATE = Budget(math.inf)
