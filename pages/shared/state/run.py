"""The only place where pages make the engine compute, and the one cache of its results.

A page names a function of the engine and its arguments: `answer(mean_answer, source, …)`. They
determine the key, the worker, and the owner of the results.
"""

from __future__ import annotations

import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, overload
from weakref import WeakKeyDictionary

import numpy as np
import streamlit as st

from engine.core.enumerations import NoisePlace
from engine.core.identity import digest
from engine.core.types import DataKind, PublicFacts
from engine.mechanisms import Mechanism
from engine.sources import Source
from engine.topics.mean import answer as mean_topic
from pages.shared.server import jobs
from pages.shared.server.computing import computed, uses_workers
from pages.shared.state import waiting
from pages.shared.state.settings import FRONT_PAGE, TASK, steps_of

if TYPE_CHECKING:
    from engine.topics.sites import answer as sites_topic
    from engine.topics.sites.site_table import SiteRow

A = TypeVar("A")
Ts = TypeVarTuple("Ts")

# Bytes of results: those of a mean curve are some two million, of a site some ten thousand.
_MAX_SHARED, _MAX_OF_VISITOR, _MAX_OF_SITES = 48_000_000, 16_000_000, 4_000_000
_SMALL = 64  # bytes of a value without parts
# kinds of data derived from one visitor's file or statements
_PERSONAL = (DataKind.UPLOAD, DataKind.TWIN)


class Store:
    """A cache of results by digest, which forgets the least recently used beyond so many bytes.

    The latest result stays, however large. `owner` names the only visitor whose results it holds;
    shared results have no owner.
    """

    def __init__(self, limit: int, owner: str = "") -> None:
        self._limit, self.owner = limit, owner
        self._results: OrderedDict[str, Any] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._lock = threading.Lock()

    def __contains__(self, key: str) -> bool:
        return key in self._results

    def __getitem__(self, key: str) -> Any:
        with self._lock:
            self._results.move_to_end(key)
            return self._results[key]

    def __setitem__(self, key: str, result: Any) -> None:
        size = size_of(result)
        with self._lock:
            self._results[key], self._sizes[key] = result, size
            self._results.move_to_end(key)
            while len(self._results) > 1 and sum(self._sizes.values()) > self._limit:
                del self._sizes[self._results.popitem(last=False)[0]]

    def get(self, key: str, compute: Callable[[], A]) -> A:
        """Return a result as it was kept, or compute it now."""
        with suppress(KeyError):
            return self[key]
        result = self[key] = compute()
        return result

    def clear(self) -> None:
        with self._lock:
            self._results.clear()
            self._sizes.clear()


def size_of(value: Any) -> int:
    """Estimate the bytes that a result takes, by its arrays and texts."""
    if isinstance(value, np.ndarray):
        return value.nbytes + _SMALL
    if isinstance(value, str | bytes):
        return len(value) + _SMALL
    if isinstance(value, Mapping):
        return sum(size_of(key) + size_of(part) for key, part in value.items()) + _SMALL
    if isinstance(value, tuple | list):
        return sum(map(size_of, value)) + _SMALL
    if is_dataclass(value):
        return sum(size_of(getattr(value, f.name)) for f in fields(value)) + _SMALL
    return _SMALL


_SHARED = Store(_MAX_SHARED)  # one per process: an imported module outlives the runs of a page
_MADE_OF_RESULT: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()
_SITES = Store(_MAX_OF_SITES)


def forget() -> None:
    """Forget all results that visitors share: what is asked for next is computed anew."""
    _SHARED.clear()
    _SITES.clear()
    _MADE_OF_RESULT.clear()


# -- whatever the engine can compute --------------------------------------------------------------


@overload
def answer(
    function: Callable[[*Ts], Generator[Any, None, A]], *arguments: *Ts, steps: int = ...
) -> A: ...


@overload
def answer(function: Callable[[*Ts], A], *arguments: *Ts, steps: int = ...) -> A: ...


def answer(function: Callable[[*Ts], Any], *arguments: *Ts, steps: int = 0) -> Any:
    """Return the result of an engine function, kept or computed in a worker.

    Parameters
    ----------
    function : callable
        A function at the top of a module; a generator returns its result at the end.
    *arguments : object
        Everything the result depends on, including the seed.
    steps : int
        Parts of a generator, by which the bar of the page tells the time left.

    Raises
    ------
    InputError
        From the function, or if too many computations are waiting.
    """
    return _result(_store_of(arguments), _key(function, arguments), function, arguments, steps)


def parts(function: Callable[[*Ts], Iterator[A]], *arguments: *Ts) -> list[A]:
    """Return all parts that a generator of the engine yields; kept and computed as by `answer`."""
    call = (function, *arguments)
    return _result(_store_of(call), _key(jobs.parts, call), jobs.parts, call)


def _result(
    store: Store, key: str, function: Callable[..., Any], arguments: Sequence[Any], steps: int = 0
) -> Any:
    """Return a result as it was kept, or compute it in a worker for those who may share it."""
    with suppress(KeyError):
        return store[key]
    with waiting.shown(function, arguments, steps) as progress:
        result = store[key] = computed(key + store.owner, function, *arguments, progress=progress)
    return result


def at_once(function: Callable[[*Ts], A], *arguments: *Ts) -> A:
    """Return a quick result, or one that only this process can compute."""
    return _store_of(arguments).get(_key(function, arguments), lambda: function(*arguments))


def knows(function: Callable[[*Ts], Any], *arguments: *Ts) -> bool:
    """True if that answer needs no waiting."""
    return _key(function, arguments) in _store_of(arguments)


def kept(function: Callable[[*Ts], A], *arguments: *Ts) -> A:
    """Return an answer that needs no waiting; a `KeyError` if there is none."""
    return _store_of(arguments)[_key(function, arguments)]


def _key(function: Callable[..., Any], arguments: Sequence[Any]) -> str:
    return digest((function, *arguments))


def _store_of(
    arguments: Any, shared: Store = _SHARED, key: str = "own_results", limit: int = _MAX_OF_VISITOR
) -> Store:
    """Return the server's store for recipes, or the session's for own data and their twins."""
    if not _is_personal(arguments):
        return shared
    return st.session_state.setdefault(key, Store(limit, uuid.uuid4().hex))


def _is_personal(value: Any) -> bool:
    """True if it contains a visitor's own data, or facts that a visitor stated."""
    if isinstance(value, PublicFacts):
        return value.kind in _PERSONAL
    if isinstance(value, Source):
        return value.facts.kind in _PERSONAL
    if isinstance(value, tuple | list):
        return any(map(_is_personal, value))
    return is_dataclass(value) and any(_is_personal(getattr(value, f.name)) for f in fields(value))


def made_once(owner: Any, name: Hashable, make: Callable[[], A]) -> A:
    """Derive a value from a result once; keep and forget it together with the result.

    `name` identifies everything else it depends on.
    """
    beside = _MADE_OF_RESULT.setdefault(owner, {})
    if name not in beside:
        beside[name] = make()
    return beside[name]


# -- answers that are put together of others ------------------------------------------------------


def mean_at_every_step(
    source: Source,
    mechanism: Mechanism,
    delta: float,
    seed: int,
    epsilons: tuple[float, ...] = mean_topic.EPSILON_STEPS,
) -> mean_topic.MeanAnswer:
    """Compute the picture at every step of the slider and at a further ε."""
    arguments = (source, mechanism, delta, seed)
    key = _key(mean_topic.mean_over_budgets, arguments)
    steps: mean_topic.MeanAnswer = _result(
        _store_of(arguments), key, mean_topic.mean_over_budgets, arguments
    )
    for epsilon in set(epsilons) - set(mean_topic.EPSILON_STEPS):
        steps = _result(
            _store_of(arguments),
            digest((key, epsilon)),
            mean_topic.with_budget,
            (steps, source, mechanism, seed, epsilon),
        )
    return steps


def _store_of_sites(arguments: Any) -> Store:
    """Return the store for results about sites: they are small, and a table needs many of them."""
    return _store_of(arguments, _SITES, "own_site_results", _MAX_OF_SITES)


def of_sites(function: Callable[..., A], /, *arguments: Any) -> A:
    """Answer one of the many questions that a table of sites needs."""
    return _result(_store_of_sites(arguments), _key(function, arguments), function, arguments)


def federation(
    source: Source,
    mechanism: Mechanism,
    rows: Sequence[SiteRow],
    seed: int,
    *,
    is_whole: bool = False,
) -> sites_topic.SitesAnswer:
    """Simulate the sites together, pooled and alone; only what changed is computed again.

    It includes the error without privacy if that is known, or if `is_whole`.
    """
    from engine.topics.sites import answer as sites_topic  # imported late: only one page needs it

    arguments = source, mechanism, tuple(rows), seed
    store, key = _store_of_sites(arguments), _key(sites_topic.federation, arguments)
    if is_whole or key in store or not uses_workers():
        return store.get(key, lambda: sites_topic.federation(*arguments, of_sites))
    return store.get(
        _key(sites_topic.without_baseline, arguments),
        lambda: sites_topic.without_baseline(*arguments, of_sites),
    )


def front_picture() -> mean_topic.MeanAnswer:
    """Return the picture of the front page before any choice."""
    from engine.privacy.failure import usual_delta  # a thread imports this meanwhile

    front = FRONT_PAGE
    return mean_at_every_step(
        front.source,
        front.mechanism,
        usual_delta(front.source.sizes.n_curves),
        front.seed,
        steps_of(front.epsilon),
    )


def warm_up() -> None:
    """Compute the first Explore and Decide once, so that the first visitor need not wait for them.

    Its workers import the modules of calibration, which alone takes two seconds.
    """
    from engine.topics.decision import answer as decision_topic

    front, budgets = FRONT_PAGE, front_picture().budgets
    rows = decision_topic.by_number(decision_topic.equal_sites(front.source, ""))
    for place in (NoisePlace.SITES, NoisePlace.PERSON):  # its one site is its own centre
        study = front.source, front.mechanism, rows, front.delta, str(place), front.seed
        answer(decision_topic.tried, *study)
    answer(mean_topic.other_methods, TASK, front.source, front.mechanism, budgets, front.seed)
