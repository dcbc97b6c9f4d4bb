"""The parts of Explore, each drawn from one scene: what is on screen at the chosen budget."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
import pandas as pd
import streamlit as st

from engine import accounting, export, risk, scenario, wording
from engine.experiments import Run
from engine.figures import cards as figures
from engine.figures import error_curve
from engine.figures.theme import Chart
from engine.preview import Preview
from engine.rates import rates
from engine.sources import Source
from engine.types import Array, Budget
from pages.shared import components as pieces
from pages.shared import layout, run, settings

_PICTURE = "picture"
_WEAK_FROM = 4.0
_QUICK_READINGS = 100_000  # up to here, doubling each size is simulated without being asked
_FIRST_GUESSES = {"1 in 100": 0.01, "10 in 100": 0.1, "50 in 100": 0.5}


class Scene:
    """One preview at the budget that the slider stands at."""

    def __init__(self, shown: Preview, source: Source, now: settings.Settings) -> None:
        self.shown, self.source, self.facts = shown, source, source.facts
        self.epsilons = [budget.epsilon for budget in shown.budgets]
        self.rev = st.session_state.rev
        self.at = self.epsilons.index(now.epsilon)

    def follow_picture(self) -> None:
        """Take over what the visitor did in the picture since the last run."""
        now = settings.current()
        picked = pieces.picked(_PICTURE, self.at, now.view, now.shown, self.rev,
                               len(self.epsilons))
        self.at = picked.budget
        st.session_state.settings = replace(now, epsilon=self.epsilons[picked.budget],
                                            view=picked.view, shown=picked.shown)

    @property
    def budget(self) -> Budget:
        return self.shown.budgets[self.at]

    @property
    def own(self) -> bool:
        """Whether these are the visitor's own curves, which only they may see."""
        return self.facts.kind == "upload"

    @cached_property
    def typical(self) -> Array:
        return self.shown.study.typical

    @cached_property
    def odds(self) -> list[risk.Odds]:
        return [risk.odds(float(mu), budget)
                for mu, budget in zip(self.shown.mus, self.shown.budgets, strict=True)]

    @cached_property
    def errors_in_words(self) -> list[str]:
        """The typical error at every budget, with the decimals it has on the accuracy card."""
        study, unit = self.shown.study, self.facts.value_unit
        within = study.quantile(0.95)
        return [wording.with_unit(wording.together([x, y, study.floor or 0.0])[0], unit)
                for x, y in zip(self.typical, within, strict=True)]


# -- above and in the picture ---------------------------------------------------------------


def strip(scene: Scene) -> None:
    """What is protected, the odds and the error; follows the slider in the browser."""
    facts = scene.facts
    icon = {"simulated": "flask", "public": "globe", "upload": "warning"}[facts.kind]
    kind = "orange" if scene.own else "gray"
    pieces.strip(
        [pieces.Chip(*wording.source_tag(facts), kind, icon),
         pieces.Chip(*wording.unit_tag(facts), "blue", "shield")],
        [pieces.Budgeted(wording.budget_chip(b), wording.odds_short(o), e, b.epsilon >= _WEAK_FROM)
         for b, o, e in zip(scene.shown.budgets, scene.odds, scene.errors_in_words, strict=True)],
        scene.at, person=facts.person, rev=scene.rev, link=not scene.own)


def promise(scene: Scene) -> None:
    """Say at once when printed constants do not give the budget that stands above."""
    spends = scene.shown.spends[scene.at]
    if not accounting.keeps_promise(spends):
        given = max(budget.epsilon for budget in accounting.guarantees(spends))
        st.error(f"**These constants, as published, give ε = {given:.3g}, not "
                 f"{scene.budget.epsilon:g}.** They can be looked at, not released. Switch to "
                 "*tight*.", icon=":material/error:")


def picture(scene: Scene) -> None:
    """The live picture; its slider is the only ε control of the page."""
    shown, now = scene.shown, settings.current()
    payload = pieces.picture_payload(
        scene.facts, title=wording.title(scene.facts), epsilons=scene.epsilons, times=shown.times,
        releases=shown.releases, without=shown.without, noise_low=shown.noise_low,
        noise_high=shown.noise_high, sampling=shown.sampling, truth=shown.truth,
        spoken=[f"typical error {e}" for e in scene.errors_in_words],
        curves=shown.data.curves(70), n_curves=shown.data.n_curves, downloads=not scene.own)
    picked = pieces.picture(_PICTURE, payload, scene.at, now.view, now.shown, scene.rev,
                            new_noise=scene.facts.kind == "simulated")
    if picked.new_noise:
        settings.change(seed=now.seed + 1)
        st.rerun()


# -- the cards ------------------------------------------------------------------------------


def odds(scene: Scene) -> None:
    """What an attacker could find out about one person."""
    person, at = scene.facts.person, scene.odds[scene.at]
    with st.container(border=True):
        st.subheader(f"Odds for one {person}", anchor=False)
        st.markdown(wording.odds_main(at, person))
        _chart(figures.odds(at.right, person, layout.theme()), "odds", 86)
        st.markdown(f":small[{wording.odds_key(at)}]")
        if at.budget.epsilon >= _WEAK_FROM:
            st.warning(wording.weak(at, person), icon=":material/warning:")
        with layout.fold("Why, and for a careful attacker", "why") as is_open:
            if is_open:
                _careful_attacker(scene)


def _careful_attacker(scene: Scene) -> None:
    st.markdown(wording.odds_careful(scene.odds[scene.at]))
    st.markdown(wording.odds_why(scene.odds[scene.at]))
    guess = st.segmented_control("Attacker’s first guess", list(_FIRST_GUESSES), required=True,
                                 default="10 in 100", key="first_guess")
    at = risk.odds(float(scene.shown.mus[scene.at]), scene.budget, _FIRST_GUESSES[guess])
    st.markdown(wording.odds_flagged(at, scene.facts.people))
    st.markdown(wording.not_covered(scene.facts))
    st.markdown(wording.delta_explained(scene.budget.delta))


def accuracy(scene: Scene) -> None:
    """How close a release comes, in the data's own unit."""
    study, facts = scene.shown.study, scene.facts
    typical = float(scene.typical[scene.at])
    with st.container(border=True):
        st.subheader("Accuracy", anchor=False)
        st.markdown(wording.accuracy(facts, typical, float(study.quantile(0.95)[scene.at]),
                                     study.floor))
        _chart(figures.error_dots(study.errors[scene.at], study.floor, facts.value_unit,
                                  layout.theme()), "dots", 118)
        dashed = " Dashed: without protection." if study.floor is not None else ""
        st.markdown(f":small[Each dot: 1 of 20 equally likely releases.{dashed}]")
        drowned = wording.useless(facts, typical, scene.budget, scene.shown.data.n_curves)
        if drowned:
            st.warning(drowned, icon=":material/block:")


def limits(scene: Scene) -> None:
    """What the error is made of, and what doubling a size would buy."""
    shares, facts = scene.shown.study.shares[scene.at], scene.facts
    with st.container(border=True):
        st.subheader("What limits accuracy", anchor=False)
        st.markdown(wording.what_limits(facts, shares))
        _chart(figures.split_bar(shares, wording.parts(facts), layout.theme()), "split", 44)
        st.markdown(f":small[{wording.shares_key(facts, shares)}]")
        if facts.kind == "simulated" and scene.source.sizes.n_observations <= _QUICK_READINGS:
            now = settings.current()
            changes = run.if_doubled(scene.source, now.mechanism, scene.shown.budgets, now.seed)
            here = {what: float(relative[scene.at]) for what, relative in changes.items()}
            st.markdown("If you doubled…  \n" + "  \n".join(wording.if_doubled(facts, here)))


def budgets(scene: Scene) -> None:
    """The error at every budget of the slider, with the present one marked."""
    study, facts = scene.shown.study, scene.facts
    st.header("What each budget would buy", anchor=False)
    left, right = st.columns([7, 3], gap="medium")
    with left:
        _chart(error_curve.against_budget(
            scene.epsilons, scene.typical, study.quantile(0.1), study.quantile(0.9), study.floor,
            scene.at, facts.value_unit, layout.theme(), theory=_theory(scene),
            method=settings.current().mechanism.label), "budgets", 320, 280)
        st.markdown(":small[Band: 8 in 10 releases. ◇ you are here. Dotted: how fast the theory "
                    "says privacy noise falls.]")
    with right:
        here = scene.budget.epsilon
        st.markdown(wording.budget_ratio(facts, here, float(scene.typical[scene.at]), study.floor,
                                         _at(scene, here / 2), _at(scene, here * 2)))
        st.markdown(wording.enough(*_enough(scene)))


def _at(scene: Scene, epsilon: float) -> float | None:
    """The typical error at an ε on the slider's range, between its steps on log scales."""
    if not scene.epsilons[0] <= epsilon <= scene.epsilons[-1]:
        return None
    return float(np.exp(np.interp(np.log(epsilon), np.log(scene.epsilons), np.log(scene.typical))))


def _enough(scene: Scene) -> tuple[float | None, str]:
    """The first step within a tenth of the last one, where noise is no longer what limits."""
    last = scene.shown.study.shares[-1]
    names = wording.parts(scene.facts)
    if last.argmax() == 0:
        return None, ""
    far = np.flatnonzero(scene.typical > 1.1 * scene.typical[-1])
    return scene.epsilons[int(far.max(initial=-1)) + 1], names[int(last.argmax())]


def _theory(scene: Scene) -> Array | None:
    """The privacy terms of the rate, as a distance, through the measured point at ε = 0.3."""
    for rate in rates.for_task(settings.TASK):
        sizes = scene.shown.data.sizes
        terms = rate(smoothness=settings.current().mechanism.smoothness).evaluate(
            n=sizes.n_curves / sizes.n_servers, m=sizes.n_observations_per_curve,
            S=float(sizes.n_servers), epsilon=np.array(scene.epsilons))
        shape = np.sqrt(terms[[1, 3]].sum(axis=0))
        anchor = int(np.argmin(np.abs(np.log(scene.epsilons) - np.log(0.3))))
        return np.asarray(shape * scene.typical[anchor] / shape[anchor])
    return None


# -- to take away, and the folds --------------------------------------------------------------


def take_away(scene: Scene) -> None:
    """Downloads: the numbers and the scenario; the picture's own button saves the picture."""
    plain = None if scene.own else _plain(scene)
    reason = "Your own curves are not private: nothing of them can be downloaded." if scene.own \
        else None
    with st.container(horizontal=True):
        st.download_button(
            "Get the numbers",
            b"" if scene.own else export.numbers_csv(scene.shown, scene.at, plain),
            "privacy-curves-numbers.csv", "text/csv", on_click="ignore", help=reason,
            disabled=scene.own, icon=":material/table:", key="get_numbers")
        st.download_button(
            "Get the scenario", export.scenario_json(plain or {}), "privacy-curves-scenario.json",
            "application/json", on_click="ignore", disabled=scene.own, key="get_scenario",
            icon=":material/data_object:",
            help=reason or "A file for the command line: python -m engine run FILE")


def _plain(scene: Scene) -> dict[str, object]:
    now = settings.current()
    how = Run(100, 1, now.seed) if scene.source.is_random else Run(1, 100, now.seed)
    return scenario.to_plain(scene.source, now.mechanism, (scene.budget,), how)


def numbers(scene: Scene) -> None:
    """The tables behind the charts of this page."""
    shown, study = scene.shown, scene.shown.study
    unit = scene.facts.value_unit or "their unit"
    st.markdown(f"Curves at {wording.budget_chip(scene.budget)}, in {unit}")
    columns = {scene.facts.time_name: shown.times, "without protection": shown.without,
               "noise range low": shown.noise_low[scene.at],
               "noise range high": shown.noise_high[scene.at], "sampling ±": shown.sampling}
    if shown.truth is not None:
        columns["true average"] = shown.truth
    st.dataframe(pd.DataFrame(columns).round(3), height=220, hide_index=True)
    st.markdown(f"Errors at every budget, from {study.errors.shape[1]} simulated releases each")
    table = pd.DataFrame({
        "ε": scene.epsilons, "typical error": scene.typical, "1 in 10 below": study.quantile(0.1),
        "1 in 10 above": study.quantile(0.9),
        "right guess, at most": [np.ceil(1000 * o.right) / 1000 for o in scene.odds],
        **{name: study.shares[:, k] for k, name in enumerate(wording.parts(scene.facts))}})
    st.dataframe(table.round(3), height=220, hide_index=True)


def ledger(scene: Scene) -> None:
    """What one release would spend, round by round, and why the total is what it is."""
    spends = scene.shown.spends[scene.at]
    proved = accounting.guarantees(spends)
    st.dataframe(pd.DataFrame([{
        "site": spend.server + 1, "what leaves it": spend.what, "rounds": spend.count,
        "μ of a round": round(spend.mu, 5), "adds up": spend.composition,
        "total μ": round(accounting.total_mu([spend]), 5), "gives ε": round(budget.epsilon, 4),
        "at δ": wording.small(budget.delta)}
        for spend, budget in zip(spends, proved, strict=True)]), hide_index=True)
    st.markdown(spends[0].why)
    promise(scene)
    if accounting.keeps_promise(spends) and settings.current().mechanism.constants == "published":
        given = max(budget.epsilon for budget in proved)
        st.markdown(f"The published constants add more noise than ε = {scene.budget.epsilon:g} "
                    f"needs: what they really give is **ε = {given:.3g}**.")


def formula(scene: Scene) -> None:
    """The noise with this page's numbers put in, the source, and how to repeat it."""
    mechanism, spend = settings.current().mechanism, scene.shown.spends[scene.at][0]
    st.markdown(f"{mechanism.label}: {mechanism.reference}.")
    st.latex(r"a_{t+1} = a_t - \rho\Big(\tfrac1b\sum_i \mathrm{clip}_R(M_i a_t - v_i) + w_t\Big),"
             r"\qquad w_t \sim N\big(0, \mathrm{diag}(\sigma_l^2)\big)")
    st.latex(rf"\Delta_1 = {spend.sensitivity[0]:.4g},\quad \sigma_1 = {spend.noise_scale[0]:.4g},"
             rf"\quad \mu = {spend.mu:.4g}\ \text{{per round}},\quad T = {spend.count}")
    tuned = scene.shown.tuning[scene.at]
    st.markdown(f"Basis functions kept: {tuned['truncation']} · rounds: {tuned['n_iterations']} · "
                f"curves in a round: {tuned['batch_size']}")
    if not scene.own:
        st.markdown("The same on the command line:")
        st.code("python -m engine run - <<'END'\n"
                + export.scenario_json(_plain(scene)).decode() + "\nEND", language="bash")


def _chart(chart: Chart, key: str, height: int, phone: int | None = None) -> None:
    pieces.chart(chart.spec, chart.alt, f"chart_{key}", height, phone)
