"""A change that is being taken in while the next one comes."""

import asyncio

from tests.load.visitor import Visitor, request
from tests.server import running
from tests.waiting import finished, soon

PAGE = """
from pathlib import Path

import streamlit as st

from pages.shared.server import callbacks
from tests.waiting import until

callbacks.finish()


def take(key, begun, may_end):
    begun.touch()
    until(may_end.exists)
    st.session_state[f"taken_{{key}}"] = st.session_state[key]


for key in ("first", "second"):
    begun, may_end = (Path({folder!r}) / f"{{key}}_{{name}}" for name in ("begun", "may_end"))
    st.text_input(key, key=key, on_change=take, args=(key, begun, may_end))
    st.markdown(f"{{key}}: {{st.session_state.get(f'taken_{{key}}')}}.")
"""


def test_a_change_is_taken_in_whole_where_the_next_one_comes_meanwhile(tmp_path):
    async def changes(url):
        async with Visitor(url) as visitor:
            await visitor.run()
            assert "first: None." in visitor.words and "second: None." in visitor.words
            (tmp_path / "second_may_end").touch()
            await visitor.ask(first="1")
            await soon((tmp_path / "first_begun").exists)
            await visitor.ask(second="2")
            await asyncio.to_thread(request, url, "GET", "/_stcore/health")  # after it was heard
            (tmp_path / "first_may_end").touch()
            await visitor.finished()
            assert "first: 1." in visitor.words and "second: 2." in visitor.words

    page = tmp_path / "page.py"
    page.write_text(PAGE.format(folder=str(tmp_path)))
    with running(tmp_path / "log", script=str(page)) as server:
        finished(changes(server.url))
