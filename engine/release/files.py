"""A release as files: its numbers, its guarantee card, its picture, a report and its settings.

Each says how far off the release may be. The picture is plain SVG; the report is one printable page
that asks nothing of any network. What programs read stands in files of its own.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from engine.language.grammar import capital, plain_text
from engine.language.numbers import exactly
from engine.release import sentences, stated
from engine.release.captions import explained, heading, headline, warnings
from engine.release.data_package import citation, data_package
from engine.release.picture import picture
from engine.release.published import Published
from engine.release.tables import table_of, written
from engine.templates import digest, render, script
from engine.uploads import stated as stated_words


def all_files(release: Published) -> dict[str, bytes]:
    """Make all files of a release by name, to be given away together."""
    numbers = {"release.csv": numbers_csv(release), "guarantee.json": card(release)}
    by_place = release.functions.by_place
    return {
        **numbers,
        "release.svg": picture(release).encode(),
        "release.html": report(release),
        "datapackage.json": data_package(release, numbers),
        "citation.txt": citation(release),
        "check.html": check_page(),
        "again.json": request(release),
        **({"by_time.csv": written({release.axis: release.x, **by_place})} if by_place else {}),
        **{
            f"{name}.csv": written(table.columns)
            for name, table in release.functions.tables.items()
        },
    }


def archive(*releases: Published) -> bytes:
    """Pack all files of a release in one .zip, the same bytes whenever it is made again.

    Each of several groups gets a folder of its own.
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for number, release in enumerate(releases, start=1):
            made = datetime.fromisoformat(release.at).timetuple()[:6]
            folder = f"group-{number}/" if len(releases) > 1 else ""
            for name, content in all_files(release).items():
                packed.writestr(
                    zipfile.ZipInfo(f"{folder}{name}", made), content, zipfile.ZIP_DEFLATED
                )
    return out.getvalue()


def card(release: Published) -> bytes:
    """Write the guarantee for machines, as JSON."""
    return json.dumps(release.card, ensure_ascii=False, indent=2, allow_nan=False).encode()


def request(release: Published) -> bytes:
    """Write the same settings as a file for `python -m engine release`."""
    return json.dumps(release.request, ensure_ascii=False, indent=2).encode()


def numbers_csv(release: Published) -> bytes:
    """Write a row, numbers with ten digits, for each place of each function; see `tables`."""
    return written(table_of(release))


def check_page() -> bytes:
    """Write the page by which a reader's browser checks the files of any release."""
    return render(
        "check", title="Check a release", script=script("check"), digest=digest(script("check"))
    ).encode()


# -- the report -----------------------------------------------------------------------------------


def report(release: Published) -> bytes:
    """Write one printable page without requests: verdict, picture, band, guarantee, its limits."""
    return render(
        "report",
        title=release.name,
        headline=headline(release),
        heading=heading(release),
        day=release.at[:10],
        warnings=warnings(release),
        card=release.card,
        picture=picture(release, with_notes=False),
        guarantee=guarantee_rows(release),
        band=explained(release),
        not_covered=[f"{capital(line)}." for line in release.card["not_covered"]],
    ).encode()


def guarantee_rows(release: Published) -> Mapping[str, str]:
    """Write the guarantee in a few rows of words, by title in the order of the report."""
    card, cost = release.card, release.cost
    facts = release.facts
    return {
        **({"Data": f"{facts.name}: {facts.credit}"} if facts.credit else {}),
        "Protects": f"{card['unit_of_protection']}; compared are "
        f"{sentences.NEIGHBOURS[card['unit']]}",
        "Guarantee": f"{sentences.budget_words(cost.certified)}: certified, that is, proved for "
        "the noise that was really drawn",
        "For comparison": "noise of the same size with real numbers of unlimited precision, as in "
        f"textbooks, would cost ε = {cost.ideal.epsilon:.4g}. That is not the "
        "guarantee.",
        "Odds": plain_text(sentences.odds(release.facts, cost)),
        "Households": plain_text(sentences.household(facts, cost)),
        "Bounds": f"{_bounds(card['bounds'])}; from {card['bounds']['source']}",
        **stated.report_rows(release.facts, card),
        **_choices(card, facts.is_upload),
        "Method": f"{card['mechanism']['label']} ({card['mechanism']['reference']})",
        "Noise": f"{cost.numbers} numbers by {card['noise']['sampler']}, with entropy of the "
        "operating system, on a power-of-two lattice; no seed",
    }


def _choices(card: Mapping[str, Any], is_upload: bool) -> dict[str, str]:
    """Describe the reading of a file, choices made after looking, and the contact; or return {}."""
    if not is_upload:
        return {}
    reading = card["reading"]
    return {
        **(
            {}
            if reading is None
            else {
                "Reading": f"{capital(stated_words.reading(reading))}. Each line is read by the stated "
                "reading alone"
            }
        ),
        "Choices after looking": sentences.choices(
            card["looked_before_stating"], card["changed_after_looking"]
        ),
        **(
            {"Left out": "People without budget, if any, were left out"}
            if card["exhausted"] == "left out"
            else {}
        ),
        **({"Contact": card["contact"]} if card["contact"] else {}),
        **({"Tuned on public data": card["tuned_on_public"]} if "tuned_on_public" in card else {}),
    }


def _bounds(bounds: Mapping[str, Any]) -> str:
    ranges = [bounds[key] for key in ("value", "time") if key in bounds]
    ranges += bounds.get("columns", [])
    return "; ".join(_range(bound) for bound in ranges)


def _range(bound: Mapping[str, Any]) -> str:
    ends = f"{exactly(bound['low'])} to {exactly(bound['high'])}".replace("-", "−")
    return f"{bound['name']} {ends} {bound['unit']}".strip()
