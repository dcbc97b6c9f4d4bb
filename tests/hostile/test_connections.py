"""Sessions that are left, slow senders and what is too large: the server goes on as before."""

from __future__ import annotations

import asyncio
import contextlib
import re
from http import HTTPStatus
from urllib.parse import urlsplit

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from websockets.exceptions import ConnectionClosed

from tests.load.behaviour import drag
from tests.load.visitor import Visitor, put_file, request
from tests.waiting import PATIENCE, finished, lapse, soon

SESSIONS, SLOW = 100, 50
MB = 1_000_000
MAX_UPLOAD = 20 * 1024 * 1024
RETURN_SECONDS = 100  # until a lost connection counts as gone, and memory was given back
LONG = BackMsg(rerun_script=ClientState(query_string="x" * 3 * MB))  # a message, but for its size
_HEAD = "PUT {}/_stcore/upload_file/x/y HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n"


async def assert_usual(server):
    """Health is well, a page opens and answers, and nothing of a fault was written."""
    status, _, body = await asyncio.to_thread(request, server.url, "GET", "/_stcore/health")
    assert (status, body) == (HTTPStatus.OK, b"ok")
    async with Visitor(server.url) as visitor:
        await visitor.run()
        while not visitor.has("figure"):  # the first visitor of a new server
            await visitor.stay()
        await drag(visitor, 3)
        assert visitor.has("figure") and not visitor.faults
    assert "Traceback" not in server.log.read_text()


def sessions(url):
    """How many pages are open, as the server counts them."""
    return int(
        re.search(rb"^active_sessions (\d+)", request(url, "GET", "/_stcore/metrics")[2], re.M)[1]
    )


async def sent_slowly(url, text, pause=0.01):
    """A connection on which bytes come one at a time; left open."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    for byte in text.encode():
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(pause)
    return reader, writer


async def closed_by(visitor):
    """The code with which the server closes a visitor's connection."""
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(ConnectionClosed) as end:
            while True:
                await visitor._socket.recv()
    return end.value.rcvd.code if end.value.rcvd else None


async def sends(server, message):
    """The code with which a visitor who sends this is closed."""
    async with Visitor(server.url) as visitor:
        await visitor.run()
        with contextlib.suppress(ConnectionClosed):
            await visitor._socket.send(message)
        return await closed_by(visitor)


@pytest.mark.slow
@pytest.mark.parametrize(
    "message, code",
    [
        ("text", 1003),
        (b"\xff" * 100, 1002),
        (LONG.SerializeToString(), 1009),
        (bytes(60 * MB), 1009),
    ],
    ids=["text", "no message", "too large", "far too large"],
)
def test_a_message_that_is_none_ends_one_connection_and_nothing_else(door, message, code):
    async def tries():
        assert await sends(door, message) == code
        await assert_usual(door)

    finished(tries())


@pytest.mark.slow
def test_an_upload_above_the_limit_is_refused_with_and_without_its_length(door):
    async def tries():
        async with Visitor(door.url) as visitor:
            await visitor.run()
            place = (await visitor.upload_address("a.csv")).upload_url
            too_large = bytes(MAX_UPLOAD + MB)
            assert await asyncio.to_thread(put_file, door.url, place, "a.csv", too_large) == 413
            assert await asyncio.to_thread(put_file, door.url, place, "a.csv", b"a,b\n1,2\n") == 204
        await assert_usual(door)

    finished(tries())


@pytest.mark.slow
def test_slow_senders_keep_nobody_waiting(door):
    async def tries():
        await assert_usual(door)
        head = _HEAD.format(urlsplit(door.url).path)
        held = await asyncio.gather(
            *(
                sent_slowly(door.url, head[: 40 + k] if k % 2 else f"{head}\r\n" + "x" * k)
                for k in range(SLOW)
            )
        )
        await assert_usual(door)
        for _, writer in held:
            writer.close()
        await assert_usual(door)

    finished(tries())


@pytest.mark.slow
def test_what_a_hundred_sessions_that_were_left_held_is_given_back(fresh):
    async def opened():
        visitor = Visitor(fresh.url)
        await visitor.__aenter__()
        await visitor.run()
        return visitor

    async def left(visitors):
        for k, visitor in enumerate(visitors):
            if k % 2:
                visitor._socket.transport.abort()  # without a word
            else:
                await visitor.leave()

    async def tries():
        for _ in range(2):
            await assert_usual(fresh)
        await left([await opened() for _ in range(5)])
        await lapse(RETURN_SECONDS)
        base, visitors = fresh.megabytes, []
        for _ in range(SESSIONS // 10):
            visitors += await asyncio.gather(*(opened() for _ in range(10)))
        assert sessions(fresh.url) == SESSIONS
        await assert_usual(fresh)
        most = fresh.megabytes
        await left(visitors)
        await soon(lambda: sessions(fresh.url) == 0)
        await assert_usual(fresh)
        await lapse(RETURN_SECONDS)
        print(
            f"base {base:.0f}, with {SESSIONS} sessions {most:.0f}, after {fresh.megabytes:.0f} MB"
        )
        await soon(lambda: fresh.megabytes <= base + 0.5 * SESSIONS)
        await assert_usual(fresh)

    finished(tries())
