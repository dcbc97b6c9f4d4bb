"""What all entries of the ledger come to: whose releases they are, and what these cost together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from engine.privacy import accounting
from engine.release.ledger_file import changed
from engine.release.sealed_log import Sealed
from engine.release.witness import BILLION, Witness
from engine.types import Budget


@dataclass(frozen=True)
class Entry:
    """One charge as the ledger has it, and what became of it.

    `state` is one of

    * "charged": nothing was drawn, because the process was ended; the same request draws it,
    * "drawn": its noised messages are in the ledger, and it can be made again from them,
    * "closed": drawing failed, or its messages were lost; it counts, and nothing can be drawn,
    * "released", "unfinished": what earlier versions wrote, which kept no messages,
    * "lost": what a repair charged for releases that are known by their total alone.
    """

    at: str
    name: str
    what: str
    budget: Budget
    state: str
    release_id: str = ""

    @property
    def is_finished(self) -> bool:
        """Whether its result was made, as far as is known."""
        return self.state in ("drawn", "released")


@dataclass(frozen=True)
class Odometer:
    """What has been spent on one group of people, and of which total; for their holder alone.

    `tight` is what all releases together cost by their ρ's; None where some have none, or no δ was
    fixed for it.
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
    `population` says which one each data set belongs to; `total`, `tight_delta`, `joined` (labels
    that turned out to be the same people) and `lost` (what a repair charged) are by population,
    `people` (kinds of traces with sizes and digests) and `releases` by data set. `ends` are the
    entries that say what became of a release. `unknown` are labels of people whose traces or data a
    repair did not find, so that anybody new may be one of them.
    """

    population: dict[str, str] = field(default_factory=dict)
    total: dict[str, tuple[int, float]] = field(default_factory=dict)
    tight_delta: dict[str, float | None] = field(default_factory=dict)
    people: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    releases: dict[int, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)
    ends: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    joined: dict[str, set[str]] = field(default_factory=dict)
    lost: list[Mapping[str, Any]] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, entries: Iterable[Sealed]) -> Books:
        """All entries, in their order.

        Raises
        ------
        InputError
            If they do not fit together.
        """
        books = cls()
        try:
            for one in entries:
                books._take_in(one.number, one.entry)
            for own, _ in books.releases.values():
                _ = books.population[own]
        except (KeyError, StopIteration):
            raise changed() from None
        return books

    def _take_in(self, number: int, entry: Mapping[str, Any]) -> None:
        kind, own = entry["kind"], entry.get("data_set", "")
        if kind == "data set":
            label = entry["label"]
            if own:
                self.population[own] = label
            self.total[label] = entry["total"][0], entry["total"][1]
            self.tight_delta[label] = entry["tight_delta"]
            self.joined[label] = {label}
        elif kind in ("copy", "joined"):
            self._join(entry["of"])
            if own:
                self.population[own] = min(entry["of"])
        elif kind == "total":
            self.total[entry["label"]] = entry["total"][0], entry["total"][1]
        elif kind == "release":
            self.releases[number] = own, entry
        elif kind in ("finished", "drawn", "closed"):
            self.ends[entry["release"]] = entry
        elif kind == "lost":
            self.lost.append(entry)
            self.tight_delta[self.label_of(entry["label"])] = None
        elif kind == "unknown":
            self.unknown.add(entry["label"])
        if own and "people" in entry:
            self.people[own] = entry["people"]

    def _join(self, labels: list[str]) -> None:
        """Several populations turn out to share people: one, with the lowest of their totals."""
        first, totals = min(labels), [self.total[label] for label in labels]
        self.total[first] = min(one[0] for one in totals), min(one[1] for one in totals)
        if len(labels) > 1:
            self.tight_delta[first] = None  # there is no one δ that was fixed before all of them
        for own, label in self.population.items():
            if label in labels:
                self.population[own] = first
        self.joined[first] = set[str]().union(*(self.joined[label] for label in labels))

    def label_of(self, label: str) -> str:
        """The label of the population that one of its labels belongs to."""
        return next(first for first in sorted(self.joined) if label in self.joined[first])

    def state(self, number: int) -> str:
        """What became of the release with that number; see `Entry`."""
        end = self.ends.get(number)
        if end is None:
            return "charged" if self.releases[number][1].get("request") else "unfinished"
        return "released" if end["kind"] == "finished" else str(end["kind"])

    def spent(self, *labels: str) -> tuple[int, float]:
        """ε in billionths and δ that were charged to these populations."""
        costs = [entry for own, entry in self.releases.values() if self.population[own] in labels]
        costs += [entry for entry in self.lost if self.label_of(entry["label"]) in labels]
        return (sum(entry["epsilon"] for entry in costs),
                sum_up([entry["delta"] for entry in costs]))

    def sketched(self, own: str) -> bool:
        return bool(self.people.get(own))

    def odometer(self, *labels: str) -> Odometer:
        """What was spent on one population, or would have been on several that are one."""
        found = [(number, entry) for number, (own, entry) in self.releases.items()
                 if self.population[own] in labels]
        lost = [entry for entry in self.lost if self.label_of(entry["label"]) in labels]
        entries = tuple(Entry(entry["at"], entry["name"], entry["what"],
                              Budget(entry["epsilon"] / BILLION, entry["delta"]),
                              self.state(number), entry["id"]) for number, entry in found)
        entries += tuple(Entry(entry["at"], "", "releases that a repair found no more",
                               Budget(max(entry["epsilon"], 1) / BILLION, entry["delta"]), "lost")
                         for entry in lost)
        epsilon, delta = self.spent(*labels)
        total = (max(min(self.total[label][0] for label in labels), 1) / BILLION,
                 min(self.total[label][1] for label in labels))
        tight = None if len(labels) > 1 else _tight([entry["rho"] for _, entry in found],
                                                    self.tight_delta[labels[0]])
        return Odometer(min(labels), Budget(*total), epsilon / BILLION, delta, entries, tight)


def covers(entries: Iterable[Sealed], seen: Witness) -> bool:
    """Whether entries come to no less than any line of the witness says was spent.

    A ledger that somebody sealed anew, or a repair that was made up, would come to less. Lines of
    earlier versions have too few digits for this; their seals are looked at all the same.
    """
    books = Books.of(entries)
    spent = {label: books.spent(first) for first, labels in sorted(books.joined.items(),
                                                                   reverse=True)
             for label in labels}  # of a label that was joined to others, what all of them spent
    stated = [one.spent for one in seen.lines if one.spent is not None and not one.is_early]
    return all(spent.get(one.label, (0, 0.0))[0] >= one.epsilon
               and spent.get(one.label, (0, 0.0))[1] >= one.delta * (1 - 1e-9) for one in stated)


def _tight(rhos: list[float | None], delta: float | None) -> Budget | None:
    """What all releases cost together by their ρ's, at the δ that was fixed for it."""
    known = [rho for rho in rhos if rho is not None]
    if not delta or len(known) < max(len(rhos), 1):
        return None
    return Budget(accounting.epsilon_at_any_time(sum_up(known), delta), delta)


def sum_up(costs: list[float]) -> float:
    exact = sum(map(Fraction, costs), Fraction())
    total = float(exact)
    return total if Fraction(total) >= exact else math.nextafter(total, math.inf)


def ceiled(epsilon: float) -> int:
    """ε in billionths, rounded up; what a decimal of up to nine places means stays as it is."""
    nearest = round(epsilon * BILLION)
    return nearest if nearest / BILLION == epsilon else math.ceil(epsilon * BILLION)


def floored(epsilon: float) -> int:
    nearest = round(epsilon * BILLION)
    return nearest if nearest / BILLION == epsilon else math.floor(epsilon * BILLION)
