"""An attack on a claim: its controls, its steps so far, and its findings."""

from __future__ import annotations

import streamlit as st

from engine.audit import Progress, Report, broken
from engine.core.identity import digest
from engine.topics.audit import answer as audit_topic
from engine.topics.audit import charts, words
from engine.topics.audit.answer import Attack
from pages.parts.audit.view import Audited, slider, start, started_job
from pages.shared.frame import controls, layout
from pages.shared.frame.timed import progress
from pages.shared.server.jobs import Job
from pages.shared.state import session

_AROUND = {"small": "Small, made for the attack", "screen": "As on the method’s page"}
_CHART = 360  # pixels


def _key(attack: object) -> str:
    return digest(("audit", attack))


def section(view: Audited) -> None:
    """Try to break a claim, then plant a fault and see it caught."""
    layout.prose(f"{words.INTRO} :small[{words.SIMULATED}]")
    _method(view)
    honest, planted = view.make_attack(), view.make_attack(view.variant)
    _buttons(view, honest, planted)
    attacks = [honest, planted] if view.variant else [honest]
    started = [(each, job) for each in attacks if (job := started_job(_key(each))) is not None]
    if not started:
        layout.empty(
            "The strongest attack found, beside the claim. Press *Run the attack*: it "
            f"searches for {audit_topic.SECONDS:g} seconds once it has begun."
        )
    else:
        live = [job for _, job in started if job.live]
        progress(
            (live or [started[-1][1]])[0],
            lambda _: _results(view, started),
            "Attack",
            is_timed=False,
        )
    _report(started)


def _method(view: Audited) -> None:
    """Choose the mechanism, the data around it, the claim and a planted fault."""
    left, middle, right = st.columns(3, gap="medium")
    with left:
        _method_choice(view)
    with middle:
        controls.bound(
            st.selectbox,
            "Data",
            view.settings.audited_data,
            lambda chosen: session.change(audited_data=chosen),
            "audit_around",
            options=list(_AROUND),
            format_func=_AROUND.__getitem__,
            help="Around which simulated data neighbours are built. With small data "
            "the claim must be reached.",
        )
    with right:
        _variant_choice(view)
    if view.asks_for_budget:
        slider("Claimed ε")


def _method_choice(view: Audited) -> None:
    labels = {method.key: method.label for method in audit_topic.audited_methods()}
    controls.bound(
        st.selectbox,
        "Method attacked",
        view.audited.key,
        lambda key: session.change(audited_method=key, planted_fault=""),
        "audit_method",
        options=list(labels),
        format_func=labels.__getitem__,
        help="As it is set on its own page.",
    )


def _variant_choice(view: Audited) -> None:
    names = {"": words.NO_VARIANT} | {bug.name: bug.what.removesuffix(".") for bug in view.variants}
    controls.bound(
        st.selectbox,
        "Planted fault",
        view.variant,
        lambda chosen: session.change(planted_fault=chosen),
        "audit_variant",
        options=list(names),
        format_func=names.__getitem__,
        disabled=not view.variants,
        help="A variant of this method with one "
        "privacy bug. It can run in this audit and nowhere else.",
    )


def begin(attack: Attack) -> None:
    start(
        _key(attack),
        audit_topic.steps_of,
        attack,
        audit_topic.TRIES,
        audit_topic.RUNS,
        audit_topic.SECONDS,
        total=attack.steps,
    )


def _buttons(view: Audited, honest: Attack, planted: Attack) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Run the attack",
            icon=":material/play_arrow:",
            key="audit_run",
            on_click=begin,
            args=(honest,),
        )
        st.button(
            "Attack the planted fault",
            icon=":material/bug_report:",
            key="audit_planted",
            on_click=begin,
            args=(planted,),
            disabled=not view.variant,
            help=None if view.variant else "Choose a fault above.",
        )
        if not view.variant and view.variants:
            st.markdown(":small[To attack a fault, choose one above.]", width="content")
    controls.show_problem("audit")


def _results(view: Audited, started: list[tuple[Attack, Job]]) -> None:
    """Show the chart of all steps so far, and a card for each attack."""
    lines = [
        charts.AttackProgress(
            "Planted fault" if attack.variant else view.audited.label,
            _steps(job),
            is_planted=bool(attack.variant),
        )
        for attack, job in started
    ]
    known = [line for line in lines if line.steps]
    if not known:
        return
    seen = [(line, line.steps[-1].statistic) for line in known]
    counted = [(line, statistic) for line, statistic in seen if statistic is not None]
    left, *middle, right = st.columns([5, 3, 3] if counted else [7, 3], gap="medium")
    with left:
        view.draw(
            "What the attack shows",
            charts.climbing(known, known[0].steps[-1].claimed_epsilon),
            "climb",
            _CHART,
            340,
            below=words.LEGEND,
        )
    for line, statistic in counted:
        with middle[0]:
            view.draw(
                f"Attacker’s statistic: {line.name}",
                charts.statistic(statistic, line.is_planted),
                f"statistic_{'planted' if line.is_planted else 'honest'}",
                _CHART // len(counted),
                240,
            )
    if counted:
        middle[0].markdown(f":small[{words.STATISTIC}]")
    with right:
        for (attack, _), line in zip(started, lines, strict=True):
            _card(attack, line)


def _steps(job: Job) -> list[Progress]:
    steps = list(job.parts)
    if job.result is not None:
        steps.append(job.result)
    return steps


def _card(attack: Attack, line: charts.AttackProgress) -> None:
    """Show the verdict of one attack, or its progress."""
    if not line.steps:
        return
    last = line.steps[-1]
    with layout.card(line.name):
        if attack.variant:
            st.markdown(f":small[{broken.get(attack.variant).what}]")
        if last.is_broken or isinstance(last, Report):
            _verdict(attack, last)
        else:
            st.markdown(words.running(last))


def _verdict(attack: Attack, last: Progress) -> None:
    if last.is_broken:
        st.badge(words.BROKEN, icon=":material/error:", color="red")
    else:
        st.badge(words.HOLDS, icon=":material/check:", color="gray")
    st.markdown(words.attacked(last))
    st.markdown(f":small[{_details(attack, last)}]")


def _details(attack: Attack, last: Progress) -> str:
    sentences = [words.worked_out(last)]
    if isinstance(last, Report):
        sentences += (
            [words.caught(last)]
            if attack.variant
            else [words.tightness(last), words.shortfall(last)]
        )
    sentences.append(words.data(attack, attack.neighbours))
    return " ".join(filter(None, sentences))


def _report(started: list[tuple[Attack, Job]]) -> None:
    """Offer the findings as a file."""
    results = [(each, job.result) for each, job in started if job.result is not None]
    if results:
        st.download_button(
            "Get the report",
            audit_topic.as_json(results),
            "privacy-curves-audit.json",
            "application/json",
            on_click="ignore",
            icon=":material/data_object:",
            key="audit_json",
        )
