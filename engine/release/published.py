"""Everything that a release publishes, and the function that makes it: charge, draw, store, show.

What is published is made from the noised messages in the ledger and from public facts, the first
time as every time again.

Nothing of it depends on what else the ledger holds: a number or a running total would show whether
two releases were about the same people. So a release has a random id of its own, and what people
have lost and have left is for the holder alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.core.errors import InputError
from engine.core.tasks import Argument, DataType
from engine.core.types import (
    Array,
    Budget,
    CurveData,
    CurveStore,
    Data,
    Estimate,
    EventData,
    PublicFacts,
    Sizes,
)
from engine.mechanisms import Mechanism
from engine.mechanisms.percentile_curves import PercentileCurves
from engine.privacy.filters import Loss
from engine.release import certified, partial
from engine.release.books import Charge
from engine.release.certified import Key, ReleaseCost
from engine.release.counts import AT_RISK, released_counts
from engine.release.earlier_ledgers import mu_of_spends
from engine.release.functions import Axes, ReleasedFunctions, axes_of, functions_of
from engine.release.guarantee_card import card_of, unit_code, unit_of
from engine.release.ledger import LONGEST_NAME, Ledger, Receipt, Requests, checked_name
from engine.release.percentiles import released_percentiles
from engine.release.plan import (
    UNDECLARED,
    Declaration,
    Forecast,
    ReleasePlan,
    messages_from_bytes,
    messages_to_bytes,
)
from engine.release.random_order import in_published_order
from engine.release.request import stated_of
from engine.release.standing import Standing
from engine.release.uncertainty import Uncertainty
from engine.running.partitions import LostWorkersError
from engine.running.progress import begin_rounds
from engine.sources import Source


@dataclass(frozen=True, eq=False)
class Published:
    """One release: all of it but the standing, which is its holder's, may be shown to anybody."""

    name: str
    at: str  # when it was charged, ISO 8601 in UTC
    title: str
    # axis, value: names of the places and of the values, with units; a released number has no axis
    axis: str
    value: str
    functions: ReleasedFunctions  # the released functions with their bands and tables
    argument: Argument  # what the functions are of
    card: Mapping[str, Any]
    request: Mapping[str, Any]  # the same settings for the command line
    standing: Standing | None  # what its people have lost and have left; for the holder alone
    cost: ReleaseCost  # what it cost, and how each message was noised
    facts: PublicFacts
    sizes: Sizes
    release_id: str  # random, by which it can be made again
    forecast: Forecast | None = None  # what its holder was told of the error before

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
    def is_curve(self) -> bool:
        """True if its functions are of one argument; else a number, or of two times."""
        return self.argument in (Argument.TIME, Argument.FEATURE)

    @property
    def uncertainty(self) -> Uncertainty:
        """The error of the release."""
        return self.functions.uncertainty

    @property
    def at_risk(self) -> Mapping[str, Sequence[Any]]:
        """Numbers at risk by time, where people are followed; else empty."""
        table = self.functions.tables.get(AT_RISK)
        return {} if table is None else table.columns


def release_cost(source: Source[Data], mechanism: Mechanism, budget: Budget) -> ReleaseCost:
    """Quote what publishing would cost, from public facts alone.

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
    (Budget(epsilon=1.0, delta=1e-06), 0.9996, 38)
    """
    return planned(source, mechanism, budget, "cost").cost  # kept, for publishing it next


def publish(
    source: Source[Data],
    mechanism: Mechanism,
    budget: Budget,
    ledger: Ledger,
    name: str,
    total: Budget | None = None,
    same_people: bool | None = None,
    forecast: Forecast | None = None,
    leave_out: bool = False,
    declaration: Declaration = UNDECLARED,
) -> Published:
    """Charge the ledger, draw hardened noise once, store the noised messages, and show them.

    The data are taken in a random order. What was asked for in the same way before, of the same
    data and under the same name, is made again from the ledger and not charged; where its charge
    was written and its process ended before anything was stored, it is drawn under that charge. Why
    that is sound stands with `engine.release.ledger`. With `leave_out`, people with less left than
    this costs are left out, and the card says so; who they are depends on ids alone, unless people
    are known by their curve. A refusal before the charge costs nothing. If the ledger cannot be
    written after it, nothing was shown, and the same call once more does what is missing.

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
    >>> release.title, release.x.shape, release.cost.certified.epsilon, release.standing.least.left
    ('Density, released', (101,), 1.0, 2.0)
    """
    requests, everybody = Requests(), source
    if leave_out:
        source, requests = _with_budget_left(source, mechanism, budget, ledger, name)
    plan = planned(source, mechanism, budget, name, forecast, source is not everybody, declaration)
    data, cost = certified.publishable_data(source), plan.cost
    description = " by ".join(dict.fromkeys((mechanism.main_task.label, mechanism.label)))
    receipt = charge(
        plan, source, charge_of(cost), ledger, description, total, same_people, requests
    )
    if receipt.state in ("charged", "under way"):
        ledger.store(receipt, _noised_messages(data, source, mechanism, cost, ledger, receipt))
    return again(ledger, receipt.release_id)


def charge_of(cost: ReleaseCost) -> Charge:
    """Compute the ledger's charge of a release, for the people of the site that pays most."""
    return Charge(cost.certified, mu_of_spends(cost.certified_spends), cost.rho)


def charge(
    plan: ReleasePlan,
    source: Source[Data],
    cost: Charge,
    ledger: Ledger,
    description: str,
    total: Budget | None = None,
    same_people: bool | None = None,
    requests: Requests = (),
) -> Receipt:
    """Charge a ledger with what a release costs the people of its holder, once for each request.

    The source is all of the release, or the data of one site; the requests are those of the plan
    and these data by default; other arguments are as for `Ledger.charge`. A release that was
    charged before and costs more now is refused: nothing may be drawn under that charge.
    """
    data = certified.publishable_data(source)
    receipt = ledger.charge(
        source,
        cost,
        plan.name,
        description,
        total,
        same_people,
        plan.to_bytes(),
        requests or plan.requests_of(data),
    )
    charged, asked = Loss.of(receipt.budget), Loss.of(cost.budget)
    if receipt.state in ("charged", "under way") and (
        asked.epsilon > charged.epsilon or asked.delta > charged.delta
    ):
        raise InputError(
            "This release was charged by another version of this program, which asked less for it.",
            field="name",
            hint="Use that version, or publish under another name.",
        )
    return receipt


def _with_budget_left(
    source: Source[Data], mechanism: Mechanism, budget: Budget, ledger: Ledger, name: str
) -> tuple[Source[Data], Requests]:
    """Leave out the people who have less left than a release costs, and name the whole request.

    The same request once more is about the same people as when it was charged.
    """
    data = certified.publishable_data(source)
    requests = _leaving_out(planned(source, mechanism, budget, name).requests_of(data))
    earlier = ledger.asked_before(requests)
    if earlier is not None:
        return source.without(~ledger.members(earlier, source)), requests
    charge = charge_of(release_cost(source, mechanism, budget))
    exhausted = ledger.standing_of(source, in_order=True).without_room(charge)
    if exhausted.all():
        raise InputError(
            f"None of these {source.facts.people} has as much left as this release costs.",
            field="exhausted",
            hint="Lower ε.",
        )
    return source.without(exhausted) if exhausted.any() else source, requests


def again(ledger: Ledger, release_id: str) -> Published:
    """Make a drawn release again from the ledger alone, by its id: without data or charge.

    Refused if another version of this program makes other numbers of its messages.
    """
    stored = ledger.release(release_id)
    return assemble(
        ReleasePlan.read(stored.plan), messages_from_bytes(stored.messages), stored.receipt
    )


def asked_before(
    source: Source[Data],
    mechanism: Mechanism,
    budget: Budget,
    ledger: Ledger,
    name: str,
    leave_out: bool = False,
) -> Receipt | None:
    """Find the charge of the same release, which then costs nothing again; else None.

    Arguments are as for `publish`.
    """
    requests = planned(source, mechanism, budget, name).requests_of(
        certified.publishable_data(source)
    )
    return ledger.asked_before(_leaving_out(requests) if leave_out else requests)


def _leaving_out(requests: Requests) -> Requests:
    return tuple(hashlib.sha256(b"leave out" + request).digest() for request in requests)


def planned(
    source: Source[Data],
    mechanism: Mechanism,
    budget: Budget,
    name: str,
    forecast: Forecast | None = None,
    is_without_exhausted: bool = False,
    declaration: Declaration = UNDECLARED,
) -> ReleasePlan:
    """All that is public of a release, before anything is charged; arguments as for `publish`."""
    name = checked_name(name)
    certified.check_finite(budget)
    source.facts.check_stated()
    _check_variables(mechanism, source.facts)
    return ReleasePlan.of(
        source,
        mechanism,
        budget,
        name,
        unit_of(source, mechanism),
        _request(source, mechanism, budget, name),
        forecast,
        unit_code(source, mechanism),
        declaration,
        is_without_exhausted,
    )


def settings(plan: ReleasePlan, delta: float | None = None) -> dict[str, Any]:
    """Write a plan for the command line and a table of any size, whose name is still to be written.

    Without a `delta` it is the usual one for the people of that table.
    """
    budget = {"epsilon": plan.budgets[0].epsilon} | ({} if delta is None else {"delta": delta})
    facts = plan.rehearsal_data.facts
    return {**_with_facts(plan, facts), "name": plan.name, "budgets": [budget]}


def _noised_messages(
    data: Data,
    source: Source[Data],
    mechanism: Mechanism,
    cost: ReleaseCost,
    ledger: Ledger,
    receipt: Receipt,
) -> bytes:
    """Noised messages as bytes; a failure closes the charge: their numbers may have caused it.

    Rounds over a store of curves take long, so each message is in the ledger before the next round
    begins: whoever asks again after an end goes on with the round that was under way.
    """
    try:
        if isinstance(data, CurveStore):
            rounds = _Rounds(cost, ledger, receipt)
            known = rounds.of(data) if mechanism.reads_for_each_message else data
            _, messages = certified.hardened(known, mechanism, cost, rounds)
        else:
            ordered = in_published_order(data, mechanism, source.deals_records)
            _, messages = certified.hardened(ordered, mechanism, cost)
        return messages_to_bytes(messages)
    except LostWorkersError:  # as if this process had ended: the round is not over
        raise
    except Exception:
        ledger.close(receipt)
        raise


class _Rounds:
    """The messages of a release under way, each of which is drawn once.

    The store of curves needs no random order: methods that read one (`Mechanism.reads_blocks`) send
    the same messages, to the last bit, in whatever order its curves come.
    """

    def __init__(self, cost: ReleaseCost, ledger: Ledger, receipt: Receipt) -> None:
        self._positions = {key: place for place, key in enumerate(sorted(cost.messages))}
        self._ledger, self._receipt = ledger, receipt
        self._stored, self._answered = partial.stored(ledger, receipt), 0
        begin_rounds(len(cost.messages))

    def of(self, data: CurveStore) -> CurveStore:
        """The same data, but that nobody is read in rounds whose message is stored already.

        Nothing follows from what such a round would send. Where several sites take turns in a
        round all are read again.
        """
        if len(data.people) > 1:
            return data

        def read(site: int, function: Callable[[Iterator[CurveData]], Any]) -> Sequence[Any]:
            is_stored = self._answered < len(self._stored)
            return (data.few() if is_stored else data).of_parts(site, function)

        return replace(data, read=read)

    def __call__(self, key: Key, draw: Callable[[], Array]) -> Array:
        """Return the message of a step: as it is stored, or drawn and stored."""
        position = self._positions[key]
        content = self._stored.get(position)
        if content is None:
            drawn = messages_to_bytes({key: draw()})
            content = partial.store(self._ledger, self._receipt, position, drawn)
        self._answered += 1
        return messages_from_bytes(content)[key]


def assemble(plan: ReleasePlan, messages: Mapping[Key, Array], receipt: Receipt) -> Published:
    """Compute the published result from public facts and messages of `certified.hardened`.

    Refused if this version would make other numbers of them.
    """
    plan.check_noise()
    mechanism, data, cost = plan.mechanism, plan.rehearsal_data, plan.cost
    estimate = certified.replayed(data, mechanism, cost, messages)
    axes = axes_of(mechanism, data.facts)
    functions = _functions(estimate, mechanism, data, cost, axes)
    return Published(
        name=plan.name,
        at=receipt.at,
        title=f"{mechanism.main_task.label}, released",
        axis=axes.across,
        value=axes.up,
        functions=functions,
        argument=mechanism.main_task.argument,
        standing=receipt.standing,
        cost=cost,
        facts=data.facts,
        sizes=data.sizes,
        release_id=receipt.release_id,
        request=_with_facts(plan, data.facts),
        card=card_of(plan, receipt, estimate, functions),
        forecast=plan.forecast,
    )


def _functions(
    estimate: Estimate, mechanism: Mechanism, data: Data, cost: ReleaseCost, axes: Axes
) -> ReleasedFunctions:
    if isinstance(data, EventData):
        return released_counts(estimate, mechanism, data, cost, axes)
    if isinstance(mechanism, PercentileCurves):
        return released_percentiles(estimate, mechanism, data, cost, axes)
    return functions_of(estimate, mechanism, data, cost, axes)


def _check_variables(mechanism: Mechanism, facts: PublicFacts) -> None:
    """Refuse functions of several numbers: there is no file or picture of them."""
    if (
        mechanism.main_task.argument is Argument.FEATURE
        and len(facts.covariates) != 1
        and (mechanism.main_task.data is not DataType.EVENTS)
    ):
        raise InputError(
            "Only functions of one number are published; these records have "
            f"{len(facts.covariates)}.",
            field="covariates",
            hint="Declare one column.",
        )


def _with_facts(plan: ReleasePlan, facts: PublicFacts) -> dict[str, Any]:
    """The request with all that was stated of a file, so that nobody types it anew.

    They are kept with the plan as well. There the request stays without them, as in all plans
    before: by it a charge is found again.
    """
    request = plan.plain["request"]
    data, reading = request.get("data"), plan.plain.get("reading")
    return (
        {**request}
        if data is None or "facts" in data
        else {
            **request,
            "data": {
                **data,
                **({} if reading is None else {"reading": reading}),
                **stated_of(facts, plan.mechanism),
            },
        }
    )


def _request(
    source: Source[Data], mechanism: Mechanism, budget: Budget, name: str
) -> dict[str, Any]:
    """Write the settings for the command line: a new release has new noise and is charged."""
    where = (
        {"data": {"file": "YOUR FILE"}}
        if source.facts.is_upload
        else {"source": {"key": source.key, "parameters": source.values()}}
    )
    return {
        "version": 1,
        "name": f"{name} again"[:LONGEST_NAME],
        **where,
        "mechanism": {"key": mechanism.key, "parameters": mechanism.changed()},
        "budgets": [{"epsilon": budget.epsilon, "delta": budget.delta}],
    }
