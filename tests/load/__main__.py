"""``python -m tests.load --visitors 10 --every 2.5 --seconds 60``: how quick it is for many.

Without ``--url`` a server is started for the purpose, warmed up, and its processor time and memory
are reported as well. Latency is from sending an action to the end of the script.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from tests.load.run import Record, many
from tests.load.visitor import Visitor
from tests.server import Server, running


def main() -> None:
    result = _arguments()
    if result.url:
        _report(asyncio.run(_load(result.url, result)))
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder) / "log", result.port) as server,
    ):
        asyncio.run(_warm(server.url))
        _measured(server, result)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__)
    parser.add_argument("--visitors", type=int, default=10)
    parser.add_argument("--every", type=float, default=2.5, help="mean seconds between actions")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--burden",
        action="store_true",
        help="one more visitor asks for the heaviest things all the time",
    )
    parser.add_argument("--url", help="of a running server; otherwise one is started")
    parser.add_argument("--port", type=int, help="of the server that is started")
    return parser.parse_args()


async def _load(url: str, asked: argparse.Namespace) -> Record:
    return await many(
        url, asked.visitors, asked.every, asked.seconds, asked.seed, burden=asked.burden
    )


async def _warm(url: str) -> None:
    """Two visits to every page: imports and first computations are not what is measured."""
    async with Visitor(url) as visitor:
        for _ in range(2):
            await visitor.run()
            for page in [*visitor.pages]:
                await visitor.go(page)


def _measured(server: Server, asked: argparse.Namespace) -> None:
    cpu, web, start = server.cpu_seconds, server.web_seconds, time.perf_counter()
    record = asyncio.run(_load(server.url, asked))
    cpu, web = server.cpu_seconds - cpu, server.web_seconds - web
    took = time.perf_counter() - start
    _report(record)
    actions = sum(map(len, record.actions.values()))
    print(
        f"server            {100 * cpu / took:.0f} % of one core, {1000 * cpu / actions:.0f} ms "
        f"per action, of which {1000 * web / actions:.0f} ms in the web process, "
        f"{server.megabytes:.0f} MB"
    )


def _report(record: Record) -> None:
    print("\n".join(record.lines()))
    print(f"errors            {len(record.errors)}")
    for error in sorted(set(record.errors))[:10]:
        print(f"  {error[:300]}")


if __name__ == "__main__":
    main()
