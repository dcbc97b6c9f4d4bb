"""Wavelet regression as an estimand of Lab: its cards, its sites and what they hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from engine.core.tasks import WAVELET_REGRESSION
from engine.language import glossary
from engine.language.error_words import shares_key
from engine.language.grammar import capital, escape
from engine.language.numbers import number
from engine.privacy import accounting
from engine.topics.brief import Brief
from engine.topics.regression import answer as regression_topic
from engine.topics.regression import charts, words
from engine.topics.regression import slopes as wavelet_slopes
from engine.topics.regression.answer import (
    MAX_KINDS,
    NETWORKS,
    Group,
    Method,
    Network,
    PointAnswer,
    Readings,
    SimulatedReadings,
)
from engine.uploads.curves import Upload
from pages.shared.frame import controls, layout
from pages.shared.frame.page import ReleaseView
from pages.shared.state import allowed, run, session, settings
from pages.shared.state.settings import Settings

TASK = WAVELET_REGRESSION.key
_RELEASES, _ONE = "Possible releases", "One release and its band"


class Regression(ReleaseView):
    """The regression on screen, from the observations of all sites."""

    page, fold_prefix, chart_prefix = "regression", "regression_", "regression_"
    task, asks = TASK, regression_topic.regression_answer
    source: Readings
    mechanism: Method
    stated_delta = None  # every site has its own

    def __init__(self, chosen: Settings | None = None) -> None:
        super().__init__(chosen)
        source, mechanism = self.source_of(TASK), self.settings.mechanism_of(TASK)
        assert isinstance(source, Readings) and isinstance(mechanism, Method)
        self.source, self.mechanism, self.facts = source, mechanism, source.facts
        self.network = network_on_screen() if self.is_on_screen else self.settings.network
        self.answer = run.answer(regression_topic.regression_answer, *self.arguments)
        self.sizes, self.spends = self.network.source(self.source).sizes, self.answer.spends
        self.budget = accounting.requested(self.spends)
        self.tuning = {"level": self.answer.plan.basis.level, "clip": self.answer.plan.clip}

    def brief(self) -> Brief:
        answer = self.answer
        error, within = (math.nan,) * 2 if answer.is_refused else (answer.error, answer.within)
        return self.brief_with(
            error, within, self.facts.value_unit, budgets=words.budgets(self.network)
        )

    @property
    def highest_epsilon(self) -> float:
        return max(group.epsilon for group in self.network.groups)

    @property
    def arguments(self) -> tuple[Readings, Method, Network, int]:
        return self.source, self.mechanism, self.network, self.settings.seed


# -- what is shown --------------------------------------------------------------------------


def curve(view: Regression) -> None:
    if view.answer.is_refused:
        st.error(words.REFUSED, icon=":material/block:")
        return
    mode = controls.look("Show", (_RELEASES, _ONE), "regression_show", label_visibility="collapsed")
    view.draw("The curve", charts.curve(view.answer, mode == _ONE), "curve", 400, 320)
    caption = f"Each line: one of {len(view.answer.releases)} equally likely releases."
    if mode == _ONE:
        caption = words.band(view.answer)
    st.markdown(f":small[{caption}]")
    st.markdown(words.limited(view.network, view.mechanism.smoothness, view.answer.risk))


def accuracy(view: Regression) -> None:
    """Show the exact error and its parts."""
    st.header("Error", anchor=False, help=glossary.explain("Error"))
    if view.answer.is_refused:
        st.markdown("Nothing would be published, so there is no error to state.")
        return
    st.markdown(words.accuracy(view.answer))
    if view.answer.risk is not None:
        view.draw("Parts of the error", charts.split(view.answer.risk), "split", 44)
        st.markdown(f":small[{shares_key(words.shares(view.answer.risk), words.PARTS)}]")


def levels(view: Regression) -> None:
    """Show the error by number of basis functions, if a closed form gives it."""
    source = view.source
    if (
        view.answer.risk is None
        or view.mechanism.design != "even"
        or not isinstance(source, SimulatedReadings)
    ):
        return
    st.header("Number of basis functions", anchor=False)
    left, right = st.columns([7, 3], gap="medium")
    risks = run.answer(regression_topic.risk_by_level, source, view.mechanism, view.network)
    with left:
        view.draw("Error by level", charts.by_level(risks), "levels", 340, 340)
        st.markdown(
            ":small[Root of the squared error and of each part, exact. ◇ the rule’s choice.]"
        )
    with right:
        st.markdown(words.levels(risks))
        by_rule = "By the rule"
        options = [by_rule, *map(str, risks.levels)]
        controls.bound(
            st.select_slider,
            "Take another level (J)",
            by_rule if view.mechanism.level is None else str(view.mechanism.level),
            lambda level: session.change_mechanism(
                TASK, replace(view.mechanism, level=None if level == by_rule else int(level))
            ),
            "level",
            options=options,
            help="2^J basis functions are kept. The rule looks at public numbers only.",
        )


def point(view: Regression) -> None:
    """Compare one point released on its own with the whole curve."""
    st.header("Estimate at one point", anchor=False)
    if view.answer.is_refused:
        st.markdown("These budgets allow no estimate.")
        return
    if view.mechanism.design != "even":
        st.markdown(words.ONLY_EVEN)
        return
    where = {step / 100: words.place(view.facts, step / 100) for step in range(101)}
    point = view.settings.evaluation_point
    where.setdefault(point, words.place(view.facts, point))
    estimate = run.made_once(
        view.answer,
        ("point", point),
        lambda: regression_topic.point_answer(
            view.source,
            regression_topic.at_a_point(view.mechanism),
            view.answer.plan,
            view.network,
            point,
            view.settings.seed,
        ),
    )
    left, right = st.columns([7, 3], gap="medium")
    with left:
        controls.bound(
            st.select_slider,
            "Where: move this, or touch the picture",
            point,
            _move,
            "point",
            options=sorted(where),
            format_func=where.__getitem__,
        )
        view.draw(
            "One point",
            charts.point(view.answer, estimate),
            "point",
            320,
            picked=lambda x: _move(round(float(view.facts.to_unit_time(np.array(x))), 2)),
        )
    with right:
        st.markdown(words.point(estimate))
        if view.is_own:
            _class_statement(view, estimate)
        st.markdown(words.point_against_whole(estimate))
        st.markdown(f":small[{words.printed_constant(estimate)}]")


def _class_statement(view: Regression, estimate: PointAnswer) -> None:
    """Ask the visitor to state that the curve is smooth enough; else nothing bounds the bias."""
    controls.bound(
        st.checkbox,
        words.class_statement(estimate),
        view.mechanism.class_stated,
        lambda ticked: session.change_mechanism(TASK, replace(view.mechanism, class_stated=ticked)),
        "class_stated",
        help=words.CLASS_HELP,
    )


def _move(point: float) -> None:
    session.change(evaluation_point=allowed.point(point))


def cost(view: Regression) -> None:
    """Show when privacy begins to cost, for both tasks."""
    st.header("What each budget would buy", anchor=False)
    left, right = st.columns([7, 3], gap="medium")
    costs, planned = run.made_once(
        view.answer,
        "cost",
        lambda: (
            regression_topic.cost_of_privacy(view.network, view.mechanism.smoothness),
            regression_topic.planned_cost(view.mechanism, view.facts, view.network),
        ),
    )
    with left:
        view.draw("Cost of privacy", charts.cost(costs, planned), "cost", 320)
        st.markdown(
            ":small[For as many observations on as many equal sites. "
            "Vertical: where the cost begins by the rates.]"
        )
    with right:
        st.markdown(words.elbows(costs))
        st.markdown(words.planned_cost(planned))


def assumptions(view: Regression) -> None:
    """State assumptions, and what happens if they fail."""
    st.header("Assumptions", anchor=False)
    source = view.source
    if isinstance(source, SimulatedReadings):
        st.markdown(
            words.design(
                run.made_once(
                    view.answer,
                    "design",
                    lambda: regression_topic.design_demo(source, view.mechanism, view.network),
                )
            )
        )
    else:
        st.markdown(words.design_of_own(view.mechanism, view.facts))
        _design_choice(view.mechanism)
    st.markdown("  \n".join(words.ASSUMPTIONS))


def _design_choice(mechanism: Method) -> None:
    """Choose what the visitor knows of the times; a known density starts as an even one."""

    def take(design: str) -> None:
        known = design in ("weighted", "ranked")
        session.change_mechanism(
            TASK,
            replace(
                mechanism, design=design, density=(mechanism.density or "1, 1") if known else None
            ),
        )

    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.bound(
            st.selectbox,
            "Times of observations",
            mechanism.design,
            take,
            "design",
            options=[*words.DESIGNS],
            format_func=words.DESIGNS.__getitem__,
        )
        if mechanism.density is not None:
            controls.bound(
                st.text_input,
                "Heights of the density, from the first time to the last",
                mechanism.density,
                lambda text: session.change_mechanism(
                    TASK, replace(mechanism, density=text.strip())
                ),
                "density",
                max_chars=settings.LONGEST_TEXT,
                help="At equally spaced times, such as "
                "1, 2, 1 where twice as many observations were planned in the middle.",
            )


def messages(view: Regression) -> None:
    names = [
        group.name or f"{group.sites} × {group.readings:,} at ε = {group.epsilon:g}"
        for group in view.network.groups
    ][:MAX_KINDS]
    if view.answer.messages is not None:
        view.draw("What each site sent", charts.messages(view.answer, names), "messages", 340)
    st.markdown(
        f"Each site sends {view.answer.plan.basis.size} noisy numbers, once. The centre "
        "sees nothing else."
    )
    layout.table(
        [
            {
                "site" if view.is_own else "sites": row.group.name or row.group.sites,
                "observations": f"{row.group.readings:,}",
                "ε": f"{row.group.epsilon:g}",
                "weight of each": f"{number(100 * row.weight, 2)} %",
                "noise in each number": number(row.noise),
                "bottleneck": "privacy" if row.limited else "observations",
            }
            for row in view.answer.rows
        ],
        view.is_own,
    )


def worst(view: Regression) -> None:
    if view.mechanism.design != "even":
        st.markdown(words.WORST_ONLY_EVEN)
        return
    pair = regression_topic.worst_pair(view.answer.plan, view.mechanism)
    view.draw("Weight of an observation", charts.worst(pair, view.facts), "worst", 280)
    st.markdown(words.worst(pair, view.answer.plan.clip, view.facts))


def slopes() -> None:
    """Compare nine numbers of the theory with the same numbers computed from exact errors."""
    st.markdown(words.SLOPES)
    st.dataframe(run.answer(wavelet_slopes.compared), hide_index=True)


# -- its sites, and the controls that choose what they hold ----------------------------------------


SIZES = ("configuration", "n_curves", "n_servers", "sizes_listed")  # the network states them
_OWN = "Your own network"
_SIMULATED, _MINE = "Simulated", "Your observations"
_EPSILONS = "site_epsilons"  # session key of own sites' ε, kept out of settings and links


def readings_on_screen() -> Readings:
    readings = session.source(TASK)
    assert isinstance(readings, Readings)
    return readings


def method_on_screen() -> Method:
    method = session.current().mechanism_of(TASK)
    assert isinstance(method, Method)
    return method


def network_on_screen() -> Network:
    """Return the sites on screen: those of the visitor's own observations, or the chosen ones."""
    readings = readings_on_screen()
    if not isinstance(readings, Upload):
        return session.current().network
    return Network.of_upload(readings, _own_epsilons(readings), session.delta(readings, TASK).value)


def _own_epsilons(readings: Upload) -> tuple[float, ...]:
    """Return the ε of every site of own observations; 1 until it is changed."""
    epsilons, n_sites = st.session_state.get(_EPSILONS, ()), readings.sizes.n_servers
    return epsilons if len(epsilons) == n_sites else (1.0,) * n_sites


def start_own() -> None:
    """Start with new own observations: the default ε, and the stated range."""
    st.session_state.pop(_EPSILONS, None)
    session.change_mechanism(
        TASK, regression_topic.suited(method_on_screen(), readings_on_screen().facts)
    )


# -- controls -------------------------------------------------------------------------------


def choices() -> None:
    """Choose the observations, the network to start from, the curve and the method."""
    if session.upload_of(TASK) is not None:
        controls.bound(
            st.selectbox,
            "Observations",
            _MINE if session.uploaded(TASK) else _SIMULATED,
            lambda name: session.show_own(TASK, name == _MINE),
            "readings",
            options=[_SIMULATED, _MINE],
            help="Simulated, or those of your file.",
        )
    simulated = readings_on_screen()
    if isinstance(simulated, SimulatedReadings):
        _simulated(simulated)
    method_choice()
    with st.popover("Sizes and ε", width="stretch"):
        _rows()


def network_choice(networks: Mapping[str, tuple[Group, ...]], **more: Any) -> None:
    """Choose the network to start from."""
    chosen = session.current().network
    current = next((name for name, groups in networks.items() if Network(groups) == chosen), _OWN)

    def start(name: str) -> None:
        if name in networks:
            session.change(network=Network(networks[name]))

    controls.bound(
        st.selectbox,
        "Sites",
        current,
        start,
        "network",
        options=[*networks] if current in networks else [_OWN, *networks],
        help="Networks to start from; every number below can be changed.",
        **more,
    )


def method_choice() -> None:
    """Choose the level, the clip and the noise."""
    methods = regression_topic.methods()
    controls.bound(
        st.selectbox,
        "Method",
        method_on_screen().nearest_preset()[0],
        lambda label: session.change_mechanism(TASK, methods[label]),
        "wavelet_method",
        options=[*methods],
        help="How level, clip and noise are chosen.",
    )


def _simulated(points: SimulatedReadings) -> None:
    """Choose sites to start from, and the curve behind simulated observations."""
    network_choice(NETWORKS)
    controls.bound(
        st.selectbox,
        "Curve",
        regression_topic.curve_name(points),
        lambda name: session.change_source(TASK, regression_topic.with_curve(points, name)),
        "signal",
        options=regression_topic.CURVES,
        format_func=lambda name: capital(name.replace("_", " ")),
        help="The known curve behind the observations. Besov: as rough as its class allows.",
    )


def _rows() -> None:
    """Draw three numbers for each kind of site; for own sites only ε can be changed."""
    upload = readings_on_screen()
    if isinstance(upload, Upload):
        _own_sites(upload)
        return
    current = session.current().network
    for k, group in enumerate(current.groups):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            _number(k, "sites", "Sites of one kind" if k == 0 else "Sites", group.sites)
            _number(k, "readings", "Observations at each", group.readings)
            _number(k, "epsilon", "Privacy budget ε of each", group.epsilon)
    with st.container(horizontal=True):
        st.button(
            "Add another kind",
            icon=":material/add:",
            type="tertiary",
            key="add_kind",
            on_click=_add,
            disabled=len(current.groups) >= MAX_KINDS,
        )
        st.button(
            "Remove the last",
            icon=":material/remove:",
            type="tertiary",
            key="remove_kind",
            on_click=_remove,
            disabled=len(current.groups) == 1,
        )


def _number(k: int, field: str, label: str, value: float) -> None:
    """Draw one number of the kind k of sites."""

    def write(entered: Any) -> None:
        groups = list(session.current().network.groups)
        groups[k] = replace(groups[k], **{field: entered})
        session.change(network=replace(session.current().network, groups=tuple(groups)))

    controls.number(label, value, write, f"group_{k}_{field}", is_whole=field != "epsilon")


def _own_sites(upload: Upload) -> None:
    """Ask for the ε of every site, or one for all if there are many."""
    epsilons = _own_epsilons(upload)

    def write(indices: range, entered: float) -> None:
        changed = tuple(entered if k in indices else old for k, old in enumerate(epsilons))
        delta = session.delta(upload, TASK).value
        Network.of_upload(upload, changed, delta)  # refuses what cannot be
        st.session_state[_EPSILONS] = changed

    with st.container(horizontal=True, vertical_alignment="bottom"):
        if len(epsilons) > MAX_KINDS:
            everywhere = range(len(epsilons))
            controls.number(
                f"Privacy budget ε of each of {len(epsilons)} sites",
                epsilons[0],
                partial(write, everywhere),
                "own_epsilon_all",
            )
            return
        for k, group in enumerate(network_on_screen().groups):
            controls.number(
                f"Privacy budget ε at {escape(group.name)} ({group.readings:,})",
                group.epsilon,
                partial(write, range(k, k + 1)),
                f"own_epsilon_{k}",
            )


def _add() -> None:
    groups = session.current().network.groups
    session.change(network=Network((*groups, Group(1, 1000, 1.0))))


def _remove() -> None:
    session.change(network=Network(session.current().network.groups[:-1]))
