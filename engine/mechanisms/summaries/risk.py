"""A function that predicts a number or a class: the minimiser of a regularised risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from engine.core.errors import InputError
from engine.core.tasks import RISK_MINIMISATION
from engine.core.types import (
    Array,
    Caution,
    Fit,
    Public,
    PublicFacts,
    SaidIn,
    SampleData,
    Sizes,
    Step,
)
from engine.mechanisms.summaries.density import grid_indices, grid_of_samples
from engine.mechanisms.summaries.parts import (
    FunctionPlan,
    Linear,
    ReleasedBlock,
    Smoothing,
    Summary,
    penalised,
    usual_power,
)
from engine.mechanisms.summaries.risk_cautions import (
    DRAWN_IN,
    MAY_BE_DRAWN_IN,
    NOT_SPREAD,
    RiskJudgement,
)
from engine.numerics.difference_sets import DifferenceSet, Ellipsoid, LinearImage
from engine.numerics.eigensystems import Eigenbasis, Kernel
from engine.numerics.risk_minimisation import (
    MAX_STEPS,
    ConvexLoss,
    Hinge,
    Huber,
    Logistic,
    Square,
    minimise,
    most_steps,
    radius,
)
from engine.numerics.tabulated import Tabulated

NUMBERS = ("square", "huber")

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
        "the noise hides least, in which no single record was found to move it."
    )

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
        losses: dict[str, ConvexLoss] = {
            "square": Square(1.0),
            "huber": Huber(release.huber_width),
            "logistic": Logistic(),
            "hinge": Hinge(),
        }
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
        steps = max(
            most_steps(self.loss, self.features.table, self.penalty, n)
            for n in sizes.n_curves_per_server
        )
        if facts.is_upload and steps > MAX_STEPS:
            raise InputError(
                f"With a penalty of ψ = {self.penalty:.3g} no bound on the steps to the minimiser "
                f"is small enough: {steps:,} of at most {MAX_STEPS:,}.",
                field="risk_weight",
                hint="Choose a larger weight, or another loss.",
            )

    def records(self, data: SampleData) -> Array:
        """Coefficients of the minimiser of one site: (repeats, r)."""
        index, y = grid_indices(data, self.grid), self.labels(data)
        minimiser = minimise(self.loss, self.features.table, index, y, self.penalty)
        return self.features.coefficients(minimiser.u)

    def labels(self, data: SampleData) -> Array:
        """Numbers on [−1, 1] or classes ±1, each from its own record: (repeats, n)."""
        if data.y is None:
            raise InputError(
                "These records have no number or class to predict.",
                field="y",
                hint="Declare the column that is to be predicted, or choose the density.",
            )
        middle, half = self.facts.value_middle, self.facts.value_half_width
        if loss_of(self.release, self.facts) in NUMBERS:
            return np.nan_to_num(np.clip((data.y - middle) / half, -1.0, 1.0), nan=0.0)
        return np.where(data.y > middle, 1.0, -1.0)

    def smoothings(self, n: float, effective: float) -> tuple[Smoothing, ...]:
        """The penalty smooths already."""
        return (Linear(np.ones(len(self.features.variances))),)

    def blocks(self, smoothing: Smoothing) -> tuple[ReleasedBlock, ...]:
        return (
            ReleasedBlock(
                Step("noisy coefficients of the regression function"),
                self._differences,
                self.release.shape(self.features.variances),
                self.features.norms,
            ),
        )

    def _differences(self, n: float) -> DifferenceSet:
        far = radius(self.loss, self.features.table, self.penalty, int(n))
        image = self.features.image
        return _Printed(image, far) if image.ndim == 1 else LinearImage(image, far)

    def values(
        self, block: int, records: Array, smoothing: Smoothing, earlier: Sequence[Array]
    ) -> Array:
        return records[:, None]

    def cautions(
        self,
        release: FunctionalRelease,
        public: Public,
        plans: Sequence[FunctionPlan],
        coefficients: Array,
    ) -> tuple[Caution, ...]:
        """Warn if penalties have drawn released functions further in than forecast, or may have."""
        if self.grid.dimension > 1 or not self.aims_at_the_truth(release, public.facts):
            return ()
        judgement = RiskJudgement(self, public.sizes.n_curves)
        drawn_in, may_be, unseen = np.zeros((3, *coefficients.shape[:3]), dtype=bool)
        for k, plan in enumerate(plans):
            drawn_in[k], may_be[k], unseen[k] = judgement.told(
                coefficients[k], release.variances(public, plan)
            )
        each = (
            Caution(DRAWN_IN, drawn_in, SaidIn.LINE),
            Caution(MAY_BE_DRAWN_IN, may_be & ~drawn_in, SaidIn.STATED, ("penalties",)),
            Caution(NOT_SPREAD, unseen & ~drawn_in, SaidIn.STATED, ("clusters",)),
        )
        return tuple(caution for caution in each if caution.applies.any())

    def reference(self, data: SampleData) -> Fit:
        """The minimiser in the usual kernel's space with ψ = 1/n, near the best without noise."""
        kernel = Kernel()
        features = penalised(
            Eigenbasis.whole(kernel, self.grid), usual_power(kernel, self.grid.dimension)
        )
        minimiser = minimise(
            self.loss,
            features.table,
            grid_indices(data, self.grid),
            self.labels(data),
            1 / data.n_curves,
        )
        return Fit.exact(
            Tabulated(self.grid), self.scale * minimiser.u @ features.table.T, offset=self.offset
        )


def loss_of(release: FunctionalRelease, facts: PublicFacts) -> str:
    """The stated loss, else Huber's for numbers and the logistic one for classes."""
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
