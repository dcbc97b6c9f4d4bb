"""A lower bound on ε from what an attacker hears.

Many releases of two neighbouring data sets are told apart by a test. Where there are messages it is
their likelihood ratio (see `likelihood_ratios`), otherwise one that is fitted to the outputs. Its
threshold is chosen on a fifth of the releases, and how often it is right is counted on the others.
With p the lower Clopper–Pearson limit of right guesses among all releases,

    Gaussian noise      μ ≥ 2 Φ⁻¹(p), and ε follows exactly (f-DP)
    other messages      ε ≥ t times what the pair loses, if noise is t times as weak as stated at
                        least (see `strength`), and ε ≥ log(p/(1 − p))

and with limits on hits and false alarms apart

    rough scores        as other messages, and ε ≥ log(hits/false alarms)
    outputs, δ = 0      ε ≥ log(hits/false alarms)
    otherwise           ε ≥ log((hits − δ)/false alarms)

at 95 % confidence, whatever the test. Right guesses are of n releases of each data set. Their mean
chance P is at most Φ(μ/2), which the threshold in the middle attains; and whatever the two chances
are that P is the mean of, so many right ones are no more likely than among 2n trials of chance P
(Hoeffding 1956), so that one limit serves for both. That needs a third of the releases that two
limits need. The direct routes need millions of runs for a small δ or for many numbers, so they are
taken only where nothing better is known. A claim counts as broken at a confidence of 99.98 %, by
hits and false alarms, which also show what is rare and gives all away; so a false alarm is rare in
hundreds of audits. A bound that exceeds the claim, or what the pair loses by the stated noise, at
95 % alone is shown as that.

Noise that decides choices is accounted by ρ. What is seen of it is reported as Gaussian noise that
is told apart as easily, which many small choices tend to; the claim counts as broken only beyond
what ρ allows any mechanism, or where scores do not have the law that the stated noise gives them.

Scores and outputs are rounded to a millionth of their spread. The last bits of floating-point noise
give away more than its law does (Mironov 2012), and a test would find that; releases here are
simulations, which do not hide it.

References
----------
Dong, Roth and Su (2022) for the first line; Nasr and others (2023) for its use in audits. Hoeffding
(1956), On the distribution of the number of successes in independent trials, Theorem 4.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import betaincinv, ndtri

from engine.audit.likelihood_ratios import LikelihoodRatios, Scored
from engine.audit.losses import LossClaim
from engine.audit.statistic import CountedStatistic
from engine.audit.strength import LossParts
from engine.core.types import Array, Budget, Data
from engine.privacy import accounting
from engine.privacy.tradeoff import Zcdp

SHOWN = 0.025  # each of the two limits of a bound is wrong at most so often
CERTAIN = 1e-4  # and each of those that break a claim
CONFIDENCE, CERTAINTY = 1 - 2 * SHOWN, 1 - 2 * CERTAIN
MAX = {"mu": 1_000_000, "rho": 1_000_000, "epsilon": 200_000}  # releases of each data set
_FIRST = 1_000  # releases made at first; each later part doubles what there is
_PART, _FEWER = 10_000, 2_000  # and at most so many at once; of many numbers each
_MANY, _FEWEST = 200, 20_000
_FIT = 5  # every so many outputs are for the test alone
MOSTLY = 0.9  # of ε is what releases are to show
_MISSED = 0.035  # of what the pair loses is what they may miss, or less where that spoils the above
_ENOUGH = 5.3  # root of the releases that miss such a share, times μ and the share
_ROUNDING, _ERRORS = 1 + 1e-6, 5.0
_SHARES = np.array(
    [0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 0.99, 0.997, 0.999]
)  # of releases beyond the thresholds that are tried


@dataclass(frozen=True)
class LowerBound:
    """A lower bound of ε from releases."""

    epsilon: float  # ε is at least this
    # runs, planned: after so many of the planned releases of each data set
    runs: int
    planned: int = 0
    # the exact ε, at the δ of the budget, of the pair by the noise as it is stated; 0 where no
    # message was heard
    lost: float = 0.0
    # whether more is lost than the claim or the stated noise allow, beyond reasonable doubt
    is_beyond: bool = False
    statistic: CountedStatistic | None = (
        None  # what the bound was counted on; None if it has no bins
    )


def bounds(
    mechanism: Any,
    pair: tuple[Data, Data],
    budget: Budget,
    claim: LossClaim,
    runs: int,
    seed: int,
    end: float = math.inf,
) -> Iterator[LowerBound]:
    """Bound ε from more and more releases of both data sets of a pair, each time twice as many.

    At most `runs` or `enough` of each; none is begun after `end` on the monotonic clock.
    """
    ratios = LikelihoodRatios(mechanism, pair, budget, claim, seed)
    scored_of_side: list[list[Scored]] = [[], []]
    done = reported = 0
    runs = min(runs, enough(ratios, claim))
    for block, part in enumerate(parts(runs, _PART if ratios.size <= _MANY else _FEWER)):
        for side in range(2):
            scored = ratios.scored(side, part, (seed, side, block))
            needed = part if not ratios.hears else 0
            scored_of_side[side].append(replace(scored, outputs=scored.outputs[:needed]))
        done += part
        is_over = done == runs or time.monotonic() > end
        if is_over or done >= 2 * reported:
            reported = done
            yield replace(_bound_of(ratios, scored_of_side), planned=runs)
        if is_over:
            return


def _bound_of(ratios: LikelihoodRatios, scored: Sequence[Sequence[Scored]]) -> LowerBound:
    if ratios.hears:
        return _from_scores(ratios, scored)
    first, second = (np.concatenate([part.outputs for part in side]) for side in scored)
    return _from_outputs(first, second, ratios.claim, ratios.budget)


def parts(runs: int, largest_part: int = _PART) -> Iterator[int]:
    """Yield numbers of releases to make at once: few at first, so that a bound is there soon.

    Examples
    --------
    >>> list(parts(7000, largest_part=4000))
    [1000, 1000, 2000, 3000]
    """
    done = 0
    while done < runs:
        part = min(max(done, _FIRST), largest_part, runs - done)
        yield part
        done += part


def enough(ratios: LikelihoodRatios, claim: LossClaim) -> int:
    """Releases of each data set that show nearly all that the pair loses, to our experience.

    Where the pair loses little more than nine tenths of the claim, more are needed to show those.
    """
    if not ratios.hears:
        return MAX[claim.unit]
    lost, claimed = (_as_epsilon(loss, claim, ratios.budget) for loss in (ratios.lost, claim.total))
    missed = min(_MISSED, 1 - MOSTLY * claimed / lost) if lost > MOSTLY * claimed else _MISSED
    needed = math.ceil(min((_ENOUGH / (missed * ratios.mu)) ** 2, MAX[claim.unit]))
    return max(_FEWEST, needed)


def _as_epsilon(loss: float, claim: LossClaim, budget: Budget) -> float:
    return loss if claim.unit == "epsilon" else accounting.exact_epsilon(loss, budget.delta)


# -- from messages --------------------------------------------------------------------------------


def _from_scores(ratios: LikelihoodRatios, scored: Sequence[Sequence[Scored]]) -> LowerBound:
    scores = [np.concatenate([part.score for part in side]).round(6) for side in scored]
    losses = np.concatenate([part.losses for side in scored for part in side])
    ends = _counted(scores[0], scores[1], _mu_of_ends)
    if ratios.claim.unit == "epsilon":
        return _from_pure(ratios, scores, losses, ends, _parts_of(scored))
    guesses = _best_guesses(scores[0], scores[1])
    mu = max(0.0, 2 * float(ndtri(guesses.right_at_least)))
    surely = max(0.0, *(_mu(*limits) for limits in ends.limits(CERTAIN)))
    beyond = _is_beyond(ratios, scores, losses, ends)
    usual = math.sqrt((losses**2).mean())
    if ratios.claim.unit == "rho":
        usual = math.sqrt(max(0.0, scores[1].mean() - scores[0].mean()))
    tested, lost, claimed = (
        _as_epsilon(part, ratios.claim, ratios.budget)
        for part in (surely if beyond else mu, usual, ratios.claim.total)
    )
    statistic = (ends if beyond else guesses).statistic
    return _bound(tested, ends.released, lost, beyond, claimed, statistic)


def _is_beyond(
    ratios: LikelihoodRatios, scores: Sequence[Array], losses: Array, ends: _Counted
) -> bool:
    """True if releases lose too much under Gaussian noise or a noisy choice, beyond doubt."""
    claim, certain = ratios.claim, ends.limits(CERTAIN)
    if claim.unit == "mu":
        largest_claim = min(float(losses.max()), claim.total) * _ROUNDING
        return max(_mu(*limits) for limits in certain) > largest_claim
    allowed = Zcdp(claim.total**2 / 2)
    return any(float(allowed.detection(alarms)) < hits for hits, alarms in certain) or (
        ratios.is_exact and _is_quieter(scores[0], scores[1])
    )


def _from_pure(
    ratios: LikelihoodRatios,
    scores: Sequence[Array],
    losses: Array,
    ends: _Counted,
    pair: LossParts,
) -> LowerBound:
    """Bound with δ = 0: from the ends of rough scores, from all guesses of exact ones."""
    certain, claimed = ends.limits(CERTAIN), ratios.claim.total
    beyond = (
        any(pair.power(alarms, _ROUNDING) < hits for hits, alarms in certain)
        or _direct(certain, 0.0) > claimed * _ROUNDING
    )
    usual, statistic = math.sqrt((losses**2).mean()), ends.statistic
    if beyond or not ratios.is_exact:
        limits = certain if beyond else ends.limits(SHOWN)
        hits, alarms = max(limits, key=lambda limit: _mu(*limit))
        weaker = pair.weakest(lambda t: pair.power(alarms, t) >= hits)
        direct = _direct(limits, 0.0)
    else:
        guesses = _best_guesses(scores[0], scores[1])
        right, statistic = guesses.right_at_least, guesses.statistic
        weaker = pair.weakest(lambda t: pair.right(t) >= right)
        direct = max(0.0, math.log(right / (1 - right)))
    bound = max(weaker * usual, direct)
    return _bound(bound, ends.released, usual, beyond, claimed, statistic)


def _bound(
    epsilon: float,
    runs: int,
    lost: float,
    beyond: bool,
    claimed: float,
    statistic: CountedStatistic | None,
) -> LowerBound:
    largest_claim = min(claimed, lost) if lost else claimed
    return LowerBound(
        epsilon if beyond else min(epsilon, largest_claim),
        runs,
        lost=lost,
        is_beyond=beyond,
        statistic=statistic,
    )


def _is_quieter(first: Array, second: Array) -> bool:
    """True if scores are too certain for the stated noise, by five standard errors.

    Then the share of `other` with a score s ≤ 0 is the mean of e^s over such releases of `one`;
    less noise makes that mean the larger of the two. A difference of a few releases is chance,
    however little scores vary, which they do where budgets are huge.
    """
    expected, observed = np.exp(np.minimum(first, 0.0)) * (first <= 0), (second <= 0).astype(float)
    error = max(math.sqrt((expected.var() + observed.var()) / len(first)), 1 / len(first))
    return bool(expected.mean() - observed.mean() > _ERRORS * error)


def _parts_of(scored: Sequence[Sequence[Scored]]) -> LossParts:
    """The most that any number loses in any draw."""
    numbers, bits, vectors = (
        np.max([getattr(part, name) for side in scored for part in side], axis=0)
        for name in ("numbers", "bits", "vectors")
    )
    return LossParts(numbers, bits, tuple((float(size), int(count)) for size, count in vectors))


# -- from outputs alone ---------------------------------------------------------------------------


def _from_outputs(first: Array, second: Array, claim: LossClaim, budget: Budget) -> LowerBound:
    failing = 0.0 if claim.unit == "epsilon" else budget.delta
    tested = _tested(first, second, claim.unit, failing)
    bound, certain = (
        _epsilon(tested, claim.unit, budget.delta, level) for level in (SHOWN, CERTAIN)
    )
    claimed = claim.total if claim.unit == "epsilon" else budget.epsilon
    beyond = certain > claimed * _ROUNDING
    shown = certain if beyond else bound
    return _bound(shown, len(first), 0.0, beyond, claimed, tested.statistic)


def bound_of_outputs(first: Array, second: Array, delta: float, level: float = SHOWN) -> float:
    """A lower bound on ε at δ from outputs (runs, numbers), of which no law is known.

    The larger of what two tests show, each with half the errors of `level`: one weighs absolute
    distances, the other by the covariance of outputs.
    """
    return max(
        _direct(_tested(first, second, unit, delta).limits(level / 2), delta)
        for unit in ("epsilon", "rho")
    )


def _epsilon(tested: _Counted, unit: str, delta: float, level: float = SHOWN) -> float:
    """The bound from the errors of a fitted test."""
    limits = tested.limits(level)
    if unit == "mu":
        return accounting.exact_epsilon(max(0.0, *(_mu(*limit) for limit in limits)), delta)
    return _direct(limits, 0.0 if unit == "epsilon" else delta)


def _tested(first: Array, second: Array, unit: str, delta: float = 0.0) -> _Counted:
    """Errors of a fitted test; of five releases one fits and four certify."""
    first, second = _rounded(first, second)
    fits = np.arange(len(first)) % _FIT == 0
    score = _test(first[fits], second[fits], unit)
    return _counted(
        score(first),
        score(second),
        _mu_of_ends if unit == "mu" else lambda errors: _direct(errors.limits(SHOWN), delta),
    )


def _rounded(first: Array, second: Array) -> tuple[Array, Array]:
    """Both to whole millionths, about, of the spread of each number."""
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return first, second
    spread = np.maximum(first.std(axis=0), second.std(axis=0))
    size = np.maximum(abs(first).max(axis=0), abs(second).max(axis=0))
    unit = np.maximum(np.maximum(2.0**-20 * spread, 2.0**-40 * size), 1e-300)
    return np.round(first / unit), np.round(second / unit)


def _test(lower: Array, higher: Array, unit: str) -> Any:
    """A score that is higher for `higher`: the likelihood ratio of the law that the unit suggests.

    Means and spreads come from the outputs. Outputs that are no numbers in one case alone give it
    away at once.
    """
    if not (np.isfinite(lower).all() and np.isfinite(higher).all()):
        sign = np.sign(np.isfinite(lower).mean() - np.isfinite(higher).mean())
        return lambda outputs: sign * (~np.isfinite(outputs).all(axis=1)).astype(float)
    first, second = np.round(lower.mean(axis=0)), np.round(higher.mean(axis=0))
    if unit == "epsilon":
        width = np.maximum(np.abs(lower - first).mean(axis=0), 1.0)
        return lambda outputs: (
            ((np.abs(outputs - first) - np.abs(outputs - second)) / width).sum(axis=1).round(6)
        )
    covariance = np.atleast_2d(np.cov(lower.T)) + np.atleast_2d(np.cov(higher.T))
    direction = np.linalg.pinv(covariance, hermitian=True) @ (second - first)
    return lambda outputs: outputs @ direction


# -- errors of a test -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Counted:
    """Hits and false alarms of one threshold among n of `released` releases of each."""

    hits: int
    alarms: int
    n: int
    released: int
    statistic: CountedStatistic | None = None

    @property
    def right(self) -> int:
        """Right guesses among all 2n."""
        return self.hits + self.n - self.alarms

    @property
    def right_at_least(self) -> float:
        """The one-sided lower limit of the chance that a guess between both is right."""
        return _limit(self.right, 2 * self.n, 1 - CONFIDENCE, low=True)

    def limits(self, level: float) -> list[tuple[float, float]]:
        """Bound from below the hits, and from above the alarms, of guilty and of innocent."""
        ways = [(self.hits, self.alarms), (self.n - self.alarms, self.n - self.hits)]
        return [
            (_limit(caught, self.n, level, low=True), _limit(wrong, self.n, level, low=False))
            for caught, wrong in ways
        ]


def _counted(first: Array, second: Array, worth: Callable[[_Counted], float]) -> _Counted:
    """Errors of the threshold that is worth most on every fifth release, on the others."""
    fits = np.arange(len(first)) % _FIT == 0
    fitted, certain = ((first[part], second[part]) for part in (fits, ~fits))
    tried = np.unique(np.quantile(np.concatenate(fitted), _SHARES))
    best = max(tried, key=lambda threshold: worth(_errors(*fitted, threshold)))
    errors = _errors(*certain, best)
    statistic = CountedStatistic.of(first, second, best, errors.right / (2 * errors.n))
    return replace(errors, released=len(first), statistic=statistic)


def _mu_of_ends(counted: _Counted) -> float:
    return max(_mu(*limits) for limits in counted.limits(SHOWN))


def _best_guesses(first: Array, second: Array) -> _Counted:
    """Count the errors of the best guess between both."""
    return _counted(first, second, lambda errors: errors.right)


def _errors(first: Array, second: Array, threshold: float) -> _Counted:
    """Count the errors of a threshold on scores, which are higher for `other`."""
    n = len(first)
    return _Counted(int((second > threshold).sum()), int((first > threshold).sum()), n, n)


def _limit(count: int, n: int, level: float, low: bool) -> float:
    """The one-sided Clopper–Pearson limit of a chance from so many of n."""
    if low:
        return float(betaincinv(count, n - count + 1, level)) if count else 0.0
    return float(betaincinv(count + 1, n - count, 1 - level)) if count < n else 1.0


def _mu(hits: float, alarms: float) -> float:
    return float(ndtri(hits) - ndtri(alarms))


def _direct(limits: Sequence[tuple[float, float]], delta: float) -> float:
    """log((hits − δ)/false alarms) of the better way, 0 at least."""
    return max(
        0.0,
        *(math.log((hits - delta) / alarms) if hits > delta else 0.0 for hits, alarms in limits),
    )
