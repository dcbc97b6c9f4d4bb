"""JSON Schema (draft 2020-12) of what other programs read and write.

The scenario's is made from the registries, so that it allows just the keys, parameters and ranges
that the engine takes. What no schema can say, such as which method serves which data, is checked
when a scenario is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.core.errors import InputError, brief
from engine.core.registry import UNSET, Parameter, Registry
from engine.core.typed import checked
from engine.core.types.facts import MAX_GROUPS
from engine.mechanisms import mechanisms
from engine.sources import sources
from engine.topics.planning.answer import DIALS

DRAFT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]
_TYPES = {int: "integer", float: "number", str: "string", bool: "boolean"}
_NUMBER: Schema = {"type": "number"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_TEXT: Schema = {"type": "string"}
_MAYBE: Schema = {"type": ["number", "null"]}
_PROTECTED = "person", "row", "observation"
_VERDICTS = "not feasible", "doubtful", "coarse", "usable", "good", "nearly free"


@checked
def schema(name: str) -> Schema:
    """The JSON Schema of a document.

    Parameters
    ----------
    name : {"scenario", "plan", "guarantee", "record"}
        What `run` reads, what `plan --json` prints, the guarantee card of a release (version 3),
        and its record for the registry of deployments.

    Returns
    -------
    dict
        Plain values, for a file or a validator.

    Raises
    ------
    InputError
        If there is none of that name.

    Examples
    --------
    >>> schema("scenario")["required"]
    ['source', 'mechanism', 'budgets']
    """
    if name not in SCHEMAS:
        raise InputError(
            f"There is no schema of {brief(name)}.",
            field="schema",
            hint=f"Choose one of {', '.join(SCHEMAS)}.",
        )
    return {"$schema": DRAFT, "title": f"Privacy Curves: {name}", **SCHEMAS[name]()}


# -- a scenario -----------------------------------------------------------------------------------


def _scenario() -> Schema:
    return _object(
        {
            "version": {"const": 1},
            "source": _members(sources),
            "mechanism": _members(mechanisms),
            "budgets": {"type": "array", "minItems": 1, "items": _budget()},
            "repeats": {"type": "integer", "minimum": 1, "maximum": 100_000},
            "draws": {"type": "integer", "minimum": 1, "maximum": 100_000},
            "seed": {"type": "integer", "minimum": 0, "maximum": 2**63 - 1},
            "axes": {
                "type": "object",
                "propertyNames": {"pattern": r"^(source|mechanism|budgets)(\.\w+)+$"},
                "additionalProperties": {"type": "array", "minItems": 1},
            },
        },
        ["source", "mechanism", "budgets"],
    )


def _budget() -> Schema:
    return _object(
        {
            "epsilon": {"type": "number", "exclusiveMinimum": 0},
            "delta": {
                "type": "number",
                "minimum": 0,
                "exclusiveMaximum": 1,
                "description": "Default: 1/n² for n people in all, and 0 where the "
                "method needs none.",
            },
        },
        ["epsilon"],
    )


def _members(registry: Registry) -> Schema:
    """One of the registered members, each with its own parameters."""
    return {
        "oneOf": [
            {
                "title": cls.label,
                **_object(
                    {
                        "key": {"const": cls.key},
                        "parameters": _object(
                            {each.name: _parameter(each) for each in cls.parameters()}
                        ),
                    },
                    ["key"],
                ),
            }
            for cls in registry.all()
        ]
    }


def _parameter(parameter: Parameter) -> Schema:
    out: Schema = {"description": parameter.help or parameter.label}
    kind = _TYPES[parameter.kind]
    out["type"] = [kind, "null"] if parameter.optional else kind
    if parameter.choices:
        out["enum"] = [*parameter.choices, *[None] * parameter.optional]
    if parameter.low is not None:
        out["minimum"] = parameter.low
    if parameter.high is not None:
        out["maximum"] = parameter.high
    if parameter.default is not UNSET:
        out["default"] = getattr(parameter.default, "value", parameter.default)
    return out


# -- a plan ---------------------------------------------------------------------------------------


def _plan() -> Schema:
    point = _object(
        {
            "epsilon": _NUMBER,
            "people": _COUNT,
            "readings": _COUNT,
            "sites": _COUNT,
            "delta": _NUMBER,
            "error": _MAYBE,
            "within_95": _MAYBE,
        },
        ...,
    )
    return _object(
        {
            "unknown": {"enum": [*DIALS, "error"]},
            "target": _NUMBER,
            "possible": {"type": "boolean"},
            "value": _MAYBE,
            "low": _MAYBE,
            "high": _MAYBE,
            "reached": point,
            "without_privacy": _MAYBE,
            "attacker_accuracy": _MAYBE,
            "steps": {"type": "array", "items": point},
            "fixes": {"type": ["object", "null"], "additionalProperties": _MAYBE},
            "beyond": {"type": "object", "additionalProperties": {"type": "object"}},
        },
        ...,
    )


# -- a guarantee card -----------------------------------------------------------------------------


def _guarantee() -> Schema:
    spent = {
        "epsilon": {"type": "number", "minimum": 0},
        "delta": {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
    }
    message = _open(
        {"from": _TEXT, "what": _TEXT, "numbers": _COUNT, "noise": _TEXT}, ["from", "what", "noise"]
    )
    texts = {"type": "array", "items": _TEXT}
    check = _object(
        {name: _TEXT for name in ("fact", "outcome", "measured", "would_have_shown")}, ...
    )
    chance = {"type": "number", "minimum": 0, "maximum": 1}
    return _open(
        {
            "kind": {"const": "differential privacy guarantee"},
            "version": {"const": 3},
            "release": _open(
                {name: _TEXT for name in ("name", "at", "id", "of", "what", "credit")},
                ["name", "at", "id", "of", "what"],
            ),
            "accuracy": _open(
                {
                    "verdict": {"enum": [*_VERDICTS, None]},
                    "headline": _TEXT,
                    "explained": texts,
                    "warnings": texts,
                    "checks": {"type": "array", "items": check},
                },
                ["warnings"],
            ),
            "unit": {"enum": [*_PROTECTED]},
            "unit_of_protection": _TEXT,
            "neighbours": {"enum": [f"replace-one-{unit}/fixed-membership" for unit in _PROTECTED]},
            "mu": _MAYBE,
            "power": _object({rate: chance for rate in ("0.1", "0.05", "0.01")}, ...),
            "reading": {"type": ["object", "null"]},
            "statements": {
                "type": "array",
                "items": _object(
                    {
                        "fact": _TEXT,
                        "value": {},
                        "by": {"const": "holder"},
                        "source": {"type": ["string", "null"]},
                    },
                    ...,
                ),
            },
            "looked_before_stating": {"type": "boolean"},
            "changed_after_looking": _or_null(texts),
            "exhausted": {"enum": ["refused", "left out"]},
            "composition": _TEXT,
            "proofs": {"type": ["string", "null"], "pattern": "^[0-9a-f]{64}$"},
            "contact": {"type": ["string", "null"]},
            "tuned_on_public": {"type": "string"},
            "guarantee": _object(spent, ...),
            "ideal": _open(spent, ["epsilon", "delta"]),
            "odds": _open(
                {
                    "attacker": _TEXT,
                    "coin_toss": _NUMBER,
                    "right_guess_at_most": {"type": "number", "minimum": 0.5, "maximum": 1},
                },
                ["right_guess_at_most"],
            ),
            "accounting": _open(
                {"method": _TEXT, "messages": {"type": "array", "minItems": 1, "items": message}},
                ["method", "messages"],
            ),
            "bounds": {"type": "object"},
            "mechanism": _open(
                {
                    "key": {"enum": [cls.key for cls in mechanisms.all()]},
                    "parameters": {"type": "object"},
                },
                ["key", "parameters"],
            ),
            "public": _open(
                {"people_per_site": {"type": "array", "items": _COUNT}}, ["people_per_site"]
            ),
            "delta_warning": _TEXT,
            "trust": _TEXT,
            "noise": {"type": "object"},
            "not_covered": texts,
            "answers": _answers(),
            "counts": _counts(),
            "versions": {"type": "object", "additionalProperties": _TEXT},
        },
        [
            "kind",
            "version",
            "release",
            "unit",
            "unit_of_protection",
            "neighbours",
            "mu",
            "power",
            "reading",
            "statements",
            "looked_before_stating",
            "changed_after_looking",
            "exhausted",
            "composition",
            "proofs",
            "contact",
            "guarantee",
            "accounting",
            "mechanism",
            "public",
            "noise",
            "not_covered",
            "versions",
        ],
    )


def _counts() -> Schema:
    """Released counts of survival, of which `ask-card` computes its answers."""
    numbers = {"type": "array", "items": _NUMBER}
    lists = ("edges", "exits", "exit_scales", "totals", "site_weights")
    optional = ("group_sizes", "group_weights", "entry_scales")
    parts: Mapping[str, Schema] = {
        "version": {"enum": [1, 2], "description": "2 of counts by visits."},
        **{name: numbers for name in (*lists, *optional)},
        "entries": {**numbers, "type": ["array", "null"]},
        "groups": {"type": "array", "items": _TEXT, "maxItems": MAX_GROUPS},
        **{name: _NUMBER for name in ("time_step", "spread", "least_at_risk")},
        "words": {"type": "object", "additionalProperties": _TEXT},
    }
    return _open(parts, ["version", *lists, "groups", "spread", "least_at_risk", "words"])


def _answers() -> Schema:
    numbers = {"type": "array", "items": _NUMBER}
    triangle = {**numbers, "description": "Lower triangle, rows joined."}
    parts: Mapping[str, Schema] = {
        "version": {"enum": [1, 2], "description": "2 with sites."},
        "basis": _open(
            {
                "family": {"enum": ["cosine", "fourier"]},
                "size": {"type": "integer", "minimum": 1, "maximum": 100},
            },
            ["family", "size"],
        ),
        "units": {"type": "object"},
        "offset": {"type": ["object", "null"]},
        "centre": numbers,
        "covariance": triangle,
        "people": _COUNT,
        "effective_size": _MAYBE,
        "pure": {"type": "boolean"},
    }
    spread = _object(
        {
            "privacy_variance": numbers,
            "second_moments": triangle,
            "second_moments_noise": _NUMBER,
            "stretch": numbers,
            "readings_each": {"type": "object", "additionalProperties": _COUNT},
            "design": _object(
                {
                    "law": _TEXT,
                    "times": numbers,
                    "gap": _NUMBER,
                    "window": _NUMBER,
                    "density": numbers,
                },
                ...,
            ),
            "reading_sd": _MAYBE,
        },
        ...,
    )
    groups = _object(
        {
            "set": _TEXT,
            "name": _TEXT,
            "membership": {"const": "public"},
            "disjoint_from": {"type": "array", "items": _TEXT},
        },
        ...,
    )
    rows = {"type": "array", "items": numbers}
    sites = _object(
        {"names": {"type": "array", "items": _TEXT}, "centres": rows, "variances": rows}, ...
    )
    unseen = _object({"times": numbers, "scale": _NUMBER}, ...)  # up to version 0.6
    # later editions added these, which cards of earlier ones lack
    return _object(
        {
            **parts,
            "spread": _or_null(spread),
            "unseen": _or_null(unseen),
            "few_times": numbers,
            "band_factor": _NUMBER,
            "sites": _or_null(sites),
            "groups": _or_null(groups),
        },
        [*parts],
    )


# -- a deployment record --------------------------------------------------------------------------


def _record() -> Schema:
    """Describe the registry's keys, and of its words those that a record may have."""
    texts, least_one = {"type": "array", "items": _TEXT}, {"minItems": 1}
    basic = _object(
        {
            "name": _TEXT,
            "data_curators": {**texts, **least_one},
            "intended_use": _TEXT,
            "data_product_type": {"const": "Summary statistics"},
            "data_product_region": _TEXT,
            "data_product_sector": _TEXT,
            "description": _TEXT,
            "publication_date": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
        },
        [
            "name",
            "data_curators",
            "intended_use",
            "data_product_type",
            "data_product_region",
            "description",
            "publication_date",
        ],
    )
    variant = _object(
        {
            "variant_name": {"enum": ["Pure DP", "Approximate DP"]},
            "data_domain": _TEXT,
            "unprotected_quantities": _TEXT,
        },
        ...,
    )
    loss = _object(
        {
            "privacy_unit": {"enum": ["Person-level", "Row-level", "Event-level"]},
            "privacy_unit_details": _TEXT,
            "privacy_parameters": _object(
                {"epsilon": _NUMBER, "delta": _NUMBER, "rho": _NUMBER}, ["epsilon"]
            ),
            "privacy_parameters_details": _TEXT,
        },
        ...,
    )
    model = _object(
        {
            "model_name": {"enum": ["Central", "Federated"]},
            "model_name_details": _TEXT,
            "actors": _TEXT,
            "release_type": {"const": "One release"},
            "release_type_details": _TEXT,
            "data_source_type": {"const": "Static"},
            "data_source_type_details": _TEXT,
            "access_type": {"const": "Non-interactive"},
            "access_type_details": _TEXT,
        },
        ["model_name", "actors", "release_type", "data_source_type", "access_type"],
    )
    made = _object(
        {
            "preprocessing_and_hyperparameter_tuning": _TEXT,
            "mechanisms": _TEXT,
            "justification": _TEXT,
        },
        ["preprocessing_and_hyperparameter_tuning", "mechanisms"],
    )
    return _object(
        {
            "url_slug": {"type": "string", "pattern": "^[a-z0-9-]+$"},
            "status": {"const": "Draft"},
            "tier": {"const": 3},
            "deployment": _object(
                {
                    "basic": basic,
                    "dp_variant": variant,
                    "privacy_loss": loss,
                    "deployment_model": model,
                    "accounting": _object({"composition": _TEXT, "post_processing": _TEXT}, ...),
                    "implementation": made,
                    "administrative": _object({"sources": _TEXT, "registry_authors": texts}),
                },
                [
                    "basic",
                    "dp_variant",
                    "privacy_loss",
                    "deployment_model",
                    "accounting",
                    "implementation",
                ],
            ),
        },
        ...,
    )


def _or_null(part: Schema) -> Schema:
    return {**part, "type": [part["type"], "null"]}


def _object(properties: Mapping[str, Schema], required: Any = ()) -> Schema:
    """An object of these properties and no other; `...` requires them all."""
    names = list(properties) if required is ... else list(required)
    return {
        "type": "object",
        "properties": dict(properties),
        "additionalProperties": False,
        **({"required": names} if names else {}),
    }


def _open(properties: Mapping[str, Schema], required: list[str]) -> Schema:
    """An object that may have more properties: a later edition adds what earlier readers skip."""
    return {"type": "object", "properties": dict(properties), "required": required}


SCHEMAS: Mapping[str, Callable[[], Schema]] = {
    "scenario": _scenario,
    "plan": _plan,
    "guarantee": _guarantee,
    "record": _record,
}
