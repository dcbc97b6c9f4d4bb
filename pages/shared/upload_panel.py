"""Use my curves: a file, who is one person, and facts that come from outside the file.

On the page about single readings every person has one reading, and how far it typically lies from
the curve is stated as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from engine.errors import InputError
from engine.exports.code_for import OwnFile
from engine.sources import Source, tables, upload
from engine.sources.regressors import MOST_COVARIATES
from engine.sources.upload import CurveTable, Layout, StatedCovariate
from engine.sources.upload_rows import RowLayout
from engine.tasks import WAVELET_REGRESSION
from engine.types import PublicFacts
from engine.words import wording
from pages.shared import code_fold, session, settings, visitors
from pages.shared import components as pieces
from pages.shared.controls import message

_WORDS = (("value_name", "What is measured", "Height"), ("value_unit", "Its unit", "cm"),
          ("time_name", "What runs along the curve", "Age"), ("time_unit", "Its unit", "years"),
          ("person", "One of them is called", "child"), ("people", "Many are called", "children"))
PEOPLE = _WORDS[-2:]  # what a record belongs to
_OF_ROWS = (("person", "One row is called", "scan"), ("people", "Many are called", "scans"))
_ROLES = (("id", "Who a row belongs to"), ("time", "Time"), ("value", "Value"), ("server", "Site"))
_EVERY_ROW = "every row is another person"
_OPEN = "Use my curves", "Use my readings", "Use my records"
_STAYS = "Stays in memory while you visit; nothing is published."
_DEMONSTRATION = ("Switched off: others may reach this dashboard, and private data belong on a "
                  "machine of your own. Start a copy there. Whoever runs this one can allow files.")
_FILE = ("Curves as CSV, TSV or XLSX: one row per reading or one row per curve",
         "Readings as CSV, TSV or XLSX: one row per person")
_EXAMPLES = upload.EXAMPLE_CSV, upload.EXAMPLE_READINGS_CSV


def _single(task: str) -> bool:
    """Whether every person has one reading only."""
    return task == WAVELET_REGRESSION.key


def title(task: str) -> str:
    """What the panel is called: whole curves, single readings, or rows of numbers."""
    return _OPEN[2 if task in settings.OF_ROWS else _single(task)]


def button(task: str = settings.TASK) -> None:
    """Opens and closes the panel; nothing that is on screen is lost."""
    def switch() -> None:
        st.session_state.upload_open = not st.session_state.get("upload_open", False)

    allowed = visitors.may_bring_files()
    st.button(title(task), icon=":material/upload_file:", type="tertiary", on_click=switch,
              key="use_my_curves", disabled=not allowed, help=_STAYS if allowed else _DEMONSTRATION)


def is_open() -> bool:
    """Whether the panel is to be drawn; never where others may reach the dashboard unasked."""
    return bool(st.session_state.get("upload_open")) and visitors.may_bring_files()


def panel(show: str = "Show the protected average", task: str = settings.TASK,
          shown: Callable[[], None] = lambda: None) -> None:
    """Both steps; what is on screen stays until the last button, `show`, is pressed.

    `shown` is called when it is, after the curves or readings are in place.
    """
    if not is_open():
        return
    two_steps(title(task), lambda: _file(_single(task)),
              lambda curves: _facts(curves, show, task, shown))


def two_steps(heading: str, first: Callable[[], Any], then: Callable[[Any], None]) -> None:
    """The file beside the facts; `then` gets what the file gave, or None."""
    with st.container(border=True):
        st.header(heading, anchor=False)
        left, right = st.columns(2, gap="medium")
        with left:
            read = guarded(first)
        with right:
            guarded(lambda: then(read))


def guarded(step: Callable[[], Any]) -> Any:
    """One step; what is wrong with it is said under it, and the page goes on."""
    try:
        return step()
    except InputError as problem:
        st.error(message(problem), icon=":material/error:")
        return None


# -- the file -------------------------------------------------------------------------------


def _file(single: bool) -> CurveTable | None:
    """The uploader, how the file was read, and which column plays which role."""
    table = uploaded_table(_FILE[single], _EXAMPLES[single])
    return None if table is None else _read(table, single)


def uploaded_table(label: str, example: str) -> tables.Table | None:
    """The uploader and the table in its file; without a file an example to download."""
    st.subheader("1. The file", anchor=False)
    # Any name will do: the content decides, and a name that the widget refused would end the page.
    file = st.file_uploader(label, key="upload_file",
                            max_upload_size=tables.MOST_BYTES // 1_000_000)
    if file is None:
        st.download_button("An example file", example, "example.csv", "text/csv",
                           on_click="ignore", type="tertiary", icon=":material/description:")
        return None
    return _parsed(file)


def _parsed(file: Any) -> tables.Table:
    """Parse once per file and choice of encoding; the raw bytes are not kept."""
    encoding = st.session_state.get("upload_encoding", tables.ENCODINGS[0])
    way = (file.file_id, encoding, st.session_state.get("upload_sheet"))
    if st.session_state.get("upload_read", ("",))[0] != way:
        try:
            table = tables.read_table(file.getvalue(), encoding, way[2])
        except InputError as problem:
            if problem.field == "encoding":
                st.selectbox("Encoding of the file", tables.ENCODINGS, key="upload_encoding")
            raise
        st.session_state.upload_read = (way, table)
    table = st.session_state.upload_read[1]
    if len(table.sheets) > 1:
        st.selectbox("Sheet", table.sheets, key="upload_sheet")
    return table


def _read(table: tables.Table, single: bool) -> CurveTable:
    """Which column plays which role, and the curves or readings they give."""
    layout = _single_layout(table) if single else _layout(table)
    several = st.selectbox("If one person has several rows", ["average", "keep"],
                           format_func={"keep": "protect one row", "average":
                                        "average them: protect the person"}.get,
                           key="upload_several") if layout.is_wide else "keep"
    curves = upload.read_curves(table, layout, several)
    keep_how(layout, several)
    st.markdown(_summary(curves, single))
    if _of_rows(curves):
        st.warning("**One row is protected, not one person.** Average the rows of each person, or "
                   "state beside the odds how many rows one person has.",
                   icon=":material/warning:")
    return curves


def _of_rows(curves: CurveTable | None) -> bool:
    """Whether somebody has several curves, each protected on its own."""
    return curves is not None and curves.n_people < curves.n_curves


def keep_how(layout: Layout | RowLayout, several: str = "keep") -> None:
    """Remember how the file in the panel was read, for code that reads it again."""
    way = st.session_state.get("upload_read", ("",))[0]
    file = st.session_state.get("upload_file")
    st.session_state.file_read = None if file is None else OwnFile(
        file.name, way[1], way[2], layout, several)


def _layout(table: tables.Table) -> Layout:
    """Suggested roles, which the person may change, and columns that may explain the curves."""
    try:
        suggested, unknown = upload.suggest_layout(table), None
    except InputError as problem:  # the names do not say: the person may choose
        found = upload.roles_by_name(table, {})
        suggested, unknown = Layout(*(found.get(role) for role in upload.ROLES)), problem
    layout = suggested if suggested.is_wide else _roles(table, suggested)
    if unknown is not None and None in (layout.id, layout.time, layout.value):
        raise unknown
    return replace(layout, covariates=tuple(_explaining(table, layout)))


def _roles(table: tables.Table, suggested: Layout, roles: Sequence[tuple[str, str]] = _ROLES
           ) -> Layout:
    names: list[str | None] = list(table.columns)
    chosen = {}
    with st.container(horizontal=True):
        for role, label in roles:
            options = [None, *names] if role == "server" else names
            usual = getattr(suggested, role)
            chosen[role] = st.selectbox(
                label, options, index=options.index(usual) if usual in options else None,
                format_func=lambda name: "none" if name is None else tables.shortened(name),
                placeholder="Choose", key=f"upload_role_{role}" + "_open" * (usual not in options))
    return replace(suggested, **chosen)


def _single_layout(table: tables.Table) -> Layout:
    """Roles of the columns of single readings; who is one person is never guessed."""
    suggested = upload.suggest_layout(table, single=True)
    person = who(table, suggested.id)
    layout = _roles(table, suggested, _ROLES[1:])
    return replace(layout, id=said(person))


def who(table: tables.Table, suggested: str | None) -> str | None:
    """Who a row belongs to, as chosen: a column, or every row is another person."""
    names = list(table.columns)
    return st.selectbox(
        _ROLES[0][1], [_EVERY_ROW, *names], placeholder="Choose",
        index=1 + names.index(suggested) if suggested else None,
        format_func=lambda name: name if name == _EVERY_ROW else f"column {tables.shortened(name)}",
        key="upload_who", help="The protection is that of one person. Where people may have "
        "several rows a column must tell them apart.")


def said(person: str | None) -> str | None:
    """The column of people, None where every row is another person; an error before a choice."""
    if person is None:
        raise InputError("Say who a row belongs to.", field="id", hint="A column that names the "
                         "people, or every row is another person: only you know.")
    return None if person == _EVERY_ROW else person


def _explaining(table: tables.Table, layout: Layout) -> list[str]:
    """Any column without a role; the reader refuses one that changes along a curve."""
    free = [column for column in table.columns if column not in layout.columns]
    if not free:
        return []
    return st.multiselect(
        "Columns that may explain the curves (optional)", free, key="upload_covariates",
        format_func=tables.shortened, max_selections=MOST_COVARIATES, placeholder="None chosen",
        help="Numbers, or yes and no, that stay the same along a curve. The average does not use "
        "them.")


def _summary(curves: CurveTable, single: bool) -> str:
    """What was read, and how."""
    if single:
        read = (f"{curves.n_curves:,} people with one reading each · "
                f"{tables.counted(len(curves.server_names) or 1, 'site')}")
    else:
        used = curves.counts[curves.counts > 0]
        each = f"{used.min()}" if used.min() == used.max() else f"{used.min()} to {used.max()}"
        read = f"{curves.n_curves} curves · {each} readings each"
    return in_short(read, curves.notes)


def in_short(read: str, notes: Sequence[str]) -> str:
    """What was read in a bold line, and a list of what to know of it."""
    listed = "".join(f"\n- {plain(wording.capital(note))}" for note in notes)
    return f"**{plain(read)}**\n{listed}"


def plain(text: str) -> str:
    """Words of a file without markup."""
    return text.translate({ord(c): f"\\{c}" for c in "\\`*_[]<>#$|~:"})


# -- the facts ------------------------------------------------------------------------------


def _facts(curves: CurveTable | None, show: str, task: str, shown: Callable[[], None]) -> None:
    """What the person states; empty at first, never filled from the file."""
    single = _single(task)
    st.subheader("2. Facts you state, not the data", anchor=False)
    st.markdown("These come from outside the file: a growth chart, a manual, a law. Reading them "
                "off the file would leak." + (" The bounds are those of the curve; single readings "
                                              "may lie beyond." if single else ""))
    words = words_of(_WORDS[:-2] + _OF_ROWS if _of_rows(curves) else _WORDS)
    if _of_rows(curves) and not words["person"]:
        words |= {"person": "row", "people": "rows"}
    value = plain(words["value_name"] or "value")
    time = plain(words["time_name"] or "time")
    curve = " of the curve" if single else ""
    low, high = st.columns(2)
    with low:
        value_low = number(f"Lowest possible {value.lower()}{curve}", "e.g. 60", "value_low")
    with high:
        value_high = number(f"Highest possible {value.lower()}{curve}", "e.g. 210", "value_high")
    reading_sd = _spread(value.lower()) if single else None
    first, last = st.columns(2)
    with first:
        time_low = number(f"First {time.lower()}", "e.g. 2", "time_low")
    with last:
        time_high = number(f"Last {time.lower()}", "e.g. 18", "time_high")
    covariates = [covariate(name) for name in curves.covariate_names] if curves else []
    origin = st.text_input("Where do these bounds come from?", key="upload_origin",
                           placeholder="e.g. national growth chart, 2019", max_chars=200)
    periodic = st.toggle("The curve ends where it began (a day, a year)", key="upload_periodic")

    def declared() -> PublicFacts:
        return upload.declare(value_low, value_high, time_low, time_high, origin, covariates,
                              single, reading_sd, periodic=periodic, **words)

    is_begun = origin or any(bound is not None for bound in (value_low, value_high, time_low,
                                                             time_high))
    facts = None
    if curves is None:
        st.markdown(":small[First step 1: a file that can be read.]")
    elif is_begun:
        facts = declared()
    else:
        _to_be_stated(declared)
    show_button(show, None if facts is None else
                lambda: upload.Upload(curves=curves, declared=facts), task, shown)


def _to_be_stated(declared: Callable[[], PublicFacts]) -> None:
    """What comes first, said before anything is wrong."""
    try:
        declared()
    except InputError as first:
        st.info(message(first), icon=":material/edit:")


def show_button(label: str, own: Callable[[], Source] | None, task: str,
                shown: Callable[[], None] = lambda: None) -> None:
    """Put what `own` gives on screen; δ goes back to the usual one for its number."""
    def show() -> None:
        st.session_state[session.own_key(task)] = own()
        code_fold.remember(task)
        session.show_own(task, True)
        st.session_state.upload_open = False
        st.session_state.pop("upload_read", None)  # only the arrays are needed from here on
        visitors.drop_own_files()
        session.change(delta=None)
        pieces.arrive()
        shown()

    st.button(label, disabled=own is None, key="upload_show", icon=":material/visibility:",
              on_click=show)


def _spread(value: str) -> float | None:
    """σ, with what it changes: the bias and the noise, never the protection."""
    return st.number_input(
        f"How far one {value} typically lies from the curve (σ)", value=None, step=None,
        format="%g", placeholder="e.g. 6", key="upload_reading_sd",
        help="Standard deviation of single readings around the curve at the same time: about two "
        "in three lie within σ. From a manual of the device or an earlier study. Too small: large "
        "readings are cut and the curve is pulled to the middle. Too large: more noise. The "
        "protection holds in any case.")


def words_of(asked: Sequence[tuple[str, str, str]] = _WORDS) -> dict[str, str]:
    """What things are called, two in a row."""
    words = {}
    columns = [column for _ in range(len(asked) // 2) for column in st.columns(2)]  # by rows
    for column, (name, label, example) in zip(columns, asked, strict=True):
        with column:
            words[name] = st.text_input(label, key=f"upload_{name}", placeholder=f"e.g. {example}",
                                        max_chars=40).strip()
    if words["person"] and not words["people"]:
        words["people"] = f"{words['person']}s"
    return words


def covariate(name: str) -> StatedCovariate:
    """What is stated about one column; it stays with that column when another is chosen."""
    shown, key = plain(tables.shortened(name)), f"covariate_{name}"
    low, high, unit = st.columns([2, 2, 1], vertical_alignment="bottom")
    with low:
        lowest = number(f"Lowest possible {shown}", "e.g. 140 or 0", f"{key}_low")
    with high:
        highest = number(f"Highest possible {shown}", "e.g. 200 or 1", f"{key}_high")
    with unit:
        its_unit = st.text_input("Its unit", key=f"upload_{key}_unit", placeholder="e.g. cm",
                                 max_chars=40)
    return StatedCovariate(name, lowest, highest, its_unit.strip())


def number(label: str, example: str, key: str) -> float | None:
    return st.number_input(label, value=None, placeholder=example, key=f"upload_{key}", step=None,
                           format="%g")


def clamped(task: str = settings.TASK) -> None:
    """How much was moved into the stated ranges; only ever shown beside one's own curves."""
    own = session.own(task)
    if own is None or not session.uploaded(task):
        return
    facts = own.declared
    times, values, covariates = own.clamped
    moved = []
    if times and own.is_single:
        moved.append(f"{times} readings lay outside {wording.span(facts)}.")
    elif times or values:
        moved.append(f"{values} readings lay outside {facts.value_low:g} to {facts.value_high:g} "
                     f"{facts.value_unit} and {times} outside {wording.span(facts)}.")
    if covariates:
        moved.append(f"{tables.counted(covariates, 'number')} of columns that may explain the "
                     "curves lay outside what you stated.")
    if moved:
        st.warning(f"**{' '.join(moved)}** They were moved to the nearest bound. This count is for "
                   "you only.", icon=":material/compress:")
