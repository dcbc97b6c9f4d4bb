"""Centre, spread and shares: the three stages of percentile curves, each located by one engine.

A. The centre m(t) of readings, as a mean curve. B. Their spread s(t), from |z − m(t)|. C. At K
threshold curves c_k = m + s·z_k, the shares F of readings below, all K together. Stages A and B
only place the thresholds: what they miss in slow waves stage C puts right.

Privacy
-------
Replace one person: readings, times, how many there are. Let earlier releases be fixed. Centre,
spread, thresholds, expected shares, the rotation Q, public scales and radii are functions of
earlier releases and public numbers alone, and A is a public table read at the person's own number
of readings. So person i's deviation h_i is a function of person i and of what was released, it is
finite (z is clipped to [−1, 1] and S_i + Λ ≥ Λ > 0), and each release is the average of clipped h_i
over a public n with one summand changed: `engine.mechanisms.families.adaptive.location` proves its
sensitivity, whatever the h_i are. That of the first message, about stated facts, is proved in
`engine.mechanisms.families.adaptive.checked_facts`. Nothing is assumed of bounds, of thresholds or
of how many readings a person has. The squared shares of all messages sum to 1, so that a site's
releases are μ-GDP together.

Derived in this project. Arrays are (repeats, columns, …): a column for each draw, and a last one
without noise, which is never published.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import ndtr, ndtri

from engine.core.arrays import Indices
from engine.core.grids import drawing_grid
from engine.core.types import Array, Budget, CurveData, Design, Plan, Step
from engine.mechanisms.families.adaptive.checked_facts import (
    FirstMessage,
    Question,
    sent_by_sites,
    site_averages,
)
from engine.mechanisms.families.adaptive.constants import Constants
from engine.mechanisms.families.adaptive.fits import (
    NOISE_FREE,
    Heard,
    Streams,
    columns,
    public_observations,
    symmetric,
)
from engine.mechanisms.families.adaptive.location import (
    SEPARATE,
    Located,
    SiteDeviations,
    locate,
    of_stage,
)
from engine.mechanisms.families.adaptive.release import shrunk_each
from engine.mechanisms.families.adaptive.rules import mu_of, public_scale
from engine.mechanisms.families.adaptive.scales import ObservationScale
from engine.numerics.bases import Basis
from engine.numerics.curve_deviations import MOST_COLUMNS, CurveDeviations
from engine.numerics.deviations import Deviations, weighted_within_curves
from engine.numerics.moments import curve_moments
from engine.numerics.percentile_surface import MIN_SHARE, ShareSurface
from engine.numerics.reference_law import ReferenceLaw, heavy_tailed, of_observed_curves
from engine.numerics.share_deviations import CurveWeights, ReadingBlock, ShareBlock, ShareDeviations
from engine.privacy.feasibility import Feasibility

CENTRE, SPREAD, SHARES = "centre of observations", "their spread", "shares below thresholds"
STAGES = {CENTRE: 0.40, SPREAD: 0.05, SHARES: 0.55}  # of μ²
_WITHOUT_MOMENTS = (0.15, 0.05, 0.10, 0.05, 0.65)  # of a stage, release by release
_WITH_MOMENTS = (0.15, 0.05, 0.10, 0.05, 0.60, 0.05)
LEVELS = (0.02, 0.05, 0.12, 0.25, 0.50, 0.75, 0.88, 0.95, 0.98)  # of thresholds, where expected
_ALLOWANCE = 0.3  # of early centres, in units of the spread
_SHRINK_CENTRE, _SHRINK_REST = 100.0, 60.0  # N of a stage, from which small waves are shrunk
_NORMAL_SIZE = 0.7979  # E|Z| of a standard normal Z
_MIDDLE_SIZE = 0.2  # taken off |z − m|, so that the prior of the spread is about that
_MIN_OF_MEAN, _MIN_SPREAD = 0.3, 0.02  # s is no smaller than that share of its mean
_MIN_LEVEL, _MIN_VARIANCE = 0.01, 0.001  # of thresholds; of directions of their shares
_DENSE = 3  # readings for each wave, from which people tell of all of them
_OF_PLACES = Constants(bias_allowance=_ALLOWANCE)


@dataclass(frozen=True)
class PercentilePlan(Plan):
    """All that is fixed before any reading is looked at."""

    budgets: tuple[Budget, ...]
    verdict: Feasibility  # whether these sizes and budgets can give anything
    # centre_size, spread_size, shape_size: waves of the centre, of the spread and of every share
    centre_size: int
    spread_size: int
    shape_size: int
    width: float  # κ₀ of the shares
    limits: tuple[float, ...] = ()  # stated limits on [−1, 1], each a threshold of its own
    first: FirstMessage | None = None  # None: facts are not checked
    first_share: float = 0.0

    @property
    def tuning(self) -> dict[str, float]:
        return {
            "truncation": self.centre_size,
            "basis functions of the spread": self.spread_size,
            "basis functions of shares": self.shape_size,
            "clipping width": self.width,
            "effective_size": self.verdict.effective_size,
        }

    @property
    def n_thresholds(self) -> int:
        return len(LEVELS) + len(self.limits)

    def constants(self) -> Constants:
        """Clip shares widely, because the shares of single people are skewed."""
        return replace(
            _OF_PLACES,
            middle_width=max(1.0, self.width / 2),
            scale_width=self.width,
            final_width=self.width,
        )


def releases(left: float = 1.0) -> list[tuple[Step, float]]:
    """List all 16 releases of a site in order, each with its share of μ²; the shares sum to `left`.

    `left` is what messages about facts leave for them.
    """
    return [
        (of_stage(step, stage), left * share * part)
        for stage, share in STAGES.items()
        # second moments, the last step, have a part in the shares alone
        for step, part in zip(SEPARATE[: len(_parts(stage))], _parts(stage), strict=True)
    ]


def _parts(stage: str) -> tuple[float, ...]:
    return _WITH_MOMENTS if stage == SHARES else _WITHOUT_MOMENTS


# -- where thresholds lie ------------------------------------------------------------------------


@dataclass(frozen=True)
class Placement:
    """The released centre and spread of readings, and the thresholds that follow from them."""

    # centre, spread, each (…, r): coefficients
    centre: Array
    spread: Array
    basis: Basis  # of the centre; that of the spread are its first waves
    limits: tuple[float, ...]  # stated limits, on [−1, 1]

    def curves(self, waves: Array) -> tuple[Array, Array]:
        """Return the centre M and spread s, (…, X) each, from the waves φ (r, X)."""
        centre = np.einsum("...r,rx->...x", self.centre, waves)
        raw = np.einsum("...r,rx->...x", self.spread, waves[: self.spread.shape[-1]])
        raw += _MIDDLE_SIZE
        mean = self.spread[..., :1] + _MIDDLE_SIZE  # of all waves the first alone has one
        min_spread = _MIN_OF_MEAN * np.maximum(mean, _MIN_SPREAD)
        return (
            np.asarray(np.clip(centre, -1.0, 1.0)),
            np.asarray(np.maximum(raw, min_spread) / _NORMAL_SIZE),
        )

    def thresholds(self, centre: Array, spread: Array) -> tuple[Array, Array]:
        """Return the thresholds c_k and the shares p_k expected below them, (…, K, X) each.

        `centre` and `spread` (…, X) are m and s at X times.
        """
        scores = ndtri(np.array(LEVELS))[:, None]
        placed = centre[..., None, :] + spread[..., None, :] * scores
        limits = np.array(self.limits)[:, None]
        score = (limits - centre[..., None, :]) / spread[..., None, :]
        stated = np.broadcast_to(limits, score.shape)
        expected = np.broadcast_to(np.array(LEVELS)[:, None], placed.shape)
        of_limits = np.clip(ndtr(score), MIN_SHARE, 1 - MIN_SHARE)
        return (
            np.concatenate([placed, stated], axis=-2),
            np.concatenate([expected, of_limits], axis=-2),
        )


def rotation(expected: Array) -> tuple[Array, Array]:
    """Find directions in which shares p_k (…, K, G) of K thresholds vary almost independently.

    Indicators of one reading at K thresholds have the covariance of a Brownian bridge, min(p_k,
    p_k')(1 − max(p_k, p_k')). Q is (…, K, K), column by column; variances λ (…, K) fall.
    """
    level = np.clip(expected.mean(axis=-1), _MIN_LEVEL, 1 - _MIN_LEVEL)
    rows, columns = level[..., :, None], level[..., None, :]
    bridge = np.minimum(rows, columns) * (1 - np.maximum(rows, columns)) + 1e-9 * np.eye(
        level.shape[-1]
    )
    values, vectors = np.linalg.eigh(bridge)
    # Signs differ between processors. The inverse of a bridge is tridiagonal, so that no
    # eigenvector begins with 0: here each begins above it.
    vectors = vectors * np.where(vectors[..., :1, :] < 0, -1.0, 1.0)
    return np.asarray(vectors[..., ::-1]), np.asarray(values[..., ::-1])


# -- the fit ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StageNoise:
    """The standard noise of one site in all stages."""

    centre: Streams
    spread: Streams
    shares: Streams
    facts: Array  # (repeats, draws, numbers), of the first message; drawn last

    @classmethod
    def draw(
        cls, rng: np.random.Generator, repeats: int, draws: int, plans: Sequence[PercentilePlan]
    ) -> StageNoise:
        """Draw enough for the largest plan; smaller ones use the first waves of it."""
        k = plans[0].n_thresholds
        sizes = [
            max(getattr(plan, name) for plan in plans)
            for name in ("centre_size", "spread_size", "shape_size")
        ]
        return cls(
            _streams(rng, repeats, draws, 1, sizes[0], False),
            _streams(rng, repeats, draws, 1, sizes[1], False),
            _streams(rng, repeats, draws, k, sizes[2], True),
            rng.standard_normal(
                (
                    repeats,
                    draws,
                    max((len(plan.first.weights) for plan in plans if plan.first), default=0),
                )
            ),
        )


def _streams(
    rng: np.random.Generator, repeats: int, draws: int, functions: int, size: int, has_moments: bool
) -> Streams:
    normals = rng.standard_normal((6, repeats, draws, functions, size))
    p = functions * size if has_moments else 0
    square = symmetric(rng.standard_normal((repeats, draws, p, p)))
    shape = (repeats, draws, functions, size, functions, size) if has_moments else (0,) * 6
    return Streams(normals, np.empty((*normals.shape[:-1], 0)), square.reshape(shape))


class PercentileFit:
    """Surfaces of all plans of one call, from readings on [−1, 1], on the drawing grid."""

    def __init__(
        self,
        data: CurveData,
        values: Array,
        family: str,
        design: Design,
        plans: Sequence[PercentilePlan],
        draws: int,
        bounds: ObservationScale,
        rng: np.random.Generator,
    ) -> None:
        self.heard = Heard.nothing(len(plans), data.n_repeats, draws)
        self.data, self.values, self.design, self.draws = data, values, design, draws
        self.basis = Basis(max(plan.centre_size for plan in plans), family=family)
        self.noise = [
            StageNoise.draw(stream, data.n_repeats, draws, plans)
            for stream in rng.spawn(data.sizes.n_servers)
        ]
        self.servers = data.parts
        self.averages = {
            message: site_averages(message, data, bounds, self.servers)
            for message in {plan.first for plan in plans}
            if message is not None
        }

    def surfaces(
        self, plans: Sequence[PercentilePlan]
    ) -> Iterator[tuple[int, slice, ShareSurface]]:
        """Yield plan, data set and surface (1, columns, …), whose last column has no noise."""
        for repeat in range(self.data.n_repeats):
            repeats = slice(repeat, repeat + 1)
            readings = _Readings(
                [
                    ReadingBlock.blocks(*people, self.basis, self.design)
                    for people in self.people(repeat)
                ],
                tuple(people.stop - people.start for people in self.servers),
            )
            for k, plan in enumerate(plans):
                self._ask(k, plan, repeats)
                yield k, repeats, self._surface(plan, repeats, readings)

    def _ask(self, k: int, plan: PercentilePlan, repeats: slice) -> None:
        """Send the first message of one plan, where it has one."""
        message, people = plan.first, self.data.sizes.n_curves_per_server
        if message is None:
            return
        n_plans = 1 if plan.verdict.is_feasible else 0
        noises = [
            columns(noise.facts[repeats, :, : len(message.weights)], n_plans, 1)
            for noise in self.noise
        ]
        measured, noise = sent_by_sites(
            message,
            self.averages[message][repeats],
            [
                message.noise_of(math.sqrt(plan.first_share) * self._mu(plan, s), is_pure=False)
                for s in range(len(people))
            ],
            noises,
            people,
        )
        if n_plans:
            question = Question(
                message, self.design, public_observations(self.data), sum(people), is_of_mean=False
            )
            self.heard.note(k, repeats, question, measured[:, :-1], noise[0])

    def _mu(self, plan: PercentilePlan, s: int) -> Array:
        """μ of each draw at one site, and of the last column, which has no noise: (columns,)."""
        n_draws = self.draws if plan.verdict.is_feasible else 0
        return np.array([min(mu_of(plan.budgets[s]), NOISE_FREE)] * n_draws + [NOISE_FREE])

    def _surface(self, plan: PercentilePlan, repeats: slice, readings: _Readings) -> ShareSurface:
        basis, effective = self.basis.first(plan.centre_size), plan.verdict.effective_size
        centre = self._centre(plan, repeats)
        of_stage_centre = effective * math.sqrt(STAGES[CENTRE])
        placement = Placement(
            _shrinkage(centre, of_stage_centre >= _SHRINK_CENTRE),
            np.zeros((1, 1)),
            basis,
            plan.limits,
        )
        spread = self._spread(plan, repeats, readings, placement)
        is_shrunk = effective * math.sqrt(STAGES[SPREAD]) >= _SHRINK_REST
        level = spread.centre[..., :1]
        placement = replace(
            placement,
            spread=np.concatenate([level, _shrinkage(spread, is_shrunk)[..., 1:]], axis=-1),
        )
        grid = drawing_grid()
        middle, size = placement.curves(basis(grid).T)
        thresholds, expected = placement.thresholds(middle, size)
        directions, variances = rotation(expected)
        shares = self._shares(plan, repeats, readings, placement, directions, variances)
        shape = (*shares.centre.shape[:-1], plan.n_thresholds, plan.shape_size)
        shrinkage = _shrinkage(shares, effective * math.sqrt(STAGES[SHARES]) >= _SHRINK_REST)
        variances_of_centre = np.diagonal(centre.covariance, axis1=-2, axis2=-1)
        return ShareSurface(
            thresholds,
            expected,
            directions,
            shrinkage.reshape(shape),
            shares.centre.reshape(shape),
            shares.covariance,
            basis(grid)[:, : plan.shape_size],
            size,
            basis(grid)[:, plan.shape_size :].T,
            variances_of_centre[..., plan.shape_size :],
            centre.centre,
            centre.covariance,
        )

    def people(self, repeat: int) -> Iterator[tuple[Array, Array, Indices]]:
        """Yield times, readings and their numbers at each site, person after person."""
        ends = np.cumsum([0, *self.data.counts])
        for people in self.servers:
            mine = slice(ends[people.start], ends[people.stop])
            times, values = self.data.times[repeat, mine], self.values[repeat, mine]
            yield times, values, self.data.counts[people]

    # -- stages -------------------------------------------------------------------------------

    def _centre(self, plan: PercentilePlan, repeats: slice) -> Located:
        basis = self.basis.first(plan.centre_size)
        return self._located(
            CENTRE,
            plan,
            repeats,
            [
                _curves(*people, basis, self.design, self.draws < MOST_COLUMNS)
                for people in self.people(repeats.start)
            ],
            public_scale(plan.centre_size, self.data.sizes),
            _OF_PLACES,
            lambda noise: noise.centre,
        )

    def _spread(
        self, plan: PercentilePlan, repeats: slice, readings: _Readings, placement: Placement
    ) -> Located:
        of_repeat = _of_repeat(placement)

        def targets(block: ReadingBlock, weights: CurveWeights) -> Array:
            middle, _ = of_repeat.curves(_places(block, plan.centre_size))
            sizes = np.abs(block.values - middle.reshape(-1, *block.values.shape))
            return weights.targets(np.minimum(sizes, 1.0) - _MIDDLE_SIZE)

        return self._located(
            SPREAD,
            plan,
            repeats,
            readings.deviations(plan.spread_size, targets),
            public_scale(plan.spread_size, self.data.sizes) / 2,
            _OF_PLACES,
            lambda noise: noise.spread,
        )

    def _shares(
        self,
        plan: PercentilePlan,
        repeats: slice,
        readings: _Readings,
        placement: Placement,
        directions: Array,
        variances: Array,
    ) -> Located:
        of_repeat = _of_repeat(placement)

        def targets(block: ReadingBlock, weights: CurveWeights) -> Array:
            curves = of_repeat.curves(_places(block, plan.centre_size))
            return np.stack(
                [
                    self._targets(block, weights, placement, of_column, directions[0, column])
                    for column, of_column in enumerate(zip(*curves, strict=True))
                ]
            )

        scale = np.sqrt(np.maximum(variances, _MIN_VARIANCE))[..., None] * public_scale(
            plan.shape_size, self.data.sizes
        )
        return self._located(
            SHARES,
            plan,
            repeats,
            readings.deviations(plan.shape_size, targets),
            scale.reshape(*scale.shape[:-2], -1),
            plan.constants(),
            lambda noise: noise.shares,
            plan.n_thresholds,
        )

    @staticmethod
    def _targets(
        block: ReadingBlock,
        weights: CurveWeights,
        placement: Placement,
        curves: tuple[Array, Array],
        directions: Array,
    ) -> Array:
        """Rotated indicators of one column, less what is expected of them: (K r, lanes)."""
        thresholds, expected = placement.thresholds(*curves)
        below = (block.values.ravel() <= thresholds) - expected
        target = weights.targets(below.reshape(len(below), *block.values.shape))
        rotated = np.einsum("kf,krb->frb", directions, target)
        return np.asarray(rotated.reshape(-1, target.shape[-1]))

    def _located(
        self,
        stage: str,
        plan: PercentilePlan,
        repeats: slice,
        by_site: Sequence[Deviations],
        scale: Array,
        constants: Constants,
        streams: Callable[[StageNoise], Streams],
        n_functions: int = 1,
    ) -> Located:
        """Locate p numbers, of so many functions, by one run of the engine."""
        p = scale.shape[-1]
        sites = [
            self._site(
                s, stage, plan, repeats, streams(self.noise[s]), deviations, p // n_functions
            )
            for s, deviations in enumerate(by_site)
        ]
        law = heavy_tailed(p) if n_functions > 1 else self._law(p)
        return locate(sites, scale, law, constants, n_functions)

    def _law(self, size: int) -> ReferenceLaw:
        """Choose the law of deviations of one function; few readings determine it less well."""
        planned = max(self.data.sizes.fewest_per_curve, 1)
        if self.design == Design() and planned >= _DENSE * size:
            return heavy_tailed(size)
        return of_observed_curves(self.basis.first(size), planned, self.design)

    def _site(
        self,
        s: int,
        stage: str,
        plan: PercentilePlan,
        repeats: slice,
        streams: Streams,
        deviations: Deviations,
        size: int,
    ) -> SiteDeviations:
        n_plans = 1 if plan.verdict.is_feasible else 0
        mu, n = self._mu(plan, s), self.data.sizes.n_curves_per_server[s]
        shares = (1 - plan.first_share) * STAGES[stage] * np.array(_parts(stage))
        moments = None
        if stage == SHARES:
            moments = columns(streams.of_moments(repeats, size), n_plans, 1)
        return SiteDeviations(
            deviations,
            n,
            1 / (n * np.sqrt(shares)[:, None] * mu),
            columns(streams.of_steps(repeats, size, False), n_plans, 2),
            moments,
            s,
            stage=stage,
        )


@dataclass(frozen=True)
class _Readings:
    """One data set, the blocks of each site, with what all plans need of it, made once."""

    by_site: list[list[ReadingBlock]]
    people: tuple[int, ...]  # of each site
    # from a number of waves to how the readings of every block are weighted
    _weights: dict[int, list[list[CurveWeights]]] = field(default_factory=dict)

    def deviations(
        self, size: int, targets: Callable[[ReadingBlock, CurveWeights], Array]
    ) -> list[ShareDeviations]:
        """Ask for functions of so many waves, with targets (columns, [K,] r, lanes) of a block."""
        if size not in self._weights:
            self._weights[size] = [
                [block.weights(size) for block in blocks] for blocks in self.by_site
            ]
        return [
            ShareDeviations(
                tuple(
                    ShareBlock(weights.slopes, targets(block, weights))
                    for block, weights in zip(blocks, of_blocks, strict=True)
                ),
                n,
            )
            for blocks, of_blocks, n in zip(
                self.by_site, self._weights[size], self.people, strict=True
            )
        ]


def _curves(
    times: Array, values: Array, counts: Indices, basis: Basis, design: Design, has_few: bool
) -> Deviations:
    """The curves of readings themselves: read in each pass where columns are few."""
    if has_few:
        return CurveDeviations.of(times, values, counts, basis, design)
    moments = curve_moments(times[None], values[None], counts, basis)
    ((_, kept),) = weighted_within_curves(moments, counts, {basis.size}, design)
    return kept


def _places(block: ReadingBlock, size: int) -> Array:
    """The first waves at all times of a block: (size, m lanes)."""
    return block.waves[:size].reshape(size, -1)


def _of_repeat(placement: Placement) -> Placement:
    """Take one data set's placement, without the axis of data sets."""
    spread = placement.spread if placement.spread.ndim == 2 else placement.spread[0]
    return replace(placement, centre=placement.centre[0], spread=spread)


def _shrinkage(located: Located, shrinks: bool) -> Array:
    """The centre, with waves that noise could have made shrunk where that helps."""
    if not shrinks:
        return located.centre
    every = shrunk_each(located.centre[None], located.covariance[None], np.array([True]))
    return np.asarray(every[0])
