"""Scenarios that a visitor keeps to compare them: settings under a letter, never data.

They stay in the session, and the link of Lab's *Compare* carries them: as words
`A-page~settings` whose inner `~` are written `*2` (and `*` itself `*1`), so that they pass for one
word of the address.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.shared import places

NAMES = "ABCD"
# Pages with a scenario in their strip, by script, with their titles.
PAGES = {"explore": "Explore", "decide": "Decide", "lab": "Lab"}
_HOME = ("", "home")  # names of the first page in addresses
_LONGEST = 800  # characters of the settings of one pin, so that a link with all of them works


@dataclass(frozen=True)
class Pin:
    """A page with its settings, as the address writes them."""

    name: str
    page: str
    token: str


# -- the address ----------------------------------------------------------------------------


def join(token: str, scenarios: Sequence[Pin]) -> str:
    """Return the token of *Compare* with the pins."""
    words = [f"{pin.name}-{_written(f'{pin.page}~{pin.token}')}" for pin in scenarios]
    if token:
        words.insert(0, token)
    return "~".join(words)


def split(token: str) -> tuple[str, tuple[Pin, ...], list[str]]:
    """Split a token into itself without pins, the pins, and the names of invalid ones."""
    others, scenarios, problems = [], {}, []
    for word in token.split("~"):
        name, dash, text = word.partition("-")
        if not dash or name not in tuple(NAMES):
            others.append(word)
            continue
        earlier, _, settings = _read(text[: 2 * _LONGEST]).partition("~")
        page, settings = places.present(earlier, settings)
        if page in PAGES and len(settings) <= _LONGEST:
            scenarios[name] = Pin(name, page, settings)
        else:
            problems.append(f"pin {name}")
    return "~".join(others), tuple(scenarios[name] for name in sorted(scenarios)), problems


def _written(text: str) -> str:
    return text.replace("*", "*1").replace("~", "*2")


def _read(text: str) -> str:
    return "*".join(part.replace("*2", "~") for part in text.split("*1"))


# -- the session ----------------------------------------------------------------------------


def pinned() -> tuple[Pin, ...]:
    return st.session_state.get("pins", ())


def take_over(scenarios: tuple[Pin, ...]) -> None:
    st.session_state.pins = scenarios


def page() -> str:
    """Return the page on screen, by its script."""
    name = st.session_state.get("page", "")
    return "explore" if name in _HOME else name


def name_of(page: str, token: str) -> str:
    """Return the letter of a pinned scenario; empty for any other."""
    return next((pin.name for pin in pinned() if (pin.page, pin.token) == (page, token)), "")


def reason_against(token: str) -> str:
    """Explain why a scenario cannot be pinned; empty if it can."""
    if len(pinned()) == len(NAMES):
        return f"{len(NAMES)} scenarios are pinned already. Unpin one in Lab, under Compare."
    if len(token) > _LONGEST:
        return "Too many settings differ from their defaults for several to fit into a link."
    return ""


def keep(page: str, token: str) -> str:
    """Pin a scenario under the first free letter, which is returned."""
    name = next(name for name in NAMES if name not in {pin.name for pin in pinned()})
    take_over(tuple(sorted([*pinned(), Pin(name, page, token)], key=lambda pin: pin.name)))
    return name


def drop(name: str) -> None:
    take_over(tuple(pin for pin in pinned() if pin.name != name))
    st.session_state.changed = True  # the address follows; see `session.load`
