"""Shared parts of a person's own curves and records once their facts are stated."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.lists import listed
from engine.core.types import Array, Data, DataKind, PublicFacts
from engine.sources import Source
from engine.uploads.changes import of_changes
from engine.uploads.columns import Observations
from engine.uploads.reading_of_files import Reading

D = TypeVar("D", bound=Data, covariant=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class UploadedData(Source[D]):
    """A person's own data with the facts they declared about them; the same in every draw.

    Not a registered source: data must never travel in a link or a scenario file. What bounds one
    person's effect is declared, never read off the file. Of the covariates in the file, those that
    are declared are used, in the order declared.
    """

    is_random: ClassVar[bool] = False
    read_as: ClassVar[str]  # the field that holds what was read from the file

    # from `engine.uploads.facts`
    declared: PublicFacts = field(default_factory=lambda: PublicFacts(kind=DataKind.UPLOAD))
    reading: Reading | None = None  # complete, by which it was read; None where one only looks

    def __post_init__(self) -> None:
        super().__post_init__()
        names = self.observations.covariate_names
        unread = [c.name for c in self.declared.covariates if c.name not in names]
        if unread:
            raise InputError(
                f"Not among the columns that were read: {listed(unread)}.",
                field="covariates",
                hint=f"Read: {listed(names)}." if names else "Choose them when the file is read.",
            )

    @property
    def observations(self) -> Observations:
        """Values read from the file, in its own units."""
        raise NotImplementedError

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the people in normal form, in the order of records; empty where none names."""
        return self.observations.ids

    @property
    def is_of_rows(self) -> bool:
        return self.reading is not None and self.reading.unit != "person"

    @property
    def doubts(self) -> tuple[str, ...]:
        """Signs that the file differs from its declaration; for its holder alone."""
        return ()

    def remarks(self) -> list[str]:
        """Sentences on what else the holder of the file, and nobody else, should know of it."""
        raise NotImplementedError

    def without(self, members: NDArray[np.bool_]) -> Self:
        """The same data without these people; see `Source.without`."""
        kept: dict[str, Any] = {self.read_as: self.observations.only(~members)}
        return replace(self, **kept)

    @property
    def facts(self) -> PublicFacts:
        """The declared facts, and nothing else; of changes their values are named so."""
        return of_changes(self.declared, self.reading)

    @property
    def site_names(self) -> tuple[str, ...]:
        return self.observations.server_names

    @property
    def covariates(self) -> Array:
        """The declared covariates (n, d) as they stand in the file; NaN where missing."""
        names = self.observations.covariate_names
        columns = [names.index(covariate.name) for covariate in self.declared.covariates]
        return self.observations.covariates[:, columns]
