"""Where to go on from the figure, and its details."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import streamlit as st

from engine.topics.mean import shape
from engine.topics.planning.answer import usual_target
from pages.shared.frame import drawer
from pages.shared.frame.drawer import Detail
from pages.shared.server import visitors
from pages.shared.state import links, session, settings
from pages.shared.uploads import panel

_PAGES = Path(__file__).parents[2]


def show(details: Sequence[Detail]) -> None:
    """Decide, learn, or use one's own data; and the drawer."""
    now = session.current()
    target = usual_target(session.source().facts)
    to_plan = links.encode(replace(now, decided=settings.TASK, unknown="epsilon",
                                     target=target, folds=()))
    with st.container(horizontal=True, vertical_alignment="center", key="doors"):
        _link("decide.py", "Decide on a budget", ":material/tune:", to_plan)
        _link("learn.py", "First lesson in 4 minutes", ":material/school:", "lesson-1")
        st.button("Use my data", key="door_data", icon=":material/upload_file:", type="tertiary",
                  on_click=panel.open_dialog, disabled=not visitors.may_bring_files(),
                  help="A file stays in memory while you visit; nothing is published.")
        st.space("stretch")
        if any(detail.key == "shape" for detail in details):
            st.button("Ask the curve", key="ask_curve", icon=":material/live_help:",
                      type="tertiary", on_click=_ask, args=(details,))
        drawer.button(details, "Details", "details", ":material/right_panel_open:")


def _ask(details: Sequence[Detail]) -> None:
    """Open the drawer at a question: the last one that was asked, or the first."""
    if not session.current().shape:
        session.change(shape=next(iter(shape.KINDS)))
    drawer.open_at(details, "shape")


def _link(script: str, label: str, icon: str, token: str) -> None:
    st.page_link(st.Page(_PAGES / script), label=label, icon=icon, width="content",
                 query_params={"s": token} if token else None)
