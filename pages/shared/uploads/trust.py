"""The question who is trusted with a file: one centre, the sites of a column, or fewer still."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from engine.core.errors import InputError
from engine.core.lists import counted, shortened
from engine.core.tasks import TASKS, DataType
from engine.language.grammar import conjunction
from engine.language.numbers import whole
from engine.uploads.looking import observations_of
from engine.uploads.proposing.questions import ReadingOption, answered
from engine.uploads.reading_of_files import Reading
from pages.shared.frame import layout
from pages.shared.frame.controls import plain
from pages.shared.uploads import columns, draft, files, questions, reading, statements
from pages.shared.uploads.draft import Draft
from pages.shared.uploads.files import key_of
from pages.shared.uploads.questions import Alternative, AnswerRows

CENTRE, SITES, SUMS, NOBODY = "centre", "sites", "sums", "nobody"
_MOST_ALONE = 300  # people who can be rehearsed with noise of their own
_ELSEWHERE = {
    SUMS: "Masked sums need the file of each site: open *Details*, *Several sites, each with its own "
    "file*. From one file, one centre is trusted or each site adds its own noise.",
    NOBODY: "Noise of each person’s own device is added before there is a file: *Explore*, *Theory* "
    "shows what it would take.",
}


def trust(current: Draft) -> Reading | None:
    """Ask who is trusted; return the reading with or without sites, None if nothing can follow."""
    column, entry = _site(current)
    of = "curves" if TASKS[current.task].data is DataType.CURVES else "records"
    labels = {CENTRE: f"One centre holds all {of}"}
    free = [name for name in current.reading.frame.header if name not in current.reading.used]
    if column:
        labels[SITES] = f"Each **{plain(shortened(column))}** adds its own noise"
    elif free and not current.reading.is_wide:
        labels[SITES] = "Each site adds its own noise"
    if TASKS[current.task].data is DataType.CURVES:
        labels |= {
            SUMS: "Sites mask their noise; the centre reads sums",
            NOBODY: "Nobody: each device adds noise",
        }
    apart = None if entry is None else _with_sites(current.reading, entry)
    people = [] if apart is None else _people_by_site(current.task, apart)
    alternatives = _priced(current, people)
    known, wait = questions.priced(current.task, alternatives)
    prices = {SUMS: "at several sites"} if SUMS in labels else {}
    if current.declared is not None and alternatives:
        prices |= questions.half_widths(known, [*alternatives], current.declared)
    chosen = questions.question(
        "trust",
        f"{counted(len(people), 'site')} in **{plain(shortened(column))}**."
        if people
        else "Proposed: one centre.",
        AnswerRows(
            key_of("upload_trust"), labels, SITES if "site" in current.reading.columns else CENTRE
        ),
        prices,
    )
    if chosen == SITES and not column:
        columns.sites(free)
    layout.note(_ELSEWHERE.get(chosen or "", ""))
    if people:
        each = conjunction(sorted({whole(min(people)), whole(max(people))}, key=len))
        questions.evidence(f"{each} people at each site.")
    wait()
    if chosen == SITES:
        return apart
    return _without_sites(current.reading) if chosen == CENTRE else None


def _site(current: Draft) -> tuple[str, Mapping[str, Any] | None]:
    """Return the column of sites, and its entry in a reading; none if nothing names sites."""
    if (site := current.reading.columns.get("site")) is not None:
        return site.name, current.reading.to_plain()["columns"]["site"]
    if not files.has_file() or st.session_state.get("upload_brought") is not None:
        return "", None
    stated = columns.stated(current.task)
    named = draft.answered(key_of("upload_role_server"))
    if named:
        stated["columns"] = {**stated.get("columns", {}), "server": named}
    try:
        proposal = reading.proposal_of(current.task, stated)
    except InputError:
        return "", None
    if named:
        found = proposal.reading.to_plain()["columns"].get("site")
        return named, found
    asked = next((each for each in proposal.ask if each.field == reading.TRUST), None)
    entry = None if asked is None else asked.options[-1].adds["columns"]["site"]
    return ("", None) if entry is None else (str(entry["name"]), entry)


def _with_sites(read: Reading, entry: Mapping[str, Any]) -> Reading:
    return answered(read, ReadingOption("", {"columns": {"site": entry}}))


def _without_sites(read: Reading) -> Reading:
    kept = {role: column for role, column in read.columns.items() if role != "site"}
    return replace(read, columns=kept)


def _people_by_site(task: str, read: Reading) -> list[int]:
    """Count the people of each site, for the holder and for prices."""
    try:
        found = files.made("upload_sites", observations_of, read, columns.kind_of(task))
    except InputError:
        return []
    return [int(many) for many in np.bincount(found.server) if many]


def _priced(current: Draft, by_site: list[int]) -> dict[str, Alternative]:
    facts = current.declared
    if facts is None or TASKS[current.task].data is not DataType.CURVES:
        return {}
    n = len(current.observations.server)
    found = {CENTRE: Alternative(facts, statements.sizes_of(current, facts))}
    if len(by_site) > 1:
        found[SITES] = Alternative(facts, statements.sizes_of(current, facts, by_site))
    if n <= _MOST_ALONE:
        found[NOBODY] = Alternative(facts, statements.sizes_of(current, facts, (1,) * n))
    return found
