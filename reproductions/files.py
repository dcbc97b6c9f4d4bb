"""Results of exhibits as files: one to read again, one for a spreadsheet, and a page to look at."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from pathlib import Path

from engine.language.grammar import safe_cell
from reproductions.exhibits import Exhibit, Form, Paper, Result

STORED = Path(__file__).parents[1] / "data" / "exhibits"
FOLDERS: dict[Form, Path] = {"quick": STORED, "full": STORED / "full"}


def name(paper: Paper, exhibit: Exhibit) -> str:
    """Return the name of its files, without the ending."""
    return f"{paper.key}.{exhibit.key}"


def path_of(paper: Paper, exhibit: Exhibit, form: Form) -> Path:
    """Return the path of the result that comes with the engine, or would come, in either form."""
    return FOLDERS[form] / f"{name(paper, exhibit)}.json"


def stored(paper: Paper, exhibit: Exhibit, form: Form = "quick") -> Result | None:
    """Read the result that comes with the engine in either form; None if there is none."""
    path = path_of(paper, exhibit, form)
    return from_json(path.read_text("utf-8")) if path.exists() else None


def as_json(paper: Paper, exhibit: Exhibit, result: Result) -> str:
    """Write the result with what it says on each claim; a row of the table on each line."""
    findings = [
        {
            "says": claim.says,
            "place": exhibit.place(claim),
            "verdict": claim.verdict(finding),
            "measured": finding.measured,
            "because": claim.because,
        }
        for claim, finding in zip(exhibit.claims, exhibit.findings(result.table), strict=True)
    ]
    plain = {
        "paper": paper.reference,
        "exhibit": f"{paper.key}/{exhibit.key}",
        "title": exhibit.title,
        **asdict(result),
        "table": "ROWS",
        "claims": findings,
    }
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in result.table)
    text = json.dumps(plain, ensure_ascii=False, indent=1)
    return text.replace('"ROWS"', f"[\n{rows}\n]", 1) + "\n"


def from_json(text: str) -> Result:
    """Read what `as_json` wrote."""
    plain = json.loads(text)
    return Result(**{key: plain[key] for key in ("form", "table", "seconds", "digest", "versions")})


def as_csv(paper: Paper, exhibit: Exhibit, result: Result) -> str:
    """Write a line for each row of the table; lines that begin with # name the numbers' origin."""
    out = io.StringIO()
    origins = ", ".join(f"{package} {version}" for package, version in result.versions.items())
    out.write(
        f"# {paper.reference}\n# {exhibit.title}, {result.form} form, {result.digest}\n"
        f"# made by {origins}\n"
    )
    columns = list(dict.fromkeys(key for row in result.table for key in row))
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {key: safe_cell(value) if isinstance(value, str) else value for key, value in row.items()}
        for row in result.table
    )
    return out.getvalue()
