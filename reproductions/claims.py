"""All claims with their verdicts, from the results that come with the engine.

`data/claims.tsv` is made of them by `python -m scripts.write_claims`.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cache

from reproductions import files
from reproductions.exhibits import Claim, ClaimVerdict, Exhibit, Finding, Paper
from reproductions.shelf import papers


@dataclass(frozen=True)
class SettledClaim:
    """A claim with its place among the exhibits and its finding in the stored quick result."""

    paper: Paper
    exhibit: Exhibit
    claim: Claim
    finding: Finding

    @property
    def key(self) -> str:
        """The exhibit: "paper/exhibit"."""
        return f"{self.paper.key}/{self.exhibit.key}"

    @property
    def verdict(self) -> ClaimVerdict:
        return self.claim.verdict(self.finding)

    @property
    def row(self) -> dict[str, str]:
        """The line of the table of claims, by its columns."""
        claim = self.claim
        return {
            "document": self.paper.title,
            "place": self.exhibit.place(claim) or "our own check",
            "claim": claim.says,
            "range": "" if claim.is_ours else claim.extent or self.exhibit.extent,
            "verdict": self.verdict,
            "reason": (claim.reason or "") if self.verdict != ClaimVerdict.HOLDS else "",
            "measured": self.finding.measured,
            "why": claim.because if self.verdict != ClaimVerdict.HOLDS else "",
            "exhibit": self.key,
        }


@cache
def settled() -> tuple[SettledClaim, ...]:
    """Settle every claim whose exhibit has a stored result, in the order of the exhibits."""
    return tuple(
        SettledClaim(paper, exhibit, claim, finding)
        for paper in papers()
        for exhibit in paper.exhibits
        if (result := files.stored(paper, exhibit)) is not None
        for claim, finding in zip(exhibit.claims, exhibit.findings(result.table), strict=True)
    )


def as_tsv() -> str:
    """Write the table of claims, a line for each."""
    out = io.StringIO()
    rows = [each.row for each in settled()]
    writer = csv.DictWriter(out, list(rows[0]), delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
