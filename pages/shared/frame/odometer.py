"""What is left of a data set's total, in the same lines wherever that data set is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from engine.core.errors import InputError
from engine.language.grammar import escape
from engine.sources import Source
from pages.shared.state import run
from pages.shared.uploads import groups

if TYPE_CHECKING:
    from engine.release.books import Odometer
    from engine.release.ledger import Known


def lines(source: Source) -> None:
    """What is left, in a line for each group that is published on its own, on every page alike.

    Nothing for simulated data, of which there is no ledger.
    """
    if not source.is_random:
        for part in groups.of(source):
            _line(part, groups.name(part))


def _line(source: Source, group: str) -> None:
    """Of the people of a group, or of everybody."""
    from engine.release.sentences import (  # on first use: most pages show simulated curves
        known_people,
        left,
    )

    try:
        spent = read(source)
        people = known(source) if spent is None else None
        words = left(source.facts, spent) if people is None else known_people(people, source.facts)
    except InputError:
        words = "The ledger cannot be read, so nothing can be published."
    about = f"**{escape(group)}.** " * bool(group)
    st.markdown(f":material/receipt_long: {about}{words}")


def known(source: Source) -> Known | None:
    """Whether people of data that are new to the ledger seem to be in it already."""
    from engine.release.ledger import Ledger

    ledger = Ledger()
    stamp = ledger.path.stat().st_mtime_ns if ledger.path.exists() else 0
    return run.at_once(_known, source, str(ledger.path), stamp)


def _known(source: Source, path: str, stamp: int) -> Known | None:
    """Looked up anew when the ledger has changed, which `stamp` tells."""
    from engine.release.data_content import content_of
    from engine.release.ledger import Ledger

    return Ledger(path).known(run.at_once(content_of, source), source.traces())


def read(source: Source) -> Odometer | None:
    """What has been spent on these data; None if nothing ever was."""
    from engine.release.data_content import content_of
    from engine.release.ledger import Ledger

    return Ledger().odometer(run.at_once(content_of, source))
