"""The memo beside the study: as it will be printed, and as a file."""

from __future__ import annotations

import datetime
from dataclasses import replace
from urllib.parse import urlsplit

import streamlit as st

from engine.exports.memo import study_memo
from pages.parts.decide.view import Study
from pages.shared import components as pieces
from pages.shared.state import links, session

_LONGEST_NAME = 80  # characters
_LOOPBACK = ("localhost", "127.0.0.1", "::1")  # means nothing to whoever reads a memo elsewhere


def show(view: Study) -> None:
    """The live preview; the author's name is in no link."""
    if view.answer is None:
        return
    st.subheader("Memo", anchor=False)
    sheet = st.container()
    author = st.text_input("Author", key="memo_author", max_chars=_LONGEST_NAME,
                           placeholder="Author of the memo", label_visibility="collapsed")
    html = study_memo(view.answer, author=author.strip(), link=_link(view),
                      date=datetime.date.today().strftime("%-d %B %Y"), rule=view.now.rule)
    with sheet:
        pieces.memo(html, "memo_sheet")
    st.download_button("Save as a file", html.encode(), "privacy-curves-memo.html", "text/html",
                       on_click="ignore", icon=":material/download:", key="study_memo",
                       type="tertiary")


def _link(view: Study) -> str:
    """The address of the same study; empty for one's own file, which no link holds."""
    is_linked = not session.uploaded(session.data_task(view.decided.key))
    if not is_linked or not st.context.url:
        return ""
    token = links.encode(replace(view.now, folds=()))
    page = urlsplit(st.context.url)
    host = "" if page.hostname in _LOOPBACK else f"{page.scheme}://{page.netloc}"
    return f"{host}{page.path}" + f"?s={token}" * bool(token)
