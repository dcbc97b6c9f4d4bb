"""Checks of published files against each other and against the ledger.

Files carry no signature. A ledger keeps the noised messages of each release, so that whoever has it
can make all files again; equal bytes are the strongest check there is. Without it a guarantee card
can still be asked whether its own numbers fit together, and a table whether it is that of the card.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine import __version__
from engine.answers import card as answers_card
from engine.core import entrance
from engine.core.bands import Band, limits
from engine.core.errors import InputError, brief
from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Array, Budget, Estimate, Fit
from engine.numerics.between_times import BetweenTimes
from engine.privacy import risk
from engine.release import files as release_files
from engine.release import tables
from engine.release.ledger import Ledger
from engine.release.published import again

CARD, TABLE, PACKAGE = "guarantee.json", "release.csv", "datapackage.json"
MAX_BYTES, _MAX_FILES = 20_000_000, 200
_SAME = 1e-6  # relative, of sums that were rounded
_DIGITS = 1e-7  # of the stated range: a table has ten digits, and so have coefficients of a card


@dataclass(frozen=True)
class FileFinding:
    """One thing that was looked at."""

    holds: bool | None  # none where it could not be told
    text: str


def unpacked(named: Mapping[str, bytes]) -> dict[str, dict[str, bytes]]:
    """Open archives of *Publish*: files by the folder of their release, one for each group."""
    folders: dict[str, dict[str, bytes]] = {}
    for name, content in named.items():
        members = _members(name, content) if name.lower().endswith(".zip") else {name: content}
        for member, inside in members.items():
            folder, _, file = member.rpartition("/")
            folders.setdefault(folder, {})[file] = inside
    return folders


def _members(name: str, content: bytes) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            listed = [each for each in packed.infolist() if not each.is_dir()]
            if len(listed) > _MAX_FILES or sum(each.file_size for each in listed) > MAX_BYTES:
                raise InputError(
                    f"“{brief(name)}” holds more than the files of a release.",
                    field="files",
                    hint="Choose the .zip that Publish wrote.",
                )
            return {each.filename: packed.read(each)[:MAX_BYTES] for each in listed}
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, EOFError) as problem:
        raise InputError(
            f"“{brief(name)}” cannot be opened.",
            field="files",
            hint="Choose the .zip that Publish wrote, or its files.",
        ) from problem


def check(files: Mapping[str, bytes], book: Ledger | None) -> list[FileFinding]:
    """Check the files of one release, its card at least; make them again if there is a book."""
    if CARD not in files:
        raise InputError(
            f"There is no {CARD} among these files.",
            field="files",
            hint="It is the guarantee card of a release; the .zip holds it.",
        )
    card = entrance.json_of(files[CARD].decode("utf-8", "replace"), "a guarantee card")
    if not isinstance(card, Mapping) or card.get("kind") != "differential privacy guarantee":
        raise InputError(
            "This is no guarantee card.",
            field="files",
            hint="It is the file guarantee.json of a release.",
        )
    try:
        return [
            *_of_ledger(files, card, book),
            *_of_card(card),
            *_of_table(files, card),
            *_of_package(files),
        ]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as problem:
        return [
            FileFinding(
                False,
                "The guarantee card lacks what every card has: it was changed, or "
                f"is of another program ({type(problem).__name__}).",
            )
        ]


# -- against the ledger -------------------------------------------------------------------------


def _of_ledger(
    files: Mapping[str, bytes], card: Mapping[str, Any], book: Ledger | None
) -> Iterator[FileFinding]:
    """Check that the ledger of this machine makes the same bytes again."""
    release_id = str(card["release"]["id"])
    try:
        made = None if book is None else release_files.all_files(again(book, release_id))
    except InputError as problem:
        made = None
        reason = str(problem)
    else:
        reason = "No ledger was looked at."
    if made is None:
        yield FileFinding(
            None,
            "The ledger of this machine does not make it again, so its release is not known here. "
            f"{reason}",
        )
        return
    stated = card.get("versions") or {}
    versions = json.loads(made[CARD]).get("versions") == stated
    versions = versions and stated.get("privacy_curves") == __version__
    for name in sorted({*files} & {*made}):
        if files[name] == made[name]:
            yield FileFinding(
                True, f"{name} is, byte for byte, what the ledger of this machine makes again."
            )
        elif _same_numbers(name, files[name], made[name]):
            yield FileFinding(
                True, f"{name} has, number for number, what the ledger of this machine makes again."
            )
        else:
            other = (
                ""
                if versions
                else (
                    " It was written by another version of the program, which "
                    "may have worded it differently."
                )
            )
            yield FileFinding(
                False if versions else None,
                f"{name} differs from what the ledger of this machine makes again.{other}",
            )
    if unknown := sorted({*files} - {*made}):
        yield FileFinding(None, f"Not a file of this release: {', '.join(map(brief, unknown))}.")


def _same_numbers(name: str, content: bytes, made: bytes) -> bool:
    """True for a table as an earlier version wrote it, with other words around equal numbers."""
    if name != TABLE:
        return name.endswith(".csv") and _without_words(content) == made
    try:
        return all(
            all(np.array_equal(*each) for each in zip(_numbers(old), _numbers(new), strict=True))
            for old, new in zip(tables.read(content), tables.read(made), strict=True)
        )
    except (InputError, ValueError):
        return False


def _numbers(table: tables.ReleasedTable) -> list[Array]:
    return [table.x, table.value, *(table.band or ())]


def _without_words(content: bytes) -> bytes:
    return b"".join(line for line in content.splitlines(True) if not line.startswith(b"#"))


# -- the card by itself ---------------------------------------------------------------------------


def _of_card(card: Mapping[str, Any]) -> Iterator[FileFinding]:
    """Check that the numbers of a card fit together."""
    stated, ideal = (
        Budget(card[name]["epsilon"], card[name]["delta"]) for name in ("guarantee", "ideal")
    )
    accounting = card["accounting"]
    costs = [message.get("rho", 0.0) for message in accounting["messages"]]
    by_sender: dict[str, float] = {}
    for message, cost in zip(accounting["messages"], costs, strict=True):
        by_sender[message["from"]] = by_sender.get(message["from"], 0.0) + cost
    if accounting.get("rho") and any(costs) and "relied_on" not in card:
        shared = by_sender.pop("centre", 0.0)  # what the centre sends is about everybody
        total = max(by_sender.values(), default=0.0) + shared
        yield FileFinding(
            abs(total - accounting["rho"]) <= _SAME * accounting["rho"],
            "The costs of its messages add up to the cost that is stated.",
        )
    yield FileFinding(
        ideal.epsilon <= stated.epsilon * (1 + _SAME),
        "The certified ε is no smaller than that of ideal noise of the same size.",
    )
    right = float(card["odds"]["right_guess_at_most"])
    yield FileFinding(
        0.5 <= right <= risk.odds(None, stated).right * (1 + _SAME),
        "The attacker’s accuracy is one that the stated ε and δ allow.",
    )


def _of_table(files: Mapping[str, bytes], card: Mapping[str, Any]) -> Iterator[FileFinding]:
    """Check that a table matches the card: its id, and the band that the coefficients give."""
    if TABLE not in files:
        return
    first = files[TABLE].partition(b"\n")[0].decode("utf-8", "replace")
    if first.startswith("#"):  # as earlier versions wrote it
        yield FileFinding(
            f"id {card['release']['id']}" in first, f"{TABLE} and the card have one id."
        )
    if "answers" not in card or card["accuracy"]["band"] is None:
        return
    if "unseen" in card["answers"] and card["answers"]["unseen"]:
        yield FileFinding(
            None,
            f"The band in {TABLE} was drawn by another version of the program, "
            "which counted what few common times do not show in another way.",
        )
        return
    (table,) = tables.read(files[TABLE])
    assert table.band is not None
    low, high = _ends(card)
    facts = card["answers"]["units"]
    off = np.abs(
        np.column_stack(table.band)
        - np.clip(np.column_stack([low, high]), facts["value_low"], facts["value_high"])
    ).max()
    yield FileFinding(
        bool(off <= _DIGITS * (facts["value_high"] - facts["value_low"])),
        f"The band in {TABLE} is that of the coefficients in the card.",
    )


def _of_package(files: Mapping[str, bytes]) -> Iterator[FileFinding]:
    """Check that files have the digests by which a data package binds them to each other."""
    if PACKAGE not in files:
        return
    package = entrance.json_of(files[PACKAGE].decode("utf-8", "replace"), "a data package")
    for resource in package["resources"]:
        content = files.get(resource["path"])
        if content is not None:
            yield FileFinding(
                resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}",
                f"{brief(resource['path'])} has the digest that {PACKAGE} states.",
            )


def _ends(card: Mapping[str, Any]) -> tuple[Array, Array]:
    """Lower and upper limits on the drawing grid, from the coefficients of a card."""
    curve = answers_card.read(card)
    centre = curve.centre[None, None, None]  # (budgets, repeats, draws, r), one of each
    band = Band(
        centre,
        curve.covariance[None, None, None],
        card["accuracy"]["band"]["kind"],
        wider=curve.wider,
    )
    basis = BetweenTimes.of(curve.waves, curve.times) if curve.times else curve.waves
    fit = Fit(
        basis=basis,
        basis_sizes=(curve.size,),
        coefficients=centre,
        unprotected=centre[0],
        offset=curve.offset,
        band=band,
    )
    low, high = limits(Estimate.of(MEAN_FUNCTION.key, fit, ((),)), band)
    return low[0, 0, 0], high[0, 0, 0]
