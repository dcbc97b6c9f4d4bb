"""The parts of Audit: an attack with or without a planted fault, coverage, and noise used twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVarTuple

import streamlit as st

from engine import handbook
from engine.audit import Progress, Report, broken
from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.tasks import TASKS, Argument
from engine.core.types import Budget, DataKind, Unit
from engine.mechanisms import Mechanism
from engine.questions import Question, ask
from engine.sources import Source
from engine.topics.audit import answer as audit_topic
from engine.topics.audit import charts, claims, words
from engine.topics.audit.answer import Attack, AuditedMethod
from engine.topics.coverage import answer as coverage_topic
from engine.topics.coverage import words as coverage_words
from engine.topics.reuse import answer as reuse_topic
from engine.topics.reuse import charts as reuse_charts
from engine.topics.reuse import words as reuse_words
from pages.shared import components
from pages.shared.cards import guarantees as guarantee_cards
from pages.shared.cards import limits as limit_cards
from pages.shared.frame import controls, layout, strips
from pages.shared.frame.page import View
from pages.shared.frame.timed import progress, visitor
from pages.shared.server.jobs import Job, jobs
from pages.shared.state import allowed, lab_tasks, links, run, session, settings
from pages.shared.state.lab_tasks import LAB_TASKS

Ts = TypeVarTuple("Ts")

_PUBLISH, _LAB = (Path(__file__).parents[1] / f"{page}.py" for page in ("publish", "lab"))
_PARTS = {"attack": "Attack", "coverage": "Coverage", "reuse": "Reused noise"}
_AROUND = {"small": "Small, made for the attack", "screen": "As on the method’s page"}
_DRAWS = {"same": "The same draw", "fresh": "Fresh noise"}
_RECORD = (
    "One record",
    "Neighbouring data differ in one record: a curve, observation or row, "
    "whichever the method protects.",
)
_METHODS = {"attack": words.METHOD, "coverage": coverage_words.METHOD, "reuse": reuse_words.METHOD}
_CODE_NOTE = (
    "It ends with exit code 0 if the claim holds, or if a planted fault is caught. "
    "Without a scenario, *python -m engine audit* attacks every method."
)
_CHART = 360  # pixels
_JOBS = "audit_jobs"  # session key of the started jobs, by digest of the question


class Audited(View):
    """The mechanism or band under attack, as set on its own page, at the present ε.

    Never an upload.

    Attributes
    ----------
    asks_for_budget : bool
        Whether ε is asked for here: not where the scenario has it already.
    """

    asks_for_budget = False
    page, fold_prefix, chart_prefix, task = "audit", "audit_", "audit_", ""

    def __init__(self) -> None:
        super().__init__()
        self.audited = _audited_method(self.settings)
        self.mechanism, self.source = _as_on_its_page(self.audited, self.settings)
        self.code_note = _CODE_NOTE if self.settings.audit_part == "attack" else ""

    @property
    def budget(self) -> Budget:
        return self.settings.budget_on(self.source, self.mechanism)

    @cached_property
    def variants(self) -> tuple[broken.Bug, ...]:
        return audit_topic.variants_of(self.mechanism)

    @property
    def variant(self) -> str:
        """The planted fault, where it is one of this mechanism."""
        names = {variant.name for variant in self.variants}
        return self.settings.planted_fault if self.settings.planted_fault in names else ""

    def make_attack(self, variant: str = "") -> Attack:
        """Make an attack on the method as it is set, or on one of its broken variants."""
        source = self.source if self.settings.audited_data == "screen" else None
        return Attack(self.mechanism, self.budget, source, variant, self.settings.seed)

    def strip(self) -> None:
        """Show what is simulated and what is claimed."""
        current = self.settings
        if current.audit_part == "reuse":
            budget = reuse_words.two_budgets(current.epsilon, current.second_epsilon)
            odds = reuse_words.odds_of_two(
                current.epsilon,
                current.second_epsilon,
                reuse_topic.DELTA,
                current.second_noise == "fresh",
            )
            strips.fixed(reuse_topic.SOURCE.facts, budget, "audit_strip", odds, pins_here=False)
            return
        claim = _coverage_experiment(self) if current.audit_part == "coverage" else self
        is_curve, facts = claim.source.holds_curves, claim.source.facts
        if current.audit_part == "attack" and current.audited_data == "small":
            # not the data of other pages
            facts = replace(facts, kind=DataKind.SIMULATED, name="Small data for the attack")
        strips.fixed(
            facts,
            words.claim(claim.budget),
            "audit_strip",
            strips.by_method(claim.mechanism, claim.source, claim.budget),
            highest=claim.budget.epsilon,
            pins_here=False,
            unit=Unit.CURVE if is_curve else Unit.RECORD,
            protected=None if is_curve else _RECORD,
        )

    def formula(self) -> None:
        """Show how the audit works, and what it attacks."""
        st.markdown(_METHODS[self.settings.audit_part])
        if self.settings.audit_part == "reuse":
            st.latex(reuse_topic.FORMULA)
        else:
            method = _coverage_experiment(self) if self.settings.audit_part == "coverage" else self
            guarantee_cards.formula(method.mechanism, {})

    def question(self) -> Question:
        """Ask for attacks, repetitions, or two releases of one average."""
        current = self.settings
        if current.audit_part == "attack":
            attacks = [self.make_attack()]
            if self.variant:
                attacks.append(self.make_attack(self.variant))
            return ask(audit_topic.audit_answer, attacks)
        if current.audit_part == "coverage":
            return ask(coverage_topic.coverage_answer, _coverage_experiment(self))
        return ask(
            reuse_topic.reuse_answer,
            current.epsilon,
            current.second_epsilon,
            reuse_topic.DELTA,
            current.seed,
            current.second_noise == "fresh",
        )


def _audited_method(current: settings.Settings) -> AuditedMethod:
    """Return the chosen method, or that of the estimand."""
    task, known = current.estimated, audit_topic.names()
    method = current.mechanism_of(task).key
    like = [key for key in known if key.startswith(f"{method}.")]
    key = current.audited_method or f"{method}.{task}"
    return audit_topic.audited_method(key if key in known or not like else like[0])


def _as_on_its_page(method: AuditedMethod, current: settings.Settings) -> tuple[Mechanism, Source]:
    """Return the method and simulated data set on its page, or usual ones if it has no page."""
    mechanism, source, task = method.default(), None, method.task
    if task in LAB_TASKS and isinstance(current.mechanism_of(task), method.cls):
        mechanism = current.mechanism_of(task)
    if task in LAB_TASKS and current.source_of(task).is_random:
        source = current.studied(task)
    return mechanism, source or method.usual_source()


# -- the claims ---------------------------------------------------------------------------------


_ROW = (4, 3, 4, 5, 2)  # widths of claim, proof, test, measurement and button


def claims_table() -> None:
    """Show every claim of the product with its proof, test, measured coverage and attack."""
    with st.container(key="claims", gap="xsmall"):
        heads = ("Claim", "Proof", "Test", "Attack · measured coverage", "")
        for column, head in zip(st.columns(_ROW), heads, strict=True):
            column.markdown(f":small[{head}]")
        for k, claim in enumerate(claims.CLAIMS):
            _claim(k, claim)


def _claim(k: int, claim: claims.ProductClaim) -> None:
    text, proof, test, measured, button = st.columns(_ROW, vertical_alignment="center")
    text.markdown(f"**{claim.text}**")
    if claim.method_of_proof:
        proof.page_link(
            _LAB,
            label=handbook.method(claim.method_of_proof).title,
            icon=":material/function:",
            query_params={"s": f"tab-theory~theory-notes~about-{claim.method_of_proof}"},
            help=f"{claim.proof}: {claim.section.lstrip('# ')}",
        )
    else:
        proof.markdown(f":small[`{claim.proof}`]")
    file, _, name = claim.test.partition("::")
    test.markdown(f":small[{name.removeprefix('test_').replace('_', ' ')}]", help=f"`{file}`")
    measured.markdown(f":small[{claim.attacked}{f'. **{claim.measured}**' * bool(claim.measured)}]")
    if not claim.part:
        return
    button.button(
        "Attack it",
        key=f"claim_{k}",
        on_click=_attack_claim,
        args=(claim,),
        width="stretch",
        help="Runs below, on simulated data.",
    )


def _attack_claim(claim: claims.ProductClaim) -> None:
    """Show the attack on a claim, and start it at once."""
    if claim.part == claims.ATTACK:
        session.change(audit_part=claim.part, audited_method=claim.subject, planted_fault="")
        view = Audited()
        _start_attack(view.make_attack())
    elif claim.part == claims.COVERAGE:
        task = coverage_topic.KINDS[claim.subject].task
        session.change(**lab_tasks.settings_of(task))
        session.change(audit_part=claim.part, coverage_limits=claim.subject)
        _start_repetitions(Audited())
    else:
        session.change(audit_part=claim.part)
    components.arrive()


# -- above all parts ----------------------------------------------------------------------------


def part_choice(view: Audited) -> None:
    """Choose the part on screen, and offer the check of published files."""
    controls.bound(
        st.segmented_control,
        "Part",
        view.settings.audit_part,
        lambda chosen: session.change(audit_part=chosen or view.settings.audit_part),
        "audit_part",
        options=list(_PARTS),
        format_func=_PARTS.__getitem__,
        label_visibility="collapsed",
    )
    st.page_link(
        st.Page(_PUBLISH),
        label="Check published files",
        query_params={"s": links.encode(replace(view.settings, open_folds=("release_check",)))},
        icon=":material/fact_check:",
    )


def _slider(label: str) -> None:
    controls.epsilon_slider(
        "audit_epsilon",
        "Lower ε: the claim is stronger and the noise larger. Higher ε: the opposite.",
        label,
    )


def _started(key: str) -> Job | None:
    return st.session_state.setdefault(_JOBS, {}).get(key)


def _start(key: str, function: Callable[[*Ts], Any], *arguments: *Ts, total: int) -> None:
    """Begin a job from a button and keep it; a busy server says so beside the button."""
    try:
        job = jobs().start(key, function, *arguments, total=total, visitor=visitor())
    except InputError as problem:
        st.session_state.problem = ("audit", problem)
        return
    st.session_state.setdefault(_JOBS, {})[key] = job


def _key(attack: object) -> str:
    return digest(("audit", attack))


# -- the attack ---------------------------------------------------------------------------------


def attack_section(view: Audited) -> None:
    """Try to break a claim, then plant a fault and see it caught."""
    layout.prose(f"{words.INTRO} :small[{words.SIMULATED}]")
    _method(view)
    honest, planted = view.make_attack(), view.make_attack(view.variant)
    _buttons(view, honest, planted)
    attacks = [honest, planted] if view.variant else [honest]
    started = [(each, job) for each in attacks if (job := _started(_key(each))) is not None]
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
        _slider("Claimed ε")


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


def _start_attack(attack: Attack) -> None:
    _start(
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
            on_click=_start_attack,
            args=(honest,),
        )
        st.button(
            "Attack the planted fault",
            icon=":material/bug_report:",
            key="audit_planted",
            on_click=_start_attack,
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
        )
        st.markdown(f":small[{words.LEGEND}]")
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
    with st.container(border=True):
        st.subheader(line.name, anchor=False)
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


# -- coverage -----------------------------------------------------------------------------------


def _coverage_experiment(view: Audited) -> coverage_topic.Experiment:
    """Describe the band or interval to repeat, by the method and the data of its estimand."""
    return limit_cards.question(_kind(view.settings), view.settings)


def _kind(current: settings.Settings) -> str:
    """Return the chosen kind of band or interval, or that of the estimand's method."""
    task = current.estimated
    if coverage_topic.KINDS[current.coverage_limits].task == task:
        return current.coverage_limits
    return coverage_topic.usual_kind(task, current.mechanism_of(task)) or current.coverage_limits


def coverage_section(view: Audited) -> None:
    """Repeat releases, and show how many bands miss the truth."""
    layout.prose(coverage_words.INTRO)
    _limits(view)
    experiment = _coverage_experiment(view)
    repeats = coverage_topic.REPEATS
    st.button(
        f"Repeat {repeats} times",
        icon=":material/play_arrow:",
        key="audit_repeat",
        on_click=_start_repetitions,
        args=(view,),
    )
    controls.show_problem("audit")
    job = _started(_repetitions_key(experiment))
    if job is None:
        layout.empty(
            f"How many of {repeats} bands miss the truth. Press *Repeat {repeats} "
            "times*: it takes some seconds."
        )
        return
    progress(job, lambda result: _misses(view, result), "Repetitions, ten at a time")


def _repetitions_key(experiment: coverage_topic.Experiment) -> str:
    return digest(("coverage", experiment))


def _start_repetitions(view: Audited) -> None:
    experiment = _coverage_experiment(view)
    total = coverage_topic.REPEATS // coverage_topic.EACH
    _start(_repetitions_key(experiment), coverage_topic.repetitions, experiment, total=total)


def _limits(view: Audited) -> None:
    """Choose the limits, ε and, for limits at one place, the time."""
    chosen_kind = _kind(view.settings)
    names = {
        key: kind.label
        for key, kind in coverage_topic.KINDS.items()
        if kind.task == coverage_topic.KINDS[chosen_kind].task
    }
    kind = coverage_topic.KINDS[chosen_kind]
    left, right = st.columns(2, gap="medium")
    with left:
        controls.bound(
            st.selectbox,
            "Band or interval of",
            chosen_kind,
            lambda chosen: session.change(coverage_limits=chosen),
            "audit_limits",
            options=list(names),
            format_func=names.__getitem__,
            help="By the method and on simulated data of the estimand.",
        )
    with right:
        if not kind.is_joint and TASKS[kind.task].argument is Argument.TIME:
            controls.bound(
                st.slider,
                "At which time, from start (0) to end (1)",
                session.current().evaluation_point,
                lambda chosen: session.change(evaluation_point=allowed.point(chosen)),
                "audit_point",
                min_value=0.0,
                max_value=1.0,
                step=0.01,
            )
    if view.asks_for_budget:
        _slider("Privacy budget ε")


def _misses(view: Audited, job: Job) -> None:
    batches = list(job.parts)
    if not batches:
        return
    batch = coverage_topic.CoverageAnswer.joined(batches)
    limit_cards.misses(
        _coverage_experiment(view),
        batch,
        lambda title, chart, key: view.draw(title, chart, key, 320, 280),
    )


# -- noise that is used twice ---------------------------------------------------------------------


def reuse_section(view: Audited) -> None:
    """Show that one draw at two budgets gives the exact answer away."""
    layout.prose(reuse_words.INTRO)
    _two_releases(view.settings)
    current, is_fresh = view.settings, view.settings.second_noise == "fresh"
    releases = run.at_once(
        reuse_topic.reuse_answer,
        current.epsilon,
        current.second_epsilon,
        reuse_topic.DELTA,
        current.seed,
        is_fresh,
    )
    left, right = st.columns([7, 3], gap="medium")
    with left:
        view.draw("Two releases of one average", reuse_charts.reused(releases), "reuse", 380, 360)
    with right, st.container(border=True):
        st.subheader("What is left of the protection", anchor=False)
        if is_fresh:
            st.badge(reuse_words.FAILS, icon=":material/check:", color="gray")
        else:
            st.badge(reuse_words.GIVEN_AWAY, icon=":material/error:", color="red")
        st.markdown(reuse_words.recovered(releases, is_fresh))
        st.markdown(reuse_words.spent(releases, is_fresh))
    st.markdown(f":small[{reuse_words.RULE} {words.SIMULATED}]")


def _two_releases(current: settings.Settings) -> None:
    """Choose the budgets of both releases, and whether the second draws new noise."""
    left, right = st.columns(2, gap="medium")
    with left:
        _slider("First release (ε)")
    with right:
        controls.bound(
            st.select_slider,
            "Second release (ε)",
            current.second_epsilon,
            lambda chosen: session.change(second_epsilon=allowed.epsilon(chosen)),
            "audit_again",
            options=settings.steps_of(current.second_epsilon),
            format_func=lambda e: f"ε = {e:g}",
        )
    controls.bound(
        st.segmented_control,
        "Noise of the second release",
        current.second_noise,
        lambda chosen: session.change(second_noise=chosen or current.second_noise),
        "audit_draw",
        options=list(_DRAWS),
        format_func=_DRAWS.__getitem__,
    )


SECTIONS: dict[str, Callable[[Audited], None]] = {
    "attack": attack_section,
    "coverage": coverage_section,
    "reuse": reuse_section,
}
