"""Gain of an attacker, worked out from the noise that was really added.

The attacker knows every other curve and has narrowed one person's curve down to two. What they can
do is in the trade-off curve of the noise (`engine.privacy.tradeoff`), which `accounting.trade_off`
finds for a ledger: with Gaussian noise, of total μ, telling the two apart is as hard as telling
N(0, 1) from N(μ, 1). What (ε, δ) alone would allow, whatever the noise, is the cap of every chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.core.errors import InputError
from engine.core.types import Budget, Spend
from engine.privacy import accounting
from engine.privacy.tradeoff import Approximate, Curve, Gaussian, UpperEnvelope

FALSE_POSITIVE_RATE = 0.05  # of the careful attacker
LOW_FALSE_POSITIVE_RATE = 0.01  # of a very careful one
HIGH_FALSE_POSITIVE_RATE = 0.1  # of a bold one


@dataclass(frozen=True)
class Odds:
    """The chances shown for one person; each is an upper bound for this attacker.

    Of the noise of a release where it is known (`from_noise`), else of any method with the budget.

    `right` is the chance of a right guess between two curves that seemed equally likely,
    `right_with_prior` the same where one of them had the chance `prior`. `power` is that of a test
    at `false_positive_rate`, `power_at_1_percent` and `power_at_10_percent` at rates of 1 % and
    10 %, and `precision` the share of accusations that are right, given `prior`. The two caps are
    what the budget alone allows. `curve` is what all of it is read off, and `group` how many
    protected units the person has.
    """

    budget: Budget
    right: float
    power: float
    precision: float
    right_cap: float
    power_cap: float
    prior: float = 0.5
    false_positive_rate: float = FALSE_POSITIVE_RATE
    power_at_1_percent: float = LOW_FALSE_POSITIVE_RATE
    power_at_10_percent: float = HIGH_FALSE_POSITIVE_RATE
    right_with_prior: float = 0.5
    curve: Curve | None = None
    group: int = 1

    @property
    def from_noise(self) -> bool:
        """True if more is known of the noise than its budget."""
        return self.curve is not None and self.curve.name != "budget"


def of_ledger(spends: Sequence[Spend], group: int = 1, prior: float = 0.5) -> Odds:
    """The odds about one person, whichever their server: no chance is larger at any of them.

    The budget is the one that all of this proves: exact for one unit, larger for several.

    *These bound everybody.* Each person is at one server, and neighbours differ in one record
    there, so that the lines of that server alone tell them apart. Its odds bound every attack on
    that person (`odds`). Which server is worst depends on the question, because curves of different
    noise cross: one may allow more right guesses, another more power at few false alarms, a third
    need a larger δ. So each chance is the largest of that chance at any server (`highest`), which
    is none below that of the person's own.

    Parameters
    ----------
    group : int
        Protected units that the person has.
    prior : float
        Chance in (0, 1) of the right curve before the release.

    Returns
    -------
    Odds
        Upper bounds for this attacker.

    Raises
    ------
    InputError
        If `group` is below 1, or `prior` is no chance.

    Examples
    --------
    >>> from engine.core.types import Composition, Step
    >>> line = Spend(Step("mean"), 0, 0.6, (0.02,), (0.05,), 1, Composition.SEQUENTIAL,
    ...              Budget(2.5, 1e-5), "for this example")
    >>> round(of_ledger([line]).right, 3)
    0.618
    """
    servers = accounting.by_server(accounting.for_group(spends, group)).values()
    different = dict.fromkeys(
        (accounting.trade_off(lines), accounting.proved(lines)) for lines in servers
    )
    return highest([odds(curve, budget, prior, group) for curve, budget in different])


def highest(several: Sequence[Odds]) -> Odds:
    """Odds that bound whoever has one of several: each chance is the largest of them.

    What holds for the largest budget and the largest curve is derived from these, so that the caps,
    the pictured curve and the budget beside them are of one guarantee. All are for the same prior
    and as many protected units.
    """
    first, *others = several
    if not others:
        return first
    curves = tuple(dict.fromkeys(each.curve for each in several if each.curve is not None))
    budget = Budget.covering_all(each.budget for each in several)
    cap = Approximate(budget)
    return replace(
        first,
        budget=budget,
        curve=curves[0] if len(curves) == 1 else UpperEnvelope(curves),
        right_cap=float(cap.right()),
        power_cap=float(cap.detection(first.false_positive_rate)),
        **{chance: max(getattr(each, chance) for each in several) for chance in _CHANCES},
    )


_CHANCES = (
    "right",
    "power",
    "power_at_1_percent",
    "power_at_10_percent",
    "precision",
    "right_with_prior",
)


def odds(
    trade_off: Curve | float | None, budget: Budget, prior: float = 0.5, group: int = 1
) -> Odds:
    """All chances from a curve, or from the μ of Gaussian noise; else what the budget allows.

    Parameters
    ----------
    trade_off : Curve, float or None
        What is known of the noise: its curve, its μ, or nothing.
    budget : Budget
        What is proved of it; no chance exceeds what this allows.
    prior : float
        Chance in (0, 1) of the right curve before the release.
    group : int
        Protected units that the person has; it is noted, and changes nothing here.

    Returns
    -------
    Odds
        Upper bounds for this attacker.

    Raises
    ------
    InputError
        If `prior` is not between 0 and 1.
    """
    _is_chance(prior, "prior")
    cap = Approximate(budget)
    if trade_off is None:
        curve: Curve = cap
    else:
        curve = trade_off if isinstance(trade_off, Curve) else Gaussian(trade_off)
    rates = np.array([FALSE_POSITIVE_RATE, LOW_FALSE_POSITIVE_RATE, HIGH_FALSE_POSITIVE_RATE])
    power, at_1_percent, at_10_percent = map(
        float, np.minimum(curve.detection(rates), cap.detection(rates))
    )
    right = min(float(curve.right()), float(cap.right()))  # both hold
    # of the people whom a test of this power accuses
    rightly, wrongly = prior * power, (1 - prior) * FALSE_POSITIVE_RATE
    return Odds(
        budget,
        right,
        power,
        rightly / (rightly + wrongly),
        float(cap.right()),
        float(cap.detection(FALSE_POSITIVE_RATE)),
        prior,
        power_at_1_percent=at_1_percent,
        power_at_10_percent=at_10_percent,
        curve=curve,
        right_with_prior=float(curve.right(prior)),
        group=group,
    )


def _is_chance(value: float, field: str) -> None:
    if not 0 < value < 1:
        raise InputError(
            f"“{field}” must lie between 0 and 1, both excluded.",
            field=field,
            hint="For 5 % use 0.05.",
        )
