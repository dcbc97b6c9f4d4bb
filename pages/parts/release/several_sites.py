"""Publish for several sites: write their plan, follow their messages, open what they made."""

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
from engine.language.grammar import capital, escape
from engine.release import request
from engine.release.captions import headline
from engine.sites import centre, messages, studies, words
from engine.sites.folder import Folder
from engine.sites.plan import SitePlan
from engine.sites.protocol import Protocol
from engine.sites.signing import Key, Scheme, key_of
from engine.sites.studies import SiteEntry
from engine.topics.release import charts
from engine.topics.sites import site_table
from engine.topics.sites.site_table import SiteRow
from pages.parts import sites
from pages.parts.release.cards import Choice
from pages.shared.frame import code_fold, controls, layout, timed
from pages.shared.server import visitors
from pages.shared.state import session
from pages.shared.uploads.facts import in_short

_PARTS = {"plan": "Write a plan", "follow": "Follow a run", "open": "Open a finished run"}
_LOOK_SECONDS = 3.0
_MAX_FILE = 50  # MB


def show(choice: Choice) -> None:
    """One of three: before a run, during it, and afterwards."""
    st.markdown("Each site keeps its file and sends noised messages. Whoever has all of them makes "
                "the release. The chapter *Three hospitals, one afternoon* goes through it.")
    part = st.segmented_control("What to do", list(_PARTS), default="plan", key="sites_part",
                                format_func=_PARTS.__getitem__, label_visibility="collapsed")
    with layout.user_errors():
        try:
            {"plan": _plan, "follow": _follow, "open": _open}[part or "plan"](choice)
        except InputError as problem:
            st.error(controls.message(problem), icon=":material/block:")


# -- before a run ----------------------------------------------------------------------------------


def _plan(choice: Choice) -> None:
    rows, facts = _rows(), session.source(choice.task).facts
    st.markdown(f"Bounds and times as on screen: {in_short(facts)}. Bring a file of your own to "
                "have its columns and facts in the plan; it stays here.")
    is_summed = st.toggle(
        "Masked sums", key="plan_sums", help="Sites add the noise in shares and mask their "
        "messages, so that only the sum can be read: nearly as little noise as at one trusted "
        "centre. All but one of the sites are relied on.")
    if is_summed:
        choice.mechanism.noised_by(NoisePlace.SUMS)  # which refuses what sends anything else
    table = st.data_editor(
        [{"Site": studies.site_name(row.name), capital(facts.people): row.n_curves,
          "ε": row.epsilon, "Key": "", **({"Pads": ""} if is_summed else {})} for row in rows],
        num_rows="dynamic", hide_index=True, key=f"plan_table_{digest((rows, is_summed))}",
        column_config={"Key": st.column_config.TextColumn(
            help="What “site-key” printed at this site." + (
                "" if is_summed else " Leave all empty to share one secret.")),
            "Pads": st.column_config.TextColumn(
                help="What “site-key” printed after it: from these the masks are agreed on.")})
    name = st.text_input("Name of the release", "study", key="plan_name", max_chars=60)
    origin = facts.origin or st.text_input("Where the bounds come from", key="plan_origin",
                                           placeholder="e.g. national growth chart, 2019")
    shared = "" if is_summed else st.text_input(
        "Shared secret: what “site-key --shared” printed", key="plan_shared",
        placeholder="64 hexadecimal digits")
    if not origin:
        st.markdown("State where the bounds come from: never from the data.")
        return
    study = _study(choice, table, name, str(origin), shared.strip(), is_summed)
    st.download_button("Study (JSON)", json.dumps(study, ensure_ascii=False, indent=1),
                       "study.json", "application/json", icon=":material/edit_note:",
                       on_click="ignore", key="plan_study")
    required = ("key", "pads") if is_summed else ("key",)
    if not all(part in site for site in study["sites"] for part in required):
        st.markdown("A plan with masked sums needs what “site-key” printed at every site: its key "
                    "and its pads." if is_summed else
                    "A plan needs a key of every site, or the shared secret’s line above. From the "
                    "study, `python -m engine plan-sites study.json --key FILE` makes the plan, "
                    "too.")
        return
    plan = _planned(study)
    st.download_button("Plan (JSON)", plan.to_bytes(), "plan.json", "application/json",
                       icon=":material/handshake:", type="primary", on_click="ignore",
                       key="plan_plan")
    st.markdown("\n".join(f"* {escape(line.strip())}" for line in words.summary(plan)))
    layout.table(words.budgets_table(plan))
    st.markdown("What each site installs and types:")
    st.code(words.commands(plan), language="bash")


def _rows() -> tuple[SiteRow, ...]:
    """The table of *Decide*; three sites to start from where there is only one."""
    rows = tuple(row for row in sites.rows() if row.included)
    return rows if len(rows) > 1 else site_table.PRESETS["mixed"].rows


def _study(choice: Choice, table: list[dict[str, Any]], name: str, origin: str, shared: str,
           is_summed: bool) -> dict[str, Any]:
    """The study of the table, about data as those on screen."""
    source, mechanism = session.source(choice.task), choice.mechanism
    people = capital(source.facts.people)
    entries = [SiteEntry(str(row["Site"] or ""), int(row[people] or 0),
                         Budget(float(row["ε"] or 0), mechanism.delta(int(row[people] or 1)).value),
                         str(row.get("Key") or shared).strip(), str(row.get("Pads") or "").strip())
               for row in table]
    has_own = is_summed or any(row.get("Key") for row in table)
    honest = max(len(entries) - 1, 1) if is_summed else 0
    return studies.study(source, mechanism, entries, name, Scheme.ED25519 if has_own else
                         Scheme.HMAC, _reading(choice, origin), honest)


def _reading(choice: Choice, origin: str) -> Mapping[str, Any] | None:
    """How one's own file was read, so that every site's is; else usual names and these facts."""
    source = session.source(choice.task)
    file = code_fold.own_file(choice.task) if source.facts.is_upload else None
    plain = None if file is None else request.to_plain(source, choice.mechanism, choice.budget,
                                                       file)
    if plain is not None and "data" in plain:
        data = {key: value for key, value in plain["data"].items() if key != "file"}
        columns = {role: column for role, column in data["reading"]["columns"].items()
                   if role != "site"}
        return {**data, "reading": {**data["reading"], "columns": columns}}
    if source.facts.origin and source.facts.observations_per_curve:
        return None
    return studies.usual_reading(source.facts, origin, max(
        row.n_observations_per_curve for row in _rows()))


def _planned(study: Mapping[str, Any]) -> SitePlan:
    """The plan of a study; its random number stays while the same visitor looks at it."""
    cached, text = st.session_state.get("site_plan"), json.dumps(study, sort_keys=True)
    if cached is None or cached[0] != text:
        with st.spinner("Working out the noise of every message …"):
            cached = st.session_state.site_plan = text, SitePlan.planned(study)
    plan: SitePlan = cached[1]
    return plan


# -- during a run ----------------------------------------------------------------------------------


def _follow(choice: Choice) -> None:
    if not visitors.may_bring_files():
        st.info("Folders are read on a machine of your own only.", icon=":material/lock:")
        return
    folder = st.text_input("Folder through which messages travel", key="follow_folder",
                           placeholder="/mnt/shared/through")
    plan_file = st.text_input("File of the plan", "plan.json", key="follow_plan")
    secret = _secret("follow")
    if not folder:
        st.markdown("Name the folder that all sites share, and the plan.")
        return
    plan = SitePlan.read(entrance.text_of(plan_file, "plan"))
    if not Path(folder).is_dir():
        raise InputError("There is no such folder.", field="folder")
    there = Folder(Path(folder), plan)

    def look() -> None:
        """What has come since the last look."""
        with layout.user_errors():
            try:
                _progress(Protocol(plan), there, secret)
            except InputError as problem:
                st.error(controls.message(problem), icon=":material/gpp_bad:")
    is_whole = len(there.received()) == len(Protocol(plan).turns)
    timed.run(look, None if is_whole else _LOOK_SECONDS)


def _progress(protocol: Protocol, there: Folder, key: Key | None) -> None:
    """How far the run is, and all messages so far."""
    received = there.received()
    transcript = _checked(protocol, received, key)
    st.progress(len(transcript) / len(protocol.turns), text=words.turn_of(protocol, transcript))
    if there.unfinished:
        st.markdown(f"Not whole yet: {escape(', '.join(there.unfinished))}.")
    if len(transcript) == len(protocol.turns):
        _result(protocol, received, transcript)
    elif transcript:
        layout.table(words.messages_table(protocol, transcript))


# -- afterwards ------------------------------------------------------------------------------------


def _open(choice: Choice) -> None:
    if not visitors.may_bring_files():
        st.info("Files are opened on a machine of your own only.", icon=":material/lock:")
        return
    file = st.file_uploader("The transcript of a run: transcript.json", "json", key="open_run",
                            max_upload_size=_MAX_FILE)
    secret = _secret("open")
    if file is None:
        return
    try:
        text = file.getvalue().decode()
    except UnicodeDecodeError:
        raise InputError("This file is no transcript.", field="transcript") from None
    protocol, received = centre.from_transcript(text)
    _result(protocol, received, _checked(protocol, received, secret))


def _secret(part: str) -> Key | None:
    """The shared secret, to check signatures; it is kept nowhere."""
    text = st.text_input("Shared secret: the content of its file, to check signatures",
                         type="password", key=f"{part}_secret")
    return key_of(text) if text.strip() else None


def _checked(protocol: Protocol, received: list[messages.Message], key: Key | None) -> Any:
    """All messages, checked; signatures where they can be."""
    unsigned = key is None and protocol.plan.scheme is Scheme.HMAC
    if unsigned and received:
        st.warning("Signatures are not checked: that needs the shared secret.",
                   icon=":material/key_off:")
    return messages.checked(protocol, received, key, unsigned)


def _result(protocol: Protocol, received: list[messages.Message],
            transcript: Mapping[int, Any]) -> None:
    """The release, what each site was charged, and what the centre saw."""
    release = centre.released(protocol, transcript)
    st.subheader(f"Released: {escape(release.name)}", anchor=False)
    st.markdown(f"**{escape(headline(release))}**")
    if release.axis:
        layout.draw(charts.chart(release), "sites_released",
                    charts.height(release, 300), charts.height(release, 260))
    else:
        st.metric(release.value, f"{float(next(iter(release.columns.values()))[0]):.4g}")
    st.markdown("**What each site’s people were charged**")
    layout.table(words.budgets_table(protocol.plan))
    st.markdown("**What the centre saw**: noised numbers, and nothing else")
    layout.table(words.messages_table(protocol, transcript), height=280)
    with st.container(horizontal=True):
        for name, content in centre.all_files(protocol, release, received).items():
            st.download_button(name, content, name, on_click="ignore", key=f"sites_get_{name}")
