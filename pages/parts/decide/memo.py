"""The memo beside the study: as it will be printed, and as a file."""

from __future__ import annotations

import datetime
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import streamlit as st

from engine.core.enumerations import NoisePlace
from engine.core.types import DataKind
from engine.exports.memo import study_memo
from engine.exports.one_decision import of_decision
from pages.parts.decide.view import DecideView
from pages.shared import components
from pages.shared.cards import share
from pages.shared.state import links, session, settings
from pages.shared.state.lab_tasks import LAB_TASKS

_LAB = Path(__file__).parents[2] / "lab.py"
SHEET = 900  # pixels, about
_TWIN = (
    "It is simulated from the facts that were stated and the number of people. It holds no value "
    "of a file."
)
_LONGEST_NAME = 80  # characters
_LOOPBACK = ("localhost", "127.0.0.1", "::1")  # unreachable for readers of a memo elsewhere


def show(view: DecideView) -> None:
    """Show the live preview; no link holds the author's name."""
    if view.answer is None:
        return
    st.header("Memo", anchor=False)
    if view.problem is not None:
        st.warning(
            "The table has a cell that cannot be used. This memo is about the table as it "
            "was before.",
            icon=":material/warning:",
        )
    sheet = st.container()
    author = st.text_input(
        "Author",
        key="memo_author",
        max_chars=_LONGEST_NAME,
        placeholder="Kept until the page is reloaded",
        persist_state="session",
    )
    html = study_memo(
        view.answer,
        prices=view.prices(),
        author=author.strip(),
        link=_link(view),
        date=datetime.date.today().strftime("%-d %B %Y"),
        rule=view.settings.epsilon_limit,
    )
    with sheet:
        components.memo(html, "memo_sheet")
    st.download_button(
        "Save as a file",
        html.encode(),
        "privacy-curves-memo.html",
        "text/html",
        on_click="ignore",
        icon=":material/download:",
        key="study_memo",
        type="tertiary",
    )
    share.button(
        "decide",
        partial(of_decision, view.question(), view.answer),
        "privacy-curves-decision",
        _TWIN if view.facts.kind is DataKind.TWIN else "",
    )
    _to_lab(view)


def _to_lab(view: DecideView) -> None:
    """Lead to the same study in Lab at the recommended budget.

    The link appears only if Lab has the same numbers: not for a twin, nor if another party than the
    sites adds the noise; one site is its own centre.
    """
    is_by_sites = view.place is NoisePlace.SITES or (
        view.place is NoisePlace.CENTRE and view.has_one_site
    )
    is_same = view.source is view.on_screen and is_by_sites
    in_lab = LAB_TASKS.get(view.decided.key)
    if (
        view.recommended is None
        or not is_same
        or in_lab is None
        or replace(view.settings, estimand=in_lab.estimand).estimated != view.decided.key
    ):
        return
    epsilon = view.recommended.budget.epsilon
    if st.button(
        f"See it in Lab at ε = {epsilon:g}",
        icon=":material/science:",
        key="memo_lab",
        type="tertiary",
    ):
        session.bring_epsilon(epsilon)
        session.change(estimand=in_lab.estimand, lab_tab=settings.TABS[0])
        st.switch_page(_LAB)


def _link(view: DecideView) -> str:
    """Return the address of the same study; without the server's name if only this machine has it.

    No link holds an own file: then it is empty.
    """
    if session.uploaded(session.data_task(view.decided.key)):
        return ""
    token = links.encode(replace(view.settings, open_folds=()))
    study = f"?{urlencode({'s': token}, safe='~')}" if token else ""
    page = urlsplit(st.context.url or "")
    if not page.netloc or page.hostname in _LOOPBACK:
        return f"/decide{study}"
    return f"{page.scheme}://{page.netloc}{page.path}{study}"
