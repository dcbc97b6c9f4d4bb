"""The budget a study needs: one sentence about it, and three budgets to choose from.

Budgets are steps of the scale that every page has. A study is released at all of them
(`profile_of`): that takes seconds and depends on neither the target nor the confidence, so that
these can be tried at will (`decision`). Its releases are those of the study of each scenario
(`engine.simulation.studies`), whose errors every other page shows for it; bands are of the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.core import tasks
from engine.core.bands import limits
from engine.core.enumerations import NoisePlace
from engine.core.errors import InputError, brief
from engine.core.grids import drawing_grid
from engine.core.tasks import TASKS, Argument, DataType, Task
from engine.core.types import Array, Budget, Data, Estimate, PublicFacts, Spend
from engine.language.numbers import digits_up
from engine.mechanisms import Mechanism
from engine.mechanisms.families import masked_sums
from engine.mechanisms.families.local_privacy import of_one_device
from engine.mechanisms.study import Study
from engine.noise.shares import Shares
from engine.numerics.proportions import Proportion
from engine.privacy import accounting, risk
from engine.privacy.failure import Delta
from engine.rates.floor import least_errors
from engine.simulation import studies
from engine.simulation.metrics import Accuracy, within
from engine.simulation.studies import Budgets
from engine.sources import Source
from engine.sources.twin import Twin, studied
from engine.topics.mean.answer import EPSILON_STEPS
from engine.topics.planning.answer import usual_target as usual_error
from engine.topics.sites import site_table
from engine.topics.sites.site_table import SiteRow

# What can be decided on, and what the sentence calls it.
DECIDED = {
    tasks.MEAN_FUNCTION.key: "mean curve",
    tasks.VARYING_COEFFICIENTS.key: "effects of covariates",
    tasks.UNIVARIATE_MEAN.key: "average value",
    tasks.WAVELET_REGRESSION.key: "regression curve",
    tasks.DENSITY.key: "density",
}
SHARES = {"10": 0.5, "16": 0.8, "18": 0.9, "19": 0.95}  # of releases, by how many of twenty
_BAND = (0.025, 0.975)
MAP_EPSILONS = (*EPSILON_STEPS[::3], EPSILON_STEPS[-1])
_MAP_FACTORS = (0.25, 2.0, 0.5)  # times the people of every site: after two the map has its size
_MAX_ON_MAP = 400_000  # observations of one data set
MAX_DEVICES = 300  # simulated one by one, where no law spares it
_DEFAULT_DISTANCE = 0.2  # of results without the unit of the values: a uniform density has 1
_OF_RANGE = 40  # of the values, where everybody has one observation


@dataclass(frozen=True)
class Bands:
    """Releases of the study, about what they estimate."""

    times: Array  # (GRID_SIZE,): times, or values of a feature, in their own unit
    truth: Array  # (GRID_SIZE,): the true values that are estimated there, in response units
    # (steps, 2, GRID_SIZE): lower and upper ends between which 95 % of the releases lie at each
    # place
    limits: Array
    # (steps, 3, GRID_SIZE): one release as it would be printed, between the ends of its own
    # confidence band; the ends are NaN where the method has none
    printed: Array


@dataclass(frozen=True)
class Profile:
    """One study at every step of the budget scale."""

    # data with their sizes, and what every site uses where this noise is added, at the highest step
    study: Study[Any]
    rows: tuple[SiteRow, ...]
    noise: NoisePlace  # who adds the noise: every site, or all of them together
    delta: Delta  # δ by the rule of all pages
    # (steps, data sets, releases of each): distances from what is estimated, in its unit; NaN where
    # nothing would be published
    errors: Array
    # ranges of the releases; None where the result is not one function of time or of a feature
    bands: Bands | None
    # a ledger for each step; where everybody's own device adds the noise, that of one of them, and
    # where sites add shares of it, what all but one of them protect with
    spends: tuple[tuple[Spend, ...], ...]
    # (steps,), optional: what no unbiased method with Gaussian noise is below, root mean squared,
    # in response units; NaN where δ = 0. None where people are not known to be normal.
    floor: Array | None = None
    # basis functions that the method keeps at each step, by a rule from public sizes; () where it
    # keeps none
    n_functions: tuple[int, ...] = ()
    # (steps, sites), optional: of every site in the result; None where it is not put together of
    # what sites release
    weights: Array | None = None

    @property
    def facts(self) -> PublicFacts:
        return self.study.source.facts

    @property
    def task(self) -> Task:
        """Task of the release."""
        return self.study.mechanism.main_task

    @property
    def unit(self) -> str:
        """Unit of the errors; may be empty."""
        return self.facts.value_unit if self.task.has_value_unit else ""

    @property
    def n_people(self) -> int:
        return site_table.people(self.rows)

    def distance(self, share: float) -> Array:
        """Compute the distance (steps,) that a share of releases stay within; NaN without any."""
        return within(self.errors, (1, 2), share)

    def simulated(self, epsilon: float, distance: float) -> Proportion:
        """Count the releases at a step of the scale that stay within a distance."""
        return Proportion.within(self.errors[EPSILON_STEPS.index(epsilon)], distance)

    def option(self, step: int, records: int = 1) -> Option:
        """Summarize one step of the scale, for a person with so many curves."""
        spends = self.spends[step]
        return Option(
            Budget(EPSILON_STEPS[step], self.delta.value),
            Accuracy.of(self.errors[step]),
            risk.of_ledger(spends, records),
            None if self.bands is None else self.bands.limits[step],
            None if self.bands is None else self.bands.printed[step],
            spends,
        )


@dataclass(frozen=True)
class Option:
    """One budget: its error with the 95 % value, the attacker's odds, curves, and its ledger.

    `band` and `printed` are as in `Bands`, and None where the profile has none.
    """

    budget: Budget
    accuracy: Accuracy
    odds: risk.Odds
    band: Array | None
    printed: Array | None
    spends: tuple[Spend, ...]

    @property
    def keeps_promise(self) -> bool:
        """True if the noise proves the ε that was asked for."""
        return accounting.keeps_promise(self.spends)


@dataclass(frozen=True)
class Decision:
    """The smallest budget that reaches the target, and one step of the scale to either side.

    `chosen` is None where no budget up to the largest reaches the target; `more_private` and
    `more_accurate` are None at the ends of the scale, or where nothing would be published.
    """

    profile: Profile
    target: float
    confidence: str
    chosen: Option | None
    more_private: Option | None
    more_accurate: Option | None

    @property
    def options(self) -> list[tuple[str, Option]]:
        """Those that exist with their names, the more private one first."""
        first = "One step more private" if self.chosen else "Largest budget"
        named = (
            (first, self.more_private),
            ("Meets the target", self.chosen),
            ("One step more accurate", self.more_accurate),
        )
        return [(name, option) for name, option in named if option is not None]


# -- the study ------------------------------------------------------------------------------------


def equal_sites(source: Source[Any], noun: str) -> tuple[SiteRow, ...]:
    """Build the table of a source whose sites are given by their sizes alone."""
    sizes = source.sizes
    observations = max(round(sizes.n_observations_per_curve), 1)
    return tuple(
        SiteRow(f"{noun} {k}", n, observations) for k, n in enumerate(sizes.n_curves_per_server, 1)
    )


def at_one_budget(rows: Sequence[SiteRow]) -> tuple[SiteRow, ...]:
    """Keep the sites that take part, without their budgets: a study depends on nothing else."""
    return tuple(
        SiteRow(row.name, row.n_curves, row.n_observations_per_curve)
        for row in rows
        if row.included
    )


def by_number(rows: Sequence[SiteRow]) -> tuple[SiteRow, ...]:
    """Name the sites by their numbers: no simulated number depends on what they are called."""
    return tuple(replace(row, name=f"Site {k}") for k, row in enumerate(rows, 1))


def sized(source: Source[Any], rows: Sequence[SiteRow]) -> Source[Any]:
    """Resize a source to the sites that take part; of real curves the twin of their facts."""
    taking_part = [row for row in rows if row.included]
    if source.has_free_sites or not taking_part:
        site_table.checked(rows)
    people = [row.n_curves for row in taking_part]
    each = [row.n_observations_per_curve for row in taking_part]
    if not source.is_random:
        source.facts.check_stated()
    source = studied(source)
    if source.has_free_sites:
        return source.with_sites(people, each)
    if people == [*source.sizes.n_curves_per_server] and {*each} == {
        equal_sites(source, "")[0].n_observations_per_curve
    }:
        return source
    if isinstance(source, Twin):
        if min(each) != max(each):
            raise InputError(
                "A twin has as many observations of everybody.",
                field="readings",
                hint="Give all sites the same number of observations.",
            )
        return replace(source, people=tuple(people), n_observations=each[0])
    if len({*people}) == len({*each}) == 1:
        return source.resized(people[0], each[0], len(people))
    return source.with_sites(people, each)


def profile_of(
    source: Source[Any],
    mechanism: Mechanism,
    rows: Sequence[SiteRow],
    delta: float | None,
    noise: str,
    seed: int = 1,
) -> Profile:
    """Simulate a study at every step of the budget scale.

    Without δ it is 1/n², the rule of all pages. With noise "person" every person is a site of one
    curve, and with "sums" sites add shares of the noise. The steps are released together: what is
    made of the curves is made once.
    """
    scenario = _Scenario.of(source, mechanism, rows, delta, noise, seed)
    budgets = [scenario.budgets(epsilon) for epsilon in EPSILON_STEPS]
    data, count = scenario.data(), len(budgets)
    estimate = studies.released(scenario.study, data, budgets)
    parts = estimate.parts if scenario.noise is NoisePlace.SITES else None
    tuning = estimate.tuning[:count]
    return Profile(
        scenario.study,
        tuple(row for row in rows if row.included),
        scenario.noise,
        scenario.delta,
        studies.errors_of(scenario.study, data, estimate, budgets),
        _bands(data, estimate, count),
        tuple(
            scenario.ledger(epsilon, each)
            for epsilon, each in zip(EPSILON_STEPS, estimate.spends[:count], strict=True)
        ),
        scenario.floor(budgets),
        tuple(each["truncation"] for each in tuning if "truncation" in each),
        None if parts is None else parts.weight[:count],
    )


def tried(
    source: Source[Any],
    mechanism: Mechanism,
    rows: Sequence[SiteRow],
    delta: float | None,
    noise: str,
    seed: int = 1,
) -> Profile | InputError:
    """Simulate a study as `profile_of` does; a refusal is an answer, which can be kept."""
    try:
        return profile_of(source, mechanism, rows, delta, noise, seed)
    except InputError as problem:
        return problem


def _bands(data: Data, estimate: Estimate, count: int) -> Bands | None:
    """Build the bands of all releases; None for numbers, several functions and surfaces.

    They are about the first `count` budgets.
    """
    truth, grid = data.truth, drawing_grid()
    if (
        truth is None
        or estimate.functions
        or truth.grid_values.shape != grid.shape
        or TASKS[estimate.task].argument not in (Argument.TIME, Argument.FEATURE)
    ):
        return None
    releases = estimate.values(grid)[:count]  # (steps, data sets, releases of each, GRID_SIZE)
    first = releases[:, 0, 0]
    low, high = (
        (np.full(first.shape, np.nan),) * 2
        if estimate.band is None
        else limits(estimate, estimate.band.of(slice(count), 0, 0))
    )
    return Bands(
        data.facts.from_unit_time(grid),
        truth.grid_values,
        np.moveaxis(np.quantile(releases, _BAND, axis=(1, 2)), 0, 1),
        np.stack([low, first, high], axis=1),
    )


@dataclass(frozen=True)
class _Scenario:
    """One study with its trust, ready to be released at every step of the scale."""

    study: Study[Any]  # at the highest step, for a site
    delta: Delta
    noise: NoisePlace
    is_to_pool: bool = False
    shares: Shares | None = None  # of noise, where only the sum over sites can be read

    @classmethod
    def of(
        cls,
        source: Source[Any],
        mechanism: Mechanism,
        rows: Sequence[SiteRow],
        delta: float | None,
        noise: str,
        seed: int,
        most_devices: int = MAX_DEVICES,
    ) -> _Scenario:
        recipe, place = sized(source, rows), NoisePlace.named(noise, "noise")
        mechanism = mechanism.noised_by(place)
        each = [row.n_observations_per_curve for row in rows if row.included]
        n = site_table.people(rows)
        stated = mechanism.delta(n, delta)
        shares = masked_sums.all_but_one(len(each)) if place is NoisePlace.SUMS else None
        highest = Budget(EPSILON_STEPS[-1], stated.value)
        study = Study(source=recipe, mechanism=mechanism, budgets=(highest,), seed=seed)
        scenario = cls(study, stated, place, shares=shares)
        if place is NoisePlace.PERSON and not scenario.is_one_centre:
            _check_devices(n, most_devices, mechanism)
            return replace(scenario, study=replace(study, source=_devices(recipe, rows)))
        is_pooled = place is not NoisePlace.SITES
        if is_pooled and len(set(each)) == 1:  # one centre is one site, as on other pages
            one = recipe.resized(n, each[0], 1)
            return replace(scenario, study=replace(study, source=one))
        return replace(scenario, is_to_pool=is_pooled)

    @property
    def is_one_centre(self) -> bool:
        """True if one centre can stand in for all devices: its release has the law of theirs."""
        return self.noise is NoisePlace.PERSON and self._centre(1.0) is not None

    def budgets(self, epsilon: float) -> Budgets:
        """Return the budget of each site, or of the centre that stands for devices or shares."""
        budget = self._site_budget(epsilon)
        if self.shares is not None:
            return (masked_sums.centre_budget(self.shares, budget),)
        return (self._centre(epsilon) or budget,)

    def ledger(self, epsilon: float, spends: tuple[Spend, ...]) -> tuple[Spend, ...]:
        """Return the lines of every site, or of one device: all others send the same."""
        if self.shares is not None:
            return masked_sums.of_every_site(spends, self.shares, self._site_budget(epsilon))
        if self.is_one_centre:
            people = self.study.source.sizes.n_curves
            return of_one_device(spends, people, self._site_budget(epsilon))
        if self.noise is NoisePlace.PERSON:
            return tuple(spend for spend in spends if spend.server == 0)
        return spends

    def _site_budget(self, epsilon: float) -> Budget:
        return Budget(epsilon, self.delta.value)

    def _centre(self, epsilon: float) -> Budget | None:
        if self.noise is not NoisePlace.PERSON:
            return None
        source = self.study.source
        return self.study.mechanism.as_one_centre(
            source.sizes.n_curves, self._site_budget(epsilon), source.facts
        )

    def data(self) -> Any:
        """Draw the data sets, where the noise is added."""
        drawn = studies.data(self.study)
        return drawn.pooled() if self.is_to_pool else drawn

    def errors(self, budgets: Sequence[Budgets]) -> Array:
        """Measure distances from what is estimated (budgets, data sets, releases of each)."""
        return studies.errors(self.study, self.data(), budgets)

    def floor(self, budgets: Sequence[Budgets]) -> Array | None:
        """Compute the least error of unbiased estimates of a mean curve (budgets,), if known."""
        if self.study.mechanism.main_task is not tasks.MEAN_FUNCTION:
            return None
        errors = least_errors(self.study.source, budgets, self.is_to_pool)
        return None if errors is None else errors.errors


def _check_devices(n_people: int, max_devices: int, mechanism: Mechanism) -> None:
    """Refuse more devices than are simulated, where no law says what one centre would add."""
    if n_people > max_devices:
        raise InputError(
            f"Everybody’s own device adds noise here: {n_people:,} devices. At most "
            f"{max_devices:,} are simulated with these settings of the method.",
            field="noise",
            hint="Take fewer people, or let sites or a centre add the noise."
            + (
                " The adaptive mean with δ above 0 and stated observation times has no such limit."
                if mechanism.main_task is tasks.MEAN_FUNCTION
                else ""
            ),
        )


def _devices(recipe: Source[Any], rows: Sequence[SiteRow]) -> Source[Any]:
    """Make every person a site of one curve.

    Refused if sites whose numbers of observations differ cannot be taken apart.
    """
    taking_part = [row for row in rows if row.included]
    each = [row.n_observations_per_curve for row in taking_part for _ in range(row.n_curves)]
    if len(set(each)) == 1:
        return recipe.resized(1, each[0], len(each))
    if not recipe.has_free_sites:
        raise InputError(
            "These curves are taken apart into devices only where everybody has as "
            "many observations.",
            field="noise",
            hint="Give all sites the same number of observations.",
        )
    return recipe.with_sites([1] * len(each), each)


def usual_target(task: Task, facts: PublicFacts) -> float:
    """Propose a first distance to ask for, in the unit of the result."""
    if not task.has_value_unit:
        return _DEFAULT_DISTANCE
    if task.data is DataType.READINGS:
        return float(f"{(facts.value_high - facts.value_low) / _OF_RANGE:.1g}")
    return usual_error(facts)


CLOSE = 1.02  # larger budgets may miss a target by so little: simulated distances are that rough


# -- the decision ---------------------------------------------------------------------------------


def decision(profile: Profile, target: float, confidence: str, records: int = 1) -> Decision:
    """Find the smallest budget of the scale that keeps a share of releases within the target.

    `confidence` is a key of `SHARES`; `records` are curves of one person, protected together.
    """
    if confidence not in SHARES:
        raise InputError(
            f"There is no confidence {brief(confidence)}.",
            field="confidence",
            hint=f"Ask for {', '.join(SHARES)} of 20 releases.",
        )
    if not 0 < target < 1e12:
        raise InputError(
            f"The target must be above zero; got {target:g}.",
            field="target",
            hint="Give it in the unit of the values.",
        )
    step = _step(profile, target, confidence)

    def option(index: int) -> Option | None:
        if 0 <= index < len(EPSILON_STEPS) and np.isfinite(profile.errors[index]).all():
            return profile.option(index, records)
        return None

    chosen = option(step)
    return Decision(profile, target, confidence, chosen, option(step - 1), option(step + 1))


def _step(profile: Profile, target: float, confidence: str) -> int:
    """Find the first step that reaches the target behind the last one that clearly misses it."""
    distance = profile.distance(SHARES[confidence])
    clear = int(np.flatnonzero(~(distance <= CLOSE * target)).max(initial=-1)) + 1
    reaches = np.flatnonzero(distance[clear:] <= target)
    return clear + int(reaches[0]) if len(reaches) else len(EPSILON_STEPS)


def reachable(profile: Profile, target: float, confidence: str) -> list[tuple[float, str, float]]:
    """List what can be asked for instead, each with its ε.

    The most releases within the target, then the targets that the largest ε and ε = 1 reach.
    """
    fewer = [share for share in SHARES if SHARES[share] < SHARES[confidence]]
    reached = profile.distance(SHARES[confidence])[[EPSILON_STEPS.index(1.0), -1]]
    allowed = sorted({digits_up(float(distance), 2) for distance in reached[np.isfinite(reached)]})

    def met(requested: Sequence[tuple[float, str]]) -> list[tuple[float, str, float]]:
        steps = [_step(profile, *requirement) for requirement in requested]
        return [
            (*requirement, EPSILON_STEPS[step])
            for requirement, step in zip(requested, steps, strict=True)
            if step < len(EPSILON_STEPS)
        ]

    return [
        *met([(target, share) for share in reversed(fewer)])[:1],
        *met([(larger, confidence) for larger in allowed]),
    ]


def decision_of(
    source: Source[Any],
    mechanism: Mechanism,
    rows: tuple[SiteRow, ...],
    delta: float | None,
    noise: str,
    target: float,
    confidence: str,
    seed: int = 1,
) -> Decision:
    """The budget that a study with sites needs, with one step to either side.

    Parameters
    ----------
    source : Source
        Curves of the kind that is studied; their sizes are those of `rows`.
    mechanism : Mechanism
        The method that every site uses, with its settings.
    rows : tuple of SiteRow
        People and observations of every site.
    delta : float or None
        δ of every site; None for 1/n², the rule of all pages.
    noise : str
        Who adds it: "sites", "centre", "sums" for sites in shares, or "person" for everybody's
        own device.
    target : float
        The largest acceptable distance from what is estimated, in its unit.
    confidence : str
        How many releases of twenty stay within it: "10", "16", "18" or "19".
    seed : int
        Fixes the simulated data and the noise.

    Returns
    -------
    Decision
        With one step of the scale to either side.

    Raises
    ------
    InputError
        If the table cannot be simulated, or whatever the mechanism refuses.
    """
    return decision(profile_of(source, mechanism, rows, delta, noise, seed), target, confidence)


# -- the map --------------------------------------------------------------------------------------


def map_tables(rows: Sequence[SiteRow]) -> tuple[tuple[SiteRow, ...], ...]:
    """Scale the sites to fewer and to more people: the further rows of the map.

    Where all would be too many they are left out. After the first two the map has its size.
    """
    tables = (scaled(at_one_budget(rows), factor) for factor in _MAP_FACTORS)
    return tuple(table for table in tables if _fits(table))


def map_row(
    source: Source[Any],
    mechanism: Mechanism,
    rows: Sequence[SiteRow],
    delta: float | None,
    noise: str,
    seed: int,
) -> Array:
    """Measure errors (budgets of the map, data sets, releases) of one of `map_tables`."""
    scenario = _Scenario.of(
        source, mechanism, rows, delta, noise, seed, round(max(_MAP_FACTORS) * MAX_DEVICES)
    )
    return scenario.errors([scenario.budgets(epsilon) for epsilon in MAP_EPSILONS])


def _fits(rows: Sequence[SiteRow]) -> bool:
    return sum(row.n_curves * row.n_observations_per_curve for row in rows) <= _MAX_ON_MAP and all(
        row.n_curves <= site_table.MAX_CURVES for row in rows if row.n_observations_per_curve > 1
    )


def scaled(rows: Sequence[SiteRow], factor: float) -> tuple[SiteRow, ...]:
    """Scale the number of people at every site."""
    return tuple(
        replace(row, n_curves=max(2, round(factor * row.n_curves))) for row in rows if row.included
    )
