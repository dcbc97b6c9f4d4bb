"""The parts of Teach: a story, a picture to guess in, what happened, a question, and ways on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import streamlit as st

from engine.exports.handout import handout
from engine.language import glossary
from engine.language.chances import odds_short
from engine.language.grammar import capital
from engine.language.tags import source_tag
from engine.lessons import Lesson, heading, lessons, neighbours, work
from engine.questions import Question, ask
from pages.shared import components as pieces
from pages.shared import places
from pages.shared.components import guess
from pages.shared.frame import controls, layout, strips
from pages.shared.frame.page import View
from pages.shared.frame.word_fold import entry
from pages.shared.state import address, run, session, settings

_KEY = "lesson_picture"
_PAGES = Path(__file__).parents[1]
_LARGE = "<style>html { font-size: 20px }</style>"  # everything is in rem, so everything grows
_STEPS = ("**1. Predict.** Move the squares with the mouse, a finger or the arrow keys.",
          "**2. Reveal.** See what happens, and how far off you were.",
          "**3. Explain.** Read why, and answer one question.")


class LessonView(View):
    """The lesson on screen, for the seed of the link."""

    page, fold_prefix, task = "learn", "teach_", ""
    formula_label, code_note = "Formula, and its words", "It gives the answer away."

    def __init__(self) -> None:
        super().__init__()
        self.lesson: type[Lesson] = lessons.get(self.now.lesson)
        with st.spinner("Computing this lesson"):
            self.worked = run.answer(work, self.now.lesson, self.now.seed)
        self.message = guess.payload(self.now.lesson, self.worked.picture, self.worked.guess,
                                     self.filled(self.lesson.ask), self.is_presented)

    @property
    def is_presented(self) -> bool:
        """Whether a class looks on: large type, no folds, and the seed stays as it is."""
        return self.now.presenter == "on"

    @property
    def is_revealed(self) -> bool:
        return guess.revealed(_KEY, self.message)

    def filled(self, template: str) -> str:
        return template.format_map(self.worked.words)

    @property
    def link(self) -> str:
        """The lesson with its seed for everybody in class, whatever else was set here."""
        token = address.encode(replace(settings.Settings(), lesson=self.now.lesson,
                                       seed=self.now.seed))
        return f"{st.context.url or ''}?s={token}" if token else st.context.url or ""

    def strip(self) -> None:
        """What is simulated, what is protected, and that everybody sees the same noise.

        Odds are those of which the lesson tells, or else those that ε alone allows; errors are
        what is guessed, so they stand below.
        """
        chips = [pieces.Chip(*source_tag(settings.FRONT_PAGE.source.facts)),
                 pieces.Chip(*self.lesson.unit, "blue", "shield"),
                 pieces.Chip(f"Seed {self.now.seed} · the class sees the same noise",
                             "Whoever opens the link sees this noise. A seed is never used for a "
                             "release.", "gray", "person")]
        budget, odds = self.worked.asked, ""
        if self.worked.odds:
            odds = odds_short(self.worked.odds)
        elif budget is not None:
            odds = strips.by_budget_alone(budget)
        pieces.strip(chips, [pieces.Budgeted(self.worked.budget, odds)], 0, key="teach_strip")

    def numbers(self) -> None:
        layout.folded("Numbers behind this picture", "teach_numbers", self._table)

    def _table(self) -> None:
        if self.is_revealed:
            layout.table(self.worked.picture.table)
        else:
            st.markdown("They are here once you have made your guess.")

    def formula(self) -> None:
        st.markdown("\n\n".join(entry(glossary.find(name), True) for name in self.lesson.terms))
        if self.lesson.formula:
            st.latex(self.lesson.formula)

    def question(self) -> Question:
        """The whole lesson."""
        return ask(work, self.now.lesson, self.now.seed)


def title() -> str:
    return heading(lessons.get(session.current().lesson))


def choose(view: LessonView) -> None:
    """Which lesson, and whether it is shown to a class."""
    if view.is_presented:
        st.html(_LARGE)
    names = {lesson.key: f"{lesson.key}. {capital(lesson.label)}" for lesson in lessons.all()}
    with st.container(horizontal=True, vertical_alignment="center"):
        controls.bound(st.selectbox, "Lesson", view.now.lesson, _go, "teach_lesson",
                       options=list(names), format_func=names.__getitem__, width=420,
                       label_visibility="collapsed")
        controls.bound(st.toggle, "Presenter view", view.is_presented, _present,
                       "teach_presenter", help="Large type, no folds, and the seed is locked.")


def _go(key: str) -> None:
    session.change(lesson=key)


def _present(is_on: bool) -> None:
    session.change(presenter="on" if is_on else "off")


# -- the lesson -----------------------------------------------------------------------------------


def predict(view: LessonView) -> None:
    """The story, and the picture in which the visitor guesses."""
    st.markdown(view.filled(" ".join(view.lesson.story)))
    st.markdown(f"**{view.filled(view.lesson.ask)}**")
    guess.guess(_KEY, view.message)


def explain(view: LessonView) -> None:
    """What comes after the guess: what happened and why, and the question."""
    if not view.is_revealed:
        with st.container(border=True):
            for step in _STEPS:
                st.markdown(step)
        return
    with st.container(border=True):
        st.header("What happened", anchor=False)
        st.markdown(view.filled(view.lesson.shows))
        for paragraph in view.lesson.explains:
            st.markdown(view.filled(paragraph))
    question(view)


def question(view: LessonView) -> None:
    """One question; every answer is explained."""
    asked = view.lesson.question
    with st.container(border=True):
        st.header("One question", anchor=False)
        picked = st.radio(view.filled(asked.ask), range(len(asked.options)), index=None,
                          format_func=lambda k: view.filled(asked.options[k].text),
                          key=f"teach_answer_{view.message['tag']}")
        if picked is None:
            return
        option = asked.options[picked]
        if option.is_right:
            st.success(f"**Right.** {view.filled(option.why)}", icon=":material/check:")
        else:
            st.info(f"**Not quite.** {view.filled(option.why)} Try another answer.",
                    icon=":material/undo:")


# -- ways on --------------------------------------------------------------------------------------


def ways(view: LessonView) -> None:
    """The lessons before and after, the same for a class and on paper, and pages to go on."""
    before, after = neighbours(view.lesson)
    with st.container(horizontal=True, vertical_alignment="center"):
        for other, text, icon in ((before, "Previous", "arrow_back"), (after, "Next",
                                                                       "arrow_forward")):
            if other is not None:
                st.button(f"{text}: {other.label}", icon=f":material/{icon}:", on_click=_go,
                          args=(other.key,), key=f"teach_{text.lower()}")
        st.download_button(
            "Handout", handout(view.lesson, view.worked, view.now.seed, view.link),
            f"privacy-curves-lesson-{view.now.lesson}.html", "text/html", on_click="ignore",
            icon=":material/print:", key="teach_handout",
            help="One page to print: story, picture, question, and the answer upside down.")
        for see in view.lesson.see:
            page, token = places.present(see.script.removesuffix(".py"), see.token)
            st.page_link(_PAGES / f"{page}.py", label=see.label, icon=":material/open_in_new:",
                         query_params={"s": _going_on(view, token)} if token else None)
    if view.link:
        st.markdown("**Class link.** Whoever opens it sees this lesson with the same noise.")
        st.code(view.link, language=None, wrap_lines=True)


def _going_on(view: LessonView, token: str) -> str:
    """The settings of a link with the seed of the lesson.

    They stand in the order in which the page will write them, so that Back leads back.
    """
    return address.encode(replace(address.decode(token)[0], seed=view.now.seed))


def options() -> None:
    """The seed."""
    controls.bound(st.number_input, "Seed", session.current().seed, session.set_seed,
                   "teach_seed", step=1, format="%d",
                   help="Same seed, same noise: a class sees the same picture.")
