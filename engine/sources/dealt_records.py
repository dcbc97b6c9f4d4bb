"""Simulated records that are dealt to sites in equal parts: sizes, and who is at which site."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from engine.core.types import Sizes
from engine.sources import D, Source, check_sites, dealt


class DealtRecords(Source[D]):
    """What simulated data share of which a record is one observation, of rows or of events.

    A subclass declares the parameters below, which forms show in its own order, and names a record
    and a site for messages.

    Raises
    ------
    InputError
        If there are more sites than records.
    """

    records: ClassVar[str] = "people"
    sites: ClassVar[str] = "sites"
    if TYPE_CHECKING:  # parameters of every such recipe, each with its own range
        n_curves: int
        n_servers: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check_sites(self.n_servers, self.n_curves, self.records, self.sites)

    @property
    def n_numbers(self) -> int:
        """How many numbers a record has besides what is observed."""
        return 0

    @property
    def sizes(self) -> Sizes:
        return Sizes(dealt(self.n_curves, self.n_servers), self.n_curves, 1, self.n_numbers)

    @property
    def server(self) -> NDArray[np.int64]:
        """The site of every record: (n_curves,)."""
        return np.repeat(np.arange(self.n_servers), dealt(self.n_curves, self.n_servers))

    def resized(self, people: int, readings: int, sites: int) -> Self:
        """So many records at each site, whatever `readings` says; see `Source.resized`."""
        sizes: Any = {"n_curves": people * sites, "n_servers": sites}
        return replace(self, **sizes)
