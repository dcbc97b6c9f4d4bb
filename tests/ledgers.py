"""People for tests of the ledger, without a file: what it asks a source, and nothing more."""

from dataclasses import dataclass

import numpy as np

from engine.core.identity import Traces
from engine.core.types import Budget, PublicFacts
from engine.privacy import accounting
from engine.release.books import Charge
from engine.sources import sources

CHILDREN = PublicFacts(person="child", people="children")
SEA = sources.build("sea_temperature", {})  # 61 years


@dataclass(frozen=True)
class Some:
    """People with ids, contents, or both; a content tells people apart unless bits are few."""

    ids: tuple = ()
    content: tuple = ()
    bits: float = 99.0
    list: str = ""
    records: tuple = ()
    facts: PublicFacts = CHILDREN

    def traces(self):
        n = max(len(self.ids), len(self.content), len(self.records))
        return Traces(
            n,
            tuple(map(_text, self.ids)),
            tuple(map(_text, self.content)),
            np.full(n, self.bits),
            tuple(map(_text, self.records)),
            ids_from=self.list,
        )

    def contents(self):
        return [b"/".join([*self.traces().ids, *self.traces().content])]


def _text(name):
    return str(name).encode() if name != "" else b""


def pure(epsilon):
    return Charge(Budget(epsilon))


def gaussian(epsilon, delta):
    return Charge(Budget(epsilon, delta), accounting.exact_mu(epsilon, delta))


def spent(book, source):
    """The sum of ε of whoever lost most."""
    return max(share.loss.epsilon for share in book.standing_of(source).shares) / 1e12


def charges(book, source):
    """Name and state of every release that holds some of these people."""
    return [(entry.name, entry.state) for entry in book.standing_of(source).entries]


__all__ = ["SEA", "Some", "charges", "gaussian", "pure", "spent"]
