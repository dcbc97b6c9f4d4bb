"""What is known of a pinned scenario, worked out again from its settings, page by page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.errors import InputError
from engine.language import error_parts, tags
from engine.privacy import accounting
from engine.privacy.failure import delta_rule
from engine.tasks import SPARSE_REGRESSION, TASKS, VARYING_COEFFICIENTS, WAVELET_REGRESSION
from engine.topics.coefficients.answer import coefficients_answer, total
from engine.topics.pins.answer import Pinned
from engine.topics.planning import answer as planner
from engine.topics.planning.answer import Setting, usual_target
from engine.topics.regression import words as regression_words
from engine.topics.regression.answer import Method, Readings, regression_answer
from engine.topics.sites import words as site_words
from engine.topics.sites.site_table import with_delta
from engine.topics.sparse import words as sparse_words
from engine.topics.sparse.answer import Way, sparse_answer
from engine.topics.summaries import words as summary_words
from engine.topics.summaries.answer import summaries_answer
from engine.types import Budget, Unit
from pages.shared.state import address, pins, run, session, settings
from pages.shared.state.pins import Pin
from pages.shared.state.settings import Settings


def of(pin: Pin) -> Pinned:
    """The facts of a scenario; what was computed for its page is found again.

    Raises
    ------
    InputError
        Where its page would refuse it.
    """
    now, _ = address.decode(pin.token)
    return Pinned(name=pin.name, page=pins.PAGES[pin.page], group=now.group,
                  population=now.population, **_FOUND[pin.page](now))


def _budget(now: Settings, task: str) -> Budget:
    """The budget of a page with one mechanism and one ε."""
    return Budget(now.epsilon, session.delta_of(now, now.source_of(task), task).value)


def _average(now: Settings) -> dict[str, Any]:
    """Explore and Rates: an average curve at the chosen ε."""
    source, budget = now.source, _budget(now, settings.TASK)
    shown = run.picture(source, now.mechanism, budget.delta, now.seed,
                        settings.steps_of(now.epsilon))
    at = [b.epsilon for b in shown.budgets].index(now.epsilon)
    refused, study, unit = shown.is_refused(at), shown.study, source.facts.value_unit
    error = float("nan") if refused else float(study.error[at])
    parts = error_parts.parts(source.facts)
    return {"facts": source.facts, "protects": tags.unit_tag(source.facts)[0],
            "method": now.mechanism.nearest_preset()[0], "people": source.sizes.n_curves,
            "budget": budget, "budgets": tags.budget_chip(budget), "spends": shown.spends[at],
            "error": error, "within": float(study.within[at]), "error_unit": unit,
            "limits": "" if refused else _largest(parts, study.shares[at])}


def _largest(names: Any, shares: Any) -> str:
    share, name = max(zip(shares, names, strict=True))
    return f"{name}, {100 * share:.0f} %"


def _plan(now: Settings) -> dict[str, Any]:
    """The answer that Plan found: its ε and sizes, as an average curve."""
    setting = Setting.of(now.source, now.mechanism, now.epsilon, now.delta)
    target = usual_target(now.source.facts) if now.target is None else now.target
    found = run.answer(planner.plan, setting, now.unknown, target, now.seed)
    if found.protection is None:
        raise InputError("This plan has no answer, so there is nothing to compare.",
                         hint="Open it to see which blank would do.")
    at, asked = found.reached.setting, found.protection.asked
    return {"facts": now.source.facts, "protects": tags.unit_tag(now.source.facts)[0],
            "method": now.mechanism.nearest_preset()[0], "people": at.people * at.sites,
            "budget": asked, "budgets": tags.budget_chip(asked),
            "spends": found.protection.spends, "error": found.reached.error,
            "within": found.reached.within, "error_unit": now.source.facts.value_unit}


def _sites(now: Settings) -> dict[str, Any]:
    """All sites together, protected as at the weakest of them."""
    if not now.source.has_free_sites:
        raise InputError("These curves come with their sites, which no link holds.",
                         hint="Choose simulated curves.")
    rows = with_delta(now.sites, now.delta)
    found = run.federation(now.source, now.mechanism, rows, now.seed).for_group(now.group)
    return {"facts": found.facts, "protects": site_words.unit_tag(found.facts)[0],
            "method": now.mechanism.nearest_preset()[0],
            "people": sum(member.row.n_curves for member in found.members),
            "budget": accounting.weakest(found.together.spends)[0].asked,
            "budgets": site_words.budgets(now.sites), "spends": found.together.spends,
            "error": found.together.error, "within": found.together.accuracy.within,
            "error_unit": found.facts.value_unit}


def _coefficients(now: Settings) -> dict[str, Any]:
    """All coefficient functions together."""
    task = VARYING_COEFFICIENTS.key
    source, budget = now.source_of(task), _budget(now, task)
    shown = run.answer(coefficients_answer, source, now.mechanism_of(task), budget, now.seed)
    return {"facts": shown.data.facts, "protects": tags.unit_tag(shown.data.facts)[0],
            "method": now.mechanism_of(task).nearest_preset()[0], "people": shown.data.n_curves,
            "budget": budget, "budgets": tags.budget_chip(budget), "spends": shown.spends,
            "error": float("nan") if shown.is_refused else total(shown.error),
            "error_unit": shown.data.facts.value_unit}


def _regression(now: Settings) -> dict[str, Any]:
    """A curve from single readings at sites of several kinds."""
    task = WAVELET_REGRESSION.key
    source, mechanism = now.source_of(task), now.mechanism_of(task)
    assert isinstance(source, Readings) and isinstance(mechanism, Method)
    shown = run.answer(regression_answer, source, mechanism, now.network, now.seed)
    asked = accounting.weakest(shown.spends)[0].asked
    return {"facts": source.facts,
            "protects": tags.unit_tag(source.facts, WAVELET_REGRESSION.unit)[0],
            "method": mechanism.nearest_preset()[0],
            "people": sum(group.sites * group.readings for group in now.network.groups),
            "budget": asked,
            "budgets": regression_words.budgets(now.network), "spends": shown.spends,
            "error": float("nan") if shown.is_refused else shown.error,
            "within": float("nan") if shown.is_refused else shown.within}


def _summary(now: Settings) -> dict[str, Any]:
    """A whole function in the chosen way."""
    task, source = now.summary, now.source_of(now.summary)
    delta = delta_rule(source.sizes.n_curves, now.delta).value
    shown = run.answer(summaries_answer, source, now.mechanism_of(task), task,
                       Budget(now.epsilon, delta), now.seed)
    way = shown.ways[0]
    if way.refusal:
        raise InputError(way.refusal)
    is_curve = TASKS[task].unit is Unit.CURVE
    unit = tags.unit_tag(shown.facts)[0] if is_curve else "One record"
    return {"facts": shown.facts, "protects": unit, "people": shown.n, "budget": way.budget,
            "method": f"{way.label}: {TASKS[task].result}", "spends": way.spends,
            "budgets": tags.budget_chip(way.budget), "error": way.error,
            "error_unit": summary_words.unit_of(shown),
            "limits": "" if way.parts is None else _largest(summary_words.PARTS, way.parts)}


def _sparse(now: Settings) -> dict[str, Any]:
    """Few coefficients among many."""
    task = SPARSE_REGRESSION.key
    source, mechanism = now.source_of(task), now.mechanism_of(task)
    budget = _budget(now, task)
    assert isinstance(mechanism, Way)
    shown = run.answer(sparse_answer, source, mechanism, budget, now.seed)
    return {"facts": shown.facts, "protects": tags.unit_tag(shown.facts, SPARSE_REGRESSION.unit)[0],
            "method": mechanism.nearest_preset()[0], "people": shown.sizes.n_curves,
            "budget": budget, "budgets": sparse_words.budget_line(budget, shown.sizes.n_servers),
            "spends": shown.spends, "error": shown.error,
            "within": shown.within}


_FOUND: dict[str, Callable[[Settings], dict[str, Any]]] = {
    "explore": _average, "rates": _average, "plan": _plan, "sites": _sites,
    "coefficients": _coefficients, "regression": _regression, "summaries": _summary,
    "sparse": _sparse}
