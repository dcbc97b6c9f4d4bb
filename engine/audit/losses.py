"""Losses of two runs on neighbouring data, against the claim of the ledger.

Where the law and the size of the noise are known, how far a record moves a message is a privacy
loss in closed form, without sampling: by `laws`, and of a choice of the largest entries ρ of
`noise.selection` at the largest shift.

Beside the shifts, the same calls must be made, with noise of the same size; no other site may say
anything else; and with all messages the same, what is released must be the same to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.audit.laws import audited
from engine.audit.neighbours import Pairs
from engine.audit.replay import RecordedMessages, RecordedRelease, SelectionFacts, run
from engine.core.enumerations import NoiseLaw
from engine.core.errors import InputError
from engine.core.types import Array, Budget, Spend, Step
from engine.privacy import accounting, transcript


@dataclass(frozen=True)
class LossClaim:
    """Promise of the ledger to one site's people, in the unit in which losses are measured."""

    # "mu" where all noise is Gaussian, "epsilon" where all holds with δ = 0, and otherwise "rho",
    # for which losses are √(2ρ): of Gaussian noise that is μ
    unit: str
    total: float  # in that unit; never more than what was asked
    lines: tuple[Spend, ...]

    @classmethod
    def of(cls, lines: Sequence[Spend]) -> LossClaim:
        """Add up what these lines of one site promise."""
        budget, of_site = lines[0].budget, tuple(lines)
        if all(line.mu is not None for line in lines):
            allowed = accounting.exact_mu(budget.epsilon, budget.delta)
            return cls("mu", min(accounting.total_mu(lines), allowed), of_site)
        pure = accounting.total_epsilon(lines)
        if pure is not None:
            return cls("epsilon", min(pure, budget.epsilon), of_site)
        allowed = accounting.rho_of(budget.epsilon, budget.delta)
        return cls("rho", math.sqrt(2 * min(accounting.total_rho(lines), allowed)), of_site)

    def composed(self, losses: Sequence[Array]) -> Array:
        """Losses of several messages about the same people, together: (pairs,)."""
        each = np.stack(losses)
        with np.errstate(over="ignore"):
            return np.asarray(
                each.sum(axis=0) if self.unit == "epsilon" else np.sqrt((each**2).sum(axis=0))
            )


# -- what is lost ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PairLosses:
    """Losses of pairs, over the claim."""

    each: Array  # (pairs,): the loss of every pair
    # the most that messages allow together: the worst pair of each line of the ledger, added up
    # where lines and messages correspond, because an adaptive adversary may want another curve at
    # every step
    worst: float
    claim: LossClaim
    reason: str = ""  # in words what breaks the claim beyond any number
    # (lines,): the worst of each line over its own claim, where lines and messages correspond
    lines: Array = field(default_factory=lambda: np.empty(0))
    first: RecordedRelease | None = None  # the release of the first data sets, unless it broke down


def compare(
    mechanism: Any, pairs: Pairs, budget: Budget, seed: int, rng: np.random.Generator
) -> PairLosses:
    """Run the first data sets, replay the answers on the second, and compare.

    `seed` is of the noise, the same for both; `rng` draws an adversary's answers.
    """
    try:
        first = run(mechanism, pairs.usual, budget, seed, rng=rng)
        second = run(mechanism, pairs.neighbour, budget, seed, first.answers)
    except np.linalg.LinAlgError:  # some data do this, so it says something of them
        nothing = LossClaim("epsilon", budget.epsilon, ())
        return PairLosses(
            np.full(pairs.count, np.inf),
            math.inf,
            nothing,
            "the run breaks down on some data, which gives them away",
        )
    claims = {
        server: LossClaim.of(lines)
        for server, lines in accounting.by_server(first.estimate.spends[0]).items()
    }
    usual = claims[0]
    if not 0 < usual.total < math.inf:
        raise InputError(
            "There is nothing to audit: at this budget nothing is released, or "
            "everything without noise.",
            field="budget",
            hint="Choose another budget, or more records.",
        )
    reason = _difference(first, second)
    if reason:
        return PairLosses(np.full(pairs.count, np.inf), math.inf, usual, reason, first=first)
    parts = [
        _of_site(mechanism, server, claim, first, second, pairs) for server, claim in claims.items()
    ]
    strangers = _heard_elsewhere(first, second, pairs)
    each = np.max([losses for losses, _, _ in parts], axis=0)
    each = np.where(strangers, np.inf, each)
    worst = math.inf if strangers.any() else max(total for _, total, _ in parts)
    broken = "one record changes what another site sends" if strangers.any() else ""
    if not broken and math.isinf(worst):
        broken = (
            "a change goes out without noise, the noise is not the same for both, or what is "
            "sent is no number"
        )
    return PairLosses(
        each, worst, usual, broken, np.max([lines for *_, lines in parts], axis=0), first
    )


def _difference(run_of_first: RecordedRelease, run_of_second: RecordedRelease) -> str:
    """Name what differs and should not, though all messages are the same."""
    if [message.kind for message in run_of_first.messages.values()] != [
        message.kind for message in run_of_second.messages.values()
    ]:
        return "other calls, or messages of other shapes, are made for neighbours"
    first, second = run_of_first.estimate, run_of_second.estimate
    if first.spends != second.spends or first.tuning != second.tuning:
        return "the ledger or the tuning follows the data"
    if run_of_first.has_sums:
        return ""
    same = np.array_equal(first.coefficients, second.coefficients, equal_nan=True)
    if same and first.band is not None and second.band is not None:
        same = np.array_equal(
            first.band.centre, second.band.centre, equal_nan=True
        ) and np.array_equal(first.band.covariance, second.band.covariance, equal_nan=True)
    return "" if same else "the release looks past what was sent"


def _heard_elsewhere(
    first: RecordedRelease, second: RecordedRelease, pairs: Pairs
) -> NDArray[np.bool_]:
    """True if a site that does not hold the record said something else: (pairs,)."""
    differs_elsewhere = np.zeros(pairs.count, dtype=bool)
    for key, message in first.messages.items():
        if message.server != transcript.CENTRE:
            same = (message.values == second.messages[key].values) | (
                np.isnan(message.values) & np.isnan(second.messages[key].values)
            )
            differs = ~same.reshape(pairs.count, -1).all(axis=1)
            differs_elsewhere |= differs & (pairs.server != message.server)
    return differs_elsewhere


def _of_site(
    mechanism: Any,
    server: int,
    claim: LossClaim,
    first: RecordedRelease,
    second: RecordedRelease,
    pairs: Pairs,
) -> tuple[Array, float, Array]:
    """Losses over the claim of one site, of pairs whose record is there.

    Also the worst of all messages together, and that of each line over its own claim.
    """
    keys = [
        key
        for key, message in first.messages.items()
        if message.server in (server, transcript.CENTRE)
    ]
    if not keys:
        return np.zeros(pairs.count), 0.0, np.empty(0)
    each = [_loss(mechanism, claim, first.messages[key], second.messages[key]) for key in keys]
    each = [np.where(pairs.server == server, loss, 0.0) for loss in each]
    together = claim.composed(each)
    lines = _line_of_each([first.messages[key].step for key in keys], claim.lines)
    if lines is None:
        return together / claim.total, float(together.max()) / claim.total, np.empty(0)
    largest = [loss.max(keepdims=True) for loss in each]
    worst = [
        float(loss[0]) / LossClaim.of([line]).total
        for loss, line in zip(largest, lines, strict=True)
    ]
    return together / claim.total, float(claim.composed(largest)[0]) / claim.total, np.array(worst)


def _line_of_each(steps: Sequence[Step], lines: Sequence[Spend]) -> list[Spend] | None:
    """The line of the ledger that each message has to itself; None where some share lines."""
    by_key = {line.step.key: line for line in lines}
    keys = [key for step in steps for key in step.charged_to]
    if len(keys) != len(steps) or sorted(keys) != sorted(by_key):
        return None
    return [by_key[key] for key in keys]


def _loss(
    mechanism: Any, claim: LossClaim, first: RecordedMessages, second: RecordedMessages
) -> Array:
    """The loss of every pair by one message: (pairs,); infinite where noise does not cover it."""
    count, same = len(first.values), first.noise == second.noise
    with np.errstate(all="ignore"):
        shift = first.values - second.values
        fine = (np.isfinite(shift) & same).reshape(count, -1).all(axis=1)
        units = mechanism.in_units_of_noise(shift, first.noise)
        losses = _in_units(claim, first, units.reshape(*units.shape[:2], -1))
    return np.where(fine, losses.max(axis=1), np.inf)


def _in_units(claim: LossClaim, message: RecordedMessages, units: Array) -> Array:
    """Losses (pairs, ways) of shifts (pairs, ways, numbers) in standard deviations of the noise."""
    law = law_of(message.step, claim) if message.law is None else message.law
    if isinstance(law, SelectionFacts):
        return law.loss(np.abs(units).max(axis=-1), claim.unit)
    return audited(law).loss(units, message.noise.reshape(*message.noise.shape[:2], -1))


def law_of(step: Step, claim: LossClaim) -> NoiseLaw:
    """The law of the noise on a message, by the lines of the ledger that it is charged to."""
    laws = {line.noise for line in claim.lines if line.step.key in step.charged_to}
    if len(laws) != 1:
        raise ValueError(f"the ledger states {len(laws)} laws of noise for “{step.key}”")
    return laws.pop()
