"""PeopleDirections in which simulated people differ, as releases of their mean tell them.

The second moments that come with a private mean tell the directions at no further cost
(`engine.answers.components`). Beside them is a method that spends the same budget on a covariance
alone. Both are compared with the true directions, which are known of simulated people.

For looking, like `engine.topics.mean.answer`: simulated with a known seed, never a release.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.answers import ReleasedCurve
from engine.answers.components import PrincipalComponents, eigenvectors
from engine.answers.spread import PERSON_FROM, refusal_of_spread
from engine.core.errors import InputError
from engine.core.grids import drawing_grid, quadrature
from engine.core.tasks import COVARIANCE
from engine.core.types import Array, Budget, CurveData, Estimate, PublicFacts, Truth
from engine.mechanisms import Mechanism, mechanisms
from engine.mechanisms.study import Study
from engine.numerics.legendre import polynomial_rows
from engine.numerics.pairs import SymmetricSurfaces
from engine.simulation import studies
from engine.sources import Source
from engine.sources.twin import studied
from engine.topics.mean.answer import MAX_READINGS, on_screen
from engine.topics.simulated import Simulated, errors_and_baseline

COMPARED = 3  # directions
# of the methods for a covariance the one with the smallest angles, 14° where ICLP has 20°
_BESIDE = "gaussian_process"
_POINTS = np.unique(quadrature("square")[0][:, 0])  # times on [0, 1] at which they are compared


@dataclass(frozen=True, eq=False)
class PeopleDirections:
    """The first directions of covariances, and their shares of all variance."""

    functions: Array  # (draws, COMPARED, points): of norm one, at the midpoints of "square"
    shares: Array  # (draws, COMPARED)

    def angles_to(self, other: PeopleDirections) -> Array:
        """Angles to the first draw of the other, in degrees: (draws, COMPARED)."""
        points = self.functions.shape[-1]
        turned = np.abs((self.functions * other.functions[0]).sum(axis=-1)) / points
        return np.asarray(np.degrees(np.arccos(np.minimum(turned, 1.0))))


@dataclass(frozen=True, kw_only=True, eq=False)
class ComponentsAnswer(Simulated):
    """Releases of a mean at one budget, with what each tells of how people differ.

    Fields of `Simulated` are about the mean curve, releases (draws, GRID_SIZE).
    """

    curve: ReleasedCurve | None  # the first release; None if nothing would be published
    told: tuple[int, ...]  # directions that each release tells
    found: PeopleDirections | None  # of the releases; None if the budget is too small for any
    known: PeopleDirections | None  # the truth, where it is known
    covariance: PeopleDirections | None  # of releases of a covariance alone, at the same budget
    covariance_method: str
    covariance_refusal: str  # why there are none, or ""

    @property
    def components(self) -> PrincipalComponents | None:
        """PeopleDirections of the first release; None if the budget is too small for any."""
        if self.found is None or self.curve is None:
            return None
        return self.curve.components()

    def share_told(self, direction: int) -> float:
        """Compute the share of releases that tell a direction."""
        return float(np.mean([count > direction for count in self.told]))

    def angles(self, directions: PeopleDirections | None) -> Array | None:
        """Compute angles to the true directions (draws, COMPARED), told or not; None if unknown."""
        if directions is None or self.known is None:
            return None
        return directions.angles_to(self.known)


def components_answer(
    source: Source[CurveData], mechanism: Mechanism, budget: Budget, seed: int
) -> ComponentsAnswer:
    """Release a mean, read how people differ off it, and release a covariance beside it."""
    studies.check_readings(source, MAX_READINGS)
    data, estimate = on_screen(source, mechanism, (budget,), seed)
    facts, verdict = data.facts, mechanism.feasibility(data.sizes, (budget,))
    is_published = verdict is None or verdict.is_feasible
    curves = _curves(estimate, facts, data.n_curves) if is_published else []
    other = mechanisms.default(_BESIDE, COVARIANCE.key)
    covariance, refusal = _covariances(other, data, budget, seed)
    errors, baseline = errors_and_baseline(
        Study(source=studied(source), mechanism=mechanism, budgets=(budget,), seed=seed)
    )
    is_enough = bool(curves) and not refusal_of_spread(curves[0], PERSON_FROM)
    return ComponentsAnswer(
        facts=facts,
        people=data.n_curves,
        budget=budget,
        releases=estimate.values(drawing_grid())[0, 0],
        ordinary=mechanism.without_protection(data).values(drawing_grid())[0, 0, 0],
        truth=None if data.truth is None else data.truth.grid_values,
        errors=errors,
        baseline_by_function=baseline,
        spends=estimate.spends[0],
        tuning=estimate.tuning[0] if estimate.tuning else {},
        verdict=verdict,
        curve=curves[0] if curves else None,
        told=tuple(curve.components().n_shown for curve in curves)
        if is_enough
        else (0,) * studies.SHOWN_DRAWS,
        found=_of_curves(curves) if is_enough else None,
        known=known_directions(source.covariance_of_people),
        covariance=covariance,
        covariance_method=other.label,
        covariance_refusal=refusal,
    )


def known_directions(covariance: Truth | None) -> PeopleDirections | None:
    """Find the directions of a known covariance of two times."""
    if covariance is None:
        return None
    return _of_surfaces(covariance.node_values.reshape(1, len(_POINTS), len(_POINTS)))


def _curves(estimate: Estimate, facts: PublicFacts, people: int) -> list[ReleasedCurve]:
    """Return the releases as far as questions need them; refused if none has second moments."""
    return [
        ReleasedCurve.of(estimate, facts, draw=draw, n_people=people)
        for draw in range(studies.SHOWN_DRAWS)
    ]


def _of_curves(curves: list[ReleasedCurve]) -> PeopleDirections:
    """Read the first directions off second moments, whether a release tells them or not."""
    spreads = [curve.spread for curve in curves if curve.spread is not None]
    values, vectors = eigenvectors(np.stack([each.estimate.covariance for each in spreads]))
    rows = polynomial_rows(vectors.shape[1], _POINTS)
    return PeopleDirections(
        (rows @ vectors[..., :COMPARED]).swapaxes(-1, -2), _shares(values)[:, :COMPARED]
    )


def _covariances(
    method: Mechanism, data: CurveData, budget: Budget, seed: int
) -> tuple[PeopleDirections | None, str]:
    """Release a covariance with the whole budget, or say why the method refuses these curves."""
    try:
        estimate = studies.shown_releases(method, data, [(method.suited(budget),)], seed)
    except InputError as problem:
        return None, str(problem)
    assert isinstance(estimate.basis, SymmetricSurfaces)
    return _of_surfaces(estimate.basis.surface(estimate.coefficients[0, 0], _POINTS)), ""


def _of_surfaces(surfaces: Array) -> PeopleDirections:
    """Find the first directions of covariances at all pairs of points: (draws, points, points)."""
    values, vectors = eigenvectors(surfaces)
    functions = vectors[..., :COMPARED].swapaxes(-1, -2) * np.sqrt(surfaces.shape[-1])
    return PeopleDirections(functions, _shares(values)[:, :COMPARED])


def _shares(values: Array) -> Array:
    return np.asarray(values / np.maximum(values.sum(axis=-1, keepdims=True), 1e-300))
