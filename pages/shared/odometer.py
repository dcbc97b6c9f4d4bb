"""What is left of a data set's total, in one line wherever that data set is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from engine.errors import InputError
from engine.sources import Source
from pages.shared import run

if TYPE_CHECKING:
    from engine.release.books import Odometer
    from engine.release.ledger import Known


def line(source: Source) -> None:
    """One line under the strip; nothing for simulated data, of which there is no ledger."""
    if source.is_random:
        return
    try:
        words = run.later("words.release").left(source.facts, read(source))
    except InputError:
        words = "The ledger cannot be read, so nothing can be published."
    st.markdown(f":material/receipt_long: {words}")


def known(source: Source) -> Known | None:
    """Whether people of data that are new to the ledger seem to be in it already."""
    return run.known_people(source)


def read(source: Source) -> Odometer | None:
    """What has been spent on these data; None if nothing ever was."""
    return run.later("release.ledger").Ledger().odometer(run.content(source))
