"""Simulated curves: how many people and observations, when and where; and draws of them.

Curves can be spread over sites of any sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.lists import whole_numbers
from engine.core.registry import UNSET, param
from engine.core.types import Array, CurveData, Design, Sizes, TimeLaw, Truth
from engine.numerics.information import NormalPeople
from engine.numerics.observation_times import draw_times, stated_density, visits_span
from engine.numerics.public_curves import PublicCurve
from engine.sources import Source, check_sites, dealt

# -- parameters of simulated curves ----------------------------------------------------------------


def people(default: int, label: str = "People") -> Any:
    """The parameter n of simulated curves: how many people there are."""
    return param(
        default, label, "How many take part, over all sites.", low=2, high=100_000, symbol="n"
    )


def observations(default: int) -> Any:
    """The parameter m of simulated curves: how many points are known on each."""
    return param(
        default,
        "Observations each",
        "How many points are known on each curve.",
        low=1,
        high=1000,
        symbol="m",
    )


def observation_times(default: str = "even") -> Any:
    """Make the parameter of simulated curves that says when they are observed.

    For the names of laws see `simulated_design`.
    """
    return param(
        default,
        "Observation times",
        "Even: every observation at a random time. Density: "
        "more often at some times. Common: everybody at the same equally spaced times. "
        "Visits: equally far apart from a random start. Windows: each person is observed "
        "in a short stretch only.",
        choices=("even", "density", "common", "visits", "windows"),
    )


def time_density() -> Any:
    """The parameter of the heights of a density of times."""
    return param(
        None,
        "How times are spread",
        "Relative heights at equally spaced times, such as 1, 2, 1. For “density” only.",
    )


def time_span() -> Any:
    """The parameter of the distance between visits, and of the length of windows."""
    return param(
        0.2,
        "Span of visits or windows",
        "Share of the time range: distance between "
        "visits, or length of a window. For “visits” and “windows” only.",
        low=0.001,
        high=1.0,
    )


def more_observations() -> Any:
    """The parameter of how many more observations some people have than others."""
    return param(
        0,
        "Up to so many more",
        "Some people have up to this many observations more "
        "than others, every number up to it equally often. 0: all have as many. Not for "
        "“visits”.",
        low=0,
        high=1000,
        earlier=0,
    )


def simulated_design(law: str, density: str | None, span: float, observations: int) -> Design:
    """The design that the parameters of a simulated source state.

    Heights of a density have commas between them. Common times are the middles of `observations`
    equal parts of the range; `span` is a share of the range, for "visits" and "windows".
    """
    if law == "common":
        return Design.common([(k + 0.5) / observations for k in range(observations)])
    if law == "windows":
        return Design(law=TimeLaw.WINDOWS, window=span)
    if law == "visits":
        if visits_span(observations, span) > 1:
            raise InputError(
                f"{observations} visits so far apart do not fit into the time range.",
                field="time_span",
                hint="Take fewer observations or a shorter span.",
            )
        return Design.visits(span)
    if law == "even":
        return Design()
    heights = PublicCurve.stated(density or "", "time_density").heights if density else ()
    if not heights:
        raise InputError(
            "State how observation times are spread first.",
            field="time_density",
            hint="Relative heights such as 1, 2, 1.",
        )
    design = Design(density=heights)
    stated_density(design)  # refuses what is no density
    return design


# -- curves on sites -------------------------------------------------------------------------------


class SitedCurves(Source[CurveData]):
    """Base of simulated curves whose people and observations may differ from site to site.

    A subclass declares the parameters below, which forms show in its own order, states `facts` and
    `truth`, and gives the `values` of curves at their times.
    """

    has_free_sites = True
    if TYPE_CHECKING:  # parameters of every such recipe, each with its own range
        n_curves: int
        n_observations_per_curve: int
        more_observations: int
        times: str
        time_density: str | None
        time_span: float
        site_sizes: str | None
        site_readings: str | None

    def __post_init__(self) -> None:
        self._follow_site_lists()
        super().__post_init__()
        self._check_site_lists()
        if self.more_observations and self.times == "visits":
            raise InputError(
                "Visits are as many for everybody here.",
                field="more_observations",
                hint="Take 0 more observations, or other observation times.",
            )
        check_sites(self.n_servers, self.n_curves)
        self.facts  # noqa: B018  (checks the bounds)

    def _follow_site_lists(self) -> None:
        """Totals that were not chosen are those of the lists of sites."""
        people = _listed("site_sizes", self.site_sizes)
        readings = _listed("site_readings", self.site_readings)
        for name, value in (
            ("n_curves", sum(people)),
            ("n_servers", len(people)),
            ("n_observations_per_curve", min(readings, default=0)),
        ):
            if value and getattr(self, name) is UNSET:
                object.__setattr__(self, name, value)

    def _check_site_lists(self) -> None:
        """The lists must agree with the totals, so that no total is silently ignored."""
        people = _listed("site_sizes", self.site_sizes)
        readings = _listed("site_readings", self.site_readings)
        if people and (sum(people), len(people)) != (self.n_curves, self.n_servers):
            raise InputError(
                f"“site_sizes” gives {sum(people)} people on {len(people)} sites; there are "
                f"{self.n_curves} on {self.n_servers}.",
                field="site_sizes",
                hint="Change the number of people and of sites first.",
            )
        if readings and len(readings) != self.n_servers:
            raise InputError(
                f"“site_readings” is for {len(readings)} sites; there are {self.n_servers}.",
                field="site_readings",
                hint="Give one number for each site.",
            )
        if readings and min(readings) != self.n_observations_per_curve:
            raise InputError(
                f"“site_readings” has at least {min(readings)} observations on each curve; "
                f"“n_observations_per_curve” says {self.n_observations_per_curve}.",
                field="site_readings",
                hint="Give the smallest of them there.",
            )

    @property
    def design(self) -> Design:
        """Law of observation times, as the parameters state it."""
        return simulated_design(
            self.times,
            self.time_density,
            self.time_span,
            self.n_observations_per_curve + self.more_observations,
        )

    @property
    def sizes(self) -> Sizes:
        return Sizes(
            self._people,
            sum(int(counts.sum()) for counts in self.counts_by_site),
            min(self._readings),
        )

    @property
    def _people(self) -> tuple[int, ...]:
        """On each site."""
        listed = _listed("site_sizes", self.site_sizes)
        return listed or dealt(self.n_curves, self.n_servers)

    @property
    def _readings(self) -> tuple[int, ...]:
        """Least number of readings of each curve, on each site."""
        listed = _listed("site_readings", self.site_readings)
        return listed or (self.n_observations_per_curve,) * self.n_servers

    @property
    def counts_by_site(self) -> list[NDArray[np.int64]]:
        """Observations of each curve, site by site: public, and the same in every data set."""
        return [
            fewest + np.arange(people) % (self.more_observations + 1)
            for people, fewest in zip(self._people, self._readings, strict=True)
        ]

    @property
    def normal_people(self) -> NormalPeople | None:
        """The law of people about the mean, where it is normal; None elsewhere."""
        return None

    @property
    def truth(self) -> Truth:
        """The mean of the curves, after what the bounds cut off."""
        raise NotImplementedError

    def resized(self, people: int, readings: int, sites: int) -> Self:
        """The same curves with other sizes; see `Source.resized`."""
        return self._with(
            n_curves=people * sites,
            n_servers=sites,
            more_observations=0,
            n_observations_per_curve=readings,
            site_sizes=None,
            site_readings=None,
        )

    def with_sites(self, people: Sequence[int], readings: Sequence[int]) -> Self:
        """The same curves on sites of these sizes; see `Source.with_sites`.

        Sites that are alike need no lists, so that the recipe is the one of `resized`.
        """
        if tuple(people) == dealt(sum(people), len(people)) and min(readings) == max(readings):
            return self._with(
                n_curves=sum(people),
                n_servers=len(people),
                more_observations=0,
                n_observations_per_curve=readings[0],
                site_sizes=None,
                site_readings=None,
            )
        return self._with(
            n_curves=sum(people),
            n_servers=len(people),
            more_observations=0,
            n_observations_per_curve=min(readings),
            site_sizes=", ".join(map(str, people)),
            site_readings=", ".join(map(str, readings)),
        )

    def _shared_out(self, index: int, groups: int, **changes: Any) -> Self:
        """The recipe of one of several equally large groups; the first get what is left over."""
        people = [dealt(size, groups)[index] for size in self._people]
        several = ", ".join(map(str, people)) if len(people) > 1 else None
        return self._with(n_curves=sum(people), site_sizes=several, **changes)

    def _with(self, **changes: Any) -> Self:
        """The recipe with other values of parameters that the subclass declares."""
        return replace(self, **changes)

    def draw(self, n_repeats: int, rng: np.random.Generator) -> CurveData:
        """Draw data sets.

        Of several sites each has a random stream of its own, so that its curves do not depend on
        the sizes of the others, nor on how the sizes were given.
        """
        people, counts = self._people, self.counts_by_site
        streams = [rng] if len(people) == 1 else rng.spawn(len(people))
        parts = [
            self._curves(n_repeats, of_site, stream)
            for of_site, stream in zip(counts, streams, strict=True)
        ]
        times, values = (
            np.concatenate(sites, axis=1) if len(sites) > 1 else sites[0]
            for sites in zip(*parts, strict=True)
        )
        return CurveData(
            times=times,
            values=values,
            counts=np.concatenate(counts),
            server=np.repeat(np.arange(len(people)), people),
            facts=self.facts,
            truth=self.truth,
        )

    def groups_drawn(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """The group of everybody; see `Source.groups_drawn`. Draws begin as those of data do."""
        if not self.group_names:
            return super().groups_drawn(rng)
        counts = self.counts_by_site
        streams = [rng] if len(counts) == 1 else rng.spawn(len(counts))
        groups = []
        for of_site, stream in zip(counts, streams, strict=True):
            draw_times(self.design, len(of_site), int(of_site.max()), stream)
            groups.append(self.groups_at(len(of_site), stream))
        return np.concatenate(groups)

    def groups_at(self, people: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """The groups of new people, drawn before their values: places among `group_names`."""
        raise NotImplementedError

    def _curves(
        self, n_repeats: int, counts: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """Times and values of curves with so many observations, (n_repeats, observations) each.

        Times come from one block of draws, and then whatever the values need. Of curves with fewer
        observations than others the first ones stay: their times are in no order.
        """
        max_observations = int(counts.max())
        times = draw_times(self.design, n_repeats * len(counts), max_observations, rng)
        values = self.values_at(times, rng)
        if counts.min() < max_observations:
            observed = np.tile(np.arange(max_observations) < counts[:, None], (n_repeats, 1))
            times, values = times[observed], values[observed]
        return times.reshape(n_repeats, -1), values.reshape(n_repeats, -1)

    def values_at(self, times: Array, rng: np.random.Generator) -> Array:
        """Observe new people at times (people, m) on [0, 1], each row one person's."""
        raise NotImplementedError


def _listed(name: str, text: Any) -> tuple[int, ...]:
    """Numbers of a list of sites, which may not have been chosen yet."""
    return whole_numbers(name, None if text is UNSET else text)
