"""An audit that tries to break what a mechanism claims.

Grey box: hundreds of pairs of neighbouring data sets, with everything random held fixed, so that
the privacy loss of a pair is a closed form; see `replay`, `losses` and `neighbours`. Black box: a
lower bound on ε from releases of the worst pair alone; see `black_box`. A claim stands only if
neither finds more than it says, no site speaks for another, the noise is what it is said to be, and
nothing but messages reaches the release. How tight it is, is said too: noise beyond need is a fault
as well. `engine.broken` holds variants that the audit must catch.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.audit.black_box import CONFIDENCE, bounds
from engine.audit.cases import ATTAINED, Case, case_like, cases_of
from engine.audit.losses import Claim, compare
from engine.audit.neighbours import Pairs, Question, enlarged, family_of
from engine.audit.noise_check import noise_fault
from engine.errors import InputError
from engine.experiments import generator
from engine.mechanisms import Mechanism
from engine.privacy import accounting
from engine.sources import Source
from engine.types import Budget

__all__ = ["ATTAINED", "CONFIDENCE", "Case", "Progress", "Report", "audit", "audit_case",
           "audit_steps", "cases_of", "finished"]
ROUNDING = 1e-9
_MOST_NUMBERS = 2_000_000  # in the data of all pairs of one run


@dataclass(frozen=True)
class Progress:
    """How far an audit is: all a chart needs to climb under its claim.

    `worst` and `claim` are in `unit`: "mu", "epsilon" or "rho" (then √(2ρ)). `bound` and
    `claimed_epsilon` are ε at the δ of the budget; the bound comes from `runs` releases of each of
    two data sets. `reason` says in words what broke the claim beyond any number.
    """

    tried: int
    worst: float
    claim: float
    unit: str
    claimed_epsilon: float
    delta: float
    bound: float = 0.0
    runs: int = 0
    reason: str = ""

    @property
    def ratio(self) -> float:
        return self.worst / self.claim

    @property
    def worst_epsilon(self) -> float:
        """What the worst pair loses, as ε at the δ of the budget; ∞ for what no number says."""
        if self.reason or math.isinf(self.worst):
            return math.inf
        if self.ratio > 1 + ROUNDING or self.ratio < 1 - ROUNDING:
            return _as_epsilon(self.unit, self.worst, self.delta)
        return self.claimed_epsilon

    @property
    def is_broken(self) -> bool:
        beyond = self.bound > self.claimed_epsilon * (1 + ROUNDING)
        return bool(self.reason) or self.ratio > 1 + ROUNDING or beyond


def _as_epsilon(unit: str, loss: float, delta: float) -> float:
    """ε of a loss in its unit; those of ρ are proved, all others exact."""
    if unit == "epsilon":
        return loss
    if unit == "mu":
        return accounting.exact_epsilon(loss, delta)
    return accounting.epsilon_of_rho(loss**2 / 2, delta)


@dataclass(frozen=True)
class Report(Progress):
    """What an audit found of one mechanism.

    `attains` is the share of the claim that must be found for noise to be no more than needed, and
    `why` says what keeps it from being 0.95.
    """

    mechanism: str = ""
    settings: str = ""
    neighbours: str = ""
    attains: float = 0.0
    why: str = ""
    confidence: float = CONFIDENCE
    seconds: float = 0.0

    @property
    def verdict(self) -> str:
        """"broken", "loose" (it protects more than it says, so its noise is too large), "holds"."""
        if self.is_broken:
            return "broken"
        return "holds" if self.ratio >= self.attains else "loose"

    @property
    def is_caught(self) -> bool:
        """Whether the audit finds fault, as it must with a broken variant."""
        return self.verdict != "holds"

    def plain(self) -> dict[str, Any]:
        """Plain values for JSON; null is what has no limit."""
        names = ("mechanism", "settings", "neighbours", "unit", "claim", "worst", "ratio", "tried",
                 "claimed_epsilon", "delta", "bound", "confidence", "runs", "attains", "why",
                 "reason", "verdict")
        found = {name: getattr(self, name) for name in names}
        return {name: None if isinstance(value, float) and not math.isfinite(value) else value
                for name, value in found.items()}


def audit(mechanism: Mechanism, source: Source | None = None, budget: Budget | None = None,
          seed: int = 1, *, tries: int = 2000, runs: int = 20_000, seconds: float = 60.0
          ) -> Generator[Progress, None, Report]:
    """Try to break a mechanism; yields its progress and returns what was found.

    Neighbours are built around the data of `source`, or around small data of their own; a search
    around a source says nothing about tightness. It ends after `tries` pairs, when the claim is
    broken, or after half of `seconds`; then come `runs` releases of both sides of the worst pair.

    Raises
    ------
    InputError
        If no neighbours are known for the task, the source is for another, or nothing is released
        at this budget.
    """
    case = case_like(mechanism)
    if source is not None and not source.tasks & mechanism.served:
        raise InputError("This mechanism does not take such data.", field="source",
                         hint="Choose data for the same task.")
    if budget is not None:
        case = case.at(budget)
    if source is not None:
        case = replace(case, attains=0.0, why="")
    return (yield from audit_steps(case, source, seed, tries=tries, runs=runs, seconds=seconds))


def audit_case(case: Case, seed: int = 1, *, tries: int = 2000, runs: int = 20_000,
               seconds: float = 60.0) -> Report:
    """The whole audit of one case on its small data."""
    return finished(audit_steps(case, None, seed, tries=tries, runs=runs, seconds=seconds))


def audit_steps(case: Case, source: Source | None = None, seed: int = 1, *, tries: int = 2000,
                runs: int = 20_000, seconds: float = 60.0
                ) -> Generator[Progress, None, Report]:
    """The audit of a case, step by step; see `audit`."""
    search, start = _Search(case, source, seed), time.monotonic()
    yield from search.grey_box(tries, start + seconds / 2)
    yield from search.black_box(runs, start + seconds)
    return search.report(time.monotonic() - start)


def finished(steps: Generator[Progress, None, Report]) -> Report:
    """Run an audit to its end."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            report: Report = end.value
            return report


class _Search:
    """One audit: the best attack so far, and the pair behind it."""

    def __init__(self, case: Case, source: Source | None, seed: int) -> None:
        self.case, self.seed = case, seed
        self.family = family_of(case.mechanism)
        usual = (enlarged(self.family.usual(case.mechanism), case.copies) if source is None
                 else source.draw(1, generator(seed, 0, 0)))
        self.question = Question(case.mechanism, usual, case.budget)
        self.now: Progress | None = None
        self.largest, self.pair = -1.0, (usual, usual)

    def grey_box(self, tries: int, end: float) -> Iterator[Progress]:
        """Pairs, a chunk at a time, and after the first chunk the noise."""
        size = next(a.size for a in vars(self.question.usual).values() if isinstance(a, np.ndarray))
        most = max(4, min(self.case.chunk, tries, _MOST_NUMBERS // max(size, 1)))
        step = 0
        while self.now is None or (self.now.tried < tries and not self.now.is_broken
                                   and time.monotonic() < end):
            yield self._tried(most, step)
            step += 1

    def _tried(self, count: int, step: int) -> Progress:
        mechanism, budget = self.case.mechanism, self.case.budget
        rng = np.random.default_rng((self.seed, step))
        pairs = self.family.pairs(self.question, count, rng)
        losses = compare(mechanism, pairs, budget, self.seed + step, rng)
        reason = losses.reason
        if self.now is None:
            self.now = _before(losses.claim, budget)
            reason = reason or noise_fault(mechanism, pairs.one, budget, self.seed, rng)
        self._remember(pairs, losses.each)
        worst = max(self.now.worst, losses.worst * self.now.claim)
        self.now = replace(self.now, tried=self.now.tried + count, worst=worst, reason=reason)
        return self.now

    def _remember(self, pairs: Pairs, each: Any) -> None:
        if each.max() > self.largest:
            self.largest, self.pair = float(each.max()), pairs.pair(int(each.argmax()))

    def black_box(self, runs: int, end: float) -> Iterator[Progress]:
        """Releases of the worst pair, as long as there is time."""
        assert self.now is not None
        if runs == 0:
            return
        for found in bounds(self.case.mechanism, self.pair, self.case.budget, self.now.unit, runs,
                            self.seed):
            self.now = replace(self.now, bound=found.epsilon, runs=found.runs)
            yield self.now
            if time.monotonic() > end:
                return

    def report(self, seconds: float) -> Report:
        assert self.now is not None
        mechanism = self.case.mechanism
        changed = ", ".join(f"{name}={value}" for name, value in mechanism.changed().items())
        return Report(**vars(self.now), mechanism=mechanism.key, settings=changed,
                      neighbours=self.family.label, attains=self.case.attains, why=self.case.why,
                      seconds=seconds)


def _before(claim: Claim, asked: Budget) -> Progress:
    """Nothing tried yet, with what is claimed."""
    proved = math.inf
    if claim.lines:
        proved = accounting.guarantee(claim.lines, claim.lines[0].server).epsilon
    return Progress(0, 0.0, claim.total, claim.unit, min(proved, asked.epsilon), asked.delta)
