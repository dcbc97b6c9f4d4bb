"""Callbacks that come to their end, one change after another.

The framework begins a run for every change at once, and stops the run before wherever that uses
`st.session_state`: within the callback of the change before as well. Two numbers typed one right
after the other on a slow machine would leave the first half taken in. Its value is known by then,
so that its callback is never called again. Here a callback is not stopped, and the next change of
the same visitor is taken in after it.
"""

from __future__ import annotations

from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from streamlit.runtime import app_session
from streamlit.runtime.fragment import FragmentStorage
from streamlit.runtime.scriptrunner import ScriptRunner, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import RunLocation, ThreadState
from streamlit.runtime.state import SafeSessionState

_TURNS: WeakKeyDictionary[FragmentStorage, Lock] = WeakKeyDictionary()  # by a part of each session


class _InTurn(SafeSessionState):
    """The state of a session, which takes in one change at a time."""

    def on_script_will_rerun(self, *states: Any, **more: Any) -> None:
        with object.__getattribute__(self, "_turn"):
            super().on_script_will_rerun(*states, **more)


class _CallbacksWhole(ScriptRunner):
    """Runs a page, and stops for a newer change before or after callbacks."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        state = _InTurn(parts["session_state"], self._maybe_handle_execution_control_request)
        object.__setattr__(state, "_turn", _TURNS.setdefault(parts["fragment_storage"], Lock()))
        self._session_state = state

    def _maybe_handle_execution_control_request(self) -> None:
        context = get_script_run_ctx(suppress_warning=True)
        if context is None or ThreadState.get().run_location is not RunLocation.CALLBACK:
            super()._maybe_handle_execution_control_request()


def finish() -> None:
    """Let the callbacks of all visitors come to their end."""
    app_session.ScriptRunner = _CallbacksWhole  # type: ignore[assignment,misc]
