"""What a release gives away, and the one function that makes it: charge, draw, store, show.

What is published is made from the noised messages in the ledger and from public facts, the first
time as every time again.

Nothing of it depends on the hash of the data or on what else the ledger holds: a label, a number or
a running total would show whether two releases used exactly equal data. So a release has a random
id of its own, and what was spent in all is told to the holder alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.core.errors import InputError
from engine.core.tasks import Argument, DataType
from engine.core.types import Array, Budget, Data, Estimate, EventData, PublicFacts, Sizes
from engine.mechanisms import Mechanism
from engine.mechanisms.percentile_curves import PercentileCurves
from engine.privacy.failure import large_delta
from engine.release import certified
from engine.release.books import Odometer, ceiled
from engine.release.certified import Key, ReleaseCost
from engine.release.counts import AT_RISK, released_counts
from engine.release.data_content import content_of
from engine.release.functions import Axes, ReleasedFunctions, axes_of, functions_of
from engine.release.guarantee_card import card_of, unit_code, unit_of
from engine.release.ledger import DEFAULT_TOTAL, LONGEST_NAME, Ledger, Receipt, checked_name
from engine.release.percentiles import released_percentiles
from engine.release.plan import (
    UNDECLARED,
    Declaration,
    Forecast,
    ReleasePlan,
    messages_from_bytes,
    messages_to_bytes,
)
from engine.release.random_order import reordered
from engine.release.request import stated_of
from engine.release.uncertainty import Uncertainty
from engine.sources import Source


@dataclass(frozen=True, eq=False)
class Published:
    """One release: all of it but the odometer, which is its holder's, may be shown to anybody.

    Parameters
    ----------
    name : str
        What its holder called it.
    at : str
        When it was charged, ISO 8601 in UTC.
    title : str
        What was released.
    axis, value : str
        Names of the places and of the values, with units; a released number has no axis.
    functions : ReleasedFunctions
        The released functions with their bands and tables.
    card : mapping
        The guarantee as plain values.
    request : mapping
        The same settings for the command line.
    odometer : Odometer
        What was spent on the same people; for the holder alone.
    cost : ReleaseCost
        What it cost, and how each message was noised.
    facts : PublicFacts
        What was stated of the data.
    sizes : Sizes
        How many they are.
    release_id : str
        Random, by which it can be made again.
    forecast : Forecast or None
        What its holder was told of the error before.
    """

    name: str
    at: str
    title: str
    axis: str
    value: str
    functions: ReleasedFunctions
    card: Mapping[str, Any]
    request: Mapping[str, Any]
    odometer: Odometer
    cost: ReleaseCost
    facts: PublicFacts
    sizes: Sizes
    release_id: str
    forecast: Forecast | None = None

    @property
    def x(self) -> Array:
        """Places (k,) in the data's own unit; one for a released number."""
        return self.functions.x

    @property
    def columns(self) -> Mapping[str, Array]:
        """The released functions there, (k,) each, held to the public bounds."""
        return self.functions.columns

    @property
    def ranges(self) -> Mapping[str, tuple[Array, Array]]:
        """Both ends (k,) of the confidence band of each function, where there is one."""
        return self.functions.ranges

    @property
    def uncertainty(self) -> Uncertainty:
        """How far off the release may be."""
        return self.functions.uncertainty

    @property
    def at_risk(self) -> Mapping[str, Sequence[Any]]:
        """Numbers at risk by time, where people are followed; else empty."""
        table = self.functions.tables.get(AT_RISK)
        return {} if table is None else table.columns


def release_cost(source: Source[Data], mechanism: Mechanism, budget: Budget) -> ReleaseCost:
    """What publishing would cost, from public facts alone.

    Parameters
    ----------
    source : Source
        Public data, or an upload.
    mechanism : Mechanism
        With its settings.
    budget : Budget
        The most that may be spent.

    Raises
    ------
    InputError
        If it may not be published; see `certified.release_cost` and `certified.publishable_data`.

    Examples
    --------
    >>> from engine.mechanisms import mechanisms
    >>> from engine.sources import sources
    >>> sea, method = sources.build("sea_temperature", {}), mechanisms.build("adaptive_mean", {})
    >>> cost = release_cost(sea, method, Budget(1.0, 1e-6))
    >>> cost.certified, round(cost.ideal.epsilon, 4), cost.numbers
    (Budget(epsilon=1.0, delta=1e-06), 0.9996, 34)
    """
    return planned(source, mechanism, budget, "cost").cost  # kept, for publishing it next


def publish(source: Source[Data], mechanism: Mechanism, budget: Budget, ledger: Ledger, name: str,
            total: Budget | None = None, same_people: bool | None = None,
            forecast: Forecast | None = None, declaration: Declaration = UNDECLARED
            ) -> Published:
    """Charge the ledger, draw hardened noise once, store the noised messages, and show them.

    The data are taken in a random order. What was asked for in the same way before, of the same
    data and under the same name, is made again from the ledger and not charged; where its charge
    was written and its process ended before anything was stored, it is drawn under that charge. Why
    that is sound stands with `engine.release.ledger`.

    Parameters
    ----------
    source : Source
        Public data, or an upload.
    mechanism : Mechanism
        With its settings.
    budget : Budget
        The most that may be spent.
    ledger : Ledger
        That is charged.
    name : str
        What the release is called.
    total : Budget, optional
        That of the people, where this is their first release; see `usual_total`.
    same_people : bool, optional
        What their holder says where they seem to be in the ledger already (`Ledger.charge`).
    forecast : Forecast, optional
        What the holder was told of the error of such releases, to stand beside this one.
    declaration : Declaration
        What the holder declares beside the facts, such as which of them were changed after looking
        (`engine.release.freezing`).

    Raises
    ------
    InputError
        If it may not be published or the total would be overrun: then nothing was charged. After
        the charge, if the ledger cannot be written; then nothing was shown, and the same call once
        more does what is missing.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from engine.mechanisms import mechanisms
    >>> from engine.sources import sources
    >>> ages = sources.build("ages_at_death", {})
    >>> method = mechanisms.build("iclp", {"task": "density"})
    >>> with TemporaryDirectory() as folder:
    ...     ledger = Ledger(Path(folder) / "ledger.sqlite3")
    ...     release = publish(ages, method, Budget(1.0), ledger, "ages-2026")
    >>> release.title, release.x.shape, release.cost.certified.epsilon, release.odometer.left
    ('Density, released', (101,), 1.0, 2.0)
    """
    plan = planned(source, mechanism, budget, name, forecast, declaration=declaration)
    data, cost = certified.publishable_data(source), plan.cost
    description = " by ".join(dict.fromkeys((mechanism.main_task.label, mechanism.label)))
    receipt = charge(plan, source, cost.certified, cost.rho, ledger, description, total,
                     same_people)
    if receipt.state == "charged":
        ledger.store(receipt, _noised_messages(data, source, mechanism, cost, ledger, receipt))
    return again(ledger, receipt.release_id)


def charge(plan: ReleasePlan, source: Source[Data], cost: Budget, rho: float, ledger: Ledger,
           description: str, total: Budget | None, same_people: bool | None) -> Receipt:
    """Charge a ledger with what a release costs the people of its holder, once for each request.

    Parameters
    ----------
    plan : ReleasePlan
        Of the release.
    source : Source
        The holder's data: all of the release, or those of one site.
    cost : Budget
        What is certified for these people.
    rho : float
        The same as ρ of zCDP.
    ledger : Ledger
        Of the holder.
    description : str
        What was released, in words.
    total : Budget, optional
        That of the people, where this is their first release; see `usual_total`.
    same_people : bool, optional
        What the holder says where they seem to be in the ledger already (`Ledger.charge`).

    Raises
    ------
    InputError
        As `Ledger.charge`, or if the release was charged before and costs more now, so that nothing
        may be drawn under that charge.
    """
    content, traces, data = content_of(source), source.traces(), certified.publishable_data(source)
    if total is None and ledger.odometer(content) is None:
        joins = same_people and ledger.known(content, traces) is not None
        total = None if joins else usual_total(data.sizes.n_curves)
    receipt = ledger.charge(content, cost, plan.name, description, total, data.facts, rho, traces,
                          same_people, plan.to_bytes(), plan.request_of(data))
    charged = receipt.budget
    if receipt.state in ("charged", "under way") and (
            ceiled(cost.epsilon) > ceiled(charged.epsilon) or cost.delta > charged.delta):
        raise InputError("This release was charged by another version of this program, which asked "
                         "less for it.", field="name",
                         hint="Use that version, or publish under another name.")
    return receipt


def again(ledger: Ledger, release_id: str) -> Published:
    """A release that was drawn, made again from the ledger alone: no data, no charge.

    Parameters
    ----------
    ledger : Ledger
        That has it.
    release_id : str
        From its receipt or its card.

    Raises
    ------
    InputError
        If the ledger has none with this id that was drawn, or another version of this program
        makes other numbers of its messages.
    """
    stored = ledger.release(release_id)
    return assemble(ReleasePlan.read(stored.plan), messages_from_bytes(stored.messages),
                    stored.receipt)


def asked_before(source: Source[Data], mechanism: Mechanism, budget: Budget, ledger: Ledger,
                 name: str) -> Receipt | None:
    """The charge of the same release, so that it costs nothing to ask once more.

    Parameters
    ----------
    source, mechanism, budget, ledger, name
        As for `publish`.

    Returns
    -------
    Receipt or None
        None if it was not asked for before.
    """
    plan = planned(source, mechanism, budget, name)
    data = certified.publishable_data(source)
    return ledger.asked_before(content_of(source), plan.request_of(data))


def planned(source: Source[Data], mechanism: Mechanism, budget: Budget, name: str,
            forecast: Forecast | None = None, declaration: Declaration = UNDECLARED
            ) -> ReleasePlan:
    """All that is public of a release, before anything is charged.

    Parameters
    ----------
    source, mechanism, budget, name, forecast, declaration
        As for `publish`.

    Raises
    ------
    InputError
        If it may not be published, or the name cannot be one.
    """
    name = checked_name(name)
    certified.check_finite(budget)
    source.facts.check_stated()
    _check_variables(mechanism, source.facts)
    return ReleasePlan.of(source, mechanism, budget, name, unit_of(source, mechanism),
                          _request(source, mechanism, budget, name), forecast,
                          protected=unit_code(source, mechanism), declaration=declaration)


def _noised_messages(data: Data, source: Source[Data], mechanism: Mechanism, cost: ReleaseCost,
                     ledger: Ledger, receipt: Receipt) -> bytes:
    """Noised messages as bytes; a failure closes the charge: their numbers may have caused it."""
    try:
        _, messages = certified.hardened(reordered(data, source.deals_records), mechanism, cost)
        return messages_to_bytes(messages)
    except Exception:
        ledger.close(receipt)
        raise


def assemble(plan: ReleasePlan, messages: Mapping[Key, Array], receipt: Receipt) -> Published:
    """What is published, from public facts and noised messages alone.

    Parameters
    ----------
    plan : ReleasePlan
        All that is public of the release.
    messages : mapping of (server, key of a step) to Array
        Noisy numbers of each message, as `certified.hardened` returns them.
    receipt : Receipt
        Of its charge.

    Raises
    ------
    InputError
        If this version would make other numbers of them.
    """
    plan.check_noise()
    mechanism, data, cost = plan.mechanism, plan.stand_in, plan.cost
    estimate = certified.replayed(data, mechanism, cost, messages)
    axes = axes_of(mechanism, data.facts)
    functions = _functions(estimate, mechanism, data, cost, axes)
    return Published(
        name=plan.name, at=receipt.at, title=f"{mechanism.main_task.label}, released",
        axis=axes.across, value=axes.up, functions=functions, odometer=receipt.odometer,
        cost=cost, facts=data.facts, sizes=data.sizes, release_id=receipt.release_id,
        request=_with_facts(plan, data.facts),
        card=card_of(plan, receipt, estimate, functions), forecast=plan.forecast)


def _functions(estimate: Estimate, mechanism: Mechanism, data: Data, cost: ReleaseCost, axes: Axes
               ) -> ReleasedFunctions:
    if isinstance(data, EventData):
        return released_counts(estimate, mechanism, data, cost, axes)
    if isinstance(mechanism, PercentileCurves):
        return released_percentiles(estimate, mechanism, data, cost, axes)
    return functions_of(estimate, mechanism, data, cost, axes)


def usual_total(n: int) -> Budget:
    """ε = 3, and for δ a tenth of 1/n, beyond which it is large (`engine.privacy.failure`).

    Parameters
    ----------
    n : int
        People in the data.

    Examples
    --------
    >>> usual_total(1000)
    Budget(epsilon=3.0, delta=0.0001)
    """
    return Budget(DEFAULT_TOTAL, large_delta(n))


def _check_variables(mechanism: Mechanism, facts: PublicFacts) -> None:
    """Refuse functions of several numbers: there is no file or picture of them."""
    if mechanism.main_task.argument is Argument.FEATURE and len(facts.covariates) != 1 and (
            mechanism.main_task.data is not DataType.EVENTS):
        raise InputError("Only functions of one number are published; these records have "
                         f"{len(facts.covariates)}.", field="covariates",
                         hint="Declare one column.")


def _with_facts(plan: ReleasePlan, facts: PublicFacts) -> dict[str, Any]:
    """The request with all that was stated of a file, so that nobody types it anew.

    They are kept with the plan as well. There the request stays without them, as in all plans
    before: by it a charge is found again.
    """
    request = plan.plain["request"]
    data, reading = request.get("data"), plan.plain.get("reading")
    return {**request} if data is None or "facts" in data else {
        **request, "data": {**data, **({} if reading is None else {"reading": reading}),
                            **stated_of(facts, plan.mechanism)}}


def _request(source: Source[Data], mechanism: Mechanism, budget: Budget, name: str
             ) -> dict[str, Any]:
    """The same settings for the command line: a new release of it has new noise and is charged."""
    where = ({"data": {"file": "YOUR FILE"}} if source.facts.is_upload else
             {"source": {"key": source.key, "parameters": source.values()}})
    return {"version": 1, "name": f"{name} again"[:LONGEST_NAME], **where,
            "mechanism": {"key": mechanism.key, "parameters": mechanism.changed()},
            "budgets": [{"epsilon": budget.epsilon, "delta": budget.delta}]}
