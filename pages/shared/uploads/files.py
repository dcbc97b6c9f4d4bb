"""A visitor's own file in the session, and its reading by workers, once for each choice.

Workers end beyond bounds of time and memory, and keep none of the bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from engine.core.identity import digest
from engine.language.grammar import escape
from engine.running.bounded import Ended
from engine.uploads.bounded import BOUNDS, OF_COLUMNS, too_much
from engine.uploads.examples import Example
from engine.uploads.limits import MAX_BYTES
from engine.uploads.looking import sheets_of
from engine.uploads.text import ENCODINGS
from pages.shared.server.computing import computed
from pages.shared.uploads import draft

Made = TypeVar("Made")
_EXAMPLE = "example.csv"
_LARGER = (
    f"CSV, Excel, Parquet or Arrow, also compressed, up to {MAX_BYTES // 1_000_000} MB. For a larger "
    "table bring some of its rows, with all columns, and save the settings that the last step of "
    "*Publish* offers; nothing is charged. Then name the table, or a folder, as “file” in them, and "
    "type on this machine: `python -m engine release settings.json`. It reads any size in little "
    "memory."
)
_BEFORE = (
    "upload_proposed",
    "upload_header",
    "upload_sheets",
    "upload_kind",
)  # session keys of the steps before a reading


def uploaded(label: str, example: Example) -> bool:
    """Draw the uploader; True while there is a file. Without one an example can be used.

    It accepts any file name: the content decides, and a name refused by the widget would end the
    page.
    """
    file = st.file_uploader(
        label,
        key="upload_file",
        on_change=_changed,
        max_upload_size=MAX_BYTES // 1_000_000,
        help=_LARGER,
    )
    if file is not None:
        _hold(file)
    elif name := name_of_file():  # the uploader forgot the file, the form did not
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/description: {escape(name)}", width="content")
            st.button(
                "Remove the file",
                icon=":material/delete:",
                type="tertiary",
                key="remove_file",
                on_click=draft.forget_file,
            )
    else:
        with st.container(horizontal=True):
            st.button(
                "Use an example",
                key="use_example",
                type="tertiary",
                icon=":material/science:",
                on_click=_use_example,
                args=(example,),
                help="Invented people, to try it.",
            )
            st.download_button(
                "Download the example",
                example.make,
                _EXAMPLE,
                "text/csv",
                on_click="ignore",
                type="tertiary",
                icon=":material/download:",
            )
    return has_file()


def has_file() -> bool:
    """True while there is a file."""
    return "upload_held" in st.session_state


def is_new() -> bool:
    """True until a question was asked about the file."""
    return bool(
        st.session_state.get("file_asked_about") != st.session_state.get("upload_file_last")
    )


def ask_about() -> None:
    """Remember that questions about the file have begun."""
    st.session_state.file_asked_about = st.session_state.get("upload_file_last")


def content() -> bytes:
    """Return the bytes of the file, kept for the visit: it may be read in another way."""
    return bytes(st.session_state.upload_held.getvalue())


def name_of_file() -> str:
    """Return the name of the file; "" without one."""
    return str(st.session_state.get("upload_name", "")) if has_file() else ""


@dataclass(frozen=True)
class _ExampleFile:
    """An example in place of an own file."""

    content: str
    name: str = _EXAMPLE
    file_id: str = "example"

    def getvalue(self) -> bytes:
        return self.content.encode()


def _use_example(example: Example) -> None:
    """Hold the example in place of a file, and answer what is asked of it."""
    made = example.make()
    st.session_state.pop("file_asked_about", None)
    _hold(_ExampleFile(made, file_id=digest(made)))
    draft.use_example(
        {
            name if name.startswith("rows_") else f"upload_{name}": fact
            for name, fact in example.stated.items()
        },
        {key_of(name): choice for name, choice in example.choices.items()},
    )


def _hold(file: Any) -> None:
    """Keep a file, which the widget forgets when another step is on screen; count the new ones."""
    state = st.session_state
    if state.get("upload_file_last") != file.file_id:
        draft.forget_reading()
        state.upload_file_last, state.upload_name = file.file_id, file.name
        state.upload_files = state.get("upload_files", -1) + 1
    state.upload_held = file


def _changed() -> None:
    """Drop the answers about a file or an example that is taken away."""
    draft.forget_example()
    if st.session_state.get("upload_file") is None:
        draft.forget_file()


def made(name: str, maker: Callable[..., Made], *choices: Any, **options: Any) -> Made:
    """Apply an engine function to the bytes of the file, once for each choice."""
    asked = digest((st.session_state.upload_file_last, maker.__name__, choices, options))
    if st.session_state.get(name, ("",))[0] != asked:
        bounds = BOUNDS if name in _BEFORE else OF_COLUMNS
        with st.spinner("Reading the file …"):
            try:
                result: Made = computed(
                    f"file {asked}", partial(maker, **options), content(), *choices, bounds=bounds
                )
            except Ended:
                raise too_much(bounds) from None
        st.session_state[name] = asked, result
    return st.session_state[name][1]


def frame() -> dict[str, str]:
    """Return the encoding and sheet, if chosen."""
    chosen = {name: draft.answered(key_of(f"upload_{name}")) for name in ("encoding", "sheet")}
    return {name: str(choice) for name, choice in chosen.items() if choice}


def frame_choices(encoding: str, sheet: str = "") -> None:
    """Choose the encoding of an unusual text, and the sheet of a workbook with several."""
    if encoding not in ("", ENCODINGS[0]) or "encoding" in frame():
        st.selectbox(
            "Encoding of the file",
            ENCODINGS,
            key=key_of("upload_encoding"),
            index=ENCODINGS.index(encoding) if encoding in ENCODINGS else 0,
        )
    sheets = made("upload_sheets", sheets_of) if sheet else ()
    if len(sheets) > 1:
        st.selectbox("Sheet", sheets, key=key_of("upload_sheet"), index=sheets.index(sheet))


def key_of(name: str) -> str:
    """Return the key of a choice about one file; the next file begins without it."""
    number = st.session_state.get("upload_files", 0)
    return f"{name}_{number}" if number else name
