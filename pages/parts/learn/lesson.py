"""A lesson: a story, a picture to guess in, what happened, a question, and ways on."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import streamlit as st

from engine.exports.files import handout
from engine.exports.one_file import of_lesson
from engine.language import glossary
from engine.language.tags import source_tag
from engine.lessons import Lesson, heading, lessons, neighbours, work
from engine.lessons.live import guess_payload
from engine.questions import Question, ask
from pages.parts.learn import classes, slides
from pages.shared import components, places
from pages.shared.cards import share
from pages.shared.components import guess
from pages.shared.frame import controls, drawer, layout, page
from pages.shared.frame.drawer import Detail
from pages.shared.frame.glossary_fold import entry
from pages.shared.frame.page import View
from pages.shared.server import classroom
from pages.shared.state import links, run, session, settings

_KEY, _SLIDE = "lesson_picture", "lesson_slide"  # two pictures: a slide begins with its question
_PAGES = Path(__file__).parents[2]
_STEPS = (
    "**1. Guess.** Move {squares}.",
    "**2. Reveal.** See what happens, and why.",
    "**3. Answer** one question.",
)
_WORDS = ("ε", "δ", "Unit of protection", "Odds")  # terms of every lesson, before its own


def show() -> None:
    """Show the lesson of the settings, as a page or as slides."""
    lesson: type[Lesson] = lessons.get(session.current().lesson or lessons.all()[0].key)
    page.begin(heading(lesson))
    view = page.compute(partial(LessonView, lesson))
    if view is None:
        return
    if view.is_presented:
        if lesson.has_game and slides.place(lesson) == "game":  # the guess comes first
            with layout.user_errors():
                slides.show_game(lesson, view.worked, view.settings.seed)
        else:
            slides.show(_SLIDE, view.message, lesson, view.worked)
        return
    details = [
        Detail("words", "Words and formula", view.formula, ("teach_formula", "words")),
        Detail("data", "Numbers", view.table, ("teach_numbers",)),
        Detail("seed", "Seed", _seed, ("teach_more",)),
        Detail("code", "Code", view.code, ("learn_code",), is_fold=True),
    ]
    _above(details)
    left, right = st.columns([7, 3], gap="medium")
    with left, layout.user_errors():
        predict(view)
    with right, layout.user_errors():
        explain(view)
    if lesson.has_game and view.is_revealed:  # the game shows the answer
        with layout.user_errors():
            slides.draw_game(view.settings.seed)
    page.cards(view, ways)
    if not lesson.has_game:  # the game's figure shows the same, with a slider
        view.strip()
    drawer.show(details)


class LessonView(View):
    """A lesson on screen, for the seed of the link."""

    page, fold_prefix, task = "learn", "teach_", ""
    code_note = "It gives the answer away."

    def __init__(self, lesson: type[Lesson]) -> None:
        super().__init__()
        self.lesson = lesson
        self.worked = run.answer(work, lesson.key, self.settings.seed)
        self.message = guess_payload(
            lesson.key,
            self.worked.picture,
            self.worked.guess,
            self.filled(lesson.ask),
            "slides" if self.is_presented else "page",
            slides.turn() if self.is_presented else 0,
        )

    @property
    def is_presented(self) -> bool:
        """True if a class looks on."""
        return self.settings.presenter == "on"

    @property
    def is_revealed(self) -> bool:
        return bool(guess.step(_KEY, self.message))

    def filled(self, template: str) -> str:
        return self.worked.filled(template)

    @property
    def link(self) -> str:
        """The lesson with its seed for everybody in class; "" where nobody else reaches it."""
        token = links.encode(
            replace(settings.Settings(), lesson=self.lesson.key, seed=self.settings.seed)
        )
        others = classroom.page_for_others("learn", st.context.url)
        return f"{others}?s={token}" if others else ""

    def strip(self) -> None:
        """Show the simulation and what is protected, and that everybody sees the same numbers.

        This lesson or a later one asks for errors and the attacker’s accuracy, so the text has
        them.
        """
        chips = [
            components.Chip(*source_tag(settings.FRONT_PAGE.source.facts)),
            components.Chip(*self.lesson.unit, "blue", "shield"),
            components.Chip(
                "Everyone sees the same random numbers",
                "Whoever opens the link sees the same data and noise. A seed, "
                f"here {self.settings.seed}, is never used for a release.",
                "gray",
                "person",
            ),
        ]
        components.strip(chips, [components.Budgeted(self.worked.budget)], 0, key="teach_strip")

    def table(self) -> None:
        """Show the numbers behind the picture."""
        if self.is_revealed:
            layout.table(self.worked.picture.table)
        else:
            st.markdown("They are here once you have made your guess.")

    def formula(self) -> None:
        names = dict.fromkeys((*self.lesson.terms, *_WORDS))
        st.markdown("\n\n".join(entry(glossary.find(name), True) for name in names))
        if self.lesson.formula:
            st.latex(self.lesson.formula)

    def question(self) -> Question:
        """Ask for the whole lesson."""
        return ask(work, self.lesson.key, self.settings.seed)


def _above(details: list[Detail]) -> None:
    """Draw the way back to the path, an open class, and the drawer."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "All lessons",
            icon=":material/arrow_back:",
            key="learn_path",
            type="tertiary",
            on_click=session.change,
            kwargs={"lesson": ""},
        )
        if slides.class_on_screen() is not None:
            st.button(
                "End the class",
                icon=":material/stop_circle:",
                key="learn_end",
                on_click=slides.end_class,
            )
            st.markdown(slides.class_in_words(), width="content")
        st.space("stretch")
        drawer.button(details, "Details", "details", ":material/right_panel_open:")


# -- the lesson -----------------------------------------------------------------------------------


def predict(view: LessonView) -> None:
    """Show the story, and the picture in which the visitor guesses."""
    st.markdown(view.filled(" ".join(view.lesson.story)))
    st.markdown(f"**{view.filled(view.lesson.ask)}**")
    if slides.come_back(guess.guess(_KEY, view.message).request):
        st.rerun()  # another window has opened a class: here it can be ended, and shown slides


def explain(view: LessonView) -> None:
    """Explain the result after the guess, and ask the question."""
    if not view.is_revealed:
        with st.container(border=True, key="lesson_steps"):
            squares = "the square" if len(view.worked.guess.truth) == 1 else "any of the squares"
            for step in _STEPS:
                st.markdown(step.format(squares=squares))
        return
    with st.container(border=True):
        st.header("What happened", anchor=False)
        st.markdown(view.filled(view.lesson.shows))
        for paragraph in view.lesson.explains:
            st.markdown(view.filled(paragraph))
    question(view)


def question(view: LessonView) -> None:
    """Ask one question; every answer is explained."""
    question = view.lesson.question
    with st.container(border=True):
        st.header("One question", anchor=False)
        picked = st.radio(
            view.filled(question.ask),
            range(len(question.options)),
            index=None,
            format_func=lambda k: view.filled(question.options[k].text),
            key=f"teach_answer_{view.message['tag']}",
        )
        if picked is None:
            return
        option = question.options[picked]
        if option.is_right:
            st.success(f"**Right.** {view.filled(option.why)}", icon=":material/check:")
        else:
            st.info(
                f"**Not quite.** {view.filled(option.why)} Try another answer.",
                icon=":material/undo:",
            )


# -- ways on --------------------------------------------------------------------------------------


def ways(view: LessonView) -> None:
    """Link the lessons before and after and other pages, with a teacher's needs below."""
    before, after = neighbours(view.lesson)
    with st.container(horizontal=True, vertical_alignment="center"):
        for other, text, icon in (
            (before, "Previous", "arrow_back"),
            (after, "Next", "arrow_forward"),
        ):
            if other is not None:
                st.button(
                    f"{text}: {other.label}",
                    icon=f":material/{icon}:",
                    key=f"teach_{text.lower()}",
                    on_click=session.change,
                    kwargs={"lesson": other.key},
                )
        for see in view.lesson.see:
            page, token = places.present(see.script.removesuffix(".py"), see.token)
            if token:  # in the order in which the page will write them, so that Back leads back
                token = links.encode(replace(links.decode(token)[0], seed=view.settings.seed))
            st.page_link(
                _PAGES / f"{page}.py",
                label=see.label,
                icon=":material/open_in_new:",
                query_params={"s": token} if token else None,
            )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("For a class:", width="content")
        st.button(
            "Show as slides",
            icon=":material/slideshow:",
            key="learn_present",
            on_click=session.change,
            kwargs={"presenter": "on"},
            help="For a projector. A class can guess along on its phones.",
        )
        if slides.class_on_screen() is None and st.button(
            "Open a class", icon=":material/groups:", key="learn_class"
        ):
            classes.open_class(view.lesson)
        st.download_button(
            "Handout",
            handout(view.lesson, view.worked, view.settings.seed, view.link),
            f"privacy-curves-lesson-{view.lesson.key}.html",
            "text/html",
            on_click="ignore",
            icon=":material/print:",
            key="teach_handout",
            help="One page to print: story, picture, question, and the answer upside down.",
        )
        share.button(
            "learn",
            partial(of_lesson, view.lesson, view.worked, view.settings.seed),
            f"privacy-curves-lesson-{view.lesson.key}",
        )
    if view.link:
        st.markdown("**Class link.** Whoever opens it sees this lesson with the same noise.")
        st.code(view.link, language=None, wrap_lines=True)


def _seed() -> None:
    controls.number(
        "Seed",
        session.current().seed,
        session.set_seed,
        "teach_seed",
        is_whole=True,
        help="Same seed, same noise: a class sees the same picture.",
    )
