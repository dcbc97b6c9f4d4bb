"""Errors under CDP, FDP, LDP and no privacy, measured beside the rates of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from engine.core.identity import digest
from engine.topics.rates import by_trust as topic
from engine.topics.rates import charts, words
from engine.topics.rates.by_trust import TrustCheck
from pages.shared.frame import layout
from pages.shared.frame.timed import begin, progress, warm_up
from pages.shared.server.jobs import Job

if TYPE_CHECKING:
    from pages.parts.rates.view import RateAtPoint

HEADING = "The same error under every kind of trust"
_LAST = "trust_check"  # session key of the last request, with its job


class _LastTrustCheck(NamedTuple):
    """The last request; it stays on screen when settings move on."""

    job: Job
    request: TrustCheck


def by_trust(view: RateAtPoint) -> None:
    """Measure all kinds of trust at a press, and draw them beside their rates."""
    if view.rate.by_trust() is None:
        return
    st.header(HEADING, anchor=False)
    symbol = "n" if view.along == "n" else "epsilon"
    request = TrustCheck(view.rate, symbol, view.settings.seed)
    layout.prose(words.trust_sizes(request))
    if st.button("Measure all", icon=":material/play_arrow:", key="measure_by_trust"):
        warm_up()
        st.session_state[_LAST] = _LastTrustCheck(
            begin(
                digest(("rate by trust", request.rate, request.symbol, request.seed)),
                topic.check_by_trust,
                request,
                total=request.steps,
            ),
            request,
        )
    last: _LastTrustCheck | None = st.session_state.get(_LAST)
    if last is None or last.request != request:
        layout.empty(
            "Central, federated, local and no privacy in one picture, over ε or n as chosen under "
            "*Map across*. Press *Measure all*: it takes up to a minute."
        )
        return
    progress(last.job, lambda job: _results(view, last.request, job), "Measurements")


def _results(view: RateAtPoint, request: TrustCheck, job: Job) -> None:
    """Draw what is known so far, and slopes once all of it is."""
    found = topic.lines(request, list(job.parts))
    if not any(line.known for line in found):
        return
    symbol = topic.symbol_of(request)
    chart = charts.by_trust(found, symbol, request.facts.value_unit)
    view.charts[HEADING] = chart
    layout.draw(chart, "by_trust", 460, 380)
    st.markdown(f":small[{words.trust_reading(found)}]")
    if not job.live:
        layout.table(words.trust_slopes(found, symbol.written), height="content")
