"""Wavelet regression as an estimand of Lab: its cards."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import streamlit as st

from engine.language import glossary
from engine.language.error_words import shares_key
from engine.language.numbers import number
from engine.privacy import accounting
from engine.topics.brief import Brief, largest_part
from engine.topics.regression import answer as regression_topic
from engine.topics.regression import charts, words
from engine.topics.regression import slopes as wavelet_slopes
from engine.topics.regression.answer import (
    MAX_KINDS,
    Method,
    Network,
    PointAnswer,
    Readings,
    SimulatedReadings,
)
from pages.parts.regression_sites import TASK, network_on_screen
from pages.shared.frame import controls, layout
from pages.shared.frame.page import ReleaseView
from pages.shared.state import allowed, run, session, settings
from pages.shared.state.settings import Settings

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
        shares = None if answer.risk is None else words.shares(answer.risk)
        return self.brief_with(
            error,
            within,
            self.facts.value_unit,
            budgets=words.budgets(self.network),
            largest_part=largest_part(words.PARTS, shares),
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
        view.draw(
            "Parts of the error",
            charts.split(view.answer.risk),
            "split",
            44,
            below=shares_key(words.shares(view.answer.risk), words.PARTS),
        )


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
        view.draw(
            "Error by level",
            charts.by_level(risks),
            "levels",
            340,
            340,
            below="Root of the squared error and of each part, exact. ◇ the rule’s choice.",
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
        view.draw(
            "Cost of privacy",
            charts.cost(costs, planned),
            "cost",
            320,
            below=(
                "For as many observations on as many equal sites. "
                "Vertical: where the cost begins by the rates."
            ),
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
