"""The files of a release described for programs and repositories: a Data Package and a citation.

`datapackage.json` follows Data Package 2.0: names with units, ranges, sizes and digests. Digests
bind the files of a release to each other. They do not say that a release is genuine: whoever
changes a file can change its digest, too.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from engine.core.tasks import Argument
from engine.core.types import EventFacts
from engine.release import tables
from engine.release.captions import heading, headline
from engine.release.published import Published

_PROFILES = "https://datapackage.org/profiles/2.0"


def data_package(release: Published, files: Mapping[str, bytes]) -> bytes:
    """Describe the table and the guarantee card of a release, given as bytes by their names."""
    contact = release.card.get("contact")
    described = {
        "$schema": f"{_PROFILES}/datapackage.json",
        "name": _slug(release.name),
        "title": heading(release),
        "description": headline(release),
        "created": release.at,
        **({"contributors": [{"title": contact, "roles": ["contact"]}]} if contact else {}),
        "resources": [
            {
                **_resource("release", "release.csv", files["release.csv"], "text/csv"),
                "type": "table",
                "schema": _schema(release),
            },
            _resource("guarantee", "guarantee.json", files["guarantee.json"], "application/json"),
        ],
    }
    return json.dumps(described, ensure_ascii=False, indent=2).encode()


def citation(release: Published) -> bytes:
    """Write the line by which a release is cited, until a repository gives it an identifier."""
    contact, version = release.card.get("contact"), release.card["versions"]["privacy_curves"]
    who = f"{contact}. " if contact else ""
    return (
        f"{who}{heading(release)}. Released with differential privacy on {release.at[:10]} by "
        f"Privacy Curves {version}, release {release.release_id}. doi: (to come)\n"
    ).encode()


def _resource(name: str, path: str, content: bytes, mediatype: str) -> dict[str, Any]:
    return {
        "name": name,
        "path": path,
        "format": path.rpartition(".")[2],
        "mediatype": mediatype,
        "encoding": "utf-8",
        "bytes": len(content),
        "hash": f"sha256:{hashlib.sha256(content).hexdigest()}",
    }


def _schema(release: Published) -> dict[str, Any]:
    """Describe each column: its title with the unit, its type and its range."""
    columns = tables.table_of(release)
    titles = {
        "function": "Function",
        "time": release.axis,
        "time2": f"{release.axis}, second",
        "place": release.axis,
        "value": release.value,
        "low": f"{release.value}, lower end of the band",
        "high": f"{release.value}, upper end of the band",
    }
    facts = release.facts
    is_bounded = (
        release.argument is Argument.TIME
        and len(release.columns) == 1
        and not isinstance(facts, EventFacts)
    )
    ends = {name: (facts.value_low, facts.value_high) for name in ("value", "low", "high")}
    fields = []
    for name in columns:
        field: dict[str, Any] = {"name": name, "title": titles[name]}
        field["type"] = "string" if name == tables.TEXT_COLUMN else "number"
        field["constraints"] = {"required": True}
        if is_bounded and name in ends:
            low, high = ends[name]
            field["constraints"] |= {"minimum": low, "maximum": high}
        fields.append(field)
    key = [name for name in ("function", "time", "place", "time2") if name in columns]
    return {"fields": fields, **({"primaryKey": key} if key else {})}


def _slug(name: str) -> str:
    """Write a name in the letters that a package may have."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9._]+", "-", plain).strip("-.") or "release"
