"""Sentences about exhibits: how many claims hold, and each with its number."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.exhibits import Form
from reproductions.exhibits import Claim, Finding, Result, versions

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


def overview(verdicts: Sequence[tuple[Claim, Finding]]) -> str:
    """Count the claims that hold, and apart from these the claims in forms of our own."""
    of_documents, of_ours = (
        [finding.holds for stated, finding in verdicts if stated.is_ours is ours]
        for ours in (False, True)
    )
    failing = of_documents.count(False)
    text = (
        f"**{of_documents.count(True)} of {len(of_documents)} claims** come out as the "
        "documents say."
    )
    if failing:
        text += (
            f" {failing} do{'es' * (failing == 1)} not; the reason stands beside each, such "
            "as a misprint or noise that cannot have been as stated."
        )
    if of_ours:
        text += (
            f"\n\n**{of_ours.count(True)} of our {len(of_ours)} extra checks** pass: with "
            "exact sensitivities, other constants or a repair, or by a second calculation."
        )
    if failing := of_ours.count(False):
        text += (
            f" {failing} do{'es' * (failing == 1)} not; most of these test a method outside its "
            "published setting."
        )
    return text


def count(verdicts: Sequence[bool]) -> str:
    """Count the claims of one exhibit that hold.

    Examples
    --------
    >>> count([True, False, True])
    '2 of 3 hold'
    """
    return f"{sum(verdicts)} of {len(verdicts)} hold" if verdicts else "no claims"


def claim(stated: Claim, finding: Finding) -> str:
    """Write one line: tick or cross, what the paper says, what was measured, and why it fails."""
    return " ".join(["✓" if finding.holds else "✗", *_sentences(stated, finding, finding.measured)])


def claim_markdown(
    stated: Claim, finding: Finding, beside: Finding | None = None, form: Form = "full"
) -> str:
    """Write a claim for the page: the verdict in words, the claim, the number in bold type.

    `beside` is what the other form measured.
    """
    badge = (
        ":green-badge[:material/check: holds]"
        if finding.holds
        else ":orange-badge[:material/close: does not hold]"
    )
    ours = " :gray-badge[our own check]" if stated.is_ours else ""
    sentences = _sentences(stated, finding, f"**{_sentence(finding.measured)}**")
    if beside is not None:
        agrees = (
            ""
            if beside.holds == finding.holds
            else ("It holds. " if beside.holds else "It does not hold. ")
        )
        number = "the same." if beside.measured == finding.measured else _sentence(beside.measured)
        sentences.insert(2, f"In the {form} form: {agrees}{number}")
    text = "  \n".join(sentences)
    return f"{badge}{ours} {_raised(text)}"


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
    if finding.holds:
        return sentences
    return [*sentences, _sentence(f"Why: {stated.fails_because or 'not known'}")]


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
