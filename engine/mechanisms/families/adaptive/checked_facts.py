"""Two paid messages about the stated facts, and what is decided from them.

The first is sent before anything else: how observation times are spread, or who is observed at each
common time, and how many observations lie beyond the stated bounds. The last is sent after the last
location: how many people are far from the others and, where they are stated to be spread evenly
about their mean, how many more lie on one side. Every decision is a function of messages and public
numbers, so it costs nothing and may choose the method of all later messages.

Privacy
-------
*First message.* Let person i have

* where times are not common, h_i in R⁶ and k_i in R⁴⁸: the shares of i's observations in six and in
  48 equal parts of the time range;
* where q times are common, a_i in {0, 1}^q: observed at time j or not, a time counting as the
  nearest stated one;
* always, b_i in R²: the shares of i's observations strictly below the lower and strictly above the
  upper stated bound. An observation at a bound is not beyond it.

All are functions of i alone, at least 0, and 0 where a reading or a time of i is no number. The
shares in each of h_i, k_i and b_i sum to at most 1. A site sends the averages over its n people of
(√½ h, ½ k, ½ b), or of (√¾ √(2/q) a, ½ b), with Gaussian noise of standard deviation √2/(nμ√s).

Replace one person. For x, x' ≥ 0 with sums of at most 1, ‖x − x'‖² = ‖x‖² + ‖x'‖² − 2x·x' ≤ 2; this
holds for h, k and b. ‖a − a'‖² ≤ q, so that √(2/q) a moves by at most √2. The squared weights
½ + ¼ + ¼, or ¾ + ¼, sum to 1: the message moves by at most √2/n and is μ√s-GDP. The bound is
attained by two people who are observed in different parts of the range, one below and one above
the bounds. Where only b is sent it has weight 1.

*Covariates.* With regressors G = (1, g), g in [−1, 1]^(K − 1), v_i = h_i ⊗ G_i with h_i of four
parts takes the place of h and k. ‖v − v'‖² = ‖h‖²‖G‖² + ‖h'‖²‖G'‖² − 2(h·h')(G·G'), where
‖G‖² ≤ K, G·G' ≥ 2 − K and 0 ≤ h·h' ≤ 1: at most max(2K, 4K − 4) = 4(K − 1) for K ≥ 2. So
(√¾ v/√(2(K − 1)), ½ b) moves by at most √2/n.

*δ = 0.* (h, b), (2a/q, b) or 2b moves by at most 4/n in ℓ₁ norm: ‖x − x'‖₁ ≤ 2 for shares, and
‖a − a'‖₁ ≤ q. Laplace noise of scale 4/(nεs) is εs-DP. k is not sent: the noise of each number
would grow with how many there are.

*Last message.* The centre a, shape d and radius c of the last location are fixed by earlier
messages. With R_i = ‖h_i(a)/d‖/c for the deviation h_i of person i, f_i = (1{1 < R_i ≤ 2},
1{R_i > 2}) is (0, 0), (1, 0) or (0, 1), two of which are at most √2 apart. The average of f_i with
noise √2/(nμ√s₂) is μ√s₂-GDP. It is not free beside a location, as sizes and moments are: those
agree for mirrored deviations, this does not for a person who is far and one who is just clipped.

*Sides.* Where clipping relies on symmetry f_i has a third number, ±1/√2 for a person with R_i ≤ 1
who is above or below the centre by the first coefficient, else 0. It costs nothing: of (0, 0, 0),
(1, 0, 0), (0, 1, 0) and (0, 0, ±1/√2) no two are more than √2 apart. Here a is the centre after the
last location, which earlier messages fix as well.

*Composition.* s + s₂ + Σ w_k (1 − s − s₂) = 1 with the shares w_k of all other messages, whatever
was decided: the ledger is the same in all branches. Σ μ_k² = μ², as in
`engine.mechanisms.families.adaptive.location`.

Several sites send messages about their own people; these are pooled by numbers of people.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from engine.core.bands import NORMAL
from engine.core.checks import Check, CheckOutcome, Fact, outcomes
from engine.core.grids import read_only
from engine.core.types import Array, CurveData, CurveStore, Design, Step, TimeLaw
from engine.mechanisms.families.adaptive.scales import ObservationScale
from engine.numerics.deviations import blocks_of
from engine.numerics.exact_sums import ExactSum, mean_of_numbers, mean_of_parts, sum_of_numbers
from engine.numerics.observation_times import Stratified, draw_times
from engine.numerics.time_histograms import shares_in
from engine.privacy import transcript

SENSITIVITY, PURE_SENSITIVITY = math.sqrt(2), 4.0  # as proved above; the second in ℓ₁ norm
FACTS = Step("facts about observations", sensitivity=SENSITIVITY)
PURE_FACTS = Step(FACTS.key, sensitivity=PURE_SENSITIVITY)
FAR = Step("people far from the others", sensitivity=SENSITIVITY)

# Shares of μ², or of ε where δ = 0. A tenth is spent where studies are small: with a twentieth a
# gap of a fifth of the range is told in .67 of releases at N = 237, with a tenth in .85.
FAR_SHARE, PURE_SHARE = 0.03, 0.05
_MOST, _LEAST, _MOST_UP_TO = 0.10, 0.02, 100.0

_ENTRIES, _PEOPLE = 4_000_000, 4096  # numbers, and people, worked on together
PARTS, FINE_PARTS = 6, 48  # of the time range; four, five, eight or ten parts tell gaps more rarely
QUARTERS = 4  # parts beside covariates
# The .99 quantile of the largest |z| of all windows under noise alone, by parts, and Laplace noise.
_SURE, _PURE_SURE = {PARTS: 3.36, QUARTERS: 3.17}, 4.53
_DEPENDENT, _DEPENDENT_LEVEL = 0.01, 0.01  # of observations; of false alarms
_MATERIAL = 0.06  # of observations: large studies do not pay for harmless departures
_LEAST_EXPECTED = 0.02  # windows in which the stated law puts less are not asked
_DRAWS, _SEED = 4000, 1  # simulated curves behind what a law expects
_CLUSTER_LEVEL = 0.01  # of false alarms
# Excess of the chance that two observations share a fine part. Times rounded to 60 values make it
# .003, 24 common times .021.
_CLUSTERED = 0.01
_BEYOND, _BEYOND_LEVEL = 0.01, 0.0047  # of observations; of false alarms at either bound
_THIN, _LEFT_OUT, _THIN_LEVEL = 0.75, 0.5, 0.005  # with .9, noise alone would leave times out
_MAX_NOISE_OF_TIMES, _MAX_NOISE = 0.25, 0.03  # of shares, from which checks tell too little
_FAR_LEVEL, _FAR, _ONE_OF_TEN = 0.01, 0.005, 0.1  # ordinary people: up to .002 beyond two radii
SIDE = math.sqrt(0.5)  # weight of the side that a person is on
# Of people, more on one side: 2.6 standard errors, and so many that it matters. Bands of gamma
# levels with skewness 1 (.12) hold; those of exponential (.25) and lognormal levels miss from
# N = 1800 on. The share that is on one side of a centre moves by .8 times its error in standard
# deviations of people for normal laws, and farther where noise hides how little people differ.
_SIDE_LEVEL, _UNEVEN, _PEAK = 0.005, 0.12, 2.0
_LEAST_RADIUS = 0.75  # standard deviations, from which one side tells of skew
_MOST_UNEVEN = 0.4  # where only a larger excess would show, nothing is tested
MOST_FAR = 0.5  # where only a larger share would show, which is never far, nothing is tested
_MIDDLE_LEVEL, _MIDDLE, _OUTER = 0.05, 1.0, 3.0  # radii by which people beyond 1 and 2 may move it

LAW = Fact(
    "Observation times are spread as stated",
    "{} of observations too many or too few in one part of the time range",
    "a gap of {} of the time range",
)
CLUSTERS = Fact(
    "Observation times are not a few common ones",
    "two observations coincide {} more often than stated",
    "coincidences {} more often",
    is_relied_on=False,
)
AVAILABLE = Fact(
    "People are observed at all common times alike",
    "{} of people at the time with fewest",
    "a time with fewer than {}",
)
COVARIATES = Fact(
    "Observation times do not follow covariates",
    "covariance of {} at most with the share of a quarter of the time range",
    "a covariance of {}",
)
BOUNDS = Fact(
    "Observations lie within the stated bounds",
    "{} beyond the worse of both bounds",
    "{} beyond a bound",
)
SIDES = Fact(
    "People are spread evenly about their mean", "{} more on one side", "{} more on one side"
)
NEAR = Fact("Nobody is far from the others", "{} of people", "{} of people", is_relied_on=False)


def first_share(effective: float, pure: bool) -> float:
    """The share s of the first message, from the pooled N.

    Examples
    --------
    >>> [round(first_share(n, pure=False), 3) for n in (100.0, 444.0, 5000.0)]
    [0.1, 0.051, 0.02]
    """
    if pure:
        return PURE_SHARE
    return min(_MOST, max(_LEAST, (_MOST_UP_TO / effective) ** 2))


# -- what is sent ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class FirstMessage:
    """Layout of the first message, from public facts alone."""

    times: tuple[float, ...] = ()  # the common times that are asked about
    has_parts: bool = True  # h and, unless δ = 0, k
    pure: bool = False
    n_functions: int = 0  # K ≥ 2 where v takes the place of h and k

    @classmethod
    def planned(cls, design: Design, effective: float, share: float, pure: bool) -> FirstMessage:
        """Ask about common times where noise lets the answers be told, else about bounds alone."""
        if design.law is not TimeLaw.COMMON:
            return cls(pure=pure)
        q = len(design.times)
        noise = (
            q / math.sqrt(2) / (effective * share)
            if pure
            else math.sqrt(4 / 3 * q) / (effective * math.sqrt(share))
        )
        return cls(design.times if noise <= _MAX_NOISE_OF_TIMES else (), False, pure)

    @property
    def step(self) -> Step:
        return PURE_FACTS if self.pure else FACTS

    def noise_of(self, costs: Array, is_pure: bool) -> Array:
        """Standard deviation of the noise in each number of one person, at these μ or ε.

        Laplace noise only at the sites where δ = 0: a norm is at most the ℓ₁ norm, so that the
        sensitivity of such messages holds for Gaussian noise at others.
        """
        sensitivity = PURE_SENSITIVITY if self.pure else SENSITIVITY
        return np.asarray(math.sqrt(2 if is_pure else 1) * sensitivity / costs)

    @cached_property
    def weights(self) -> Array:
        """Factors of the averages before they are sent: (numbers,)."""
        q, k = len(self.times), self.n_functions
        if k:
            return np.array([math.sqrt(0.375 / (k - 1))] * QUARTERS * k + [0.5] * 2)
        if self.pure:
            return np.array(
                [1.0] * PARTS * self.has_parts
                + [2 / max(q, 1)] * q
                + [1.0 if q or self.has_parts else 2.0] * 2
            )
        if self.has_parts:
            return np.array([math.sqrt(0.5)] * PARTS + [0.5] * (FINE_PARTS + 2))
        return np.array([math.sqrt(1.5 / max(q, 1))] * q + [0.5 if q else 1.0] * 2)

    def statistic(
        self,
        times: Array,
        side: NDArray[np.int64],
        counts: NDArray[np.int64],
        regressors: Array | None = None,
    ) -> Array:
        """Compute each person's part of the averages, unweighted: (repeats, numbers, people).

        Times (repeats, N) are on [0, 1]; a side is 0 below the bounds, 1 above, 2 between, negative
        for no number. Regressors (repeats, K, people) are within [−1, 1], the first 1; all 0 for a
        missing covariate.
        """
        blocks: list[Array] = []
        is_number = (side >= 0) & np.isfinite(times)
        if regressors is not None:
            quarters = np.clip(np.where(is_number, times, 0.0) * QUARTERS, 0, QUARTERS - 1)
            of_parts = shares_in(quarters.astype(np.int64), is_number, counts, QUARTERS)
            products = of_parts[:, :, None] * regressors[:, None]
            blocks.append(np.asarray(products.reshape(len(times), -1, len(counts))))
        elif self.has_parts:
            fine = shares_in(
                parts_of(np.where(is_number, times, 0.0)), is_number, counts, FINE_PARTS
            )
            blocks.append(fine.reshape(len(fine), PARTS, -1, fine.shape[-1]).sum(axis=2))
            blocks += [] if self.pure else [fine]
        elif self.times:
            seen = shares_in(nearest(times, self.times), is_number, counts, len(self.times))
            blocks.append(np.asarray((seen > 0) * 1.0))
        beyond = shares_in(side, is_number, counts, 3)[:, :2]
        blocks.append(beyond if regressors is None else np.asarray(beyond * regressors[:, :1]))
        return np.concatenate(blocks, axis=1)

    def blocks(self, numbers: Array) -> tuple[Array, Array, Array]:
        """Numbers by part or time, by fine part, and beyond each bound, of (…, numbers)."""
        first = PARTS if self.has_parts else len(self.times)
        if self.n_functions:
            first = QUARTERS * self.n_functions
        return numbers[..., :first], numbers[..., first:-2], numbers[..., -2:]


def parts_of(times: Array) -> NDArray[np.int64]:
    """The fine part that each time on [0, 1] is in."""
    return np.clip(times * FINE_PARTS, 0, FINE_PARTS - 1).astype(np.int64)


def nearest(times: Array, stated: Sequence[float]) -> NDArray[np.int64]:
    """The number of the stated time that each time is nearest to."""
    between = (np.array(stated[1:]) + np.array(stated[:-1])) / 2
    return np.searchsorted(between, times)


def site_averages(
    message: FirstMessage,
    data: CurveData | CurveStore,
    scale: ObservationScale,
    servers: Sequence[slice],
    regressors: Callable[[CurveData], Array] | None = None,
) -> Array:
    """Averages over the people of each site, without weights: (repeats, sites, numbers)."""
    if isinstance(data, CurveStore):
        first = _FirstSums(message, scale, regressors)
        parts = (data.of_parts(site, first) for site in range(len(servers)))
        return np.stack([mean_of_parts(of_site) for of_site in parts], axis=1)
    largest = max(curves.stop - curves.start for curves in servers)
    tall = max(1, _ENTRIES // (len(message.weights) * max(largest, 1)))
    blocks, known = [], None if regressors is None else regressors(data)
    for some in blocks_of(data.n_repeats, tall):
        told = None if known is None else known[some]
        each = [
            mean_of_numbers(_of_people(message, data, scale, some, curves, told))
            for curves in servers
        ]
        blocks.append(np.stack(each, axis=1))
    return np.concatenate(blocks)


@dataclass(frozen=True)
class _FirstSums:
    """Sums of what people add to a first message."""

    message: FirstMessage
    scale: ObservationScale
    regressors: Callable[[CurveData], Array] | None

    def __call__(self, blocks: Iterator[CurveData]) -> tuple[ExactSum | None, int]:
        return sum_of_numbers(part for block in blocks for part in self._of(block))

    def _of(self, block: CurveData) -> Iterator[Array]:
        known = None if self.regressors is None else self.regressors(block)
        people = block.parts[0]
        return _of_people(self.message, block, self.scale, slice(0, 1), people, known)


def _of_people(
    message: FirstMessage,
    data: CurveData,
    scale: ObservationScale,
    some: slice,
    curves: slice,
    known: Array | None,
) -> Iterator[Array]:
    """Yield what people add to the averages, some at a time; `known` are their regressors."""
    ends = np.cumsum([0, *data.counts])
    for part in blocks_of(curves.stop - curves.start, _PEOPLE):
        mine = slice(curves.start + part.start, curves.start + part.stop)
        times, values = (
            each[some, ends[mine.start] : ends[mine.stop]] for each in (data.times, data.values)
        )
        yield message.statistic(
            times,
            scale.side(times, values),
            data.counts[mine],
            None if known is None else known[..., mine],
        )


def sent_by_sites(
    message: FirstMessage,
    averages: Array,
    deviations: Sequence[Array],
    noises: Sequence[Array],
    people: Sequence[int],
) -> tuple[Array, Array]:
    """Send the first message of every site; what all say together, and the noise in it.

    Averages are (repeats, sites, numbers), deviations (sites, columns), the noise of each site
    (repeats, columns, numbers) of unit variance. Both results are without weights:
    (repeats, columns, numbers) and (columns, numbers).
    """
    sent, scales = [], []
    for s, (deviation, noise, n) in enumerate(zip(deviations, noises, people, strict=True)):
        unit = (deviation / n)[:, None]
        values = averages[:, s][:, None] * message.weights + unit * noise
        sent.append(transcript.sent(s, message.step, values, unit) / message.weights)
        scales.append(unit / message.weights)
    return pooled(sent, scales, people)


def pooled(
    sent: Sequence[Array], scales: Sequence[Array], people: Sequence[int]
) -> tuple[Array, Array]:
    """Pool the messages of all sites by their numbers of people, with the noise left in them."""
    shares = np.array(people) / sum(people)
    values = sum(share * each for share, each in zip(shares, sent, strict=True))
    variance = sum((share * each) ** 2 for share, each in zip(shares, scales, strict=True))
    return np.asarray(values), np.sqrt(np.asarray(variance))


# -- what is decided ------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def expected_shares(design: Design, observations: tuple[tuple[int, int], ...]) -> Array:
    """Simulate the share of the stated law in each fine part, from public draws: (48,).

    `observations` are numbers of observations, each with how many people have so many.
    """
    if design == Design():
        return read_only(np.full(FINE_PARTS, 1 / FINE_PARTS))
    rng, total = Stratified(np.random.default_rng(_SEED)), sum(n for _, n in observations)
    shares = np.zeros(FINE_PARTS)
    for count, people in observations:
        parts = parts_of(draw_times(design, _DRAWS, max(count, 1), rng))
        shares += people / total * np.bincount(parts.ravel(), minlength=FINE_PARTS) / parts.size
    return read_only(shares)


@dataclass(frozen=True)
class Question:
    """All that a decision depends on beside messages: what was asked, and public facts."""

    message: FirstMessage
    design: Design  # as stated; even times where nothing is stated or they are learned
    observations: tuple[tuple[int, int], ...]
    n_people: int  # sampling variability is that of one observation of each
    # Percentiles of values that are moved to a bound are the percentiles, moved. Of them no time is
    # left out.
    is_of_mean: bool = True
    learns_times: bool = False  # whether their distribution is released, for where it is uneven

    @property
    def expected(self) -> Array:
        return expected_shares(self.design, self.observations)

    @property
    def planned_at_each(self) -> float:
        """The share of people whom the stated numbers of observations put at each common time."""
        q, total = len(self.message.times), sum(people for _, people in self.observations)
        return sum(people * min(count, q) for count, people in self.observations) / (q * total)


@dataclass(frozen=True, eq=False)
class Window:
    """The part of the time range that contradicts the stated law most; arrays (…)."""

    start: Array  # on [0, 1]
    end: Array
    share: Array  # of all observations, as measured
    expected: Array


@dataclass(frozen=True, eq=False)
class FactsDecision:
    """Verdict of the first message on the stated facts; arrays begin with its axes (…)."""

    checks: tuple[Check, ...]
    window: Window | None  # of spread times
    departs: NDArray[np.bool_]  # (…), whether that contradicts the stated law
    is_clustered: NDArray[np.bool_]  # (…)
    present: Array  # (…, q), shares of people at common times
    thin: NDArray[np.bool_]  # (…, q), where they are fewer than three quarters
    left_out: NDArray[np.bool_]  # (…, q), where later messages do not read them
    absent: NDArray[np.bool_]  # (…, q), those that would be left out if they were not too many
    beyond: Array  # (…, 2), shares of observations below and above the bounds
    is_moved: NDArray[np.bool_]  # (…, 2), where these are too many
    follows_covariates: NDArray[np.bool_]  # (…), whether observation times do

    @property
    def is_untrue(self) -> NDArray[np.bool_]:
        """True where observation times are not as stated: (…)."""
        return np.asarray(self.departs | self.is_clustered)


def decide(question: Question, measured: Array, noise: Array) -> FactsDecision:
    """Judge the stated facts by the first message and public numbers alone.

    `measured` and `noise` (…, numbers) are averages over people with weights undone, and the
    standard deviations of their noise.
    """
    message, noise = question.message, np.broadcast_to(noise, measured.shape)
    first, fine, beyond = message.blocks(measured)
    of_first, of_fine, of_beyond = message.blocks(noise)
    window, present = None, first if message.times else first[..., :0]
    departs = is_clustered = follows = np.zeros(measured.shape[:-1], dtype=bool)
    thin = left_out = absent = np.zeros(present.shape, dtype=bool)
    checks: list[Check] = []
    if message.n_functions:
        by_function = (*measured.shape[:-1], QUARTERS, message.n_functions)
        first, of_first = first.reshape(by_function), of_first.reshape(by_function)
        check, window, departs = _of_windows(question, first[..., 0], of_first[..., 0])
        checks.append(check)
        check, follows = _of_covariates(question, first, of_first[..., 0])
        checks.append(check)
    elif message.has_parts:
        check, window, departs = _of_windows(question, first, of_first)
        checks.append(check)
    if message.has_parts and not message.pure and not message.n_functions:
        check, is_clustered = _of_clusters(question, fine, of_fine, departs)
        checks.append(check)
    if message.times:
        check, thin, few = _of_times(question, present, of_first)
        left_out, absent = (
            few & ~check.has(CheckOutcome.VOID)[..., None],
            few & check.has(CheckOutcome.VOID)[..., None],
        )
        checks.append(check)
    check, is_moved = _of_bounds(question, beyond, of_beyond)
    return FactsDecision(
        (*checks, check),
        window,
        departs,
        is_clustered,
        present,
        thin,
        left_out,
        absent,
        beyond,
        is_moved,
        follows,
    )


def _of_windows(
    question: Question, shares: Array, noise: Array
) -> tuple[Check, Window, NDArray[np.bool_]]:
    """Scan windows of up to half of the range for too many or too few observations."""
    parts, n = shares.shape[-1], question.n_people
    windows = np.array(
        [
            (first, first + length)
            for length in range(1, parts // 2 + 1)
            for first in range(parts - length + 1)
        ]
    )
    covers = ((windows[:, :1] <= np.arange(parts)) & (np.arange(parts) < windows[:, 1:])) * 1.0
    expected, found = covers @ question.expected.reshape(parts, -1).sum(axis=1), shares @ covers.T
    spread = np.sqrt(noise**2 @ covers.T + expected * (1 - expected) / n)
    pure, is_asked, apart = (
        question.message.pure,
        expected >= _LEAST_EXPECTED,
        np.abs(found - expected),
    )
    sure = _PURE_SURE if pure else _SURE[parts]
    told = (apart > sure * spread) & (apart > _MATERIAL) & is_asked
    # the farthest off, in units of its noise, of those that are told, else of all
    score = np.where(is_asked, apart / spread, -1.0)
    worst = np.argmax(np.where(told, score + score.max(axis=-1, keepdims=True), score), axis=-1)

    def at_worst(each: Array) -> Array:
        each = np.broadcast_to(each, apart.shape)
        return np.take_along_axis(each, worst[..., None], axis=-1)[..., 0]

    starts, ends = windows.T / parts
    window = Window(*map(at_worst, (starts, ends, found, expected)))
    of_part = noise.mean(axis=-1)
    # of two neighbouring parts, which hold a gap of the length of one wherever it is
    two = 2 / parts
    least = (sure + quantile(_ONE_OF_TEN, pure)) * np.sqrt(2 * of_part**2 + two * (1 - two) / n)
    least = np.maximum(least, _MATERIAL)
    departs = told.any(axis=-1)
    outcome = CheckOutcome.CORRECTED if question.learns_times else CheckOutcome.VOID
    return (
        Check(
            LAW,
            at_worst(apart),
            of_part,
            np.maximum(_MATERIAL, sure * at_worst(spread)),
            least / (1 - two + least),
            outcomes(departs, outcome, of_part < _MAX_NOISE),
        ),
        window,
        departs,
    )


def _of_clusters(
    question: Question, shares: Array, noise: Array, departs: NDArray[np.bool_]
) -> tuple[Check, NDArray[np.bool_]]:
    """Ask whether observations fall together: Σ (k − e)², less what noise and sampling add.

    A law that is uneven from part to part, and told by that, is not called clustered.
    """
    expected = question.expected
    variance = noise**2 + expected * (1 - expected) / question.n_people
    excess = ((shares - expected) ** 2 - variance).sum(axis=-1)
    spread = np.sqrt(2 * (variance**2).sum(axis=-1))
    limit = np.maximum(quantile(_CLUSTER_LEVEL) * spread, _CLUSTERED)
    apart = (shares - expected).reshape(*shares.shape[:-1], PARTS, -1)
    between = apart.sum(axis=-1) ** 2 / apart.shape[-1]
    told = np.asarray(excess > limit) & ~(departs & (between.sum(axis=-1) > excess / 2))
    return Check(
        CLUSTERS,
        excess,
        spread,
        limit,
        limit + quantile(_ONE_OF_TEN) * spread,
        outcomes(told, CheckOutcome.VOID),
    ), told


def _of_covariates(
    question: Question, products: Array, noise: Array
) -> tuple[Check, NDArray[np.bool_]]:
    """Ask whether mean h_b g_k = mean h_b · mean g_k: (…, parts, K) and the noise (…, parts)."""
    n, shares, means = question.n_people, products[..., :1], products.sum(axis=-2, keepdims=True)
    apart = (products - shares * means)[..., 1:]
    # of h_b g_k, less shares of all parts together; and of shares, times the mean of g_k
    of_sums = 1 - 2 * shares + shares.shape[-2] * shares**2 + means[..., 1:] ** 2
    spread = np.sqrt(noise[..., None] ** 2 * np.maximum(of_sums, 0.5) + np.maximum(shares, 0.0) / n)
    tests = apart.shape[-1] * apart.shape[-2]
    limit = np.maximum(quantile(_DEPENDENT_LEVEL / 2 / tests) * spread, _DEPENDENT)
    told = np.asarray((np.abs(apart) > limit).any(axis=(-1, -2)))
    largest, of_test, at = (each.max(axis=(-1, -2)) for each in (np.abs(apart), spread, limit))
    return Check(
        COVARIATES,
        largest,
        of_test,
        at,
        at + quantile(_ONE_OF_TEN) * of_test,
        outcomes(told, CheckOutcome.VOID, of_test < _MAX_NOISE),
    ), told


def _of_times(
    question: Question, present: Array, noise: Array
) -> tuple[Check, NDArray[np.bool_], NDArray[np.bool_]]:
    """Ask who is observed at each common time; those with few are left out, unless most are.

    Few against how many observations people have: all times, or some of them drawn evenly.
    """
    q, pure = present.shape[-1], question.message.pure
    beyond, planned = quantile(_THIN_LEVEL / q, pure), question.planned_at_each
    thin = present + beyond * noise < _THIN * planned
    few = thin & (present < _LEFT_OUT * planned)
    is_void = few.mean(axis=-1) > (0.5 if question.is_of_mean else 0.0)
    of_time = noise.mean(axis=-1)
    limit = _THIN * planned - beyond * of_time
    outcome = np.where(
        is_void,
        CheckOutcome.VOID.value,
        outcomes(np.asarray(few.any(axis=-1)), CheckOutcome.CORRECTED),
    )
    outcome = np.where(
        (outcome == CheckOutcome.HOLDS.value) & thin.any(axis=-1), CheckOutcome.TOLD.value, outcome
    )
    smallest = np.maximum(limit - quantile(_ONE_OF_TEN, pure) * of_time, 0.0)
    return Check(AVAILABLE, present.min(axis=-1), of_time, limit, smallest, outcome), thin, few


def _of_bounds(question: Question, beyond: Array, noise: Array) -> tuple[Check, NDArray[np.bool_]]:
    """Ask how many observations were moved to a bound: how far they were beyond, nothing tells."""
    pure, outcome = (
        question.message.pure,
        CheckOutcome.VOID if question.is_of_mean else CheckOutcome.TOLD,
    )
    limit = _BEYOND + quantile(_BEYOND_LEVEL, pure) * noise
    told = beyond > limit
    of_bound = noise.max(axis=-1)
    return Check(
        BOUNDS,
        beyond.max(axis=-1),
        of_bound,
        limit.max(axis=-1),
        limit.max(axis=-1) + quantile(_ONE_OF_TEN, pure) * of_bound,
        outcomes(np.asarray(told.any(axis=-1)), outcome, of_bound < _MAX_NOISE),
    ), told


def of_far_people(shares: Array, usual: Array, noise: Array) -> tuple[Check, Array]:
    """Judge the last message, and by how many radii the band is widened for it.

    Shares (…, 2) are of people beyond one and beyond two radii. The check is void if people are
    beyond two radii, more than noise makes of none, and untested if half of all could be. Radii (…)
    are 0 unless people are beyond two, or more than noise makes of none beyond one that is so wide
    that usual people hardly ever are.
    """
    excess = shares - usual
    limit = np.maximum(quantile(_FAR_LEVEL) * noise, _FAR)
    told = np.asarray(excess[..., 1] > limit)
    surely = np.maximum(excess - (quantile(_MIDDLE_LEVEL) * noise)[..., None], 0.0)
    # so wide a radius holds usual people back nowhere, and each beyond it by one radius at most
    is_wide = (usual[..., 0] <= _FAR) & (excess[..., 0] > limit)
    held_back = np.where(is_wide, excess[..., 0], 0.0)
    radii = np.where(told, surely @ np.array([_MIDDLE, _OUTER]), held_back)
    smallest = smallest_far(noise)
    return Check(
        NEAR,
        excess[..., 1],
        noise,
        limit,
        smallest,
        outcomes(told, CheckOutcome.VOID, np.asarray(smallest < MOST_FAR)),
    ), radii


def of_sides(side: Array, error: Array) -> Check:
    """Judge how many more people lie on one side of the curve than on the other.

    Both are (…): the excess, and its standard error where people are spread evenly.
    """
    limit = np.maximum(quantile(_SIDE_LEVEL) * error, _UNEVEN)
    smallest = limit + quantile(_ONE_OF_TEN) * error
    told = np.asarray(np.abs(side) > limit)
    return Check(
        SIDES,
        np.abs(side),
        error,
        limit,
        smallest,
        outcomes(told, CheckOutcome.VOID, np.asarray(smallest < _MOST_UNEVEN)),
    )


def error_of_side(noise: Array, n_people: int, centre: Array) -> Array:
    """Standard error of the excess on one side, of people who are spread evenly about their mean.

    From the noise in each number of the message, sampling, and the error of the centre in standard
    deviations of people.
    """
    variance = (noise / SIDE) ** 2 + 1 / n_people + (_PEAK * centre) ** 2
    return np.asarray(np.sqrt(variance))


def bias_of_side(side: Array, error: Array, radius: Array) -> Array:
    """Estimate how far skew moves the centre, in standard deviations of people: (…).

    Let people of slight skewness γ be clipped at k standard deviations. By the first term of
    Edgeworth's series their centre is off by b = γ k φ(k)/(3 (2Φ(k) − 1)), and within k of it lie
    S = γ (φ(0) + (k² − 1) φ(k))/3 − 2b (φ(0) − φ(k)) more of them on one side than on the other. So
    S tells b; `radius` is k. Of S² what is beyond chance in 19 of 20 releases is taken.
    """
    k = np.maximum(radius, _LEAST_RADIUS)
    at_zero, at_k = (np.exp(-(each**2) / 2) / math.sqrt(2 * math.pi) for each in (0.0, k))
    bias = k * at_k / (3 * (1 - 2 * ndtr(-k)))
    excess = (at_zero + (k**2 - 1) * at_k) / 3 - 2 * bias * (at_zero - at_k)
    return np.asarray(bias / excess * np.sqrt(np.maximum(side**2 - (NORMAL * error) ** 2, 0.0)))


def smallest_far(noise: Array) -> Array:
    """The share of far people that nine releases of ten tell."""
    limit = np.maximum(quantile(_FAR_LEVEL) * noise, _FAR)
    return np.asarray(limit + quantile(_ONE_OF_TEN) * noise)


def quantile(upper_tail: float, pure: bool = False) -> float:
    """Standard deviations that noise exceeds with this chance, Gaussian or, for δ = 0, Laplace."""
    return -math.log(2 * upper_tail) / math.sqrt(2) if pure else float(-ndtri(upper_tail))
