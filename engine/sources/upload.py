"""Curves from a person's own file with the public facts they state about them, as a source.

Not a registered source: data must never travel in a link or a scenario file. What bounds one
person's effect (values, times) is declared, never read off the curves.

The modules beside this one, in the order in which a file meets them: `tables` makes a table of it,
`upload_layout` finds what its columns are, `upload_curves` reads the curves, `upload_notes` says
what was seen, `upload_facts` and `upload_design` hold what is stated, and `upload_doubts` says
where the file does not look so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from engine.errors import InputError
from engine.sources import Source
from engine.sources.regressors import check_regressors
from engine.sources.table_words import listed
from engine.sources.upload_curves import CurveTable, check_single
from engine.sources.upload_design import moved_to_common
from engine.sources.upload_doubts import doubts
from engine.tasks import (
    COVARIANCE,
    FUNCTIONAL_SUMMARY,
    MEAN_FUNCTION,
    VARYING_COEFFICIENTS,
    WAVELET_REGRESSION,
)
from engine.types import Array, CurveData, DataKind, PublicFacts, Sizes

EXAMPLE_CSV = ("child_id,age,height,mother_height\n" + "".join(
    f"{child},{age},{height},{mother}\n" for child, mother, heights in (
        ("A-01", 168, (86, 115, 138, 161)), ("A-02", 163, (84, 112, 135, 164)),
        ("B-01", 172, (88, 118, 142, 158)))
    for age, height in zip((2, 6, 10, 14), heights, strict=True)))
EXAMPLE_READINGS_CSV = "person_id,hour,temperature,site\n" + "".join(
    f"{site[0]}-{k:02d},{hour},{36.2 + 0.1 * (5 * k % 8):.1f},{site}\n"
    for site, hours in (("North", (0.5, 4.25, 9, 13.75, 18.5)), ("South", (2, 7.5, 12.25, 21)))
    for k, hour in enumerate(hours, start=1))


class Clamped(NamedTuple):
    """How many numbers were moved to a stated bound; for the holder of the curves alone."""

    times: int
    values: int
    covariates: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Upload(Source[CurveData]):
    """A person's own curves with the facts they declared; the same in every draw.

    Of the covariates of `curves`, those that are declared are used, in the order declared. Sizes
    are those that are declared as well: how many observations single curves have is private, and
    so is how many there are in all.

    Where common times are declared each observation is moved to the nearest of them, so that a wide
    and a long table of the same numbers are the same data; why this keeps neighbouring files
    neighbouring stands with `engine.sources.upload_design.moved_to_common`.

    Where the standard deviation of a reading is declared these are single readings: one of each
    person, for one common curve. The bounds are then those of the curve, and a reading that is
    missing stays in the public number of people as no number, which counts as the middle of the
    bounds.

    Raises
    ------
    InputError
        If a declared covariate was not read from the file, or somebody has several readings where
        they are declared to be single.
    """

    key = "upload"
    label = "Your curves"
    tasks = frozenset(task.key for task in (
        MEAN_FUNCTION, VARYING_COEFFICIENTS, WAVELET_REGRESSION, FUNCTIONAL_SUMMARY, COVARIANCE))
    is_random: ClassVar[bool] = False

    curves: CurveTable
    declared: PublicFacts = field(default_factory=lambda: PublicFacts(kind=DataKind.UPLOAD))

    def __post_init__(self) -> None:
        super().__post_init__()
        read = self.curves.covariate_names
        unread = [c.name for c in self.declared.covariates if c.name not in read]
        if unread:
            raise InputError(f"Not among the covariates that were read: {listed(unread)}.",
                             field="covariates", hint=f"Read: {listed(read)}." if read else
                             "Choose them when the file is read.")
        if self.is_single:
            check_single(self.curves.counts)

    @property
    def is_of_rows(self) -> bool:
        return self.curves.is_of_rows

    @property
    def site_names(self) -> tuple[str, ...]:
        return self.curves.server_names

    @property
    def is_single(self) -> bool:
        """Whether these are readings around one common curve, one of each person."""
        return self.declared.reading_sd > 0

    @property
    def facts(self) -> PublicFacts:
        """What was declared, and nothing else."""
        return self.declared

    @property
    def sizes(self) -> Sizes:
        counts = np.ones_like(self.curves.counts) if self.is_single else self.curves.counts
        return Sizes.public(self.curves.server, counts, self.declared)

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """Where the file does not look as declared; for the holder of the curves alone."""
        return doubts(self.declared.to_unit_time(self.curves.times), self.curves.counts,
                      self.declared)

    @property
    def clamped(self) -> Clamped:
        """How many numbers are moved to a stated bound; single readings may lie beyond theirs."""
        facts, curves = self.declared, self.curves
        values = 0 if self.is_single else _outside(curves.values, facts.value_low, facts.value_high)
        return Clamped(_outside(curves.times, facts.time_low, facts.time_high), values,
                       sum(_outside(column, covariate.low, covariate.high) for column, covariate
                           in zip(self.covariates.T, facts.covariates, strict=True)))

    @property
    def covariates(self) -> Array:
        """The declared covariates (n_curves, d) as they stand in the file; NaN where missing."""
        read = self.curves.covariate_names
        return self.curves.covariates[:, [read.index(c.name) for c in self.declared.covariates]]

    @property
    def n_without_covariates(self) -> int:
        """Curves that lack a covariate: they count, and add nothing to coefficients."""
        return int(np.isnan(self.covariates).any(axis=1).sum())

    def check_regressors(self) -> None:
        """Refuse covariates that explain nothing; see `engine.sources.regressors.check_regressors`.

        For the coefficient model alone: an average does not look at covariates.

        Raises
        ------
        InputError
            If one is constant or follows from others, among the curves that have readings.
        """
        check_regressors(self.declared, self.covariates[self.curves.counts > 0])

    def draw(self, n_repeats: int, rng: np.random.Generator) -> CurveData:
        """Return the curves, times on [0, 1] and both within what was stated; `rng` is not used.

        Covariates stay in their own units: `PublicFacts.to_regressors` moves them.

        Raises
        ------
        InputError
            If more than one data set is asked for: there is only one.
        """
        self._only_once(n_repeats)
        facts, curves = self.declared, self.curves
        if self.is_single:
            return self._single_readings()
        return CurveData(
            times=moved_to_common(facts.to_unit_time(curves.times), facts.design)[np.newaxis],
            values=np.clip(curves.values, facts.value_low, facts.value_high)[np.newaxis],
            counts=curves.counts, server=curves.server, facts=self.facts,
            covariates=self.covariates[np.newaxis] if facts.covariates else None)

    def _single_readings(self) -> CurveData:
        """One reading of everybody, as it stands in the file; NaN where it is missing."""
        held = self.curves.counts > 0
        times, values = np.full((2, 1, len(held)), np.nan)
        facts = self.declared
        times[0, held] = moved_to_common(facts.to_unit_time(self.curves.times), facts.design)
        values[0, held] = self.curves.values
        return CurveData(times, values, np.ones_like(self.curves.counts), self.curves.server,
                         self.facts)


def _outside(numbers: Array, low: float, high: float) -> int:
    return int(((numbers < low) | (numbers > high)).sum())
