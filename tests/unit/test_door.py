"""What is let in, with and without a base path: pages of this server, reading, files, messages."""

import logging

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from pages.shared.server.door import Door, OneLineASecond, address, place
from tests.waiting import finished

GOOD = BackMsg(rerun_script={"query_string": "s=epsilon-2"}).SerializeToString()
LONG = BackMsg(rerun_script={"query_string": "x" * 2_000_001}).SerializeToString()
STREAM, FILE = "/_stcore/stream", "/_stcore/upload_file/session/file"
OWN = {"host": "curves.example", "origin": "https://curves.example"}


@pytest.fixture(params=["", "/dash", "/clinic/dash"])
def base(request, options):
    options["server.baseUrlPath"] = request.param
    return request.param


def scope(kind, path, method="GET", **headers):
    return {
        "type": kind,
        "path": path,
        "method": method,
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }


def let_in(asked, *frames):
    """The scope that comes through, what is heard behind the door, and what is said before it."""
    scopes, heard, said, waiting = [], [], [], [*frames]

    async def page(scope, receive, send):
        scopes.append(scope)
        while scope["type"] == "websocket" and (
            not heard or heard[-1]["type"] == "websocket.receive"
        ):
            heard.append(await receive())
            await send({"type": "websocket.send", "bytes": b"an answer"})

    async def receive():
        return waiting.pop(0) if waiting else {"type": "websocket.disconnect", "code": 1000}

    async def send(event):
        said.append(event)

    finished(Door(page)(asked, receive, send))
    return scopes, heard, said


@pytest.mark.parametrize("headers", [{}, {"host": "curves.example"}, OWN])
def test_a_page_of_this_server_is_connected_and_the_framework_judges_no_origin(base, headers):
    (came,), _, said = let_in(scope("websocket", base + STREAM, **headers))
    assert b"origin" not in dict(came["headers"])
    assert [event["type"] for event in said] == ["websocket.send"]


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "https://curves.example.evil.example",
        "https://curves.example:8501",
        "null",
        "",
        "curves.example",
        "https://[::1",
        "https://evil.example, https://curves.example",
    ],
)
def test_a_page_of_somebody_else_is_not_connected(base, origin):
    for host in ({"host": "curves.example"}, {"host": ""}, {}):
        came, _, said = let_in(scope("websocket", base + STREAM, origin=origin, **host))
        assert not came and said == [{"type": "websocket.close", "code": 1008}]


def test_who_runs_the_server_may_name_other_pages_and_none_is_looked_up_for_them(options):
    asked = scope("websocket", STREAM, host="inside:8501", origin="https://curves.example")
    assert not let_in(asked)[0]
    options["server.corsAllowedOrigins"] = ["https://curves.example"]
    (came,), _, _ = let_in(asked)
    assert b"origin" not in dict(came["headers"])


@pytest.mark.parametrize("path", ["/", "/lab", STREAM + "/", "/lab" + STREAM, "/_stcore/health"])
def test_a_page_is_connected_at_one_address(base, path):
    assert not let_in(scope("websocket", base + path))[0]
    if base:
        assert not let_in(scope("websocket", STREAM))[0]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 0),
        ("HEAD", "/lab", 0),
        ("OPTIONS", FILE, 0),
        ("PUT", FILE, 0),
        ("DELETE", FILE, 0),
        ("POST", "/", 405),
        ("PUT", "/lab", 405),
        ("PATCH", FILE, 405),
        ("POST", FILE, 405),
        ("POST", "/_stcore/agent/mcp", 405),
        ("TRACE", "/", 405),
    ],
)
def test_what_is_sent_is_read_or_brings_a_file(base, method, path, status):
    came, _, said = let_in(scope("http", base + path, method, **OWN))
    assert bool(came) == (not status)
    assert [event["status"] for event in said if "status" in event] == [status] * bool(status)


def test_a_page_of_somebody_else_brings_no_file_but_reads_as_anybody(base):
    for method, comes in (("PUT", False), ("DELETE", False), ("GET", True)):
        asked = scope(
            "http", base + FILE, method, host="curves.example", origin="https://evil.example"
        )
        assert bool(let_in(asked)[0]) is comes


@pytest.mark.parametrize("path", ["/", STREAM, "/dashboard", "/das", "//dash/lab", "/clinic"])
def test_nothing_is_outside_of_a_base_path(options, path):
    for base in ("dash", "/dash/"):
        options["server.baseUrlPath"] = base
        came, _, said = let_in(scope("http", path))
        assert not came and said[0]["status"] == 404


def test_a_place_is_what_stands_below_the_base_path_and_below_another_application(base):
    assert place(scope("http", base + "/lab")) == "/lab"
    assert place(scope("http", "/outer" + base + "/lab") | {"root_path": "/outer"}) == "/lab"
    assert place(scope("http", base + "/dash/lab")) == "/dash/lab"


@pytest.mark.parametrize(
    ("listens_at", "host"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "localhost"),
        ("::1", "[::1]"),
        ("192.0.2.7", "192.0.2.7"),
    ],
)
def test_the_start_says_where_the_dashboard_is(base, options, listens_at, host):
    options |= {"server.address": listens_at, "server.port": 8601}
    assert address() == f"http://{host}:8601{base}/"


# -- messages -------------------------------------------------------------------------------------


def frame(content):
    name = "text" if isinstance(content, str) else "bytes"
    return {"type": "websocket.receive", name: content}


def test_messages_come_through_as_they_are():
    _, heard, said = let_in(scope("websocket", STREAM), frame(GOOD), frame(GOOD))
    assert heard[:-1] == [frame(GOOD), frame(GOOD)]
    assert [event["type"] for event in said] == ["websocket.send"] * 3


@pytest.mark.parametrize(
    "content, code",
    [
        ("words", 1003),
        (b"\xff" * 50, 1002),
        (GOOD[:-1], 1002),
        (LONG, 1009),
        (b"", 1002),
        *(
            (BackMsg(**{order: True}).SerializeToString(), 1002)
            for order in ("clear_cache", "debug_shutdown_runtime", "debug_disconnect_websocket")
        ),
    ],
)
def test_what_is_no_message_of_a_page_closes_the_connection_and_is_not_seen(content, code):
    _, heard, said = let_in(scope("websocket", STREAM), frame(GOOD), frame(content), frame(GOOD))
    assert heard == [frame(GOOD), {"type": "websocket.disconnect", "code": code}]
    assert said[1:] == [{"type": "websocket.close", "code": code}]  # and no answer after that


# -- the log --------------------------------------------------------------------------------------


def test_warnings_are_written_once_a_second_and_say_how_many_were_not():
    now = [0.0]
    sparing, written = OneLineASecond(lambda: now[0]), []

    def warn(count):
        for k in range(count):
            record = logging.LogRecord(
                "uvicorn.error", logging.WARNING, "", 0, f"bad {k}", (), None
            )
            written.extend([record.getMessage()] if sparing.filter(record) else [])

    warn(200)
    now[0] = 0.9
    warn(10)
    now[0] = 1.0
    warn(2)
    assert written == ["bad 0", "bad 0 (209 lines before this one were left out)"]


def test_no_address_of_a_connection_is_written_and_other_lines_are():
    for words, is_written in (
        ('%s - "WebSocket %s" 403', False),
        ("Application startup complete.", True),
    ):
        record = logging.LogRecord("uvicorn.error", logging.INFO, "", 0, words, ("a", "b"), None)
        assert OneLineASecond().filter(record) is is_written
