"""Many visitors at once, each at a pace of their own, and what it was like for them."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field

import numpy as np

from tests.load.behaviour import KINDS, Acts, burdens
from tests.load.visitor import Visitor, request

_HEALTH_SECONDS = 0.2
_BURDEN_SECONDS = 1.0  # between what one visitor burdens the server with
# Opening the first page, and what a page goes on with by itself when it stands.
_BESIDE = ("arrive", "rest of it", "heavy", "heavy, left")


@dataclass
class Record:
    """Seconds from action to finished page by kind of action, those of health, and what failed."""

    actions: dict[str, list[float]] = field(default_factory=dict)
    health: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def seconds(self, *kinds: str) -> list[float]:
        """Of these kinds; of whatever a visitor does on a page if none is named."""
        wanted = kinds or tuple(kind for kind in self.actions if kind not in _BESIDE)
        return [one for kind in wanted for one in self.actions.get(kind, [])]

    def lines(self) -> list[str]:
        """The figures as text, one line per kind of action."""
        rows = {
            "every action": self.seconds(),
            **dict(sorted(self.actions.items())),
            "health": self.health,
        }
        return [
            f"{name:17} n {len(of):5}  p50 {at(of, 50):7.0f}  p95 {at(of, 95):7.0f}  "
            f"p99 {at(of, 99):7.0f}  max {at(of, 100):7.0f} ms"
            for name, of in rows.items()
        ]


def at(seconds: list[float], percent: float) -> float:
    """A percentile in milliseconds; NaN of nothing."""
    return 1000 * float(np.percentile(seconds, percent)) if seconds else float("nan")


async def many(
    url: str,
    visitors: int,
    every: float,
    seconds: float,
    seed: int = 1,
    kinds: tuple[Acts, ...] = KINDS,
    burden: bool = False,
) -> Record:
    """Let `visitors` act for some seconds, each once in `every` seconds on average.

    With `burden` one more asks for the heaviest things all the time.
    """
    record = Record()
    stop = time.monotonic() + seconds
    health = asyncio.create_task(watch_health(url, record))
    await asyncio.gather(
        *(
            _visit(url, kinds[k % len(kinds)], random.Random(seed * 1000 + k), every, stop, record)
            for k in range(visitors)
        ),
        *(
            _visit(url, burdens, random.Random(seed), _BURDEN_SECONDS, stop, record)
            for _ in range(burden)
        ),
    )
    health.cancel()
    return record


async def _visit(
    url: str, acts: Acts, chance: random.Random, every: float, stop: float, record: Record
) -> None:
    """One visitor, from a random moment on; thinks up to twice the mean between actions."""
    await asyncio.sleep(chance.uniform(0, every))
    try:
        async with Visitor(url) as visitor:
            async for kind, took in acts(visitor, chance):
                record.actions.setdefault(kind, []).append(took)
                record.errors += visitor.faults
                await asyncio.sleep(chance.uniform(0, 2 * every))
                if time.monotonic() > stop:
                    return
    except Exception as problem:
        record.errors.append(f"{type(problem).__name__}: {problem}")


async def watch_health(url: str, record: Record) -> None:
    """Ask for the health of the server a few times a second."""
    while True:
        start = time.perf_counter()
        try:
            status, _, _ = await asyncio.to_thread(request, url, "GET", "/_stcore/health")
            if status != 200:
                record.errors.append(f"health: {status}")
        except OSError as problem:
            record.errors.append(f"health: {problem}")
        record.health.append(time.perf_counter() - start)
        await asyncio.sleep(_HEALTH_SECONDS)
