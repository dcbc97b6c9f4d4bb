"""Two paid messages by which wavelet estimates check what is stated of single observations.

The first is that of `engine.mechanisms.families.adaptive.checked_facts`, which proves it: shares of
observations in parts of the time range and beyond the bounds. Every person has one observation, so
that the shares of a person are marks. A single observation may lie beyond the bounds of the curve;
it counts as beyond them from three stated standard deviations on, where normal ones hardly ever
are.

Privacy of the last message
---------------------------
The curve a that was released and the clip τ are fixed by earlier messages. With the residual
r_i = Y_i − a(X_i), a site sends the averages of (1{r_i > τ}, 1{r_i < −τ}) over its n people, which
for one person are (0, 0), (1, 0) or (0, 1), two of which are at most √2 apart. Gaussian noise of
standard deviation √2/(nμ√s₂) makes it μ√s₂-GDP. An observation that is no number has residual 0.
Squares of μ add to those of all other messages, which share 1 − s₂ of μ².

What it tells: with ψ the clipping at τ, the mean of r is that of ψ(r) and of what lies beyond the
clip on both sides. Only the latter escapes a Huber location, and where it is as often above as
below the location is the mean, unless those on one side are far.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.core.checks import Check, CheckOutcome, Fact, joined, outcomes
from engine.core.enumerations import NoiseLaw
from engine.core.types import (
    Array,
    Budget,
    Caution,
    CurveData,
    Design,
    PublicFacts,
    SaidIn,
    Spend,
    Step,
)
from engine.mechanisms.families.adaptive.checked_facts import (
    FACTS,
    FAR_SHARE,
    FINE_PARTS,
    PARTS,
    SENSITIVITY,
    FirstMessage,
    Question,
    decide,
    first_share,
    parts_of,
    pooled,
    quantile,
)
from engine.mechanisms.families.wavelets.regression import Sites, site_lines, times_of
from engine.privacy import transcript

SIDES = Step("observations beyond the clip", sensitivity=SENSITIVITY)
MESSAGE = FirstMessage()  # times are spread, for whatever law
BEYOND_BOUNDS = 3.0  # standard deviations of an observation about the curve
_ONE_SIDE_LEVEL, _ONE_OF_TEN, _MATERIAL = 0.005, 0.1, 0.02

UNTRUE_TIMES = (
    "Observation times are not spread as stated: about {share} of them lie between {start} and "
    "{end}, where {expected} should. The curve is off there by about as much."
)
CLUSTERED_TIMES = (
    "Observation times lie at a few common times. The curve follows these times, and its error can "
    "be several times the forecast."
)
FAR_BEYOND = (
    "About {share} of the observations lie more than three standard deviations beyond the stated "
    "bounds of the curve. The bounds or the standard deviation are too small."
)
ONE_SIDED = (
    "Observations lie more often far {side} the curve than on its other side. This is a robust "
    "centre of them (a Huber location), which differs from their mean."
)
EVENLY_AROUND = Fact(
    "Observations lie evenly around the curve",
    "{} more on one side than on the other",
    "{} more on one side",
    is_relied_on=False,
)


@dataclass(frozen=True, eq=False)
class FactMessages:
    """Messages about the facts, fixed before any observation is looked at."""

    question: Question
    noise: Array  # (sites,), of each number of the first message, with its weight
    side_noise: Array  # (sites,), of the last one; empty where it is not sent
    side_drift: float  # standard deviation that the curve's own level gives what it measures
    people: tuple[int, ...]

    @classmethod
    def of(cls, sites: Sites, design: Design, side_drift: float | None) -> FactMessages:
        """Plan them at all sites; without `side_drift` the last one is not sent."""
        n, sides = sites.n.astype(int), side_drift is not None
        return cls(
            Question(MESSAGE, design, ((1, int(n.sum())),), int(n.sum())),
            _noise(sites, sites.checked),
            _noise(sites, FAR_SHARE) if sides else np.empty(0),
            side_drift or 0.0,
            tuple(n.tolist()),
        )

    def lines(self, sites: Sites, budgets: tuple[Budget, ...]) -> tuple[list[Spend], list[Spend]]:
        """Write the ledger lines of the first message and of the last."""
        first = site_lines(
            FACTS,
            NoiseLaw.GAUSSIAN,
            "ℓ2",
            SENSITIVITY / sites.n,
            self.noise,
            budgets,
            f"Shares of observations by time and beyond the bounds; {sites.checked:.0%} of μ².",
        )
        if not len(self.side_noise):
            return [*first], []
        return [*first], [
            *site_lines(
                SIDES,
                NoiseLaw.GAUSSIAN,
                "ℓ2",
                SENSITIVITY / sites.n,
                self.side_noise,
                budgets,
                f"Shares of observations beyond the last clip on either side; {FAR_SHARE:.0%} of μ².",
            )
        ]


def share_of_checks(sites: Sites) -> float:
    """Return the share s of the first message, by people and budgets of all sites."""
    multiplier = sites.exact_multiplier  # 1/μ of each
    worst = float(np.hypot.reduce(multiplier))
    return first_share(float(sites.n.sum()) / worst if worst else math.inf, pure=False)


def _noise(sites: Sites, share: float) -> Array:
    return np.asarray(SENSITIVITY * sites.whole_multiplier / (math.sqrt(share) * sites.n))


def averages(data: CurveData, beyond: float) -> Array:
    """Average shares by part, by fine part, and beyond each bound: (repeats, sites, numbers)."""
    facts, per_site = data.facts, data.sizes.n_curves_per_server
    known = np.isfinite(data.values) & np.isfinite(data.times)
    fine = parts_of(times_of(data))
    marks = [data.values < facts.value_low - beyond, data.values > facts.value_high + beyond]
    stops, rows = np.cumsum(per_site), []
    for r in range(data.n_repeats):
        of_sites = []
        for stop, n in zip(stops, per_site, strict=True):
            here = slice(stop - n, stop)
            shares = np.bincount(fine[r, here][known[r, here]], minlength=FINE_PARTS) / n
            of_sites.append(
                np.concatenate(
                    [
                        shares.reshape(PARTS, -1).sum(axis=1),
                        shares,
                        [(mark[r, here] & known[r, here]).sum() / n for mark in marks],
                    ]
                )
            )
        rows.append(of_sites)
    return np.array(rows)


def sent(messages: FactMessages, step: Step, exact: Array, normals: Array) -> tuple[Array, Array]:
    """Send and pool a message: (repeats, draws, numbers), and the noise in it, (numbers,).

    `exact` (repeats, draws or 1, sites, numbers), `normals` (repeats, draws, sites, numbers).
    """
    is_first = step == FACTS
    weights = MESSAGE.weights if is_first else np.ones(exact.shape[-1])
    noise = messages.noise if is_first else messages.side_noise
    of_sites = [
        transcript.sent(s, step, exact[:, :, s] * weights + scale * normals[:, :, s], scale)
        / weights
        for s, scale in enumerate(noise)
    ]
    return pooled(of_sites, [scale / weights for scale in noise], messages.people)


@dataclass(frozen=True, eq=False)
class FactsTold:
    """Answers of the messages about facts, by plan; None where none were sent."""

    messages: list[FactMessages | None]
    first: list[tuple[Array, Array] | None]  # shares (repeats, draws, numbers) and noise (numbers,)
    sides: list[tuple[Array, Array] | None]  # (repeats, draws, 2) above and below, and noise (2,)
    shape: tuple[int, ...]  # (plans, repeats, draws)

    def checks(self) -> tuple[Check, ...]:
        """List the checks of all releases, fact by fact."""
        of_plans = [self._of_plan(k) for k in range(len(self.messages))]
        facts = dict.fromkeys(check.fact for checks in of_plans for check in checks)
        return tuple(
            joined(
                [
                    next(
                        (check for check in checks if check.fact == fact),
                        _unasked(fact, self.shape[1:]),
                    )
                    for checks in of_plans
                ]
            )
            for fact in facts
        )

    def _of_plan(self, k: int) -> list[Check]:
        messages, first, sides = self.messages[k], self.first[k], self.sides[k]
        if messages is None or first is None:
            return []
        checks = [*decide(messages.question, *first).checks]
        return checks if sides is None else [*checks, one_sided(*sides, messages)[0]]

    def cautions(self, facts: PublicFacts) -> Iterator[Caution]:
        """Put what they tell into sentences, each with the releases that say it."""
        releases: dict[tuple[str, str, bool], NDArray[np.bool_]] = {}
        for k, messages in enumerate(self.messages):
            first = self.first[k]
            if messages is None or first is None:
                continue
            decision = decide(messages.question, *first)
            sides = self.sides[k]
            one = None if sides is None else one_sided(*sides, messages)
            for where in np.ndindex(self.shape[1:]):
                said: list[tuple[str, str, bool]] = []
                window = decision.window
                if decision.is_clustered[where]:
                    said.append((CLUSTERED_TIMES, CLUSTERED_TIMES, True))
                elif decision.departs[where] and window is not None:
                    start, end = (
                        f"{float(facts.from_unit_time(each[where])):.4g}"
                        for each in (window.start, window.end)
                    )
                    said.append(
                        (
                            UNTRUE_TIMES,
                            UNTRUE_TIMES.format(
                                start=start,
                                end=end,
                                share=_percent(window.share[where]),
                                expected=_percent(window.expected[where]),
                            ),
                            True,
                        )
                    )
                if decision.is_moved[where].any():
                    share = _percent(decision.beyond[where][decision.is_moved[where]].sum())
                    said.append((FAR_BEYOND, FAR_BEYOND.format(share=share), True))
                if one is not None and one[0].outcome[where] == CheckOutcome.TOLD.value:
                    side = "above" if one[1][where] > 0 else "below"
                    said.append((ONE_SIDED, ONE_SIDED.format(side=side), False))
                for each in said:
                    applies = releases.setdefault(each, np.zeros(self.shape, dtype=bool))
                    applies[k][where] = True
        for (kind, text, voids), applies in releases.items():
            yield Caution(text, applies, SaidIn.HEADING if voids else SaidIn.LINE, kind=kind)


def one_sided(shares: Array, noise: Array, messages: FactMessages) -> tuple[Check, Array]:
    """Judge the last message; also by how many more observations are far above than below.

    What is asked is whether the difference is more than noise, sampling and the error of the curve
    make of evenly spread observations, and more than a fiftieth of them.
    """
    apart = shares[..., 0] - shares[..., 1]
    both = np.clip(shares.sum(axis=-1), 0.0, 1.0)
    spread = np.sqrt(2 * noise.mean() ** 2 + both / sum(messages.people) + messages.side_drift**2)
    limit = np.maximum(quantile(_ONE_SIDE_LEVEL) * spread, _MATERIAL)
    return Check(
        EVENLY_AROUND,
        np.abs(apart),
        spread,
        limit,
        limit + quantile(_ONE_OF_TEN) * spread,
        outcomes(np.abs(apart) > limit, CheckOutcome.TOLD),
    ), apart


def _unasked(fact: Fact, shape: tuple[int, ...]) -> Check:
    nothing = np.full(shape, np.nan)
    return Check(
        fact, nothing, nothing, nothing, nothing, np.full(shape, CheckOutcome.UNTESTED.value)
    )


def side_by_side(
    fact: Fact, of_fits: Sequence[tuple[Sequence[Check], tuple[int, ...]]], order: NDArray[np.int64]
) -> Check:
    """Join the checks of one fact in several fits, with their budgets in this order."""
    found = [
        next((check for check in checks if check.fact == fact), _unasked(fact, shape))
        for checks, shape in of_fits
    ]
    return Check(
        fact,
        *(
            np.concatenate(arrays)[order]
            for arrays in zip(*(check.arrays for check in found), strict=True)
        ),
    )


def _percent(share: Array | float) -> str:
    return f"{100 * min(max(float(share), 0.0), 1.0):.0f} %"
