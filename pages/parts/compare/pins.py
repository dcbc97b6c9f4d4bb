"""Pinned scenarios on Compare: side by side, what cannot be compared, and a memo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from engine.core import tasks
from engine.core.errors import InputError
from engine.core.tasks import TASKS
from engine.core.types import Budget, Unit
from engine.exports import memo
from engine.language import error_words, tags
from engine.language.numbers import digits_up
from engine.privacy import accounting
from engine.topics.coefficients.answer import coefficients_answer
from engine.topics.counting.answer import counting_answer
from engine.topics.decision import answer as decision_topic
from engine.topics.decision import words as decision_words
from engine.topics.percentiles.answer import percentiles_answer
from engine.topics.pins import answer as pins_topic
from engine.topics.pins.answer import Pinned
from engine.topics.planning import answer as planning_topic
from engine.topics.planning.answer import usual_target
from engine.topics.regression import words as regression_words
from engine.topics.regression.answer import Method, Readings, regression_answer
from engine.topics.sites import words as site_words
from engine.topics.sites.site_table import with_delta
from engine.topics.sparse import words as sparse_words
from engine.topics.sparse.answer import SparseEstimator, sparse_answer
from engine.topics.summaries import words as summary_words
from engine.topics.summaries.answer import summaries_answer
from pages.parts.decide.view import delta_of, linked
from pages.parts.plan import setting_of
from pages.shared.frame import controls
from pages.shared.state import links, pins, run, settings
from pages.shared.state.pins import Pin
from pages.shared.state.settings import Settings


def section() -> None:
    st.header("Pinned scenarios", anchor=False)
    scenarios = pins.pinned()
    if not scenarios:
        with st.container(border=True):
            st.markdown(
                "Nothing is pinned yet. *Pin scenario*, in the strip under the title of "
                "other pages, keeps what they show to compare it here."
            )
        return
    facts_of_pins = []
    for column, pin in zip(st.columns(len(scenarios), gap="small"), scenarios, strict=True):
        with column, st.container(border=True):
            facts = _facts(pin)
            facts_of_pins += [] if facts is None else [facts]
            _ways(pin)
    if facts_of_pins:
        _side_by_side(facts_of_pins)


def _facts(pin: Pin) -> Pinned | None:
    """Return the card of one scenario; show the reason if its page would refuse it."""
    st.subheader(f"{pin.name} · {pins.PAGES[pin.page]}", anchor=False)
    try:
        facts = pinned_facts(pin)
    except InputError as problem:
        st.markdown(controls.message(problem))
        return None
    st.markdown(f"{facts.facts.name}  \n{facts.method}  \n**{facts.budgets}**")
    return facts


def _ways(pin: Pin) -> None:
    """Draw the ways back to the view itself and out of the comparison."""
    with st.container(horizontal=True, vertical_alignment="center"):
        # A bare address keeps the settings, so the link spells out the defaults.
        token = pin.token or f"epsilon-{settings.Settings().epsilon:g}"
        st.page_link(
            f"../{pin.page}.py",
            label="Open",
            icon=":material/open_in_new:",
            query_params={"s": token},
        )
        st.button(
            "Unpin",
            icon=":material/close:",
            type="tertiary",
            key=f"unpin_{pin.name}",
            on_click=pins.drop,
            args=(pin.name,),
        )


def _side_by_side(facts: list[Pinned]) -> None:
    """Show the table, with differences from the first, and the memo."""
    for text in pins_topic.warnings(facts):
        st.warning(text, icon=":material/warning:")
    table = pd.DataFrame(pins_topic.table(facts))
    st.table(table.set_index(table.columns[0]))
    if len(facts) > 1:
        st.markdown(f":small[In brackets: against {facts[0].name}.]")
    st.download_button(
        "Write the memo",
        lambda: memo.comparison_memo(facts),
        "privacy-curves-scenarios.html",
        "text/html",
        on_click="ignore",
        icon=":material/description:",
        key="pins_memo",
        help="One page to print: the table, what cannot be compared, and each scenario in words.",
    )


# -- what is known of a pinned scenario, worked out again from its settings ------------------------


def pinned_facts(pin: Pin) -> Pinned:
    """Compute the facts of a scenario, or find those computed for its page.

    Raises
    ------
    InputError
        Where its page would refuse it.
    """
    scenario, _ = links.decode(pin.token)
    estimated = {"decide": scenario.decided_task, "lab": scenario.estimated}
    return Pinned(
        name=pin.name,
        page=pins.PAGES[pin.page],
        group=scenario.group_size,
        estimated=estimated.get(pin.page, settings.TASK),
        population=scenario.population,
        **_ON_PAGE[pin.page](scenario),
    )


def _budget(scenario: Settings, task: str) -> Budget:
    """Return the budget of a page with one mechanism and one ε."""
    delta = scenario.delta_on(scenario.studied(task), scenario.mechanism_of(task))
    return Budget(scenario.epsilon, delta.value)


def _average(scenario: Settings) -> dict[str, Any]:
    """Return an average curve at the chosen ε, for Explore and Rates."""
    source, budget = scenario.studied(settings.TASK), _budget(scenario, settings.TASK)
    picture = run.mean_at_every_step(
        source, scenario.mechanism, budget.delta, scenario.seed, settings.steps_of(scenario.epsilon)
    )
    step = [b.epsilon for b in picture.budgets].index(scenario.epsilon)
    refused, study, unit = picture.is_refused(step), picture.study, source.facts.value_unit
    error = float("nan") if refused else float(study.error[step])
    parts = error_words.PARTS
    return {
        "facts": source.facts,
        "protects": tags.unit_tag(source.facts)[0],
        "method": scenario.mechanism.nearest_preset()[0],
        "people": source.sizes.n_curves,
        "budget": budget,
        "budgets": tags.budget_chip(budget),
        "spends": picture.spends[step],
        "error": error,
        "within": float(study.within[step]),
        "error_unit": unit,
        "limits": "" if refused else _largest(parts, study.shares[step]),
    }


def _largest(names: Any, shares: Any) -> str:
    share, name = max(zip(shares, names, strict=True))
    return f"{name}, {100 * share:.0f} %"


def _decide(scenario: Settings) -> dict[str, Any]:
    """Return the part of Decide that was pinned: its solver, its table of sites, or the study."""
    if scenario.decided_task != settings.TASK:
        return _study(scenario)
    if "planner" in scenario.open_folds:
        return _plan(scenario)
    return _sites(scenario) if "hospitals" in scenario.open_folds else _study(scenario)


def _study(scenario: Settings) -> dict[str, Any]:
    """Return the recommendation, with odds that hold at every site."""
    task, method = TASKS[scenario.decided_task], scenario.mechanism_of(scenario.decided_task)
    studied = linked(scenario)
    if studied.refusal is not None:
        raise studied.refusal
    source, facts = studied.simulated, studied.on_screen.facts
    rows = (studied.on_screen.has_free_sites and scenario.sites) or decision_topic.equal_sites(
        source, "Site"
    )
    profile = run.answer(
        decision_topic.profile_of,
        source,
        method,
        decision_topic.at_one_budget(rows),
        delta_of(scenario),
        scenario.noise_place,
        scenario.seed,
    )
    target = scenario.target_distance
    if target is None:
        target = decision_topic.usual_target(task, facts)
    recommended = decision_topic.decision(
        profile, target, scenario.confidence, scenario.group_size
    ).chosen
    if recommended is None:
        raise InputError(
            "No budget reaches the target, so there is nothing to compare.",
            hint="Open it and allow a larger distance.",
        )
    return {
        "facts": facts,
        "protects": decision_words.unit_tag(task, facts)[0],
        "method": profile.study.mechanism.nearest_preset()[0],
        "people": profile.n_people,
        "budget": recommended.budget,
        "budgets": tags.budget_chip(recommended.budget),
        "spends": recommended.spends,
        "error": recommended.accuracy.error,
        "within": recommended.accuracy.within,
        "error_unit": profile.unit,
    }


def _plan(scenario: Settings) -> dict[str, Any]:
    """Return the answer that Plan found: its ε and sizes, as an average curve."""
    setting = setting_of(scenario, scenario.source)
    target = scenario.typical_error or _recommended(scenario) or usual_target(scenario.source.facts)
    plan = run.answer(
        planning_topic.plan, setting, scenario.unknown_quantity, target, scenario.seed
    )
    if plan.protection is None:
        raise InputError(
            "This plan has no answer, so there is nothing to compare.",
            hint="Open it to see which blank would do.",
        )
    reached, budget = plan.reached.setting, plan.protection.budget
    return {
        "facts": scenario.source.facts,
        "protects": tags.unit_tag(scenario.source.facts)[0],
        "method": scenario.mechanism.nearest_preset()[0],
        "people": reached.people * reached.sites,
        "budget": budget,
        "budgets": tags.budget_chip(budget),
        "spends": plan.protection.spends,
        "error": plan.reached.error,
        "within": plan.reached.within,
        "error_unit": scenario.source.facts.value_unit,
    }


def _recommended(scenario: Settings) -> float | None:
    """Return the typical error that the solver begins with; None if it finds the error."""
    if scenario.unknown_quantity == "error":
        return None
    try:
        return digits_up(_study(scenario)["error"], 3)
    except InputError:
        return None


def _sites(scenario: Settings) -> dict[str, Any]:
    """Return all sites together, with odds that hold at each of them."""
    if not scenario.source.has_free_sites:
        raise InputError(
            "These curves come with their sites, which no link holds.",
            hint="Choose simulated curves.",
        )
    rows = with_delta(scenario.sites, scenario.delta)
    federation = run.federation(scenario.source, scenario.mechanism, rows, scenario.seed).for_group(
        scenario.group_size
    )
    return {
        "facts": federation.facts,
        "protects": site_words.unit_tag(federation.facts)[0],
        "method": scenario.mechanism.nearest_preset()[0],
        "people": sum(member.row.n_curves for member in federation.members),
        "budget": accounting.requested(federation.together.spends),
        "budgets": site_words.budgets(scenario.sites),
        "spends": federation.together.spends,
        "error": federation.together.error,
        "within": federation.together.accuracy.within,
        "error_unit": federation.facts.value_unit,
    }


def _coefficients(scenario: Settings) -> dict[str, Any]:
    """Return all coefficient functions together."""
    task = tasks.VARYING_COEFFICIENTS.key
    source, budget = scenario.source_of(task), _budget(scenario, task)
    answer = run.answer(
        coefficients_answer, source, scenario.mechanism_of(task), budget, scenario.seed
    )
    return {
        "facts": answer.facts,
        "protects": tags.unit_tag(answer.facts)[0],
        "method": scenario.mechanism_of(task).nearest_preset()[0],
        "people": answer.people,
        "budget": budget,
        "budgets": tags.budget_chip(budget),
        "spends": answer.spends,
        "error": answer.error,
        "within": answer.within,
        "error_unit": answer.facts.value_unit,
    }


def _regression(scenario: Settings) -> dict[str, Any]:
    """Return a curve from single observations at sites of several kinds."""
    task = tasks.WAVELET_REGRESSION.key
    source, mechanism = scenario.source_of(task), scenario.mechanism_of(task)
    assert isinstance(source, Readings) and isinstance(mechanism, Method)
    answer = run.answer(regression_answer, source, mechanism, scenario.network, scenario.seed)
    budget = accounting.requested(answer.spends)
    return {
        "facts": source.facts,
        "protects": tags.unit_tag(source.facts, tasks.WAVELET_REGRESSION.unit)[0],
        "method": mechanism.nearest_preset()[0],
        "people": sum(group.sites * group.readings for group in scenario.network.groups),
        "budget": budget,
        "budgets": regression_words.budgets(scenario.network),
        "spends": answer.spends,
        "error": float("nan") if answer.is_refused else answer.error,
        "within": float("nan") if answer.is_refused else answer.within,
    }


def _summary(scenario: Settings) -> dict[str, Any]:
    """Return a whole function by the chosen method."""
    task, source = scenario.summary_task, scenario.source_of(scenario.summary_task)
    delta = scenario.delta_on(source).value
    answer = run.answer(
        summaries_answer,
        source,
        scenario.mechanism_of(task),
        task,
        Budget(scenario.epsilon, delta),
        scenario.seed,
    )
    chosen = answer.results[0]
    if chosen.refusal:
        raise InputError(chosen.refusal)
    is_curve = TASKS[task].unit is Unit.CURVE
    unit = tags.unit_tag(answer.facts)[0] if is_curve else "One record"
    return {
        "facts": answer.facts,
        "protects": unit,
        "people": answer.people,
        "budget": chosen.budget,
        "method": f"{chosen.label}: {TASKS[task].result}",
        "spends": chosen.spends,
        "budgets": tags.budget_chip(chosen.budget),
        "error": chosen.error,
        "within": chosen.within,
        "error_unit": summary_words.unit_of(answer),
        "limits": "" if chosen.parts is None else _largest(summary_words.PARTS, chosen.parts),
    }


def _sparse(scenario: Settings) -> dict[str, Any]:
    """Return few coefficients among many."""
    task = tasks.SPARSE_REGRESSION.key
    source, mechanism = scenario.source_of(task), scenario.mechanism_of(task)
    budget = _budget(scenario, task)
    assert isinstance(mechanism, SparseEstimator)
    answer = run.answer(sparse_answer, source, mechanism, budget, scenario.seed)
    return {
        "facts": answer.facts,
        "protects": tags.unit_tag(answer.facts, tasks.SPARSE_REGRESSION.unit)[0],
        "method": mechanism.nearest_preset()[0],
        "people": answer.people,
        "budget": budget,
        "budgets": sparse_words.budget_line(budget, answer.sizes.n_servers),
        "spends": answer.spends,
        "error": answer.error,
        "within": answer.within,
    }


def _counts(scenario: Settings) -> dict[str, Any]:
    """Return a curve from noised counts."""
    task = scenario.counted_task
    source, mechanism = scenario.source_of(task), scenario.mechanism_of(task)
    budget = Budget(scenario.epsilon)
    answer = run.answer(counting_answer, source, mechanism, budget, scenario.seed)
    return {
        "facts": answer.facts,
        "protects": tags.unit_tag(answer.facts, TASKS[task].unit)[0],
        "method": f"{mechanism.label}: {TASKS[task].result}",
        "people": answer.people,
        "budget": budget,
        "budgets": tags.budget_chip(budget),
        "spends": answer.spends,
        "error": answer.error,
        "within": answer.within,
    }


def _percentiles(scenario: Settings) -> dict[str, Any]:
    """Return all percentile curves together."""
    task = tasks.PERCENTILE_CURVES.key
    source, budget = scenario.source_of(task), _budget(scenario, task)
    mechanism: Any = scenario.mechanism_of(task)
    answer = run.answer(percentiles_answer, source, mechanism, budget, scenario.seed)
    return {
        "facts": answer.facts,
        "protects": tags.unit_tag(answer.facts)[0],
        "method": mechanism.nearest_preset()[0],
        "people": answer.people,
        "budget": budget,
        "budgets": tags.budget_chip(budget),
        "spends": answer.spends,
        "error": answer.error,
        "within": answer.within,
        "error_unit": answer.facts.value_unit,
    }


_IN_LAB: dict[str, Callable[[Settings], dict[str, Any]]] = {
    "mean": _average,
    "coefficients": _coefficients,
    "regression": _regression,
    "summaries": _summary,
    "sparse": _sparse,
    "survival": _counts,
    "percentiles": _percentiles,
}
_ON_PAGE: dict[str, Callable[[Settings], dict[str, Any]]] = {
    "explore": _average,
    "decide": _decide,
    "lab": lambda scenario: _IN_LAB[scenario.estimand](scenario),
}
