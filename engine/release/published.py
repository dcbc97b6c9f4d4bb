"""What a release gives away, and the one function that makes it: charge, draw, store, show.

What is published is made from the noised messages in the ledger and from public facts, the first
time as every time again.

Nothing of it depends on the hash of the data or on what else the ledger holds: a label, a number or
a running total would show whether two releases used exactly equal data. So a release has a random
id of its own, and what was spent in all is told to the holder alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.answers import ReleasedCurve, can_be_asked
from engine.answers import card as answers_card
from engine.core.enumerations import NoiseLaw
from engine.core.errors import InputError
from engine.core.grids import drawing_grid
from engine.core.tasks import DENSITY, ROC, Argument, DataType
from engine.core.types import (
    Array,
    Budget,
    CurveData,
    Data,
    Estimate,
    EventData,
    PublicFacts,
    SampleData,
    Sizes,
    Step,
)
from engine.language.grammar import of
from engine.language.numbers import with_unit
from engine.mechanisms import Mechanism
from engine.mechanisms.percentile_curves import PercentileCurves
from engine.mechanisms.univariate_mean import UnivariateMean
from engine.noise import hardened
from engine.privacy import risk
from engine.privacy.transcript import CENTRE
from engine.release import certified as release
from engine.release import ledger, stated
from engine.release import sentences as words
from engine.release.books import Odometer, ceiled
from engine.release.certified import Key, Quote
from engine.release.counts import released_counts
from engine.release.data_content import content_of, traces_of
from engine.release.ledger import Ledger, Receipt
from engine.release.percentiles import ReleasedPercentiles, released_percentiles
from engine.release.plan import Plan, messages_from_bytes, messages_to_bytes
from engine.release.random_order import reordered
from engine.release.uncertainty import Uncertainty, band_of, moved_inside
from engine.sources import Source
from engine.uploads.curves import Upload

_NOISE = {NoiseLaw.GAUSSIAN: "discrete Gaussian", NoiseLaw.LAPLACE: "discrete Laplace",
          NoiseLaw.DISCRETE_LAPLACE: "discrete Laplace"}


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
    x : (k,)
        Places in the data's own unit; one for a released number.
    columns : mapping of str to (k,)
        The released functions there, held to the public bounds.
    ranges : mapping of str to pair of (k,)
        Lower and upper end of the confidence band of each function, where there is one.
    card : mapping
        The guarantee as plain values.
    request : mapping
        The same settings for the command line.
    odometer : Odometer
        What was spent on the same people; for the holder alone.
    quote : Quote
        What it cost, and how each message was noised.
    facts : PublicFacts
        What was stated of the data.
    sizes : Sizes
        How many they are.
    release_id : str
        Random, by which it can be made again.
    uncertainty : Uncertainty
        How far off the release may be.
    table : mapping of str to sequence
        The noised counts that all follows from, where counts are released; else empty.
    at_risk : mapping of str to sequence
        Numbers at risk by time, where people are followed; else empty.
    percentiles : ReleasedPercentiles or None
        Where the released functions are percentile curves.
    """

    name: str
    at: str
    title: str
    axis: str
    value: str
    x: Array
    columns: Mapping[str, Array]
    ranges: Mapping[str, tuple[Array, Array]]
    card: Mapping[str, Any]
    request: Mapping[str, Any]
    odometer: Odometer
    quote: Quote
    facts: PublicFacts
    sizes: Sizes
    release_id: str
    uncertainty: Uncertainty = field(default_factory=Uncertainty)
    table: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    at_risk: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    percentiles: ReleasedPercentiles | None = None


def quote(source: Source[Data], mechanism: Mechanism, budget: Budget) -> Quote:
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
        If it may not be published; see `certified.quote` and `certified.drawn`.

    Examples
    --------
    >>> from engine.mechanisms import mechanisms
    >>> from engine.sources import sources
    >>> sea, method = sources.build("sea_temperature", {}), mechanisms.build("adaptive_mean", {})
    >>> cost = quote(sea, method, Budget(1.0, 1e-6))
    >>> cost.certified, round(cost.ideal.epsilon, 4), cost.numbers
    (Budget(epsilon=1.0, delta=1e-06), 0.9996, 34)
    """
    data = release.drawn(source)
    _check_variables(mechanism, data.facts)
    return release.quote(data, mechanism, budget)


def publish(source: Source[Data], mechanism: Mechanism, budget: Budget, book: Ledger, name: str,
            total: Budget | None = None, same_people: bool | None = None) -> Published:
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
    book : Ledger
        That is charged.
    name : str
        What the release is called.
    total : Budget, optional
        That of the people, where this is their first release; see `usual_total`.
    same_people : bool, optional
        What their holder says where they seem to be in the ledger already (`Ledger.charge`).

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
    ...     book = Ledger(Path(folder) / "ledger.sqlite3")
    ...     release = publish(ages, method, Budget(1.0), book, "ages-2026")
    >>> release.title, release.x.shape, release.quote.certified.epsilon, release.odometer.left
    ('Density, released', (101,), 1.0, 2.0)
    """
    plan, data = planned(source, mechanism, budget, name), release.drawn(source)
    quoted = plan.quote
    description = " by ".join(dict.fromkeys((mechanism.main_task.label, mechanism.label)))
    content, traces = content_of(source), traces_of(source)
    if total is None and book.odometer(content) is None:
        joins = same_people and book.known(content, traces) is not None
        total = None if joins else usual_total(data.sizes.n_curves)
    receipt = book.charge(content, quoted.certified, name, description, total, data.facts,
                          quoted.rho,
                          traces, same_people, plan.to_bytes(), plan.request_of(data))
    if receipt.state == "charged":
        book.drawn(receipt, _drawn(data, source, mechanism, quoted, book, receipt))
    return again(book, receipt.release_id)


def again(book: Ledger, release_id: str) -> Published:
    """A release that was drawn, made again from the ledger alone: no data, no charge.

    Parameters
    ----------
    book : Ledger
        That has it.
    release_id : str
        From its receipt or its card.

    Raises
    ------
    InputError
        If the ledger has none with this id that was drawn, or another version of this program
        makes other numbers of its messages.
    """
    drawn = book.release(release_id)
    return assemble(Plan.read(drawn.plan), messages_from_bytes(drawn.messages), drawn.receipt)


def asked_before(source: Source[Data], mechanism: Mechanism, budget: Budget, book: Ledger, name: str
                 ) -> Receipt | None:
    """The charge of the same release, so that it costs nothing to ask once more.

    Parameters
    ----------
    source, mechanism, budget, book, name
        As for `publish`.

    Returns
    -------
    Receipt or None
        None if it was not asked for before.
    """
    plan = planned(source, mechanism, budget, name)
    return book.asked_before(content_of(source), plan.request_of(release.drawn(source)))


def planned(source: Source[Data], mechanism: Mechanism, budget: Budget, name: str) -> Plan:
    """All that is public of a release, before anything is charged.

    Parameters
    ----------
    source, mechanism, budget, name
        As for `publish`.

    Raises
    ------
    InputError
        If it may not be published, or the name cannot be one.
    """
    name = ledger.checked_name(name)
    _check_variables(mechanism, source.facts)
    return Plan.of(source, mechanism, budget, name, unit_of(source, mechanism),
                   _request(source, mechanism, budget, name))


def _drawn(data: Data, source: Source[Data], mechanism: Mechanism, quoted: Quote, book: Ledger,
           receipt: Receipt) -> bytes:
    """Noised messages as bytes; a failure closes the charge: their numbers may have caused it."""
    if ceiled(quoted.certified.epsilon) > ceiled(receipt.budget.epsilon) or (
            quoted.certified.delta > receipt.budget.delta):
        raise InputError("This release was charged by another version of this program, which asked "
                         "less for it.", field="name",
                         hint="Use that version, or publish under another name.")
    try:
        _, messages = release.hardened(reordered(data, source.deals_records), mechanism, quoted)
        return messages_to_bytes(messages)
    except Exception:
        book.close(receipt)
        raise


def assemble(plan: Plan, messages: Mapping[Key, Array], receipt: Receipt) -> Published:
    """What is published, from public facts and noised messages alone.

    Parameters
    ----------
    plan : Plan
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
    mechanism, data, quoted = plan.mechanism, plan.standin, plan.quote
    estimate = release.replayed(data, mechanism, quoted, messages)
    x, axis, value, scale = places(mechanism, data.facts)
    names = estimate.functions or (value,)
    table: dict[str, list[Any]] = {}
    at_risk: dict[str, list[Any]] = {}
    percentiles = None
    if isinstance(data, EventData):
        counts = released_counts(estimate, mechanism, data, quoted, x)
        x, columns, ranges, uncertainty = (counts.x, counts.columns, counts.ranges,
                                           counts.uncertainty)
        table, at_risk = counts.table, counts.at_risk
    elif isinstance(mechanism, PercentileCurves) and isinstance(data, CurveData):
        percentiles = released_percentiles(estimate, mechanism, data, quoted, x)
        columns, ranges, uncertainty = (percentiles.columns, percentiles.ranges,
                                        percentiles.uncertainty)
    else:
        columns, ranges, uncertainty = _released(estimate, mechanism, data, quoted, x, names,
                                                 scale)
    return Published(
        name=plan.name, at=receipt.at, title=f"{mechanism.main_task.label}, released",
        axis=axis, value=value, x=x, columns=columns, ranges=ranges, odometer=receipt.odometer,
        quote=quoted, facts=data.facts, sizes=data.sizes, release_id=receipt.release_id,
        uncertainty=uncertainty, request=plan.plain["request"], table=table,
        at_risk=at_risk, percentiles=percentiles,
        card=_card(plan, receipt, estimate, uncertainty) | _in_ranges(percentiles, data.facts))


def usual_total(n: int) -> Budget:
    """ε = 3 and δ = 1/n: beyond that δ a method could publish one whole record.

    Parameters
    ----------
    n : int
        People in the data.

    Examples
    --------
    >>> usual_total(1000)
    Budget(epsilon=3.0, delta=0.001)
    """
    return Budget(ledger.USUAL_TOTAL, 1 / n)


def _check_variables(mechanism: Mechanism, facts: PublicFacts) -> None:
    if mechanism.main_task.argument is Argument.FEATURE and len(facts.covariates) != 1 and (
            mechanism.main_task.data is not DataType.EVENTS):
        raise InputError("Only densities of one number are published; these records have "
                         f"{len(facts.covariates)}.", field="covariates",
                         hint="Declare one column.")


def places(mechanism: Mechanism, facts: PublicFacts) -> tuple[Array, str, str, float]:
    """Where a release is evaluated, and what its axes are called.

    Parameters
    ----------
    mechanism : Mechanism
        Its task says what the result is a function of.
    facts : PublicFacts
        Names, units and ranges.

    Returns
    -------
    x : (k,)
        Places in their own unit; one where the result is a number.
    axis, value : str
        Names of the places and of the values, with units.
    scale : float
        By which values on unit places are multiplied to get their unit.
    """
    grid, value = drawing_grid(), with_unit(facts.value_name, _bracketed(facts.value_unit))
    argument = mechanism.main_task.argument
    if argument is Argument.NOTHING:
        return grid[:1], "", value, 1.0
    if mechanism.main_task is ROC:
        return grid, "False-positive share", "True-positive share", 1.0
    if argument is Argument.FEATURE and mechanism.main_task.data is not DataType.EVENTS:
        feature = facts.covariates[0]
        return (feature.low + grid * (feature.high - feature.low),
                with_unit(feature.name, _bracketed(feature.unit)),
                with_unit("Density", _bracketed(f"per {feature.unit}" if feature.unit else "")),
                1 / (feature.high - feature.low))
    return (facts.from_unit_time(grid), with_unit(facts.time_name, _bracketed(facts.time_unit)),
            value, 1.0)


def _bracketed(unit: str) -> str:
    return f"({unit})" if unit else ""


def _released(estimate: Estimate, mechanism: Mechanism, data: Data, quoted: Quote, x: Array,
              names: tuple[str, ...], scale: float
              ) -> tuple[dict[str, Array], dict[str, tuple[Array, Array]], Uncertainty]:
    """Released functions and their bands, held to the public bounds, and how far off they may be.

    Averages lie between the bounds of values and densities above 0; effects have no such bounds.
    """
    # Values are (budgets, repeats, draws, places), or (…, functions, places): the first of each is
    # the release; rows are (functions, places).
    rows = np.atleast_2d(estimate.values(drawing_grid()[:len(x)])[0, 0, 0]) * scale
    ranges = _ranges(estimate, names, scale)
    facts = data.facts
    low, high = -np.inf, np.inf
    if mechanism.main_task is DENSITY:
        low = 0.0
    elif not estimate.functions:
        low, high = facts.value_low, facts.value_high
    rows, moved = moved_inside(rows, low, high)
    ranges = {name: (moved_inside(ends[0], low, high)[0], moved_inside(ends[1], low, high)[0])
              for name, ends in ranges.items()}
    band = band_of(estimate, list(ranges.values()), x, mechanism.limit_of_band(facts))
    warnings = getattr(estimate, "warnings", ())
    return dict(zip(names, rows, strict=True)), ranges, Uncertainty(
        band, mechanism.feasibility(data.sizes, quoted.inner_budgets), tuple(warnings), moved,
        0.0 if band is None else band.half_width / facts.value_half_width)


def _ranges(estimate: Estimate, names: tuple[str, ...], scale: float
            ) -> dict[str, tuple[Array, Array]]:
    """The ends of the confidence bands of the released functions; empty where there are none."""
    if estimate.limits is None or estimate.band is None:
        return {}
    low, high = (np.atleast_2d(end[0, 0, 0]) * scale for end in estimate.limits)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        return {}
    return dict(zip(names, zip(low, high, strict=True), strict=True))


def _request(source: Source[Data], mechanism: Mechanism, budget: Budget, name: str
             ) -> dict[str, Any]:
    """The same settings for the command line: a new release of it has new noise and is charged."""
    where = ({"data": {"file": "YOUR FILE"}} if source.facts.is_upload else
             {"source": {"key": source.key, "parameters": source.values()}})
    return {"version": 1, "name": f"{name} again"[:ledger.LONGEST_NAME], **where,
            "mechanism": {"key": mechanism.key, "parameters": mechanism.changed()},
            "budgets": [{"epsilon": budget.epsilon, "delta": budget.delta}]}


# -- the guarantee card ---------------------------------------------------------------------------


def unit_of(source: Source[Data], mechanism: Mechanism) -> str:
    """What is protected: all of a person, or less where the data or the method say so.

    Parameters
    ----------
    source : Source
        Public data, or an upload.
    mechanism : Mechanism
        With its settings.

    Examples
    --------
    >>> from engine.mechanisms import mechanisms
    >>> from engine.sources import sources
    >>> unit_of(sources.build("sparse_curves", {}), mechanisms.build("adaptive_mean", {}))
    'one person’s whole curve'
    """
    facts = source.facts
    is_by_curve = mechanism.main_task.data is DataType.CURVES and not (
        isinstance(mechanism, UnivariateMean) and not mechanism.setting.is_by_person)
    if is_by_curve and isinstance(source, Upload) and (
            source.curves.n_people < source.curves.n_curves):
        return f"one curve of the file; some {facts.people} have several and are protected less"
    return unit_of_person(facts, mechanism)


def unit_of_person(facts: PublicFacts, mechanism: Mechanism) -> str:
    """What is protected where nobody has several curves.

    Parameters
    ----------
    facts : PublicFacts
        The noun for one person.
    mechanism : Mechanism
        With its settings.
    """
    if isinstance(mechanism, UnivariateMean) and not mechanism.setting.is_by_person:
        return f"one observation (weaker than all observations of one {facts.person})"
    if mechanism.main_task.data in (DataType.RECORDS, DataType.EVENTS):
        return f"one {of(facts.person)} record"
    return f"one {of(facts.person)} whole curve"


_APPLIED_TO_TIMES = ("everybody is counted in one cell: times beyond in that of the end, what is "
                     "no time or no stated event as censored")
_NOT_COVERED = ("who is in the data", "how many people and observations there are",
                "what is true of people in general",
                "other releases about the same people: their ε add to this one, and the holder’s "
                "ledger keeps the sum", "how long the computation took")


def _card(plan: Plan, receipt: Receipt, estimate: Estimate, uncertainty: Uncertainty
          ) -> dict[str, Any]:
    """The guarantee for machines: plain values, nothing of the data but public facts."""
    mechanism, data, quoted = plan.mechanism, plan.standin, plan.quote
    facts, sizes, made_with = data.facts, data.sizes, plan.plain["versions"]
    tuning = estimate.tuning[0] if estimate.tuning else {}
    return {
        "kind": "differential privacy guarantee", "version": 2,
        "release": {"name": plan.name, "at": receipt.at, "id": receipt.release_id,
                    "of": facts.name, "what": mechanism.main_task.label,
                    **({"credit": facts.credit} if facts.credit else {})},
        "accuracy": _accuracy(uncertainty, facts, quoted, sizes),
        "unit_of_protection": plan.plain["unit"],
        "neighbours": "data sets of the same public sizes in which one unit is replaced",
        **_guarantee(quoted, plan.senders),
        "bounds": {**_bounds(data), "source": facts.origin,
                   "applied": _APPLIED_TO_TIMES if isinstance(data, EventData) else
                   "numbers beyond are moved to the nearest bound before anything else"},
        "mechanism": {"key": mechanism.key, "label": mechanism.label,
                      "reference": mechanism.reference, "parameters": mechanism.values(),
                      "tuning": {key: _jsonable(value) for key, value in tuning.items()}},
        **stated.card_entries(data), **_relied_on(quoted),
        "noise": {"sampler": f"OpenDP {made_with['opendp']}",
                  "lattice": "powers of two, in units of the noise",
                  "entropy": "operating system", "seed": "none: nothing can draw this noise again",
                  "proofs": "OpenDP constructors marked “contrib” are not all reviewed"},
        "not_covered": list(_NOT_COVERED), **_answers(estimate, facts, sizes),
        "versions": dict(made_with),
    }


def _answers(estimate: Estimate, facts: PublicFacts, sizes: Sizes) -> dict[str, Any]:
    """What further questions need; nothing where the release is no curve with a covariance."""
    if not can_be_asked(estimate):
        return {}
    curve = ReleasedCurve.of(estimate, facts, n_people=sizes.n_curves)
    return {"answers": answers_card.written(curve)}


def _in_ranges(percentiles: ReleasedPercentiles | None, facts: PublicFacts) -> dict[str, Any]:
    """The time in stated ranges; nothing where none is stated."""
    if percentiles is None or not percentiles.limits:
        return {}
    table = percentiles.table(facts.value_unit)
    return {"time_in_range": [dict(zip(table, row, strict=True))
                              for row in zip(*table.values(), strict=True)]}


def _guarantee(quoted: Quote, sites: Sequence[str]) -> dict[str, Any]:
    """The guarantee, what it says of an attacker, and how it follows from the messages.

    Sites have names where each keeps its own file, else numbers.
    """
    return {
        "guarantee": _plain(quoted.certified),
        "ideal": {**_plain(quoted.ideal), "note": "for comparison only: what continuous noise of "
                  "the same size would cost; the guarantee is the certified one above"},
        "odds": {"attacker": "knows all other records and has narrowed this one down to two",
                 "coin_toss": 0.5, "right_guess_at_most": risk.of_ledger(quoted.charged).right},
        "accounting": {
            "method": _method(quoted), "sites": "each person is at one site; the weakest counts",
            "rho": quoted.rho,
            "messages": [_message(_sender(server, sites), quoted.steps[key], measurement)
                         for (server, key), measurement in quoted.messages.items()]},
    }


def _relied_on(quoted: Quote) -> dict[str, Any]:
    """Who is relied on; nothing where every site, or the holder, adds all of its noise itself."""
    shares = quoted.shares
    if shares is None:
        return {}
    return {"trust": words.relied_on(shares), "relied_on": {
        "noise": f"each of {shares.sites} sites adds an equal share; only sums are read",
        "sites": shares.sites, "honest_at_least": shares.honest,
        "holds_against": f"the centre together with up to {shares.sites - shares.honest} of the "
                         "sites, whatever they send"}}


def _accuracy(uncertainty: Uncertainty, facts: PublicFacts, quoted: Quote, sizes: Sizes
              ) -> dict[str, Any]:
    """How far off the release may be, as numbers and in the words of the report."""
    band, verdict = uncertainty.band, uncertainty.feasibility
    return {
        "verdict": "coarse" if uncertainty.is_coarse else
        None if verdict is None else verdict.verdict,
        "headline": words.headline(uncertainty, facts, quoted.budget, sizes.n_curves),
        "band": None if band is None else {
            "level": band.level, "kind": band.kind, "average_half_width": band.half_width,
            "basis_functions": band.basis_size or None, "meant_between": list(band.covered)},
        "explained": words.band_explained(uncertainty, facts),
        "warnings": words.warnings(uncertainty)}


def _plain(budget: Budget) -> dict[str, float]:
    return {"epsilon": budget.epsilon, "delta": budget.delta}


def _method(quoted: Quote) -> str:
    if quoted.certified.is_pure:
        return "ε of every message by OpenDP’s map; they add"
    if quoted.shares is not None:
        return ("shares of discrete Gaussian noise sum to nearly that noise (Kairouz, Liu and "
                "Steinke 2021); what honest sites add has a proved μ, squares of μ add, and ε is "
                "that of the Gaussian privacy curve at a slightly smaller δ")
    if quoted.certified.epsilon < quoted.by_rho.epsilon:
        return ("discrete Gaussian noise of every message has a proved μ; squares of μ add, and ε "
                "is that of the Gaussian privacy curve at the stated δ")
    return ("ρ of zero-concentrated differential privacy of every message by OpenDP’s map; they "
            "add, and ε follows from the sum at the stated δ")


def _sender(server: int, sites: Sequence[str]) -> str:
    if server == CENTRE:
        return "centre"
    return sites[server] if sites else f"site {server + 1}"


def _message(sender: str, step: Step, measurement: hardened.HardenedNoise) -> dict[str, Any]:
    return {"from": sender, "what": step.label,
            "numbers": measurement.size, "noise": _NOISE[measurement.law],
            "lattice": f"2^-{measurement.bits}",
            "rho" if measurement.law is NoiseLaw.GAUSSIAN else "epsilon": measurement.cost}


def _bounds(data: Data) -> dict[str, Any]:
    facts = data.facts
    ranges: dict[str, Any] = {} if isinstance(data, SampleData | EventData) else {
        "value": {"name": facts.value_name, "unit": facts.value_unit, "low": facts.value_low,
                  "high": facts.value_high},
        "time": {"name": facts.time_name, "unit": facts.time_unit, "low": facts.time_low,
                 "high": facts.time_high}}
    if isinstance(data, EventData):
        ranges["time"] = {"name": facts.time_name, "unit": facts.time_unit, "low": facts.time_low,
                          "high": facts.time_high}
    if facts.covariates:
        ranges["columns"] = [
            {"name": covariate.name, "unit": covariate.unit, "low": covariate.low,
             "high": covariate.high} for covariate in facts.covariates]
    return ranges


def _jsonable(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
