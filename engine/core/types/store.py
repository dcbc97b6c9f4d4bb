"""Curves of any number of people, of whom a block at a time is in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from operator import methodcaller
from typing import Any, ClassVar, TypeVar

import numpy as np

from engine.core.types.data import CurveData
from engine.core.types.facts import PublicFacts
from engine.core.types.sizes import Public, Sizes

R = TypeVar("R")
Part = Callable[[Iterator[CurveData]], R]  # what is made of the blocks of a part
_WORDS = 4  # of 64 bits, of a digest


@dataclass(frozen=True, eq=False)
class CurveStore:
    """Curves of one data set, read anew in each pass; observations per curve are stated.

    It takes the place of `CurveData` where a method reads blocks.

    The people of a site are in one part or several, which may be in other processes or on other
    machines; functions of them are of a module, so that they can be sent there. The blocks of all
    parts hold each curve once; their order says nothing, and what methods make of them
    (`Mechanism.reads_blocks`) does not depend on it.
    """

    facts: PublicFacts
    people: tuple[int, ...]  # of each site
    # applies a function to the blocks of each part of a site, by its number
    read: Callable[[int, Part[Any]], Sequence[Any]]
    n_repeats: ClassVar[int] = 1
    unit: ClassVar[str] = CurveData.unit
    has_design: ClassVar[bool] = CurveData.has_design
    bounded_axes: ClassVar[tuple[str, ...]] = CurveData.bounded_axes
    applied_bounds: ClassVar[str] = CurveData.applied_bounds

    @property
    def n_curves(self) -> int:
        return sum(self.people)

    @property
    def sizes(self) -> Sizes:
        return self.few().sizes

    @property
    def public(self) -> Public:
        return Public(self.sizes, self.facts)

    @property
    def parts(self) -> list[slice]:
        ends = np.cumsum([0, *self.people]).tolist()
        return [slice(*each) for each in pairwise(ends)]

    def of_parts(self, site: int, function: Part[R]) -> Sequence[R]:
        """Apply a function to the blocks of each part of a site, where these are."""
        return self.read(site, function)

    def few(self) -> CurveData:
        """Make `CurveData.few` of these sizes."""
        return CurveData.few_of_sizes(self.facts, self.people)

    def stand_in(self) -> CurveData:
        """Make `CurveData.stand_in` of these sizes."""
        return CurveData.of_sizes(self.facts, self.people).stand_in()

    def public_facts(self) -> dict[str, Any]:
        return self.few().public_facts()

    def public_sizes(self) -> dict[str, Any]:
        return self.few().public_sizes()

    def content(self) -> bytes:
        """All curves as bytes, the same as of `CurveData`; read once."""
        return self._content

    @cached_property
    def _content(self) -> bytes:
        digests = b"".join(
            part for site in range(len(self.people)) for part in self.read(site, _Digests(site))
        )
        words = np.frombuffer(digests, ">u8").reshape(-1, _WORDS)
        order = np.argsort(words[:, 0])
        ordered = words[order, 0]
        if (ordered[1:] == ordered[:-1]).any():
            order = np.lexsort(words.T[::-1])
        return words[order].tobytes()


@dataclass(frozen=True)
class _Digests:
    """Digests of the records of a site."""

    site: int

    def __call__(self, blocks: Iterator[CurveData]) -> bytes:
        digests = bytearray()
        for block in blocks:
            at_site = replace(block, server=np.full_like(block.server, self.site))
            hashes = map(hashlib.sha256, at_site.record_bytes())
            digests += b"".join(map(methodcaller("digest"), hashes))
        return bytes(digests)
