"""Plans, which a mechanism fixes before it sees data, and its estimates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from engine.core.arrays import Array
from engine.core.bands import Band, limits
from engine.core.checks import Check, CheckOutcome
from engine.core.types.spending import Spend
from engine.core.types.truth import FunctionBasis, Truth

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Settings fixed before any observation is read; each method adds its tuning and noise."""

    # the ledger, where a plan states it. Empty where `Mechanism.ledger` makes it of the plan.
    spends: tuple[Spend, ...] = ()

    @property
    def tuning(self) -> dict[str, Any]:
        """Plan for people, in plain numbers."""
        return {}


@dataclass(frozen=True)
class Intervals:
    """Limits around the entries of released vectors: `centre` ± `half_width`."""

    # centre, half_width, each (…, d): in response units; NaN where nothing is said about an entry
    centre: Array
    half_width: Array
    error: Array  # (…, d): standard errors
    # {"pointwise", "simultaneous"}: each entry on its own, 95 in 100, or all of them together
    kind: str = "pointwise"

    @property
    def limits(self) -> tuple[Array, Array]:
        return self.centre - self.half_width, self.centre + self.half_width


@dataclass(frozen=True)
class ServerParts:
    """Contribution of each server to a release, averaged over coefficients."""

    weight: Array  # (budgets, servers): its share in the combination
    # noise, sampling, each (budgets, servers): what its noise, and sampling variability there, add
    # to the squared error, in squared response units. `sampling` is computed from the curves: like
    # `unprotected` it is for simulated data and never leaves a server
    noise: Array
    sampling: Array


class SaidIn(StrEnum):
    """The only place where a caution is said; what its holder can change is no caution."""

    HEADING = "heading"  # the band cannot be relied on: the verdict says so
    LINE = "line"  # the worst of these is the one caution of a page; a report has all
    STATED = "stated"  # a standing assumption: in card and report, never on a page


@dataclass(frozen=True)
class Caution:
    """Why a release may be farther off than it says, seen in released quantities or stated
    facts.
    """

    text: str  # one sentence for whoever reads the release; it is published with it
    # (budgets, repeats, draws), bool: to which releases. It is computed from what is released or
    # public, never from the curves.
    applies: NDArray[np.bool_]
    said: SaidIn
    # what these releases would not show if it were so. Empty where the caution is about what a
    # release shows, or about what is stated.
    low_power_for: tuple[str, ...] = ()
    # what sentences that differ in their numbers alone have in common. Empty: the text.
    kind: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", self.kind or self.text)

    @property
    def voids_band(self) -> bool:
        """True if the confidence band cannot be relied on: the verdict is "doubtful"."""
        return self.said is SaidIn.HEADING


class Late(Sequence[T], Generic[T]):
    """Records that are judged when they are first read: studies of errors never read them.

    `judge` gives the records. It holds released quantities and stated facts, never the data: what
    was released is kept longer than they are.

    Examples
    --------
    >>> caution = Caution("Noise hides it.", np.ones(1, bool), SaidIn.LINE)
    >>> cautions = LateCautions(lambda: (caution,))
    >>> [caution.text for caution in cautions]
    ['Noise hides it.']
    """

    def __init__(self, judge: Callable[[], tuple[T, ...]]) -> None:
        self._judge = judge

    @cached_property
    def _judged(self) -> tuple[T, ...]:
        return self._judge()

    def __len__(self) -> int:
        return len(self._judged)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self._judged[index]

    def __reduce__(self) -> tuple[type[tuple[T, ...]], tuple[tuple[T, ...]]]:
        """Other processes and files get what was judged."""
        return tuple, (self._judged,)


class LateCautions(Late[Caution]):
    """Cautions that are judged when they are first read."""


@dataclass(frozen=True, kw_only=True)
class Fit:
    """The numbers of an `Estimate`, before it is said what they cost."""

    basis: FunctionBasis
    coefficients: Array  # (budgets, repeats, draws, [functions,] r), in response units.
    unprotected: Array  # (budgets, repeats, [functions,] r), the same without noise.
    basis_sizes: tuple[int, ...] = ()
    band: Band | None = None
    offset: Callable[[Array], Array] | None = None
    functions: tuple[str, ...] = ()
    parts: ServerParts | None = None
    intervals: Intervals | None = None
    cautions: Sequence[Caution] = ()
    checks: Sequence[Check] = ()
    released: tuple[Any, ...] = ()

    @classmethod
    def exact(
        cls,
        basis: FunctionBasis,
        values: Array,
        covariance: Array | None = None,
        kind: str = "pointwise",
        **other: Any,
    ) -> Fit:
        """Fit without protection, one budget, one draw; without a covariance there is no band."""
        coefficients = values[None, :, None]
        band = None if covariance is None else Band(coefficients, covariance[None, :, None], kind)
        return cls(
            basis=basis, coefficients=coefficients, unprotected=values[None], band=band, **other
        )


@dataclass(frozen=True)
class Estimate:
    """Releases of a mechanism at every budget, repeat and draw, as basis coefficients.

    Several functions at once, as in a varying-coefficient model, have their names in `functions`;
    their axis comes before the last one everywhere: (budgets, repeats, draws, d + 1, r). They
    belong to regressors on [−1, 1], so that all are in response units.
    """

    task: str
    basis: FunctionBasis
    coefficients: Array  # (budgets, repeats, draws, r): in response units
    spends: tuple[tuple[Spend, ...], ...]
    # (budgets, repeats, r): the estimate without noise that the private one is compared with; it
    # never leaves a server
    unprotected: Array
    band: Band | None = None  # of mechanisms that know how far off they may be
    tuning: tuple[dict[str, Any], ...] = ()  # what each budget's plan chose, by name
    offset: Callable[[Array], Array] | None = None  # a public curve that is added to all
    # how many coefficients each budget uses; the rest are zero. Empty: all.
    basis_sizes: tuple[int, ...] = ()
    functions: tuple[str, ...] = ()  # names of the functions, where there are several
    parts: ServerParts | None = None  # of mechanisms that know who adds what
    # of mechanisms that know how far off entries of vectors may be
    intervals: Intervals | None = None
    cautions: Sequence[Caution] = ()  # which releases may be farther off than their band says
    # what releases measured of the stated facts; none where a method measures nothing of them
    checks: Sequence[Check] = ()
    # for each budget what follows from its release beside the coefficients: the `CountTable` of
    # counts, or the `TimeInRanges` of percentile curves; None where there is none
    released: tuple[Any, ...] = ()

    @classmethod
    def of(
        cls,
        task: str,
        fit: Fit,
        spends: tuple[tuple[Spend, ...], ...],
        tuning: tuple[dict[str, Any], ...] = (),
    ) -> Estimate:
        """A fit with what it costs: a ledger for each budget."""
        return cls(
            task=task,
            basis=fit.basis,
            coefficients=fit.coefficients,
            spends=spends,
            unprotected=fit.unprotected,
            band=fit.band,
            tuning=tuning,
            offset=fit.offset,
            basis_sizes=fit.basis_sizes or (fit.basis.size,) * len(spends),
            functions=fit.functions,
            parts=fit.parts,
            intervals=fit.intervals,
            cautions=fit.cautions,
            checks=fit.checks,
            released=fit.released,
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings with the first release, such as the only one that is published."""
        return tuple(caution.text for caution in self._warnings if caution.applies.flat[0])

    @property
    def not_shown(self) -> str:
        """Features that the first release would not show beside its band; empty if none."""
        return " ".join(caution.text for caution in self._beside_band if caution.applies.flat[0])

    def usual_warnings(self, budget: int) -> tuple[str, ...]:
        """List what a page may say of a budget: of at least half of its releases, worst first."""
        kinds = self.warnings_by_kind(budget, is_of_page=True)
        return tuple(text for text, applies in kinds if applies.mean() >= 0.5)

    def warnings_by_kind(
        self, budget: int, is_of_page: bool = False
    ) -> list[tuple[str, NDArray[np.bool_]]]:
        """List the commonest sentence of each kind at a budget, and the releases with any.

        For a page, standing assumptions are left out, and voided bands come first.
        """
        kinds: dict[str, list[Caution]] = {}
        said = self._warnings
        if is_of_page:
            said = sorted(
                (caution for caution in said if caution.said is not SaidIn.STATED),
                key=lambda caution: not caution.voids_band,
            )
        for caution in said:
            kinds.setdefault(caution.kind, []).append(caution)
        return [
            (
                max(alike, key=lambda caution: caution.applies[budget].mean()).text,
                np.any([caution.applies[budget] for caution in alike], axis=0),
            )
            for alike in kinds.values()
        ]

    def usually_not_shown(self, budget: int) -> str:
        """Return a budget's most frequent sentence on what is not shown; empty if half say none."""
        shares = {caution.text: caution.applies[budget].mean() for caution in self._beside_band}
        return max(shares, key=lambda text: shares[text]) if sum(shares.values()) >= 0.5 else ""

    @property
    def first_on_page(self) -> tuple[str, ...]:
        """Cautions of the first release that a page may say, worst first."""
        kinds = self.warnings_by_kind(0, is_of_page=True)
        return tuple(text for text, applies in kinds if applies.flat[0])

    def warning_shares(self) -> tuple[tuple[str, float], ...]:
        """List warnings of the first data set at the first budget, each with their share."""
        return tuple(
            (text, float(applies[0].mean()))
            for text, applies in self.warnings_by_kind(0, is_of_page=True)
            if applies[0].any()
        )

    @property
    def _warnings(self) -> list[Caution]:
        return [caution for caution in self.cautions if not self._is_beside_band(caution)]

    @property
    def _beside_band(self) -> list[Caution]:
        return [caution for caution in self.cautions if self._is_beside_band(caution)]

    def _is_beside_band(self, caution: Caution) -> bool:
        """True for a caution on features not shown, if there is a band; else it is a warning."""
        return bool(caution.low_power_for) and self.band is not None

    @property
    def is_doubted(self) -> NDArray[np.bool_]:
        """True for releases whose warnings speak against them: (budgets, repeats, draws).

        What a release would not show does not: it is said of any data of these sizes.
        """
        return self._any_of(caution for caution in self.cautions if not caution.low_power_for)

    def _any_of(self, cautions: Iterable[Caution]) -> NDArray[np.bool_]:
        applies = np.zeros(self.coefficients.shape[:3], dtype=bool)
        for caution in cautions:
            applies |= caution.applies
        return applies

    @property
    def is_tested(self) -> NDArray[np.bool_]:
        """Releases in which no fact that the method checks was left untested by too much noise."""
        is_tested = np.ones(self.coefficients.shape[:3], dtype=bool)
        for check in self.checks:
            is_tested &= ~(check.fact.is_relied_on & check.has(CheckOutcome.UNTESTED))
        return is_tested

    @property
    def is_unreliable(self) -> NDArray[np.bool_]:
        """True for releases whose band cannot be relied on: (budgets, repeats, draws)."""
        return self._any_of(caution for caution in self.cautions if caution.voids_band)

    def values(self, grid: Array) -> Array:
        """The released curves at times on [0, 1], in response units: (budgets, repeats, draws, n).

        Several functions come before the last axis.
        """
        return self.on_grid(self.coefficients, grid)

    def on_grid(self, coefficients: Array, grid: Array) -> Array:
        """Curves with these coefficients (…, r) at times on [0, 1], the offset added: (…, n)."""
        values = np.asarray(coefficients @ self.basis(grid).T)
        return values if self.offset is None else values + self.offset(grid)

    def project(self, truth: Truth) -> tuple[Array, Array]:
        """The best approximation of the truth, less the offset, and ∫ of the square of the rest."""
        return self.basis.project(truth if self.offset is None else truth.less(self.offset))

    def squared_distance(self, difference: Array) -> Array:
        """Integrated squared size of a difference in coefficients, summed over the functions.

        (…, r), or (…, d + 1, r) of several functions, in response units, to (…).
        """
        each = self.basis.squared_distance(difference)
        return np.asarray(each.sum(axis=-1)) if self.functions else each

    @cached_property
    def limits(self) -> tuple[Array, Array] | None:
        """Lower and upper band on the drawing grid: (budgets, repeats, draws, GRID_SIZE) each.

        For entries of vectors, the ends of their intervals: (budgets, repeats, draws, …, d).
        """
        if self.intervals is not None:
            return self.intervals.limits
        return None if self.band is None else limits(self, self.band)

    @property
    def band_kind(self) -> str:
        """One of "simultaneous" and "pointwise", for a band or intervals; "" without them."""
        stated = self.band if self.intervals is None else self.intervals
        return "" if stated is None else stated.kind

    @property
    def lower(self) -> Array | None:
        return None if self.limits is None else self.limits[0]

    @property
    def upper(self) -> Array | None:
        return None if self.limits is None else self.limits[1]
