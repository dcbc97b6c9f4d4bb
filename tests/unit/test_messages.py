"""On the connection of a page only messages of the front end come through."""

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from pages.shared.server.connections import OnlyMessages
from tests.waiting import finished

GOOD = BackMsg(rerun_script={"query_string": "s=epsilon-2"}).SerializeToString()


def frame(content):
    name = "text" if isinstance(content, str) else "bytes"
    return {"type": "websocket.receive", name: content}


def connection(*frames, kind="websocket"):
    """What a page hears of these frames, and what its browser hears of the page's answers."""
    heard, sent, waiting = [], [], [*frames]

    async def page(scope, receive, send):
        while not heard or heard[-1]["type"] == "websocket.receive":
            heard.append(await receive())
            await send({"type": "websocket.send", "bytes": b"an answer"})

    async def receive():
        return waiting.pop(0) if waiting else {"type": "websocket.disconnect", "code": 1000}

    async def send(event):
        sent.append(event)

    finished(OnlyMessages(page)({"type": kind}, receive, send))
    return heard, sent


def test_messages_come_through_as_they_are():
    heard, sent = connection(frame(GOOD), frame(b""))
    assert heard[:-1] == [frame(GOOD), frame(b"")]
    assert [event["type"] for event in sent] == ["websocket.send"] * 3


@pytest.mark.parametrize("content, code", [("words", 1003), (b"\xff" * 50, 1002), (GOOD[:-1], 1002)])
def test_what_is_no_message_closes_the_connection_and_is_not_seen(content, code):
    heard, sent = connection(frame(GOOD), frame(content), frame(GOOD))
    assert heard == [frame(GOOD), {"type": "websocket.disconnect", "code": code}]
    assert sent[1:] == [{"type": "websocket.close", "code": code}]  # and no answer after that


def test_other_requests_are_none_of_its_business():
    heard, _ = connection(frame("words"), kind="http")
    assert heard[0] == frame("words")
