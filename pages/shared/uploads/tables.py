"""From a person's own file to a table, and from its columns to observations, once for each choice.

Files are read in workers, within bounds of time and memory; nothing of the bytes stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import streamlit as st

from engine.core.errors import InputError
from engine.core.identity import digest
from engine.language.grammar import escape
from engine.running.bounded import Bounds, Ended
from engine.uploads.bounded import BOUNDS, OF_COLUMNS, too_much
from engine.uploads.events import EventColumns
from engine.uploads.examples import Example
from engine.uploads.layout import Layout
from engine.uploads.limits import MAX_BYTES
from engine.uploads.own_file import OwnFile
from engine.uploads.tables import Table, read_table
from engine.uploads.text import ENCODINGS
from pages.shared.server.computing import computed
from pages.shared.uploads import draft

Built = TypeVar("Built")
_EXAMPLE = "example.csv"


def uploaded(label: str, example: Example) -> Table | None:
    """The uploader and the table in its file; without a file an example to use or to download.

    Parameters
    ----------
    label : str
        What may be uploaded.
    example : Example
        Of such a file.

    Raises
    ------
    InputError
        Whatever `read_table` refuses, and what takes longer or needs more.
    """
    # Any name will do: the content decides, and a name that the widget refused would end the page.
    file = st.file_uploader(label, key="upload_file", on_change=_changed,
                            max_upload_size=MAX_BYTES // 1_000_000)
    if file is None and (name := _name_of_earlier()):  # the uploader forgot it, the form did not
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/description: {escape(name)}", width="content")
            st.button("Remove the file", icon=":material/delete:", type="tertiary",
                      key="remove_file", on_click=draft.forget_file)
    file = file or st.session_state.get("upload_held")
    if file is None and "upload_read" in st.session_state:  # its bytes went, its table stays
        table: Table = st.session_state.upload_read[1]
        return table
    if file is None:
        with st.container(horizontal=True):
            st.button("Use an example", key="use_example", type="tertiary",
                      icon=":material/science:", on_click=_use_example, args=(example,),
                      help="Invented people, to try it.")
            st.download_button("Download the example", example.make(), _EXAMPLE, "text/csv",
                               on_click="ignore", type="tertiary", icon=":material/download:")
        return None
    _hold(file)
    encoding = st.session_state.get(key_of("upload_encoding"), ENCODINGS[0])
    is_asked = encoding != ENCODINGS[0]  # a choice lasts only while it is on screen
    choices = file.file_id, encoding, st.session_state.get(key_of("upload_sheet"))
    try:
        table = _once("upload_read", choices, "Reading the file …", BOUNDS, read_table,
                      lambda: (file.getvalue(), *choices[1:]))
    except InputError as problem:
        is_asked |= problem.field == "encoding"
        raise
    finally:
        if is_asked:
            st.selectbox("Encoding of the file", ENCODINGS, key=key_of("upload_encoding"))
    if len(table.sheets) > 1:
        st.selectbox("Sheet", table.sheets, key=key_of("upload_sheet"))
    return table


@dataclass(frozen=True)
class _ExampleFile:
    """An example in place of a file of one's own."""

    content: str
    name: str = _EXAMPLE
    file_id: str = "example"

    def getvalue(self) -> bytes:
        return self.content.encode()


def _use_example(example: Example) -> None:
    """Hold the example in place of a file, and answer what is asked of it."""
    content = example.make()
    _hold(_ExampleFile(content, file_id=digest(content)))
    draft.use_example({name if name.startswith("rows_") else f"upload_{name}": fact
                       for name, fact in example.stated.items()},
                      {key_of(name): choice for name, choice in example.choices.items()})


def _hold(file: Any) -> None:
    """Keep a file, which the widget forgets when another step is on screen; count the new ones."""
    st.session_state.upload_held = file
    if st.session_state.get("upload_file_last") != file.file_id:
        st.session_state.upload_file_last = file.file_id
        st.session_state.upload_files = st.session_state.get("upload_files", -1) + 1


def _name_of_earlier() -> str:
    """The name of a file that is not in the uploader any more and still counts; "" of none."""
    known: OwnFile | None = st.session_state.get("file_read")
    held = st.session_state.get("upload_held")
    if held is not None:
        return str(held.name)
    return "" if "upload_read" not in st.session_state else known.name if known else "The file"


def read(reader: Callable[..., Built], table: Table, layout: Layout | EventColumns,
         several: str | None) -> Built:
    """What a reader makes of the table in the panel.

    In a worker and within the bounds of observation: it takes seconds for the largest files, during
    which this process could not answer others. How the file was read is kept for code that reads it
    again.

    Parameters
    ----------
    reader : callable
        `read_curves`, `read_rows` or `read_events`.
    table, layout
        What it gets.
    several : str or None
        What it does with several rows of one person, where it can do anything.

    Raises
    ------
    InputError
        Whatever the reader refuses, and what takes longer or needs more.
    """
    choices = () if several is None else (several,)
    of_file = st.session_state.upload_read[0]
    observations = _once("upload_built", (of_file, reader.__name__, layout, *choices),
                         "Reading the columns …", OF_COLUMNS, reader,
                         lambda: (table, layout, *choices))
    file, before = (st.session_state.get(name) for name in ("upload_held", "file_read"))
    name = before.name if file is None and before is not None else getattr(file, "name", None)
    st.session_state.file_read = None if name is None else OwnFile(
        name, of_file[1], of_file[2], layout, several or "keep")
    return observations


def once_of_file(name: str, finding: Callable[[Table, Layout], Built], table: Table, layout: Layout
                 ) -> Built:
    """What is found in the columns of the file in the panel, once for each layout.

    Raises
    ------
    InputError
        Whatever it refuses, and what takes longer or needs more.
    """
    of_file = st.session_state.upload_read[0]
    return _once(name, (of_file, finding.__name__, layout), "Reading the times …", OF_COLUMNS,
                 finding, lambda: (table, layout))


def _once(name: str, choices: tuple[Any, ...], waiting: str, bounds: Bounds,
          reader: Callable[..., Built], arguments: Callable[[], tuple[Any, ...]]) -> Built:
    """What a reader returns, once for each choice, in a worker that is ended beyond the bounds."""
    if st.session_state.get(name, ("",))[0] != choices:
        with st.spinner(waiting):
            try:
                result = computed(f"file {digest(choices)}", reader, *arguments(), bounds=bounds)
            except Ended:
                raise too_much(bounds) from None
        st.session_state[name] = choices, result
    built: Built = st.session_state[name][1]
    return built


def _changed() -> None:
    """A file that is taken away takes along what was said of it; so does an example."""
    draft.forget_example()
    if st.session_state.get("upload_file") is None:
        draft.forget_file()


def key_of(name: str) -> str:
    """The key of a choice that is about one file: the next file begins without it."""
    number = st.session_state.get("upload_files", 0)
    return f"{name}_{number}" if number else name
