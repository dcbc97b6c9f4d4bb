"""The part of a guarantee card from which every answer can be computed again, and comparisons.

Every number in it is released, a public fact, or computed from these: it is no new message, and
nothing is charged for it. Numbers have ten digits, in the card and in `ReleasedCurve.of` alike.
Released groups of people are compared by their cards: no data, no ledger, no charge.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from engine.answers.group_curves import MAX_GROUPS as MAX_SITES_OF_CARD
from engine.answers.group_curves import ReleasedGroups
from engine.answers.groups import GroupComparison
from engine.answers.released_curve import ReleasedCurve
from engine.answers.spread import ReleasedSpread
from engine.core.bands import WIDER_BEFORE, WIDEST
from engine.core.errors import InputError, brief
from engine.core.types import Array, Design, PublicFacts, PublicGroup, TimeLaw
from engine.numerics.public_curves import PublicCurve

VERSION, WITH_SITES = 1, 2  # of cards; with what each of several sites said
_MAX_WAVES, _MAX_GROUPS, _LONGEST_NAME = 100, 100, 200
_SHORT_NAME = 80
_MAX_TIMES = 10_000
_MAX_LENGTHS, _MAX_DIGITS = 100, 5  # different numbers of observations, and digits of one
_PEOPLE = ("person", "people")
_UNITS = ("value_name", "value_unit", "time_name", "time_unit")
_RANGES = ("time_low", "time_high", "value_low", "value_high")
_AGAIN = "Write the files of the release again with this version, at no charge."


def written(curve: ReleasedCurve) -> dict[str, Any]:
    """A released curve as the entry "answers" of a guarantee card, in plain values.

    The lower triangle of the covariance, rows joined.
    """
    facts = curve.facts
    return {
        "version": WITH_SITES if curve.has_sites else VERSION,
        "basis": {
            "family": curve.family,
            "size": curve.size,
            "orthonormal": True,
            "domain": "unit time, 0 = time low, 1 = time high",
        },
        "units": {name: getattr(facts, name) for name in (*_UNITS, *_PEOPLE, *_RANGES)},
        "offset": None
        if curve.offset is None
        else {"heights": list(curve.offset.heights), "unit_time": "equally spaced"},
        "centre": curve.centre.tolist(),
        "covariance": curve.covariance[np.tril_indices(curve.size)].tolist(),
        "people": curve.n_people,
        "effective_size": curve.effective_size if math.isfinite(curve.effective_size) else None,
        "pure": curve.is_pure,
        "spread": None if curve.spread is None else _spread_written(curve.spread),
        "few_times": list(curve.times),
        "band_factor": curve.wider,
        **({"sites": _sites_written(curve.groups_sent)} if curve.has_sites else {}),
        "groups": None
        if facts.group is None
        else {
            "set": facts.group.set,
            "name": facts.group.name,
            "membership": "public",
            "disjoint_from": list(facts.group.others),
        },
    }


def _sites_written(groups: ReleasedGroups | None) -> dict[str, Any] | None:
    """Write the messages of sites in the last step, as means of their people."""
    if groups is None:
        return None
    return {
        "names": list(groups.names),
        "centres": groups.centres.tolist(),
        "variances": groups.variances.tolist(),
    }


def _sites(entry: Any, size: int) -> ReleasedGroups | None:
    if entry is None:
        return None
    entry = _mapping(entry, "sites")
    names = entry.get("names")
    if not isinstance(names, list) or not 2 <= len(names) <= MAX_SITES_OF_CARD:
        raise InputError(
            f"A card has 2 to {MAX_SITES_OF_CARD} sites, each with a name.",
            field="sites",
            hint=_AGAIN,
        )
    rows = {}
    for name in ("centres", "variances"):
        listed = entry.get(name)
        if not isinstance(listed, list) or len(listed) != len(names):
            raise InputError(
                f"“{name}” of the card must have numbers for each site.", field="sites", hint=_AGAIN
            )
        rows[name] = np.array([_numbers(row, name, size) for row in listed])
    return ReleasedGroups(tuple(str(name)[:_LONGEST_NAME] for name in names), **rows)


def _spread_written(spread: ReleasedSpread) -> dict[str, Any]:
    """Write the released spread of people, with the public design of their times."""
    return {
        "privacy_variance": spread.privacy.tolist(),
        "second_moments": spread.moments[np.tril_indices(len(spread.moments))].tolist(),
        "second_moments_noise": spread.noise,
        "stretch": spread.stretch.tolist(),
        "readings_each": {str(length): count for length, count in spread.observation_counts},
        "design": {
            "law": str(spread.design.law),
            "times": list(spread.design.times),
            "gap": spread.design.gap,
            "window": spread.design.window,
            "density": list(spread.design.density),
        },
        "reading_sd": spread.reading_sd or None,
    }


def read(card: Any) -> ReleasedCurve:
    """The released curve of a guarantee card."""
    if not isinstance(card, Mapping) or card.get("kind") != "differential privacy guarantee":
        raise InputError(
            "This is no guarantee card.",
            field="card",
            hint="It is the file guarantee.json of a release.",
        )
    if "answers" not in card:
        raise InputError(
            "This card has no coefficients: it was written before questions could be "
            "asked, or its method has no covariance.",
            field="card",
            hint=_AGAIN,
        )
    entry = _mapping(card["answers"], "answers")
    if entry.get("version") != (WITH_SITES if "sites" in entry else VERSION):
        raise InputError(
            f"This version reads cards of version {VERSION}, and of {WITH_SITES} with sites; got "
            f"{brief(entry.get('version'))}.",
            field="answers",
            hint="Use the version of the program that wrote it.",
        )
    basis, offset = _mapping(entry.get("basis"), "basis"), entry.get("offset")
    size = _whole(basis.get("size"), "size")
    if not 1 <= size <= _MAX_WAVES:
        raise InputError(f"A card has 1 to {_MAX_WAVES} basis functions.", field="size")
    people = _whole(entry.get("people"), "people")
    effective = _effective_size(entry)
    heights = None if offset is None else _mapping(offset, "offset").get("heights")
    return ReleasedCurve(
        facts=_facts(_mapping(entry.get("units"), "units"), entry.get("groups")),
        centre=_numbers(entry.get("centre"), "centre", size),
        covariance=_symmetric(
            _numbers(entry.get("covariance"), "covariance", size * (size + 1) // 2), size
        ),
        spread=_spread(entry.get("spread"), size, effective),
        groups_sent=_sites(entry.get("sites"), size),
        has_sites="sites" in entry,
        times=_few_times(entry),
        wider=_factor(entry.get("band_factor", WIDER_BEFORE)),
        family=str(basis.get("family")),
        n_people=people,
        is_pure=entry.get("pure") is True,
        effective_size=effective,
        offset=None
        if heights is None
        else PublicCurve(
            tuple(
                _numbers(
                    heights, "heights", len(heights) if isinstance(heights, list) else 2
                ).tolist()
            )
        ),
    )


def _effective_size(entry: Mapping[str, Any]) -> float:
    """Read N of a card; infinite without privacy."""
    size = entry.get("effective_size")
    return math.inf if size is None else float(_numbers([size], "effective_size", 1)[0])


def _spread(entry: Any, size: int, effective_size: float) -> ReleasedSpread | None:
    if entry is None:
        return None
    entry = _mapping(entry, "spread")
    readings, sd = _mapping(entry.get("readings_each"), "readings_each"), entry.get("reading_sd")
    if not 1 <= len(readings) <= _MAX_LENGTHS or not all(
        length.isdecimal() and len(length) < _MAX_DIGITS for length in readings
    ):
        raise InputError(
            "“readings_each” of the card must be counts of people by numbers of observations.",
            field="readings_each",
            hint=_AGAIN,
        )
    stretch, moments, privacy = (
        _numbers(entry.get(name), name, count)
        for name, count in (
            ("stretch", size),
            ("second_moments", size * (size + 1) // 2),
            ("privacy_variance", size),
        )
    )
    return ReleasedSpread(
        _symmetric(moments, size),
        float(_numbers([entry.get("second_moments_noise")], "second_moments_noise", 1)[0]),
        stretch,
        privacy,
        tuple((int(length), _whole(count, "readings_each")) for length, count in readings.items()),
        _design(_mapping(entry.get("design"), "design")),
        0.0 if sd is None else float(_numbers([sd], "reading_sd", 1)[0]),
        effective_size,
    )


def _few_times(entry: Mapping[str, Any]) -> tuple[float, ...]:
    """Few common times; cards of earlier versions have them under "unseen", or none at all."""
    earlier = entry.get("unseen") or {"times": []}
    times = entry.get("few_times", _mapping(earlier, "unseen").get("times"))
    at = _numbers(times, "times", len(times) if isinstance(times, list) else -1)
    if not (
        len(at) <= _MAX_TIMES and (at >= 0).all() and (at <= 1).all() and (np.diff(at) > 0).all()
    ):
        raise InputError(
            f"A card has at most {_MAX_TIMES} common times, rising from 0 to 1.",
            field="times",
            hint=_AGAIN,
        )
    return tuple(at.tolist())


def _factor(value: Any) -> float:
    factor = float(_numbers([value], "band_factor", 1)[0])
    if not 1 <= factor <= WIDEST:
        raise InputError(
            f"“band_factor” of the card must lie between 1 and {WIDEST:g}.",
            field="band_factor",
            hint=_AGAIN,
        )
    return factor


def _design(entry: Mapping[str, Any]) -> Design:
    times, density = entry.get("times"), entry.get("density")
    lists = [
        _numbers(each, "design", len(each) if isinstance(each, list) else -1).tolist()
        for each in (times, density)
    ]
    gap, window = _numbers([entry.get("gap"), entry.get("window")], "design", 2).tolist()
    law = entry.get("law")
    if not isinstance(law, str):
        raise InputError("“law” of the card must be a word.", field="design", hint=_AGAIN)
    return Design(
        law=TimeLaw.named(law, "design"),
        times=tuple(lists[0]),
        gap=gap,
        window=window,
        density=tuple(lists[1]),
    )


def _facts(units: Mapping[str, Any], groups: Any) -> PublicFacts:
    words: dict[str, Any] = {name: str(units.get(name, "")) for name in _UNITS}
    words |= {name: str(units[name]) for name in _PEOPLE if name in units}
    ends = _numbers([units.get(name) for name in _RANGES], "units", len(_RANGES))
    return PublicFacts(
        **words,
        **dict(zip(_RANGES, ends.tolist(), strict=True)),
        group=None if groups is None else _group(_mapping(groups, "groups")),
    )


def _group(groups: Mapping[str, Any]) -> PublicGroup:
    others = groups.get("disjoint_from")
    if not isinstance(others, list) or len(others) > _MAX_GROUPS:
        raise InputError(
            "“disjoint_from” of the card must be a list of names.", field="groups", hint=_AGAIN
        )
    names = [str(each)[:_LONGEST_NAME] for each in (groups.get("set"), groups.get("name"), *others)]
    return PublicGroup(names[0], names[1], tuple(names[2:]))


def _symmetric(triangle: Array, size: int) -> Array:
    lower = np.zeros((size, size))
    lower[np.tril_indices(size)] = triangle
    return np.asarray(lower + np.tril(lower, -1).T)


def _mapping(value: Any, field: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(
            f"“{field}” of the card must be an object; got {brief(value)}.",
            field=field,
            hint=_AGAIN,
        )
    return value


def _whole(value: Any, field: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(
            f"“{field}” of the card must be a whole number; got {brief(value)}.",
            field=field,
            hint=_AGAIN,
        )
    return value


def _numbers(values: Any, field: str, count: int) -> Array:
    fits = (
        isinstance(values, list)
        and len(values) == count
        and all(
            isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
            for value in values
        )
    )
    if not fits:
        raise InputError(
            f"“{field}” of the card must be {count} finite numbers.", field=field, hint=_AGAIN
        )
    return np.array(values, dtype=float)


def comparison(cards: Sequence[Mapping[str, Any]], are_disjoint: bool = False) -> GroupComparison:
    """Compare the groups of these cards.

    `are_disjoint` if somebody states that nobody is in two of the groups. Cards of groups that were
    published together state it themselves.
    """
    curves = [read(card) for card in cards]
    _check_apart(cards)
    groups = [curve.facts.group for curve in curves]
    for first, second in combinations(groups, 2):
        if (
            first is not None
            and second is not None
            and first.set == second.set
            and (first.name == second.name)
        ):
            raise InputError(
                "Two cards are about the same group.",
                field="cards",
                hint="Compare releases of groups of which nobody is in two.",
            )
    state_it = all(
        first is not None and second is not None and first.is_apart_from(second)
        for first, second in combinations(groups, 2)
    )
    names = [
        group.name if group else str(_release(card).get("name", "A group"))[:_SHORT_NAME]
        for card, group in zip(cards, groups, strict=True)
    ]
    return GroupComparison(
        names,
        curves,
        are_disjoint or state_it,
        [name for name, card in zip(names, cards, strict=True) if is_doubtful(card)],
        [name for name, card in zip(names, cards, strict=True) if _has_untested_times(card)],
    )


def is_doubtful(card: Mapping[str, Any]) -> bool:
    """True if the release says that its curve and band cannot be relied on."""
    accuracy = card.get("accuracy")
    return isinstance(accuracy, Mapping) and accuracy.get("verdict") == "doubtful"


def _has_untested_times(card: Mapping[str, Any]) -> bool:
    """True where noise was too large to test how observation times come about."""
    accuracy = card.get("accuracy")
    checks = accuracy.get("checks") if isinstance(accuracy, Mapping) else None
    return isinstance(checks, list) and any(
        isinstance(check, Mapping)
        and check.get("outcome") == "untested"
        and str(check.get("fact")).startswith("Observation times")
        for check in checks
    )


def _release(card: Mapping[str, Any]) -> Mapping[str, Any]:
    entry = card.get("release")
    return entry if isinstance(entry, Mapping) else {}


def _check_apart(cards: Sequence[Mapping[str, Any]]) -> None:
    """Refuse two releases of one public data set, and one release given twice."""
    for key in ("id", "of"):
        values = [
            str(_release(card)[key])
            for card in cards
            if key in _release(card) and (key == "id" or "credit" in _release(card))
        ]
        if len(set(values)) < len(values):
            raise InputError(
                "Two cards are about the same people.",
                field="cards",
                hint="Compare releases of groups of which nobody is in two.",
            )
