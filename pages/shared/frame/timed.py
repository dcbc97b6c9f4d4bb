"""Parts of a page that run again by themselves, and what is computed once the page stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pages.shared.frame.layout import user_errors
from pages.shared.state import run as results

_STAYS_SECONDS = 1.0  # for which a visitor stays at what stands before more of it is computed


def run(part: Callable[[], None], seconds: float | None) -> None:
    """Draw a part of the page, and again every so many seconds unless there are none.

    On a slow machine the browser may ask for the part again before it got the rest of the page. The
    framework then sends that rest without the part, which is drawn anew, and what follows would
    come before it, at a place that is not there yet: the page would go white. So the part has a
    place of its own, which is always sent.
    """
    with st.container():
        st.fragment(part, run_every=seconds)()


def afterwards(words: str, compute: Callable[[], object]) -> None:
    """Compute what takes long when the page stands, and draw the page once more.

    It begins only if its visitor stays; `words` say so far what is to come.
    """
    has_begun = False

    def wait() -> None:
        nonlocal has_begun
        st.markdown(f":small[{words}]")
        if has_begun:
            with user_errors():  # a busy server is asked again
                compute()
                st.rerun()
        has_begun = True

    run(wait, _STAYS_SECONDS)


def row_by_row(words: str, compute: Callable[..., Any], calls: Sequence[tuple[Any, ...]],
               draw: Callable[[list[Any]], None], height: int) -> None:
    """Compute several results of one function when the page stands, and draw what there is.

    Parameters
    ----------
    words : str
        What is computed; a bar says how much of it is there.
    compute : callable
        A function of the engine.
    calls : sequence of tuple
        Its arguments, once for each result.
    draw : callable
        Draws the first results, at least one.
    height : int
        Pixels of the gray place in which nothing is drawn yet.
    """
    has_begun = False

    def wait() -> None:
        nonlocal has_begun
        known = [call for call in calls if results.knows(compute, *call)]
        st.progress(len(known) / len(calls), text=f"{words}: {len(known)} of {len(calls)} rows")
        if known:
            draw([results.answer(compute, *call) for call in known])
        else:
            st.skeleton(height=height)
        if has_begun:
            with user_errors():  # a busy server is asked again
                results.answer(compute, *calls[len(known)])
                st.rerun(scope="app" if len(known) + 1 == len(calls) else "fragment")
        has_begun = True

    run(wait, _STAYS_SECONDS)
