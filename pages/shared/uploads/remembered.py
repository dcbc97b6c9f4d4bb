"""Public facts that were stated, through a reload of the page: the visitor's own browser has them.

The file itself, what its columns are called and what its groups are is not kept, there or anywhere.
"""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from engine.core import entrance
from engine.core.errors import InputError
from engine.uploads.design import StatedLaw
from pages.shared import components
from pages.shared.uploads import draft

_WORDS = ("value_name", "value_unit", "time_name", "time_unit", "person", "people", "origin",
          "value_low", "value_high", "time_low", "time_high", "observations", "gap", "window",
          "times", "heights", "reading_sd", "event_edges")
_SWITCHES = ("periodic", "symmetric")
_LAW = "law"
_LONGEST = 20_000  # characters of all of them


def restore() -> None:
    """Put what the browser kept into fields of the form that were not drawn yet, once a visit.

    It is checked as if it had just been typed: by the fields, and by what reads them.
    """
    text = components.kept()
    if not text or st.session_state.get("stated_restored"):
        return
    st.session_state.stated_restored = True
    try:
        stated = entrance.json_of(text, "what was stated")
    except InputError:
        return
    if isinstance(stated, dict):
        draft.answer({f"upload_{name}": value for name, value in stated.items()
                      if _is_answer(name, value)})


def _is_answer(name: str, value: Any) -> bool:
    if name in _SWITCHES:
        return isinstance(value, bool)
    if name == _LAW:
        return value in [str(law) for law in StatedLaw]
    return name in _WORDS and isinstance(value, str)


def keep() -> None:
    """Have the browser keep what is stated now."""
    said = {name: draft.answered(f"upload_{name}") for name in (*_WORDS, *_SWITCHES, _LAW)}
    stated = {name: value for name, value in said.items()
              if _is_answer(name, value) and value not in ("", False, str(StatedLaw.UNKNOWN))}
    components.keep(stated if len(json.dumps(stated)) <= _LONGEST else {})
