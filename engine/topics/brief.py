"""A view in a dozen facts, however it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from engine.core.types import Budget, PublicFacts, Spend
from engine.language import numbers
from engine.language.grammar import capital


@dataclass(frozen=True, kw_only=True)
class Brief:
    """Facts of a view: its strip, its pin and the memo of pins are made of them."""

    facts: PublicFacts
    people: int  # over all sites
    protects: str  # what is protected, as a chip says it: "One child’s whole curve"
    method: str
    budget: Budget  # requested for everybody, whichever the site
    budgets: str  # those of all sites, in words
    spends: Sequence[Spend] = field(repr=False)
    error: float  # NaN where nothing would be published, or no truth is known
    within: float  # 95 % of releases stay within it
    error_unit: str = ""
    largest_part: tuple[str, float] | None = None  # of the squared error: its name and share

    @property
    def error_in_words(self) -> str:
        """The error with its 95 % value; "" where there is none."""
        return numbers.error(self.error, self.error_unit, self.within)

    @property
    def cause_in_words(self) -> str:
        """The largest part of the squared error; "" where the parts are not known."""
        if self.largest_part is None:
            return ""
        name, share = self.largest_part
        return f"{capital(name)} is {numbers.percent(share)} of the squared error"


def largest_part(names: Sequence[str], shares: ArrayLike | None) -> tuple[str, float] | None:
    """Return the largest part of the squared error; None without shares."""
    if shares is None:
        return None
    share, name = max(zip(np.asarray(shares).tolist(), names, strict=True))
    return name, share
