"""Patients with heart failure: how long they were followed, who died, and one laboratory value."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from engine.core.registry import param
from engine.core.tasks import DISTRIBUTION, ROC, SURVIVAL
from engine.core.types import Array, DataKind, EventData, EventFacts, Sizes
from engine.sources import sources
from engine.sources.bundled import DATA, BundledFile

NINE_MONTHS = 270.0  # days, of which the study had from April to December 2015
# mg/dl of creatinine, finer where reference ranges of laboratories lie (0.6 to 1.2).
EDGES = (0.0, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 3.0, 10.0)
_COLUMNS = ("days", "death", "high_blood_pressure", "serum_creatinine")
_SITES = param(
    1,
    "Sites",
    "Sites that keep their own people, who are dealt to them in turn.",
    low=1,
    high=10,
    symbol="S",
)


@dataclass(frozen=True, kw_only=True)
class HeartFailurePatients(BundledFile[EventData]):
    """299 patients of two hospitals in Faisalabad, Pakistan, who came with advanced heart failure.

    A subclass says what of them is looked at, and what is public of it.

    References
    ----------
    Ahmad, Munir, Bhatti, Aftab and Raza (2017), Survival analysis of heart failure patients: a case
    study, PLoS ONE 12(7), e0181001.
    """

    file: ClassVar[str] = "heart_failure.csv"
    credit: ClassVar[str] = (
        "T. Ahmad, A. Munir, S. H. Bhatti, M. Aftab and M. A. Raza (2017), "
        "through the UCI repository; CC BY 4.0"
    )

    n_servers: int = _SITES

    @property
    def facts(self) -> EventFacts:
        return EventFacts(
            kind=DataKind.PUBLIC,
            person="patient",
            people="patients",
            value_name="Share of patients",
            value_low=0.0,
            value_high=1.0,
            credit=self.credit,
            **self._stated,
        )

    @property
    def _stated(self) -> dict[str, Any]:
        """Stated facts about the columns in use."""
        raise NotImplementedError

    @property
    def sizes(self) -> Sizes:
        n = len(_table())
        return Sizes(tuple(np.bincount(np.arange(n) % self.n_servers).tolist()), n, 1)

    def draw(self, n_repeats: int, rng: np.random.Generator) -> EventData:
        """Return the patients as one data set; `rng` is not used."""
        self._only_once(n_repeats)
        table = _table()
        order, server = self._dealt(len(table))
        columns = {name: table[order, k][None] for k, name in enumerate(_COLUMNS)}
        return self._data(columns, server)

    def _data(self, columns: dict[str, Array], server: Any) -> EventData:
        """Make data of the columns of the file, (1, n) each."""
        raise NotImplementedError


@sources.register
@dataclass(frozen=True, kw_only=True)
class HeartFailure(HeartFailurePatients):
    """Days from the visit to death or the end of the study; with or without high blood pressure."""

    key = "heart_failure"
    label = "Survival with heart failure"
    order = 30
    tasks = frozenset({SURVIVAL.key})

    by_pressure: bool = param(
        False,
        "Compare by blood pressure",
        "Patients with and without high blood pressure. How many they are is private.",
    )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return ((cls.label, {}), ("Heart failure by blood pressure", {"by_pressure": True}))

    @property
    def _stated(self) -> dict[str, Any]:
        return {
            "name": self.label,
            "time_name": "Time",
            "time_unit": "days",
            "time_high": NINE_MONTHS,
            "time_step": 1.0,
            "causes": ("Death",),
            "groups": ("High pressure", "Other") if self.by_pressure else (),
            "origin": "the study, which ran from April to December 2015",
        }

    def _data(self, columns: dict[str, Array], server: Any) -> EventData:
        group = 1 - columns["high_blood_pressure"].astype(np.int64) if self.by_pressure else None
        return EventData(
            columns["days"], columns["death"].astype(np.int64), server, self.facts, group
        )


@sources.register
@dataclass(frozen=True, kw_only=True)
class HeartFailureCreatinine(HeartFailurePatients):
    """Creatinine in the blood of the same patients: by itself, or as a score of who died."""

    key = "heart_failure_creatinine"
    label = "Creatinine with heart failure"
    order = 40
    tasks = frozenset({DISTRIBUTION.key, ROC.key})

    @property
    def _stated(self) -> dict[str, Any]:
        return {
            "name": self.label,
            "time_name": "Serum creatinine",
            "time_unit": "mg/dl",
            "time_high": EDGES[-1],
            "edges": EDGES,
            "causes": ("Death",),
            "origin": "reference ranges of laboratories, 0.6 to 1.2 mg/dl",
        }

    def _data(self, columns: dict[str, Array], server: Any) -> EventData:
        return EventData(
            columns["serum_creatinine"], columns["death"].astype(np.int64), server, self.facts
        )


@lru_cache(maxsize=1)
def _table() -> Array:
    """Days, death, high blood pressure and creatinine of everybody: (n, 4)."""
    with (DATA / HeartFailurePatients.file).open(encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines)
    assert tuple(header) == _COLUMNS
    table = np.array(rows, dtype=float)
    table.flags.writeable = False
    return table
