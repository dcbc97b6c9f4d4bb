"""A person's own file: where it comes from, what its columns are, and what was read of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import streamlit as st

from engine.errors import InputError
from engine.exports.code_for import OwnFile
from engine.identity import digest
from engine.language.grammar import capital
from engine.running.bounded import Bounds, Ended
from engine.running.reading import BOUNDS, OF_COLUMNS, too_much
from engine.sources.regressors import MOST_COVARIATES
from engine.sources.table_limits import MOST_BYTES
from engine.sources.table_text import ENCODINGS
from engine.sources.table_words import counted, shortened
from engine.sources.tables import Table, read_table
from engine.sources.upload import EXAMPLE_CSV, EXAMPLE_READINGS_CSV
from engine.sources.upload_curves import CurveTable, read_curves
from engine.sources.upload_layout import (
    Layout,
    roles_by_name,
    site_like,
    suggest_layout,
)
from engine.sources.upload_rows import RowLayout
from pages.shared.frame.controls import plain
from pages.shared.server import visitors
from pages.shared.server.computing import computed

Built = TypeVar("Built")
_ROLES = (("id", "Who a row belongs to"), ("time", "Time"), ("value", "Value"))
_ONE_CENTRE, _EACH_SITE = "One trusted centre holds all of it", "Each site adds its own noise"
_SEVERAL = {"average": "average them: protect the person", "keep": "protect one row"}
_EVERY_ROW = "every row is another person"
_FILE = ("Curves as CSV, TSV or XLSX: one row per reading or one row per curve",
         "Readings as CSV, TSV or XLSX: one row per person")
_EXAMPLES = EXAMPLE_CSV, EXAMPLE_READINGS_CSV


def curves(single: bool) -> CurveTable | None:
    """The uploader, how the file was read, and which column plays which role."""
    table = uploaded_table(_FILE[single], _EXAMPLES[single])
    return None if table is None else _read(table, single)


def uploaded_table(label: str, example: str) -> Table | None:
    """The uploader and the table in its file; without a file an example to download."""
    st.subheader("1. The file", anchor=False)
    # Any name will do: the content decides, and a name that the widget refused would end the page.
    file = st.file_uploader(label, key="upload_file",
                            max_upload_size=MOST_BYTES // 1_000_000)
    if file is None:
        st.download_button("An example file", example, "example.csv", "text/csv",
                           on_click="ignore", type="tertiary", icon=":material/description:")
        return None
    return _parsed(file)


def _parsed(file: Any) -> Table:
    """Parse once per file and choice of encoding; the raw bytes are not kept."""
    _count(file)
    encoding = st.session_state.get(key_of("upload_encoding"), ENCODINGS[0])
    way = (file.file_id, encoding, st.session_state.get(key_of("upload_sheet")))
    is_asked = encoding != ENCODINGS[0]  # a choice lasts only while it is on screen
    try:
        if st.session_state.get("upload_read", ("",))[0] != way:
            with st.spinner("Reading the file …"):
                st.session_state.upload_read = (
                    way, _apart(way, BOUNDS, read_table, file.getvalue(), *way[1:]))
    except InputError as problem:
        is_asked |= problem.field == "encoding"
        raise
    finally:
        if is_asked:
            st.selectbox("Encoding of the file", ENCODINGS, key=key_of("upload_encoding"))
    table: Table = st.session_state.upload_read[1]
    if len(table.sheets) > 1:
        st.selectbox("Sheet", table.sheets, key=key_of("upload_sheet"))
    return table


def _apart(way: tuple[Any, ...], bounds: Bounds, reader: Callable[..., Built], *arguments: Any
           ) -> Built:
    """What a reader returns, in a worker that is ended if a file takes it beyond the bounds."""
    try:
        read: Built = computed(f"file {digest(way)}", reader, *arguments, bounds=bounds)
    except Ended:
        raise too_much(bounds) from None
    return read


def built(reader: Callable[..., Built], table: Table, *choices: Any) -> Built:
    """What a reader makes of the table in the panel, once for each choice of columns.

    In a worker and within the bounds of reading: it takes seconds for the largest files, during
    which this process could not answer others.

    Raises
    ------
    InputError
        Whatever the reader refuses, and what takes longer or needs more.
    """
    way = (st.session_state.upload_read[0], reader.__name__, *choices)
    if st.session_state.get("upload_built", ("",))[0] != way:
        with st.spinner("Reading the columns …"):
            st.session_state.upload_built = (way, _apart(way, OF_COLUMNS, reader, table, *choices))
    curves: Built = st.session_state.upload_built[1]
    return curves


def forget() -> None:
    """Keep nothing of the file in the panel: what is shown has the arrays, and needs no more."""
    for name in ("upload_read", "upload_built"):
        st.session_state.pop(name, None)
    visitors.drop_own_files()


def _count(file: Any) -> None:
    """Note when the file is another one than before."""
    last = st.session_state.get("upload_file_last")
    if last != file.file_id:
        st.session_state.upload_file_last = file.file_id
        st.session_state.upload_files = st.session_state.get("upload_files", -1) + 1


def key_of(name: str) -> str:
    """The key of a choice that is about one file: the next file begins without it."""
    number = st.session_state.get("upload_files", 0)
    return f"{name}_{number}" if number else name


def _read(table: Table, single: bool) -> CurveTable:
    """Which column plays which role, and the curves or readings they give."""
    layout = _single_layout(table) if single else _layout(table)
    several = st.selectbox("If one person has several rows", [*_SEVERAL],
                           format_func=_SEVERAL.__getitem__,
                           key=key_of("upload_several")) if layout.is_wide else "keep"
    found = built(read_curves, table, layout, several)
    keep_how(layout, several)
    st.markdown(_summary(found, single))
    if found.is_of_rows:
        st.warning("**One row is protected, not one person.** Average the rows of each person, or "
                   "state beside the odds how many rows one person has.",
                   icon=":material/warning:")
    return found


def keep_how(layout: Layout | RowLayout, several: str = "keep") -> None:
    """Remember how the file in the panel was read, for code that reads it again."""
    way = st.session_state.get("upload_read", ("",))[0]
    file = st.session_state.get("upload_file")
    st.session_state.file_read = None if file is None else OwnFile(
        file.name, way[1], way[2], layout, several)


def _layout(table: Table) -> Layout:
    """Suggested roles, which the person may change, and columns that may explain the curves."""
    try:
        suggested, unknown = suggest_layout(table), None
    except InputError as problem:  # the names do not say: the person may choose
        found = roles_by_name(table, {})
        suggested, unknown = Layout(found.get("id"), found.get("time"), found.get("value")), problem
    layout = _roles(table, suggested, _ROLES[:1] if suggested.is_wide else _ROLES)
    if unknown is not None and None in (layout.id, layout.time, layout.value):
        raise unknown
    layout = _with_sites(table, layout)
    return replace(layout, covariates=tuple(_explaining(table, layout)))


def _with_sites(table: Table, layout: Layout) -> Layout:
    free = [name for name in table.columns if name not in layout.columns]
    return replace(layout, server=site_column(free, site_like(table)))


def site_column(free: list[str], offered: str | None) -> str | None:
    """Who is trusted with the data: a column of sites, or None for one trusted centre.

    Parameters
    ----------
    free : list of str
        The columns that may name sites.
    offered : str or None
        The one that looks so. Then the question has no answer at first, and nothing is shown before
        it has one.

    Raises
    ------
    InputError
        While there is no answer.
    """
    if not free:
        return None
    offered = offered if offered in free else None
    trusted = st.radio("Who is trusted with the data?", [_ONE_CENTRE, _EACH_SITE],
                       index=None if offered else 0, key=key_of("upload_trust"), help="With one "
                       "trusted centre noise is added once. Sites that trust nobody with their "
                       "data each add noise of their own, which makes the result less accurate.")
    if offered:
        st.markdown(f":small[The column “{plain(shortened(offered))}” looks like one of sites. It "
                    "is used only if each site adds its own noise.]")
    if trusted is None:
        raise InputError("State who is trusted with the data.", field="trust",
                         hint="Nothing is shown before that.")
    if trusted == _ONE_CENTRE:
        return None
    column = st.selectbox("The column that names the sites", free, placeholder="Choose",
                          index=free.index(offered) if offered else None, format_func=shortened,
                          key=key_of("upload_sites"))
    if column is None:
        raise InputError("Choose the column that names the sites.", field="trust")
    return column


def _roles(table: Table, suggested: Layout, roles: Sequence[tuple[str, str]] = _ROLES
           ) -> Layout:
    """A column for each role; one row per curve needs none of them."""
    times = [name for name, _ in suggested.times]
    names: list[str | None] = [name for name in table.columns if name not in times]
    chosen: dict[str, str | None] = {}
    with st.container(horizontal=True):
        for role, label in roles if names else ():
            options = [None, *names] if times else names
            usual = getattr(suggested, role)
            chosen[role] = st.selectbox(
                label, options, index=options.index(usual) if usual in options else None,
                format_func=_no_person if role == "id" else shortened, placeholder="Choose",
                key=key_of(f"upload_role_{role}" + "_open" * (usual not in options)))
    return replace(suggested, id=chosen.get("id", suggested.id),
                   time=chosen.get("time", suggested.time),
                   value=chosen.get("value", suggested.value))


def _no_person(name: str | None) -> str:
    return _EVERY_ROW if name is None else shortened(name)


def _single_layout(table: Table) -> Layout:
    """Roles of the columns of single readings; who is one person is never guessed."""
    suggested = suggest_layout(table, single=True)
    person = who(table, suggested.id)
    layout = replace(_roles(table, suggested, _ROLES[1:]), id=said(person))
    return _with_sites(table, layout)


def who(table: Table, suggested: str | None) -> str | None:
    """Who a row belongs to, as chosen: a column, or every row is another person."""
    names = list(table.columns)
    return st.selectbox(
        _ROLES[0][1], [_EVERY_ROW, *names], placeholder="Choose",
        index=1 + names.index(suggested) if suggested else None,
        format_func=lambda name: name if name == _EVERY_ROW else f"column {shortened(name)}",
        key=key_of("upload_who"), help="The protection is that of one person. Where people may "
        "have several rows a column must tell them apart.")


def said(person: str | None) -> str | None:
    """The column of people, None where every row is another person; an error before a choice."""
    if person is None:
        raise InputError("Say who a row belongs to.", field="id", hint="A column that names the "
                         "people, or every row is another person: only you know.")
    return None if person == _EVERY_ROW else person


def _explaining(table: Table, layout: Layout) -> list[str]:
    """Any column without a role; the reader refuses one that changes along a curve."""
    free = [column for column in table.columns if column not in layout.columns]
    if not free:
        return []
    return st.multiselect(
        "Columns that may explain the curves (optional)", free, key=key_of("upload_covariates"),
        format_func=shortened, max_selections=MOST_COVARIATES, placeholder="None chosen",
        help="Numbers, or yes and no, that stay the same along a curve. The average does not use "
        "them.")


def _summary(curves: CurveTable, single: bool) -> str:
    """What was read, and how."""
    sites = counted(len(curves.server_names), "site") if curves.server_names else "one centre"
    if single:
        read = [f"{curves.n_curves:,} people with one observation each", sites]
    else:
        used = curves.counts[curves.counts > 0]
        least, most = int(used.min()), int(used.max())
        each = f"{most:,}" if least == most else f"{least:,} to {most:,}"
        read = [counted(curves.n_curves, "curve"),
                f"{each} {'observation' if most == 1 else 'observations'} each", sites]
    return in_short(" · ".join(read), curves.notes)


def in_short(read: str, notes: Sequence[str]) -> str:
    """What was read in a bold line, and a list of what to know of it."""
    listed = "".join(f"\n- {plain(capital(note))}" for note in notes)
    return f"**{plain(read)}**\n{listed}"
