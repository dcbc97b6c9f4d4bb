"""Measure what a page costs the server: processor time, and bytes to the browser.

    python -m scripts.measure_pages [NAME ...]

Every place is opened on a server of its own, which has computed the default study and rests. *cold*
is the first visit until the page stands, *after* what the page then goes on with by itself, *warm*
the same page with one setting changed. Each is the processor time of the web process and of its
workers; run it on an idle machine, as other work there makes it larger.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
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
_MAX_STAYS = 60  # a job that is watched asks for ever


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
    for _ in range(_MAX_STAYS):
        if not visitor.waits_for_more:
            return
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


@contextmanager
def server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder, running(Path(folder) / "log") as started:
        yield started


def main(names: list[str]) -> int:
    if unknown := {*names} - {*PLACES}:
        print(f"unknown: {unknown}; there are {[*PLACES]}", file=sys.stderr)
        return 1
    print(f"{'':22}{'cold: web + workers, sent':30}{'after':30}{'warm':30}", flush=True)
    for name in names or PLACES:
        with server() as started:
            works = asyncio.run(opened(started, PLACES[name]))
        print(f"{name:22}" + "".join(f"{work!s:30}" for work in works), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
