"""Ledgers of earlier versions, taken over so that nothing that was spent is lowered.

Versions 1 and 2 had tables of data sets and releases; 3 and 4 a sealed log in which populations,
named by labels, had totals, and of people short sketches. Version 4 held its key in the same file:
the key moves to the key file, and its bytes are overwritten.

What was charged to a population counts for everybody whose hash is in a sketch of any of its data
sets, so that nobody has more left than before. Sketches of more than 2048 people are not whole, and
some data have none: releases of such populations count for everybody in the ledger until these very
data are shown (`Ledger.complete`). Data are known by a slow salted hash, which is kept under the
key. Costs enter with ε, δ and the μ of their plan, or without μ. The total of a population is the
total of its releases; that of the ledger is the largest.
"""

from __future__ import annotations

import hashlib
import math
import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from engine.core.errors import InputError
from engine.core.types import Budget
from engine.privacy import accounting
from engine.privacy.filters import Loss
from engine.release import key_file, ledger_file
from engine.release.ledger_file import changed
from engine.release.people import PeopleSet
from engine.release.sealed_log import OpenLog, digest

COST_OF_A_GUESS = 2**14  # scrypt's n; with its r of 8 a guess takes 16 MB as well
_FINER = 1000  # units of ε of this version in one of those before
_WHOLE = 2048  # people up to whom sketches are whole


@lru_cache(maxsize=256)
def slow_hash(content: bytes, salt: bytes) -> str:
    """Hash as earlier versions did: a guess takes a tenth of a second."""
    return hashlib.scrypt(content, salt=salt, n=COST_OF_A_GUESS, r=8, p=1, dklen=32).hex()


def take_over(file: sqlite3.Connection) -> None:
    """Make a ledger of an earlier version one of this, within the transaction of the caller."""
    version = file.execute("PRAGMA user_version").fetchone()[0]
    if version < 3:
        for statement in ledger_file.SCHEMA.split(";"):
            if "TABLE facts" not in statement:
                file.execute(statement)
    elif version == 3:
        file.execute("ALTER TABLE sketches RENAME TO kept")
        file.execute("ALTER TABLE kept RENAME COLUMN hashes TO content")
    facts = dict(file.execute("SELECT name, value FROM facts").fetchall())
    key, salt = facts.get("key", None if version > 2 else key_file.own_key()), facts.get("salt")
    if not (isinstance(key, bytes) and isinstance(salt, bytes)):
        raise changed()
    key_file.add(key)
    file.execute("DELETE FROM facts WHERE name = 'key'")
    file.execute("INSERT INTO facts VALUES ('check', ?)", (key_file.check_value(key),))
    log = OpenLog(file)
    if version < 3:
        log.add(kind="start", salt=digest(salt))
    else:
        log.read()
    try:
        entries = [(logged.number, logged.entry) for logged in log.entries]
        populations = _Populations.of(entries if version > 2 else list(_of_tables(file)))
        _enter(log, populations)
    except (KeyError, TypeError, ValueError, IndexError, StopIteration):
        raise changed() from None
    if version < 3:
        file.execute("DROP TABLE releases")
        file.execute("DROP TABLE data_sets")


@dataclass
class _Populations:
    """The total of the entries of an earlier log."""

    of_data: dict[str, str] = field(default_factory=dict)  # label by the hash of the data
    total: dict[str, tuple[int, float]] = field(default_factory=dict)
    people: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)  # sketches by data
    releases: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    ends: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    parts: list[Mapping[str, Any]] = field(default_factory=list)
    first: dict[str, str] = field(default_factory=dict)  # the label that a label was joined to
    unknown: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, entries: list[tuple[int, Mapping[str, Any]]]) -> _Populations:
        out = cls()
        for number, entry in entries:
            out._take_in(number, entry)
        return out

    def label(self, label: str) -> str:
        while self.first[label] != label:
            label = self.first[label]
        return label

    def _take_in(self, number: int, entry: Mapping[str, Any]) -> None:
        kind, data_set = entry["kind"], entry.get("data_set", "")
        if kind == "data set":
            self.first.setdefault(entry["label"], entry["label"])
            self.total[entry["label"]] = entry["total"][0], entry["total"][1]
            if data_set:
                self.of_data[data_set] = entry["label"]
        elif kind in ("copy", "joined"):
            labels = [self.label(label) for label in entry["of"]]
            least = min(labels)
            self.total[least] = (
                min(self.total[label][0] for label in labels),
                min(self.total[label][1] for label in labels),
            )
            self.first |= dict.fromkeys(labels, least)
            if data_set:
                self.of_data[data_set] = least
        elif kind == "total":
            self.total[self.label(entry["label"])] = entry["total"][0], entry["total"][1]
        elif kind in ("release", "lost"):
            self.releases[number] = entry
        elif kind == "part":
            self.parts.append(entry)
        elif kind in ("finished", "drawn", "closed"):
            self.ends[entry["release"]] = entry
        elif kind == "unknown":
            self.unknown.add(entry["label"])
        if data_set and entry.get("people"):
            self.people.setdefault(data_set, []).append(entry["people"])


def _enter(log: OpenLog, old: _Populations) -> None:
    """Write the releases of an earlier log as those of this version, after a new beginning."""
    log.add(kind="format", version=ledger_file.VERSION)
    if old.total:
        log.add(
            kind="total",
            total=[
                max(total[0] for total in old.total.values()) * _FINER,
                max(total[1] for total in old.total.values()),
            ],
        )
    numbers = dict[int, int]()
    sets = {label: _set_of(log, old, label) for label in {*map(old.label, old.first)}}
    unknown = {old.label(label) for label in old.unknown}
    for number, entry in old.releases.items():
        label = old.label(entry["label"])
        data = [data_set for data_set, of in old.of_data.items() if old.label(of) == label]
        held, missing = sets[label]
        final = {
            "at": entry["at"],
            "id": entry.get("id") or secrets.token_hex(8),
            "sets": [held] if held and label not in unknown else [],
            "total": [old.total[label][0] * _FINER, old.total[label][1]],
            **_loss(log, entry),
        }
        numbers[number] = log.add(
            kind="release",
            name=entry.get("name", ""),
            what=entry.get("what", "releases that a repair found no more"),
            n=0,
            rho=entry.get("rho"),
            records="",
            plan=entry.get("plan") or "",
            request=_under_key(log, entry.get("request")),
            data_sets=[_under_key(log, data_set) for data_set in data],
            missing=[_under_key(log, data_set) for data_set in missing],
            **final,
        )
        end = old.ends.get(number)
        if end is not None or entry["kind"] == "lost":
            log.add(
                kind="closed" if end is None else end["kind"],
                release=numbers[number],
                **{**final, "messages": (end or {}).get("messages") or ""},
            )
        for part in old.parts:
            if part["release"] == number:
                log.add(
                    kind="part",
                    release=numbers[number],
                    position=part["position"],
                    messages=part["messages"],
                    round=None,
                    **final,
                )
    log.add(kind="taken over", releases=len(numbers))


def _set_of(log: OpenLog, old: _Populations, label: str) -> tuple[str, list[str]]:
    """The digest of all people whom a population is known by, and the data that lack people.

    Sketches do not say which id and which curve are one person's, so each hash is a record.
    """
    hashes: dict[str, list[Any]] = {"ids": [], "contents": []}
    missing = []
    for data_set in (data for data, of in old.of_data.items() if old.label(of) == label):
        sketches = [
            people
            for people in old.people.get(data_set, ())
            if all(n <= _WHOLE for n, _ in people.values())
        ]
        if not sketches or len(sketches) < len(old.people[data_set]):
            missing.append(data_set)
        for people in sketches:
            for kind, (_, name) in people.items():
                try:
                    content = np.frombuffer(log.content(name), ">u8").astype(np.uint64)
                except InputError:
                    missing.append(data_set)
                    continue
                hashes["ids" if kind == "ids" else "contents"].append(content)
    ids, contents = (
        np.unique(np.concatenate(each)) if each else np.zeros(0, np.uint64)
        for each in hashes.values()
    )
    if not len(ids) + len(contents):
        return "", list(dict.fromkeys(missing))
    nobody = np.uint64(0)
    everybody = PeopleSet(
        np.concatenate([ids, np.full(len(contents), nobody)]),
        np.concatenate([np.full(len(ids), nobody), contents]),
        np.concatenate([ids, contents]),
    )
    return log.keep(everybody.to_bytes()), list(dict.fromkeys(missing))


def _under_key(log: OpenLog, old_hash: str | None) -> str:
    return log.keyed(old_hash.encode()) if old_hash else ""


def _loss(log: OpenLog, entry: Mapping[str, Any]) -> dict[str, Any]:
    """ε, δ and μ² of a charge; without μ where its plan does not say it."""
    budget = Budget.covering(max(entry["epsilon"], 1) / (1000 * 1000 * 1000), entry["delta"])
    loss = Loss.of(budget, _mu(log, entry.get("plan") or ""))
    return {
        "epsilon": entry["epsilon"] * _FINER,
        "delta": loss.delta,
        "mu_squared": loss.mu_squared,
    }


def _mu(log: OpenLog, plan: str) -> float | None:
    """μ of the noise of a plan, if this version draws the same."""
    from engine.release.plan import ReleasePlan  # on first use: it loads all methods

    if not plan:
        return None
    try:
        read = ReleasePlan.read(log.content(plan))
        read.check_noise()
        return mu_of_spends(read.cost.certified_spends)
    except Exception:  # whatever keeps it from being computed: then it is not used
        return None


def mu_of_spends(spends: Any) -> float | None:
    """μ of the server whose people it costs most; None if some noise is not Gaussian."""
    mu = max(accounting.total_mu(lines) for lines in accounting.by_server(spends).values())
    return mu if math.isfinite(mu) else None


def _of_tables(file: sqlite3.Connection) -> Any:
    """Data sets and releases of versions without a log, as entries of version 4."""
    number, labels = 0, dict[str, str]()
    for row in _rows(file, "data_sets", "rowid"):
        labels[row["fingerprint"]] = row["label"]
        number += 1
        yield (
            number,
            {
                "kind": "data set",
                "data_set": row["fingerprint"],
                "label": row["label"],
                "total": [row["total_epsilon"], row["total_delta"]],
            },
        )
    for row in _rows(file, "releases", "id"):
        number += 1
        release = number
        yield (
            number,
            {
                "kind": "release",
                "label": labels[row["fingerprint"]],
                "at": row["at"],
                "data_set": row["fingerprint"],
                "name": row["name"],
                "what": row["what"],
                "epsilon": row["epsilon"],
                "delta": row["delta"],
                "rho": row.get("rho"),
            },
        )
        if row["is_finished"]:
            number += 1
            yield number, {"kind": "finished", "release": release}


def _rows(file: sqlite3.Connection, table: str, order: str) -> list[dict[str, Any]]:
    result = file.execute(f"SELECT * FROM {table} ORDER BY {order}")
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
