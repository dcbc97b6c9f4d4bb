"""A class as its pupils see it: the picture of their teacher, to guess in."""

from __future__ import annotations

import streamlit as st

from engine.core.errors import InputError
from engine.lessons import Worked, lessons, work
from pages.parts.learn import game
from pages.shared.components import guess
from pages.shared.frame import controls, page, timed
from pages.shared.server.classroom import CLASSROOMS, Classroom, Poll
from pages.shared.state import run, session

_KEY = "pupil_picture"
_LOOK_SECONDS = 2.0  # between looks at what the teacher does


def show(code: str) -> None:
    """What the class guesses now; follows the teacher from picture to picture."""
    room = CLASSROOMS.find(code)
    if room is None:
        page.begin("This class has ended")
        st.markdown("Ask your teacher for a new code, which you can enter on the page *Learn*, or "
                    "try the lessons by yourself.")
        st.button("All lessons", on_click=session.change, kwargs={"room": "", "lesson": ""},
                  icon=":material/school:", key="pupil_leave")
        return
    poll = room.poll
    lesson, worked = lessons.get(poll.lesson), run.answer(work, poll.lesson, poll.seed)
    page.begin(lesson.ask.format_map(worked.words))
    st.markdown(" ".join(lesson.story).format_map(worked.words))
    is_shown = room.is_revealed
    timed.run(lambda: _picture(room, poll, worked, is_shown), _LOOK_SECONDS)
    if is_shown:
        st.markdown(lesson.shows.format_map(worked.words))
        if lesson.has_game:
            game.show(poll.seed)


def _picture(room: Classroom, poll: Poll, worked: Worked, is_shown: bool) -> None:
    """The picture with this visitor's guess; the page is drawn anew where the teacher goes on."""
    is_same = (room.poll, room.is_revealed) == (poll, is_shown)
    if not is_same or CLASSROOMS.find(room.code) is not room:
        st.rerun()
    seat = _seat(room)
    message = guess.payload(poll.lesson, worked.picture, worked.guess,
                            lessons.get(poll.lesson).ask.format_map(worked.words), "pupil")
    report = guess.guess(_KEY, message, is_shown=is_shown, is_sent=room.has(seat),
                         guesses=room.guesses if is_shown else ())
    if report.sent is not None:
        try:
            room.guess(seat, poll, report.sent)
        except InputError as problem:
            st.error(controls.message(problem), icon=":material/error:")
        else:
            st.rerun()


def _seat(room: Classroom) -> int:
    """The seat of this visit in a class."""
    seats: dict[str, int] = st.session_state.setdefault("seats", {})
    if room.code not in seats:
        seats[room.code] = room.seat()
    return seats[room.code]
