"""A class as its pupils see it: what their teacher shows, to guess in and to answer."""

from __future__ import annotations

import string
from dataclasses import dataclass

import streamlit as st

from engine.lessons import Lesson, Worked, lessons, work
from engine.lessons.live import guess_payload
from pages.parts.learn import slides
from pages.shared.components import guess
from pages.shared.components.kept import browser_name
from pages.shared.frame import controls, page, timed
from pages.shared.server.classroom import CLASSROOMS, Classroom, Poll, Stage
from pages.shared.state import run, session

_KEY, _SEAT, _PROBLEM = "pupil_picture", "pupil_seat", "pupil_problem"
_LETTERS = string.ascii_uppercase  # labels of answers, as on the slide
_LOOK_SECONDS = 2.0  # between looks at the teacher's slide


def show(code: str) -> None:
    """Show the class's present guess or question; follow the teacher from step to step.

    Controls come first, so that nobody scrolls to them on a phone.
    """
    classroom = CLASSROOMS.find(code)
    if classroom is None:
        has_ended = code in _been_in()
        page.begin("This class has ended" if has_ended else "No class has this code now")
        st.markdown(
            "For a new class, enter its code on the page *Learn*, or try the lessons by yourself."
            if has_ended
            # by its teacher, or because its hours are over
            else "Ask your teacher for the code, which you can enter on the page *Learn*, or "
            "try the lessons by yourself."
        )
        st.button(
            "All lessons",
            on_click=session.change,
            kwargs={"class_code": "", "lesson": ""},
            icon=":material/school:",
            key="pupil_leave",
        )
        return
    _been_in().add(code)
    name = browser_name(_SEAT, code)
    poll = classroom.poll
    worked = run.answer(work, poll.lesson, poll.seed)
    desk = _PupilView(
        classroom, _seat(classroom, name), poll, classroom.stage, lessons.get(poll.lesson), worked
    )
    if desk.stage >= Stage.QUESTION:
        page.begin(desk.filled(desk.lesson.question.ask))
        timed.run(lambda: _question(desk), _LOOK_SECONDS)
        return
    page.begin(desk.filled(desk.lesson.ask))
    timed.run(lambda: _picture(desk), _LOOK_SECONDS)
    if desk.stage == Stage.GUESS:
        st.markdown(desk.filled(" ".join(desk.lesson.story)))
        return
    st.markdown(desk.filled(desk.lesson.shows))
    if desk.lesson.has_game:
        slides.draw_game(poll.seed)


def _been_in() -> set[str]:
    """Return the codes of classes joined in this visit."""
    return st.session_state.setdefault("been_in", set())


@dataclass(frozen=True)
class _PupilView:
    """A pupil's view: a class, and the progress of its lesson."""

    room: Classroom
    seat: int
    poll: Poll
    stage: Stage
    lesson: type[Lesson]
    worked: Worked

    def follow(self) -> None:
        """Draw the page anew where the teacher has gone on."""
        is_same = (self.room.poll, self.room.stage) == (self.poll, self.stage)
        if not is_same or CLASSROOMS.find(self.room.code) is not self.room:
            st.rerun()

    def filled(self, template: str) -> str:
        return self.worked.filled(template)


def _picture(desk: _PupilView) -> None:
    """Show the picture with this visitor's guess."""
    desk.follow()
    classroom, is_shown = desk.room, desk.stage > Stage.GUESS
    message = guess_payload(
        desk.poll.lesson,
        desk.worked.picture,
        desk.worked.guess,
        desk.filled(desk.lesson.ask),
        "pupil",
    )
    report = guess.guess(
        _KEY,
        message,
        is_shown=is_shown,
        is_sent=classroom.has(desk.seat),
        guesses=classroom.guesses if is_shown else (),
    )
    if report.sent is not None:
        with controls.refusals():
            classroom.guess(desk.seat, desk.poll, report.sent)
            st.rerun()


def _question(desk: _PupilView) -> None:
    """Show the closing question with this visitor's answer, then the right one once revealed."""
    desk.follow()
    options, chosen = desk.lesson.question.options, desk.room.answered(desk.seat)
    if desk.stage == Stage.QUESTION:
        with st.container(key="pupil_answers"):
            for k, option in enumerate(options):
                st.button(
                    f"{_LETTERS[k]}\\. {desk.filled(option.text)}",
                    key=f"pupil_answer_{k}",
                    width="stretch",
                    icon=":material/check:" if k == chosen else None,
                    on_click=_answer,
                    args=(desk, k),
                )
        if _PROBLEM in st.session_state:
            controls.show_kept(_PROBLEM)
        elif chosen is not None:
            st.markdown("Your answer has arrived. You can change it until the right one is shown.")
        return
    for k, option in enumerate(options):
        text = f"**{desk.filled(option.text)}** {desk.filled(option.why)}"
        if option.is_right:
            begins = "Your answer is right:" if k == chosen else "Right:"
            st.success(f"{begins} {text}", icon=":material/check:")
        elif k == chosen:
            st.info(f"Your answer: {text}", icon=":material/undo:")


def _answer(desk: _PupilView, option: int) -> None:
    with controls.kept(_PROBLEM):
        desk.room.answer(desk.seat, desk.poll, option)


def _seat(classroom: Classroom, browser: str) -> int:
    """Seat a browser in a class, or this visit until its browser has sent its name."""
    if browser:
        return classroom.seat(browser)
    seats: dict[str, int] = st.session_state.setdefault("seats", {})
    if classroom.code not in seats:
        seats[classroom.code] = classroom.seat()
    return seats[classroom.code]
