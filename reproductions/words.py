"""Sentences about exhibits: how many claims hold, and each with its number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from engine.exhibits import Form
from engine.language.grammar import capital
from reproductions.claims import SettledClaim
from reproductions.exhibits import Claim, ClaimVerdict, Exhibit, Finding, Reason, Result, versions

TITLE = "Do the published results replicate?"
SOURCE = (
    "Simulated and public data",
    "Simulated as in the papers, or already public. No private data are used.",
)
UNIT = (
    "One person’s data, as each document has it",
    "Unit of protection: replacing one curve, observation, record or row hardly changes what "
    "is published. The text beside each figure or table says which.",
)
BUDGETS = "ε and δ as in the document"


def overview(settled: Sequence[SettledClaim]) -> str:
    """Count the claims of the documents by verdict and reason, and apart from these our own checks.

    The documents' claims come first.
    """
    of_documents, of_ours = (
        [each for each in settled if each.claim.is_ours is ours] for ours in (False, True)
    )
    held, failed, apart = (
        sum(each.verdict == verdict for each in of_documents)
        for verdict in (ClaimVerdict.HOLDS, ClaimVerdict.FAILS, ClaimVerdict.NOT_COMPARABLE)
    )
    lines = [
        f"**{held} of {len(of_documents)} claims hold**, {failed} fail, and {apart} are not comparable.",
        "",
        *(f"- {line}" for line in _exceptions(of_documents)),
    ]
    if of_ours:
        passing = sum(each.verdict == ClaimVerdict.HOLDS for each in of_ours)
        lines += [
            f"- **{passing} of our {len(of_ours)} extra checks pass**.",
            *(f"  - {line}" for line in _exceptions(of_ours)),
        ]
    return "\n".join(lines)


def _exceptions(settled: Sequence[SettledClaim]) -> list[str]:
    """List the reasons of each verdict but *holds*."""
    return [
        f"{capital(verdict)}: {reasons}."
        for verdict in (ClaimVerdict.FAILS, ClaimVerdict.NOT_COMPARABLE)
        if (reasons := _by_reason(settled, verdict))
    ]


def _by_reason(settled: Sequence[SettledClaim], verdict: ClaimVerdict) -> str:
    """List the reasons of a verdict with their numbers, the most frequent first."""
    reasons = Counter(each.claim.reason for each in settled if each.verdict == verdict)
    return "; ".join(
        f"{reason.words} ({number})" for reason, number in reasons.most_common() if reason
    )


def reason(key: str) -> str:
    """Write a reason of the table of claims in words; empty for a claim that holds."""
    return Reason(key).words if key else ""


def count(verdicts: Sequence[ClaimVerdict]) -> str:
    """Count the claims of one exhibit by verdict.

    Examples
    --------
    >>> count([ClaimVerdict.HOLDS, ClaimVerdict.FAILS, ClaimVerdict.HOLDS])
    '2 hold, 1 fails'
    """
    by_verdict = Counter(verdicts)
    parts = [
        f"{by_verdict[verdict]} {one if by_verdict[verdict] == 1 else more}"
        for verdict, one, more in (
            (ClaimVerdict.HOLDS, "holds", "hold"),
            (ClaimVerdict.FAILS, "fails", "fail"),
            (ClaimVerdict.NOT_COMPARABLE, "not comparable", "not comparable"),
        )
        if by_verdict[verdict]
    ]
    return ", ".join(parts) or "no claims"


_MARKS = {ClaimVerdict.HOLDS: "✓", ClaimVerdict.FAILS: "✗", ClaimVerdict.NOT_COMPARABLE: "–"}
_BADGES = {
    ClaimVerdict.HOLDS: ":green-badge[:material/check: holds]",
    ClaimVerdict.FAILS: ":orange-badge[:material/close: fails]",
    ClaimVerdict.NOT_COMPARABLE: ":gray-badge[:material/remove: not comparable]",
}


def claim(stated: Claim, finding: Finding) -> str:
    """Write one line: the verdict's mark, what is said, what was measured, and why it differs."""
    mark = _MARKS[stated.verdict(finding)]
    return " ".join([mark, *_sentences(stated, finding, finding.measured)])


def claim_markdown(
    exhibit: Exhibit,
    stated: Claim,
    finding: Finding,
    beside: Finding | None = None,
    form: Form = "full",
) -> str:
    """Write a claim for the page: verdict, place, claim, the number in bold type, and reason.

    `beside` is what the other form measured.
    """
    place = exhibit.place(stated)
    extent = stated.extent or exhibit.extent
    where = f"{place}, {extent}" if place and extent else place or "our own check"
    badge = f"{_BADGES[stated.verdict(finding)]} :gray-badge[{where}]"
    sentences = _sentences(stated, finding, f"**{_sentence(finding.measured)}**")
    if beside is not None:
        verdict = stated.verdict(beside)
        agrees = "" if verdict == stated.verdict(finding) else f"{capital(verdict)}. "
        number = "the same." if beside.measured == finding.measured else _sentence(beside.measured)
        sentences.insert(2, f"In the {form} form: {agrees}{number}")
    text = "  \n".join(sentences)
    return f"{badge} {_raised(text)}"


def _raised(text: str) -> str:
    """Write powers such as n^(1/2) as a formula: with its base, from which no line breaks it."""
    return re.sub(
        r"([\w²³()]*)\^(?:\(((?:[^()]|\([^()]*\))*)\)|(−?[\w.]*\w))",
        lambda match: rf"$\mathrm{{{match[1]}}}^{{{match[2] or match[3]}}}$",
        text,
    )


def _sentences(stated: Claim, finding: Finding, measured: str) -> list[str]:
    """List what is said, what was measured, and the reason of what does not hold."""
    sentences = [_sentence(stated.says), _sentence(f"Measured: {measured}")]
    if stated.verdict(finding) == ClaimVerdict.HOLDS:
        return sentences
    return [*sentences, _sentence(f"Why: {stated.because or 'not known'}")]


def _sentence(text: str) -> str:
    return text if text.endswith((".", ".**")) else f"{text}."


def made(result: Result, stored: Result | None = None) -> str:
    """Name a table's origin; for a new one also whether the stored numbers came out again."""
    by = ", ".join(f"{package} {version}" for package, version in result.versions.items())
    text = f"{result.form.capitalize()} form, {time_of(result)}, made by {by}."
    if stored is not None and result is not stored:
        if list(result.table) == list(stored.table):
            return f"{text} The stored numbers came out again, to the last digit."
        return f"{text} Not equal to the stored numbers to the last digit."
    if stored is not None and dict(stored.versions) != versions():
        text += " These are stored numbers of other versions."
    return text


def time_of(result: Result) -> str:
    """Say how long a result took.

    Examples
    --------
    >>> time_of(Result("full", [], 372.0, "", {}))
    '6 min'
    """
    if result.seconds >= 120:
        return f"{result.seconds / 60:.0f} min"
    return f"{result.seconds:.0f} s" if result.seconds >= 0.5 else "under 1 s"


def commands(key: str) -> str:
    """Write the commands that run an exhibit, in its quick form and in full."""
    command = f"python -m engine exhibit {key}"
    return f"{command} --out results\n{command} --full --executor processes:8 --out results"
