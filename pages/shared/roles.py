"""Three ways in for three readers: links from the home page to a view that is filled in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from engine.topics.planning.answer import usual_target
from pages.shared.shell import PAGES
from pages.shared.state import address, session
from pages.shared.state.settings import Settings

_FOLDER = Path(__file__).parent.parent


@dataclass(frozen=True)
class Role:
    """A link with its words; `fill` gives the address of its view from the present settings."""

    label: str
    script: str
    icon: str
    help: str
    fill: Callable[[Settings], str]


def _with_target(now: Settings) -> str:
    target = usual_target(session.source().facts)
    return address.encode(replace(now, unknown="epsilon", target=target, folds=()))


def _with_sizes(now: Settings) -> str:
    return address.encode(replace(now, along="n", example="", folds=()))


ROLES = (
    Role("Set a budget", "plan.py", ":material/tune:",
         "Find the ε for an accuracy you need.", _with_target),
    Role("Teach it", "teach.py", ":material/school:", "A five-minute lesson.",
         lambda now: "lesson-2"),
    Role("Check the statistics", "rates.py", ":material/query_stats:",
         "Rates over measured errors, at your sizes.", _with_sizes),
)


def chips() -> None:
    """The links whose pages are there."""
    known = {script for _, script, _ in PAGES}
    with st.container(horizontal=True, gap=None):
        for role in ROLES:
            if role.script in known:
                token = role.fill(session.current())
                st.page_link(st.Page(_FOLDER / role.script), label=role.label, icon=role.icon,
                             help=role.help, width="content",
                             query_params={"s": token} if token else None)
