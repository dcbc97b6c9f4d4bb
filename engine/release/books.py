"""What all entries of the ledger come to: whose releases they are, and what these cost together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from engine.core.types import Budget
from engine.privacy import accounting
from engine.release.ledger_file import changed
from engine.release.sealed_log import Sealed
from engine.release.witness import BILLION, Witness


@dataclass(frozen=True)
class Entry:
    """One charge as the ledger has it, and what became of it.

    Parameters
    ----------
    at : str
        When it was charged, ISO 8601 in UTC.
    name : str
        What the holder called the release.
    what : str
        What was released, and by which method.
    budget : Budget
        What was charged.
    state : str
        One of

        * "charged": nothing was drawn, because the process was ended; the same request draws it,
        * "under way": some of its messages were drawn, in a run of several sites that goes on,
        * "drawn": its noised messages are in the ledger, and it can be made again from them,
        * "closed": drawing failed, or its messages were lost; it counts, and nothing can be drawn,
        * "released", "unfinished": what earlier versions wrote, which kept no messages,
        * "lost": what a repair charged for releases that are known by their total alone.
    release_id : str
        Random, by which it can be made again.
    """

    at: str
    name: str
    what: str
    budget: Budget
    state: str
    release_id: str = ""


@dataclass(frozen=True)
class Odometer:
    """What has been spent on one group of people, and of which total; for their holder alone.

    Parameters
    ----------
    label : str
        Of the group in the ledger.
    total : Budget
        The most that all releases about them may cost.
    spent_epsilon, spent_delta : float
        Sums of all charges.
    entries : tuple of Entry
        The charges.
    tight : Budget or None
        What all releases together cost by their ρ's; None where some have none, or no δ was fixed
        for it.
    """

    label: str
    total: Budget
    spent_epsilon: float
    spent_delta: float
    entries: tuple[Entry, ...]
    tight: Budget | None = None

    @property
    def left(self) -> float:
        """ε that is left, exact in billionths."""
        return (floored(self.total.epsilon) - ceiled(self.spent_epsilon)) / BILLION


@dataclass
class Books:
    """What all entries of a log come to.

    A population is one or more data sets about the same people, named by the label of one.

    Attributes
    ----------
    population : dict
        The label of the population that each data set belongs to, by the hash of the data set.
    total : dict
        ε in billionths and δ that all releases may cost, by population.
    tight_delta : dict
        δ at which ρ's are turned into ε; None where none was fixed. By population.
    people : dict
        Kinds of traces with sizes and digests, by data set: one for each set of ids and values
        under which the same observations came.
    releases : dict
        Data set and entry of every charge, by its number.
    ends : dict
        The entry that says what became of a release, by the number of its charge.
    parts : dict
        Digests of messages that were drawn one by one, by position, by the number of the charge.
    joined : dict
        All labels that turned out to be the same people, by population.
    lost : list
        What a repair charged.
    unknown : set
        Labels of people whose traces or data a repair did not find, so that anybody new may be one
        of them.
    """

    population: dict[str, str] = field(default_factory=dict)
    total: dict[str, tuple[int, float]] = field(default_factory=dict)
    tight_delta: dict[str, float | None] = field(default_factory=dict)
    people: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    releases: dict[int, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)
    ends: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    parts: dict[int, dict[int, str]] = field(default_factory=dict)
    joined: dict[str, set[str]] = field(default_factory=dict)
    lost: list[Mapping[str, Any]] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, entries: Iterable[Sealed]) -> Books:
        """All entries, in their order.

        Parameters
        ----------
        entries : iterable of Sealed
            Of a log whose seals were checked.

        Raises
        ------
        InputError
            If they do not fit together.
        """
        books = cls()
        try:
            for sealed in entries:
                books._take_in(sealed.number, sealed.entry)
            for data_set, _ in books.releases.values():
                _ = books.population[data_set]
        except (KeyError, StopIteration):
            raise changed() from None
        return books

    def _take_in(self, number: int, entry: Mapping[str, Any]) -> None:
        kind, data_set = entry["kind"], entry.get("data_set", "")
        if kind == "data set":
            label = entry["label"]
            if data_set:
                self.population[data_set] = label
            self.total[label] = entry["total"][0], entry["total"][1]
            self.tight_delta[label] = entry["tight_delta"]
            self.joined[label] = {label}
        elif kind in ("copy", "joined"):
            self._join(entry["of"])
            if data_set:
                self.population[data_set] = min(entry["of"])
        elif kind == "total":
            self.total[entry["label"]] = entry["total"][0], entry["total"][1]
        elif kind == "release":
            self.releases[number] = data_set, entry
        elif kind == "part":
            self.parts.setdefault(entry["release"], {})[entry["position"]] = entry["messages"]
        elif kind in ("finished", "drawn", "closed"):
            self.ends[entry["release"]] = entry
        elif kind == "lost":
            self.lost.append(entry)
            self.tight_delta[self.label_of(entry["label"])] = None
        elif kind == "unknown":
            self.unknown.add(entry["label"])
        if data_set and entry.get("people"):
            self.people.setdefault(data_set, []).append(entry["people"])

    def _join(self, labels: list[str]) -> None:
        """Several populations turn out to share people: one, with the lowest of their totals."""
        first, totals = min(labels), [self.total[label] for label in labels]
        self.total[first] = min(total[0] for total in totals), min(total[1] for total in totals)
        if len(labels) > 1:
            self.tight_delta[first] = None  # there is no one δ that was fixed before all of them
        for data_set, label in self.population.items():
            if label in labels:
                self.population[data_set] = first
        self.joined[first] = set[str]().union(*(self.joined[label] for label in labels))

    def label_of(self, label: str) -> str:
        """The label of the population that one of its labels belongs to.

        Parameters
        ----------
        label : str
            Any that the ledger gave.

        Raises
        ------
        StopIteration
            If it gave none such.
        """
        return next(first for first in sorted(self.joined) if label in self.joined[first])

    def state(self, number: int) -> str:
        """What became of the release with that number; see `Entry`.

        Parameters
        ----------
        number : int
            Of its charge in the log.
        """
        end = self.ends.get(number)
        if end is None and number in self.parts:
            return "under way"
        if end is None:
            return "charged" if self.releases[number][1].get("request") else "unfinished"
        return "released" if end["kind"] == "finished" else str(end["kind"])

    def spent(self, *labels: str) -> tuple[int, float]:
        """ε in billionths and δ that were charged to these populations.

        Parameters
        ----------
        *labels : str
            Of populations, none of which is another's.

        Returns
        -------
        tuple of int and float
            The first exact, the second rounded up.
        """
        costs = [entry for data_set, entry in self.releases.values()
                 if self.population[data_set] in labels]
        costs += [entry for entry in self.lost if self.label_of(entry["label"]) in labels]
        return (sum(entry["epsilon"] for entry in costs),
                sum_up([entry["delta"] for entry in costs]))

    def is_compared(self, data_set: str, people: Mapping[str, Any]) -> bool:
        """Whether a data set was charged before with the same traces of its people, or with none.

        Parameters
        ----------
        data_set : str
            Its hash in the ledger.
        people : mapping
            Kinds of traces with sizes and digests; the same observations may have other ids.
        """
        return data_set in self.population and (
            not people or people in self.people.get(data_set, []))

    def odometer(self, *labels: str) -> Odometer:
        """What was spent on one population, or would have been on several that are one.

        Parameters
        ----------
        *labels : str
            Of populations; the least of their totals counts.
        """
        charges = [(number, entry) for number, (data_set, entry) in self.releases.items()
                   if self.population[data_set] in labels]
        lost = [entry for entry in self.lost if self.label_of(entry["label"]) in labels]
        entries = tuple(Entry(entry["at"], entry["name"], entry["what"],
                              Budget(entry["epsilon"] / BILLION, entry["delta"]),
                              self.state(number), entry["id"]) for number, entry in charges)
        entries += tuple(Entry(entry["at"], "", "releases that a repair found no more",
                               Budget(max(entry["epsilon"], 1) / BILLION, entry["delta"]), "lost")
                         for entry in lost)
        epsilon, delta = self.spent(*labels)
        total = (max(min(self.total[label][0] for label in labels), 1) / BILLION,
                 min(self.total[label][1] for label in labels))
        tight = None if len(labels) > 1 else _tight([entry["rho"] for _, entry in charges],
                                                    self.tight_delta[labels[0]])
        return Odometer(min(labels), Budget(*total), epsilon / BILLION, delta, entries, tight)


def covers(entries: Iterable[Sealed], witness: Witness) -> bool:
    """Whether entries come to no less than any line of the witness says was spent.

    A ledger that somebody sealed anew, or a repair that was made up, would come to less. Lines of
    earlier versions have too few digits for this; their seals are looked at all the same.

    Parameters
    ----------
    entries : iterable of Sealed
        All entries of the log.
    witness : Witness
        All lines of its witness.

    Raises
    ------
    InputError
        If the entries do not fit together.
    """
    books = Books.of(entries)
    spent = {label: books.spent(first) for first, labels in sorted(books.joined.items(),
                                                                   reverse=True)
             for label in labels}  # of a label that was joined to others, what all of them spent
    stated = [line.spent for line in witness.lines if line.spent is not None and not line.is_early]
    return all(spent.get(claim.label, (0, 0.0))[0] >= claim.epsilon
               and spent.get(claim.label, (0, 0.0))[1] >= claim.delta * (1 - 1e-9)
               for claim in stated)


def _tight(rhos: list[float | None], delta: float | None) -> Budget | None:
    """What all releases cost together by their ρ's, at the δ that was fixed for it."""
    known = [rho for rho in rhos if rho is not None]
    if not delta or len(known) < max(len(rhos), 1):
        return None
    return Budget(accounting.epsilon_at_any_time(sum_up(known), delta), delta)


def sum_up(costs: list[float]) -> float:
    """The sum of costs, rounded up where it is no floating-point number.

    Parameters
    ----------
    costs : list of float
        None negative.

    Examples
    --------
    >>> sum([0.1] * 3) == sum_up([0.1] * 3), sum_up([0.5, 0.25])
    (True, 0.75)
    """
    exact = sum(map(Fraction, costs), Fraction())
    total = float(exact)
    return total if Fraction(total) >= exact else math.nextafter(total, math.inf)


def ceiled(epsilon: float) -> int:
    """ε in billionths, rounded up; what a decimal of up to nine places means stays as it is.

    Parameters
    ----------
    epsilon : float
        A charge.

    Examples
    --------
    >>> ceiled(0.3), ceiled(1 / 3), floored(1 / 3)
    (300000000, 333333334, 333333333)
    """
    nearest = round(epsilon * BILLION)
    return nearest if nearest / BILLION == epsilon else math.ceil(epsilon * BILLION)


def floored(epsilon: float) -> int:
    """ε in billionths, rounded down; what a decimal of up to nine places means stays as it is.

    Parameters
    ----------
    epsilon : float
        A total.
    """
    nearest = round(epsilon * BILLION)
    return nearest if nearest / BILLION == epsilon else math.floor(epsilon * BILLION)
