"""Ages at death in 19 regions of the world: a public table as records of 1000 deaths each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from engine.core.registry import param
from engine.core.tasks import DENSITY
from engine.core.types import Array, Covariate, DataKind, PublicFacts, SampleData
from engine.sources import sources
from engine.sources.bundled import BundledFile, read_table

REGIONS = (  # in the order of the file
    "Eastern Africa",
    "Middle Africa",
    "Northern Africa",
    "Southern Africa",
    "Western Africa",
    "Central Asia",
    "Eastern Asia",
    "Southern Asia",
    "South-Eastern Asia",
    "Western Asia",
    "Eastern Europe",
    "Northern Europe",
    "Southern Europe",
    "Western Europe",
    "Caribbean",
    "Central America",
    "South America",
    "Northern America",
    "Australia/New Zealand",
)
OLDEST = 105  # years; the last age group, 100 and above, stands at 100 to 104


@sources.register
@dataclass(frozen=True, kw_only=True)
class AgesAtDeath(BundledFile[SampleData]):
    """Deaths of 2015 to 2020 by age, derived from World Population Prospects 2019.

    A record stands for 1000 deaths, so protecting one is not protecting a person. The deaths of an
    age group are spread evenly over its years, and each of the 105 years holds whole records, in
    its middle: the largest remainders are rounded up, so that all add up to the region's deaths in
    thousands, rounded. That number is public.
    """

    key = "ages_at_death"
    label = "Ages at death in a region"
    order = 20
    tasks = frozenset({DENSITY.key})
    deals_records = True
    file: ClassVar[str] = "ages_at_death.csv"
    credit: ClassVar[str] = (
        "derived from United Nations, World Population Prospects 2019; CC BY 3.0 IGO"
    )

    region: str = param(
        "Eastern Africa", "Region", "A region as the United Nations draw them.", choices=REGIONS
    )
    n_servers: int = param(
        1,
        "Sites",
        "Sites that keep their own data; records are dealt to them in turn.",
        low=1,
        high=500,
        symbol="S",
    )

    @classmethod
    def presets(cls) -> tuple[tuple[str, dict[str, Any]], ...]:
        return (
            ("Ages at death in Eastern Africa", {}),
            ("Ages at death in Western Europe", {"region": "Western Europe"}),
        )

    @property
    def facts(self) -> PublicFacts:
        return PublicFacts(
            name=f"Ages at death in {self.region}",
            kind=DataKind.PUBLIC,
            person="record of 1000 deaths",
            people="records of 1000 deaths",
            value_name="Density",
            time_name="Age",
            time_unit="years",
            time_high=OLDEST,
            covariates=(Covariate("Age", 0, OLDEST, "years"),),
            origin="the longest human lives, by which few deaths are counted beyond 104 years",
            credit=self.credit,
        )

    def draw(self, n_repeats: int, rng: np.random.Generator) -> SampleData:
        """Return the records as one data set, younger ones first; `rng` is not used."""
        self._only_once(n_repeats)
        starts, table = read_table(self.file)
        years = np.diff(np.append(starts, OLDEST)).astype(np.int64)
        ages = np.repeat(
            np.arange(OLDEST) + 0.5,
            _whole(np.repeat(table[REGIONS.index(self.region)] / years, years)),
        )
        order, server = self._dealt(len(ages))
        return SampleData(ages[order][None, :, None], None, server, self.facts)


def _whole(amounts: Array) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Whole numbers near the amounts that add up to their rounded sum; earlier ones win ties."""
    down = np.floor(amounts).astype(np.int64)
    missing = round(float(amounts.sum())) - int(down.sum())
    down[np.argsort(down - amounts, kind="stable")[:missing]] += 1
    return down
