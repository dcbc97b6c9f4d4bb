"""The parts of Reproduce: one exhibit of a paper, its drawings and what became of its claims."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from engine import exhibits, handbook
from engine.exhibits import FORMS, Form
from engine.questions import Question, ask
from pages.shared import components
from pages.shared.frame import controls, layout
from pages.shared.frame.page import View
from pages.shared.frame.timed import progress, visitor
from pages.shared.server.jobs import Job, jobs
from pages.shared.state import session

if TYPE_CHECKING:
    from engine.exhibits import Exhibit, Paper, Result

_FEW = 4  # pictures that stand two in a row; more stand three in a row
_HEIGHT, _PHONE_HEIGHT = 320, 280
_TABLE_HEIGHT = 600
_FORMS = {"quick": "Quick: smaller or fewer repeats", "full": "Full: sizes of the document"}
_FORM = "exhibit_form"  # quick or full, of every exhibit that has both
_RUNS = "exhibit_runs"  # in the session: jobs that this visitor began, by exhibit


class ExhibitView(View):
    """The exhibit on screen with its newest result: that of a run here, else the stored one.

    If both forms are stored the reader chooses one to draw; its claims appear beside the numbers of
    the other form.
    """

    page, fold_prefix, chart_prefix = "reproduce", "exhibit_", "exhibit_"
    formula_label = "Formulas and source"
    code_note = (
        "The full form takes the sizes and repeats of the document: minutes to hours. "
        "`--resume DIR` takes up what was finished."
    )

    def __init__(self, paper: Paper, exhibit: Exhibit) -> None:
        super().__init__()
        self.paper, self.exhibit = paper, exhibit

    @property
    def key(self) -> str:
        return f"{self.paper.key}/{self.exhibit.key}"

    @property
    def job(self) -> Job | None:
        """The run that this visitor asked for, if any."""
        return st.session_state.get(_RUNS, {}).get(self.key)

    @cached_property
    def stored_by_form(self) -> dict[Form, Result]:
        """Results stored with the engine, quick form first."""
        stored = {form: exhibits.files.stored(self.paper, self.exhibit, form) for form in FORMS}
        return {form: result for form, result in stored.items() if result is not None}

    @property
    def form(self) -> Form:
        """The form that is drawn."""
        form = session.looked_at(_FORM, FORMS)
        return form if form in self.stored_by_form else "quick"

    @property
    def stored(self) -> Result | None:
        """The stored result of the form that is drawn."""
        return self.stored_by_form.get(self.form)

    @property
    def result(self) -> Result | None:
        fresh = self.job.result if self.job is not None else None
        return fresh if fresh and self.form == "quick" else self.stored

    @property
    def other(self) -> Result | None:
        """The result of the form that is not drawn."""
        return next(
            (result for form, result in self.stored_by_form.items() if form != self.form), None
        )

    def formula(self) -> None:
        """Link the document, and say what the methods of the figure or table compute."""
        st.markdown(f"{self.paper.title}: {self.paper.reference}.")
        for cls in handbook.methods_of(self.paper, self.exhibit):
            st.markdown(f"{cls.label}: {cls.reference}.")
            st.latex(cls.formula)

    def question(self) -> Question:
        """Ask for the quick form; the command has the sizes of the document, too."""
        return ask(exhibits.quick, self.key)


def strip() -> None:
    """Show the strip; here every figure and table has its own data and budgets."""
    components.strip(
        [
            components.Chip(*exhibits.words.SOURCE, "gray", "globe"),
            components.Chip(*exhibits.words.UNIT, "blue", "shield"),
        ],
        [components.Budgeted(exhibits.words.BUDGETS)],
        0,
        key="reproduce_strip",
    )


def overview() -> None:
    """Count the claims of all documents by verdict and reason, in the stored results."""
    st.markdown(exhibits.words.overview(exhibits.claims.settled()))


_LAB = "lab?s=tab-papers~exhibit-"  # link to an exhibit, relative to any page


def every_claim() -> None:
    """Show all claims in a table that sorts by any column, with a link to each exhibit."""
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Document": row["document"],
                    "Place": row["place"],
                    "Claim": row["claim"],
                    "Range": row["range"],
                    "Verdict": row["verdict"],
                    "Reason": exhibits.words.reason(row["reason"]),
                    "Measured": row["measured"],
                    "Exhibit": _LAB + row["exhibit"],
                }
                for row in (each.row for each in exhibits.claims.settled())
            ]
        ),
        hide_index=True,
        height=_TABLE_HEIGHT,
        column_config={
            "Exhibit": st.column_config.LinkColumn(display_text=f"{re.escape(_LAB)}(.*)")
        },
    )


def choices() -> ExhibitView:
    """Choose a paper and one of its figures or tables."""
    current = session.current().exhibit or exhibits.names()[0]
    paper, exhibit = exhibits.find(current)
    shelf = {each.key: each for each in exhibits.papers()}

    def choose_paper(key: str) -> None:
        session.change(exhibit=f"{key}/{shelf[key].exhibits[0].key}")

    left, right = st.columns(2, gap="medium")  # one below the other on a phone: names are long
    with left:
        controls.bound(
            st.selectbox,
            "Document",
            paper.key,
            choose_paper,
            "paper",
            options=list(shelf),
            format_func=lambda key: shelf[key].title,
            help="The papers and slides that this project rests on.",
        )
    with right:
        controls.bound(
            st.selectbox,
            "Figure or table",
            exhibit.key,
            lambda key: session.change(exhibit=f"{paper.key}/{key}"),
            f"exhibit_{paper.key}",
            options=[each.key for each in paper.exhibits],
            format_func=lambda key: _option(paper, paper.exhibit(key)),
        )
    return ExhibitView(paper, exhibit)


def _option(paper: Paper, exhibit: Exhibit) -> str:
    key = f"{paper.key}/{exhibit.key}"
    verdicts = [each.verdict for each in exhibits.claims.settled() if each.key == key]
    return f"{exhibit.title} ({exhibits.words.count(verdicts)})"


def heading(view: ExhibitView) -> None:
    """Write its title and subject."""
    st.header(view.exhibit.title, anchor=False)
    st.markdown(view.exhibit.about)


def again(view: ExhibitView) -> None:
    """Run the quick form here, and say whether the stored numbers came out again."""
    stored = list(view.stored_by_form.values())
    if len(stored) > 1 and stored[0].table != stored[1].table:
        controls.look(
            "Form",
            FORMS,
            _FORM,
            format_func=_FORMS.__getitem__,
            help="Both are stored and shown at once. Claims show the numbers of both.",
        )
    quick = view.stored_by_form.get("quick")
    waits = f" · about {max(1, round(quick.seconds))} s" if quick else ""
    if st.button(
        f"Run it now{waits}",
        icon=":material/play_arrow:",
        key="run_exhibit",
        help="The quick form: smaller sizes and fewer repeats than the paper. The page "
        "stays usable meanwhile.",
    ):
        work = view.exhibit.work("quick")
        job = jobs().start(
            f"exhibit {view.key}",
            exhibits.quick,
            view.key,
            total=exhibits.n_pieces(work),
            visitor=visitor(),
        )
        st.session_state.setdefault(_RUNS, {})[view.key] = job
    if view.job is not None:
        progress(view.job, lambda job: None, "Parts")
    if view.result is not None:
        st.markdown(f":small[{exhibits.words.made(view.result, view.stored)}]")
    elif view.job is None:
        layout.empty("The figure and its claims; there is no stored result. Press *Run it now*.")


def drawings(view: ExhibitView) -> None:
    """Draw the pictures side by side; one below the other on a phone."""
    if view.result is None:
        return
    panels = view.exhibit.draw(view.result.table)
    in_row = min(2 if len(panels) <= _FEW else 3, len(panels))
    for k, panel in enumerate(panels):
        if k % in_row == 0:  # a row of its own, so that a phone keeps the order
            columns = st.columns(in_row, gap="medium")
        with columns[k % in_row]:
            st.subheader(panel.title, anchor=False)
            view.draw(panel.title, panel.chart, f"{view.key}_{k}", _HEIGHT, _PHONE_HEIGHT)


def claims(view: ExhibitView) -> None:
    """Show each claim with a tick or a cross, the number behind it, and why it fails."""
    if view.result is None or not view.exhibit.claims:
        return
    with layout.card("What the document says, and what came out"):
        findings = view.exhibit.findings(view.result.table)
        beside = view.exhibit.findings(view.other.table) if view.other else [None] * len(findings)
        form = view.other.form if view.other else view.form
        for claim, finding, other in zip(view.exhibit.claims, findings, beside, strict=True):
            st.markdown(exhibits.words.claim_markdown(view.exhibit, claim, finding, other, form))


def published(view: ExhibitView) -> None:
    """Show the numbers as printed."""
    layout.table([dict(row) for row in view.exhibit.published])


def take_away(view: ExhibitView) -> None:
    """Offer the table as files."""
    if view.result is None:
        return
    name = exhibits.files.name(view.paper, view.exhibit)
    with st.container(horizontal=True):
        st.download_button(
            "Numbers (CSV)",
            exhibits.files.as_csv(view.paper, view.exhibit, view.result),
            f"{name}.csv",
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
        )
        st.download_button(
            "Numbers, claims and origin (JSON)",
            exhibits.files.as_json(view.paper, view.exhibit, view.result),
            f"{name}.json",
            "application/json",
            icon=":material/download:",
            on_click="ignore",
        )
