"""Rates of central, federated and local privacy beside measured errors, over ε or over people.

Two constants are fitted to the errors of one trusted centre over ε, one of the terms with privacy
and one of the others. All other lines have the same constants, and so are predictions: those of the
other two notions, and all of them over people.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import stdtrit

from engine.core.errors import InputError
from engine.core.types import Array, PublicFacts
from engine.language import numbers
from engine.language.grammar import capital
from engine.mechanisms import Mechanism
from engine.rates.fitted import FEWEST_POINTS, Weighted, fit
from engine.rates.functional_mean import (
    DENSE,
    PRIVATE_DENSE,
    PRIVATE_SPARSE,
    SPARSE,
    FunctionalMeanRate,
)
from engine.rates.trusted import Trust
from engine.simulation.studies import EPSILON_STEPS
from engine.sources import Source
from engine.topics.decision.answer import Profile, scaled
from engine.topics.decision.words import site_noun
from engine.topics.mean.live import tagged
from engine.topics.sites import site_table
from engine.topics.sites.site_table import SiteRow

NOTIONS = (Trust.CENTRAL, Trust.FEDERATED, Trust.LOCAL)
EPSILON, PEOPLE = "epsilon", "people"  # what the horizontal axis shows
N_SITES = 4
FACTORS = (0.25, 0.5, 1.0, 2.0)  # times the people, at which errors over people are measured
NEAREST_FIRST = (1.0, 0.5, 0.25, 2.0)  # the factors in the order of their simulation
COMING = "being simulated …"
_SHORT = {Trust.CENTRAL: "CDP", Trust.FEDERATED: "FDP", Trust.LOCAL: "LDP"}
_LIMITS = {
    PRIVATE_DENSE: "privacy",
    PRIVATE_SPARSE: "privacy, sparse observations",
    SPARSE: "sparse observations",
    DENSE: "number of people",
}
_GRID = np.geomspace(EPSILON_STEPS[0], EPSILON_STEPS[-1], 121)
_PLACES = 41  # of a line over people
_TARGETS = (1, 1.5, 2, 3, 4, 5, 6, 8)  # times powers of ten
_FURTHEST = 3.0  # of the measured errors: beyond, lines leave the figure
_HALVINGS = 30
_LEVEL = 0.95

Measured = Profile | InputError


@dataclass(frozen=True)
class Along:
    """A horizontal axis: where errors are measured and lines are drawn, and what else is fixed."""

    at: Array  # (k,)
    grid: Array  # (g,)
    of_rate: Callable[[Any], dict[str, Any]]  # symbols of the rate at a place of the axis


@dataclass(frozen=True)
class ErrorIntervals:
    """Measured errors along an axis, root mean squared, each with its 95 % interval."""

    values: Array  # (k,): NaN where nothing is released
    low: Array  # (k,): NaN where data sets are too few
    high: Array  # (k,)

    @classmethod
    def of(cls, distances: Array) -> ErrorIntervals:
        """Summarize distances (k, data sets, releases); data sets are independent.

        The interval is that of the mean square, by its logarithm and Student's t.
        """
        squares = (distances**2).mean(axis=2)
        mean, count = squares.mean(axis=1), squares.shape[1]
        if count < 2:
            return cls(np.sqrt(mean), *(np.full(len(mean), np.nan),) * 2)
        quantile = float(stdtrit(count - 1, 0.5 + _LEVEL / 2))
        away = np.exp(quantile * squares.std(axis=1, ddof=1) / math.sqrt(count) / mean / 2)
        return cls(np.sqrt(mean), np.sqrt(mean) / away, np.sqrt(mean) * away)

    @classmethod
    def unknown(cls, count: int) -> ErrorIntervals:
        return cls(*(np.full(count, np.nan),) * 3)


@dataclass(frozen=True)
class Notion:
    """One answer to who adds the noise: its errors, and its line."""

    trust: Trust
    at: Array  # (k,): where errors are measured
    measured: ErrorIntervals
    refused: str  # why nothing was measured; empty if it was
    line: Array | None  # (grid,): the rate with its constants, a distance; None without a fit
    predicted: Array | None  # (k,): the same where errors are measured
    # (place, distance) where the largest term of the rate changes
    elbows: tuple[tuple[float, float], ...] = ()
    # from, to and the largest term between them
    regimes: tuple[tuple[float, float, str], ...] = ()

    @property
    def errors(self) -> Array:
        return self.measured.values

    def price(self, target: float) -> float:
        """Return the smallest ε from which on the error stays within a target; NaN for none."""
        reached = np.nan_to_num(self.errors, nan=np.inf) <= target
        first = len(reached) - int(np.argmin(reached[::-1])) if not reached.all() else 0
        return float(self.at[first]) if first < len(reached) else math.nan

    @property
    def gain(self) -> float:
        """The factor by which twice the people divide the error; NaN where it is not measured."""
        return float(self.errors[FACTORS.index(1.0)] / self.errors[FACTORS.index(2.0)])


@dataclass(frozen=True)
class Theory:
    """Lines and points of the three notions along one axis."""

    notions: tuple[Notion, ...]
    along: Along
    weighted: Weighted | None
    target: float  # that all of them reach over ε; NaN if it is unknown
    n_sites: int

    @property
    def ratios(self) -> list[float]:
        """Measured over predicted errors, of all that no constant was fitted to."""
        is_fitted = len(self.along.at) == len(EPSILON_STEPS)
        return [
            ratio
            for notion in self.notions[is_fitted:]
            if notion.predicted is not None
            for ratio in (notion.errors / notion.predicted).tolist()
            if math.isfinite(ratio)
        ]

    @property
    def factor(self) -> float:
        return _largest(self.ratios)


def _largest(ratios: Iterable[float]) -> float:
    """Find the largest factor up or down; NaN for none."""
    return max((max(ratio, 1 / ratio) for ratio in ratios), default=math.nan)


def rows_of(source: Source[Any], n_sites: int = N_SITES) -> tuple[SiteRow, ...]:
    """Return the sites of a source; one site is split into some of nearly equal size."""
    people = list(source.sizes.n_curves_per_server)
    m = round(source.sizes.n_observations_per_curve)
    if len(people) == 1:
        each, left = divmod(people[0], n_sites)
        people = [each + (k < left) for k in range(n_sites)]
    return tuple(SiteRow(f"Site {k}", n, max(m, 1)) for k, n in enumerate(people, 1) if n)


def theory_of(
    mechanism: Mechanism, rows: Sequence[SiteRow], profiles: Mapping[Trust, Measured]
) -> Theory:
    """Fit the constants to one trusted centre over ε, and predict the errors of the others by them.

    A profile may be a refusal, or on its way; only that of one trusted centre is needed.
    """
    point = _point(rows)
    along = Along(np.array(EPSILON_STEPS), _GRID, lambda epsilon: {**point, "epsilon": epsilon})
    weighted = _fitted(mechanism, profiles[Trust.CENTRAL], point)
    notions = tuple(
        _notion(
            trust,
            _measured(profiles.get(trust)),
            _reason(profiles.get(trust)),
            _weighted(weighted, mechanism, trust),
            along,
        )
        for trust in NOTIONS
    )
    target = _target(notions) if len(profiles) == len(NOTIONS) else math.nan
    return Theory(notions, along, weighted, target, len(rows))


def over_people(
    mechanism: Mechanism, rows: Sequence[SiteRow], profiles: Mapping[tuple[Trust, float], Measured]
) -> tuple[Theory, ...]:
    """Predict errors over the number of people, one theory for each step of ε.

    Profiles are of the study with each of `FACTORS` times the people. They may be on their way, but
    for that of one trusted centre with the people there are.
    """
    point = _point(rows)
    weighted = _fitted(mechanism, profiles[Trust.CENTRAL, 1.0], point)
    of_notion = {trust: _weighted(weighted, mechanism, trust) for trust in NOTIONS}
    people = np.array([site_table.people(scaled(rows, factor)) for factor in FACTORS], dtype=float)
    measured = {
        key: _measured(profile) for key, profile in profiles.items() if isinstance(profile, Profile)
    }

    def at(step: int, trust: Trust) -> ErrorIntervals:
        each = [measured.get((trust, factor)) for factor in FACTORS]
        return ErrorIntervals(
            *(
                np.array([np.nan if e is None else getattr(e, name)[step] for e in each])
                for name in ("values", "low", "high")
            )
        )

    def theory(step: int, epsilon: float) -> Theory:
        along = Along(
            people,
            np.geomspace(people[0], 2 * people[-1], _PLACES),
            lambda n: {**point, "epsilon": epsilon, "n": n / len(rows)},
        )
        notions = tuple(
            _notion(
                trust, at(step, trust), _reason(profiles.get((trust, 1.0))), of_notion[trust], along
            )
            for trust in NOTIONS
        )
        return Theory(notions, along, weighted, math.nan, len(rows))

    return tuple(theory(step, epsilon) for step, epsilon in enumerate(EPSILON_STEPS))


def _point(rows: Sequence[SiteRow]) -> dict[str, float]:
    """Return the symbols of the rate that sizes decide."""
    return {
        "S": float(len(rows)),
        "n": float(np.mean([row.n_curves for row in rows])),
        "m": float(rows[0].n_observations_per_curve),
    }


def _rate(mechanism: Mechanism, trust: Trust) -> FunctionalMeanRate:
    smoothness = getattr(mechanism, "smoothness", None)
    tuning = {} if smoothness is None else {"smoothness": smoothness}
    return FunctionalMeanRate(privacy=trust, **tuning)


def _fitted(mechanism: Mechanism, central: Measured, point: Mapping[str, float]) -> Weighted | None:
    errors = _measured(central).values
    if np.isfinite(errors).sum() < FEWEST_POINTS:
        return None
    steps: dict[str, float | Array] = {**point, "epsilon": np.array(EPSILON_STEPS)}
    found = fit(_rate(mechanism, Trust.CENTRAL), steps, errors**2)
    return None if found is None else found.weighted


def _weighted(weighted: Weighted | None, mechanism: Mechanism, trust: Trust) -> Weighted | None:
    return None if weighted is None else weighted.over(_rate(mechanism, trust))


def _measured(profile: Measured | None) -> ErrorIntervals:
    if not isinstance(profile, Profile):
        return ErrorIntervals.unknown(len(EPSILON_STEPS))
    return ErrorIntervals.of(profile.errors)


def _reason(profile: Measured | None) -> str:
    if profile is None:
        return COMING
    return profile.message if isinstance(profile, InputError) else ""


def _notion(
    trust: Trust, measured: ErrorIntervals, refused: str, weighted: Weighted | None, along: Along
) -> Notion:
    if weighted is None:
        return Notion(trust, along.at, measured, refused, None, None)

    def distance(place: float | Array) -> Array:
        return np.asarray(np.sqrt(weighted.evaluate(**along.of_rate(place)).sum(axis=0)))

    def largest(place: float | Array) -> Array:
        return weighted.dominant(**along.of_rate(np.asarray(place)))

    names, grid = [term.name for term in weighted.rate.terms], along.grid
    rules = largest(grid)
    borders = [
        _border(largest, grid[k], grid[k + 1]) for k in np.flatnonzero(rules[1:] != rules[:-1])
    ]
    ends = [grid[0], *borders, grid[-1]]
    return Notion(
        trust,
        along.at,
        measured,
        refused,
        distance(grid),
        distance(along.at),
        tuple((border, float(distance(border))) for border in borders),
        tuple(
            (float(low), float(high), _LIMITS[names[int(largest(math.sqrt(low * high)))]])
            for low, high in pairwise(ends)
        ),
    )


def _border(largest: Callable[[float], Array], low: float, high: float) -> float:
    """Find where the largest term changes between two places, by halving on the log scale."""
    first = int(largest(low))
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if int(largest(middle)) == first else (low, middle)
    return float(math.sqrt(low * high))


def _target(notions: Sequence[Notion]) -> float:
    """Return the smallest round error that every notion with measurements reaches."""
    least = [float(np.nanmin(n.errors)) for n in notions if np.isfinite(n.errors).any()]
    if not least:
        return math.nan
    need = max(least)
    power = 10 ** math.floor(math.log10(need))
    return float(next(k * power for k in (*_TARGETS, 10) if k * power >= need))


# -- for the figure -------------------------------------------------------------------------------


def payload(
    frames: Sequence[Theory],
    facts: PublicFacts,
    baseline: float | None,
    epsilons: Sequence[float] = EPSILON_STEPS,
    n_sites: Sequence[int] = (),
) -> dict[str, Any]:
    """Collect lines, points and words of the view *Theory*, as plain values.

    There is one frame over ε, or one for each of its steps from `over_people`. `epsilons` are the
    steps of the slider, and `n_sites` what can be chosen: nothing if the data have sites.
    """
    is_people = len(frames) > 1
    steps = np.log(EPSILON_STEPS)
    near = [int(np.abs(steps - math.log(epsilon)).argmin()) for epsilon in epsilons]
    at_step = near if is_people else [0] * len(epsilons)
    along, several = frames[0].along, site_noun(facts)[1]
    people = float(along.at[FACTORS.index(1.0)]) if is_people else None
    headings = [heading(theory, facts) for theory in frames]
    return tagged(
        {
            "at": along.at.tolist(),
            "grid": along.grid.round(6).tolist(),
            "here": people,
            "along": PEOPLE if is_people else EPSILON,
            "axes": [
                [EPSILON, "Privacy budget ε (log scale)"],
                [PEOPLE, f"{capital(facts.people)} (log scale)"],
            ],
            "axis": f"Error ({facts.value_unit or 'log scale'}"
            + (", log scale)" if facts.value_unit else ")"),
            "choose": "Horizontal axis",
            "sites": [[n, f"{n} {several}"] for n in n_sites],
            "n_sites": frames[0].n_sites,
            "baseline": None if is_people else baseline,
            "at_step": at_step,
            "frames": [
                {
                    "range": _range(theory, None if is_people else baseline),
                    "notions": [_drawn(notion) for notion in theory.notions],
                    "prices": [_price(notion, theory) for notion in theory.notions],
                }
                for theory in frames
            ],
            "notions": [
                _named(notion.trust, frames[0], facts, bool(n_sites))
                for notion in frames[0].notions
            ],
            "headings": [headings[k] for k in at_step],
            "heads": ["Who adds noise", _head(frames[0], facts)],
            "words": _words(frames, facts),
        }
    )


def heading(theory: Theory, facts: PublicFacts) -> str:
    """State what trust costs, or what more people are worth; empty if it cannot be told."""
    if len(theory.along.at) == len(FACTORS):
        gain = theory.notions[0].gain
        if not math.isfinite(gain):
            return ""
        return (
            f"Twice the {facts.people} divide the error of one trusted centre by "
            f"{numbers.number(gain, 2)}"
        )
    central, federated, local = (notion.price(theory.target) for notion in theory.notions)
    for price, who in ((local, "nobody"), (federated, "only each site")):
        if math.isfinite(central) and math.isfinite(price):
            return (
                f"Trusting {who} costs {numbers.times(price / central).replace('.0 ', ' ')} the "
                "budget of one trusted centre"
            )
    return ""


def _head(theory: Theory, facts: PublicFacts) -> str:
    """Name the number beside each notion."""
    if len(theory.along.at) == len(FACTORS):
        return f"Error, twice the {facts.people}"
    if math.isnan(theory.target):
        return "ε"
    return f"ε for {numbers.with_unit(f'{theory.target:g}', facts.value_unit)}"


def _price(notion: Notion, theory: Theory) -> str:
    if len(theory.along.at) == len(FACTORS):
        return f"÷ {numbers.number(notion.gain, 2)}" if math.isfinite(notion.gain) else "–"
    price = notion.price(theory.target)
    return "–" if math.isnan(price) else f"{price:g}"


def _named(trust: Trust, theory: Theory, facts: PublicFacts, is_free: bool) -> dict[str, str]:
    """Return short name and gloss; a choice stands in place of a free number of sites."""
    sites = "{sites}" if is_free else f"{theory.n_sites} {site_noun(facts)[1]}"
    glosses = {
        Trust.CENTRAL: "central: one centre holds all curves and adds noise",
        Trust.FEDERATED: f"federated: each of {sites} adds noise to its own",
        Trust.LOCAL: f"local: each {facts.person}’s own device adds noise",
    }
    return {"key": _SHORT[trust], "gloss": glosses[trust]}


def _drawn(notion: Notion) -> dict[str, Any]:
    measured = notion.measured
    return {
        "dots": _plain(notion.errors),
        "ends": [_plain(measured.low), _plain(measured.high)],
        "line": None if notion.line is None else _plain(notion.line),
        "elbows": [[_known(x), _known(y)] for x, y in notion.elbows],
        "regimes": [[_known(low), _known(high), name] for low, high, name in notion.regimes],
    }


def _range(theory: Theory, baseline: float | None) -> list[float]:
    """Return the ends of the error axis: what was measured, with room."""
    seen = [e for n in theory.notions for e in n.errors.tolist() if math.isfinite(e)]
    seen += [] if baseline is None else [baseline]
    if not seen:
        return [0.1, 10.0]
    return [min(seen) / 1.5, max(seen) * _FURTHEST]


def _words(frames: Sequence[Theory], facts: PublicFacts) -> list[list[str]]:
    """Explain dots, dashes and elbows: each a name and a sentence."""
    is_people, theory = len(frames) > 1, frames[0]
    factor = _largest(ratio for each in frames for ratio in each.ratios)
    where = "" if facts.is_simulated else " on curves simulated from public facts"
    missed = "" if math.isnan(factor) else f" They miss by a factor of {factor:.1f} at most."
    predicted = "the rest is prediction" if is_people else "FDP and LDP are predictions"
    words = [
        ["Dots", f"measured{where}, with 95 % intervals."],
        [
            "Dashes",
            f"theory. Two constants are fitted to CDP{' over ε' * is_people}; {predicted}.{missed}"
            if theory.weighted is not None
            else "none, because too few errors are known to fit the constants.",
        ],
        [
            "◇ Elbows",
            "what limits the error changes there."
            if is_people
            else f"left of them a larger budget helps most, right of them more {facts.people}.",
        ],
        ["No dots", "nothing would be released."],
    ]
    return words + [
        [_SHORT[notion.trust], notion.refused] for notion in theory.notions if notion.refused
    ]


def _plain(values: Array) -> list[float | None]:
    return [_known(value) for value in values.tolist()]


def _known(value: float) -> float | None:
    return float(f"{value:.5g}") if math.isfinite(value) else None
