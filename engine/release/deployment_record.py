"""A guarantee card as a record for the registry of deployments of differential privacy.

The registry (opendp/deployments-registry-data) holds one YAML file for each deployment; `KEYS` are
those that it had in November 2025. All but what is asked of the curator comes from the card. What
neither says stays out: the registry takes a draft, and its editors ask.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.core.errors import InputError, brief
from engine.language.grammar import capital
from engine.language.numbers import exactly
from engine.release import sentences
from engine.release.guarantee_card import VERSION
from engine.uploads import stated

KEYS = (
    "url_slug",
    "status",
    "tier",
    *(
        f"deployment.basic.{name}"
        for name in (
            "name",
            "data_curators",
            "intended_use",
            "data_product_type",
            "data_product_region",
            "data_product_sector",
            "description",
            "publication_date",
        )
    ),
    *(
        f"deployment.dp_variant.{name}"
        for name in ("variant_name", "data_domain", "unprotected_quantities")
    ),
    *(
        f"deployment.privacy_loss.{name}"
        for name in (
            "privacy_unit",
            "privacy_unit_details",
            "privacy_parameters.epsilon",
            "privacy_parameters.delta",
            "privacy_parameters.rho",
            "privacy_parameters_details",
        )
    ),
    *(
        f"deployment.deployment_model.{name}"
        for name in (
            "model_name",
            "model_name_details",
            "actors",
            "release_type",
            "release_type_details",
            "data_source_type",
            "data_source_type_details",
            "access_type",
            "access_type_details",
        )
    ),
    "deployment.accounting.composition",
    "deployment.accounting.post_processing",
    *(
        f"deployment.implementation.{name}"
        for name in ("preprocessing_and_hyperparameter_tuning", "mechanisms", "justification")
    ),
    "deployment.administrative.sources",
    "deployment.administrative.registry_authors",
)
_UNITS = {"person": "Person-level", "row": "Row-level", "observation": "Event-level"}
_LONGEST = 2000  # characters of an answer


@dataclass(frozen=True)
class Answers:
    """The curator's answers to questions that no card answers; optional ones may be empty."""

    curator: str
    use: str
    region: str
    why: str = ""  # why this ε
    address: str = ""  # where the card is published
    author: str = ""  # of the record

    def __post_init__(self) -> None:
        for name, answer in vars(self).items():
            if name in ("curator", "use", "region") and not answer.strip():
                raise InputError(f"“{name}” is empty.", field=name, hint="State it in a few words.")
            if len(answer) > _LONGEST:
                raise InputError(
                    f"“{name}” has more than {_LONGEST:,} characters.",
                    field=name,
                    hint="Shorten it.",
                )


def record(card: Any, answers: Answers) -> dict[str, Any]:
    """Return the record of a release, from the JSON of its card, in the order of the registry."""
    if not isinstance(card, Mapping) or card.get("kind") != "differential privacy guarantee":
        raise InputError(
            "This is no guarantee card.",
            field="card",
            hint="It is the file guarantee.json of a release.",
        )
    if card.get("version") != VERSION:
        raise InputError(
            f"A record needs a card of version {VERSION}; got {brief(card.get('version'))}.",
            field="card",
            hint="Write the files of the release again with this version, at no "
            "charge: release --again ID.",
        )
    try:
        whole = _whole(card, answers)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise InputError(
            "The guarantee card lacks what every card has.",
            field="card",
            hint="Write the files of the release again, at no charge.",
        ) from None
    made: dict[str, Any] = _without_empty(whole)
    return made


def left_empty(record: Mapping[str, Any]) -> list[str]:
    """List the keys of the registry that a record does not fill."""
    filled = {path for path, _ in _paths(record)}
    return [key for key in KEYS if key not in filled]


def _whole(card: Mapping[str, Any], answers: Answers) -> dict[str, Any]:
    release, people = card["release"], card["public"]["people_per_site"]
    return {
        "url_slug": _slug(f"{release['name']} {answers.curator} {release['at'][:4]}"),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": f"{release['what']}: {release['of']}",
                "data_curators": [answers.curator],
                "intended_use": answers.use,
                "data_product_type": "Summary statistics",
                "data_product_region": answers.region,
                "description": _description(card),
                "publication_date": release["at"][:10],
            },
            "dp_variant": {
                "variant_name": "Pure DP" if _is_pure(card) else "Approximate DP",
                "data_domain": _domain(card),
                "unprotected_quantities": _unprotected(card),
            },
            "privacy_loss": {
                "privacy_unit": _UNITS[card["unit"]],
                "privacy_unit_details": f"Protected is {card['unit_of_protection']}. Adjacent are "
                f"{sentences.NEIGHBOURS[card['unit']]}."
                + f" {capital(card['accounting']['sites'])}."
                * (len(people) > 1),
                "privacy_parameters": _parameters(card),
                "privacy_parameters_details": _told_apart(card),
            },
            "deployment_model": {
                "model_name": "Federated" if len(people) > 1 or "relied_on" in card else "Central",
                "model_name_details": f"{capital(card['trust'].rstrip('.'))}.",
                "actors": _actors(card, answers),
                "release_type": "One release",
                "release_type_details": "Its noise has no seed and cannot be drawn again. Other "
                "releases about the same people are charged to the same ledger.",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "composition": _composition(card),
                "post_processing": _post_processing(card),
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": _preprocessing(card),
                "mechanisms": _mechanisms(card),
                "justification": answers.why,
            },
            "administrative": {
                "sources": f"Guarantee card: {answers.address}" if answers.address else "",
                "registry_authors": [answers.author] if answers.author else [],
            },
        },
    }


def _is_pure(card: Mapping[str, Any]) -> bool:
    return bool(card["guarantee"]["delta"] == 0)


def _description(card: Mapping[str, Any]) -> str:
    accuracy = card["accuracy"]
    return " ".join(
        filter(
            None,
            (
                f"{card['release']['what']} with noise, by {card['mechanism']['label']}.",
                accuracy.get("headline", ""),
                *accuracy["warnings"],
            ),
        )
    )


def _domain(card: Mapping[str, Any]) -> str:
    """Say which data could have been there: the reading in words, and the stated bounds."""
    reading = card["reading"]
    how = (
        "Published data."
        if reading is None and not card["statements"]
        else "The reading of the file was not stated."
        if reading is None
        else f"Files that fit this reading: {stated.reading(reading)}."
    )
    return f"{how} Bounds come from: {card['bounds']['source']}."


def _unprotected(card: Mapping[str, Any]) -> str:
    people = card["public"]["people_per_site"]
    counts = (
        f"People: {people[0]}."
        if len(people) == 1
        else f"People by site: {', '.join(map(str, people))}."
    )
    facts = ", ".join(statement["fact"] for statement in card["statements"])
    return " ".join(
        filter(
            None,
            (
                counts,
                f"Stated by the holder: {facts}." if facts else "",
                sentences.choices(card["looked_before_stating"], card["changed_after_looking"])
                if card["statements"]
                else "",
                "People without budget, if any, were left out."
                if card["exhausted"] == "left out"
                else "",
                f"Not covered: {'; '.join(each.partition('. ')[0] for each in card['not_covered'])}.",
            ),
        )
    )


def _parameters(card: Mapping[str, Any]) -> dict[str, float]:
    """Return ε and δ as certified, and ρ of zCDP: μ²/2 where noise is Gaussian."""
    guarantee, mu = card["guarantee"], card["mu"]
    if _is_pure(card):
        return {"epsilon": float(guarantee["epsilon"])}
    rho = card["accounting"]["rho"] if mu is None else mu**2 / 2
    return {
        "epsilon": float(guarantee["epsilon"]),
        "delta": float(guarantee["delta"]),
        **({"rho": float(rho)} if rho is not None and math.isfinite(rho) else {}),
    }


def _told_apart(card: Mapping[str, Any]) -> str:
    power = "; ".join(f"{found:.4g} at {rate}" for rate, found in card["power"].items())
    mu = "" if card["mu"] is None else f"Gaussian differential privacy with μ = {card['mu']:.4g}. "
    right = card["odds"]["right_guess_at_most"]
    return (
        f"{mu}True-positive rate of the best attack, by its false-positive rate: {power}. It "
        f"finds the right one of two equally likely possibilities in at most {right:.4g} of "
        "cases."
    )


def _actors(card: Mapping[str, Any], answers: Answers) -> str:
    people, relied = card["public"]["people_per_site"], card.get("relied_on")
    sites = "" if len(people) == 1 else f" {len(people)} sites hold the data, each its own people."
    honest = (
        ""
        if relied is None
        else (
            f" Of {relied['sites']} sites, {relied['honest_at_least']} keep to the protocol, and each "
            "site checked its partners' keys once."
        )
    )
    return f"Curator: {answers.curator}. Data users: everybody.{sites}{honest}"


def _composition(card: Mapping[str, Any]) -> str:
    return (
        f"{capital(card['accounting']['method'])}. Over several releases: "
        f"{card['composition']}. Either the sums of ε and δ, or the sum of μ², of each person "
        "stays within the total."
    )


def _post_processing(card: Mapping[str, Any]) -> str:
    band = card["accuracy"]["band"]
    kind = (
        ""
        if band is None
        else (
            f" The {exactly(100 * band['level'])} % {band['kind']} "
            "confidence band follows from released numbers."
        )
    )
    return f"Values are held to the stated bounds.{kind}"


def _preprocessing(card: Mapping[str, Any]) -> str:
    """Say what happened before the noise: clipping, and choices that the file may have moved."""
    bounds = f"Bounds: {card['bounds']['applied']}."
    if not card["statements"]:
        return bounds
    choices = sentences.choices(card["looked_before_stating"], card["changed_after_looking"])
    return (
        f"{bounds} {choices} Doubts that are computed from the file are shown to its holder "
        "alone, and cost no budget."
    )


def _mechanisms(card: Mapping[str, Any]) -> str:
    noise, versions = card["noise"], card["versions"]
    laws = ", ".join(dict.fromkeys(message["noise"] for message in card["accounting"]["messages"]))
    proofs = card.get("proofs")
    return (
        f"{card['mechanism']['label']} ({card['mechanism']['reference']}): {laws} noise by "
        f"{noise['sampler']}, {noise['lattice']}, entropy of the {noise['entropy']}. Privacy "
        f"Curves {versions['privacy_curves']}"
        + (f"; proofs with SHA-256 {proofs}." if proofs else ".")
    )


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "release"


def _without_empty(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    parts = {name: _without_empty(part) for name, part in value.items()}
    return {name: part for name, part in parts.items() if part not in ("", [], {})}


def _paths(value: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, part in value.items():
        if isinstance(part, Mapping):
            yield from _paths(part, f"{before}{name}.")
        else:
            yield f"{before}{name}", part


# -- as YAML --------------------------------------------------------------------------------------


def as_yaml(record: Mapping[str, Any]) -> str:
    """Return a record as YAML 1.1 and 1.2 read alike: blocks, and every text in double quotes."""
    return "".join(f"{line}\n" for line in _lines(record))


def _lines(record: Mapping[str, Any]) -> Iterator[str]:
    for name, value in record.items():
        if isinstance(value, Mapping):
            yield f"{name}:"
            yield from (f"  {line}" for line in _lines(value))
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield f"{name}:"
            yield from (f"  - {_scalar(each)}" for each in value)
        else:
            yield f"{name}: {_scalar(value)}"


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return f'"{"".join(map(_character, value))}"'
    text = repr(value)  # YAML 1.1 takes 1e-06 for a text: its floats have a point
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _character(character: str) -> str:
    """Escape what YAML cannot hold in double quotes; half a surrogate pair is no character."""
    if character in '"\\':
        return f"\\{character}"
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\U{0xFFFD if 0xD800 <= code <= 0xDFFF else code:08X}"
