"""Nothing of one visitor's reaches another: not in pages, links, exports, logs, or later."""

from __future__ import annotations

import asyncio
import re

import pytest

from tests.hostile.uploads import brings, states
from tests.load.behaviour import drag
from tests.load.visitor import Visitor, put_file, request
from tests.waiting import finished

pytestmark = pytest.mark.slow
VISITORS, RERUNS = 20, 8
MEDIA = re.compile(rb"/media/[0-9a-f]+\.\w+")


def canary(k):
    return f"canary{k:02d}x"


def table(k):
    """Curves whose ids, columns and readings only visitor k can know."""
    word = canary(k)
    rows = "".join(
        f"{word}-id{i},{t / 4},{20 + k + i % 7}.0{k:02d},{i % 2}\n"
        for i in range(30)
        for t in range(5)
    )
    return f"child,age,height,{word}_column\n{rows}".encode()


async def visits(url, k):
    """One visitor's whole stay; what they heard, their links, and what they could download."""
    word, links = canary(k), set()
    async with Visitor(url, listens=True) as visitor:
        await brings(visitor, f"{word}.csv", table(k))
        await states(visitor, f"{word} origin", value_unit=f"{word}u", person=f"{word}p")
        assert visitor.has("figure") and not visitor.faults
        for turn in range(RERUNS):
            await drag(visitor, turn % 12)
            links.add(visitor.link)
        for page in ("coefficients", "summaries", "rates", "plan", "sites", ""):
            await visitor.go(page)
            links.add(visitor.link)
            assert not visitor.faults
        heard = b"".join(visitor.heard)
        files = [
            await asyncio.to_thread(request, url, "GET", path.decode())
            for path in {*MEDIA.findall(heard)}
        ]
    return heard, links, b"".join(body for _, _, body in files)


def words_of(text):
    return {*re.findall(r"canary\d\dx", text.decode("utf-8", "replace"))}


def test_twenty_visitors_with_curves_of_their_own_see_nothing_of_each_other(fresh):
    async def all_at_once():
        # Ten at a time: the test is about who sees what, not about speed.
        turns = asyncio.Semaphore(10)

        async def one(k):
            async with turns:
                return await visits(fresh.url, k)

        return await asyncio.gather(*map(one, range(VISITORS)))

    stays = finished(all_at_once())
    for k, (heard, links, files) in enumerate(stays):
        assert words_of(heard) == {canary(k)}  # their own, and so the search does find them
        assert not any("canary" in link for link in links)
        assert words_of(files) <= {canary(k)}
    assert "canary" not in fresh.log.read_text("utf-8")

    async def afterwards():
        async with Visitor(fresh.url, listens=True) as visitor:
            for page in ("", "coefficients", "plan"):
                await visitor.go(page) if page else await visitor.run()
            return b"".join(visitor.heard)

    assert not words_of(finished(afterwards()))


def test_nobody_can_put_a_file_into_the_visit_of_another_without_being_that_visitor(fresh):
    async def tries():
        async with Visitor(fresh.url) as visitor:
            await visitor.run()
            place = (await visitor.upload_address("a.csv")).upload_url
            unknown = place.replace(visitor.session, "0" * len(visitor.session))
            return place, [
                put_file(fresh.url, place, "a.csv", b"x", token=False),
                put_file(fresh.url, unknown, "a.csv", b"x"),
                put_file(fresh.url, place, "a.csv", b"one,two\n3,4\n"),
            ]

    place, answers = finished(tries())
    assert answers == [403, 403, 204]
    assert put_file(fresh.url, place, "a.csv", b"x") == 403  # the visitor has left
    assert b"one,two" not in request(fresh.url, "GET", place)[2]  # there is no way to read it


def test_a_file_is_judged_by_its_content_whatever_it_is_called(fresh):
    from tests import files

    async def brings_all():
        collected = []
        for name, content in (
            ("b.exe", files.csv()),
            ("b.csv", b"MZ\x90\x00\x03" + b"\0" * 99),
            ("c.xlsx", b"\x89PNG\r\n\x1a\n\x00\x00"),
            ("d.png", files.xlsx()),
        ):
            async with Visitor(fresh.url) as visitor:
                await brings(visitor, name, content)
                assert not visitor.faults
                collected.append(visitor.words)
        return collected

    program, fake, picture, workbook = finished(brings_all())
    assert "curve of 12" in program and "curve of 12" in workbook
    assert "a program" in fake and "a picture (PNG)" in picture.replace("\\", "")
