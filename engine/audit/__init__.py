"""An audit that tries to break what a mechanism claims.

Grey box: hundreds of pairs of neighbouring data sets, with everything random held fixed, so that
the privacy loss of a pair is a closed form; see `replay`, `losses` and `neighbours`. Black box: a
lower bound on ε from releases of the worst pair alone; see `black_box`. A claim stands only if
neither finds more than it says, no site speaks for another, the noise is what it is said to be, and
nothing but messages reaches the release. How tight it is, is said too: noise beyond need is a fault
as well. `engine.audit.broken` holds variants that the audit must catch.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.audit.black_box import CERTAINTY, CONFIDENCE, MOSTLY, bounds
from engine.audit.cases import Case, case_like, cases_of
from engine.audit.likelihood_ratios import LikelihoodRatios
from engine.audit.losses import LossClaim, compare
from engine.audit.neighbours import PairRequest, Pairs, enlarged, family_of
from engine.audit.replay import is_honest, noise_fault
from engine.audit.statistic import CountedStatistic
from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import Budget, Data
from engine.mechanisms import Mechanism
from engine.mechanisms.base import ATTAINED
from engine.privacy import accounting
from engine.running.steps import result_of
from engine.sources import Source

__all__ = [
    "ATTAINED",
    "CONFIDENCE",
    "Case",
    "CountedStatistic",
    "Progress",
    "Report",
    "audit",
    "audit_case",
    "audit_steps",
    "cases_of",
]
ROUNDING = 1e-9
_MAX_BY_CHANCE = 0.85  # of what a pair loses is shown by enough releases, if it shows at all
_NEARLY = 0.95  # of ε, or of what a pair loses, is not worth a reason
QUIETER = "releases tell the pair apart more often than noise of the stated size allows"
_MAX_NUMBERS = 2_000_000  # in the data of all pairs of one run


@dataclass(frozen=True)
class Progress:
    """Progress of an audit: all a chart needs to climb under its claim."""

    tried: int
    # worst, claim: the most that a pair loses, and what is claimed, in `unit`
    worst: float
    claim: float
    unit: str  # "mu", "epsilon" or "rho" (then √(2ρ))
    # claimed_epsilon, delta: the claim as ε, at the δ of the budget
    claimed_epsilon: float
    delta: float
    bound: float = 0.0  # a lower bound of ε at that δ, from releases
    # runs, planned: releases of each of two data sets, so far and in all
    runs: int = 0
    planned: int = 0
    # what those two lose by what the noise is said to be; 0 if no message is heard
    lost: float = 0.0
    is_beyond: bool = False  # whether releases show more than can be
    reason: str = ""  # in words what broke the claim beyond any number
    statistic: CountedStatistic | None = None  # of the attacker, under both data sets

    @property
    def ratio(self) -> float:
        return self.worst / self.claim

    @property
    def exact_epsilon(self) -> float:
        """The claimed ε, or where ρ is all that is claimed, that of Gaussian noise of this ρ."""
        if self.unit != "rho":
            return self.claimed_epsilon
        return min(accounting.exact_epsilon(self.claim, self.delta), self.claimed_epsilon)

    @property
    def confidence(self) -> float:
        """Confidence of the bound; only a more certain one breaks a claim."""
        return CERTAINTY if self.is_beyond else CONFIDENCE

    @property
    def worst_epsilon(self) -> float:
        """Loss of the worst pair, as ε at the δ of the budget; ∞ if no number expresses it."""
        if self.reason or math.isinf(self.worst):
            return math.inf
        if self.ratio > 1 + ROUNDING or self.ratio < 1 - ROUNDING:
            return _as_epsilon(self.unit, self.worst, self.delta)
        return self.claimed_epsilon

    @property
    def is_broken(self) -> bool:
        return bool(self.reason) or self.ratio > 1 + ROUNDING or self.is_beyond


def _as_epsilon(unit: str, loss: float, delta: float) -> float:
    """ε of a loss in its unit; those of ρ are proved, all others exact."""
    if unit == "epsilon":
        return loss
    if unit == "mu":
        return accounting.exact_epsilon(loss, delta)
    return accounting.epsilon_of_rho(loss**2 / 2, delta)


@dataclass(frozen=True)
class Report(Progress):
    """Result of an audit of one mechanism."""

    mechanism: str = ""
    settings: str = ""
    neighbours: str = ""
    # the share of the claim that must be found for noise to be no more than needed
    attains: float = 0.0
    why: str = ""
    seconds: float = 0.0

    @property
    def shortfall(self) -> str:
        """Reason why releases show less than nine tenths of ε; empty if they show that much."""
        if not self.runs or self.is_broken or self.bound >= MOSTLY * self.exact_epsilon:
            return ""
        reasons = [_of_pair(self), _of_releases(self)]
        return " ".join(reason for reason in reasons if reason)

    @property
    def verdict(self) -> str:
        """One of "broken", "loose" (more noise than the claim needs) and "holds"."""
        if self.is_broken:
            return "broken"
        return "holds" if self.ratio >= self.attains else "loose"

    def plain(self) -> dict[str, Any]:
        """Plain values for JSON; null is what has no limit."""
        names = (
            "mechanism",
            "settings",
            "neighbours",
            "unit",
            "claim",
            "worst",
            "ratio",
            "tried",
            "claimed_epsilon",
            "exact_epsilon",
            "delta",
            "lost",
            "bound",
            "confidence",
            "runs",
            "planned",
            "shortfall",
            "attains",
            "why",
            "reason",
            "verdict",
        )
        values = {name: getattr(self, name) for name in names}
        return {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in values.items()
        }


def _of_pair(report: Report) -> str:
    """Why the attacked pair loses less than ε."""
    if not report.lost:
        return (
            "Only what comes out at the end is seen, not the messages that it is made of, and "
            "it shows less than they do."
        )
    if report.lost >= _NEARLY * report.exact_epsilon:
        return ""
    if report.worst_epsilon < _NEARLY * report.exact_epsilon and report.why:
        return report.why
    return (
        f"This pair loses ε = {report.lost:.3g} in all messages together: each step has a "
        "worst record of its own, and one record is not the worst for all of them."
    )


def _of_releases(report: Report) -> str:
    """Why releases show less than the pair loses."""
    if not report.lost or report.bound >= _NEARLY * report.lost:
        return ""
    if report.runs < report.planned:
        return (
            f"In the time given {report.runs:,} of {report.planned:,} releases were made; more "
            "would show more."
        ).replace(",", " ")
    if report.bound >= _MAX_BY_CHANCE * report.lost:
        return (
            "What is shown at 95 % confidence after a limited number of releases is a little "
            "less than what the pair loses."
        )
    return (
        "All of ε shows only in outcomes that are too rare to be counted: what is seen in most "
        "releases is less."
    )


def audit(
    mechanism: Mechanism,
    source: Source[Data] | None = None,
    budget: Budget | None = None,
    seed: int = 1,
    *,
    tries: int = 2000,
    runs: int = 20_000,
    seconds: float = 60.0,
) -> Generator[Progress, None, Report]:
    """Try to break a mechanism; yields its progress and returns what was found.

    It ends after `tries` pairs, when the claim is broken, or after a third of `seconds`; then come
    releases of both sides of the worst pair. Neighbours are built around data of the source, which
    says nothing about tightness, or around small data of their own. There are `runs` releases of
    each side, or fewer where they show enough.
    """
    case = case_like(mechanism)
    if source is not None and not source.tasks & mechanism.served:
        raise InputError(
            "This mechanism does not take such data.",
            field="source",
            hint="Choose data for the same task.",
        )
    if budget is not None:
        case = case.at(budget)
    if source is not None:
        case = replace(case, attains=0.0, why="")
    return (yield from audit_steps(case, source, seed, tries=tries, runs=runs, seconds=seconds))


def audit_case(
    case: Case, seed: int = 1, *, tries: int = 2000, runs: int = 20_000, seconds: float = 60.0
) -> Report:
    """The whole audit of one case on its small data.

    Examples
    --------
    >>> from engine.mechanisms.sparse_mean_laplace import SparseMeanLaplace
    >>> report = audit_case(cases_of(SparseMeanLaplace)[0], tries=60, runs=0)
    >>> report.verdict, round(report.ratio, 2)
    ('holds', 1.0)
    """
    return result_of(audit_steps(case, None, seed, tries=tries, runs=runs, seconds=seconds))


def audit_steps(
    case: Case,
    source: Source[Data] | None = None,
    seed: int = 1,
    *,
    tries: int = 2000,
    runs: int = 20_000,
    seconds: float = 60.0,
) -> Generator[Progress, None, Report]:
    """The audit of a case, step by step; see `audit`."""
    if runs == 1:
        raise InputError(
            "A test of releases needs at least two of each data set; got 1.",
            field="runs",
            hint="Take some thousands, or 0 for none.",
        )
    search, start = _Search(case, source, seed), time.monotonic()
    yield from search.grey_box(tries, start + seconds / 3)
    yield from search.black_box(runs, start + seconds)
    return search.report(time.monotonic() - start)


class _Search:
    """One audit: the best attack so far, and the pair behind it."""

    def __init__(self, case: Case, source: Source[Data] | None, seed: int) -> None:
        self.case, self.seed = case, seed
        self.family = family_of(case.mechanism)
        usual = (
            enlarged(self.family.usual(case.mechanism), case.copies)
            if source is None
            else source.draw(1, generator(seed, 0, 0))
        )
        self.question = PairRequest(case.mechanism, usual, case.budget)
        self.progress: Progress | None = None
        self.best = [(-1.0, (usual, usual))] * 2  # of all pairs, and of those that hear the truth

    def grey_box(self, tries: int, end: float) -> Iterator[Progress]:
        """Pairs, a chunk at a time, and after the first chunk the noise."""
        size = next(a.size for a in vars(self.question.usual).values() if isinstance(a, np.ndarray))
        chunk = max(4, min(self.case.chunk, tries, _MAX_NUMBERS // max(size, 1)))
        step = 0
        while self.progress is None or (
            self.progress.tried < tries and not self.progress.is_broken and time.monotonic() < end
        ):
            yield self._tried(chunk, step)
            step += 1

    def _tried(self, count: int, step: int) -> Progress:
        mechanism, budget = self.case.mechanism, self.case.budget
        rng = np.random.default_rng((self.seed, step))
        pairs = self.family.pairs(self.question, count, rng)
        losses = compare(mechanism, pairs, budget, self.seed + step, rng)
        reason = losses.reason
        if self.progress is None:
            self.claim, self.progress = losses.claim, _before(losses.claim, budget)
            if not reason and losses.first is not None:
                reason = noise_fault(mechanism, pairs.usual, budget, self.seed, losses.first)
        self._remember(pairs, losses.each)
        before = self.progress
        self.progress = replace(
            before,
            tried=before.tried + count,
            reason=reason,
            worst=max(before.worst, losses.worst * before.claim),
        )
        return self.progress

    def _remember(self, pairs: Pairs, each: Any) -> None:
        for k, among in enumerate((each, np.where(is_honest(pairs.count), each, -np.inf))):
            if among.max() > self.best[k][0]:
                self.best[k] = float(among.max()), pairs.pair(int(among.argmax()))

    def worst_pair(self) -> tuple[Any, Any]:
        """The pair that loses most when everybody hears the truth."""
        alone = self.family.alone
        pairs = [alone(self.case.mechanism, pair) for _, pair in self.best]
        return max(
            pairs,
            key=lambda pair: LikelihoodRatios(
                self.case.mechanism, pair, self.case.budget, self.claim, self.seed
            ).apart(),
        )

    def black_box(self, runs: int, end: float) -> Iterator[Progress]:
        """Releases of the worst pair, as long as there is time."""
        assert self.progress is not None
        if runs == 0:
            return
        for bound in bounds(
            self.case.mechanism,
            self.worst_pair(),
            self.case.budget,
            self.claim,
            runs,
            self.seed,
            end,
        ):
            self.progress = replace(
                self.progress,
                bound=bound.epsilon,
                runs=bound.runs,
                lost=bound.lost,
                planned=bound.planned,
                is_beyond=bound.is_beyond,
                statistic=bound.statistic,
            )
            if bound.is_beyond and bound.epsilon <= self.progress.claimed_epsilon:
                self.progress = replace(self.progress, reason=QUIETER)
            yield self.progress

    def report(self, seconds: float) -> Report:
        assert self.progress is not None
        mechanism = self.case.mechanism
        changed = ", ".join(f"{name}={value}" for name, value in mechanism.changed().items())
        return Report(
            **vars(self.progress),
            mechanism=mechanism.key,
            settings=changed,
            neighbours=self.family.label,
            attains=self.case.attains,
            why=self.case.why,
            seconds=seconds,
        )


def _before(claim: LossClaim, budget: Budget) -> Progress:
    """Nothing tried yet, with what is claimed."""
    proved = math.inf
    if claim.lines:
        proved = accounting.guarantee(claim.lines, claim.lines[0].server).epsilon
    return Progress(0, 0.0, claim.total, claim.unit, min(proved, budget.epsilon), budget.delta)
