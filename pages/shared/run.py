"""The only place where pages make the engine compute, and the one cache of what it computed."""

from __future__ import annotations

import importlib
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Hashable, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import streamlit as st

from engine.identity import digest
from engine.mechanisms import Mechanism
from engine.release.data_content import content_of, traces_of
from engine.sources import Source
from engine.types import Budget, PublicFacts, Sizes
from engine.views import preview
from pages.shared import jobs
from pages.shared.computing import computed, use_workers, uses_workers
from pages.shared.settings import FRONT_PAGE, TASK, steps_of

if TYPE_CHECKING:
    from engine.lessons import Worked
    from engine.mechanisms.iclp import Iclp
    from engine.mechanisms.sparse_inference import SparseInference
    from engine.mechanisms.sparse_regression import SparseRegression
    from engine.mechanisms.wavelet_global import WaveletGlobal
    from engine.release import certified as release
    from engine.release.ledger import Known
    from engine.sources.regression_points import RegressionPoints
    from engine.sources.sparse_rows import SparseRows
    from engine.views import coefficients as coefficient_view
    from engine.views import error_parts as parts
    from engine.views import feasible_smoothness, planner, reuse, risk_plan, sites
    from engine.views import holdout as protocol
    from engine.views import regression as regression_view
    from engine.views import release_preview as release_previews
    from engine.views import sparse as sparse_view
    from engine.views import sparse_intervals as sparse_interval_view
    from engine.views import summaries as summary_view
    from engine.views.site_table import SiteRow


def later(name: str) -> Any:
    """A module of the engine, imported when a page first needs it: no page needs all of them."""
    return importlib.import_module(f"engine.{name}")


_MOST_KEPT = 64  # results of about a megabyte
_MOST_KEPT_BY_A_VISITOR = 12
_MOST_SITES_KEPT = 400  # results about sites, of some ten kilobytes
_MOST_DRAWN_KEPT = 4  # drawn curves of such tables, up to some ten megabytes


class Store:
    """A small cache of results by digest that forgets what was not used for longest.

    `owner` names the visitor whose results alone it holds; nothing is shared with that name.
    """

    def __init__(self, limit: int, owner: str = "") -> None:
        self._limit, self.owner = limit, owner
        self._kept: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, key: str) -> bool:
        return key in self._kept

    def get(self, key: str, compute: Callable[[], Any]) -> Any:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        result = compute()
        with self._lock:
            self._kept[key] = result
            while len(self._kept) > self._limit:
                self._kept.popitem(last=False)
        return result

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()


_SHARED = Store(_MOST_KEPT)  # of this process: an imported module outlives the runs of a page
_BESIDE: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()
_SITES, _DRAWN = Store(_MOST_SITES_KEPT), Store(_MOST_DRAWN_KEPT)


def forget() -> None:
    """Forget all results that visitors share: what is asked for next is computed anew."""
    for store in (_SHARED, _SITES, _DRAWN):
        store.clear()
    _BESIDE.clear()


def _store(source: Source) -> Store:
    """Results of recipes are shared by all visitors; those of an upload stay in its session.

    So do those of its twin, which is made of what the visitor stated.
    """
    return _store_of(source.facts)


def _store_of(facts: PublicFacts) -> Store:
    if facts.kind not in ("upload", "twin"):
        return _SHARED
    state: MutableMapping[Any, Any] = st.session_state
    return state.setdefault("own_results", Store(_MOST_KEPT_BY_A_VISITOR, uuid.uuid4().hex))


def _result(store: Store, key: str, function: Callable[..., Any], *arguments: Any,
            shown: Callable[[int], None] = lambda done: None) -> Any:
    """What a function of the engine returns: kept, or else computed in a worker."""
    return store.get(key, lambda: computed(key + store.owner, function, *arguments, shown=shown))


def picture(source: Source, mechanism: Mechanism, delta: float, seed: int,
            epsilons: tuple[float, ...] = preview.EPSILON_STEPS) -> preview.Preview:
    """Everything the picture shows, at every step of the slider and at an ε of one's own."""
    store, key = _store(source), digest((source, mechanism, delta, seed))
    steps = _result(store, key, preview.preview, source, mechanism, delta, seed)
    for own in set(epsilons) - set(preview.EPSILON_STEPS):
        steps = _result(store, digest((key, own)), preview.with_own_budget,
                        steps, source, mechanism, seed, own)
    return steps


def study(source: Source, mechanism: Mechanism, beside: Mechanism, budgets: Sequence[Budget],
          seed: int) -> preview.Study:
    """The errors of a picture, with one aim for all methods side by side (see `study_beside`)."""
    key = digest(("beside", source, mechanism, beside, budgets, seed))
    return _result(_store(source), key, preview.study_beside,
                   source, mechanism, beside, budgets, seed)


def drawn(source: Source, mechanism: Mechanism, beside: Mechanism, budgets: tuple[Budget, ...],
          seed: int) -> preview.Draws:
    """The releases behind the errors, as curves."""
    key = digest(("drawn", source, mechanism, beside, budgets, seed))
    return _result(_store(source), key, preview.drawn, source, mechanism, beside, budgets, seed)


def error_parts(source: Source, mechanism: Mechanism, budget: Budget, seed: int
                ) -> parts.ErrorParts:
    """What each step does at one budget, and what the errors are the sum of."""
    key = digest(("parts", source, mechanism, budget, seed))
    return _result(_store(source), key,
                   later("views.error_parts").error_parts, source, mechanism, budget, seed)


def made_once(shown: Any, what: Hashable, make: Callable[[], Any]) -> Any:
    """What a page makes of a result: kept beside it and forgotten with it, not made in every run.

    `what` names all that it hangs on apart from the result.
    """
    kept = _BESIDE.setdefault(shown, {})
    if what not in kept:
        kept[what] = make()
    return kept[what]


def quote(source: Source, mechanism: Mechanism, budget: Budget) -> release.Quote:
    """What publishing would cost, from public facts alone."""
    key = digest(("quote", source, mechanism, budget))
    return _store(source).get(
        key, lambda: later("release.published").quote(source, mechanism, budget))


def release_preview(facts: PublicFacts, sizes: Sizes, mechanism: Mechanism, budget: Budget,
                    seed: int) -> release_previews.ReleasePreview:
    """A release of simulated data, from stated facts and public sizes alone."""
    store = _store_of(facts)
    return store.get(digest(("release preview", facts, sizes, mechanism, budget, seed)),
                     lambda: later("views.release_preview").release_preview(
                         facts, sizes, mechanism, budget, seed))


def content(source: Source) -> bytes:
    """The hash by which the ledger knows these data."""
    return _store(source).get(digest(("content", source)), lambda: content_of(source))


def known_people(source: Source) -> Known | None:
    """People of new data who seem to be in the ledger; looked up anew when that has changed."""
    book = later("release.ledger").Ledger()
    stamp = book.path.stat().st_mtime_ns if book.path.exists() else 0
    key = digest(("known people", source, str(book.path), stamp))
    return _store(source).get(key, lambda: book.known(content(source), traces_of(source)))


def if_doubled(source: Source, mechanism: Mechanism, budgets: tuple[Budget, ...], seed: int
               ) -> dict[str, Any]:
    """What doubling people, readings or ε would do to the error, at every budget."""
    key = _doubled_key(source, mechanism, budgets, seed)
    return _result(_store(source), key, preview.if_doubled, source, mechanism, budgets, seed)


def knows_if_doubled(source: Source, mechanism: Mechanism, budgets: tuple[Budget, ...], seed: int
                     ) -> bool:
    """Whether that needs no waiting."""
    return not uses_workers() or _doubled_key(source, mechanism, budgets, seed) in _store(source)


def _doubled_key(*asked: Any) -> str:
    return digest(("doubled", *asked))


def other_methods(source: Source, mechanism: Mechanism, budgets: tuple[Budget, ...], seed: int,
                  task: str = TASK) -> dict[str, tuple[Mechanism, Any]]:
    """The errors of the other methods, at every budget."""
    key = digest(("others", task, source, mechanism, budgets, seed))
    return _result(_store(source), key,
                   preview.other_methods, task, source, mechanism, budgets, seed)


def coefficients(source: Source, mechanism: Mechanism, budget: Budget, seed: int
                 ) -> coefficient_view.CoefficientView:
    """Coefficient functions with their possible releases at one budget."""
    key = digest(("coefficients", source, mechanism, budget, seed))
    return _result(_store(source), key,
                   later("views.coefficients").coefficient_view, source, mechanism, budget, seed)


def coefficient_errors(source: Source, mechanism: Mechanism, delta: float, seed: int) -> Any:
    """Errors of coefficient functions at a few budgets: (budgets, functions)."""
    key = digest(("coefficient errors", source, mechanism, delta, seed))
    return _result(_store(source), key,
                   later("views.coefficients").errors_over_budgets, source, mechanism, delta, seed)


def summary(source: Source, mechanism: Mechanism, task: str, budget: Budget, seed: int
            ) -> summary_view.SummaryView:
    """A whole function in every way that serves the task."""
    key = digest(("summary", task, source, mechanism, budget, seed))
    return _result(_store(source), key,
                   later("views.summaries").summary_view, source, mechanism, task, budget, seed)


def sparse(source: Source, mechanism: SparseRegression, budget: Budget, seed: int
           ) -> sparse_view.SparseView:
    """Few coefficients among many, from rows on several machines."""
    key = digest(("sparse", source, mechanism, budget, seed))
    return _result(_store(source), key,
                   later("views.sparse").sparse_view, source, mechanism, budget, seed)


def sparse_lines(source: Source, mechanism: SparseRegression, delta: float, seed: int
                 ) -> sparse_view.Lines:
    """Their errors at several budgets."""
    key = digest(("sparse lines", source, mechanism, delta, seed))
    return _result(_store(source), key,
                   later("views.sparse").over_budgets, source, mechanism, delta, seed)


def sparse_intervals(source: Source, mechanism: SparseInference, budget: Budget, seed: int
                     ) -> sparse_interval_view.IntervalView:
    """One release with its limits."""
    key = digest(("sparse intervals", source, mechanism, budget, seed))
    return _result(_store(source), key,
                   later("views.sparse_intervals").interval_view, source, mechanism, budget, seed)


def sparse_coverage(source: SparseRows, mechanism: SparseInference, budget: Budget, seed: int
                    ) -> sparse_interval_view.CoverageStudy:
    """How often such limits hold."""
    key = digest(("sparse coverage", source, mechanism, budget, seed))
    return _result(_SHARED, key,
                   later("views.sparse_intervals").coverage_study, source, mechanism, budget, seed)


def sparse_machines(source: SparseRows, budget: Budget, seed: int
                    ) -> sparse_interval_view.Machines:
    """Machines that differ, fitted in three ways."""
    key = digest(("sparse machines", source, budget, seed))
    return _result(_SHARED, key, later("views.sparse_intervals").machines, source, budget, seed)


def sparse_trust(name: str, values: tuple[float, ...]) -> tuple[Any, Any, Any]:
    """Errors of sparse means along one size, those at usual sizes, and the rates there."""
    return _result(_SHARED, digest(("trust", name, values)),
                   later("views.sparse_means").trust, name, values)


def sensitivity_by_grid(mechanism: Iclp, n: int, dimension: int) -> feasible_smoothness.GridSweep:
    """The sensitivity of n records on finer and finer grids."""
    key = digest(("by grid", mechanism, n, dimension))
    return _result(_SHARED, key,
                   later("views.feasible_smoothness").sensitivity_by_grid, mechanism, n,
                   dimension)


def cost_of_covariates(source: Source, mechanism: Mechanism, budget: Budget, seed: int
                       ) -> coefficient_view.CostOfCovariates:
    """What each further covariate costs."""
    key = digest(("cost of covariates", source, mechanism, budget, seed))
    return _result(_store(source), key,
                   later("views.coefficients").cost_of_covariates, source, mechanism, budget, seed)


def holdout(source: Source, mechanism: Mechanism, delta: float, seed: int
            ) -> protocol.HoldoutStudy:
    """A third of the curves against releases of the others, at the budgets of the paper."""
    budgets = tuple(Budget(epsilon, delta) for epsilon in later("views.holdout").PAPER_EPSILONS)
    key = digest(("holdout", source, mechanism, budgets, seed))
    return _result(_store(source), key,
                   later("views.holdout").holdout_study, source, mechanism, budgets, seed)


def release_range(source: Source, mechanism: Mechanism, budget: Budget, seed: int
                  ) -> protocol.ReleaseRange:
    """Many runs on all curves at one budget."""
    key = digest(("runs", source, mechanism, budget, seed))
    return _result(_store(source), key,
                   later("views.holdout").release_range, source, mechanism, (budget,), seed)


def regression(source: regression_view.Readings, mechanism: WaveletGlobal,
               network: regression_view.Network, seed: int) -> regression_view.RegressionView:
    """The curve that sites would publish from single readings."""
    key = digest(("regression", source, mechanism, network, seed))
    return _result(_store(source), key,
                   later("views.regression").regression_view, source, mechanism, network, seed)


def risk_by_level(source: RegressionPoints, mechanism: WaveletGlobal,
                  network: regression_view.Network) -> regression_view.ByLevel:
    """Its exact error at every level."""
    key = digest(("levels", source, mechanism, network))
    return _result(_SHARED, key,
                   later("views.regression").risk_by_level, source, mechanism, network)


def wavelet_slopes_compared() -> dict[str, list[str]]:
    """Slopes of exact errors beside those of the theory."""
    return _result(_SHARED, "wavelet slopes", later("views.wavelet_slopes").compared)


def planned(setting: planner.Setting, unknown: str, target: float, seed: int,
            shown: Callable[[int], None]) -> planner.Answer:
    """The answer to one question; `shown` is told how many steps are done."""
    key = _plan_key(setting, unknown, target, seed)
    return _result(_store(setting.source), key, later("views.planner").plan, setting, unknown,
                   target, seed, shown=shown)


def knows_plan(setting: planner.Setting, unknown: str, target: float, seed: int) -> bool:
    """Whether that needs no waiting."""
    return _plan_key(setting, unknown, target, seed) in _store(setting.source)


def _plan_key(setting: planner.Setting, unknown: str, target: float, seed: int) -> str:
    return digest(("plan", setting, unknown, target if unknown != "error" else 0.0, seed))


def knows_map(setting: planner.Setting, people: tuple[int, ...], epsilons: tuple[float, ...],
              seed: int) -> bool:
    """Whether the errors over people and ε need no waiting."""
    return digest(("map", setting, people, epsilons, seed)) in _store(setting.source)


def errors_at(setting: planner.Setting, epsilons: tuple[float, ...], seed: int) -> Any:
    """Errors of one setting at several ε, NaN where nothing would be published."""
    key = digest(("errors at", setting, epsilons, seed))
    rows = _result(_store(setting.source), key, jobs.parts, later("views.planner").error_map,
                   setting, (setting.people,), epsilons, seed)
    return rows[0]


def protection(setting: planner.Setting) -> planner.Protection:
    """What one release at a setting gives, from its ledger."""
    return _store(setting.source).get(digest(("protection", setting)),
                                      lambda: later("views.planner").protection(setting))


def budget_for_risk(setting: planner.Setting, right: float, records: int
                    ) -> risk_plan.RiskAnswer:
    """The largest ε that keeps a stated risk."""
    key = digest(("risk", setting, right, records))
    return _result(_store(setting.source), key,
                   later("views.risk_plan").budget_for_risk, setting, right, records)


def error_map(setting: planner.Setting, people: tuple[int, ...], epsilons: tuple[float, ...],
              seed: int, shown: Callable[[int], None]) -> Any:
    """Errors over people and ε: (people, epsilons)."""
    key = digest(("map", setting, people, epsilons, seed))
    rows = _result(_store(setting.source), key, jobs.parts, later("views.planner").error_map,
                   setting, people, epsilons, seed, shown=shown)
    return np.stack(rows)


def reused(first: float, second: float, seed: int, is_fresh: bool) -> reuse.Reuse:
    """Two releases of one average, with one draw or with fresh noise."""
    twice = later("views.reuse")
    delta = delta_of_reuse()
    key = digest(("reuse", first, second, seed, is_fresh))
    return _SHARED.get(key, lambda: twice.reuse(first, second, delta, seed, is_fresh))


def delta_of_reuse() -> float:
    return float(1.0 / later("views.reuse").SOURCE.n_curves**2)


def lesson(key: str, seed: int) -> Worked:
    """A lesson’s picture, numbers and guess for one seed."""
    return _result(_SHARED, digest(("lesson", key, seed)), later("lessons").work, key, seed)


def site_memory(source: Source) -> sites.Memory:
    """Where results about sites are kept; those of an upload stay in its session."""
    if source.facts.kind != "upload":
        return later("views.sites").Memory(_DRAWN.get, _SITES.get)
    state: MutableMapping[Any, Any] = st.session_state
    kept = state.setdefault("own_site_results", Store(_MOST_KEPT))
    return later("views.sites").Memory(results=kept.get)


def federation(source: Source, mechanism: Mechanism, rows: Sequence[SiteRow], seed: int
               ) -> sites.Federation:
    """The sites together, pooled and alone; of what changes nothing else is computed."""
    memory, key = site_memory(source), digest(("federation", source, mechanism, rows, seed))
    return memory.results(
        key, lambda: later("views.sites").federation(source, mechanism, rows, seed, memory))


def without_each_site(source: Source, mechanism: Mechanism, rows: Sequence[SiteRow],
                      seed: int, shown: Callable[[int], None]) -> list[sites.WhatIf]:
    """What each site’s leaving or tightening would do; `shown` is told how many are done."""
    cases = []
    for case in later("views.sites").what_if(source, mechanism, rows, seed, site_memory(source)):
        cases.append(case)
        shown(len(cases))
    return cases


def warm_up() -> None:
    """Compute the front page once, so that the first visitor need not wait for it.

    The workers that compute it import what calibration needs, which alone takes two seconds.
    """
    use_workers()
    front = FRONT_PAGE
    delta = later("privacy.failure").usual_delta(front.source.sizes.n_curves)
    shown = picture(front.source, front.mechanism, delta, front.seed, steps_of(front.epsilon))
    if_doubled(front.source, front.mechanism, shown.budgets, front.seed)
    other_methods(front.source, front.mechanism, shown.budgets, front.seed)
