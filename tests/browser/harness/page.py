"""Strip, picture and chart with made-up curves; the address says which case to show.

`case=upload` forbids link and download, `case=evil` puts markup into every word a visitor can
choose, `case=plain` has no truth, no sampling range and no band, `case=refused` refuses the lowest
budgets.
"""

import json
from types import SimpleNamespace

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from engine.core.types import Budget, PublicFacts
from engine.topics.mean.answer import PlausibleBand
from pages.shared import components as pieces

EPSILONS = (0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2, 1.5,
            2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
EVIL = "<img src=x onerror='window.__harm=1'><script>window.__harm=1</script>"


def growth(t):
    """A mean height in cm on [0, 1], which stands for ages 2 to 18."""
    return 83 + 92 * t - 6 * np.cos(5 * t) + 4 * np.sin(9 * t) * t


def made_up(seed=7):
    """Arrays of the right shapes that look like a growth study of 200 children."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, 101)
    waves = np.array([np.cos(np.pi * k * t) / (1 + 0.4 * k) for k in range(8)])
    without = growth(t) + 0.35 * waves.T @ rng.normal(size=8)
    scales = 3.6 / np.array(EPSILONS) ** 0.9
    noise = rng.normal(size=(100, 8)) @ waves
    releases = without + scales[:, None, None] * noise
    curves = []
    for _ in range(90):
        at = np.sort(rng.uniform(0.02, 0.99, 30))
        person = rng.normal(0, 5.5) + rng.normal(0, 3) * at
        curves.append((at, growth(at) + person + rng.normal(0, 0.9, 30)))
    return t, without, releases, curves, scales


def band(releases, scales):
    """A band around each release, as wide as the noise."""
    half = 3 * scales[:, None, None] * np.ones_like(releases)
    return PlausibleBand(releases - half, releases + half, np.full(101, 2.0), "simultaneous",
                         (12,) * len(scales))


def verdicts():
    """Nothing is published at the three lowest budgets, and little can be trusted at the next."""
    return [pieces.Verdict(refused=("Too few <b>children</b>.", "Ask more."))] * 3 + [pieces.Verdict(note="Coarse.")] * 2 + [
        pieces.Verdict()] * (len(EPSILONS) - 5)


def payload(case):
    """What the picture draws in one case."""
    t, without, releases, curves, scales = made_up()
    plain = case == "plain"
    facts = PublicFacts(
        name="Growth", kind="upload" if case == "upload" else "simulated",
        person=EVIL if case == "evil" else "child", people=EVIL if case == "evil" else "children",
        value_name=EVIL if case == "evil" else "Height", value_unit="cm", time_name="Age",
        time_unit="years", time_low=2.0, time_high=18.0, value_low=60.0, value_high=200.0)
    shown = SimpleNamespace(
        data=SimpleNamespace(n_curves=200, curves=lambda limit: curves[:limit]),
        budgets=[Budget(epsilon, 2.5e-5) for epsilon in EPSILONS],
        times=facts.from_unit_time(t), releases=releases[:, :20], without=without,
        noise_low=np.quantile(releases, 0.025, axis=1),
        noise_high=np.quantile(releases, 0.975, axis=1),
        sampling=np.zeros_like(t) if plain else 1.5 + 0.4 * np.cos(6 * t),
        truth=None if plain else growth(t), band=None if plain else band(releases[:, :20], scales))
    return pieces.picture_payload(
        facts, shown, [f"error {scale:.1f} cm" for scale in scales],
        verdicts() if case == "refused" else ())


def words(case):
    """The strip's text at every budget, made up but plausible."""
    _, _, _, _, scales = made_up()
    odds = np.ceil(50 + 6 * np.array(EPSILONS) ** 0.8)
    return [pieces.Budgeted(f"ε = {e:g} · δ = 2.5×10⁻⁵", f"at most {k:.0f} in 100",
                            f"{s:.3g} cm", weak=e >= 4)
            for e, k, s in zip(EPSILONS, odds, scales, strict=True)]


def figure():
    """A small chart with two traces."""
    x = np.array(EPSILONS)
    drawn = go.Figure([go.Scatter(x=x, y=3.85 / x, name="Adaptive mean", line_color="#3D57D6")])
    drawn.update_layout(xaxis_type="log", yaxis_type="log", template="none",
                        xaxis_title="Protection ε (log scale)", yaxis_title="Error (cm)")
    return drawn


def steps():
    """A dot at every budget, as a figure and its name; none at the first."""
    return [("", "Nothing")] + [
        (json.dumps({"data": [{"type": "scatter", "mode": "markers", "x": [k], "y": [1]}]}),
         f"A dot at {k}") for k in range(1, len(EPSILONS))]


def chips(case):
    """The facts of the strip in one case."""
    unit = "<b>unit</b>" + EVIL if case == "evil" else "One child’s whole curve"
    first = (pieces.Chip("Your curves · not private", "Only you may look.", "orange", "person")
             if case == "upload" else
             pieces.Chip("Simulated", "Curves made by the computer from a known average."))
    return [first, pieces.Chip(unit, "What is protected: every reading of any one child.", "blue",
                               "shield")]


st.set_page_config(page_title="Harness", layout="wide")
case = st.query_params.get("case", "")
state = st.session_state
state.setdefault("rev", 0)
state.setdefault("budget", 13)
state.runs = state.get("runs", 0) + 1
state.budget = pieces.picked("picture", pieces.Picked(state.budget), state.rev).budget
st.title("The average growth curve, published with protection for every child")
pieces.strip(chips(case), words(case), state.budget, person="child", link=case != "upload")
left, right = st.columns([7, 3])
hidden = right.checkbox("Hide the picture")
with left:
    now = pieces.Picked(state.budget) if hidden else pieces.picture(
        "picture", payload(case), pieces.Picked(state.budget), 1, state.rev,
        new_noise=case != "upload")
    pieces.said([[pieces.Said(f"Right **{k + 50} times** in 100<b>"), pieces.Said("Weak", "warning")]
                 if k > 18 else [pieces.Said(f"Right **{k + 50} times** in 100<b>")]
                 for k in range(len(EPSILONS))], "said", state.rev)
    pieces.chart_by_step(*zip(*steps(), strict=True), "dots", 90, state.rev)
    pieces.chart(json.loads(figure().to_json()), "The error falls with ε.", "errors", 320, 280)
with right:
    st.text(f"server budget {now.budget}, view {now.view}, shown {'+'.join(now.shown)}, "
            f"noise {now.new_noise}, runs {state.runs}")
    if st.button("Move to the first budget"):
        state.rev, state.budget = state.rev + 1, 0
        st.rerun()
st.query_params["b"] = str(now.budget)
