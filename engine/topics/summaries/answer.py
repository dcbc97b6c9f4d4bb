"""Methods that publish the same function side by side: same records, same budget, same axes.

For looking, like `engine.topics.mean.answer`: simulated with a known seed, never a release.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.registry import parameters
from engine.core.types import Array, Budget, Data, Estimate, Public, PublicFacts, Spend, Truth
from engine.mechanisms import Mechanism, mechanisms
from engine.mechanisms.families.functional.release import FunctionalRelease
from engine.mechanisms.study import Study
from engine.mechanisms.summaries.covariance import CovarianceSmoothing
from engine.mechanisms.summaries.mean import ClippedCurves
from engine.mechanisms.summaries.parts import Linear
from engine.numerics.pairs import SymmetricSurfaces
from engine.privacy import accounting
from engine.simulation import studies
from engine.simulation.metrics import distances, integrated_squared_errors, root_mean_square, within
from engine.simulation.studies import check_readings
from engine.sources import Source

SURFACE = 40  # points on each axis where functions of two numbers are drawn
_MAX_READINGS = 1_000_000  # of one data set on screen
_WHOLE = 1 - 1e-9  # a curve that is left as it is, up to rounding


@dataclass(frozen=True)
class MethodResult:
    """Releases of one mechanism from the records that are shown, and its errors.

    `releases` (draws, functions, points) or, of two numbers, (draws, 1, SURFACE, SURFACE).
    `errors` (releases,) are distances from the truth on fresh data where it is known, else from
    the estimate without protection. `parts` (3,) are the squared error's shares of privacy noise,
    sampling, and smoothing with all else. `refusal` says why there is nothing.
    """

    label: str
    mechanism: Mechanism
    budget: Budget
    releases: Array | None = None
    errors: Array | None = None
    parts: Array | None = None
    spends: tuple[Spend, ...] = ()
    refusal: str = ""

    @property
    def error(self) -> float:
        """The root mean squared distance; NaN where there is none."""
        return math.nan if self.errors is None else float(root_mean_square(self.errors))

    @property
    def within(self) -> float:
        """The distance that 95 % of the releases stay within; NaN where there is none."""
        return math.nan if self.errors is None else float(within(self.errors))

    @property
    def guarantee(self) -> Budget:
        """Guarantee that holds for everybody, at any site."""
        return accounting.least_guarantee(self.spends)


@dataclass(frozen=True, eq=False)  # known by itself: what was made of it is kept beside it
class SummariesAnswer:
    """Results of all methods, the chosen one first, over one estimate without protection.

    `ordinary` and `truth` have the shape of one release; `axis` (points,) is in the unit of
    time, or of the first number of a record, `across` that of the second number; `baseline` is the
    error without privacy, tuned as well as the chosen method; `clipped_share` the share of curves
    that the chosen method clips to the largest size, which depends on them without protection:
    None where they are real.
    """

    task: str
    facts: PublicFacts
    names: tuple[str, ...]
    axis: Array
    across: Array
    ordinary: Array
    truth: Array | None
    baseline: float | None
    results: tuple[MethodResult, ...]
    people: int
    clipped_share: float | None

    @property
    def is_surface(self) -> bool:
        return self.ordinary.ndim == 3


def summaries_answer(
    source: Source[Data], mechanism: Mechanism, task: str, budget: Budget, seed: int
) -> SummariesAnswer:
    """Release by every method that serves the task; those that refuse say why.

    Parameters
    ----------
    source : Source
        Where the records come from.
    budget : Budget
        ε and δ that every site may spend.

    Returns
    -------
    SummariesAnswer
        Results of all methods, the chosen one first.
    """
    selected: Any = mechanism
    check_readings(source, _MAX_READINGS)
    data = studies.data_on_screen(source, seed)
    study = Study(source=source, mechanism=selected, budgets=(budget,), seed=seed)
    drawn = studies.data(study) if source.is_random else None
    truth = selected.truth_of(data)
    reference = selected.without_protection(data)
    drawing = _Drawing.of(reference, data.facts)
    results = tuple(
        _result(label, replace(study, mechanism=method), data, drawn, reference, drawing)
        for label, method in _all_methods(selected, task, data.facts)
    )
    baseline = (
        None
        if drawn is None or results[0].refusal
        else studies.baseline(replace(study, budgets=(results[0].budget,)))
    )
    return SummariesAnswer(
        task=task,
        facts=data.facts,
        names=reference.functions or ("",),
        axis=drawing.axis,
        across=drawing.across,
        ordinary=drawing.draw(reference)[0],
        baseline=baseline,
        people=data.n_curves,
        truth=None if truth is None else drawing.of_truth(truth),
        clipped_share=_clipped_share(selected, data) if source.is_random else None,
        results=results,
    )


def _all_methods(selected: Any, task: str, facts: PublicFacts) -> list[tuple[str, Any]]:
    """List the chosen mechanism as it is set, and every other preset of the task."""
    present = selected.nearest_preset()[0]
    methods: list[tuple[str, Any]] = [(present, selected)]
    for cls in mechanisms.for_task(task):
        methods += [
            (label, _alike(cls(**values).comparable(facts), selected))
            for label, values in cls.presets_for(task)
            if label != present
        ]
    return methods


def _alike(other: Any, selected: Any) -> Any:
    """Set loss, width and centre alike: they belong to the summary, not to the method."""
    if not isinstance(other, FunctionalRelease) or not isinstance(selected, FunctionalRelease):
        return other
    return replace(
        other,
        **{p.name: getattr(selected, p.name) for p in parameters(FunctionalRelease) if p.only_for},
    )


def _result(
    label: str,
    study: Study[Data],
    data: Data,
    drawn: Data | None,
    reference: Estimate,
    drawing: _Drawing,
) -> MethodResult:
    mechanism: Any = study.mechanism
    budget = mechanism.suited(study.budgets[0])
    try:
        estimate = studies.shown_releases(mechanism, data, [(budget,)], study.seed)
        errors, parts = (
            _from_reference(estimate, drawing, reference)
            if drawn is None
            else _simulated(replace(study, budgets=(budget,)), drawn)
        )
    except InputError as problem:
        return MethodResult(label, mechanism, budget, refusal=str(problem))
    return MethodResult(
        label, mechanism, budget, drawing.draw(estimate), errors, parts, estimate.spends[0]
    )


def _simulated(study: Study[Data], drawn: Data) -> tuple[Array, Array]:
    """Measure distances in the study, and parts of the squared error."""
    estimate = studies.released(study, drawn, [study.budgets])
    squares = studies.squared_errors(study, drawn, estimate, [study.budgets])[0].sum(axis=-1)
    errors = integrated_squared_errors(estimate, study.mechanism.truth_of(drawn))
    privacy, sampling = float(errors.privacy[0].mean()), 0.0
    if errors.estimation is None:  # sampling cannot be told apart
        rest = max(float(squares.mean()) - privacy, 0.0)
    else:
        noise_free = estimate.unprotected[0]
        spread = estimate.squared_distance(noise_free - noise_free.mean(axis=0))
        sampling = float(spread.sum() / max(len(noise_free) - 1, 1))
        rest = max(float(errors.estimation[0].mean()) - sampling, 0.0)
    parts = np.array([privacy, sampling, rest])
    return distances(squares).ravel(), parts / parts.sum()


def _from_reference(
    estimate: Estimate, drawing: _Drawing, reference: Estimate
) -> tuple[Array, Array]:
    """Measure distances from the estimate without protection; sampling cannot be told apart."""
    target = drawing.draw(reference)[0]
    squared = _mean_square(drawing.draw(estimate) - target)
    noise_free = replace(estimate, coefficients=estimate.unprotected[:, :, None])
    bias = float(_mean_square(drawing.draw(noise_free) - target)[0])
    parts = np.array([max(float(squared.mean()) - bias, 0.0), 0.0, bias])
    return distances(squared), parts / max(parts.sum(), 1e-300)


def _mean_square(difference: Array) -> Array:
    """Integrate squares of (draws, functions, …), summed over functions: (draws,)."""
    points = tuple(range(2, difference.ndim))
    return np.asarray((difference**2).mean(axis=points).sum(axis=1))


def _clipped_share(selected: Any, data: Data) -> float | None:
    """Compute the share of curves that exceed the largest size, and are clipped to it."""
    if not isinstance(selected, FunctionalRelease):
        return None
    records = selected.summary(data.sizes, data.facts).records(data)
    curves = records[0] if isinstance(records, tuple) else records
    if not isinstance(curves, ClippedCurves):
        return None
    return float((curves.clip_factors < _WHOLE).mean())


@dataclass(frozen=True)
class _Drawing:
    """Places at which functions are drawn: the drawing grid, or a grid of the square.

    `axis` and `across` are the places of the first and the second number, in their own units.
    """

    axis: Array
    across: Array
    is_surface: bool

    @classmethod
    def of(cls, estimate: Estimate, facts: PublicFacts) -> _Drawing:
        """Choose the places that the estimate without protection needs; axes in their own unit."""
        surface = getattr(getattr(estimate.basis, "grid", None), "dimension", 1) == 2
        axis = (np.arange(SURFACE) + 0.5) / SURFACE if surface else drawing_grid()
        if facts.covariates and estimate.task in ("density", "risk_minimisation"):
            first, last = (
                stated.low + axis * (stated.high - stated.low)
                for stated in (facts.covariates[0], facts.covariates[-1])
            )
            return cls(first, last, surface)
        times = facts.from_unit_time(axis)
        return cls(times, times, surface)

    @property
    def _unit(self) -> Array:
        return (np.arange(SURFACE) + 0.5) / SURFACE

    @property
    def _points(self) -> Array:
        """(SURFACE, SURFACE, 2)."""
        return np.stack(np.meshgrid(self._unit, self._unit, indexing="ij"), axis=-1)

    def draw(self, estimate: Estimate) -> Array:
        """Draw the first data set at the first budget: (draws, functions, points) or a surface."""
        coefficients = estimate.coefficients[0, 0]
        if not self.is_surface:
            values = estimate.on_grid(coefficients, drawing_grid())
            return values if estimate.functions else values[:, None]
        if isinstance(estimate.basis, SymmetricSurfaces):
            return estimate.basis.surface(coefficients, self._unit)[:, None]
        return np.asarray(
            (coefficients @ estimate.basis(self._points.reshape(-1, 2)).T).reshape(
                len(coefficients), 1, SURFACE, SURFACE
            )
        )

    def of_truth(self, truth: Truth) -> Array:
        if self.is_surface:
            return truth.at(self._points)[None]
        return np.atleast_2d(truth.grid_values)


# -- what follows from a released covariance -----------------------------------------------------


@dataclass(frozen=True)
class Components:
    """Principal components of released covariances, beside those without protection.

    `releases` (draws, 2, SURFACE) and `ordinary` (2, SURFACE) are functions of norm one on
    `axis`, turned to point the same way; `shares` (draws, 2) and `share` (2,) are their parts of
    the variance. `removed` is the part of all eigenvalues, in size, that was negative and set to
    zero.
    """

    axis: Array
    releases: Array
    ordinary: Array
    shares: Array
    share: Array
    removed: float


def components(answer: SummariesAnswer, source: Source[Data], seed: int) -> Components | None:
    """Find principal components of the chosen method's releases; None if they are no covariance."""
    chosen = answer.results[0]
    if not answer.is_surface or chosen.releases is None:
        return None
    ordinary, share = _principal(answer.ordinary)
    releases, shares = _principal(chosen.releases[:, 0])
    releases = releases * np.sign((releases * ordinary).sum(axis=-1, keepdims=True))
    return Components(
        answer.axis, releases, ordinary[0], shares, share[0], _negative_part(chosen, source, seed)
    )


def _principal(surfaces: Array) -> tuple[Array, Array]:
    """Find two leading eigenfunctions (…, 2, SURFACE) and their shares of the positive variance."""
    values, vectors = np.linalg.eigh((surfaces + surfaces.swapaxes(-1, -2)) / 2)
    # Eigenvectors are columns in rising order of their values: the last two become rows.
    first = vectors[..., ::-1][..., :2].swapaxes(-1, -2) * math.sqrt(SURFACE)
    largest = np.abs(first).argmax(axis=-1)[..., None]
    first = first * np.sign(np.take_along_axis(first, largest, axis=-1))
    total = np.maximum(values, 0).sum(axis=-1, keepdims=True)
    return first, values[..., ::-1][..., :2] / np.maximum(total, 1e-300)


def _negative_part(result: MethodResult, source: Source[Data], seed: int) -> float:
    """Measure what negative eigenvalues held before they were set to zero, in the same releases."""
    mechanism = result.mechanism
    if not isinstance(mechanism, FunctionalRelease) or not mechanism.positive:
        return 0.0
    data = studies.data_on_screen(source, seed)
    raw = studies.shown_releases(replace(mechanism, positive=False), data, [(result.budget,)], seed)
    assert isinstance(raw.basis, SymmetricSurfaces)
    values = np.linalg.eigvalsh(raw.basis.matrices(raw.coefficients[0, 0]))
    return float((np.maximum(-values, 0).sum(axis=-1) / np.abs(values).sum(axis=-1)).mean())


# -- why one shape of noise is better than another ------------------------------------------------


@dataclass(frozen=True)
class Spectrum:
    """Filter and noise of each coefficient of the last vector, in unit scale.

    `filter` (r,) is the share of an average that is kept; `scales` has the noise's standard
    deviations (r,) by kind of constants, `energy` their totals as a root, in response units.
    """

    filter: Array
    scales: Mapping[str, Array]
    energy: Mapping[str, float]
    chosen: str


def spectrum(mechanism: Mechanism, source: Source[Data], budget: Budget) -> Spectrum | None:
    """Compute the noise of the chosen mechanism by coefficient; None if it has none.

    Only public facts and sizes of the source are used; no record is read.
    """
    if not isinstance(mechanism, FunctionalRelease):
        return None
    sizes, facts = source.sizes, source.facts
    scale = mechanism.summary(sizes, facts).scale
    scales: dict[str, Array] = {}
    energy: dict[str, float] = {}
    shrinkage: Array | None = None
    for kind in ("tight", "published", "optimal"):
        try:
            plan = replace(mechanism, constants=kind).plan(Public(sizes, facts), (budget,))
        except InputError:
            continue
        middle = len(plan.smoothings) // 2
        noise = plan.noise[middle][0][-1]
        scales[kind] = math.sqrt(noise.variance) * noise.scales
        energy[kind] = scale * math.sqrt(plan.energy(middle))
        shrinkage = _shrinkage(plan.smoothings[middle], len(noise.scales))
    if shrinkage is None:
        return None
    order = np.argsort(-shrinkage, kind="stable")  # pairs of functions have no order of their own
    return Spectrum(
        shrinkage[order],
        {kind: deviations[order] for kind, deviations in scales.items()},
        energy,
        mechanism.constants,
    )


def _shrinkage(smoothing: Any, r: int) -> Array:
    """Return the filter of every coefficient; one where there is none."""
    linear = smoothing.pairs if isinstance(smoothing, CovarianceSmoothing) else smoothing
    if isinstance(linear, Linear) and len(linear.shrink) == r:
        return linear.shrink
    if isinstance(linear, Linear) and r % len(linear.shrink) == 0:
        return np.tile(linear.shrink, r // len(linear.shrink))
    return np.ones(r)


@dataclass(frozen=True)
class WorstCurves:
    """Two curves, minus each other, whose exchange shows most in a release of a mean.

    `curve` (GRID_SIZE,) in response units less the middle of the bounds; `epsilon` is what this
    exchange costs with the noise in use.
    """

    times: Array
    curve: Array
    epsilon: float


def worst_pair(mechanism: Mechanism, source: Source[Data], budget: Budget) -> WorstCurves | None:
    """Find the worst pair of a mean with a linear filter and Laplace noise: the curve along s/b.

    Only public facts and sizes of the source are used; no record is read.
    """
    if not isinstance(mechanism, FunctionalRelease):
        return None
    sizes, facts = source.sizes, source.facts
    plan = mechanism.plan(Public(sizes, facts), (budget,))
    smoothing, noise = plan.smoothings[0], plan.noise[0][0][-1]
    if not isinstance(smoothing, Linear) or noise.epsilon is None or len(plan.smoothings) > 1:
        return None
    space = mechanism.space(mechanism.grid(facts), sizes)
    if space.is_lattice:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        direction = np.where(noise.scales > 0, smoothing.shrink / noise.scales, 0.0)
    direction /= np.linalg.norm(direction)
    cost = (
        2
        / sizes.n_curves_per_server[0]
        * float(
            (direction * smoothing.shrink / np.where(noise.scales > 0, noise.scales, np.inf)).sum()
        )
    )
    grid = drawing_grid()
    return WorstCurves(
        facts.from_unit_time(grid),
        mechanism.norm_bound(facts) * (space.basis(grid) @ direction),
        cost,
    )
