"""Comparison of a file with its frozen facts, and its data on screen.

Each question shows its holder what the file says to it, so a card always says that the file was
looked at before its facts were stated.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from engine.core.enumerations import NoisePlace
from engine.core.errors import InputError
from engine.core.types import EventFacts, PublicFacts
from engine.language.grammar import capital, conjunction
from engine.numerics.counts.estimands import ESTIMANDS
from engine.release.request import stated_of
from engine.uploads.curves import CurveTable, Upload
from engine.uploads.design import StatedLaw
from engine.uploads.events import EventTable, UploadEvents
from engine.uploads.misfits import READ_AGAIN
from engine.uploads.reading_of_files import Reading
from engine.uploads.rows import UploadRows
from engine.uploads.stated import AFTER_LOOKING, facts_in_words
from pages.shared import components
from pages.shared.frame import code_fold, layout
from pages.shared.frame.controls import message, plain
from pages.shared.state import session
from pages.shared.uploads import draft, files
from pages.shared.uploads.draft import FrozenComparison

if TYPE_CHECKING:  # imported late: most pages need no ledger
    from engine.release.freezing import Frozen
    from engine.release.plan import Declaration


def freeze(task: str) -> bool:
    """Freeze the stated facts and put the data on screen; False if the file refutes them.

    From here on the file may contradict its holder: the page shows all doubts at once, and the card
    of a release names later changes.
    """
    from engine.release import freezing
    from engine.release.ledger import Ledger

    current = draft.confirmed(task)
    assert current.declared is not None
    data = _of_request(task, current.reading, current.declared)
    ledger = freezing.freeze(Ledger(), files.content(), data)
    try:
        source = own_data(task)
    except InputError as problem:
        draft.keep_answer(FrozenComparison(freezing.flat(data), ledger, refuted=problem))
        return False
    assert source is not None
    draft.keep_answer(FrozenComparison(freezing.flat(data), ledger, source.doubts))
    show(source, task)
    st.session_state[_declared(task)] = ledger
    return True


def restate(task: str, facts: PublicFacts) -> None:
    """State other facts about the file, in the form as well; the card will name them as changed."""
    current, upload = draft.of(task), session.upload_of(task)
    if current is None or current.declared is None:
        if isinstance(upload, Upload):
            show(replace(upload, declared=facts), task)
        return
    is_other_law = facts.design != current.declared.design
    draft.put(
        upload_symmetric=facts.symmetric,
        upload_periodic=facts.periodic,
        **{"upload_law": StatedLaw.EVEN.value} if is_other_law else {},
    )
    draft.keep(replace(current, declared=facts))
    freeze(task)


def declaration(task: str) -> Declaration:
    """Return the card's declaration on the facts on screen: when they were stated, and changed."""
    from engine.release.plan import UNDECLARED

    kept: Frozen | None = st.session_state.get(_declared(task))
    return UNDECLARED if kept is None or not session.uploaded(task) else kept.declaration()


def _declared(task: str) -> str:
    return f"{session.own_key(task)}_frozen"


def _of_request(task: str, reading: Reading, facts: PublicFacts) -> dict[str, Any]:
    return {**stated_of(facts, session.current().mechanism_of(task)), "reading": reading.to_plain()}


def stated(task: str, reading: Reading, facts: PublicFacts) -> dict[str, Any]:
    from engine.release import freezing

    return freezing.flat(_of_request(task, reading, facts))


def say_answer() -> None:
    """Show the file's comparison with the frozen facts, for its holder."""
    answer = draft.answer_of_file()
    if answer is None:
        return
    if answer.refuted is not None:
        problem = answer.refuted
        here = problem.hint.replace(
            READ_AGAIN, "Go back and say what time is counted from, at “Who is one person?”"
        )
        st.error(
            message(InputError(problem.message, field=problem.field, hint=here)),
            icon=":material/error:",
        )
    elif answer.doubts:
        layout.warned(
            [f"{capital(doubt)}." for doubt in answer.doubts],
            "**The file does not look as stated.** This is for you only. Check the plan "
            f"of the study. {AFTER_LOOKING}",
            ":material/rule:",
        )


def say_changed(names: Collection[str]) -> None:
    """Show which facts the card will name as changed after looking."""
    if names:
        listed = conjunction([f"*{plain(fact)}*" for fact in facts_in_words(sorted(names))])
        st.info(
            f"The card will list as changed after looking: {listed}.", icon=":material/edit_note:"
        )


def own_data(task: str) -> Upload | UploadRows | UploadEvents | None:
    """Return the visitor's own data, once file and bounds are there."""
    current = draft.of(task)
    if current is None or current.declared is None:
        return None
    observations, facts = current.observations, current.declared
    if isinstance(observations, EventTable) and isinstance(facts, EventFacts):
        people = UploadEvents(events=observations, declared=facts, reading=current.reading)
        people.check_sizes()
        ESTIMANDS[task].check_facts(facts)
        if not people.serves(task):
            raise InputError(
                "Incidences are those of several causes, and one event was stated.",
                field="causes",
                hint="State a text for each cause.",
            )
        return people
    assert not isinstance(observations, EventTable)
    return (
        Upload(
            curves=observations,
            declared=facts,
            groups=current.reading.groups,
            reading=current.reading,
        )
        if isinstance(observations, CurveTable)
        else UploadRows(rows=observations, declared=facts, reading=current.reading)
    )


def show(upload: Upload | UploadRows | UploadEvents, task: str) -> None:
    """Put the data on screen; δ goes back to the default for their number.

    The stated trusted party adds the noise, on *Decide* too: one centre has one site.
    """
    st.session_state[session.own_key(task)] = upload
    st.session_state.pop(_declared(task), None)
    code_fold.remember(task, files.name_of_file(), upload.reading)
    session.show_own(task, True)
    noise = NoisePlace.CENTRE if upload.sizes.n_servers == 1 else NoisePlace.SITES
    session.change(delta=None, noise_place=str(noise))
    if st.session_state.page == session.LAB:  # Lab's strip is above its pictures
        components.arrive()
