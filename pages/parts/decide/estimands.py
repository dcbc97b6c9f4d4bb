"""What Decide can be about: its data on screen, their sites, and how a study of them is resized."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from engine.core.errors import InputError
from engine.core.tasks import TASKS, WAVELET_REGRESSION, DataType, Task
from engine.core.units import converted
from engine.sources import Source, sources
from engine.sources.twin import Twin
from engine.topics.decision.answer import DECIDED
from engine.topics.regression.answer import NETWORKS, Group, Network, Simulated
from pages.parts.regression import network
from pages.shared.frame import controls
from pages.shared.state import session
from pages.shared.state.settings import Settings

# Networks that differ by more than their budgets: here all sites have the same.
_NETWORKS = {name: groups for name, groups in NETWORKS.items()
             if name == next(first for first, others in NETWORKS.items()
                             if Network(others).sizes == Network(groups).sizes)}


@dataclass(frozen=True)
class Studied:
    """The data of a study.

    Parameters
    ----------
    on_screen : Source
        What is chosen on screen, or the visitor's own data.
    simulated : Source
        What the study simulates: the same at the sites that are chosen, or a twin.
    refusal : InputError or None
        Why there is no study of what is on screen.
    """

    on_screen: Source
    simulated: Source
    refusal: InputError | None = None


def on_screen() -> Studied:
    """The data of the estimand on screen, the visitor's own ones where they are shown."""
    now = session.current()
    return _studied(now, session.source(session.data_task(now.decided)), session.twin_of)


def linked(scenario: Settings) -> Studied:
    """The data that the settings of a link stand for."""
    return _studied(scenario, scenario.source_of(session.data_task(scenario.decided)),
                    lambda real: Twin.of(real.facts, real.sizes))


def _studied(scenario: Settings, source: Source, twin_of: Callable[[Source], Twin]) -> Studied:
    task = TASKS[scenario.decided]
    if isinstance(source, Simulated):
        return Studied(source, scenario.network.source(source))
    if source.is_random:
        return Studied(source, source)
    if task.data is DataType.CURVES and task.key in (twin := twin_of(source)).served:
        return Studied(source, twin)
    return Studied(source, source, InputError(
        f"A study of the {DECIDED[task.key]} simulates its data, and nothing stands in for "
        f"{'your own' if source.facts.is_upload else 'these real ones'}.",
        field="source", hint="Choose simulated data with sizes like theirs."))


def data_choice(task: Task, **more: Any) -> None:
    """Whose data: those of a task, or of a regression the network of its sites."""
    data = session.data_task(task.key)
    if isinstance(session.source(data), Simulated):
        network.network_choice(_NETWORKS, **more)
    else:
        controls.source_choice(data, **more)


def delta_of(scenario: Settings) -> float | None:
    """δ that is chosen for a study; None for the rule of all pages.

    Parameters
    ----------
    scenario : Settings
        On screen, or of a link.
    """
    is_network = scenario.decided == WAVELET_REGRESSION.key
    return scenario.network.delta if is_network else scenario.delta


def choose(key: str) -> None:
    """Another estimand; a target in the unit of other data is forgotten."""
    now = session.current()
    same_data = session.data_task(key) == session.data_task(now.decided)
    session.change(decided=key, target=now.target if same_data else None,
                   typical=now.typical if same_data else None)


def change_unit(task: Task, target: float, unit: str) -> None:
    """Values and target in another unit; neither means anything else than before.

    Parameters
    ----------
    task : Task
        What is published.
    target : float
        In the unit so far.
    unit : str
        One of those of the data.
    """
    data = session.data_task(task.key)
    source: Any = session.current().source_of(data)
    typical = session.current().typical
    session.change_source(data, replace(source, unit=unit))
    session.change(target=converted(target, source.units, source.unit, unit), typical=None
                   if typical is None else converted(typical, source.units, source.unit, unit))


def use_simulated(task: Task) -> None:
    """The usual simulated data in place of those that no study can be made of."""
    data = session.data_task(task.key)
    session.show_own(data, False)
    if not session.current().source_of(data).is_random:
        session.change_source(data, sources.default(TASKS[data].source, data))
    session.change()


def resize(task: Task, source: Source, resized: Source[Any]) -> None:
    """Take over other sizes of a study, whichever settings hold them."""
    if isinstance(resized, Twin):
        session.change_twin(source, resized)
    elif isinstance(resized, Simulated):
        people, = {*resized.sizes.n_curves_per_server}
        before = session.current().network
        session.change_study(task.key, resized)
        session.change(network=Network(
            (Group(resized.sizes.n_servers, people, before.groups[0].epsilon),), before.delta))
    else:
        session.change_source(session.data_task(task.key), resized)
        session.change(sites=())
