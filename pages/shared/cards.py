"""The parts of Explore, each drawn from one scene: what is on screen at the chosen budget."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from engine import scenario
from engine.experiments import Run
from engine.exports import code_for
from engine.exports import files as export
from engine.feasibility import Feasibility
from engine.figures import cards as figures
from engine.figures import error_curve
from engine.figures.theme import Chart
from engine.mechanisms import Mechanism, mechanisms
from engine.privacy import accounting, risk
from engine.rates import rates
from engine.sources import Source
from engine.tasks import SPARSE_MEAN, SPARSE_REGRESSION, UNIVARIATE_MEAN, WAVELET_REGRESSION
from engine.types import Array, Budget, PublicFacts, Spend
from engine.views.preview import Preview
from engine.words import regression as regression_words
from engine.words import wording
from pages.shared import code_fold, layout, odds_card, odometer, pins, run, settings
from pages.shared import components as pieces

_PICTURE = settings.PICTURE
_RULES = 0.8  # share of the error that is privacy noise where the theory's slope is anchored
_QUICK_READINGS = 100_000  # up to here, doubling each size is simulated without being asked


class Scene:
    """One preview at the budget that the slider stands at."""

    def __init__(self, shown: Preview, source: Source, now: settings.Settings) -> None:
        self.shown, self.source, self.facts = shown, source, source.facts
        self.epsilons = [budget.epsilon for budget in shown.budgets]
        self.rev = st.session_state.rev
        self.at = self.epsilons.index(now.epsilon)
        self.charts: dict[str, Chart] = {}  # those on screen, for the table of their numbers
        self._made = run.beside(shown)

    def draw(self, title: str, chart: Chart, key: str, height: int, phone: int | None = None
             ) -> None:
        self.charts[title] = chart
        draw(chart, key, height, phone)

    def made_once(self, what: str, make: Callable[[], Any]) -> Any:
        """What is the same at every step of the slider: made once, and kept beside the picture."""
        key = (what, settings.current().group, layout.theme())
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def steps(self, make: Callable[[int], Any]) -> list[Any]:
        """One of something for every budget."""
        return [make(k) for k in range(len(self.epsilons))]

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

    @property
    def is_refused(self) -> bool:
        """Whether nothing would be published at the chosen budget."""
        return self.shown.is_refused(self.at)

    @cached_property
    def plain(self) -> dict[str, object] | None:
        now = settings.current()
        return plain_scenario(self.source, now.mechanism, self.budget, now.seed)

    @cached_property
    def typical(self) -> Array:
        """The typical error at every budget; NaN where nothing is published."""
        return self.where_published(self.shown.study.typical)

    def where_published(self, values: Array) -> Array:
        return np.where(self.shown.published, values, np.nan)

    @property
    def odds(self) -> list[risk.Odds]:
        return self.made_once("odds", lambda: [odds_card.of(s) for s in self.shown.spends])

    @cached_property
    def errors_in_words(self) -> list[str]:
        """The typical error at every budget, with the decimals it has on the accuracy card."""
        study, unit = self.shown.study, self.facts.value_unit
        within = study.quantile(0.95)
        return [wording.typical_error(x, y, study.floor, unit)
                for x, y in zip(self.typical, within, strict=True)]

    @cached_property
    def changes(self) -> dict[str, Array]:
        """What doubling each size would do at every budget; empty where it is not simulated."""
        source, now = self.source, settings.current()
        if self.facts.kind != "simulated" or source.sizes.n_observations > _QUICK_READINGS:
            return {}
        return run.if_doubled(source, now.mechanism, self.shown.budgets, now.seed)

    @cached_property
    def verdicts(self) -> list[pieces.Verdict]:
        """What is said about every budget before any data are read."""
        n = self.shown.data.n_curves
        return [_verdict(self.facts, found, budget, n) for found, budget in
                zip(self.shown.feasibility, self.shown.budgets, strict=True)]


def _verdict(facts: PublicFacts, found: Feasibility | None, budget: Budget, n_curves: int
             ) -> pieces.Verdict:
    if found is None:
        return pieces.Verdict()
    if not found.is_feasible:
        return pieces.Verdict(refused=wording.refused(facts, found, budget, n_curves))
    if found.verdict == "coarse":
        return pieces.Verdict(note=wording.coarse(facts, found, budget, n_curves))
    return pieces.Verdict()


# -- above and in the picture ---------------------------------------------------------------


def strip(scene: Scene) -> None:
    """What is protected, the odds and the error; follows the slider in the browser."""
    facts = scene.facts
    pinnable_strip(
        [*fact_chips(facts), *odds_card.chips(facts)],
        scene.made_once("strip", lambda: [
            pieces.Budgeted(wording.budget_chip(b), wording.odds_short(o), e,
                            max(b.epsilon, o.budget.epsilon) >= odds_card.WEAK_FROM)
            for b, o, e in zip(scene.shown.budgets, scene.odds, scene.errors_in_words,
                               strict=True)]),
        scene.at, facts, pure=scene.budget.is_pure)
    odometer.line(scene.source)


def pinnable_strip(chips: Sequence[pieces.Chip], budgets: Sequence[pieces.Budgeted], at: int,
                   facts: PublicFacts, *, key: str = "strip", pins_here: bool = True,
                   reason: str = "", **options: Any) -> None:
    """The strip, whose scenario is kept when the visitor asks for it.

    `pins_here` says whether there is a scenario, and `reason` why this one cannot be pinned.
    """
    own, page = facts.kind == "upload", pins.page()
    pins_here = pins_here and page in pins.PAGES
    token = settings.encode(replace(settings.current(), folds=()))
    name = "" if own else pins.name_of(page, token)
    reason = "Your own curves cannot be pinned: a pin is a link." if own else (
        reason or pins.reason_against(token))
    if pins_here and not name and not reason and pieces.pin_pressed(key):
        name = pins.keep(page, token)
    pieces.strip(chips, budgets, at, person=facts.person, rev=st.session_state.rev, link=not own,
                 pin=pieces.Pinning(name, reason) if pins_here else None, key=key, **options)


def fact_chips(facts: PublicFacts) -> list[pieces.Chip]:
    """What kind of data is on screen and what is protected; the same on every page."""
    icon = {"simulated": "flask", "public": "globe", "upload": "warning"}[facts.kind]
    kind = "orange" if facts.kind == "upload" else "gray"
    return [pieces.Chip(*wording.source_tag(facts), kind, icon),
            pieces.Chip(*wording.unit_tag(facts), "blue", "shield")]


def fixed_strip(facts: PublicFacts, budget: str, key: str, odds: str = "", error: str = "",
                unit: tuple[str, str] | None = None, held: str = "curve", highest: float = 0.0,
                pins_here: bool = True) -> None:
    """The same facts with one budget, for pages without a slider in the picture.

    `unit` is what is protected and its tooltip, where it is not a whole curve, and `held` its noun;
    `highest` is the largest ε, from 4 on called weak; `pins_here` as in `pinnable_strip`.
    """
    chips = fact_chips(facts)
    if unit is not None:
        chips[1] = pieces.Chip(*unit, "blue", "shield")
    if odds:
        chips += odds_card.chips(facts, held)
    shown = pieces.Budgeted(budget, odds, error, highest >= odds_card.WEAK_FROM)
    pinnable_strip(chips, [shown], 0, facts, pins_here=pins_here, key=key)


def unit_of(task: str, facts: PublicFacts) -> tuple[str, str]:
    """What is protected in a task, with its tooltip: a curve, a reading, a row or a record."""
    if task == WAVELET_REGRESSION.key:
        return regression_words.UNIT
    if task in (SPARSE_REGRESSION.key, SPARSE_MEAN.key):
        return run.later("words.sparse").UNIT
    if task in (*settings.OF_ROWS, UNIVARIATE_MEAN.key):
        return wording.record_tag(facts)
    return wording.unit_tag(facts)


def held_in(task: str) -> str:
    """The noun of what one person has in a task."""
    if task == WAVELET_REGRESSION.key:
        return "reading"
    if task in (SPARSE_REGRESSION.key, SPARSE_MEAN.key):
        return "row"
    return "record" if task in (*settings.OF_ROWS, UNIVARIATE_MEAN.key) else "curve"


def by_budget_alone(budget: Budget) -> str:
    """The odds that a budget allows, whatever the noise; for pages without one release."""
    return f"{wording.odds_short(risk.odds(None, budget))} by ε alone"


def promise(spends: Sequence[Spend], asked: Budget) -> None:
    """Say at once when printed constants do not give the budget that stands above."""
    if not accounting.keeps_promise(spends):
        given = max(budget.epsilon for budget in accounting.guarantees(spends))
        st.error(wording.broken_promise(asked, given), icon=":material/error:")


def caution(scene: Scene) -> None:
    """Say what does not suit these curves."""
    words = settings.current().mechanism.caution(scene.facts)
    if words:
        st.warning(words, icon=":material/warning:")


def picture(scene: Scene) -> None:
    """The live picture; its slider is the only ε control of the page."""
    now, payload = settings.current(), scene.made_once("picture", lambda: _payload(scene))
    picked = pieces.picture(_PICTURE, payload, scene.at, now.view, now.shown, scene.rev,
                            new_noise=scene.facts.kind == "simulated")
    if picked.new_noise:
        settings.change(seed=now.seed + 1)
        st.rerun()


def _payload(scene: Scene) -> dict[str, Any]:
    shown = scene.shown
    return pieces.picture_payload(
        scene.facts, title=wording.title(scene.facts), epsilons=scene.epsilons, times=shown.times,
        releases=shown.releases, without=shown.without, noise_low=shown.noise_low,
        noise_high=shown.noise_high, sampling=shown.sampling, truth=shown.truth,
        spoken=[f"typical error {e}" if e else "nothing published" for e in scene.errors_in_words],
        band=shown.band, verdicts=scene.verdicts,
        curves=shown.data.curves(70), n_curves=shown.data.n_curves, downloads=not scene.own)


# -- the cards ------------------------------------------------------------------------------


def accuracy(scene: Scene) -> None:
    """How close a release comes, in the data's own unit; follows the slider."""
    study, unit, theme = scene.shown.study, scene.facts.value_unit, layout.theme()
    with st.container(border=True):
        st.subheader("Accuracy", anchor=False)
        _said(scene, "accuracy", lambda k: _how_close(scene, k))
        _draw_steps(scene, "Twenty equally likely releases", "dots", lambda k: figures.error_dots(
            study.errors[k], study.floor, unit, theme), 118)
        _said(scene, "beside", lambda k: _beside_accuracy(scene, k))


def _how_close(scene: Scene, k: int) -> list[pieces.Said]:
    if scene.shown.is_refused(k):
        return [pieces.Said("Nothing would be published at this ε, so there is no error to state.")]
    study = scene.shown.study
    return [pieces.Said(wording.accuracy(scene.facts, float(scene.typical[k]),
                                         float(study.quantile(0.95)[k]), study.floor))]


def _beside_accuracy(scene: Scene, k: int) -> list[pieces.Said]:
    shown, facts = scene.shown, scene.facts
    if shown.is_refused(k):
        return []
    dashed = " Dashed: without protection." if shown.study.floor is not None else ""
    planned = wording.planned(facts, shown.feasibility[k], float(shown.planned[k]))
    drowned = wording.useless(facts, float(scene.typical[k]), shown.budgets[k],
                              shown.data.n_curves)
    said = [pieces.Said(f"Each dot: 1 of 20 equally likely releases.{dashed}", "small"),
            pieces.Said(planned, "small"), pieces.Said(drowned, "warning")]
    return [paragraph for paragraph in said if paragraph.text]


def limits(scene: Scene) -> None:
    """What the error is made of, and what doubling a size would buy; follows the slider."""
    shares, facts, theme = scene.shown.study.shares, scene.facts, layout.theme()
    with st.container(border=True):
        st.subheader("What limits accuracy", anchor=False)
        _said(scene, "limits", lambda k: _what_limits(scene, k))
        _draw_steps(scene, "Parts of the error", "split", lambda k: figures.split_bar(
            shares[k], wording.parts(facts), theme), 44)
        _said(scene, "doubled", lambda k: _if_doubled(scene, k))


def _what_limits(scene: Scene, k: int) -> list[pieces.Said]:
    if scene.shown.is_refused(k):
        return [pieces.Said("Nothing would be published at this ε.")]
    return [pieces.Said(wording.what_limits(scene.facts, scene.shown.study.shares[k]))]


def _if_doubled(scene: Scene, k: int) -> list[pieces.Said]:
    facts = scene.facts
    if scene.shown.is_refused(k):
        return []
    said = [pieces.Said(wording.shares_key(facts, scene.shown.study.shares[k]), "small")]
    if scene.changes:
        here = {what: float(relative[k]) for what, relative in scene.changes.items()}
        said.append(pieces.Said("If you doubled…  \n"
                                + "  \n".join(wording.if_doubled(facts, here))))
    return said


def _said(scene: Scene, key: str, make: Callable[[int], list[pieces.Said]]) -> None:
    pieces.said(scene.made_once(key, lambda: scene.steps(make)), f"said_{key}", scene.rev)


def _draw_steps(scene: Scene, title: str, key: str, make: Callable[[int], Chart], height: int
                ) -> None:
    """One figure for each step, none where nothing would be published; the present one by title."""
    if not scene.is_refused:
        scene.charts[title] = make(scene.at)

    def drawn(k: int) -> tuple[str, str]:
        if scene.shown.is_refused(k):
            return "", "Nothing would be published."
        chart = make(k)
        return json.dumps(chart.spec), chart.alt

    specs, alts = zip(*scene.made_once(f"{key} drawn", lambda: scene.steps(drawn)), strict=True)
    pieces.chart_by_step(specs, alts, f"chart_{key}", height, scene.rev)


def budgets(scene: Scene) -> None:
    """The error at every budget of the slider, beside that of other methods."""
    delta = settings.chosen_delta(scene.source)
    chart, said = scene.made_once(f"bought {scene.at} {delta}", lambda: _bought(scene))
    st.header("What each budget would buy", anchor=False)
    left, right = st.columns([7, 3], gap="medium")
    with left:
        scene.draw("Errors at every budget", chart, "budgets", 340, 320)
        st.markdown(":small[Band: 8 in 10 releases. ◇ you are here. Dotted: how fast the theory "
                    "says privacy noise falls. No line: nothing would be published, or the error "
                    "is beyond the range of the values.]")
    with right:
        st.markdown("\n\n".join(said))


def _bought(scene: Scene) -> tuple[Chart, list[str]]:
    """The chart at one step of the slider, and what stands beside it."""
    study, facts, here = scene.shown.study, scene.facts, scene.budget.epsilon
    own, others = _methods(scene)
    chart = error_curve.against_budget(
        scene.epsilons, own, scene.where_published(study.quantile(0.1)),
        scene.where_published(study.quantile(0.9)), study.floor, scene.at, facts.value_unit,
        layout.theme(), theory=_theory(scene), others=others, most=2 * facts.value_half_width)
    if scene.is_refused:
        return chart, [wording.enough(*_enough(scene))]
    typical = float(scene.typical[scene.at])
    errors = {other.label: float(other.errors[scene.at]) for other in others}
    return chart, [
        wording.compared(typical, errors), wording.two_kinds(_deltas(scene, own, others)),
        wording.budget_ratio(facts, here, typical, study.floor, _at(scene, here / 2),
                             _at(scene, here * 2)),
        wording.enough(*_enough(scene))]


def _methods(scene: Scene) -> tuple[error_curve.Method, list[error_curve.Method]]:
    """The chosen method and the others of the same task, as lines of the chart."""
    now = settings.current()
    delta = settings.chosen_delta(scene.source)
    budgets = tuple(replace(budget, delta=delta) for budget in scene.shown.budgets)
    found = run.other_methods(scene.source, now.mechanism, budgets, now.seed)
    others = [_method(other, label, errors) for label, (other, errors) in found.items()]
    return _method(now.mechanism, now.mechanism.nearest_preset()[0], scene.typical), others


def _deltas(scene: Scene, own: error_curve.Method, others: Sequence[error_curve.Method]
            ) -> dict[str, float]:
    """δ of every method of the chart; the others have the usual one where they need one."""
    usual = settings.chosen_delta(scene.source)
    return {own.label: scene.budget.delta} | {
        other.label: 0.0 if mechanisms.get(other.key).guarantee == "pure" else usual
        for other in others if np.isfinite(other.errors[scene.at])}


def _method(mechanism: Mechanism, label: str, errors: Array) -> error_curve.Method:
    return error_curve.Method(label, mechanism.key, mechanism.family, errors,
                              _variant(mechanism, label))


def named(mechanism: Mechanism) -> tuple[str, int]:
    """A method's name on screen, and which of its named settings that is."""
    label = mechanism.nearest_preset()[0]
    return label, _variant(mechanism, label)


def _variant(mechanism: Mechanism, label: str) -> int:
    return [name for name, _ in mechanism.offered()].index(label)


def _at(scene: Scene, epsilon: float) -> float | None:
    """The typical error at an ε on the slider's range, between its steps on log scales."""
    known = scene.shown.published
    epsilons = np.array(scene.epsilons)[known]
    if not len(epsilons) or not epsilons[0] <= epsilon <= epsilons[-1]:
        return None
    return float(np.exp(np.interp(np.log(epsilon), np.log(epsilons),
                                  np.log(scene.typical[known]))))


def _enough(scene: Scene) -> tuple[float | None, str]:
    """The first step within a tenth of the last one, where noise is no longer what limits."""
    last = scene.shown.study.shares[-1]
    names = wording.parts(scene.facts)
    if last.argmax() == 0:
        return None, ""
    far = np.flatnonzero(scene.typical > 1.1 * scene.typical[-1])
    return scene.epsilons[int(far.max(initial=-1)) + 1], names[int(last.argmax())]


def _theory(scene: Scene) -> Array | None:
    """The privacy terms of the rate, as a distance, through a measured point where they rule."""
    known = np.flatnonzero(scene.shown.published)
    for rate in rates.for_task(settings.TASK):
        if not len(known):
            break
        sizes = scene.shown.data.sizes
        smoothness = getattr(settings.current().mechanism, "smoothness", None)
        terms = rate(**({} if smoothness is None else {"smoothness": smoothness})).evaluate(
            n=sizes.n_curves / sizes.n_servers, m=sizes.n_observations_per_curve,
            S=float(sizes.n_servers), epsilon=np.array(scene.epsilons))
        shape = np.sqrt(terms[[1, 3]].sum(axis=0))
        anchor = int(known[np.argmin(np.abs(scene.shown.study.shares[known, 0] - _RULES))])
        return np.asarray(shape * scene.typical[anchor] / shape[anchor])
    return None


# -- to take away, and the folds --------------------------------------------------------------


def take_away(scene: Scene) -> None:
    """Downloads: the numbers and the scenario; the picture's own button saves the picture."""
    plain, reason = scene.plain, None
    if scene.own:
        reason = "Your own curves are not private: nothing of them can be downloaded."
    elif scene.is_refused:
        reason = "Nothing would be published at this ε."
    with st.container(horizontal=True):
        st.download_button(
            "Get the numbers",
            b"" if reason else lambda: export.numbers_csv(scene.shown, scene.at, plain),
            "privacy-curves-numbers.csv", "text/csv", on_click="ignore", help=reason,
            disabled=reason is not None, icon=":material/table:", key="get_numbers")
        st.download_button(
            "Get the scenario", export.scenario_json(plain or {}), "privacy-curves-scenario.json",
            "application/json", on_click="ignore", disabled=scene.own, key="get_scenario",
            icon=":material/data_object:",
            help=reason if scene.own else "A file for the command line: python -m engine run FILE")


def plain_scenario(source: Source, mechanism: Mechanism, budget: Budget, seed: int
                   ) -> dict[str, object] | None:
    """The same run for the command line; None for the visitor's own curves."""
    if source.facts.kind == "upload":
        return None
    how = Run(100, 1, seed) if source.is_random else Run(1, 100, seed)
    return scenario.to_plain(source, mechanism, (budget,), how)


def numbers(scene: Scene) -> None:
    """The tables behind the charts of this page."""
    shown, study = scene.shown, scene.shown.study
    unit = scene.facts.value_unit or "their unit"
    error = scene.errors_in_words[scene.at]
    st.markdown(f"**Curves at {wording.budget_chip(scene.budget)}**, in {unit}. "
                + (f"Typical error {wording.escape(error)}." if error else "Nothing published."))
    columns = {scene.facts.time_name: shown.times, "without protection": shown.without,
               "noise range low": shown.noise_low[scene.at],
               "noise range high": shown.noise_high[scene.at], "sampling ±": shown.sampling}
    if shown.band is not None:
        columns |= {"release 1": shown.releases[scene.at, 0],
                    "plausible from": shown.band.low[scene.at, 0],
                    "plausible to": shown.band.high[scene.at, 0]}
    if shown.truth is not None:
        columns["true average"] = shown.truth
    layout.table(pd.DataFrame(columns).round(3), scene.own, 220)
    every = scene.charts.pop("Errors at every budget")
    for title, chart in scene.charts.items():
        layout.in_words(title, chart, scene.own)
    st.markdown(f"**Errors at every budget**, from {study.errors.shape[1]} simulated releases "
                f"each. {wording.escape(every.alt)}")
    table = pd.DataFrame({
        "ε": scene.epsilons, "typical error": scene.typical,
        "1 in 10 below": scene.where_published(study.quantile(0.1)),
        "1 in 10 above": scene.where_published(study.quantile(0.9)),
        "right guess, at most": [np.ceil(1000 * o.right) / 1000 for o in scene.odds],
        **{name: scene.where_published(study.shares[:, k])
           for k, name in enumerate(wording.parts(scene.facts))}})
    for other in _methods(scene)[1]:
        table[f"typical error of {other.label}"] = other.errors
    layout.table(table.round(3), scene.own, 220)


def ledger(spends: Sequence[Spend], asked: Budget) -> None:
    """What one release would spend, line by line, and why the total is what it is."""
    st.dataframe(pd.DataFrame([_line(spend) for spend in spends]), hide_index=True)
    st.markdown(spends[0].why)
    st.markdown(wording.how_added(accounting.by_server(spends).values()))
    proved = accounting.guarantees(spends)
    if len(proved) == 1:
        st.markdown(wording.total(proved[0], accounting.total_mu(spends)))
    else:
        st.dataframe(pd.DataFrame([
            {"site": s + 1, "all of it gives ε": round(budget.epsilon, 4),
             "at δ": wording.small(budget.delta)} for s, budget in enumerate(proved)]),
            hide_index=True)
    _of_several(spends)
    promise(spends, asked)
    given = max(budget.epsilon for budget in proved)
    if accounting.keeps_promise(spends) and 1e-9 < given < 0.999 * asked.epsilon:
        st.markdown(wording.more_noise_than_needed(asked, given))


def _line(spend: Spend) -> dict[str, object]:
    """One line of the ledger; one without a μ has a ρ, or a pure ε, of its own.

    Neighbours, norm and law of the noise are as in `Spend`.
    """
    costs = {"μ": spend.mu, "ρ": spend.rho, "ε": spend.epsilon}
    sign, cost = next((sign, cost) for sign, cost in costs.items() if cost is not None)
    return {"site": spend.server + 1, "what leaves it": spend.what, "how often": spend.count,
            f"{sign} of each": float(f"{cost:.4g}"), "adds up": spend.composition,
            "neighbours": f"{spend.relation} {spend.unit}".strip(),
            "moved at most by": f"{spend.sensitivity[0]:.4g}", "in the norm": spend.norm,
            "noise": f"{spend.noise_scale[0]:.4g}", "law": wording.LAWS.get(spend.noise, "")}


def _of_several(spends: Sequence[Spend]) -> None:
    """What the same lines cost a person with several protected units, where odds are about them."""
    count = settings.current().group
    if count > 1:
        several = accounting.guarantees(accounting.for_group(spends, count))
        st.markdown(wording.ledger_of_several(count, spends[0].unit, several))


def formula(mechanism: Mechanism, tuning: Mapping[str, object]) -> None:
    """What the method computes, its tuning on this page, and the source."""
    st.markdown(f"{mechanism.label}: {mechanism.reference}.")
    if mechanism.formula:
        st.latex(mechanism.formula)
    st.markdown(wording.tuning(tuning))


def code(scene: Scene) -> None:
    """Code for the picture at the chosen budget."""
    now = settings.current()
    code_fold.show("explore", lambda own: code_for.curves(
        scene.source, now.mechanism, scene.budget, now.seed, own))


def draw(chart: Chart, key: str, height: int, phone: int | None = None,
         picked: Callable[[float], None] | None = None) -> None:
    pieces.chart(chart.spec, chart.alt, f"chart_{key}", height, phone, picked)
