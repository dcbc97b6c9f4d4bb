"""Sources of data: simulation designs, bundled data and uploads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import InputError
from engine.core.identity import Traces
from engine.core.registry import Parameterised, Registry, param
from engine.core.tasks import TASKS
from engine.core.types import Data, Public, PublicFacts, Sizes, Truth, Unit

sources = Registry("engine.sources", "source")
D = TypeVar("D", bound=Data, covariant=True)
_NO_GROUPS = "These data have no groups.", "Choose data whose people are in groups."


@dataclass(frozen=True, kw_only=True)
class Source(Parameterised, Generic[D]):
    """A recipe for data: parameters in, `CurveData` out, or `SampleData` where records are rows.

    Attributes
    ----------
    tasks : frozenset of str
        The keys of what can be estimated from these data.
    is_random : bool
        Whether a fresh draw gives fresh curves; real data are the same every time.
    has_free_sites : bool
        Whether `with_sites` can spread the curves over sites of any sizes.
    deals_records : bool
        Whether the place of a record in a sorted list decides which site it is at.
    trains_on_a_third : bool
        Whether these are curves of a study that trained on a third of them.
    most_data_sets : int or None
        How many fresh data sets a study draws at most, where its methods are slow; None for as many
        as of any other source.
    units : mapping of str to float
        In which the values can be given, and how many of each make up one of the first; the
        parameter `unit` is one of them. Empty where there is no choice.

    Examples
    --------
    >>> from engine.sources.sparse_curves import SparseCurves
    >>> source = SparseCurves(n_curves=100, n_observations_per_curve=5)
    >>> curves = source.draw(2, np.random.default_rng(1))  # two data sets of equal sizes
    >>> curves.values.shape, source.facts.value_high
    ((2, 500), 4.0)
    """

    registry = sources
    tasks: ClassVar[frozenset[str]]
    is_random: ClassVar[bool] = True
    has_free_sites: ClassVar[bool] = False
    deals_records: ClassVar[bool] = False
    trains_on_a_third: ClassVar[bool] = False
    most_data_sets: ClassVar[int | None] = None
    units: ClassVar[Mapping[str, float]] = MappingProxyType({})
    if TYPE_CHECKING:  # a parameter of every recipe, each with its own range

        @property
        def n_servers(self) -> int: ...

    @property
    def facts(self) -> PublicFacts:
        """Names, units, bounds and design: public, and known before anything is drawn."""
        raise NotImplementedError

    @property
    def served(self) -> frozenset[str]:
        """The tasks that these data can be used for, also those that borrow another's data."""
        return self.tasks | {task.key for task in TASKS.values() if task.data_of in self.tasks}

    def serves(self, task: str) -> bool:
        """True if these data can answer the question of a task.

        Parameters
        ----------
        task : str
            Its key.
        """
        return task in self.tasks

    @property
    def is_of_rows(self) -> bool:
        """True if the holder states that every row is another person."""
        return False

    @property
    def site_names(self) -> tuple[str, ...]:
        """Names of sites in a file; empty if it names none."""
        return ()

    @property
    def holds_curves(self) -> bool:
        """True if what one person has here is a whole curve."""
        return any(TASKS[task].unit is Unit.CURVE for task in self.tasks)

    @property
    def sizes(self) -> Sizes:
        """The public sizes of every data set of this source."""
        return self.draw(1, np.random.default_rng(0)).sizes

    @property
    def n_drawn(self) -> int:
        """Observations that are drawn of each data set."""
        return self.sizes.n_observations

    def of_few(self) -> Source[D]:
        """The same, of whom few may be drawn who count as all: for averages over all people."""
        return self

    @property
    def public(self) -> Public:
        """Public view of these data for a plan, before they are drawn."""
        return Public(self.sizes, self.facts)

    def resized(self, people: int, readings: int, sites: int) -> Source[D]:
        """The same recipe with other sizes.

        Parameters
        ----------
        people : int
            On each site.
        readings : int
            Of each person; not looked at where everybody has one.
        sites : int

        Raises
        ------
        InputError
            If the sizes of these data cannot be changed.
        """
        raise InputError(
            "Plans and sweeps need simulated curves, whose sizes can be changed.",
            field="source",
            hint="Choose simulated curves.",
        )

    def with_sites(self, people: Sequence[int], readings: Sequence[int]) -> Source[D]:
        """The same recipe at sites of any sizes.

        A site's curves do not depend on the sizes of the others.

        Parameters
        ----------
        people : sequence of int
            On each site.
        readings : sequence of int
            Of each person, on each site.

        Raises
        ------
        InputError
            If the sites of these data are given.
        """
        raise InputError(
            "The sites of these curves cannot be changed.",
            field="source",
            hint="Choose simulated curves.",
        )

    @property
    def covariance_of_people(self) -> Truth | None:
        """Covariance of people's curves at two times, without errors of observation, if known."""
        return None

    @property
    def group_names(self) -> tuple[str, ...]:
        """The groups that people are in by a public fact; empty where there are none."""
        return ()

    def of_group(self, name: str) -> Source[D]:
        """The people of one group, as a data set of their own.

        Who is in which group, and how many are, is public, and nobody is in two.

        Parameters
        ----------
        name : str
            One of `group_names`.

        Raises
        ------
        InputError
            If there is no such group.
        """
        raise InputError(_NO_GROUPS[0], field="source", hint=_NO_GROUPS[1])

    def groups_drawn(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """The group of everybody in the data set that ``draw(1, rng)`` gives.

        Parameters
        ----------
        rng : numpy.random.Generator
            As it was before those data were drawn.

        Returns
        -------
        (n,)
            Places among `group_names`; −1 for those in none.

        Raises
        ------
        InputError
            If there are no groups.
        """
        raise InputError(_NO_GROUPS[0], field="source", hint=_NO_GROUPS[1])

    @staticmethod
    def _only_once(n_repeats: int) -> None:
        """Real curves are one data set, however often it is asked for."""
        if n_repeats != 1:
            raise InputError(
                f"Real curves are the same in every repeat; got {n_repeats} repeats.",
                field="repeats",
                hint="Set repeats to 1.",
            )

    def contents(self) -> Iterable[bytes]:
        """Bytes of each record, by which real data are known again; none of simulated data.

        Order, names, sites and stated bounds do not change them. They are as private as the data.
        """
        return ()

    def traces(self) -> Traces:
        """Texts by which the people of real data are known again; nobody of simulated data."""
        return Traces(0)

    def without(self, members: NDArray[np.bool_]) -> Source[D]:
        """The same data without these people (n,), in the order of the data.

        Raises
        ------
        InputError
            If people cannot be left out of these data.
        """
        raise InputError(
            "Nobody can be left out of these data.",
            field="exhausted",
            hint="Leave “exhausted” out of the request.",
        )

    def recorded(self) -> D:
        """The numbers of real data as they were recorded, beyond the stated bounds too.

        No mechanism sees them: they are for what the holder of the data is shown alone.
        """
        return self.draw(1, np.random.default_rng(0))  # real data are the same whatever is drawn

    def draw(self, n_repeats: int, rng: np.random.Generator) -> D:
        """Draw independent data sets of equal public sizes.

        Parameters
        ----------
        n_repeats : int
            How many; real data are one data set.
        rng : numpy.random.Generator

        Returns
        -------
        CurveData or SampleData
            With times on [0, 1] and values in their own unit, within the stated bounds; the first
            axis of every array is that of the repeats.
        """
        raise NotImplementedError


def check_sites(
    n_servers: int, n_curves: int, people: str = "curves", sites: str = "sites"
) -> None:
    """Refuse more sites than people over all of them."""
    if n_servers > n_curves:
        raise InputError(
            f"{n_servers} {sites} need at least as many {people}; got {n_curves}.",
            field="n_servers",
            hint=f"Take fewer {sites}.",
        )


def dealt(n_curves: int, n_servers: int) -> tuple[int, ...]:
    """Count the people of each site if they are dealt in turn: the first sites get the rest.

    Examples
    --------
    >>> dealt(10, 4)
    (3, 3, 2, 2)
    """
    whole, rest = divmod(n_curves, n_servers)
    return tuple(whole + (site < rest) for site in range(n_servers))


def number_of(label: str, **options: Any) -> Any:
    """The parameter n of simulated records: how many there are."""
    return param(
        1000,
        label,
        "How many there are, over all sites.",
        low=2,
        high=10_000_000,
        symbol="n",
        **options,
    )


def sites_with(records: str) -> Any:
    """The parameter S of simulated records: how many sites they are dealt to."""
    return param(1, "Sites", f"Sites that keep their own {records}.", low=1, high=1000, symbol="S")


class DealtRecords(Source[D]):
    """Base of simulated data in which a record is one observation, a row or an event.

    A subclass declares the parameters below, which forms show in its own order, and names a record
    and a site for messages.
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
        """Numbers that a record has besides what is observed."""
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
