"""Handshakes, paths and methods that no page sends: nothing is asked outside, nothing is written."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests import outside
from tests.hostile.test_connections import assert_usual, sends
from tests.load.visitor import Visitor, put_file, request
from tests.server import ROOT, free_port, running, started
from tests.waiting import PATIENCE, finished, soon

pytestmark = pytest.mark.slow
STREAM = "/_stcore/stream"
FOREIGN = [
    "http://evil.example",
    "https://evil.example:8501",
    "null",
    "http://[::1",
    "",
    "127.0.0.1",
    "http://127.0.0.1",
    "http://localhost:1",
]
FLOOD = 200
MB = 1_000_000


async def status(url, path, origin=None):
    """The status with which a handshake is answered."""
    try:
        headers = {} if origin is None else {"Origin": origin}
        async with connect(
            "ws" + url.removeprefix("http") + path,
            additional_headers=headers,
            open_timeout=PATIENCE,
        ):
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


def own(url):
    return f"http://{urlsplit(url).netloc}"


def test_the_connection_of_a_page_is_for_pages_of_this_server(door):
    async def tries():
        for origin in FOREIGN:
            assert await status(door.url, STREAM, origin) == 403
        for origin in (None, own(door.url)):
            assert await status(door.url, STREAM, origin) == 101
            for path in ("/", "/lab", f"{STREAM}/", f"/lab{STREAM}", "/media/x", "/_stcore/health"):
                assert await status(door.url, path, origin) == 403
        if urlsplit(door.url).path:
            assert await status(own(door.url), STREAM) == 403
        await assert_usual(door)

    finished(tries())
    assert outside.asked(door.log.parent) == []


def test_two_hundred_bad_handshakes_are_answered_and_leave_no_word(door):
    async def tries():
        await assert_usual(door)
        said = door.log.read_text()
        kinds = [(STREAM, origin) for origin in FOREIGN] + [("/lab", None), ("/x", own(door.url))]
        answers = asyncio.gather(*(status(door.url, *kinds[k % len(kinds)]) for k in range(FLOOD)))
        await assert_usual(door)
        assert set(await answers) == {403}
        assert door.log.read_text() == said

    finished(tries())
    assert outside.asked(door.log.parent) == []


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("POST", "/", 405),
        ("PUT", "/", 405),
        ("DELETE", "/lab", 405),
        ("PATCH", "/lab", 405),
        ("POST", "/_stcore/agent/interact", 405),
        ("POST", "/_stcore/upload_file/a/b", 405),
        ("PUT", "/_stcore/upload_file/a/b", 403),
        ("GET", "/_stcore/health", 200),
        ("HEAD", "/lab", 200),
    ],
)
def test_other_methods_are_refused(door, method, path, expected):
    assert request(door.url, method, path)[0] == expected
    assert "Traceback" not in door.log.read_text()


def test_nothing_stands_outside_of_a_base_path(door):
    if urlsplit(door.url).path:
        for path in ("/", "/lab", "/_stcore/health", "/dashboard", "/vendor/plotly.min.js"):
            assert request(own(door.url), "GET", path)[0] == 404
    for path in ("/", "/lab", "/_stcore/health", "/vendor/plotly.min.js"):
        assert request(door.url, "GET", path)[0] == 200


@pytest.mark.parametrize(
    "order", [BackMsg(), BackMsg(clear_cache=True), BackMsg(debug_shutdown_runtime=True)]
)
def test_orders_that_no_page_gives_end_the_connection(door, order):
    async def tries():
        assert await sends(door, order.SerializeToString()) == 1002
        await assert_usual(door)

    finished(tries())


def kept(url):
    """Bytes of files that the server holds."""
    return sum(
        map(
            float,
            re.findall(
                rb'cache_type="UploadedFileManager"[^}]*} (\d+)',
                request(url, "GET", "/_stcore/metrics")[2],
            ),
        )
    )


def test_one_visitor_holds_one_file(door):
    async def tries():
        async with Visitor(door.url) as visitor:
            await visitor.run()
            for size in (3, 2, 1):
                place = (await visitor.upload_address("a.csv")).upload_url
                assert (
                    await asyncio.to_thread(put_file, door.url, place, "a.csv", b"x" * size * MB)
                    == 204
                )
            await soon(lambda: kept(door.url) == MB)

    finished(tries())


@pytest.mark.parametrize("base", ["", "/dash"])
def test_a_demonstration_takes_no_file(tmp_path, base):
    async def tries(server):
        async with Visitor(server.url) as visitor:
            await visitor.run()
            place = (await visitor.upload_address("a.csv")).upload_url
            assert await asyncio.to_thread(put_file, server.url, place, "a.csv", b"a\n1\n") == 403

    with running(tmp_path / "log", base=base, PRIVACY_CURVES_UPLOADS="off") as server:
        finished(tries(server))


# -- nothing is asked outside ---------------------------------------------------------------------


def container():
    """The command and the environment that the container has."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    variables = dict(
        pair.split("=", 1)
        for line in re.findall(r"^ENV (.*)", text, re.M)
        for pair in shlex.split(line)
    )
    command = re.findall(r'^CMD \["python", (.*)\]', text, re.M)[-1]
    return [sys.executable, *re.findall(r'"([^"]+)"', command)], {
        name: value for name, value in variables.items() if name.startswith("STREAMLIT")
    }


@pytest.mark.parametrize("base", ["", "/dash"])
def test_the_command_of_the_container_asks_nothing_outside(tmp_path, base):
    async def tries(server):
        await assert_usual(server)
        for origin in [*FOREIGN, None, own(server.url)]:
            await status(server.url, STREAM, origin)

    command, variables = container()
    assert variables["STREAMLIT_SERVER_ADDRESS"] == "0.0.0.0"
    port = free_port()
    with started(
        command,
        f"http://127.0.0.1:{port}{base}",
        tmp_path / "log",
        **{
            **variables,
            **outside.noted(tmp_path),
            "STREAMLIT_SERVER_PORT": str(port),
            "STREAMLIT_SERVER_BASE_URL_PATH": base,
        },
    ) as server:
        finished(tries(server))
    assert outside.asked(tmp_path) == []
    assert f"http://localhost:{port}{base}/" in server.log.read_text()


def test_what_is_asked_outside_is_noted(tmp_path):
    code = (
        "import socket, contextlib\n"
        "with contextlib.suppress(OSError): socket.getaddrinfo('curves.invalid', 80)\n"
        "with contextlib.suppress(OSError): socket.create_connection(('192.0.2.1', 9), 0)\n"
        "with contextlib.suppress(OSError): socket.create_connection(('127.0.0.1', 9))"
    )
    subprocess.run(
        [sys.executable, "-c", code], env=os.environ | outside.noted(tmp_path), check=True
    )
    assert [line.split()[1] for line in outside.asked(tmp_path)] == [
        "'curves.invalid'",
        *["'192.0.2.1'"] * 2,
    ]
