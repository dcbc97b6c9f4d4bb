"""What is said about exhibits: how many claims hold, and each with its number."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.papers.exhibits import Claim, Finding, Result, versions

TITLE = "Do the published results replicate?"
SOURCE = ("Simulated and public data",
          "Simulated as in the papers, or already public. No private data are used.")
UNIT = ("One person’s data, as each document has it",
        "Unit of protection: replacing one curve, observation, record or row hardly changes what "
        "is published. The text beside each figure or table says which.")
BUDGETS = "ε and δ as in the document"


def overview(holding: int, total: int) -> str:
    """How many claims of all exhibits hold.

    Parameters
    ----------
    holding, total : int
        Claims that hold, and all of them.
    """
    failing = total - holding
    text = f"**{holding} of {total} claims** come out as the documents say."
    if failing:
        text += (f" {failing} do{'es' * (failing == 1)} not: each stands with the reason, such as "
                 "a misprint or noise that cannot have been as stated.")
    return text


def count(verdicts: Sequence[bool]) -> str:
    """How many claims of one exhibit hold.

    Parameters
    ----------
    verdicts : sequence of bool
        Of each claim, whether it holds.

    Examples
    --------
    >>> count([True, False, True])
    '2 of 3 hold'
    """
    return f"{sum(verdicts)} of {len(verdicts)} hold" if verdicts else "no claims"


def claim(stated: Claim, finding: Finding) -> str:
    """One line: tick or cross, what the paper says, what was measured, and why it fails.

    Parameters
    ----------
    stated : Claim
        What the paper says.
    finding : Finding
        What was measured.

    Returns
    -------
    str
        Plain text.
    """
    return " ".join(["✓" if finding.holds else "✗", *_sentences(stated, finding, finding.measured)])


def claim_markdown(stated: Claim, finding: Finding) -> str:
    """The same for the page: the verdict in words, the claim, the number in bold type.

    Parameters
    ----------
    stated, finding
        As for `claim`.
    """
    badge = ":green-badge[:material/check: holds]" if finding.holds else \
        ":orange-badge[:material/close: does not hold]"
    text = "  \n".join(_sentences(stated, finding, f"**{_sentence(finding.measured)}**"))
    return f"{badge} {_raised(text)}"


def _raised(text: str) -> str:
    """Exponents such as that of n^(1/2) as a formula, where they can be raised."""
    return re.sub(r"\^(?:\(((?:[^()]|\([^()]*\))*)\)|(−?[\w.]*\w))",
                  lambda match: f"$^{{{match[1] or match[2]}}}$", text)


def _sentences(stated: Claim, finding: Finding, measured: str) -> list[str]:
    """What is said, what was measured, and the reason of what does not hold."""
    sentences = [_sentence(stated.says), _sentence(f"Measured: {measured}")]
    if finding.holds:
        return sentences
    return [*sentences, _sentence(f"Why: {stated.fails_because or 'not known'}")]


def _sentence(text: str) -> str:
    return text if text.endswith((".", ".**")) else f"{text}."


def made(result: Result, stored: Result | None = None) -> str:
    """Where a table is from; of a new one also whether the stored numbers came out again.

    Parameters
    ----------
    result : Result
        Whose table is shown.
    stored : Result, optional
        That of the repository, in the same form.
    """
    by = ", ".join(f"{package} {version}" for package, version in result.versions.items())
    seconds = f"{result.seconds:.0f}" if result.seconds >= 0.5 else "under 1"
    text = f"{result.form.capitalize()} form, {seconds} s, made by {by}."
    if stored is not None and result is not stored:
        return f"{text} {_compared(result, stored)}"
    if stored is not None and dict(stored.versions) != versions():
        text += " These are stored numbers of other versions."
    return text


def _compared(result: Result, stored: Result) -> str:
    if list(result.table) == list(stored.table):
        return "The stored numbers came out again, to the last digit."
    return "Not equal to the stored numbers to the last digit."


def commands(key: str) -> str:
    """The commands that run an exhibit, in its quick form and in full.

    Parameters
    ----------
    key : str
        Such as "paper/exhibit".
    """
    command = f"python -m engine exhibit {key}"
    return f"{command} --out results\n{command} --full --executor processes:8 --out results"
