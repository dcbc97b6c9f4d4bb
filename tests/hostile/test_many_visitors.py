"""Too many visitors, storms of moves, visitors who leave, and a server that is told to stop."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time

import psutil
import pytest

from tests.hostile.uploads import brings, curves_csv
from tests.load.run import Record, at, many, watch_health
from tests.load.visitor import Visitor, put_file
from tests.server import ROOT, running
from tests.waiting import finished

pytestmark = pytest.mark.slow
BUSY = "The server is busy"
LARGE = 30_000  # curves: many seconds of work
VISITS = int(os.environ.get("HOSTILE_VISITS", "12"))
RETURN_SECONDS = 130  # until a lost connection counts as gone, and a minute more
PATIENCE = 3  # times the goal: a loaded machine is slow, not wrong
SIZE = "w_c_sparse_curves_n_curves"


def test_beyond_the_limit_a_page_says_busy_and_opens_when_somebody_leaves(tmp_path):
    async def visits(url):
        first, second, third = Visitor(url), Visitor(url), Visitor(url, link="epsilon-2")
        async with first, third:
            async with second:
                for visitor in (first, second, third):
                    await visitor.run()
                assert BUSY not in first.words + second.words
                assert BUSY in third.words and "All places (2) are taken" in third.words
                assert third.link == "epsilon-2" and not third.faults
                place = (await third.upload_address("a.csv")).upload_url
                assert put_file(url, place, "a.csv", b"x") == 403  # nothing is kept for them
                await first.run()
                assert BUSY not in first.words  # a place is kept
            await asyncio.sleep(0.5)
            await third.run()
            assert BUSY not in third.words and "ε = 2" in third.words + str(third.elements)

    with running(tmp_path / "log", PRIVACY_CURVES_MOST_VISITORS="2") as server:
        finished(visits(server.url))


async def warm(url):
    async with Visitor(url) as visitor:
        for _ in range(2):
            await visitor.run()


@pytest.fixture
def talkative(tmp_path):
    """A server that says in its log how each computation ended."""
    (tmp_path / "sitecustomize.py").write_text(
        "import logging\nlogging.basicConfig()\n"
        "logging.getLogger('privacy_curves').setLevel(logging.INFO)\n")
    with running(tmp_path / "log", PYTHONPATH=f"{tmp_path}:{ROOT}") as server:
        yield server


def ended(server, how):
    """How many computations ended so."""
    return len(re.findall(rf"job \S+: {how}$", server.log.read_text(), re.M))


def test_a_storm_of_moves_runs_few_computations_and_ends_in_the_right_state(talkative):
    """A hundred sizes in five seconds, each new to the server: three computations each."""
    async def storm():
        await warm(talkative.url)
        async with Visitor(talkative.url) as visitor:
            await visitor.run()
            await visitor.run(fold_more=True)
            before = ended(talkative, "done")
            for n in range(201, 301):
                await visitor.ask(**{SIZE: n})
                await asyncio.sleep(0.05)
            while "n_curves-300" not in visitor.link:
                await visitor.finished()
            assert "300 " in visitor.words + str(visitor.elements) and not visitor.faults
        return ended(talkative, "done") - before

    assert finished(storm()) <= 2 * 3


def test_what_a_visitor_moves_on_from_or_leaves_is_given_up_within_a_second(talkative):
    async def moves_on():
        await warm(talkative.url)
        took = []
        for k in range(10):
            async with Visitor(talkative.url) as visitor:
                await visitor.run()
                await visitor.run(fold_more=True)
                await visitor.ask(**{SIZE: LARGE + k})
                await asyncio.sleep(1.5)
                before, start = ended(talkative, "stopped"), time.monotonic()
                if k % 2:
                    await visitor.leave()
                else:
                    await visitor.ask(**{SIZE: 200})
                while ended(talkative, "stopped") == before:
                    await asyncio.sleep(0.01)
                    assert time.monotonic() - start < 20
                took.append(time.monotonic() - start)
        return took

    took = finished(moves_on())
    print(f"given up after: p50 {at(took, 50):.0f}, p95 {at(took, 95):.0f} ms")
    assert at(took, 95) < 1000 * PATIENCE


def test_the_server_ends_within_ten_seconds_with_computations_running(tmp_path):
    async def keeps_busy(server):
        await warm(server.url)
        async with Visitor(server.url) as one, Visitor(server.url) as other:
            for k, visitor in enumerate((one, other)):
                await visitor.run()
                await visitor.run(fold_more=True)
                await visitor.ask(**{SIZE: LARGE + k})
            await asyncio.sleep(4)
            workers = server.workers
            before = sum(sum(worker.cpu_times()[:2]) for worker in workers)
            await asyncio.sleep(1)
            assert sum(sum(worker.cpu_times()[:2]) for worker in workers) > before
            server.process.send_signal(signal.SIGTERM)
            start = time.monotonic()
            await asyncio.to_thread(server.process.wait, 60)
            took = time.monotonic() - start
            await asyncio.sleep(1)
            return took, [worker.pid for worker in workers if worker.is_running()
                          and worker.status() != psutil.STATUS_ZOMBIE]

    with running(tmp_path / "log") as server:
        took, left = finished(keeps_busy(server))
    print(f"ended after {took:.1f} s")
    assert took < 10 and not left


def test_health_answers_while_computations_run_and_ten_visitors_act(fresh):
    async def crowd():
        await warm(fresh.url)
        record = Record()
        async with Visitor(fresh.url) as one, Visitor(fresh.url) as other:
            for k, visitor in enumerate((one, other)):
                await visitor.run()
                await visitor.run(fold_more=True)
                await visitor.ask(**{SIZE: LARGE + k})
            health = asyncio.create_task(watch_health(fresh.url, record))
            acted = await many(fresh.url, 10, 2.5, 30)
            health.cancel()
        return record.health + acted.health, acted.errors

    health, errors = finished(crowd())
    print(f"health: p50 {at(health, 50):.0f}, p99 {at(health, 99):.0f}, max {at(health, 100):.0f}")
    assert not errors and len(health) > 100
    assert at(health, 99) < 1000 * PATIENCE


def test_what_visitors_brought_is_given_back_after_they_left(fresh):
    """Visits of ten megabytes, one after the other; twelve here, two hundred by hand."""
    async def visits():
        await warm(fresh.url)
        for k in range(3):
            await visit(fresh.url, k)
        await asyncio.sleep(RETURN_SECONDS)
        base, figures = fresh.megabytes, []
        for k in range(VISITS):
            await visit(fresh.url, k)
            figures.append(fresh.megabytes)
        await asyncio.sleep(RETURN_SECONDS)
        return base, figures, fresh.megabytes

    base, figures, after = finished(visits())
    print(f"base {base:.0f}, highest {max(figures):.0f}, after {after:.0f} MB: "
          f"{after / base:.2f}, {(after - base) / VISITS:+.2f} MB a visit")
    assert after <= 1.2 * base


async def visit(url, k):
    async with Visitor(url) as visitor:
        await brings(visitor, "curves.csv", curves_csv(10, k))
        assert " curves ·" in visitor.words and not visitor.faults
