"""A class without the dashboard: three routes at one address, and nothing else behind them."""

import json
import urllib.error
import urllib.request

import pytest

from engine.lessons import lessons, work
from pages.parts.learn import slides
from pages.shared.server import class_door
from pages.shared.server.class_door import ClassDoor, addresses
from pages.shared.server.classroom import Classrooms, Stage
from tests.waiting import PATIENCE, until

LOOPBACK = "127.0.0.1"


@pytest.fixture
def door():
    rooms = Classrooms()
    door = ClassDoor(rooms)
    door.open(LOOPBACK)
    lesson = lessons.get("1")
    worked = work("1", 1)
    poll = slides.poll_of(lesson, 1, worked)
    door.tell(poll, lesson, worked)
    room = rooms.open(poll)
    until(lambda: answered(door, f"/{room.code}")[0] == 200)
    yield door, room, poll, rooms
    door.close()


def answered(door, path, sent=None, method=None, **headers):
    """Status and body of an answer; 0 while nobody listens."""
    body = None if sent is None else json.dumps(sent).encode()
    kinds = {"Content-Type": "application/json"} if body else {}
    request = urllib.request.Request(door.url + path, body, {**kinds, **headers}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()
    except OSError:
        return 0, ""


def now(door, room, seat="a", tag=""):
    return json.loads(answered(door, f"/{room.code}/now?seat={seat}&tag={tag}")[1])


def test_a_phone_sees_the_picture_sends_a_guess_and_learns_no_answer_before_its_teacher(door):
    door, room, poll, _ = door
    state = now(door, room)
    assert state["stage"] == Stage.GUESS and state["drawing"]["mode"] == "pupil"
    assert "shows" not in state and "options" not in state and not state["guesses"]
    assert "drawing" not in now(door, room, tag=state["tag"])
    assert answered(door, f"/{room.code}/guess", {"seat": "a", "value": [40]})[0] == 200
    assert room.guesses == [(40.0,)] and now(door, room)["is_sent"]
    assert not now(door, room, "b")["is_sent"] and not now(door, room, "b")["guesses"]
    room.ask(poll, Stage.QUESTION)
    state = now(door, room)
    assert state["guesses"] == [[40.0]]
    assert all(set(option) == {"text"} for option in state["options"])
    assert answered(door, f"/{room.code}/answer", {"seat": "a", "value": 1})[0] == 200
    assert room.answers[1] == 1
    room.ask(poll, Stage.ANSWER)
    assert sum(option["right"] for option in now(door, room)["options"]) == 1


@pytest.mark.parametrize(
    "sent",
    [
        {"seat": "a", "value": [1e9]},
        {"seat": "a", "value": "x"},
        {"seat": "a"},
        {"value": [1]},
        {"seat": "x" * 200, "value": [1]},
        {"seat": 3, "value": [1]},
        [],
        "[" * 3000,
        {"seat": "a", "value": [1], "more": "x" * 5000},
    ],
)
def test_what_is_no_guess_is_refused_and_counts_nothing(door, sent):
    door, room, _, _ = door
    status, said = answered(door, f"/{room.code}/guess", sent)
    assert status in (400, 409, 413) and "Traceback" not in said
    assert not room.guesses


def test_nothing_else_answers(door):
    door, room, _, rooms = door
    code = room.code
    for path in (
        "/",
        "/learn",
        "/_stcore/health",
        "/ABCDEF",
        "/ABCDEF/now?seat=a",
        f"/{code}/end",
        f"/{code}/../{code}/keys",
        "/static/index.html",
    ):
        assert answered(door, path)[0] in (404, 405), path
    for path in ("/", "/learn", f"/{code}/end", "/ABCDEF/guess"):
        assert answered(door, path, {"seat": "a", "value": [1]})[0] in (404, 405), path
    for method in ("PUT", "DELETE", "OPTIONS"):
        assert answered(door, f"/{code}", method=method)[0] == 405
    assert answered(door, f"/{code}", Host="elsewhere.example")[0] == 404
    text = {"Content-Type": "text/plain"}
    assert answered(door, f"/{code}/guess", {"seat": "a", "value": [1]}, **text)[0] == 415
    assert room.key not in answered(door, f"/{code}/now?seat=a")[1]
    rooms.end(code)
    assert answered(door, f"/{code}")[0] == 404


def test_a_closed_door_does_not_answer_and_opens_again_elsewhere():
    door = ClassDoor(Classrooms())
    first = door.open(LOOPBACK)
    assert door.open(LOOPBACK) == first
    until(lambda: answered(door, "/ABCDEF")[0] == 404)
    door.close()
    assert not door.url
    second = door.open(LOOPBACK)
    until(lambda: answered(door, "/ABCDEF")[0] == 404)
    assert second.startswith(f"http://{LOOPBACK}:")
    door.close()


def test_no_address_that_leads_a_computer_to_itself_is_proposed(monkeypatch):
    monkeypatch.delenv(class_door.ADDRESSES_NAME, raising=False)
    assert not {"127.0.0.1", "0.0.0.0"} & set(addresses())
    monkeypatch.setenv(class_door.ADDRESSES_NAME, "10.1.2.3")
    assert addresses() == ("10.1.2.3",)
    monkeypatch.setenv(class_door.ADDRESSES_NAME, "off")
    assert addresses() == ()
