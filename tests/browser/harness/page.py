"""Strip, figure and chart with made-up curves; the address says which case to show.

`case=upload` forbids link and download, `case=evil` puts markup into every word a visitor can
choose, `case=plain` has no truth, no sampling range and no band, `case=refused` refuses the lowest
budgets, `case=far` has public bounds far from all curves, `case=few` has few people.
"""

import json
from types import SimpleNamespace

import numpy as np
import streamlit as st

from engine.core.types import Budget, PublicFacts
from engine.figures import traces
from engine.figures.theme import layout, log_axis
from engine.topics.mean import live
from pages.shared import components
from tests.browser.harness.curves import EPSILONS, EVIL, band, growth, made_up


def verdicts():
    """Nothing is published at the three lowest budgets, and little can be trusted at the next."""
    return (
        [{"refused": ("Too few <b>children</b>.", "Ask more."), "error": ""}] * 3
        + [{"note": "Coarse."}] * 2
        + [{}] * (len(EPSILONS) - 5)
    )


def payload(case):
    """What the figure draws in one case."""
    t, ordinary, releases, curves, scales = made_up()
    plain = case == "plain"
    facts = PublicFacts(
        name="Growth",
        kind="upload" if case == "upload" else "simulated",
        person=EVIL if case == "evil" else "child",
        people=EVIL if case == "evil" else "children",
        value_name=EVIL if case == "evil" else "Height",
        value_unit="cm",
        time_name="Age",
        time_unit="years",
        time_low=2.0,
        time_high=18.0,
        **(
            {"value_low": -900.0, "value_high": 1200.0}
            if case == "far"
            else {"value_low": 60.0, "value_high": 200.0}
        ),
    )
    budget = SimpleNamespace(
        data=SimpleNamespace(
            n_curves=20 if case == "few" else 200, curves=lambda limit: curves[:limit]
        ),
        budgets=[Budget(epsilon, 2.5e-5) for epsilon in EPSILONS],
        times=facts.from_unit_time(t),
        releases=releases[:, :20],
        ordinary=ordinary,
        noise_low=np.quantile(releases, 0.025, axis=1),
        noise_high=np.quantile(releases, 0.975, axis=1),
        half_low=np.quantile(releases, 0.25, axis=1),
        half_high=np.quantile(releases, 0.75, axis=1),
        sampling=np.zeros_like(t) if plain else 1.5 + 0.4 * np.cos(6 * t),
        truth=None if plain else growth(t),
        band=None if plain else band(releases[:, :20], scales),
    )
    said = verdicts() if case == "refused" else [{}] * len(EPSILONS)
    return live.figure_payload(
        facts,
        budget,
        [
            live.AtBudget(
                **{
                    "attacker": 1 / (1 + np.exp(-0.25 * epsilon)),
                    "error": f"{scale:.1f} cm",
                    "within": f"{2 * scale:.1f} cm",
                    **step,
                }
            )
            for epsilon, scale, step in zip(EPSILONS, scales, said, strict=True)
        ],
    )


def words(case):
    """The strip's text at every budget, made up but plausible."""
    _, _, _, _, scales = made_up()
    odds = np.ceil(50 + 6 * np.array(EPSILONS) ** 0.8)
    return [
        components.Budgeted(
            f"ε = {e:g} · δ = 2.5×10⁻⁵", f"at most {k:.0f} in 100", f"{s:.3g} cm", weak=e >= 4
        )
        for e, k, s in zip(EPSILONS, odds, scales, strict=True)
    ]


def chart():
    """A small chart with one line."""
    errors = (3.85 / np.array(EPSILONS)).tolist()
    return {
        "data": [traces.line("Adaptive mean", EPSILONS, errors, "gradient")],
        "layout": layout(
            xaxis=log_axis("Protection ε (log scale)", EPSILONS[0], EPSILONS[-1]),
            yaxis=log_axis("Error (cm)", errors[-1], errors[0]),
        ),
    }


def steps():
    """A dot at every budget, as a figure and its name; none at the first."""
    return [("", "Nothing")] + [
        (
            json.dumps(
                {"data": [{"type": "scatter", "mode": "markers", "x": [k], "y": [1]}], "layout": {}}
            ),
            f"A dot at {k}",
        )
        for k in range(1, len(EPSILONS))
    ]


def chips(case):
    """The facts of the strip in one case."""
    unit = "<b>unit</b>" + EVIL if case == "evil" else "One child’s whole curve"
    first = (
        components.Chip("Your curves · not private", "Only you may look.", "orange", "person")
        if case == "upload"
        else components.Chip("Simulated", "Curves made by the computer from a known average.")
    )
    return [
        first,
        components.Chip(
            unit, "What is protected: every reading of any one child.", "blue", "shield"
        ),
    ]


st.set_page_config(page_title="Harness", layout="wide")
case = st.query_params.get("case", "")
state = st.session_state
state.setdefault("rev", 0)
state.setdefault("budget", 13)
state.runs = state.get("runs", 0) + 1
state.budget = components.picked("figure", live.Picked(state.budget), state.rev).budget
st.title("The average growth curve, published with protection for every child")
components.strip(chips(case), words(case), state.budget, person="child", link=case != "upload")
left, right = st.columns([7, 3])
hidden = right.checkbox("Hide the figure")
for kind in ("svg", "png"):
    if right.button(f"Save as {kind.upper()}"):
        state.saved = state.get("saved", 0) + 1
        state.save = f"{state.saved}-{kind}"
with left:
    now = (
        live.Picked(state.budget)
        if hidden
        else components.figure(
            "figure",
            payload(case),
            live.Picked(state.budget),
            state.rev,
            new_noise=case != "upload",
            save=state.get("save", ""),
        )
    )
    components.said(
        [
            [
                components.Said(f"Right **{k + 50} times** in 100<b>"),
                components.Said("Weak", "warning"),
            ]
            if k > 18
            else [components.Said(f"Right **{k + 50} times** in 100<b>")]
            for k in range(len(EPSILONS))
        ],
        "said",
        state.rev,
    )
    components.chart_by_step(*zip(*steps(), strict=True), "dots", 90, state.rev)
    components.chart(chart(), "The error falls with ε.", "errors", 320, 280)
with right:
    st.text(
        f"server budget {now.budget}, view {now.view}, noise {now.new_noise}, runs {state.runs}"
    )
    if st.button("Move to the first budget"):
        state.rev, state.budget = state.rev + 1, 0
        st.rerun()
st.query_params["b"] = str(now.budget)
