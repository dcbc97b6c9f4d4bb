"""Wavelet regression from a network of sites: its releases, and what closed forms say of them.

A network is a few kinds of sites: how many of a kind, how many observations each, and its ε.
Levels, clips, weights and the risk of simulated observations follow from such numbers alone, so
changes are answered without drawing anything. One's own observations come with their sites, and
without a true curve: of them only noise and distances between estimates are known. For looking,
never a release.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from engine.core.bands import ROUNDED_NORMAL, standard_errors
from engine.core.errors import InputError
from engine.core.types import Array, Budget, CurveData, Estimate, Public, PublicFacts, Sizes, Spend
from engine.mechanisms import mechanisms
from engine.mechanisms.families.wavelets.risk import (
    UNIFORM,
    CentreAverage,
    DesignDensity,
    RiskParts,
    curve_risk,
)
from engine.mechanisms.families.wavelets.sites import WaveletSites
from engine.mechanisms.study import Study
from engine.mechanisms.wavelet_adaptive import StagedPlan
from engine.mechanisms.wavelet_global import CurvePlan, WaveletGlobal
from engine.mechanisms.wavelet_pointwise import WaveletPointwise
from engine.numerics.signals import SIGNALS
from engine.numerics.wavelets import printed_sensitivity_constant
from engine.privacy import transcript
from engine.rates.wavelet_regression import WaveletRate
from engine.simulation import studies
from engine.simulation.metrics import within
from engine.sources.besov_points import BesovPoints
from engine.sources.regression_points import PointsOfCurve, RegressionPoints
from engine.topics.regression.intervals import stated
from engine.topics.sites.site_table import fit_names
from engine.uploads.curves import Upload

POINTS = 513  # of the drawing grid: observations may jump, so curves are drawn finely
DELTA = 1e-5
MAX_KINDS = 12  # that are asked for one by one
_MAX_SITES, _MAX_READINGS = 400, 2_000_000
_EPSILON_LOW, _EPSILON_HIGH = 0.01, 10.0
_PLANNED_STEPS = 21

Readings = PointsOfCurve | Upload
SimulatedReadings = PointsOfCurve
_BESOV = "besov"
CURVES = (*SIGNALS, _BESOV)  # behind simulated observations
Method = WaveletGlobal  # of the whole curve


def curve_name(points: SimulatedReadings) -> str:
    """Name the curve behind simulated observations, as `CURVES` does."""
    return points.signal if isinstance(points, RegressionPoints) else _BESOV


def with_curve(points: SimulatedReadings, name: str) -> SimulatedReadings:
    """Put another curve behind the same observations."""
    shared = points.sites_and_observations
    if name == _BESOV:
        return BesovPoints(**shared, radius=points.bound)
    return RegressionPoints(**shared, signal=name)


@dataclass(frozen=True)
class Group:
    """Sites of one kind: how many, observations at each, ε of each; a site may have a name."""

    sites: int
    readings: int
    epsilon: float
    name: str = ""


NETWORKS: dict[str, tuple[Group, ...]] = {
    "Sixteen sites alike": (Group(16, 4000, 1.0),),
    "One large site and many small": (Group(1, 40_000, 2.0), Group(24, 1000, 0.1)),
    "Two hundred small sites": (Group(200, 320, 0.3),),
    "Sites with unequal protection": tuple(Group(4, 4000, e) for e in (0.1, 0.3, 1.0, 3.0)),
}


@dataclass(frozen=True)
class Network:
    """The sites of a regression and their budgets, all with the same δ."""

    groups: tuple[Group, ...]
    delta: float = DELTA

    def __post_init__(self) -> None:
        if not self.groups:
            raise InputError("There must be at least one kind of sites.", field="groups")
        for group in self.groups:
            if group.sites < 1 or group.readings < 1:
                raise InputError(
                    "Every kind needs at least one site with one observation.",
                    field="groups",
                    hint="Remove rows that are not needed.",
                )
            if not _EPSILON_LOW <= group.epsilon <= _EPSILON_HIGH:
                raise InputError(
                    f"ε must lie between {_EPSILON_LOW:g} and {_EPSILON_HIGH:g}; got "
                    f"{group.epsilon:g}.",
                    field="groups",
                )
        if self.n_sites > _MAX_SITES or self.n_readings > _MAX_READINGS:
            raise InputError(
                f"There may be at most {_MAX_SITES} sites and {_MAX_READINGS:,} "
                f"observations; got {self.n_sites} and {self.n_readings:,}.",
                field="groups",
                hint="Take fewer of them here.",
            )

    @classmethod
    def of_upload(cls, upload: Upload, epsilons: Sequence[float], delta: float) -> Network:
        """The sites of one's own observations, each a kind of its own with its ε."""
        sizes = upload.sizes.n_curves_per_server
        names = fit_names(upload.curves.server_names, len(sizes))
        return cls(
            tuple(
                Group(1, size, epsilon, name)
                for size, epsilon, name in zip(sizes, epsilons, names, strict=True)
            ),
            delta,
        )

    @property
    def n_sites(self) -> int:
        return sum(group.sites for group in self.groups)

    @property
    def n_readings(self) -> int:
        return sum(group.sites * group.readings for group in self.groups)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(group.readings for group in self.groups for _ in range(group.sites))

    @property
    def budgets(self) -> tuple[Budget, ...]:
        return tuple(
            Budget(group.epsilon, self.delta) for group in self.groups for _ in range(group.sites)
        )

    @property
    def first_of_each(self) -> list[int]:
        """The number of the first site of every kind."""
        return [*itertools.accumulate((group.sites for group in self.groups[:-1]), initial=0)]

    @overload
    def source(self, like: PointsOfCurve) -> PointsOfCurve: ...
    @overload
    def source(self, like: Upload) -> Upload: ...
    @overload
    def source(self, like: Readings) -> Readings: ...

    def source(self, like: Readings) -> Readings:
        """The same kind of observations, at these sites; one's own are where they are."""
        if isinstance(like, Upload):
            return like
        return replace(like, configuration="listed", sizes_listed=", ".join(map(str, self.sizes)))

    def theory(self) -> WaveletSites:
        epsilons = [budget.epsilon for budget in self.budgets]
        return WaveletSites(np.array(self.sizes, dtype=float), np.array(epsilons))


@dataclass(frozen=True)
class SiteFacts:
    """Public facts of one kind of site.

    `weight` is that of one site. `limited` says whether privacy, not the number of observations, is
    what holds it back: n ε² ≤ D.
    """

    group: Group
    weight: float
    noise: float
    limited: bool


@dataclass(frozen=True, eq=False)  # known by itself: what was made of it is kept beside it
class RegressionAnswer:
    """The curve as it would be published, on a grid of [0, 1]; in response units.

    `releases` (SHOWN_DRAWS, POINTS), `ordinary` and `truth` (POINTS,), `noise_sd` (POINTS,): the
    standard deviation of the noise at each point; `messages` (kinds, POINTS): what the first site
    of every kind sent for the first release, drawn as a curve. The last two are None where the
    centre does more to the messages than average them. `band` are the lower and upper limits of
    the pointwise 95 % confidence band around the first release, (POINTS,) each; None where
    `no_band` says why there is none.

    With a truth, `squared_error` is the mean integrated squared error: the sum of the exact `risk`,
    or that of the study where the chosen options have no formula; `zero_risk` is that of a flat
    line, and `within` the distance that 95 % of the releases of the study stay within.
    One's own observations have none of these. Of all observations `known` says what public
    formulas and distances give.
    """

    facts: PublicFacts
    times: Array
    truth: Array | None
    ordinary: Array
    releases: Array
    noise_sd: Array | None
    messages: Array | None
    band: tuple[Array, Array] | None
    no_band: str
    plan: CurvePlan
    squared_error: float | None
    risk: RiskParts | None
    zero_risk: float | None
    within: float
    known: Known
    rows: tuple[SiteFacts, ...]
    spends: tuple[Spend, ...]

    @property
    def is_refused(self) -> bool:
        return not self.plan.released

    @property
    def error(self) -> float:
        """Root mean squared distance from the truth; NaN without one."""
        return math.nan if self.squared_error is None else math.sqrt(self.squared_error)


@dataclass(frozen=True)
class Known:
    """Errors known without a truth: roots of mean squares over the range, in response units.

    `noise` is the privacy noise, by the formula of the method, and NaN where nothing is released;
    `chance` the most that who takes part can add, if times are as stated; `apart` how far the shown
    releases are from the estimate without protection.
    """

    noise: float
    chance: float
    apart: float


def regression_answer(
    source: Readings, mechanism: WaveletGlobal, network: Network, seed: int
) -> RegressionAnswer:
    """Draw observations, release, and put the closed forms beside it.

    Parameters
    ----------
    network : Network
        How many sites there are, with observations and ε of each, and their δ.

    Returns
    -------
    RegressionAnswer
        The curve, its releases, and what is known of its error.
    """
    readings = network.source(source)
    data = studies.data_on_screen(readings, seed)
    times = (np.arange(POINTS) + 0.5) / POINTS
    checked = stated(mechanism, readings, network.budgets)
    with transcript.recorded() as messages:
        estimate = studies.shown_releases(checked.mechanism, data, [network.budgets], seed)
    plan = mechanism.plan(readings.public, network.budgets)
    grid = estimate.basis(times)
    is_average = (
        mechanism.design != "released"
        and not mechanism.invert_clip
        and not isinstance(plan, StagedPlan)
    )
    releases = estimate.coefficients[0, 0] @ grid.T
    ordinary = mechanism.without_protection(data).values(times)[0, 0, 0]
    return RegressionAnswer(
        facts=readings.facts,
        times=times,
        releases=releases,
        ordinary=ordinary,
        plan=plan,
        noise_sd=_noise_sd(plan, _places(mechanism, times)) if is_average else None,
        messages=_sent(messages, network, plan, grid) + readings.facts.value_middle
        if is_average
        else None,
        band=_band(estimate, releases[0], grid),
        no_band=checked.refusal,
        known=_known(mechanism, data, network, estimate, releases - ordinary),
        spends=estimate.spends[0],
        rows=_rows(network, plan, mechanism.smoothness),
        **_against_truth(readings, mechanism, network, times, seed),
    )


def _sent(
    messages: Sequence[transcript.Message], network: Network, plan: CurvePlan, grid: Array
) -> Array:
    """Evaluate what the first site of every kind sent, at the rows of `grid`: (kinds, POINTS)."""
    # Scaling coordinates, as they are sent; `grid` evaluates the functions level by level.
    sent = np.stack([messages[first].values[0] for first in network.first_of_each])
    return np.asarray(plan.basis.to_levels(sent) @ grid.T)


def _band(estimate: Estimate, release: Array, grid: Array) -> tuple[Array, Array] | None:
    """Compute limits of the band around a release at the rows of `grid` (POINTS, size)."""
    if estimate.band is None or estimate.band.bias is None:
        return None
    half = ROUNDED_NORMAL * standard_errors(estimate.band.covariance[0, 0, 0], grid)
    half = half + estimate.band.bias[0, 0, 0]
    return release - half, release + half


def _against_truth(
    readings: Readings, mechanism: WaveletGlobal, network: Network, times: Array, seed: int
) -> dict[str, Any]:
    """Compute the true curve of simulated observations and the squared errors from it."""
    if not isinstance(readings, PointsOfCurve):
        return dict.fromkeys(("truth", "squared_error", "risk", "zero_risk")) | {"within": math.nan}
    risk = mechanism.risk_parts(readings, network.budgets)
    study = Study(source=readings, mechanism=mechanism, budgets=network.budgets, seed=seed)
    distances = studies.errors(study, studies.data(study), [network.budgets])
    squared = float((distances**2).mean()) if risk is None else risk.total
    return {
        "truth": readings.curve(times),
        "squared_error": squared,
        "risk": risk,
        "zero_risk": float(readings.truth.energy),
        "within": float(within(distances, None)),
    }


def _known(
    mechanism: WaveletGlobal,
    data: CurveData,
    network: Network,
    estimate: Estimate,
    difference: Array,
) -> Known:
    """Summarize errors without a truth.

    `difference` (SHOWN_DRAWS, POINTS): releases less the estimate without protection.
    """
    assert estimate.parts is not None
    noise = mechanism.expected_error(data.sizes, network.budgets, data.facts)
    return Known(
        math.sqrt(noise),
        math.sqrt(estimate.parts.sampling.sum()),
        math.sqrt((difference**2).mean()),
    )


def _noise_sd(plan: CurvePlan, times: Array) -> Array:
    """Compute the standard deviation of the published noise at each time: (len(times),)."""
    variance = (plan.weights[:, None] ** 2 * plan.noise_deviation**2).sum(axis=0)
    return np.asarray(np.sqrt(plan.basis.scaling(times) ** 2 @ variance))


def _places(mechanism: WaveletGlobal, times: Array) -> Array:
    """Return the place of each time in the basis: its rank if ranks replace times."""
    design = mechanism.known_design
    return times if design is None or mechanism.design != "ranked" else design.rank(times)


def _rows(network: Network, plan: CurvePlan, smoothness: float) -> tuple[SiteFacts, ...]:
    limited = network.theory().privacy_limited(smoothness)
    return tuple(
        SiteFacts(group, float(plan.weights[k]), float(plan.scales[k]), bool(limited[k]))
        for group, k in zip(network.groups, network.first_of_each, strict=True)
    )


# -- closed forms ---------------------------------------------------------------------------


@dataclass(frozen=True)
class ByLevel:
    """Exact risk at every level J, with the best clip there; `chosen` is the rule's own level."""

    levels: tuple[int, ...]
    parts: tuple[RiskParts, ...]
    chosen: int


def methods() -> dict[str, Method]:
    """List the ways of making whole curves by their labels, the default first."""
    return {
        label: cls(**settings)
        for cls in mechanisms.all()
        if issubclass(cls, Method)
        for label, settings in cls.presets()
    }


def suited(mechanism: WaveletGlobal, facts: PublicFacts) -> WaveletGlobal:
    """Correct the edges for curves not stated to end where they began, if the method can."""
    if not mechanism.unsuited_because(facts):
        return mechanism
    try:
        return replace(mechanism, edges="corrected")
    except InputError:  # the caution is shown instead
        return mechanism


def risk_by_level(
    source: PointsOfCurve, mechanism: WaveletGlobal, network: Network, highest: int = 8
) -> ByLevel:
    """Split the error of one message into its four parts by level; nothing is drawn.

    Levels go up to `highest`, or to that of the rule if it is higher.
    """
    readings, mechanism = network.source(source), mechanism.at_once
    free = replace(mechanism, level=None)
    rule = free.plan(readings.public, network.budgets).basis.level
    levels = tuple(level for level in free.levels() if level <= max(highest, rule))
    plans = [
        replace(mechanism, level=level).plan(readings.public, network.budgets) for level in levels
    ]
    return ByLevel(levels, tuple(_risk(readings, plan) for plan in plans), rule)


def _risk(readings: PointsOfCurve, plan: CurvePlan, design: DesignDensity = UNIFORM) -> RiskParts:
    """Compute a plan's exact risk on simulated observations, also if it would release nothing."""
    n = np.array(readings.sizes.n_curves_per_server, dtype=float)
    average = CentreAverage(
        plan.basis, plan.clip, readings.noise_sd, n, plan.weights, plan.total_noise
    )
    return curve_risk(readings.truth, average, design)


@dataclass(frozen=True)
class PointAnswer:
    """The curve at one point, released on its own, beside the same point of the whole curve.

    `low` and `high` are the ends of the 95 % confidence interval, which counts noise, sampling
    variability and `bias`, the most that the class of curves allows; None where `no_interval` says
    why there is none. `left_out` is the part of `bias` that is about details finer than the level.
    `whole_sd` is the noise that the whole curve has at this point. One's own observations have no
    `truth` and no `risk`.
    """

    facts: PublicFacts
    point: float
    truth: float | None
    released: float
    low: float | None
    high: float | None
    no_interval: str
    bias: float
    left_out: float
    kind: str
    why: str
    level: int
    noise_sd: float
    whole_sd: float
    risk: RiskParts | None
    printed: float
    exact: float
    is_refused: bool


def at_a_point(mechanism: WaveletGlobal) -> WaveletPointwise:
    """Return the method for one point, with all options of that for the whole curve."""
    return WaveletPointwise.like(mechanism, "0.5")


def point_answer(
    source: Readings,
    mechanism: WaveletPointwise,
    whole: CurvePlan,
    network: Network,
    point: float,
    seed: int,
) -> PointAnswer:
    """Release the value at `point`, on [0, 1], once, with its interval."""
    readings = network.source(source)
    checked = stated(replace(mechanism, points=f"{point:.6g}"), readings, network.budgets)
    method = checked.mechanism
    assert isinstance(method, WaveletPointwise)
    data = studies.data_on_screen(readings, seed)
    estimate = studies.shown_releases(method, data, [network.budgets], seed, draws=1)
    plan = method.plan(readings.public, network.budgets)
    risk = method.risk_parts(readings, network.budgets)
    value = float(estimate.coefficients[0, 0, 0, 0])
    truth = None
    if isinstance(readings, PointsOfCurve):
        truth = float(readings.curve(np.array([point]))[0])
    half = (
        None
        if estimate.band is None
        else plan.bias + ROUNDED_NORMAL * math.sqrt(float(estimate.band.covariance[0, 0, 0, 0, 0]))
    )
    printed, exact = method.sensitivity_constants(plan.basis.level)
    noise = math.sqrt(float((plan.weights**2 * plan.point_noise[:, 0]).sum()))
    return PointAnswer(
        readings.facts,
        point,
        truth,
        value,
        None if half is None else value - half,
        None if half is None else value + half,
        checked.refusal,
        plan.bias,
        method.curve_class(readings.facts).detail_bound(plan.basis.level),
        plan.kind,
        str(estimate.tuning[0]["why"]),
        plan.basis.level,
        noise,
        float(_noise_sd(whole, np.array([point]))[0]),
        risk,
        printed,
        exact,
        not plan.released,
    )


@dataclass(frozen=True)
class CostOfPrivacy:
    """Factors by which privacy raises the error, by ε, for the whole curve and for one point.

    `elbows` are the ε below which it costs anything, `smallest_epsilon` that below which no
    estimate is better than none.
    """

    epsilons: Array
    whole: Array
    point: Array
    elbows: tuple[float, float]
    smallest_epsilon: float


def cost_of_privacy(
    network: Network, smoothness: float, smoothness_at_a_point: float | None = None
) -> CostOfPrivacy:
    """Compute the cost by the rates, for as many equal sites with the same total; no constants.

    At a point the smoothness is usually that of its method.
    """
    if smoothness_at_a_point is None:
        smoothness_at_a_point = WaveletPointwise().smoothness
    n, sites = network.n_readings / network.n_sites, float(network.n_sites)
    epsilons = np.geomspace(_EPSILON_LOW / 10, _EPSILON_HIGH, 81)
    curves, elbows = [], []
    for gamma in (smoothness, smoothness_at_a_point):
        rate = WaveletRate(smoothness=gamma)
        curves.append(np.sqrt(rate.cost_of_privacy(n=n, S=sites, epsilon=epsilons)))
        elbows.append(n**-0.5 * (sites * n) ** (1 / (4 * gamma + 2)))
    return CostOfPrivacy(
        epsilons, curves[0], curves[1], (elbows[0], elbows[1]), _smallest_useful_epsilon(network)
    )


def _smallest_useful_epsilon(network: Network) -> float:
    """Compute 1/(n√m): by the rates, ε below which no estimate beats none, sites being alike."""
    return math.sqrt(network.n_sites) / network.n_readings


def planned_cost(
    mechanism: WaveletGlobal, facts: PublicFacts, network: Network
) -> tuple[Array, Array]:
    """Compute ε, increasing, and the factor by which privacy raises the planned bound: both (k,).

    The bound has all its constants, holds for the whole class of curves, and is B where nothing is
    released.
    """
    n, sites = network.n_readings // network.n_sites, network.n_sites
    sizes = Sizes((n,) * sites, n * sites, 1)
    tuned = replace(mechanism, plan_rule="tuned", level=None, clip=None)
    epsilons = np.geomspace(_EPSILON_LOW / 10, _EPSILON_HIGH, _PLANNED_STEPS)
    plans = [
        tuned.plan(Public(sizes, facts), (Budget(epsilon, network.delta),) * sites)
        for epsilon in (*epsilons.tolist(), math.inf)
    ]
    bounds = np.minimum([plan.criterion for plan in plans], tuned.stated(facts)[0] ** 2)
    return epsilons, np.sqrt(bounds[:-1] / bounds[-1])  # bounds are on squared errors


@dataclass(frozen=True)
class WorstPair:
    """The two observations that change a message most: at `time`, labels +τ and −τ.

    `norms` (POINTS,) is ‖b(x)‖ on `times`, two cells of the grid or the whole range; `exact` and
    `printed` are multiples of τ/n.
    """

    times: Array
    norms: Array
    time: float
    exact: float
    printed: float


def worst_pair(plan: CurvePlan, mechanism: WaveletGlobal) -> WorstPair:
    """Find where an observation has most weight in a message, from the tables of its basis."""
    basis = plan.basis
    cells = 4 if mechanism.edges == "periodic" else basis.size
    times = np.linspace(0, min(cells / basis.size, 1.0), 2049)[:-1]
    norms = np.sqrt(basis.diagonal(times))
    return WorstPair(
        times,
        norms,
        float(times[norms.argmax()]),
        2 * basis.sup_norm,
        printed_sensitivity_constant(mechanism.moments) * math.sqrt(basis.size / 2),
    )


# -- when times are not spread evenly -----------------------------------------------------------


@dataclass(frozen=True)
class DesignDemo:
    """Root of the exact error with times that are spread evenly, and with density ½ + x.

    A method that takes rising times for even ones converges to the wrong curve, (½ + x) f(x);
    `weighted` is the error where the density is stated and observations are weighted by it.
    """

    even: float
    rising: float
    weighted: float


def design_demo(source: PointsOfCurve, mechanism: WaveletGlobal, network: Network) -> DesignDemo:
    """Evaluate one plan under both laws of the times, by the closed form."""
    readings = network.source(source)
    even = replace(mechanism, design="even", density=None)
    plan = even.plan(readings.public, network.budgets)
    rising = DesignDensity(density=lambda x: 0.5 + x)
    known = WaveletGlobal(design="weighted", density="0.5, 1.5").risk_parts(
        replace(readings, times="rising"), network.budgets
    )
    assert known is not None
    return DesignDemo(
        *(
            math.sqrt(parts.total)
            for parts in (_risk(readings, plan), _risk(readings, plan, rising), known)
        )
    )
