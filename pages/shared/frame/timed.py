"""Parts of a page that run again by themselves."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st


def run(part: Callable[[], None], seconds: float | None) -> None:
    """Draw a part of the page, and again every so many seconds unless there are none.

    On a slow machine the browser may ask for the part again before it got the rest of the page. The
    framework then sends that rest without the part, which is drawn anew, and what follows would
    come before it, at a place that is not there yet: the page would go white. So the part has a
    place of its own, which is always sent.
    """
    with st.container():
        st.fragment(part, run_every=seconds)()
