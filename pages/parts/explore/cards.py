"""The parts of Explore, each drawn from one scene."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from engine.core.errors import InputError
from engine.exports import files as export
from engine.exports.one_file import NOT_SHARED, SharedPage, of_mean
from engine.figures import small_charts
from engine.figures.theme import Chart
from engine.language import error_words, glossary, odds_words, quality, tags
from engine.language.grammar import capital, escape
from engine.simulation import studies
from engine.sources.twin import studied
from engine.topics.mean import charts, live, live_asked, methods
from engine.topics.mean.asked import asked, asked_groups, asked_next
from engine.topics.mean.charts import Method
from engine.topics.mean.error_parts import PARTS, Chosen, ErrorParts, error_parts
from pages.parts.explore import budgets as budget_cards
from pages.parts.explore.scene import Scene
from pages.parts.explore.views import Views
from pages.shared import components
from pages.shared.cards import better, guarantees
from pages.shared.cards import odds as odds_card
from pages.shared.cards import shape as shape_cards
from pages.shared.cards import share as share_card
from pages.shared.frame import controls, layout, strips
from pages.shared.state import run, session, settings

# -- above and in the picture ------------------------------------------------------------


class Explored(Scene):
    """The scene of the page, with its texts for the frame."""

    def promise(self) -> None:
        super().promise()
        guarantees.beyond_rule(self.budget.epsilon)


def follow_figure() -> None:
    """Take over the step of the slider and the view that the visitor left the figure at."""
    current = session.current()
    epsilons = session.steps(current.epsilon)
    start = live.Picked(epsilons.index(current.epsilon), current.explore_view)
    picked = components.picked(session.FIGURE, start, st.session_state.rev, len(epsilons))
    session.take_over(epsilon=epsilons[picked.budget], explore_view=picked.view)


def figure(scene: Scene, views: Views) -> None:
    """Draw the live figure; its slider is the only ε control of the page."""
    current = session.current()
    payload = scene.made_once(
        "figure", lambda: live.figure_payload(scene.facts, scene.answer, scene.at_budgets)
    )
    picked = components.figure(
        session.FIGURE,
        payload,
        scene.start,
        scene.rev,
        new_noise=scene.facts.is_simulated,
        on_page=True,
        with_truth="truth" in current.further_lines,
        save=st.session_state.get("save_figure", ""),
        anchors=guarantees.anchors(current.epsilon_limit),
        asked=_asked(scene),
        methods=views.methods,
        theory=views.theory,
    )
    if picked.method:
        _choose(scene, picked.method)
    if picked.theory in settings.THEORY_AXES:
        session.change(theory_along=picked.theory)
        st.rerun()
    if picked.theory in settings.THEORY_SITES:
        session.change(theory_sites=picked.theory)
        st.rerun()
    if picked.new_noise:
        session.change(seed=current.seed + 1)
        st.rerun()


def _choose(scene: Scene, label: str) -> None:
    """Show the curves of the method of a tile, as it is set there."""
    current = session.current()
    delta = current.delta_on(scene.source).value
    for tile in methods.tiles(scene.source, current.mechanism, delta):
        if tile.label == label:
            session.change_mechanism(settings.TASK, tile.mechanism)
            session.change(explore_view="look")
            st.session_state.rev += 1
            st.rerun()


def _asked(scene: Scene) -> dict[str, Any] | None:
    """Return the answers of releases to the question of shape; None if there is none."""
    with suppress(InputError):  # the drawer says why
        if shape_cards.compares_groups(scene.source):
            groups = scene.asked(asked_groups)
            return scene.made_once(
                "groups", lambda: live_asked.groups_payload(scene.facts, scene.answer, groups)
            )
        if session.current().shape_question == settings.NEXT:
            people = scene.asked(asked_next)
            return scene.made_once(
                "next person", lambda: live_asked.asked_payload(scene.facts, scene.answer, people)
            )
        question = shape_cards.question(scene.facts)
        if question is not None:
            answers = scene.asked(asked, question)
            return scene.made_once(
                f"asked {question}",
                lambda: live_asked.asked_payload(scene.facts, scene.answer, answers),
            )
    return None


# -- the cards ---------------------------------------------------------------------------


def accuracy(scene: Scene) -> None:
    """Show the accuracy of a release, in the data's own unit; follows the slider."""
    study, unit = scene.answer.study, scene.facts.value_unit
    with layout.card("Accuracy", glossary.explain("Error")):
        _sentences(scene, "accuracy", lambda k: _how_close(scene, k))
        _draw_steps(
            scene,
            "Errors of 20 releases",
            "dots",
            lambda k: small_charts.error_dots(
                study.errors[k], study.baseline, unit, float(scene.floor[k])
            ),
            118,
        )
        _sentences(scene, "beside", lambda k: _beside_accuracy(scene, k))


def _how_close(scene: Scene, k: int) -> list[components.Said]:
    if scene.answer.is_refused(k):
        return [
            components.Said("Nothing would be published at this ε, so there is no error to state.")
        ]
    study = scene.answer.study
    return [
        components.Said(
            quality.accuracy(
                scene.facts, float(scene.error[k]), float(study.within[k]), study.baseline
            )
        ),
        components.Said(
            quality.rests_on(
                "95 % of releases", study.simulated(k, studies.data_sets(studied(scene.source)))
            )
        ),
    ]


def _beside_accuracy(scene: Scene, k: int) -> list[components.Said]:
    preview, facts = scene.answer, scene.facts
    if preview.is_refused(k):
        return []
    dashed = " Dashed: without privacy." if preview.study.baseline is not None else ""
    if np.isfinite(scene.floor[k]):
        dashed += " Dash-dotted: floor."
    floor = quality.floor(facts, float(scene.floor[k]), float(scene.error[k]))
    own = scene.answer.from_own_mean
    planned = quality.planned(facts, preview.verdicts[k], float(preview.planned[k]))
    drowned = quality.useless(
        facts, float(scene.error[k]), preview.budgets[k], preview.data.n_curves
    )
    paragraphs = [
        components.Said(f"Each dot: 1 of 20 equally likely releases.{dashed}", "small"),
        components.Said(floor),
        components.Said(planned, "small"),
        components.Said("" if own is None else quality.from_own_mean(facts, own[k]), "small"),
        components.Said(drowned, "warning"),
    ]
    return [paragraph for paragraph in paragraphs if paragraph.text]


def limits(scene: Scene) -> None:
    """Show the parts of the error, which follow the slider, and what would make it smaller."""
    shares = scene.answer.study.shares
    with layout.card("What limits accuracy", glossary.explain("Bias")):
        _draw_steps(
            scene,
            "Parts of the error",
            "split",
            lambda k: small_charts.split_bar(shares[k], error_words.PARTS),
            44,
        )
        _sentences(
            scene,
            "parts",
            lambda k: [
                *_key_of_parts(scene, k),
                *[components.Said(text, "small") for text in [scene.limit_of_band(k)] if text],
            ],
        )
        better.of_a_mean(scene, float(scene.error[scene.step]))


def _key_of_parts(scene: Scene, k: int) -> list[components.Said]:
    if scene.answer.is_refused(k):
        return []
    key = error_words.shares_key(scene.answer.study.shares[k])
    return [components.Said(key, "small")]


def _sentences(scene: Scene, key: str, make: Callable[[int], list[components.Said]]) -> None:
    components.said(scene.made_once(key, lambda: scene.steps(make)), f"said_{key}", scene.rev)


def _draw_steps(
    scene: Scene, title: str, key: str, make: Callable[[int], Chart], height: int
) -> None:
    """Draw a figure for each step that publishes anything; return the present one by title."""
    if not scene.is_refused:
        scene.charts[title] = make(scene.step)

    def drawn(k: int) -> tuple[str, str]:
        if scene.answer.is_refused(k):
            return "", "Nothing would be published."
        chart = make(k)
        return components.as_json(chart.spec), chart.alt

    specs, alts = zip(*scene.made_once(f"{key} drawn", lambda: scene.steps(drawn)), strict=True)
    components.chart_by_step(specs, alts, f"chart_{key}", height, scene.rev)


# -- to take away, and the folds ---------------------------------------------------------


def link_and_pin(scene: Scene) -> None:
    """Offer link and pin beside what is protected and the budget, which follows the slider."""
    facts, delta = scene.facts, session.delta(scene.source)
    strips.pinnable(
        [*strips.fact_chips(facts), *strips.delta_chips(delta), *odds_card.chips(facts)],
        scene.made_once(
            "strip",
            lambda: [
                components.Budgeted(
                    tags.budget_chip(b),
                    weak=max(b.epsilon, o.budget.epsilon) >= odds_words.WEAK_FROM,
                )
                for b, o in zip(scene.answer.budgets, scene.odds, strict=True)
            ],
        ),
        scene.step,
        facts,
        pure=scene.budget.is_pure,
    )


def take_away(scene: Scene) -> None:
    """Offer the figure, the numbers and the scenario for download."""
    plain, reason = scene.plain, None
    if scene.is_own:
        reason = "Your own curves are not private: nothing of them can be downloaded."
    elif scene.is_refused:
        reason = "Nothing would be published at this ε."
    with st.container(horizontal=True):
        for kind in ("SVG", "PNG"):
            st.button(
                f"Figure as {kind}",
                icon=":material/image:",
                key=f"save_{kind}",
                on_click=_save,
                args=(kind,),
                disabled=reason is not None,
                help=reason,
            )
        st.download_button(
            "Get the numbers",
            b"" if reason else lambda: export.numbers_csv(scene.answer, scene.step, plain),
            "privacy-curves-numbers.csv",
            "text/csv",
            on_click="ignore",
            help=reason,
            disabled=reason is not None,
            icon=":material/table:",
            key="get_numbers",
        )
        st.download_button(
            "Get the scenario",
            export.scenario_json(plain or {}),
            "privacy-curves-scenario.json",
            "application/json",
            on_click="ignore",
            disabled=scene.is_own,
            key="get_scenario",
            icon=":material/data_object:",
            help=reason
            if scene.is_own
            else "A file for the command line: python -m engine run FILE",
        )
        if not scene.is_own:
            share_card.button("explore", partial(_shared, scene), scene.source.key)
    if scene.is_own:
        st.markdown(NOT_SHARED)


def _shared(scene: Scene) -> SharedPage:
    """Write the figure as one file, at the ε and in the view of the page."""
    question, start = scene.question(), scene.start
    return of_mean(
        question["source"],
        question["mechanism"],
        question["budget"],
        question["seed"],
        scene.answer,
        question.person,
        start.view if start.view == "attack" else "look",
    )


def _save(kind: str) -> None:
    """Ask the browser for a file of the figure as it is on screen."""
    count = int(st.session_state.get("save_figure", "0-").split("-")[0] or 0) + 1
    st.session_state.save_figure = f"{count}-{kind.lower()}"


def numbers(scene: Scene) -> None:
    """Show the tables behind the charts of this page."""
    preview, study = scene.answer, scene.answer.study
    unit = scene.facts.value_unit or "their unit"
    error = scene.brief().error_in_words
    from_what = error_words.error_name(scene.facts)
    st.markdown(
        f"**Curves at {tags.budget_chip(scene.budget)}**, in {unit}. "
        + (f"{capital(from_what)} {escape(error)}." if error else "Nothing published.")
    )
    columns = {
        scene.facts.time_name: preview.times,
        "non-private mean": preview.ordinary,
        "privacy noise range low": preview.noise_low[scene.step],
        "privacy noise range high": preview.noise_high[scene.step],
        "sampling variability ±": preview.sampling,
    }
    if preview.band is not None:
        columns |= {
            "release 1": preview.releases[scene.step, 0],
            "95 % band from": preview.band.low[scene.step, 0],
            "95 % band to": preview.band.high[scene.step, 0],
        }
    if preview.truth is not None:
        columns["true mean"] = preview.truth
    layout.table(pd.DataFrame(columns).round(3), scene.is_own, 220)
    st.markdown(
        f"**Errors at every budget**, from {study.errors.shape[1]} simulated releases each."
    )
    table = pd.DataFrame(
        {
            "ε": scene.epsilons,
            from_what: scene.error,
            "95 % within": scene.where_published(study.within),
            "10th percentile": scene.where_published(study.quantile(0.1)),
            "90th percentile": scene.where_published(study.quantile(0.9)),
            "attacker’s accuracy, at most": [np.ceil(1000 * o.right) / 1000 for o in scene.odds],
            **{
                name: scene.where_published(study.shares[:, k])
                for k, name in enumerate(error_words.PARTS)
            },
        }
    )
    for other in budget_cards.methods(scene)[1]:
        table[f"error of {other.label}"] = other.errors
    layout.table(table.round(3), scene.is_own, 220)


# -- what each step did, and the error without some parts ------------------------------------------


_ALL = 2 ** len(PARTS) - 1


def effect_of_steps(scene: Scene) -> None:
    """Draw two charts: the steps of a release, and its error without some of its parts."""
    if scene.is_refused:
        st.markdown("Nothing would be published at this ε.")
        return
    current = session.current()
    parts = run.answer(error_parts, scene.study)
    method = Method.of(current.mechanism)
    _step_by_step(scene, parts, method)
    _without_parts(scene, parts, method)


def _step_by_step(scene: Scene, parts: ErrorParts, method: Method) -> None:
    facts, done = scene.facts, parts.steps
    st.subheader("Effect of each step", anchor=False)
    scene.draw("Step by step", charts.steps(done, parts.times, method, facts), "steps", 300)
    st.markdown(error_words.steps_done(facts, done.n_coefficients, done.moves))
    st.markdown(":small[Difference from the non-private mean (dashed).]")


def _without_parts(scene: Scene, parts: ErrorParts, method: Method) -> None:
    """Let the visitor take away parts of the error, to see what the others leave."""
    facts = scene.facts
    st.subheader("The error without some of its parts", anchor=False)
    with st.container(horizontal=True):
        parts_left = _switches(error_words.PARTS)
    scene.draw(
        "The error without some of its parts",
        charts.left(parts, parts_left, method, facts),
        "parts",
        300,
    )
    st.markdown(
        error_words.parts_left(facts, parts.error[parts_left], parts.error[True, True, True])
    )
    st.markdown(":small[Each line: one release of newly drawn curves minus the true mean.]")


def _switches(names: tuple[str, ...]) -> Chosen:
    """Draw a switch for each part; a link keeps them as one number."""
    mask = session.looked_at("parts", range(2 ** len(PARTS)), _ALL)
    for k, name in enumerate(names):
        controls.bound(
            st.toggle,
            capital(name),
            bool(mask >> k & 1),
            partial(_look_at_parts, mask ^ 1 << k),
            f"part_{PARTS[k]}",
        )
    first, second, third = (bool(mask >> k & 1) for k in range(len(PARTS)))
    return first, second, third


def _look_at_parts(mask: int, _: bool) -> None:
    session.look_at("parts", mask)
