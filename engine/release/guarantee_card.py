"""The guarantee of a release for machines: plain values, nothing of the data but public facts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.answers import ReleasedCurve, can_be_asked
from engine.answers import card as answers_card
from engine.answers.survival import ReleasedSurvival
from engine.answers.survival import card as counts_card
from engine.core.tasks import SURVIVAL, DataType
from engine.core.types import Budget, Data, Estimate, EventFacts, PublicFacts, Sizes, Spend, Step
from engine.language.grammar import capital, of, plain_text
from engine.mechanisms import Mechanism
from engine.mechanisms.univariate_mean import UnivariateMean
from engine.noise import hardened
from engine.privacy import accounting, risk
from engine.privacy.transcript import CENTRE
from engine.release import sentences, stated
from engine.release.certified import ReleaseCost
from engine.release.counts import first_table
from engine.release.data_sections import ENDS
from engine.release.freezing import flat
from engine.release.functions import ReleasedFunctions
from engine.release.ledger import Receipt
from engine.release.percentiles import TIME_IN_RANGE
from engine.release.plan import ReleasePlan
from engine.release.request import stated_of
from engine.release.uncertainty import Uncertainty
from engine.sources import Source
from engine.uploads.reading_of_files import Reading
from engine.uploads.source import UploadedData


def unit_code(source: Source[Data], mechanism: Mechanism) -> str:
    """Name what is protected as cards do: "person", "row" or "observation"."""
    return unit_code_of(source.reading if isinstance(source, UploadedData) else None, mechanism)


def unit_code_of(reading: Reading | None, mechanism: Mechanism) -> str:
    """Name what is protected of a file with this reading; see `unit_code`."""
    if _is_by_observation(mechanism):
        return "observation"
    return "person" if reading is None else reading.unit


def _is_by_observation(mechanism: Mechanism) -> bool:
    return isinstance(mechanism, UnivariateMean) and not mechanism.setting.is_by_person


def unit_of(source: Source[Data], mechanism: Mechanism) -> str:
    """Name the protected unit: a whole person, or less if the data or the method require it.

    Examples
    --------
    >>> from engine.mechanisms import mechanisms
    >>> from engine.sources import sources
    >>> unit_of(sources.build("sparse_curves", {}), mechanisms.build("adaptive_mean", {}))
    'one person’s whole curve'
    """
    return unit_in_words(source.facts, mechanism, source.is_of_rows)


def unit_in_words(facts: PublicFacts, mechanism: Mechanism, is_of_rows: bool) -> str:
    """Say what is protected; `is_of_rows` if the reading states that every line is a person."""
    if _is_by_observation(mechanism):
        return f"one observation (weaker than all observations of one {facts.person})"
    if is_of_rows:
        return (
            f"one row of the file, which the holder states to be one {of(facts.person)}; "
            f"{facts.people} with several rows are protected less"
        )
    if mechanism.main_task.data in (DataType.RECORDS, DataType.EVENTS):
        return f"one {of(facts.person)} record"
    if mechanism.main_task.data is DataType.READINGS:
        return f"one {of(facts.person)} observation, with its time"
    return f"one {of(facts.person)} whole curve"


_PARTS = "name", "unit", "low", "high"
_BOUNDS = (*ENDS, "covariates", "features")
_NOT_COVERED = (
    "how many people are in the data, and which file or public group they are in. What each one’s "
    "data say, and who of two it is, is covered",
    "how many observations there are",
    "what is true of people in general",
    "choices after looking: how the file is read, which facts are stated and what is published are "
    "the holder’s choices, and may follow from looking at the file",
    "how the data were collected, and who else holds them: ask the holder",
    "other releases about the same people: what they cost adds to this one, and the holder’s "
    "ledger keeps it by person",
    "how long the computation took",
)
COMPOSITION = "either rule, total not published"
VERSION = 3


def card_of(
    plan: ReleasePlan, receipt: Receipt, estimate: Estimate, functions: ReleasedFunctions
) -> dict[str, Any]:
    """Make the guarantee card of a release, as JSON takes it."""
    mechanism, data, cost = plan.mechanism, plan.rehearsal_data, plan.cost
    facts, sizes, made_with = data.facts, data.sizes, plan.plain["versions"]
    unit = _protected(plan)
    tuning = estimate.tuning[0] if estimate.tuning else {}
    # public data by their name; a file, which is nobody else's, by the people in it
    data_name = capital(facts.people) if facts.is_upload else facts.name
    return {
        "kind": "differential privacy guarantee",
        "version": VERSION,
        "release": {
            "name": plan.name,
            "at": receipt.at,
            "id": receipt.release_id,
            "of": data_name,
            "what": mechanism.main_task.label,
            **({"credit": facts.credit} if facts.credit else {}),
        },
        "accuracy": {**_accuracy(functions.uncertainty, facts, cost, sizes), **_forecast(plan)},
        "unit": unit,
        "unit_of_protection": plan.plain["unit"],
        "neighbours": f"replace-one-{unit}/fixed-membership",
        **_guarantee(cost, plan.senders),
        **_large_delta(cost, sizes),
        **_choices(plan),
        "bounds": {**_bounds(data), "source": facts.origin, "applied": data.applied_bounds},
        "mechanism": {
            "key": mechanism.key,
            "label": mechanism.label,
            "reference": mechanism.reference,
            "parameters": mechanism.values(),
            "tuning": {key: _tuning_value(value) for key, value in tuning.items()},
        },
        **stated.card_entries(data),
        **_relied_on(cost),
        "noise": {
            "sampler": f"OpenDP {made_with['opendp']}",
            "lattice": "powers of two, in units of the noise",
            "entropy": "operating system",
            "seed": "none: nothing can draw this noise again",
            "proofs": "OpenDP constructors marked “contrib” are not all reviewed",
        },
        "not_covered": list(_NOT_COVERED),
        **_answers(estimate, facts, sizes, plan.senders),
        **_counts(estimate, mechanism, facts),
        "versions": dict(made_with),
        "proofs": plan.plain.get("proofs"),
        **_in_ranges(functions),
    }


def _protected(plan: ReleasePlan) -> str:
    """Return the code of what is protected, also of plans that were made before there was one."""
    if "protected" in plan.plain:
        return str(plan.plain["protected"])
    return (
        "observation"
        if _is_by_observation(plan.mechanism)
        else ("row" if plan.plain["unit"].startswith("one row of the file") else "person")
    )


def _choices(plan: ReleasePlan) -> dict[str, Any]:
    """Say how the file was read, what its holder stated, and when: facts of nobody's data."""
    declared = plan.declaration
    return {
        "reading": plan.plain.get("reading"),
        "statements": _statements(plan),
        "looked_before_stating": declared.looked,
        "changed_after_looking": None if declared.changed is None else list(declared.changed),
        "exhausted": plan.plain.get("exhausted", "refused"),
        "composition": COMPOSITION,
        "contact": declared.contact or None,
        **({"tuned_on_public": declared.tuned_on} if declared.tuned_on else {}),
    }


def _statements(plan: ReleasePlan) -> list[dict[str, Any]]:
    """List the facts that the holder of a file stated; published data bring theirs along.

    The holder names one source, and that is of the bounds.
    """
    facts = plan.rehearsal_data.facts
    if not facts.is_upload:
        return []
    stated = flat(stated_of(facts, plan.mechanism))
    return [
        {
            "fact": name,
            "value": value,
            "by": "holder",
            "source": facts.origin if name in _BOUNDS else None,
        }
        for name, value in stated.items()
    ]


def _answers(
    estimate: Estimate, facts: PublicFacts, sizes: Sizes, sites: Sequence[str]
) -> dict[str, Any]:
    """Collect numbers for later questions; empty unless it is a curve with a covariance."""
    if not can_be_asked(estimate):
        return {}
    curve = ReleasedCurve.of(estimate, facts, n_people=sizes.n_curves, site_names=tuple(sites))
    return {"answers": answers_card.written(curve)}


def _counts(estimate: Estimate, mechanism: Mechanism, facts: PublicFacts) -> dict[str, Any]:
    """Collect released counts for later questions; empty unless they are of survival."""
    if mechanism.main_task is not SURVIVAL or not isinstance(facts, EventFacts):
        return {}
    least = mechanism.values()["least_at_risk"]
    released = ReleasedSurvival(first_table(estimate), facts, least)
    return {counts_card.KEY: counts_card.written(released)}


def _in_ranges(functions: ReleasedFunctions) -> dict[str, Any]:
    """State the time in stated ranges; nothing without any."""
    table = functions.tables.get(TIME_IN_RANGE)
    return (
        {}
        if table is None
        else {
            TIME_IN_RANGE: [
                dict(zip(table.columns, row, strict=True))
                for row in zip(*table.columns.values(), strict=True)
            ]
        }
    )


def _guarantee(cost: ReleaseCost, sites: Sequence[str]) -> dict[str, Any]:
    """State the guarantee, its meaning for an attacker, and its derivation from the messages.

    Sites have names where each keeps its own file, else numbers.
    """
    return {
        "guarantee": _plain(cost.certified),
        "ideal": {
            **_plain(cost.ideal),
            "note": "for comparison only: what continuous noise of "
            "the same size would cost; the guarantee is the certified one above",
        },
        **told_apart(cost.certified_spends),
        "accounting": {
            "method": _method(cost),
            "sites": "each person is at one site; the weakest counts",
            "rho": cost.rho,
            "messages": [
                _message(_sender(server, sites), cost.steps[key], measurement)
                for (server, key), measurement in cost.messages.items()
            ],
        },
    }


def told_apart(spends: Sequence[Spend]) -> dict[str, Any]:
    """Say how well neighbouring data can be told apart, as numbers of the card.

    Power is the largest true-positive rate at each false-positive rate, read off the trade-off
    curve of the noise: Φ(μ + Φ⁻¹(α)) for Gaussian noise. `mu` is null if no μ is proved, as for
    Laplace and Gaussian noise together.
    """
    odds = risk.of_ledger(spends)
    mu = max(accounting.covering_mu(lines) for lines in accounting.by_server(spends).values())
    return {
        "mu": mu if math.isfinite(mu) else None,
        "power": {
            "0.1": odds.power_at_10_percent,
            "0.05": odds.power,
            "0.01": odds.power_at_1_percent,
        },
        "odds": {
            "attacker": "knows all other records and has narrowed this one down to two, "
            "which are equally likely",
            "coin_toss": 0.5,
            "right_guess_at_most": odds.right,
        },
    }


def _large_delta(cost: ReleaseCost, sizes: Sizes) -> dict[str, str]:
    """Write the warning about δ; empty if δ is small enough."""
    concern = sentences.large_delta(cost, sizes.n_curves)
    return {"delta_warning": plain_text(concern)} if concern else {}


def _relied_on(cost: ReleaseCost) -> dict[str, Any]:
    """List the parties the guarantee relies on; empty if every site adds all of its noise."""
    shares = cost.shares
    if shares is None:
        return {}
    return {
        "trust": sentences.relied_on(shares),
        "relied_on": {
            "noise": f"each of {shares.sites} sites adds an equal share; only sums are read",
            "sites": shares.sites,
            "honest_at_least": shares.honest,
            "holds_against": f"the centre together with up to {shares.sites - shares.honest} of the "
            "sites, whatever they send",
        },
    }


def _tuning_value(value: Any) -> Any:
    """A tuning parameter as JSON has it: no bound that is known is infinite, and is null there."""
    plain = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def _accuracy(
    uncertainty: Uncertainty, facts: PublicFacts, cost: ReleaseCost, sizes: Sizes
) -> dict[str, Any]:
    """State the error of the release, as numbers and in the words of the report."""
    band = uncertainty.band
    return {
        "verdict": uncertainty.verdict,
        "headline": sentences.headline(uncertainty, facts, cost.budget, sizes.n_curves),
        "band": None
        if band is None
        else {
            "level": band.level,
            "kind": band.kind,
            "average_half_width": band.half_width,
            "basis_functions": band.basis_size or None,
            "meant_between": list(band.covered),
        },
        "explained": sentences.band_explained(uncertainty, facts),
        "warnings": sentences.warnings(uncertainty),
        **({"checks": [*uncertainty.checks]} if uncertainty.checks else {}),
    }


def _forecast(plan: ReleasePlan) -> dict[str, Any]:
    """State the forecast of the error made before the release; empty without one."""
    expected = plan.forecast
    return (
        {}
        if expected is None
        else {
            "forecast": {
                "root_mean_squared_error": expected.error,
                "within_95": expected.within,
                "unit": expected.unit,
                "of": "releases of simulated data with the same public facts",
            }
        }
    )


def _plain(budget: Budget) -> dict[str, float]:
    return {"epsilon": budget.epsilon, "delta": budget.delta}


def _method(cost: ReleaseCost) -> str:
    if cost.certified.is_pure:
        return "ε of every message by OpenDP’s map; they add"
    if cost.shares is not None:
        return (
            "shares of discrete Gaussian noise sum to nearly that noise (Kairouz, Liu and "
            "Steinke 2021); what honest sites add has a proved μ, squares of μ add, and ε is "
            "that of the Gaussian privacy curve at a slightly smaller δ"
        )
    if cost.certified.epsilon < cost.by_rho.epsilon:
        return (
            "discrete Gaussian noise of every message has a proved μ; squares of μ add, and ε "
            "is that of the Gaussian privacy curve at the stated δ"
        )
    return (
        "ρ of zero-concentrated differential privacy of every message by OpenDP’s map; they "
        "add, and ε follows from the sum at the stated δ"
    )


def _sender(server: int, sites: Sequence[str]) -> str:
    if server == CENTRE:
        return "centre"
    return sites[server] if sites else f"site {server + 1}"


def _message(sender: str, step: Step, measurement: hardened.HardenedNoise) -> dict[str, Any]:
    return {
        "from": sender,
        "what": step.label,
        "numbers": measurement.size,
        "noise": measurement.name,
        "lattice": f"2^-{measurement.bits}",
        "epsilon" if measurement.is_pure else "rho": measurement.cost,
    }


def _bounds(data: Data) -> dict[str, Any]:
    facts = data.facts
    ranges: dict[str, Any] = {
        axis: {part: getattr(facts, f"{axis}_{part}") for part in _PARTS}
        for axis in data.bounded_axes
    }
    if facts.covariates:
        ranges["columns"] = [
            {
                "name": covariate.name,
                "unit": covariate.unit,
                "low": covariate.low,
                "high": covariate.high,
            }
            for covariate in facts.covariates
        ]
    return ranges
