"""Places for visitors: as many as there are, given back by those who leave."""

import asyncio
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from pages.shared.server import visitors
from pages.shared.server.visitors import OneFileEach, Visitors
from pages.shared.uploads import draft
from tests.waiting import PATIENCE, finished


@pytest.fixture
def here():
    """Who is connected at the moment."""
    return set()


@pytest.fixture
def two(here):
    return Visitors(2, here.__contains__)


def arrive(here, visitors, *sessions):
    here.update(sessions)
    return [visitors.let_in(session) for session in sessions]


def test_as_many_are_let_in_as_there_are_places_and_they_keep_theirs(here, two):
    assert arrive(here, two, "a", "b", "c") == [True, True, False]
    assert [two.let_in(session) for session in "abc"] == [True, True, False]
    assert [two.are_in(session) for session in "abc"] == [True, True, False]


def test_a_place_is_free_as_soon_as_its_visitor_has_left(here, two):
    arrive(here, two, "a", "b", "c")
    here.remove("a")
    assert two.let_in("c") and not two.are_in("a")


def test_who_comes_back_finds_a_place_only_if_one_is_left(here, two):
    arrive(here, two, "a", "b")
    here.remove("a")
    assert arrive(here, two, "a") == [True]
    here.remove("a")
    assert arrive(here, two, "c") == [True]
    assert arrive(here, two, "a") == [False]


def test_those_who_are_gone_for_long_enough_are_named_once(here, two):
    arrive(here, two, "a", "b")
    here.remove("a")
    assert two.gone(now=0, seconds=60) == []
    assert two.gone(now=59, seconds=60) == []
    assert two.gone(now=60, seconds=60) == ["a"]
    assert two.gone(now=200, seconds=60) == []
    assert two.are_in("b")


def test_a_short_interruption_does_not_count(here, two):
    arrive(here, two, "a")
    here.remove("a")
    assert two.gone(now=0, seconds=60) == []
    here.add("a")
    assert two.gone(now=50, seconds=60) == []
    here.remove("a")
    assert two.gone(now=70, seconds=60) == []
    assert two.gone(now=140, seconds=60) == ["a"]


@pytest.mark.parametrize(("said", "places"), [(None, 40), ("7", 7)])
def test_the_number_of_places_comes_from_the_environment(monkeypatch, said, places):
    monkeypatch.delenv(visitors.LIMIT_NAME, raising=False)
    if said:
        monkeypatch.setenv(visitors.LIMIT_NAME, said)
    assert visitors.limit() == places


@pytest.mark.parametrize("said", ["0", "-1", "many", "1e3", ""])
def test_a_number_of_places_that_makes_no_sense_stops_the_start(monkeypatch, said):
    monkeypatch.setenv(visitors.LIMIT_NAME, said)
    with pytest.raises(ValueError, match="whole number above 0"):
        visitors.limit()


def test_memory_is_given_back_now_and_then_because_no_run_of_a_page_does():
    config = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text())
    assert config["runner"]["postScriptGC"] is False
    given_back = []

    async def a_while():
        async with visitors.housekeeping(None):  # a server starts and ends with it
            house = asyncio.create_task(visitors.keep_house(0, lambda: given_back.append(True)))
            while len(given_back) < 2:
                await asyncio.sleep(0)
            house.cancel()

    finished(asyncio.wait_for(a_while(), PATIENCE))
    assert len(given_back) >= 2


@pytest.mark.parametrize(
    ("method", "path", "reached"),
    [
        ("PUT", "/_stcore/upload_file/nobody/file", False),
        ("GET", "/", True),
        ("DELETE", "/_stcore/upload_file/nobody/file", True),
    ],
)
@pytest.mark.parametrize("base", ["", "/dash"])
def test_only_uploads_need_a_page_that_is_open(options, base, method, path, reached):
    options["server.baseUrlPath"] = base
    asked, sent = [], []

    async def server(scope, receive, send):
        asked.append(scope["path"])

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": method, "path": base + path}
    finished(OneFileEach(server)(scope, None, send))
    assert bool(asked) is reached
    assert [m["status"] for m in sent if "status" in m] == [] if reached else [403]


@pytest.mark.parametrize(
    ("host", "listens_at", "taken"),
    [
        ("127.0.0.1:8501", "127.0.0.1", True),
        ("localhost:8501", "localhost", True),
        ("[::1]:8501", "::1", True),
        (None, "127.0.0.1", True),
        ("curves.example", "127.0.0.1", False),
        ("127.0.0.1:8501", "0.0.0.0", False),
        ("127.0.0.1:8501", None, False),
        (None, None, False),
    ],
)
def test_files_are_taken_on_ones_own_machine_and_not_where_others_may_come(
    monkeypatch, host, listens_at, taken
):
    monkeypatch.delenv(visitors.UPLOADS_NAME, raising=False)
    assert visitors.takes_files(host, listens_at) is taken


@pytest.mark.parametrize(("said", "taken"), [("on", True), ("off", False)])
def test_whoever_runs_the_server_decides_about_files(monkeypatch, said, taken):
    monkeypatch.setenv(visitors.UPLOADS_NAME, said)
    assert visitors.takes_files("curves.example", None) is taken
    assert visitors.takes_files("localhost", "127.0.0.1") is taken


def test_a_word_about_files_that_makes_no_sense_stops_the_start(monkeypatch):
    monkeypatch.setenv(visitors.UPLOADS_NAME, "yes")
    with pytest.raises(ValueError, match="on or off"):
        visitors.takes_files(None, "127.0.0.1")


@pytest.mark.parametrize(("said", "status"), [("on", []), ("off", [403])])
def test_a_file_for_a_demonstration_is_refused_before_it_is_read(monkeypatch, said, status):
    monkeypatch.setenv(visitors.UPLOADS_NAME, said)
    admitted, sent = Visitors(1, lambda session: True), []
    admitted.let_in("a")

    async def server(scope, receive, send):
        assert said == "on"

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "PUT", "path": "/_stcore/upload_file/a/file"}
    finished(OneFileEach(server, admitted)(scope, None, send))
    assert [m["status"] for m in sent if "status" in m] == status


def test_a_file_that_is_taken_away_leaves_the_one_that_came_after_it(monkeypatch):
    files = MemoryUploadedFileManager("/files")
    for name in ("first", "second"):
        files.add_file("a", UploadedFileRec(name, "growth.csv", "text/csv", b"1"))
    monkeypatch.setattr(visitors, "get_script_run_ctx", lambda: SimpleNamespace(session_id="a"))
    monkeypatch.setattr(
        visitors,
        "Runtime",
        SimpleNamespace(
            exists=lambda: True, instance=lambda: SimpleNamespace(uploaded_file_mgr=files)
        ),
    )
    draft.st.session_state["upload_held"] = SimpleNamespace(file_id="first")
    draft.forget_file()
    assert "upload_held" not in draft.st.session_state
    assert [file.file_id for file in files.get_files("a", ["first", "second"])] == ["second"]
