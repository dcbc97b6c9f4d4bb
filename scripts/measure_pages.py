"""Measure what a page costs the server: processor time, bytes to the browser, and memory.

    python -m scripts.measure_pages [NAME ...]

Every place is opened on a server of its own, which has computed the default study and rests. *cold*
is the first visit until the page stands, *after* what the page then goes on with by itself, *warm*
the same page with one setting changed. Each is the processor time of the web process and of its
workers; other work of the machine changes it by a fifth or so. `slider` moves ε in *Lab* back and
forth, and `memory` opens every place for six visitors of one server.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil

from tests.load.visitor import Visitor
from tests.processor_time import seconds
from tests.server import Server, running


class Place(NamedTuple):
    """A page as a link opens it, and the same with one setting changed."""

    page: str
    link: str
    changed: str


_PEOPLE = "c-sparse_curves~c.n_curves-320"
PLACES = {
    "explore": Place("", "", _PEOPLE),
    "explore, methods": Place("", "view-methods", f"view-methods~{_PEOPLE}"),
    "explore, theory": Place("", "view-theory", f"view-theory~{_PEOPLE}"),
    "ask the curve": Place("", "shape-crossing~open-shape", f"shape-crossing~open-shape~{_PEOPLE}"),
    "decide": Place("decide", "", _PEOPLE),
    "decide, coefficients": Place(
        "decide",
        "decided-varying_coefficients",
        "decided-varying_coefficients~g-coefficient_curves~g.n_curves-320",
    ),
    "decide, regression": Place(
        "decide", "decided-wavelet_regression", "decided-wavelet_regression~network-12x500x1"
    ),
    "decide, density": Place("decide", "decided-density", "decided-density~seed-2"),
    "decide, sites": Place(
        "decide", "sites-equal~open-hospitals", "sites-equal~open-hospitals~seed-2"
    ),
    "decide, planner": Place("decide", "open-planner", f"open-planner~{_PEOPLE}"),
    "lab": Place("lab", "", _PEOPLE),
    "lab, compare": Place("lab", "tab-compare", f"tab-compare~{_PEOPLE}"),
    "lab, verify": Place("lab", "tab-verify", "tab-verify~seed-2"),
    "lab, coefficients": Place(
        "lab", "estimand-coefficients", "estimand-coefficients~g-coefficient_curves~g.n_curves-320"
    ),
    "learn": Place("learn", "", "lesson-1"),
    "publish": Place("publish", "", "publish-density"),
}
_REST_SECONDS = 1.5  # without work, after which a server counts as at rest
_MOVES, _VISITORS = 20, 6


class Work(NamedTuple):
    """Processor seconds of the web process and of its workers, and kilobytes received."""

    web: float
    workers: float
    kilobytes: float

    def __str__(self) -> str:
        return f"{self.web:5.2f} + {self.workers:5.2f} s {self.kilobytes:6.0f} kB"


def family_seconds(server: Server) -> tuple[float, float]:
    """Processor time of the web process, and of its workers, also of those that have ended."""
    own = psutil.Process(server.process.pid)
    web = sum(own.cpu_times()[:2])
    return web, sum(map(seconds, [own, *server.workers])) - web


async def rest(server: Server) -> None:
    """Wait until a server has done nothing for a while."""
    before, since = -1.0, time.monotonic()
    while time.monotonic() - since < _REST_SECONDS:
        await asyncio.sleep(0.2)
        now = sum(family_seconds(server))
        if now - before > 0.03:
            before, since = now, time.monotonic()


class Meter:
    """A visitor of a server, and what the server has done since the last look."""

    def __init__(self, server: Server, visitor: Visitor) -> None:
        self._server, self._visitor = server, visitor
        self.work()

    def work(self) -> Work:
        now = *family_seconds(self._server), self._visitor.received / 1000
        before, self._now = getattr(self, "_now", now), now
        return Work(*(b - a for a, b in zip(before, now, strict=True)))


async def stays(visitor: Visitor) -> None:
    """Stay on a page until it does not ask for more."""
    while visitor.waits_for_more:
        await visitor.stay()


async def opened(server: Server, place: Place) -> list[Work]:
    """Open a place, stay there, and change one setting."""
    await rest(server)
    async with Visitor(server.url, place.page, place.link) as visitor:
        meter, works = Meter(server, visitor), []
        await visitor.run()
        works.append(meter.work())
        await stays(visitor)
        works.append(meter.work())
        await rest(server)
        meter.work()
        await visitor.follow(place.changed)
        works.append(meter.work())
        if visitor.faults:
            print("\n".join(visitor.faults), file=sys.stderr)
    return works


async def slides(server: Server) -> Work:
    """Move the slider of Lab between two steps that have been seen, and average."""
    await rest(server)
    async with Visitor(server.url, "lab") as visitor:
        await visitor.run()
        await stays(visitor)
        await visitor.run()  # the whole page again, after its parts
        key = "w_mean_epsilon"
        for k in range(4):
            await visitor.run(**{key: [12.0 + k % 2]})
        await rest(server)
        meter = Meter(server, visitor)
        for k in range(_MOVES):
            await visitor.run(**{key: [12.0 + k % 2]})
        return Work(*(each / _MOVES for each in meter.work()))


async def fills(server: Server) -> None:
    """Let six visitors open every place, one after the other, and stay until the end."""
    await rest(server)
    print(f"memory: {server.megabytes:6.0f} MB at rest", flush=True)
    visitors = [Visitor(server.url) for _ in range(_VISITORS)]
    for visitor in visitors:
        await visitor.__aenter__()
        for place in PLACES.values():
            visitor.page, visitor.link = place.page, place.link
            await visitor.run()
            await stays(visitor)
        own = psutil.Process(server.process.pid).memory_full_info()
        print(
            f"memory: {server.megabytes:6.0f} MB, of these {own.uss / 1e6:.0f} of the web process "
            f"(resident {own.rss / 1e6:.0f})",
            flush=True,
        )
    for visitor in visitors:
        await visitor.leave()


@contextmanager
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder, running(Path(folder) / "log") as started:
        yield started


def main(names: list[str]) -> int:
    further: dict[str, Callable[[], None]] = {"slider": _slider, "memory": _memory}
    if unknown := {*names} - {*PLACES, *further}:
        print(f"unknown: {unknown}; there are {[*PLACES, *further]}", file=sys.stderr)
        return 1
    print(f"{'':22}{'cold: web + workers, sent':30}{'after':30}{'warm':30}", flush=True)
    for name in names or PLACES:
        if name in further:
            further[name]()
            continue
        with server() as started:
            works = asyncio.run(opened(started, PLACES[name]))
        print(f"{name:22}" + "".join(f"{work!s:30}" for work in works), flush=True)
    return 0


def _slider() -> None:
    with server() as started:
        print(f"{'a move of the slider':22}{asyncio.run(slides(started))!s}", flush=True)


def _memory() -> None:
    with server() as started:
        asyncio.run(fills(started))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
