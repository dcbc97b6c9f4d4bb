"""The result of a release, with its files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from string import ascii_lowercase

import streamlit as st

from engine.answers import card as answers_card
from engine.answers.survival import card as counts_card
from engine.core.errors import InputError
from engine.exports.one_card import of_files
from engine.language import tags
from engine.language.grammar import escape
from engine.language.numbers import number
from engine.release import captions, sentences
from engine.release import files as release_files
from engine.release.published import Published
from engine.topics.release import charts
from pages.shared.cards import answers as answer_cards
from pages.shared.cards import odds as odds_card
from pages.shared.cards import share
from pages.shared.cards import survival as survival_cards
from pages.shared.frame import controls, layout

_FILES = {
    "release.csv": ("Numbers (CSV)", "text/csv", ":material/table:"),
    "release.svg": ("Figure (SVG)", "image/svg+xml", ":material/image:"),
    "release.html": ("Report (HTML)", "text/html", ":material/article:"),
    "guarantee.json": ("Guarantee card (JSON)", "application/json", ":material/verified:"),
    "counts.csv": ("Noised counts (CSV)", "text/csv", ":material/table:"),
    "entries.csv": ("Noised entries (CSV)", "text/csv", ":material/login:"),
    "at_risk.csv": ("Numbers at risk (CSV)", "text/csv", ":material/groups:"),
    "time_in_range.csv": ("Time in range (CSV)", "text/csv", ":material/stacked_bar_chart:"),
    "by_time.csv": ("Time in range by time (CSV)", "text/csv", ":material/stacked_bar_chart:"),
    "datapackage.json": ("Data package (JSON)", "application/json", ":material/package_2:"),
    "citation.txt": ("Citation", "text/plain", ":material/format_quote:"),
    "check.html": ("Check of these files", "text/html", ":material/fact_check:"),
    "again.json": ("Settings (JSON)", "application/json", ":material/replay:"),
}


def keep(make: Callable[[], Iterable[Published]]) -> bool:
    """Show releases, one for each group, or keep the reason against them for its place.

    Releases of groups before a refused one are shown: the ledger holds them.
    """
    made: list[Published] = []
    with layout.user_errors():
        try:
            made.extend(make())
            return True
        except InputError as problem:
            st.session_state.release_problem = problem
        finally:
            if made:
                st.session_state.released = tuple(made)
    return False


def suffix_of(index: int) -> str:
    """Return the suffix of one of several groups: none for the first, then _b, _c …"""
    return f"_{ascii_lowercase[index]}" if index else ""


def show() -> None:
    """Show the last release of this visit, for every published group, with its files."""
    releases: tuple[Published, ...] = st.session_state.get("released", ())
    if len(releases) > 1:
        with st.container(border=True):
            st.header("Released: each group on its own", anchor=False)
            _compared(releases)
            st.download_button(
                "All files of all groups (.zip)",
                release_files.archive(*releases),
                "release.zip",
                "application/zip",
                on_click="ignore",
                type="primary",
                icon=":material/folder_zip:",
                key="release_get_groups",
            )
    for k, release in enumerate(releases):
        _show(release, suffix_of(k))


def _compared(releases: Sequence[Published]) -> None:
    """Compare the groups from published results alone, or say why that is impossible."""
    try:
        lines = answers_card.comparison([release.card for release in releases]).sentences()
    except InputError as problem:
        st.info(controls.message(problem), icon=":material/info:")
        return
    st.markdown("\n".join(f"* {escape(line)}" for line in lines))


def _show(release: Published, suffix: str) -> None:
    with st.container(border=True):
        st.header(f"Released: {escape(release.name)}", anchor=False)
        st.badge(
            f"Released {release.at[:10]} · {tags.budget_chip(release.cost.budget)}",
            icon=":material/verified:",
            color="green",
            help="Published with this much protection and written in the ledger. It may be shared.",
        )
        _picture(release, suffix)
        st.markdown(
            "The noised numbers are kept in the ledger, so these files can be produced "
            "again at no cost. The noise itself cannot be drawn again."
        )
        _take_away(release, suffix)
        _answers(release, suffix)
        layout.folded(
            "The guarantee, and the same settings again",
            f"release_card{suffix}",
            lambda: _guarantee(release, suffix),
        )


def _picture(release: Published, suffix: str) -> None:
    """Show the error, and the curve with its band or the number."""
    st.markdown(f"**{escape(captions.headline(release))}**")
    warnings = sentences.warnings(release.uncertainty)
    layout.warned(map(escape, warnings[:1]))  # the worst; all of them are in the guarantee card
    if not release.axis:
        st.metric(release.value, number(float(next(iter(release.columns.values()))[0]), 4))
        return
    chart = charts.chart(release)
    layout.draw(
        chart, f"released{suffix}", charts.height(release, 340), charts.height(release, 280)
    )
    if (ranges := charts.ranges(release)) is not None:
        layout.draw(ranges, f"released_ranges{suffix}", 170, 150)
    for sentence in (*warnings[1:], *captions.explained(release)):
        st.markdown(f":small[{escape(sentence)}]")
    if release.uncertainty.checks:
        layout.folded(
            "Stated facts and what was measured of them",
            f"release_checks{suffix}",
            lambda: st.table(
                [
                    {name.replace("_", " ").capitalize(): text for name, text in row.items()}
                    for row in release.uncertainty.checks
                ]
            ),
        )
    layout.folded(
        "Numbers behind this picture",
        f"release_numbers{suffix}",
        lambda: layout.in_words("What is published", chart),
    )


def _answers(release: Published, suffix: str) -> None:
    """Show the answers of the released curve, from its card alone."""
    if counts_card.is_of_counts(release.card):
        layout.folded(
            "Ask the released curve",
            f"release_answers{suffix}",
            lambda: survival_cards.table(counts_card.read(release.card)),
        )
    if "answers" not in release.card:
        return
    layout.folded(
        "Ask the released curve",
        f"release_answers{suffix}",
        lambda: answer_cards.table(answers_card.read(release.card)),
    )
    layout.folded(
        "Synthetic people drawn from the release",
        f"release_synthetic{suffix}",
        lambda: answer_cards.synthetic_section(
            answers_card.read(release.card),
            release.card["release"]["name"],
            release.cost.certified,
            1,
            f"release_synthetic{suffix}",
        ),
    )


def _take_away(release: Published, suffix: str) -> None:
    with st.container(horizontal=True):
        st.download_button(
            "All files (.zip)",
            release_files.archive(release),
            "release.zip",
            "application/zip",
            on_click="ignore",
            icon=":material/folder_zip:",
            type="primary",
            key=f"release_get_all{suffix}",
        )
        files = release_files.all_files(release)
        for file, content in files.items():
            label, kind, icon = _FILES[file]
            st.download_button(
                label,
                content,
                file,
                kind,
                on_click="ignore",
                icon=icon,
                key=f"release_get_{file}{suffix}",
            )
        if release.is_curve:
            share.button(f"release{suffix}", partial(of_files, files), "release")


def _guarantee(release: Published, suffix: str) -> None:
    """Show the odds, the guarantee in words, and the command for a new release."""
    with st.columns([5, 7])[0]:
        odds_card.face(release.facts, release.cost.certified_spends, f"odds_released{suffix}")
    st.markdown(
        "\n".join(
            f"* **{heading}:** {escape(text)}"
            for heading, text in release_files.guarantee_rows(release).items()
            if heading != "Odds"
        )
    )
    name_it = "; write the name of your file into it first" if release.facts.is_upload else ""
    st.markdown(
        "A new release with the same settings, new noise, and charged again. *Settings (JSON)* "
        f"above saves them as `again.json`{name_it}:"
    )
    st.code("python -m engine release again.json --yes", language="bash")
