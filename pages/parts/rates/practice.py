"""Theory over practice on Rates: one press measures the slope and the coverage of a band."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.types import DataKind
from engine.figures.theme import Chart, method_style
from engine.language import glossary, tags, typed
from engine.language.grammar import capital, uncapital
from engine.mechanisms import Mechanism
from engine.rates import Symbol
from engine.topics.coverage import answer as coverage_topic
from engine.topics.coverage import words as coverage_words
from engine.topics.coverage.answer import CoverageAnswer
from engine.topics.planning.answer import PlannedStudy
from engine.topics.rates import charts, words
from engine.topics.rates import check as rate_check
from engine.topics.rates.answer import sweep_values
from engine.topics.rates.check import Measurements, RateCheck
from pages.shared.cards import limits as limit_cards
from pages.shared.frame import controls, layout, parameters
from pages.shared.frame.timed import begin, progress, warm_up
from pages.shared.server.jobs import Job
from pages.shared.state import allowed, links, session
from pages.shared.state.lab_tasks import LAB_TASKS

if TYPE_CHECKING:
    from pages.parts.rates.view import RateAtPoint

SLOPE = "Does it hold? Theory over practice"
_LAST_REQUEST = "rate_check"  # session key of the last request, with its job
_FORM = "sizes"
_LAB = Path(__file__).parents[2] / "lab.py"
_NO_TRUTH = {
    DataKind.UPLOAD: "Your own curves have no known truth",
    DataKind.PUBLIC: "The truth of these curves is not known",
}


class _LastRequest(NamedTuple):
    """The last request; it stays on screen when settings move on."""

    job: Job
    request: RateCheck


# -- the request ----------------------------------------------------------------------------


def request_of(view: RateAtPoint) -> RateCheck | None:
    """Ask for slopes and limits at the present point; None if nothing can be measured."""
    if why_not(view):
        return None
    methods = _settings(view)
    dial = view.rate.dials.get(view.along)
    values = tuple(sweep_values(methods[0], dial)) if methods and dial else ()
    limits = _limits(view)
    if not values and limits is None:
        return None
    return RateCheck(
        view.rate,
        view.point,
        view.along,
        methods if values else (),
        values,
        limits,
        view.settings.seed,
    )


def why_not(view: RateAtPoint) -> str:
    """Say why nothing is measured here; empty if something is."""
    if view.settings.rate_preset:
        return (
            "Figures and tables of the paper are theory alone. Choose your own sizes above to "
            "measure."
        )
    if view.has_scenario and not view.source.is_random:
        known = _NO_TRUTH[view.source.facts.kind]
        return (
            f"{known}, so neither slope nor coverage can be checked on them. Choose "
            "simulated curves on their page."
        )
    if view.rate.has_differing_sites and view.has_scenario:
        return (
            "No slope is measured here: this rate names the term that limits each site, and its "
            "constants stand within sums over sites. *Compare* draws it fitted beside errors."
        )
    if view.rate.has_constants:
        return (
            "A floor is a number, which holds at every size: *Compare* draws it below the "
            "measured errors."
        )
    if view.has_scenario and view.rate.attained_by() is None:
        return (
            "Methods here trust each site with its own curves. To measure, set *Who is "
            "trusted* to *federated* under *More options*."
        )
    return ""


def _settings(view: RateAtPoint) -> tuple[PlannedStudy, ...]:
    """Set up each method: the theorem's, and that of the scenario or the problem."""
    if not view.has_scenario:
        present = _of_problem(view)
        return () if present is None else (present,)
    present = _of_scenario(view)
    proved, delta = view.rate.attained_by(), view.settings.delta_on(view.source).value
    if proved in (None, present.mechanism) or not delta:  # its noise needs a δ above 0
        return (present,)
    return replace(present, mechanism=proved, delta=delta), present


def _of_scenario(view: RateAtPoint) -> PlannedStudy:
    return PlannedStudy.of(
        view.source, view.settings.mechanism_of(view.problem), view.settings.epsilon, view.delta
    )


def _of_problem(view: RateAtPoint) -> PlannedStudy | None:
    """Return data and a mechanism of the rate's own problem, at the present point."""
    example = view.rate.in_practice()
    if example is None:
        return None
    of_dial = {
        view.rate.dials[name]: value
        for name, value in view.point.items()
        if name in view.rate.dials
    }
    source, mechanism = example
    default = source.sizes.n_observations_per_curve  # the rate depends on no such size
    return PlannedStudy(
        source,
        mechanism,
        view.settings.epsilon,
        round(of_dial.get("people", 1)),
        round(of_dial.get("readings", default)),
        round(of_dial.get("sites", 1)),
        0.0 if mechanism.guarantee.is_pure else None,
    )


def _limits(view: RateAtPoint) -> coverage_topic.Experiment | None:
    """Return the limits of the problem's own page; None if no method gives any."""
    if view.problem not in LAB_TASKS:
        return None
    kind = coverage_topic.usual_kind(view.problem, view.settings.mechanism_of(view.problem))
    if kind is None or not view.settings.source_of(view.problem).is_random:
        return None
    return limit_cards.question(kind, view.settings)


# -- the section ----------------------------------------------------------------------------


def practice(view: RateAtPoint) -> None:
    """Draw both questions under one button, and the findings."""
    st.header(SLOPE, anchor=False)
    check = request_of(view)
    if check is None:
        st.markdown(
            why_not(view)
            or "Nothing of this problem is simulated along this symbol, and "
            "no method here gives a confidence band for it."
        )
        return
    warm_up()
    layout.prose(_in_words(check, view.symbol(view.along)))
    if _pressed(view):
        st.session_state[_LAST_REQUEST] = _LastRequest(
            begin(_key(check), rate_check.check, check, total=check.steps), check
        )
    last: _LastRequest | None = st.session_state.get(_LAST_REQUEST)
    if last is None:
        layout.empty(f"{_coming(check)} Press *Measure*: it takes some seconds.")
        return
    if last.job.key == _key(check):
        last = _LastRequest(last.job, check)  # with the rate as it is now
    else:
        st.warning(
            "These points are of earlier settings. Press *Measure* for the present ones.",
            icon=":material/history:",
        )
    progress(last.job, lambda job: _results(view, last.request, job), "Measurements")


def _in_words(check: RateCheck, symbol: str) -> str:
    """Say what one press measures, and what it cannot."""
    symbol, parts, lacks = uncapital(symbol), [], ""
    if check.values:
        methods = " and by ".join(f"*{_name(setting.mechanism)}*" for setting in check.settings)
        parts.append(
            f"the error at {len(check.values)} values of {symbol}, "
            f"up to {rate_check.DATA_SETS} data sets each, by {methods}"
        )
    else:
        lacks = f" No errors of this problem are simulated along {symbol}, so there is no slope."
    if check.limits is not None:
        parts.append(
            f"{_how_many(check.limits)} by *{_name(check.limits.mechanism)}* miss the truth"
        )
    else:
        lacks = " No method for this problem gives a confidence band."
    return f"Measured on fresh simulated data: {', then '.join(parts)}.{lacks}"


def _coming(check: RateCheck) -> str:
    """Describe the coming results."""
    parts = []
    if check.values:
        parts.append("measured errors on top of the rate")
    if check.limits is not None:
        parts.append(f"{_how_many(check.limits)} miss the truth")
    return f"{capital(', and '.join(parts))}."


def _how_many(limits: coverage_topic.Experiment) -> str:
    return f"how many of {coverage_topic.REPEATS} {coverage_words.noun(limits.kind)}s"


def _name(mechanism: Mechanism) -> str:
    return uncapital(mechanism.nearest_preset()[0])


def _key(check: RateCheck) -> str:
    return digest(("rate check", check.simulated))


# -- the form -------------------------------------------------------------------------------


def _pressed(view: RateAtPoint) -> bool:
    """Draw the button, in one form with the sizes if they can be chosen; true if it was pressed."""
    if not view.has_scenario:
        return st.button("Measure", icon=":material/play_arrow:", key="measure")
    with st.form(_FORM), st.container(horizontal=True, vertical_alignment="bottom"):
        read = _fields(view)
        pressed = st.form_submit_button(
            "Measure",
            icon=":material/play_arrow:",
            key="measure",
            on_click=lambda: _take(view, read),
        )
    controls.show_problem(_FORM)
    return pressed and st.session_state.get("problem", ("",))[0] != _FORM


def _fields(view: RateAtPoint) -> Callable[[], dict[str, Any]]:
    """Draw four numbers; return a function that reads them once the form is sent."""
    present = _of_scenario(view)
    fields = {
        "people": ("People on each site (n)", present.people),
        "readings": ("Observations each (m)", present.readings),
        "epsilon": ("Privacy budget ε", present.epsilon),
        "smoothness": ("Smoothness (α)", view.rate.values()["smoothness"]),
    }
    keys = {name: f"{_FORM}_{name}_{value:g}" for name, (_, value) in fields.items()}
    for name, (label, value) in fields.items():
        st.text_input(label, value=f"{value:.9g}", key=keys[name])
    return lambda: {
        name: (typed.count if isinstance(fields[name][1], int) else typed.number)(
            st.session_state[key]
        )
        for name, key in keys.items()
    }


def _take(view: RateAtPoint, read: Callable[[], dict[str, Any]]) -> None:
    """Take over what the form says, all of it or nothing."""
    try:
        entered = read()
        epsilon = allowed.epsilon(entered["epsilon"])
        resized = _resized(view, entered["people"], entered["readings"])
        rate = parameters.with_value(view.rate, "smoothness", entered["smoothness"])
        session.change_source(view.problem, resized)
        session.change(rate=rate)
        if epsilon != view.settings.epsilon:
            session.set_epsilon(epsilon)
    except InputError as problem:
        st.session_state.problem = (_FORM, problem)


def _resized(view: RateAtPoint, people: int, readings: int) -> Any:
    """Return the curves with these sizes, unchanged if the sizes are."""
    present = _of_scenario(view)
    if (people, readings) == (present.people, present.readings):
        return view.source
    return view.source.resized(people, readings, present.sites)


# -- what was found -------------------------------------------------------------------------


def _results(view: RateAtPoint, check: RateCheck, job: Job) -> None:
    """Show the slopes, and below them the limits, as far as they are known."""
    so_far = rate_check.joined(check, list(job.parts))
    if any(so_far.points):
        _slopes(view, check, so_far)
    if so_far.limits is not None:
        _misses(view, check, so_far.limits)


def _slopes(view: RateAtPoint, check: RateCheck, so_far: Measurements) -> None:
    symbol = _symbol(check)
    compared = so_far.compared(check)
    methods = [setting.mechanism for setting in check.settings]
    series = [
        charts.MeasuredSeries(
            method.nearest_preset()[0],
            points,
            line,
            method_style(method.key, method.family, parameters.named(method)[1]),
        )
        for method, points, line in zip(methods, so_far.points, compared, strict=True)
    ]
    unit = check.settings[0].source.facts.value_unit
    chart = charts.practice(series, symbol, check.point, unit)
    left, right = st.columns([7, 3], gap="medium")
    with left:
        layout.draw(chart, "practice", 460, 380)
        st.markdown(
            ":small[Bars: 95 % confidence intervals. In the rate, privacy weighs as much "
            "as was measured at the middle value.]"
        )
        fits = {line.name: line.compared.fitted for line in series if line.compared is not None}
        if fits:
            st.markdown(f":small[{words.fitted_to_squares(fits)}]")
    view.charts[SLOPE] = chart
    with right:
        for k, method_series in enumerate(series):
            if len(method_series.points) == len(check.values):
                _verdict(check, so_far, k, method_series)


def _verdict(check: RateCheck, so_far: Measurements, k: int, series: charts.MeasuredSeries) -> None:
    """Say what the slope of one method shows about the rate."""
    role = words.whose(check.settings[k].mechanism, check.rate)
    with layout.card(series.name):
        if role:
            st.markdown(f":small[{capital(role)}.]")
        st.markdown(words.verdict(series.compared, _symbol(check).written, role != words.YOURS))
        if role == words.YOURS and k:
            st.markdown(
                words.smaller(
                    series.points,
                    so_far.points[0],
                    check.point[check.symbol],
                    _symbol(check).written,
                )
            )


def _symbol(check: RateCheck) -> Symbol:
    return next(symbol for symbol in check.rate.symbols if symbol.name == check.symbol)


def _misses(view: RateAtPoint, check: RateCheck, limits: CoverageAnswer) -> None:
    """Count misses of limits, beside those of naive ones, and link the whole lab."""
    assert check.limits is not None

    def draw(title: str, chart: Chart, key: str) -> None:
        view.charts[title] = chart
        layout.draw(chart, f"rate_{key}", 300, 260)

    kind = coverage_topic.KINDS[check.limits.kind]
    st.header(
        coverage_words.heading(check.limits.kind), anchor=False, help=glossary.explain("Coverage")
    )
    st.markdown(
        f"{kind.label}, by *{_name(check.limits.mechanism)}* at "
        f"{tags.budget_chip(check.limits.budget)}.{_instead(view, check)}"
    )
    limit_cards.misses(check.limits, limits, draw)
    token = links.encode(
        replace(
            view.settings,
            lab_tab="verify",
            audit_part="coverage",
            coverage_limits=check.limits.kind,
            open_folds=(),
        )
    )
    st.page_link(
        st.Page(_LAB),
        label="Other bands and intervals, under Verify",
        query_params={"s": token},
        icon=":material/arrow_forward:",
    )


def _instead(view: RateAtPoint, check: RateCheck) -> str:
    """Say why limits do not belong to the method on screen."""
    chosen_method = view.settings.mechanism_of(view.problem)
    assert check.limits is not None
    if type(chosen_method) is type(check.limits.mechanism):
        return ""
    return f" *{capital(_name(chosen_method))}* gives none."
