"""The cards of Verify: every claim, and the part that is on screen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import streamlit as st

from engine import handbook
from engine.topics.audit import claims
from engine.topics.coverage import answer as coverage_topic
from pages.parts.audit import attack, coverage, reuse
from pages.parts.audit.view import Audited
from pages.shared import components
from pages.shared.frame import controls
from pages.shared.state import lab_tasks, links, session

_PUBLISH, _LAB = (Path(__file__).parents[2] / f"{page}.py" for page in ("publish", "lab"))
_PARTS = {"attack": "Attack", "coverage": "Coverage", "reuse": "Reused noise"}


# -- the claims ---------------------------------------------------------------------------------


_ROW = (4, 3, 4, 5, 2)  # widths of claim, proof, test, measurement and button


def claims_table() -> None:
    """Show every claim of the product with its proof, test, measured coverage and attack."""
    with st.container(key="claims", gap="xsmall"):
        heads = ("Claim", "Proof", "Test", "Attack · measured coverage", "")
        with st.container(key="claims_heads"):
            for column, head in zip(st.columns(_ROW), heads, strict=True):
                column.markdown(f":small[{head}]")
        for k, claim in enumerate(claims.CLAIMS):
            _claim(k, claim)


def _claim(k: int, claim: claims.ProductClaim) -> None:
    text, proof, test, measured, button = st.columns(_ROW, vertical_alignment="center")
    text.markdown(f"**{claim.text}**")
    if claim.method_of_proof:
        proof.page_link(
            _LAB,
            label=handbook.method(claim.method_of_proof).title,
            icon=":material/function:",
            query_params={"s": f"tab-theory~theory-notes~about-{claim.method_of_proof}"},
            help=f"{claim.proof}: {claim.section.lstrip('# ')}",
        )
    else:
        proof.markdown(f":small[`{claim.proof}`]")
    file, _, name = claim.test.partition("::")
    test.markdown(f":small[{name.removeprefix('test_').replace('_', ' ')}]", help=f"`{file}`")
    measured.markdown(f":small[{claim.attacked}{f'. **{claim.measured}**' * bool(claim.measured)}]")
    if not claim.part:
        return
    button.button(
        "Attack it",
        key=f"claim_{k}",
        on_click=_attack_claim,
        args=(claim,),
        width="stretch",
        help="Runs below, on simulated data.",
    )


def _attack_claim(claim: claims.ProductClaim) -> None:
    """Show the attack on a claim, and start it at once."""
    if claim.part == claims.ATTACK:
        session.change(audit_part=claim.part, audited_method=claim.subject, planted_fault="")
        view = Audited()
        attack.begin(view.make_attack())
    elif claim.part == claims.COVERAGE:
        task = coverage_topic.KINDS[claim.subject].task
        session.change(**lab_tasks.settings_of(task))
        session.change(audit_part=claim.part, coverage_limits=claim.subject)
        coverage.begin(Audited())
    else:
        session.change(audit_part=claim.part)
    components.arrive()


# -- above all parts ----------------------------------------------------------------------------


def part_choice(view: Audited) -> None:
    """Choose the part on screen, and offer the check of published files."""
    controls.bound(
        st.segmented_control,
        "Part",
        view.settings.audit_part,
        lambda chosen: session.change(audit_part=chosen or view.settings.audit_part),
        "audit_part",
        options=list(_PARTS),
        format_func=_PARTS.__getitem__,
        label_visibility="collapsed",
    )
    st.page_link(
        st.Page(_PUBLISH),
        label="Check published files",
        query_params={"s": links.encode(replace(view.settings, open_folds=("release_check",)))},
        icon=":material/fact_check:",
    )


SECTIONS: dict[str, Callable[[Audited], None]] = {
    "attack": attack.section,
    "coverage": coverage.section,
    "reuse": reuse.section,
}
