"""Contents of the drawer of Publish: ledger, attacker, cost, limits, formula and code."""

from __future__ import annotations

from functools import partial

import streamlit as st

from engine.core.errors import InputError
from engine.language.grammar import escape
from engine.release import checked_files, sentences
from engine.release.certified import ReleaseCost
from engine.release.checked_files import FileFinding
from engine.release.ledger import Ledger
from engine.topics.release import words
from pages.parts.release import book, several_sites
from pages.parts.release.choice import Choice, previewed
from pages.shared.cards import odds as odds_card
from pages.shared.frame import controls
from pages.shared.frame.drawer import Detail
from pages.shared.server import visitors


def of(choice: Choice, cost: ReleaseCost | None) -> list[Detail]:
    """List all details available at a step; `cost` is known once the data are there."""
    always = [
        Detail(
            "release_ledger",
            "Ledger and total budget",
            partial(book.ledger_of_choice, choice, cost),
        ),
        Detail("release_check", "Check published files", check_published),
        Detail(
            "real_sites",
            "Several sites, each with its own file",
            partial(several_sites.show, choice),
        ),
        Detail("release_limits", "What a release covers", lambda: st.markdown(sentences.LIMITS)),
    ]
    if cost is None:
        return always
    return [
        *always,
        Detail(
            "release_attacker",
            "Attacker",
            lambda: odds_card.card(choice.chosen.facts, cost.certified_spends, choice.chosen.sizes),
            ("why", "trade_off", "several"),
        ),
        Detail("release_warnings", "Warnings to expect", partial(_warnings, choice, cost)),
        Detail("release_cost", "How the cost is worked out", partial(book.accounting, cost)),
        Detail("release_formula", "Formula and source", choice.formula),
        Detail("release_code", "Code", choice.code, ("publish_code",), is_fold=True),
    ]


def _warnings(choice: Choice, cost: ReleaseCost) -> None:
    """List the warnings that simulated releases carry."""
    try:
        carried = words.carried(previewed(choice, choice.chosen, cost))
    except InputError as problem:
        st.info(controls.message(problem), icon=":material/info:")
        return
    st.markdown("\n".join(f"* {text}" for text in carried) or "No simulated release has a warning.")


# -- published files, checked: against the ledger of this machine, and against each other ----------


_ICONS = {True: ":material/check_circle:", False: ":material/cancel:", None: ":material/help:"}


def check_published() -> None:
    """Ask for the files of a release, and report what they show."""
    st.markdown(
        "The .zip of a release, or its files with guarantee.json among them. They are "
        "compared with what the ledger of this machine makes again, and with each other."
    )
    chosen = st.file_uploader(
        "Published files",
        ["zip", "json", "csv", "html", "svg"],
        accept_multiple_files=True,
        key="check_files",
        max_upload_size=checked_files.MAX_BYTES // 1_000_000,
    )
    if not chosen:
        return
    book = Ledger() if visitors.may_bring_files() else None
    with controls.refusals():
        folders = checked_files.unpacked({file.name: file.getvalue() for file in chosen})
        for folder, files in folders.items():
            if len(folders) > 1:
                st.markdown(f"**{escape(folder)}**")
            _findings(checked_files.check(files, book))


def _findings(findings: list[FileFinding]) -> None:
    """Show failed checks first, in one box; then all the rest."""
    verdicts = {finding.holds for finding in findings}
    if False in verdicts:
        st.error("**These files are not what was released.**", icon=_ICONS[False])
    elif None in verdicts:
        st.info(
            "**These files fit together.** This machine does not know if they were released.",
            icon=_ICONS[None],
        )
    else:
        st.success("**These files are what was released.**", icon=_ICONS[True])
    st.markdown(
        "\n".join(
            f"* {_ICONS[finding.holds]} {escape(finding.text)}"
            for finding in sorted(findings, key=lambda finding: finding.holds is not False)
        )
    )
