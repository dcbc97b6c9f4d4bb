"""Publish for several sites: write their study, follow offers and messages, open what they made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from engine.core import entrance
from engine.core.enumerations import NoisePlace
from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.types import Budget
from engine.language import tags
from engine.language.grammar import capital, escape
from engine.release import request
from engine.release.captions import headline
from engine.sites import agreement, centre, drafts, partners, words
from engine.sites.centre import SiteRun
from engine.sites.drafts import SiteEntry
from engine.sites.folder import Folder
from engine.sites.plan import SitePlan
from engine.sites.protocol import Protocol
from engine.sites.signing import Keyring, Scheme, key_of
from engine.sites.study import SiteStudy
from engine.topics.release import charts
from engine.topics.sites import site_table
from engine.topics.sites.site_table import SiteRow
from pages.parts import site_editor
from pages.parts.release.choice import Choice
from pages.shared.frame import code_fold, controls, layout, timed
from pages.shared.server import visitors
from pages.shared.state import session

_PARTS = {"plan": "Write a study", "follow": "Follow a run", "open": "Open a finished run"}
_LOOK_SECONDS = 3.0
_MAX_FILE = 50  # MB


def show(choice: Choice) -> None:
    """Show the state before a run, during it or afterwards."""
    st.markdown(
        "Each site keeps its file and sends noised messages. Whoever has all of them makes "
        "the release. The chapter *Three hospitals, one afternoon* goes through it."
    )
    part = st.segmented_control(
        "What to do",
        list(_PARTS),
        default="plan",
        key="sites_part",
        format_func=_PARTS.__getitem__,
        label_visibility="collapsed",
    )
    with layout.user_errors(), controls.refusals(":material/block:"):
        {"plan": _plan, "follow": _follow, "open": _open}[part or "plan"](choice)


# -- before a run ----------------------------------------------------------------------------------


def _plan(choice: Choice) -> None:
    rows, facts = _rows(), session.source(choice.task).facts
    bounds = controls.plain(tags.bounds_tag(facts))
    st.markdown(
        f"Bounds and times as on screen: {bounds}. Bring a file of your own to "
        "have its columns and facts in the plan; it stays here."
    )
    is_summed = st.toggle(
        "Masked sums",
        key="plan_sums",
        help="Sites add the noise in shares and mask their "
        "messages, so that only the sum can be read: nearly as little noise as at one trusted "
        "centre. All but one of the sites are relied on.",
    )
    if is_summed:
        choice.mechanism.noised_by(NoisePlace.SUMS)  # refuses a method that sends anything else
    table = st.data_editor(
        [
            {
                "Site": drafts.site_name(row.name),
                capital(facts.people): row.n_curves,
                "ε": row.epsilon,
            }
            for row in rows
        ],
        num_rows="dynamic",
        hide_index=True,
        key=f"plan_table_{digest((rows, is_summed))}",
    )
    name = st.text_input("Name of the release", "study", key="plan_name", max_chars=60)
    origin = facts.origin or st.text_input(
        "Where the bounds come from",
        key="plan_origin",
        placeholder="e.g. national growth chart, 2019",
    )
    is_shared = not is_summed and st.toggle(
        "One secret for all sites",
        key="plan_shared",
        help="Needs no library. Each site could "
        "write in another’s name, which the other would notice. Without it each has its own key.",
    )
    if not origin:
        st.markdown("State where the bounds come from: never from the data.")
        return
    stated = _stated(choice, table, name, str(origin), is_summed, is_shared)
    study = _checked(stated)
    st.download_button(
        "Study (JSON)",
        json.dumps(study.plain, ensure_ascii=False, indent=1),
        "study.json",
        "application/json",
        icon=":material/edit_note:",
        type="primary",
        on_click="ignore",
        key="plan_study",
    )
    st.markdown("\n".join(f"* {escape(line.strip())}" for line in words.summary(study)))
    layout.table(words.budgets_table(study))
    st.markdown(
        "Give the study to all sites. Each makes an offer; study and offers are the plan, "
        "which each signs off. What everybody types:"
    )
    st.code(words.commands(study), language="bash")


def _rows() -> tuple[SiteRow, ...]:
    """Return the table of *Decide*, or three sites to start from if it has only one."""
    rows = tuple(row for row in site_editor.rows() if row.included)
    return rows if len(rows) > 1 else site_table.PRESETS["mixed"].rows


def _stated(
    choice: Choice,
    table: list[dict[str, Any]],
    name: str,
    origin: str,
    is_summed: bool,
    is_shared: bool,
) -> dict[str, Any]:
    """Write the study of the table, about data like those on screen."""
    source, mechanism = session.source(choice.task), choice.mechanism
    people = capital(source.facts.people)
    entries = [
        SiteEntry(
            str(row["Site"] or ""),
            int(row[people] or 0),
            Budget(float(row["ε"] or 0), mechanism.delta(int(row[people] or 1)).value),
        )
        for row in table
    ]
    honest = max(len(entries) - 1, 1) if is_summed else 0
    return drafts.study(
        source,
        mechanism,
        entries,
        name,
        Scheme.HMAC if is_shared else Scheme.ED25519,
        _reading(choice, origin),
        honest,
    )


def _reading(choice: Choice, origin: str) -> Mapping[str, Any] | None:
    """Say how one's own file was read, as every site's is; else usual names and these facts."""
    source = session.source(choice.task)
    file = code_fold.own_file(choice.task) if source.facts.is_upload else None
    plain = (
        None if file is None else request.to_plain(source, choice.mechanism, choice.budget, file)
    )
    if plain is not None and "data" in plain:
        data = {key: value for key, value in plain["data"].items() if key != "file"}
        columns = {
            role: column for role, column in data["reading"]["columns"].items() if role != "site"
        }
        return {**data, "reading": {**data["reading"], "columns": columns}}
    if source.facts.origin and source.facts.observations_per_curve:
        return None
    return drafts.usual_reading(
        source.facts, origin, max(row.n_observations_per_curve for row in _rows())
    )


def _checked(stated: Mapping[str, Any]) -> SiteStudy:
    """Read the study; keep it while the same visitor looks at it."""
    cached, text = st.session_state.get("site_study"), json.dumps(stated, sort_keys=True)
    if cached is None or cached[0] != text:
        with st.spinner("Working out the noise of every message …"):
            cached = st.session_state.site_study = text, SiteStudy.of(stated)
    return cached[1]


# -- during a run ----------------------------------------------------------------------------------


def _follow(choice: Choice) -> None:
    if not visitors.may_bring_files():
        st.info("Folders are read on a machine of your own only.", icon=":material/lock:")
        return
    folder = st.text_input(
        "Folder through which offers and messages travel",
        key="follow_folder",
        placeholder="/mnt/shared/through",
    )
    study_file = st.text_input("File of the study", "study.json", key="follow_study")
    if not folder:
        st.markdown("Name the folder that all sites share, and the study.")
        return
    if not Path(folder).is_dir():
        raise InputError("There is no such folder.", field="folder")
    study = _checked(entrance.json_of(entrance.text_of(study_file, "study"), "study"))
    there, ring = Folder(Path(folder)), _ring(study.scheme, "follow")

    def look() -> None:
        """Show what has come since the last look."""
        with layout.user_errors(), controls.refusals(":material/gpp_bad:"):
            _progress(study, there, ring)

    plan = _plan_of(study, there)
    is_whole = plan is not None and len(there.received()) == len(Protocol(plan).turns)
    timed.run(look, None if is_whole else _LOOK_SECONDS)


def _plan_of(study: SiteStudy, there: Folder) -> SitePlan | None:
    """Plan from the offers in the folder, as anybody can; None until all have arrived."""
    offers = there.offers()
    names = {offer.site for offer in offers}
    return (
        SitePlan.of(study, offers)
        if all(member.name in names for member in study.members)
        else None
    )


def _progress(study: SiteStudy, there: Folder, ring: Keyring | None) -> None:
    """Show who has made an offer and signed off, how far the run is, and all messages so far."""
    received, sign_offs, plan = there.received(), there.sign_offs(), _plan_of(study, there)
    if there.unfinished:
        st.markdown(f"Not whole yet: {escape(', '.join(there.unfinished))}.")
    offers = {offer.site for offer in there.offers()}
    layout.table(words.checklist(study, offers, sign_offs, plan))
    if plan is None:
        st.markdown("The plan is made when all offers are there.")
        return
    if ring is not None:
        agreement.check_offers(plan, ring)
    if agreement.missing(plan, sign_offs):
        st.download_button(
            "Plan (JSON)",
            plan.to_bytes(),
            "plan.json",
            "application/json",
            icon=":material/handshake:",
            on_click="ignore",
            key="follow_plan",
        )
        st.markdown("\n".join(f"* {escape(line.strip())}" for line in words.of_plan(plan)))
        return
    run = SiteRun(plan, tuple(sign_offs), tuple(received))
    transcript, turns = run.checked(ring), run.protocol.turns
    st.progress(len(transcript) / len(turns), text=words.turn_of(run.protocol, transcript))
    if len(transcript) == len(turns):
        _result(run, transcript)
    elif transcript:
        layout.table(words.messages_table(run.protocol, transcript))


# -- afterwards ------------------------------------------------------------------------------------


def _open(choice: Choice) -> None:
    if not visitors.may_bring_files():
        st.info("Files are opened on a machine of your own only.", icon=":material/lock:")
        return
    file = st.file_uploader(
        "The transcript of a run: transcript.json",
        "json",
        key="open_run",
        max_upload_size=_MAX_FILE,
    )
    if file is None:
        return
    try:
        text = file.getvalue().decode()
    except UnicodeDecodeError:
        raise InputError("This file is no transcript.", field="transcript") from None
    run = centre.from_transcript(text)
    _result(run, run.checked(_ring(run.plan.study.scheme, "open")))


def _ring(scheme: Scheme, part: str) -> Keyring | None:
    """Ask for the keys that signatures are checked with, and keep them nowhere; None if unnamed."""
    if scheme is Scheme.ED25519:
        path = st.text_input(
            "Address book, to check signatures: its file",
            key=f"{part}_partners",
            placeholder="partners.json",
        )
        ring = partners.read(entrance.text_of(path, "partners")) if path.strip() else None
    else:
        text = st.text_input(
            "Shared secret, to check signatures: the content of its file",
            type="password",
            key=f"{part}_secret",
        )
        ring = Keyring({}, key_of(text)) if text.strip() else None
    if ring is None:
        st.warning(
            "Signatures are not checked: that needs the "
            f"{'address book' if scheme is Scheme.ED25519 else 'shared secret'}.",
            icon=":material/key_off:",
        )
    return ring


def _result(run: SiteRun, transcript: Mapping[int, Any]) -> None:
    """Show the release, the charge of each site, and the centre's view."""
    release = centre.released(run, transcript)
    st.subheader(f"Released: {escape(release.name)}", anchor=False)
    st.markdown(f"**{escape(headline(release))}**")
    if release.axis:
        layout.draw(
            charts.chart(release),
            "sites_released",
            charts.height(release, 300),
            charts.height(release, 260),
        )
    else:
        st.metric(release.value, f"{float(next(iter(release.columns.values()))[0]):.4g}")
    st.markdown("**What each site’s people were charged**")
    layout.table(words.budgets_table(run.plan.study))
    masked = run.plan.study.shares is not None
    st.markdown(
        f"**What the centre saw**: {'masked' if masked else 'noised'} numbers, and nothing else"
    )
    layout.table(words.messages_table(run.protocol, transcript), height=280)
    with st.container(horizontal=True):
        for name, content in centre.all_files(run, release).items():
            st.download_button(name, content, name, on_click="ignore", key=f"sites_get_{name}")
