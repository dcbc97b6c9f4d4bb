"""Simulated times to an event, with censoring and late entry: seven shapes, also in groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.registry import param
from engine.core.tasks import SURVIVAL
from engine.core.types import Array, EventData, EventFacts, Truth
from engine.core.types.facts import MAX_VISITS
from engine.numerics.counts.cells import equal_edges
from engine.sources import DealtRecords, number_of, sites_with, sources

_POINTS = 20_001  # at which a mixture is tabulated
_DAY = 1 / 365.25  # a year: times are those between two dates


@dataclass(frozen=True)
class Shape:
    """One law of event times and of censoring, in units of the follow-up."""

    survival: Callable[[Array], Array]  # S(t) of event times
    # the time at which S falls to a value in (0, 1); infinite where it never does
    inverse: Callable[[Array], Array]
    censored: Callable[[Array], Array]  # from standard uniform numbers to censoring times
    label: str


Law = Callable[[Array], Array]


def _weibull(shape: float, scale: float) -> tuple[Law, Law]:
    return (
        lambda t: np.exp(-((np.maximum(t, 0.0) / scale) ** shape)),
        lambda s: scale * (-np.log(s)) ** (1 / shape),
    )


def _uniform(low: float, high: float) -> Callable[[Array], Array]:
    return lambda u: low + (high - low) * u


def _cure(t: Array) -> Array:
    return 0.4 + 0.6 * np.exp(-((np.maximum(t, 0.0) / 0.25) ** 1.3))


def _cure_inverse(s: Array) -> Array:
    ill = np.clip((s - 0.4) / 0.6, 1e-300, 1.0)
    return np.where(s > 0.4, 0.25 * (-np.log(ill)) ** (1 / 1.3), np.inf)


def _waves(t: Array) -> Array:
    t = np.maximum(t, 0.0)
    return np.asarray((np.exp(-((t / 0.2) ** 4)) + np.exp(-((t / 0.75) ** 6))) / 2)


@lru_cache(maxsize=1)
def _wave_table() -> tuple[Array, Array]:
    times = np.linspace(0.0, 1.5, _POINTS)
    return _waves(times)[::-1], times[::-1]


def _waves_inverse(s: Array) -> Array:
    values, times = _wave_table()
    return np.interp(s, values, times)


SHAPES: dict[str, Shape] = {
    "lung": Shape(*_weibull(1.32, 0.4088), _uniform(0.1663, 1.32), "Advanced cancer"),
    "expo": Shape(*_weibull(1.0, 0.5), lambda u: -1.2 * np.log1p(-u), "Constant hazard"),
    "wei2": Shape(*_weibull(2.5, 0.6), _uniform(0.3, 1.6), "Rising hazard"),
    "early": Shape(*_weibull(0.6, 0.5), _uniform(0.1, 1.6), "Steep start"),
    "cure": Shape(_cure, _cure_inverse, _uniform(0.4, 1.8), "Two in five are cured"),
    "bump": Shape(_waves, _waves_inverse, _uniform(0.2, 2.0), "Two peaks of events"),
    "rare": Shape(*_weibull(1.0, 8.0), _uniform(0.2, 1.4), "Rare events"),
}
COMPARISONS = ("none", "hazard ratio", "crossing", "strata")
GROUPS = ("Control", "Treatment")
STRATA = ("Stratum A", "Stratum B", "Stratum C", "Stratum D")
_IN_STRATA = np.array([0, 1, 2, 3, 0, 1, 2, 0, 1, 0])  # the stratum of each person of ten
_KEPT = 0.7  # of visits
_LATEST = 0.5  # of the follow-up: until then people enter late
_CROSSING = _weibull(0.9, 0.75)  # of the second group: more events early, fewer late


@sources.register
@dataclass(frozen=True, kw_only=True)
class EventTimes(DealtRecords[EventData]):
    """T from one of seven laws, C from the censoring that goes with it; seen is the smaller one.

    Two groups have hazards in a fixed ratio, S₂ = S₁^{1/ratio}, so that the first has `ratio` times
    the hazard of the second; or hazards that cross. People alternate between the groups, whose
    sizes are public unless it is stated otherwise. Four strata of unequal sizes, with hazards from
    `ratio` times down to that of the last, give one curve in which each counts a quarter.

    People who enter late do so evenly over the first half of the follow-up. Whoever has left before
    is not seen, and somebody else takes their place. Visits say between which two of them the event
    was, and each is missed by chance.

    References
    ----------
    “Advanced cancer” follows the public NCCTG lung cancer data in the shape of its curve.
    """

    key = "event_times"
    label = "Times to an event"
    order = 10
    tasks = frozenset({SURVIVAL.key})

    design: str = param(
        "lung", "Shape", "How hazards run over the follow-up.", choices=tuple(SHAPES)
    )
    n_curves: int = number_of("People")
    n_servers: int = sites_with("people")
    follow_up: float = param(
        5.0,
        "Follow-up",
        "The planned follow-up, in years: a public fact, not the longest time seen.",
        low=0.01,
        high=100.0,
        symbol="H",
    )
    comparison: str = param(
        "none",
        "Groups",
        "One group; two with hazards in a fixed ratio; two whose hazards cross; four strata with "
        "one adjusted curve.",
        choices=COMPARISONS,
    )
    ratio: float = param(
        1.5, "Hazard ratio", "Hazard of the first group over that of the last.", low=0.1, high=10.0
    )
    sizes_public: bool = param(
        True, "Group sizes are public", "In a trial they are; in a registry usually not."
    )
    late_share: float = param(
        0.0,
        "Late entry",
        "Share of people who come under observation after their time began, as in registers.",
        low=0.0,
        high=1.0,
    )
    visits: int = param(
        0,
        "Visits",
        "Public visits at which alone people are seen, equally far apart; everybody misses three "
        "in ten. 0: times are known.",
        low=0,
        high=MAX_VISITS,
    )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (
            *((shape.label, {"design": name}) for name, shape in SHAPES.items()),
            ("Two groups, hazard ratio 1.5", {"comparison": "hazard ratio"}),
            ("Two groups, hazards cross", {"comparison": "crossing", "design": "wei2"}),
            ("Adjusted for four strata", {"comparison": "strata"}),
            ("Three in five enter late", {"late_share": 0.6}),
            ("Seen at six visits", {"visits": 6}),
        )

    @property
    def has_groups(self) -> bool:
        return self.comparison != "none"

    @property
    def is_adjusted(self) -> bool:
        """True if there is one curve, adjusted for strata."""
        return self.comparison == "strata"

    @property
    def _groups(self) -> NDArray[np.int64]:
        """The group of everybody: (n_curves,)."""
        index = np.arange(self.n_curves)
        return _IN_STRATA[index % len(_IN_STRATA)] if self.is_adjusted else index % 2

    @property
    def _hazards(self) -> Array:
        """Hazard of each group as a multiple of that of the last: (groups,)."""
        n_groups = len(STRATA if self.is_adjusted else GROUPS)
        return np.asarray(self.ratio ** np.linspace(1.0, 0.0, n_groups))

    @property
    def facts(self) -> EventFacts:
        names = () if not self.has_groups else STRATA if self.is_adjusted else GROUPS
        sizes = tuple(np.bincount(self._groups, minlength=len(names)).tolist())
        return EventFacts(
            name=self.label,
            value_name="Survival",
            value_low=0.0,
            value_high=1.0,
            time_name="Time",
            time_unit="years",
            time_high=self.follow_up,
            time_step=min(_DAY, self.follow_up / 100),
            groups=names,
            group_sizes=sizes if names and self.sizes_public else (),
            group_weights=(1 / len(STRATA),) * len(STRATA) if self.is_adjusted else (),
            late_entry=self.late_share > 0,
            at_visits=self.visits > 0,
            edges=equal_edges(0.0, self.follow_up, self.visits) if self.visits else (),
        )

    def survival(self, t: Array) -> Array:
        """S at shares of the follow-up, (…), or (2, …) of two groups that are compared."""
        first = np.asarray(SHAPES[self.design].survival(t))
        if not self.has_groups:
            return first
        if self.is_adjusted:
            curves = first ** (self._hazards / self.ratio).reshape(-1, *(1,) * first.ndim)
            return np.asarray(curves.mean(axis=0))
        second = _CROSSING[0](t) if self.comparison == "crossing" else first ** (1 / self.ratio)
        return np.stack([first, second])

    @property
    def truth(self) -> Truth:
        return _truth(self.design, self.comparison, self.ratio)

    def draw(self, n_repeats: int, rng: np.random.Generator) -> EventData:
        """Draw data sets: all event times, then all censoring times, then all entries or visits."""
        size = (n_repeats, self.n_curves)
        event, censored, entry = self._people(size, rng)
        while (unseen := (entry > 0) & (entry >= np.minimum(event, censored))).any():
            others = self._people(size, rng)
            event, censored, entry = (
                np.where(unseen, new, old)
                for new, old in zip(others, (event, censored, entry), strict=True)
            )
        time, status, without = np.minimum(event, censored), event <= censored, None
        if self.visits:
            visits = np.arange(1, self.visits + 1) / self.visits
            time, without = seen_at(visits, event, censored, rng)
            status, without = ~np.isnan(time), self.follow_up * without
        return EventData(
            self.follow_up * time,
            status.astype(np.int64),
            self.server,
            self.facts,
            np.broadcast_to(self._groups, size) if self.has_groups else None,
            self.truth,
            entry=self.follow_up * entry if self.late_share else None,
            without=without,
        )

    def _people(
        self, size: tuple[int, int], rng: np.random.Generator
    ) -> tuple[Array, Array, Array]:
        """Draw events, ends of observation, and entries of people, whether they are seen or not."""
        shape = SHAPES[self.design]
        chances = 1 - rng.random(size)  # in (0, 1]
        censored = shape.censored(rng.random(size))
        entry = np.zeros(size)
        if self.late_share:
            entry = np.where(rng.random(size) < self.late_share, _LATEST * rng.random(size), 0.0)
        if self.has_groups:
            group = self._groups
            power = self.ratio / self._hazards[group]  # 1 in the first group
            event = shape.inverse(chances**power)
            if self.comparison == "crossing":
                event = np.where(group == 0, event, _CROSSING[1](chances))
        else:
            event = shape.inverse(chances)
        return event, censored, entry


def seen_at(
    visits: Array, event: Array, exits: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    """First visits with the event, NaN where there is none, and last ones without: (…) each.

    Visits after an exit are not made, and of the others each is missed by chance.
    """
    first, last = np.full(event.shape, np.nan), np.zeros(event.shape)
    for visit in visits:
        is_made = (rng.random(event.shape) < _KEPT) & (visit <= exits)
        last = np.where(is_made & (event > visit), visit, last)
        first = np.where(is_made & (event <= visit) & np.isnan(first), visit, first)
    return first, last


@lru_cache(maxsize=32)
def _truth(design: str, comparison: str, ratio: float) -> Truth:
    source = EventTimes(design=design, comparison=comparison, ratio=ratio)
    return Truth.of(source.survival, "midpoints")
