"""Publication of everybody together, or of each public group of a file on its own."""

from __future__ import annotations

import streamlit as st

from engine.core.lists import shortened
from engine.release.groups import StatedGroups
from engine.sources import Source
from engine.uploads.curves import Upload
from pages.shared.frame import controls

_TOGETHER = "publish_together"  # session key; without it the stated groups are published
_LOOKED_AT = "publish_group"


def of(file: Source) -> tuple[Source, ...]:
    """Return the separate releases: the stated groups, the smallest first; or all people."""
    names = stated(file)
    if not names or st.session_state.get(_TOGETHER):
        return (file,)
    groups = [file.of_group(name) for name in names]
    return tuple(sorted(groups, key=lambda group: group.sizes.n_curves))


def name(group: Source) -> str:
    """Name a group; empty for everybody together."""
    return "" if group.facts.group is None else group.facts.group.name


def released_as(file: Source, group: Source, release: str) -> tuple[Source, str]:
    """Return the people of a release and its name, which links its groups."""
    if not isinstance(file, Upload) or not name(group):
        return group, release
    together = StatedGroups(release, file.groups)
    return together.people(file, name(group)), together.release_name(name(group))


def stated(file: Source | None) -> tuple[str, ...]:
    """Return the public groups of an own file; none if none were stated."""
    return file.groups if isinstance(file, Upload) else ()


def in_short(file: Source) -> str:
    """Say how the groups of a file are used, for the line of a step; empty without any."""
    names = stated(file)
    if not names:
        return ""
    return (
        "groups not used"
        if st.session_state.get(_TOGETHER)
        else f"each group on its own: {_listed(names)}"
    )


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(map(shortened, names))


def choice(file: Source | None) -> None:
    """Choose whether to publish groups on their own; nothing if none were stated."""
    names = stated(file)
    if not names:
        return
    apart, together = f"Each group on its own: {_listed(names)}", "Everybody together"

    def write(chosen: str) -> None:
        st.session_state[_TOGETHER] = chosen == together

    is_together = bool(st.session_state.get(_TOGETHER))
    controls.bound(
        st.selectbox,
        "Who is published",
        together if is_together else apart,
        write,
        "release_who",
        options=[apart, together],
        help="A release for each group, and "
        "whether they differ. Nobody is in two, so their budgets do not add; whoever is "
        "in none is left out. Together, groups are not used.",
    )


def looked_at(groups: tuple[Source, ...]) -> Source:
    """Choose the group that preview, forecast and attacker are about: at first the smallest."""
    requested = st.session_state.get(_LOOKED_AT)
    return next((group for group in groups if name(group) == requested), groups[0])


def look(groups: tuple[Source, ...]) -> None:
    """Choose the group of the preview, if there are several."""
    if len(groups) < 2:
        return

    def write(chosen: str) -> None:
        st.session_state[_LOOKED_AT] = chosen

    controls.bound(
        st.segmented_control,
        "Group in the preview",
        name(looked_at(groups)),
        write,
        "release_group",
        options=[name(group) for group in groups],
        required=True,
    )
