"""A lesson in front of a class: slides over everything, and the guesses of the room."""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from dataclasses import replace

import segno
import streamlit as st

from engine.lessons import Guess, Lesson, Option, Quiz, Worked, heading, lessons, neighbours, plan
from engine.topics.mean import live
from pages.parts.explore.scene import Scene
from pages.shared import components
from pages.shared.components import guess as guess_picture
from pages.shared.frame import controls, timed
from pages.shared.server.class_door import DOOR, addresses
from pages.shared.server.classroom import (
    CLASSROOMS,
    Classroom,
    Numbers,
    Poll,
    Stage,
    page_for_others,
)
from pages.shared.state import run, session, settings

_LOOK_SECONDS = 1.0  # between looks at the guesses of a class
_PLACE, _TURN = "slide_place", "slide_turn"  # in the session
ADDRESS = "class_address"  # session key of the address that the teacher chose for phones
_BACK = "back:"  # a teacher's key follows
_HOUR = "slide_hour"  # session key of when the plan of an hour began, in seconds
_LED = "slide_led"  # session key of this window's last slide
_STAGES = {
    "": Stage.GUESS,
    "shows": Stage.SHOWN,
    "question": Stage.QUESTION,
    "answer": Stage.ANSWER,
}  # the class's stage, by the place where slides begin


def poll_of(lesson: type[Lesson], seed: int, worked: Worked) -> Poll:
    """Make the poll of a lesson's class."""
    guess: Guess = worked.guess
    axis = worked.picture.y if guess.is_curve else worked.picture.x
    return Poll(
        lesson.key, seed, len(guess.truth), axis.low, axis.high, len(lesson.question.options)
    )


def class_on_screen() -> Classroom | None:
    """Return the class of this visitor, who is its teacher; None if there is none."""
    return CLASSROOMS.find(st.session_state.get("classroom", ""))


def class_in_words() -> str:
    """Say that this visitor's class goes on outside its slides; "" if there is none."""
    classroom = class_on_screen()
    if classroom is None:
        return ""
    count = len(classroom.guesses)
    return f"Class **{classroom.code}** is open: {count} {'guess' if count == 1 else 'guesses'}."


def end_class() -> None:
    """End it; the guesses are forgotten."""
    CLASSROOMS.end(st.session_state.pop("classroom", ""))
    if CLASSROOMS.is_empty:
        DOOR.close()


def place(lesson: type[Lesson]) -> str:
    """Return the place of a lesson's slides: at the "game", or at a slide that comes back from it.

    Returns
    -------
    str
        "game", "shows" or "question"; "" if they begin with the guess.
    """
    key, where = st.session_state.get(_PLACE, ("", ""))
    return str(where) if key == lesson.key else ""


def turn() -> int:
    """Count the restarts of the slides; a restart hides what was revealed."""
    return int(st.session_state.get(_TURN, 0))


def begin_hour() -> None:
    """Let slides follow the plan of an hour, by whose clock they stand."""
    st.session_state[_HOUR] = time.time()
    _begin_anew()


def _around(lesson: type[Lesson]) -> tuple[type[Lesson] | None, type[Lesson] | None]:
    """Return the lessons before and after on the slides: those of the plan while it is followed."""
    if _HOUR not in st.session_state or lesson.key not in plan.KEYS:
        return neighbours(lesson)
    at = plan.KEYS.index(lesson.key)
    before, after = plan.KEYS[:at][-1:], plan.KEYS[at + 1 :][:1]
    found = [lessons.get(keys[0]) if keys else None for keys in (before, after)]
    return found[0], found[1]


def _begin_anew() -> None:
    st.session_state.pop(_PLACE, None)
    st.session_state[_TURN] = turn() + 1


def show(key: str, message: dict[str, object], lesson: type[Lesson], worked: Worked) -> None:
    """Show the slide of a lesson; with a class it looks for new guesses by itself."""
    poll = poll_of(lesson, session.current().seed, worked)

    def part() -> None:
        slide = _slide(lesson, worked)
        classroom, stage = class_on_screen(), _stage(slide.start, guess_picture.step(key, message))
        is_revealed = stage > Stage.GUESS
        if classroom is not None and not _leads(classroom, poll, stage):
            _follow(classroom)
            st.rerun()
        if classroom is not None:
            DOOR.tell(poll, lesson, worked)
        guesses: Sequence[Numbers] = [] if classroom is None else classroom.guesses
        report = guess_picture.guess(
            key,
            message,
            guesses=guesses if is_revealed else [],
            slide=slide,
            room=None if classroom is None else _seen_by_teacher(classroom, len(guesses)),
        )
        if report.is_revealed:
            st.session_state.pop(_PLACE, None)
        if report.request:
            _do(report.request, lesson, poll)
            st.rerun()

    timed.run(part, _LOOK_SECONDS if class_on_screen() else None)
    controls.show_kept("class_problem")


def _stage(start: str, step: int | None) -> Stage:
    """Return the stage of slides that began at `start` and last reported a step."""
    if step is not None:
        return Stage(step)
    return _STAGES.get(start, Stage.GUESS)


def _leads(classroom: Classroom, poll: Poll, stage: Stage) -> bool:
    """Show the class what is new on screen; False where another window has led it elsewhere."""
    here, led = (classroom.code, poll, stage), st.session_state.get(_LED)
    if here == led:
        return (poll, stage) == (classroom.poll, classroom.stage)
    classroom.ask(poll, stage)
    st.session_state[_LED] = here
    return True


def _follow(classroom: Classroom) -> None:
    """Catch up with the class after the page was reloaded or another window went on."""
    _begin_anew()
    st.session_state[_PLACE] = (classroom.poll.lesson, _start_of(classroom.stage))
    st.session_state[_LED] = (classroom.code, classroom.poll, classroom.stage)
    session.change(lesson=classroom.poll.lesson, seed=classroom.poll.seed)


def _start_of(at: Stage) -> str:
    """Return the first slide of a stage of a class."""
    return next(start for start, stage in _STAGES.items() if stage == at)


def come_back(request: str) -> Classroom | None:
    """Return the class of a teacher whose browser has its key; None for any other request."""
    is_back = request.startswith(_BACK)
    classroom = CLASSROOMS.of_teacher(request.removeprefix(_BACK)) if is_back else None
    if classroom is not None:
        st.session_state.classroom = classroom.code
    return classroom


def show_game(lesson: type[Lesson], worked: Worked, seed: int) -> None:
    """Show the attacker's game as a full-screen slide between its guess and its question."""
    poll, classroom = poll_of(lesson, seed, worked), class_on_screen()
    if classroom is not None:
        DOOR.tell(poll, lesson, worked)
        _leads(classroom, poll, Stage.SHOWN)  # pupils play as well
    with st.container(key="game_slide", gap="xsmall"):
        components.around("slide")  # its keys press these buttons
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(heading(lesson), width="stretch")
            for label, wish in (
                ("◀ Back", "shows"),
                ("One question ▶", "question"),
                ("Leave", "leave"),
            ):
                st.button(label, key=f"slide_{wish}", on_click=_do, args=(wish, lesson, poll))
        st.markdown(worked.filled(" ".join(lesson.story[:-1])))
        draw_game(seed)


def _slide(lesson: type[Lesson], worked: Worked) -> guess_picture.Slide:
    before, after = _around(lesson)
    closing, filled = lesson.question, worked.filled
    question = Quiz(
        filled(closing.ask),
        tuple(
            Option(filled(option.text), filled(option.why), option.is_right)
            for option in closing.options
        ),
    )
    return guess_picture.Slide(
        heading(lesson),
        filled(lesson.ask),
        [*map(filled, lesson.story)],
        filled(lesson.shows),
        [*map(filled, lesson.explains)],
        question,
        lesson.has_game,
        before is not None,
        after is not None,
        place(lesson),
        st.session_state.get(_HOUR, 0.0),
        plan.MINUTES,
    )


def _do(wish: str, lesson: type[Lesson], poll: Poll) -> None:
    """Carry out the teacher's request on a slide."""
    before, after = _around(lesson)
    if wish in ("leave", "previous", "next", "open"):
        _begin_anew()
    if wish == "leave":
        st.session_state.pop(_HOUR, None)
        if classroom := class_on_screen():  # slides continue at the class's place
            st.session_state[_PLACE] = (classroom.poll.lesson, _start_of(classroom.stage))
        session.change(presenter="off", lesson=lesson.key)
    elif wish in ("previous", "next"):
        other = before if wish == "previous" else after
        session.change(lesson=lesson.key if other is None else other.key)
    elif wish in ("game", "shows", "question"):
        st.session_state[_PLACE] = (lesson.key, wish)
    elif wish == "open":
        _open_class(poll)
    elif wish == "end":
        end_class()
    elif classroom := come_back(wish):
        _follow(classroom)


def begin_class(lesson: type[Lesson], seed: int, worked: Worked) -> None:
    """Open a class and its first slide."""
    _do("open", lesson, poll_of(lesson, seed, worked))
    session.change(presenter="on", lesson=lesson.key, learn_part="")


def _open_class(poll: Poll) -> None:
    """Open a class, and a door for phones if they cannot reach the dashboard itself."""
    with controls.kept("class_problem"):
        st.session_state.classroom = CLASSROOMS.open(poll).code
        address = st.session_state.get(ADDRESS) or next(iter(addresses()), "")
        if address and not page_for_others("learn", st.context.url):
            DOOR.open(address)


def _seen_by_teacher(classroom: Classroom, count: int) -> guess_picture.Room:
    page = page_for_others("learn", st.context.url)
    link = f"{DOOR.url}/{classroom.code}" if DOOR.url else ""
    note = f"Scan the code or type the address. The class is **{classroom.code}**"
    if page or not link:
        link = f"{page}?s=class-{classroom.code}" if page else ""
        note = f"Join on the page Learn of Privacy Curves with the code **{classroom.code}**"
    return guess_picture.Room(
        classroom.code,
        classroom.key,
        link,
        qr_code(link) if link else "",
        note,
        count,
        classroom.answers,
    )


def qr_code(text: str) -> str:
    """Return a QR code as SVG: dark on white in both themes, as cameras expect."""
    drawing = io.BytesIO()
    segno.make(text, error="m", micro=False).save(
        drawing, kind="svg", xmldecl=False, omitsize=True, dark="#182033", light="#FFFFFF"
    )
    return drawing.getvalue().decode()


# -- the attacker’s game of Explore, in a lesson ---------------------------------------------------


_GAME = "lesson_game"
# No strip or figure of a page has this number, so their sliders do not move this one.
_GAME_REV = -1


def draw_game(seed: int) -> None:
    """Draw the figure of Explore with the game open, at the front page's curves and methods."""
    front = replace(settings.FRONT_PAGE, seed=seed, explore_view="attack")
    delta = front.delta_on(front.source, front.mechanism).value
    preview = run.mean_at_every_step(front.source, front.mechanism, delta, seed)
    scene = Scene(preview, front.source, front)
    payload = scene.made_once(
        "figure", lambda: live.figure_payload(scene.facts, scene.answer, scene.at_budgets)
    )
    components.figure(_GAME, payload, live.Picked(scene.step, "attack"), _GAME_REV)
