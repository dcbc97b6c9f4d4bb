"""Too many visitors, storms of moves, visitors who leave, and a server that is told to stop."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from contextlib import suppress

import psutil
import pytest

from tests.hostile.uploads import brings, curves_csv
from tests.load.run import Record, many, watch_health
from tests.load.visitor import Visitor, put_file
from tests.sentences import of_topic
from tests.server import ROOT, running
from tests.waiting import PATIENCE, finished, lapse, soon

wording = of_topic("work")

pytestmark = pytest.mark.slow
BUSY = "The server is busy"
LARGE = 30_000  # curves: many seconds of work
VISITS = int(os.environ.get("HOSTILE_VISITS", "12"))
RETURN_SECONDS = 130  # until a lost connection counts as gone, and a minute more
SIZE = "w_c_sparse_curves_n_curves"


def test_beyond_the_limit_a_page_says_busy_and_opens_when_somebody_leaves(tmp_path):
    async def visits(url):
        first, second, third = Visitor(url), Visitor(url), Visitor(url, link="epsilon-2")
        async with first, third:
            async with second:
                for visitor in (first, second, third):
                    await visitor.run()
                assert BUSY not in first.words + second.words
                assert BUSY in third.words
                wording.found("sessions use", third.words, 2)
                assert third.link == "epsilon-2" and not third.faults
                place = (await third.upload_address("a.csv")).upload_url
                assert put_file(url, place, "a.csv", b"x") == 403  # nothing is kept for them
                await first.run()
                assert BUSY not in first.words  # a place is kept
            while BUSY in third.words:
                await third.run()
            assert third.has("figure") and third.link == "epsilon-2"

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
        "logging.getLogger('privacy_curves').setLevel(logging.INFO)\n"
    )
    with running(tmp_path / "log", PYTHONPATH=f"{tmp_path}:{ROOT}") as server:
        yield server


def lives(process):
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def worked(server):
    """Processor time of the workers so far; of one that has just ended, none."""
    seconds = 0.0
    for worker in server.workers:
        with suppress(psutil.NoSuchProcess):
            seconds += sum(worker.cpu_times()[:2])
    return seconds


async def begun(server):
    """Wait until the workers have been at work for a while."""
    before = worked(server)
    await soon(lambda: worked(server) > before + 0.5)


def ended(server, how):
    """How many computations ended so."""
    return len(re.findall(rf"job \S+: {how}$", server.log.read_text(), re.M))


def test_a_storm_of_moves_runs_few_computations_and_ends_in_the_right_state(talkative):
    """A hundred sizes without a pause, each new to the server: three computations each."""

    async def storm():
        await warm(talkative.url)
        async with Visitor(talkative.url) as visitor:
            await visitor.run()
            await visitor.follow("open-more")
            before = ended(talkative, "done")
            for n in range(201, 301):
                await visitor.ask(**{SIZE: str(n)})
            while "n_curves-300" not in visitor.link:
                await visitor.finished()
            assert "300 " in visitor.words + str(visitor.elements) and not visitor.faults
        return ended(talkative, "done") - before

    assert finished(storm()) <= 2 * 3


def test_what_a_visitor_moves_on_from_or_leaves_is_given_up(talkative):
    async def moves_on():
        await warm(talkative.url)
        for k in range(10):
            async with Visitor(talkative.url) as visitor:
                await visitor.run()
                await visitor.follow("open-more")
                await visitor.ask(**{SIZE: str(LARGE + k)})
                await begun(talkative)
                before = ended(talkative, "stopped")
                if k % 2:
                    await visitor.leave()
                else:
                    await visitor.ask(**{SIZE: "200"})
                await soon(lambda before=before: ended(talkative, "stopped") > before)

    finished(moves_on())


def test_the_server_ends_with_computations_running_and_leaves_no_worker(tmp_path):
    async def keeps_busy(server):
        await warm(server.url)
        async with Visitor(server.url) as one, Visitor(server.url) as other:
            for k, visitor in enumerate((one, other)):
                await visitor.run()
                await visitor.follow("open-more")
                await visitor.ask(**{SIZE: str(LARGE + k)})
            await begun(server)
            workers = server.workers
            assert workers
            server.process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(server.process.wait, PATIENCE)
            await soon(lambda: not any(lives(worker) for worker in workers))

    with running(tmp_path / "log") as server:
        finished(keeps_busy(server))


def test_health_answers_while_computations_run_and_ten_visitors_act(talkative):
    async def crowd():
        await warm(talkative.url)
        async with Visitor(talkative.url) as one, Visitor(talkative.url) as other:
            for k, visitor in enumerate((one, other)):
                await visitor.run()
                await visitor.follow("open-more")
                await visitor.ask(**{SIZE: str(LARGE + k)})
            await begun(talkative)
            before, record = ended(talkative, "done"), Record()
            health = asyncio.create_task(watch_health(talkative.url, record))
            await soon(lambda: len(record.health) >= 10)
            assert ended(talkative, "done") == before  # answered while both were at work
            acted = await many(talkative.url, 10, 2.5, 30)
            health.cancel()
        return record.errors + acted.errors

    assert not finished(crowd())


def test_what_visitors_brought_is_given_back_after_they_left(fresh):
    """Visits of ten megabytes, one after the other; twelve here, two hundred by hand."""

    async def visits():
        await warm(fresh.url)
        for k in range(3):
            await visit(fresh.url, k)
        await lapse(RETURN_SECONDS)
        base, figures = fresh.web_megabytes, []
        for k in range(VISITS):
            await visit(fresh.url, k)
            figures.append(fresh.web_megabytes)
        await lapse(RETURN_SECONDS)
        print(f"base {base:.0f}, highest {max(figures):.0f}, after {fresh.web_megabytes:.0f} MB")
        await soon(lambda: fresh.web_megabytes <= 1.2 * base)

    finished(visits())


async def visit(url, k):
    async with Visitor(url) as visitor:
        await brings(visitor, "curves.csv", curves_csv(10, k))
        assert "mean curve" in visitor.words and not visitor.faults
