"""A sweep that was run: its points as they come, their table, and the files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine.core.types import PublicFacts
from engine.exports import files as export
from engine.exports import outcome_rows
from engine.language.grammar import escape, uncapital
from engine.rates import Rate
from engine.simulation.experiments import Outcome, gather
from engine.simulation.scenario import Scenario
from engine.topics.rates import words as rate_words
from engine.topics.sweeps import charts
from engine.topics.sweeps.answer import PRIVACY, sweep_view
from pages.shared import components
from pages.shared.frame import layout
from pages.shared.server.jobs import Job

_FILE = "privacy-curves-sweep"


@dataclass(frozen=True)
class Ran:
    """A sweep that was asked for; it stays when the controls move."""

    job: Job
    task: str
    chosen: Scenario
    labels: dict[str, str]
    rate: Rate | None
    facts: PublicFacts

    @property
    def is_own(self) -> bool:
        return self.facts.is_upload

    def outcomes(self, job: Job) -> list[Outcome]:
        return gather(self.chosen.cells(), list(job.parts))

    def draw(self, job: Job) -> None:
        """Draw the available points and their table."""
        if not job.parts:
            return
        view = sweep_view(self.outcomes(job), self.rate)
        chart = charts.along_axis(view, self.labels, self.facts.value_unit)
        components.chart(chart.spec, chart.alt, "chart_sweep", 400, 340)
        st.markdown(f":small[{self._caption(view)}]")
        failed = view.failures
        if failed:
            points = f"{len(failed)} of {len(self.chosen.cells())} points"
            st.warning(
                f"**{points} could not be run; the others went on.** "
                + " ".join(escape(text) for text in dict.fromkeys(failed)),
                icon=":material/warning:",
            )
        layout.table(chart.table, self.is_own)

    def _caption(self, view: Any) -> str:
        run = self.chosen.run
        each = (
            f"{run.repeats} fresh data sets each"
            if self.chosen.source.is_random
            else f"{run.draws} releases of the same curves each"
        )
        method = uncapital(self.chosen.mechanism.label)
        text = f"{each}, by {method}; bars: two standard errors. "
        if view.kind == PRIVACY:
            text += "The truth is not known: only the error from privacy noise is shown. "
        if view.fitted is not None:
            text += f"{rate_words.fitted_to_squares({method: view.fitted})} "
        if not all(p.is_published for line in view.lines for p in line.points):
            text += "Hollow: nothing useful would be published there."
        return text.strip()

    def files(self) -> None:
        """Offer the results with their provenance, and the scenario that reproduces them."""
        if self.is_own:
            st.markdown(
                ":small[Results of your own curves stay in this session; there are no "
                "files of them.]"
            )
            return
        done = self.job.state == "done"
        why = None if done else "When the sweep is done."
        origin = outcome_rows.provenance(self.chosen, "serial")
        outcomes = self.outcomes(self.job) if done else []
        with st.container(horizontal=True):
            st.download_button(
                "Results (CSV)",
                (lambda: outcome_rows.as_csv(outcomes, origin)) if done else "",
                f"{_FILE}.csv",
                "text/csv",
                on_click="ignore",
                disabled=not done,
                help=why,
                icon=":material/table:",
                key="sweep_csv",
            )
            st.download_button(
                "Results (JSON)",
                (lambda: outcome_rows.as_json(outcomes, origin, round(self.job.seconds, 3)))
                if done
                else "",
                f"{_FILE}-results.json",
                "application/json",
                on_click="ignore",
                disabled=not done,
                help=why,
                icon=":material/data_object:",
                key="sweep_json",
            )
            st.download_button(
                "Scenario",
                export.scenario_json(dict(self.chosen.plain)),
                f"{_FILE}.json",
                "application/json",
                on_click="ignore",
                icon=":material/description:",
                key="sweep_scenario",
                help="A file for the command line.",
            )
        st.markdown(":small[The same numbers, to the last bit, on the command line:]")
        st.code(f"python -m engine run {_FILE}.json --csv", language="bash")
