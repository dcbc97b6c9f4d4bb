"""Parts that every page shares: the strip, chips, boxes, charts with their numbers."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Literal

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine.core.errors import InputError
from engine.core.faults import placed
from engine.figures import labels
from engine.figures.theme import Chart
from engine.language.grammar import capital, escape
from pages.shared import components
from pages.shared.frame.controls import message
from pages.shared.state import session, settings

_log = logging.getLogger("privacy_curves")


@contextmanager
def user_errors() -> Iterator[None]:
    """Show errors that a person can correct in a red box, and any other as a fault of ours.

    The log gets a fault with a reference to quote, without data; the rest of the page goes on.
    """
    try:
        yield
    except InputError as problem:
        st.error(message(problem), icon=":material/error:")
    except Exception as fault:
        if type(fault).__module__.startswith("streamlit"):
            raise  # streamlit stops or reruns a script by it
        reference = uuid.uuid4().hex[:8]
        _log.error("fault %s: %s", reference, placed(fault), exc_info=_without_data(fault))
        st.error(
            "**Something went wrong on our side.** Nothing was published. Quote this when "
            f"you report it: {reference}.",
            icon=":material/error:",
        )


def _without_data(fault: Exception) -> tuple[type[Exception], Exception, TracebackType | None]:
    """Return the exception with its traceback and no message: a message may quote a reading."""
    return type(fault), type(fault)("(message withheld)"), fault.__traceback__


STRIP = 62  # pixels of the strip on a wide screen
_ROW = 35  # pixels of a row of a table
_LINE = 880  # pixels of a line of sentences: about 120 letters, the width of a large picture


def caution(texts: Iterable[str]) -> None:
    """Say the worst of some cautions, which come first; the drawer of the page has all of them."""
    worst = next(filter(None, texts), "")
    if worst:
        st.markdown(f":orange-badge[:material/warning: Caution] {worst}")


def warned(texts: Iterable[str], heading: str = "", icon: str = ":material/warning:") -> None:
    """Show all warnings in one box, a line of Markdown each; empty ones are left out."""
    lines = [text for text in texts if text]
    if len(lines) > 1 or (lines and heading):
        st.warning(heading + "".join(f"\n* {line}" for line in lines), icon=icon)
    elif lines:
        st.warning(lines[0], icon=icon)


def pending(data: str, height: int = 0) -> Callable[[], DeltaGenerator]:
    """Reserve the place of an answer before it is computed; call the result to enter it.

    The last answer stays there meanwhile, unless it is about other data: then nothing stands
    there, or a gray place of that many pixels.
    """
    drawn = _drawn()
    if drawn.get(_page(), data if not height else None) == data:
        slot = st.container()
        return lambda: slot
    slot = st.empty()
    if height:
        slot.skeleton(height=height)

    def entered() -> DeltaGenerator:
        drawn[_page()] = data
        slot.empty()  # a container in its stead would keep its old content
        return slot.container()

    return entered


def _drawn() -> dict[str, str]:
    """Return the data that each page was last drawn with."""
    return st.session_state.setdefault("drawn_pages", {})


def _page() -> str:
    return str(st.session_state.get("page", ""))


@contextmanager
def loading(height: int = 430, data: str = "") -> Iterator[None]:
    """Show gray places for the strip and a picture if the page stands for no such data yet.

    Later the last picture stays while the next one of the same data is computed.
    """
    drawn, page = _drawn(), _page()
    slot = st.empty()  # on every run, so that the page below keeps its place
    if drawn.get(page) != data:
        with slot.container():
            st.skeleton(height=STRIP)
            st.skeleton(height=height)
    try:
        yield
    finally:
        drawn[page] = data
        slot.empty()


@contextmanager
def card(title: str, help: str | None = None) -> Iterator[None]:
    """Draw a box with a heading around what follows."""
    with st.container(border=True):
        st.subheader(title, anchor=False, help=help)
        yield


def small(text: str, **options: Any) -> None:
    """Write small print; nothing for an empty text."""
    if text:
        st.markdown(f":small[{text}]", **options)


def note(text: str) -> None:
    """Show a note in a box; nothing for an empty text."""
    if text:
        st.info(text, icon=":material/info:")


def prose(text: str) -> None:
    """Write sentences in lines short enough to read."""
    st.markdown(text, width=_LINE)


def empty(text: str) -> None:
    """Say what will be here, and which button fills it."""
    with st.container(border=True):
        st.markdown(text)


def link_problems() -> None:
    """Name the settings of the link that are unknown or invalid."""
    with st.container():  # always there, so that the page below keeps its place
        for name in st.session_state.get("link_problems", []):
            st.warning(
                f"**This link asks for an unknown setting ({escape(name[:40])}).** "
                "This page uses its default.",
                icon=":material/link_off:",
            )


def chips(changed: Sequence[str]) -> None:
    """Show all differences from default settings, so that no figure is silently unusual."""
    if not changed:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("Changed from the default settings:", width="content")
        for text in changed:
            st.badge(text, color="gray")
        st.button("Reset", icon=":material/undo:", type="tertiary", on_click=reset, key="reset")


def folded(label: str, key: str, draw: Callable[[], object]) -> None:
    """Draw a fold, kept by links, whose content is drawn only while it is open."""
    box = st.expander(label, on_change=session.change, key=f"fold_{key}")
    session.note_fold(key, bool(box.open))
    if box.open:
        with box, user_errors():
            draw()


def numbers(charts: Mapping[str, Chart], is_own: bool = False, key: str = "numbers") -> None:
    """Show the tables behind the charts of a page, in a fold; `is_own` as in `table`."""

    def tables() -> None:
        for title, chart in charts.items():
            in_words(title, chart, is_own)

    folded("Numbers behind these charts", key, tables)


def in_words(title: str, chart: Chart, is_own: bool = False) -> None:
    """Describe a chart without the picture: its title (Markdown), its sentence and its table."""
    sentence = escape(chart.alt)
    sentence = sentence.removeprefix(f"{title}\\: ").removeprefix(f"{title}, ")
    st.markdown(f"**{title}.** {capital(sentence)}")
    table(chart.table, is_own, 220)


def table(
    columns: Any, is_own: bool = False, height: int | Literal["auto", "content"] = "auto"
) -> None:
    """Draw a table; of the visitor's own curves (`is_own`) one without a download button.

    It is at most as high as `height`: pixels, ten rows ("auto") or all its rows ("content").
    """
    data = pd.DataFrame(columns).rename(columns=_heading)
    if isinstance(height, int) and _ROW * (1 + len(data)) <= height:
        height = "content"  # nothing to scroll
    if is_own:
        with st.container(height=height if isinstance(height, int) else "content"):
            st.table(data.set_index(data.columns[0]))
    else:
        st.dataframe(data, hide_index=True, height=height)


def _heading(name: str) -> str:
    """Capitalise a word; a symbol such as n stays as it is."""
    is_word = len(name) > 1 and name[:2].isalpha() and name[:2].isascii()
    return capital(name) if is_word else name


def reset() -> None:
    """Return to the default settings of the same curves and methods."""
    from pages.shared.frame.parameters import preset_of

    current, default = session.current(), settings.FRONT_PAGE
    studies = {
        task: settings.DataAndMethod(preset_of(study.source), preset_of(study.mechanism))
        for task, study in current.studies.items()
    }
    session.change(
        studies=studies,
        rate=preset_of(current.rate),
        sites=default.sites,
        delta=default.delta,
        seed=default.seed,
        group_size=default.group_size,
        population=default.population,
        epsilon_limit=default.epsilon_limit,
    )


def draw(
    chart: Chart,
    key: str,
    height: int,
    phone: int | None = None,
    picked: Callable[[float], None] | None = None,
    title: str = "",
    foot: str = "",
) -> None:
    """Draw a chart; `picked` gets the clicked place along its horizontal axis.

    A `foot` states its origin and allows saving it as a picture, under `title` if the chart has
    none.
    """
    leaving = labels.leaving(title, foot) if foot else None
    components.chart(chart.spec, chart.alt, f"chart_{key}", height, phone, picked, leaving)
