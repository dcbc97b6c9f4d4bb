"""A function that predicts a number or a class: the minimiser of a regularised risk."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from engine.core.errors import InputError
from engine.core.tasks import RISK_MINIMISATION
from engine.core.types import (
    Array,
    Caution,
    Fit,
    Public,
    PublicFacts,
    SampleData,
    Sizes,
    Step,
)
from engine.mechanisms.summaries.density import grid_indices, grid_of_samples
from engine.mechanisms.summaries.parts import (
    Block,
    FunctionPlan,
    Linear,
    Smoothing,
    Summary,
    penalised,
    usual_power,
)
from engine.numerics.difference_sets import DifferenceSet, Ellipsoid, LinearImage
from engine.numerics.eigensystems import Eigenbasis, Kernel
from engine.numerics.risk_minimisation import (
    MAX_STEPS,
    Hinge,
    Huber,
    Logistic,
    Loss,
    Square,
    minimise,
    most_steps,
    radius,
)
from engine.numerics.tabulated import Tabulated
from engine.sources.twins import LabelledTwin

NUMBERS = ("square", "huber")
_OF_EACH = 200  # records at each point of the grid, by which known chances are written
DRAWN_IN = (
    "By the released function its penalty has drawn it towards the middle of the bounds, or to "
    "even odds, by more than the error that was forecast, which is for three bumps about the "
    "middle. Where one class is rare its chance is stated far too high. Bounds closely around the "
    "numbers help, as do more records or a smaller weight of the penalty, stated beforehand.")
NOT_SPREAD = (
    "This release does not show where the records lie. If all of them lie within a third of the "
    "stated range, the error can be more than 1.5 times the forecast, which is for records spread "
    "evenly over it: beyond them the penalty draws the function to the middle of the bounds.")
_PART, _BEYOND = 1 / 3, 1.5  # of the range, and forecast errors
_DRAWN_IN, _SMALL = 1.4, 0.2  # forecast errors; and a function so near to 0 that losses are squares
_RAREST = 0.02  # chance of a class that is told from a function which the penalty has flattened

if TYPE_CHECKING:
    from engine.mechanisms.families.functional.release import FunctionalRelease


class RiskSummary(Summary[SampleData, Array, Smoothing]):
    """argmin (1/n) Σ L(y_i, f(x_i)) + ψ‖f‖² over functions on a grid, ψ public.

    A record is held on its own: x is moved into its range and to the nearest grid point; y is, for
    numbers, its distance from the middle of the stated bounds in units of half their width B, held
    within [−1, 1], and for classes 1 above that middle and −1 otherwise. What is no number counts
    as the middle. Regression functions are in response units again at the end, with the middle
    added; for logistic loss f is the log-odds; for the hinge only its sign has a meaning.

    *Differences.* `numerics.risk_minimisation` proves that what its solver returns for neighbours
    is at most `radius` apart in the coordinates u of the penalty, what the solver leaves open
    included. Coefficients are a linear image of u. The bound is Theorem 18 with the allowance;
    what that theorem prints is what is used here, whichever constants are chosen.

    With several sites ψ follows from all records together, and minimisers of sites are averaged.

    References
    ----------
    Lin and Reimherr (2023), arXiv 2309.00125, Theorem 18.
    """

    task = RISK_MINIMISATION.key
    trial: ClassVar[Mapping[str, Any]] = {"grid_size": 30, "risk_weight": 1.0}
    pairs = 60
    loose = (
        "The proof bounds how far a minimiser moves, not where to: it allows the direction that "
        "the noise hides least, in which no single record was found to move it.")

    @classmethod
    def aims_at_the_truth(cls, release: FunctionalRelease, facts: PublicFacts) -> bool:
        """The hinge aims at a sign, and a loss for numbers not at log-odds."""
        loss = loss_of(release, facts)
        return loss != "hinge" and (loss in NUMBERS) != facts.two_classes

    @classmethod
    def n_columns(cls, dimension: int) -> int:
        return dimension

    @classmethod
    def least_power(cls, inverse: float, is_printed: bool) -> float:
        return 1 + inverse

    def __init__(self, release: FunctionalRelease, sizes: Sizes, facts: PublicFacts) -> None:
        self.release, self.facts = release, facts
        self.grid = grid_of_samples(release, facts)
        self.features = release.features(self.grid, sizes)
        self.basis = self.features.basis
        self.penalty = release.risk_weight or sizes.n_curves**-0.5
        losses: dict[str, Loss] = {"square": Square(1.0), "huber": Huber(release.huber_width),
                                   "logistic": Logistic(), "hinge": Hinge()}
        self.loss = losses[loss_of(release, facts)]
        self.is_of_classes = loss_of(release, facts) not in NUMBERS
        self.scale = 1.0 if self.is_of_classes else facts.value_half_width
        self._check_steps(sizes, facts)
        has_offset = not self.is_of_classes and facts.value_middle
        self.offset = Constant(facts.value_middle) if has_offset else None

    def _check_steps(self, sizes: Sizes, facts: PublicFacts) -> None:
        """Refuse a real release whose minimiser some data sets could not reach.

        By public numbers alone, where the facts are those of real data.
        """
        steps = max(most_steps(self.loss, self.features.table, self.penalty, n)
                    for n in sizes.n_curves_per_server)
        if facts.is_upload and steps > MAX_STEPS:
            raise InputError(
                f"With a penalty of ψ = {self.penalty:.3g} no bound on the steps to the minimiser "
                f"is small enough: {steps:,} of at most {MAX_STEPS:,}.", field="risk_weight",
                hint="Choose a larger weight, or another loss.")

    def records(self, data: SampleData) -> Array:
        """Coefficients of the minimiser of one site: (repeats, r)."""
        index, y = grid_indices(data, self.grid), self.labels(data)
        minimiser = minimise(self.loss, self.features.table, index, y, self.penalty)
        return self.features.coefficients(minimiser.u)

    def labels(self, data: SampleData) -> Array:
        """Numbers on [−1, 1] or classes ±1, each from its own record.

        Returns
        -------
        (repeats, n)

        Raises
        ------
        InputError
            If there is nothing to predict.
        """
        if data.y is None:
            raise InputError("These records have no number or class to predict.", field="y",
                             hint="Declare the column that is to be predicted, or choose the "
                                  "density.")
        middle, half = self.facts.value_middle, self.facts.value_half_width
        if loss_of(self.release, self.facts) in NUMBERS:
            return np.nan_to_num(np.clip((data.y - middle) / half, -1.0, 1.0), nan=0.0)
        return np.where(data.y > middle, 1.0, -1.0)

    def smoothings(self, n: float, effective: float) -> tuple[Smoothing, ...]:
        """The penalty smooths already."""
        return (Linear(np.ones(len(self.features.variances))),)

    def blocks(self, smoothing: Smoothing) -> tuple[Block, ...]:
        return (Block(Step("noisy coefficients of the regression function"), self._differences,
                      self.release.shape(self.features.variances), self.features.norms),)

    def _differences(self, n: float) -> DifferenceSet:
        far = radius(self.loss, self.features.table, self.penalty, int(n))
        image = self.features.image
        return _Printed(image, far) if image.ndim == 1 else LinearImage(image, far)

    def values(self, block: int, records: Array, smoothing: Smoothing, earlier: Sequence[Array]
               ) -> Array:
        return records[:, None]

    def cautions(self, release: FunctionalRelease, public: Public, plans: Sequence[FunctionPlan],
                 coefficients: Array) -> tuple[Caution, ...]:
        """Where penalties have drawn released functions further in than forecast, or may have."""
        if self.grid.dimension > 1 or not self.aims_at_the_truth(release, public.facts):
            return ()
        noise = np.array([math.sqrt(release.expected_error(public.sizes, plan.budgets,
                                                           public.facts) or 0.0)
                          for plan in plans])[:, None, None] / self.scale
        drawn_in = self._are_drawn_in(coefficients, noise)
        unseen = np.broadcast_to(self._needs_spread(noise), drawn_in.shape)
        each = (Caution(DRAWN_IN, drawn_in),
                Caution(NOT_SPREAD, unseen & ~drawn_in, is_doubt=False))
        return tuple(caution for caution in each if caution.applies.any())

    @cached_property
    def _known(self) -> Array:
        """The function behind the forecast, at the points of the grid: (K,)."""
        return LabelledTwin.predictor(self.grid.points[:, 0], self.is_of_classes)

    @cached_property
    def _usual(self) -> float:
        """What the penalty takes of it, squared, where records are evenly spread."""
        return float(np.mean((self._known - self.smoothed(self._known)) ** 2))

    def _needs_spread(self, noise: Array) -> NDArray[np.bool_]:
        """Whether the error is beyond the forecast if records lie in a part of the range only.

        Follows from public facts; `noise` as in `_are_drawn_in`.
        """
        gathered = self.smoothed(self._known, max(1, round(_PART * self.grid.size)))
        taken = np.mean((self._known - gathered) ** 2)
        return np.asarray(taken + noise**2 > _BEYOND**2 * (self._usual + noise**2))

    def _are_drawn_in(self, coefficients: Array, noise: Array) -> NDArray[np.bool_]:
        """Whether the penalty has drawn released functions further in than was forecast.

        It leaves about the same share of all functions that a few bumps can draw, so that a release
        tells what it was drawn in from. `noise` (budgets, 1, 1) is root mean squared, in units of
        `smoothed`.
        """
        points = self.grid.points[:, 0]
        share = float(self.smoothed(np.full(len(points), _SMALL)).mean()) / _SMALL
        curves = coefficients @ self.basis(points).T / self.scale
        drawn_in = np.mean((self.unpenalised(curves, share) - curves) ** 2, axis=-1)
        beyond = drawn_in - (1 / share - 1) ** 2 * noise**2
        return np.asarray(beyond + noise**2 > _DRAWN_IN**2 * (self._usual + noise**2))

    def smoothed(self, curve: Array, size: int | None = None) -> Array:
        """What the penalty leaves of a known function, of evenly spread records: (K,).

        Parameters
        ----------
        curve : (K,)
            At the points of the grid: log-odds, or numbers in half-ranges from the middle.
        size : int, optional
            Records stand on the first so many points only.
        """
        curve = curve[:size]
        places = np.arange(len(curve))
        if self.is_of_classes:
            ones = np.round(_OF_EACH * expit(curve)).astype(int)
            places = np.repeat(places, _OF_EACH)
            labels = np.where(np.arange(_OF_EACH) < ones[:, None], 1.0, -1.0).ravel()
        else:
            labels = curve
        minimiser = minimise(self.loss, self.features.table, places, labels, self.penalty)
        return np.asarray(minimiser.u @ self.features.table.T)

    def unpenalised(self, curves: Array, share: float) -> Array:
        """Functions of which the penalty leaves these, if it leaves a share of small ones: (…).

        It draws a number towards the middle in proportion, and a chance p towards one half by as
        much as its log-odds f are from 0: p = σ(f) + λf, and near 0 λ is (1/share − 1)/4.

        Parameters
        ----------
        curves : (…)
            In the units of `smoothed`.
        share : float
            Between 0 and 1.
        """
        if not self.is_of_classes:
            return curves / share
        chances = expit(curves) + (1 / share - 1) / 4 * curves
        return np.asarray(logit(np.clip(chances, _RAREST, 1 - _RAREST)))

    def reference(self, data: SampleData) -> Fit:
        """The minimiser in the usual kernel's space with ψ = 1/n, near the best without noise."""
        kernel = Kernel()
        features = penalised(Eigenbasis.whole(kernel, self.grid),
                             usual_power(kernel, self.grid.dimension))
        minimiser = minimise(self.loss, features.table, grid_indices(data, self.grid),
                             self.labels(data),
                         1 / data.n_curves)
        return Fit.exact(Tabulated(self.grid), self.scale * minimiser.u @ features.table.T,
                         offset=self.offset)


def loss_of(release: FunctionalRelease, facts: PublicFacts) -> str:
    """The stated loss, else Huber's for numbers and the logistic one for classes.

    Parameters
    ----------
    release : FunctionalRelease
        The mechanism.
    facts : PublicFacts
        Stated facts.
    """
    return release.loss or ("logistic" if facts.two_classes else "huber")


@dataclass(frozen=True)
class _Printed(Ellipsoid):
    """The paper prints the size itself, by the inequality of Cauchy and Schwarz."""

    def published(self, scales: Array) -> float:
        return self.l1(scales)


@dataclass(frozen=True)
class Constant:
    """The same height at all points."""

    height: float

    def __call__(self, points: Array) -> Array:
        """Points (N,) of an interval or (N, 2) of a square: (N,)."""
        return np.full(len(points), self.height)
