"""Learn: tiles open lessons, each reveals, asks and leads on; slides; a class that guesses along."""

import json
import math
from contextlib import nullcontext
from itertools import pairwise
from urllib.parse import parse_qs

import pytest

from engine.core.errors import InputError
from engine.lessons import heading, lessons, plan, store, stored_errors, work
from engine.lessons.coin_flip import CoinFlip
from pages.parts.learn import lesson as lesson_cards
from pages.parts.learn import path as path_cards
from pages.parts.learn import pupil as pupil_cards
from pages.parts.learn import slides
from pages.shared.components import guess, lesson_tiles
from pages.shared.server import class_door, classroom
from pages.shared.server.classroom import Classrooms, Poll, Stage
from pages.shared.state import links, run
from tests.heavy import few
from tests.pages.opening import visit
from tests.pages.reading import components, typed, words
from tests.sentences import of_topic

wording = of_topic("learn")

EVERY = lessons.all()


def picture(at):
    """The message of the picture."""
    for element in at.get("bidi_component"):
        message = json.loads(element.proto.mixed.json or element.proto.json)
        if "looks" in message:
            return message
    raise AssertionError("no picture")


def reveal(at, step=1):
    """The page after its browser went so far: what happened, or on slides also what comes after."""
    message = picture(at)
    key = lesson_cards._SLIDE if message["mode"] == "slides" else lesson_cards._KEY
    at.session_state[key] = {"step": {"tag": message["tag"], "step": step}}
    return at.run()


SAID = {}  # by the browser, in one run


@pytest.fixture(autouse=True)
def browser(monkeypatch):
    """The framework's tester would say for ever what a browser says once."""
    for module in (guess, lesson_tiles):

        def drawn(key, usual=module._component, **more):
            return {**usual(key=key, **more), **SAID.pop(key, {})}

        monkeypatch.setattr(module, "_component", drawn)


def report(at, key, **said):
    """The page after the browser said something in its picture."""
    SAID[key] = said
    return at.run()


def said(lesson, template, seed=1):
    return run.answer(work, lesson.key, seed).filled(template)


@pytest.mark.parametrize("lesson", few(EVERY, 2), ids=lambda one: one.__name__)
def test_each_lesson_opens_from_its_link_and_tells_nothing_before_the_guess(lesson):
    at = visit("teach", f"lesson-{lesson.key}")
    assert at.title[0].value == heading(lesson) and not at.error
    assert typed(said(lesson, lesson.story[0])) in words(at)
    assert typed(said(lesson, lesson.shows)) not in words(at) and not at.radio
    message = picture(at)
    assert message["ask"] == said(lesson, lesson.ask) and not message["is_revealed"]
    assert len(message["looks"]) == 2
    reveal(at)
    assert typed(said(lesson, lesson.shows)) in words(at) and not at.error
    assert len(at.radio[0].options) == len(lesson.question.options)


@pytest.mark.parametrize("lesson", few(EVERY, 2), ids=lambda one: one.__name__)
def test_no_lesson_says_how_accurate_an_attacker_is_before_the_two_that_ask_for_it(lesson):
    at = visit("teach", f"lesson-{lesson.key}")
    strips = [
        json.loads(piece.proto.mixed.json or piece.proto.json)["budgets"]
        for piece in at.get("bidi_component")
        if "teach_strip" in piece.proto.id
    ]
    assert [strip[0]["odds"] for strip in strips] == [""] * (not lesson.has_game)
    if lesson.order < 6:
        assert "accuracy" not in words(reveal(at)).casefold()


def test_every_answer_is_explained_right_or_wrong():
    at = reveal(visit("teach"))
    options = CoinFlip.question.options
    for k, option in enumerate(options):
        at.radio[0].set_value(k).run()
        box = at.success if option.is_right else at.info
        assert said(CoinFlip, option.why) in box[0].value
        assert bool(at.success) == option.is_right


def test_a_guess_belongs_to_its_lesson_and_its_seed():
    at = reveal(visit("teach"))
    assert at.radio
    at.button(key="learn_path").click().run()
    report(at, "path", opened="3")
    assert not at.radio and at.title[0].value == heading(EVERY[2])
    for lesson in ("1", "3"):
        one, other = (picture(visit("teach", f"lesson-{lesson}~seed-{seed}")) for seed in (1, 9))
        assert one["tag"] != other["tag"]


def test_the_next_lesson_and_the_one_before_are_a_click_away_and_in_the_address():
    at = visit("teach", "lesson-6")
    at.button(key="teach_next").click().run()
    assert at.title[0].value == heading(EVERY[6])
    assert "lesson-7" in "".join(at.query_params["s"])
    at.button(key="teach_previous").click().run()
    assert at.title[0].value == heading(EVERY[5])
    first = visit("teach")
    assert not [button for button in first.button if button.key == "teach_previous"]


def path(at):
    """The tiles of the path, as they are sent."""
    (sent,) = [one for one in components(at, "") if "tiles" in one]
    return sent["tiles"]


def test_the_path_has_a_tile_for_each_lesson_with_its_picture_and_few_controls():
    at = visit("learn")
    tiles_sent = path(at)
    assert [tile["key"] for tile in tiles_sent] == [lesson.key for lesson in EVERY]
    assert [tile["minutes"] for tile in tiles_sent] == [lesson.minutes for lesson in EVERY]
    assert all(tile["picture"].startswith("<svg") for tile in tiles_sent)
    assert len(tiles_sent) + len(at.button) + len(at.selectbox) + len(at.text_input) <= 12
    assert not at.expander
    report(at, "path", opened="5")
    assert at.title[0].value == heading(EVERY[4]) and at.query_params["s"] == "lesson-5"
    assert picture(at)["mode"] == "page"
    at.button(key="learn_path").click().run()
    assert path(at) and "s" not in at.query_params
    assert path(report(at, "path", opened="99"))  # no such lesson


@pytest.mark.parametrize("lesson", ["1", "3", "4", "5", "7"])
def test_the_small_picture_of_a_lesson_is_that_before_its_guess(lesson):
    assert store.tile(lessons.get(lesson).work(1)) == stored_errors.tiles()[lesson]


def test_an_hour_is_planned_and_its_slides_follow_the_plan():
    parts = plan.parts()
    assert (parts[0].begins, parts[-1].ends) == (0, plan.MINUTES)
    assert all(one.ends == two.begins for one, two in pairwise(parts))
    assert all(part.begins < part.talk_from < part.ends for part in parts)
    at = visit("learn")
    at.button(key="learn_plan").click().run()
    assert len(at.dataframe) == 1
    at.button(key="plan_start").click().run()
    assert picture(at)["mode"] == "slides" and picture(at)["slide"]["began"] > 0
    seen = [at.title[0].value]
    for _ in parts[1:]:
        report(at, lesson_cards._SLIDE, asked="next")
        seen.append(at.title[0].value)
    assert seen == [heading(part.lesson) for part in parts]
    assert not picture(at)["slide"]["has_next"]
    report(at, lesson_cards._SLIDE, asked="leave")
    at = visit("learn", "lesson-2~presenter-on")
    assert picture(at)["slide"]["began"] == 0


def test_addresses_of_earlier_pages_open_the_lesson_and_the_guide():
    assert visit("teach").title[0].value == heading(EVERY[0])
    assert visit("teach", "lesson-4~chapter-models").title[0].value == heading(EVERY[3])
    wording.found(
        "estimands lab", visit("guide", "chapter-models~lesson-4").header[0].value, alone=True
    )
    assert visit("teach", "presenter-on").title[0].value == heading(EVERY[0])


@pytest.mark.parametrize(("lesson", "squares"), [("1", "the square"), ("7", "any of the squares")])
def test_a_visitor_is_told_of_as_many_squares_as_there_are(lesson, squares):
    at = visit("learn", f"lesson-{lesson}")
    assert f"Move {squares}." in words(at)
    assert (len(picture(at)["guess"]["truth"]) > 1) == squares.endswith("s")


def test_a_guess_of_a_share_is_off_by_points():
    for lesson in ("1", "6"):
        assert (
            picture(visit("learn", f"lesson-{lesson}"))["guess"]["off_unit"] == "percentage points"
        )


@pytest.mark.slow
def test_slides_are_large_have_nothing_around_them_and_are_linked():
    at = visit("learn", "lesson-3~seed-7")
    small = picture(at)
    at.button(key="learn_present").click().run()
    message = picture(at)
    assert "presenter-on" in at.query_params["s"] and not at.expander and not at.button
    assert message["mode"] == "slides" and small["mode"] == "page"
    assert 'font-size="17"' in message["looks"][0]["svg"] and len(message["looks"]) == 3
    assert message["slide"]["ask"] == said(EVERY[2], EVERY[2].ask, 7)
    assert message["slide"]["has_previous"] and message["slide"]["has_next"]
    report(at, lesson_cards._SLIDE, asked="next")
    assert at.title[0].value == heading(EVERY[3]) and picture(at)["mode"] == "slides"
    report(at, lesson_cards._SLIDE, asked="leave")
    assert at.button(key="learn_present") and at.query_params["s"].split("~").count("lesson-4") == 1


@pytest.fixture
def school(monkeypatch):
    """No class of another test, a clock that is turned by hand, and no network of phones."""
    monkeypatch.setenv(class_door.ADDRESSES_NAME, "off")
    clock = {"now": 0.0}
    rooms = Classrooms(lambda: clock["now"])
    door = class_door.ClassDoor(rooms)
    holders = [(m, "CLASSROOMS", rooms) for m in (slides, pupil_cards, path_cards, classroom)]
    for module, name, own in [*holders, (slides, "DOOR", door)]:
        monkeypatch.setattr(module, name, own)
    return rooms, clock


def open_class(token="lesson-1~presenter-on"):
    teacher = visit("learn", token)
    report(teacher, lesson_cards._SLIDE, asked="open")
    room = picture(teacher)["room"]
    return teacher, room


def send(at, values):
    return report(at, "pupil_picture", sent={"tag": picture(at)["tag"], "values": values})


def test_a_class_sees_the_pictures_of_its_teacher_and_its_guesses_only_when_revealed(school):
    teacher, room = open_class()
    pupils = [visit("learn", f"class-{room['code'].lower()}") for _ in range(2)]
    for pupil, value in zip(pupils, (30, 55), strict=True):
        assert pupil.title[0].value == said(EVERY[0], EVERY[0].ask) and not pupil.button
        assert send(pupil, [value]).session_state["settings"].class_code == room["code"]
        assert picture(pupil)["is_sent"] and picture(pupil)["guesses"] == []
    send(pupils[1], [60])  # corrected: one guess for each visit
    before = picture(teacher.run())
    assert before["guesses"] == [] and before["room"]["count"] == 2  # nobody copies
    assert typed(said(EVERY[0], EVERY[0].shows)) not in words(pupils[0])
    reveal(teacher)
    assert typed(said(EVERY[0], EVERY[0].shows)) in words(pupils[0].run())
    assert picture(pupils[0])["guesses"] == picture(teacher.run())["guesses"] == [[30], [60]]
    assert "came too late" in send(pupils[0], [10]).error[0].value
    report(teacher, lesson_cards._SLIDE, asked="next")
    assert pupils[0].run().title[0].value == said(EVERY[1], EVERY[1].ask)
    assert picture(teacher)["guesses"] == [] and not picture(pupils[0])["is_sent"]
    report(teacher, lesson_cards._SLIDE, asked="previous")
    assert picture(teacher)["room"]["count"] == 2  # guesses stay until the class ends
    assert typed(said(EVERY[0], EVERY[0].shows)) not in words(pupils[0].run())
    report(teacher, lesson_cards._SLIDE, asked="next")
    report(teacher, lesson_cards._SLIDE, asked="end")
    assert picture(teacher)["room"] is None
    assert pupils[0].run().button(key="pupil_leave")
    pupils[0].button(key="pupil_leave").click().run()
    assert path(pupils[0])


def test_a_class_answers_the_closing_question_and_sees_what_is_right_when_the_teacher_shows_it(
    school,
):
    closing = EVERY[0].question
    teacher, room = open_class()
    pupils = [visit("learn", f"class-{room['code']}") for _ in range(2)]
    reveal(teacher)
    assert not any(button.key.startswith("pupil_answer") for button in pupils[0].run().button)
    reveal(teacher, 2)
    for pupil, chosen in zip(pupils, (0, 1), strict=True):
        assert pupil.run().title[0].value == said(EVERY[0], closing.ask)
        assert [button.label for button in pupil.button] == [
            rf"{letter}\. {said(EVERY[0], option.text)}"
            for letter, option in zip("ABC", closing.options, strict=True)
        ]
        pupil.button(key=f"pupil_answer_{chosen}").click().run()
        assert [bool(button.icon) for button in pupil.button] == [k == chosen for k in range(3)]
        assert not any(
            typed(said(EVERY[0], option.why)) in words(pupil) for option in closing.options
        )
    pupils[0].button(key="pupil_answer_2").click().run()  # corrected: one answer for each visit
    assert picture(teacher.run())["room"]["answers"] == [0, 1, 1]
    reveal(teacher, 3)
    for pupil, has_erred in zip(pupils, (True, False), strict=True):
        assert not pupil.run().button
        assert said(EVERY[0], closing.right.why) in pupil.success[0].value
        assert bool(pupil.info) == has_erred
    assert said(EVERY[0], closing.options[2].why) in pupils[0].info[0].value
    reveal(teacher, 1)
    assert pupils[0].run().title[0].value == said(EVERY[0], EVERY[0].ask)


@pytest.mark.parametrize(
    ("option", "stage", "reason"),
    [
        (3, Stage.QUESTION, "was not counted"),
        (-1, Stage.QUESTION, "was not counted"),
        (1, Stage.SHOWN, "has gone on"),
        (1, Stage.ANSWER, "has gone on"),
    ],
)
def test_an_answer_that_is_none_or_comes_at_another_time_is_refused(school, option, stage, reason):
    poll = Poll("1", 1, 1, 0.0, 100.0, 3)
    room = school[0].open(poll)
    room.ask(poll, stage)
    with pytest.raises(InputError, match=reason):
        room.answer(room.seat(), poll, option)
    assert room.answers == [0, 0, 0]


@pytest.mark.parametrize(
    "values",
    [[], [1, 2], ["50"], [math.nan], [math.inf], [True], [101], [-1], {"a": 1}, "5", None, [[5]]],
)
def test_what_is_no_guess_is_refused_and_not_counted(school, values):
    poll = Poll("1", 1, 1, 0.0, 100.0, 3)
    room = school[0].open(poll)
    with pytest.raises(InputError, match="was not counted"):
        room.guess(room.seat(), poll, values)
    assert room.guesses == []


@pytest.mark.parametrize(
    ("values", "is_counted"),
    [
        ([3, None, 5], True),
        ([None, None, 0.5], True),
        ([None, None, None], False),
        ([None, 11, 5], False),
    ],
)
def test_a_guess_in_a_class_holds_what_was_moved_and_nothing_for_what_was_not(
    school, values, is_counted
):
    poll = Poll("4", 1, 3, 0.0, 10.0, 3)
    room = school[0].open(poll)
    with nullcontext() if is_counted else pytest.raises(InputError, match="was not counted"):
        room.guess(room.seat(), poll, values)
    assert room.guesses == [tuple(values)] * is_counted


def test_a_class_ends_by_itself_and_there_are_not_too_many_guesses_and_classes(school):
    rooms, clock = school
    poll = Poll("1", 1, 1, 0.0, 100.0, 3)
    room = rooms.open(poll)
    for _ in range(classroom.MAX_GUESSES):
        room.guess(room.seat(), poll, [50])
    with pytest.raises(InputError, match="no more are counted"):
        room.guess(room.seat(), poll, [50])
    room.guess(0, poll, [40])  # who has guessed may correct it
    others = [rooms.open(poll) for _ in range(classroom.MAX_CLASSES - 1)]
    assert len({other.code for other in others}) == len(others)
    with pytest.raises(InputError, match="no more may be opened"):
        rooms.open(poll)
    clock["now"] = classroom.MAX_SECONDS - 1
    assert rooms.find(room.code) is room and rooms.of_teacher(room.key) is room
    clock["now"] = classroom.MAX_SECONDS
    assert rooms.find(room.code) is None and rooms.of_teacher(room.key) is None
    assert rooms.open(poll)


def test_a_teacher_comes_back_to_the_class_with_the_key_and_nobody_without(school):
    _, room = open_class()
    again = visit("learn", "lesson-1~presenter-on")
    report(again, lesson_cards._SLIDE, asked="back:nonsense")
    assert picture(again)["room"] is None
    report(again, lesson_cards._SLIDE, asked=f"back:{room['key']}")
    assert picture(again)["room"]["code"] == room["code"]


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_teacher_who_loads_the_page_again_is_where_the_class_is(school, step):
    teacher, room = open_class("lesson-3~presenter-on")
    reveal(teacher, step)
    again = report(
        visit("learn", "lesson-1~presenter-on"), lesson_cards._SLIDE, asked=f"back:{room['key']}"
    )
    assert again.title[0].value == heading(EVERY[2])
    assert picture(again)["slide"]["start"] == ("shows", "question", "answer")[step - 1]
    assert school[0].find(room["code"]).stage == step  # nothing was hidden again from the class


def test_two_windows_of_a_teacher_know_one_class_and_follow_each_other(school):
    one, room = open_class()
    other = report(visit("learn", "lesson-2"), lesson_cards._KEY, asked=f"back:{room['key']}")
    assert other.button(key="learn_end") and not [b for b in other.button if b.key == "learn_class"]
    assert (
        school[0].find(room["code"]).poll.lesson == "1"
    )  # to look at a lesson does not lead the class
    other.button(key="learn_present").click().run()
    assert picture(other)["room"]["code"] == room["code"]
    assert school[0].find(room["code"]).poll.lesson == "2"
    assert (
        one.run().title[0].value == heading(EVERY[1])
        and picture(one)["room"]["code"] == room["code"]
    )
    report(one, lesson_cards._SLIDE, asked="next")
    assert other.run().title[0].value == heading(EVERY[2])


def test_two_tabs_of_one_browser_are_one_pupil_and_two_browsers_are_two(school):
    teacher, room = open_class()
    for browser, value in (("one", 10), ("one", 20), ("two", 30)):
        pupil = visit("learn", f"class-{room['code']}")
        pupil.session_state["pupil_seat"] = {"name": browser}
        send(pupil.run(), [value])
    assert school[0].find(room["code"]).guesses == [(20,), (30,)]
    assert picture(teacher.run())["room"]["count"] == 2


def test_a_class_that_never_was_has_not_ended(school):
    never = visit("learn", "lesson-1~class-ABCDEF")
    wording.found("class code now", never.title[0].value, alone=True)
    assert never.button(key="pupil_leave")
    teacher, room = open_class()
    pupil = visit("learn", f"class-{room['code']}")
    report(teacher, lesson_cards._SLIDE, asked="end")
    wording.found("class ended", pupil.run().title[0].value, alone=True)
    assert "new class" in words(pupil) and "new class" not in words(never)


def test_a_link_to_a_class_that_cannot_be_says_so():
    at = visit("learn", "class-%3Cb%3E")
    assert "(class)" in at.warning[0].value and path(at)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://localhost:8501/learn", ""),
        ("http://127.0.0.9/learn", ""),
        ("http://[::1]:1/learn", ""),
        ("http://0.0.0.0:8501/learn", ""),
        (None, ""),
        ("http://192.168.1.7:8501/learn?s=seed-2", "http://192.168.1.7:8501/learn"),
        ("https://a.example/curves/learn", "https://a.example/curves/learn"),
    ],
)
def test_no_address_that_leads_a_computer_to_itself_is_given_to_others(url, address, monkeypatch):
    monkeypatch.delenv(classroom.ADDRESS_NAME, raising=False)
    assert classroom.page_for_others("learn", url) == address


def test_the_address_that_is_stated_goes_first_and_must_be_one(school, monkeypatch):
    monkeypatch.setenv(classroom.ADDRESS_NAME, "https://curves.example/")
    _, room = open_class()
    assert room["link"] == f"https://curves.example/learn?s=class-{room['code']}"
    assert room["qr"].startswith("<svg") and room["code"] in room["note"]
    monkeypatch.setenv(classroom.ADDRESS_NAME, "curves")
    with pytest.raises(ValueError, match="must begin with"):
        classroom.page_for_others("learn", None)


def test_where_phones_reach_nothing_no_address_is_projected(school, monkeypatch):
    monkeypatch.delenv(classroom.ADDRESS_NAME, raising=False)
    _, room = open_class()
    assert room["link"] == room["qr"] == "" and room["code"] in room["note"]
    assert "problem" not in room


def test_a_door_for_phones_is_open_as_long_as_a_class(school, monkeypatch):
    monkeypatch.delenv(classroom.ADDRESS_NAME, raising=False)
    monkeypatch.setenv(class_door.ADDRESSES_NAME, "127.0.0.1")
    at, room = open_class()
    door = slides.DOOR
    assert room["link"] == f"{door.url}/{room['code']}" and room["qr"].startswith("<svg")
    assert room["link"].startswith("http://127.0.0.1:") and room["code"] in room["note"]
    report(at, lesson_cards._SLIDE, asked="end")
    assert not door.url


@pytest.mark.parametrize(
    ("stated", "found", "proposed", "is_warned"),
    [
        ("", "off", (), True),
        ("", "10.1.2.3", ("10.1.2.3",), False),
        ("https://curves.example", "10.1.2.3", (), False),
    ],
)
def test_a_teacher_alone_is_told_where_phones_reach_the_class_before_it_opens(
    school, monkeypatch, stated, found, proposed, is_warned
):
    monkeypatch.setenv(classroom.ADDRESS_NAME, stated)
    monkeypatch.setenv(class_door.ADDRESSES_NAME, found)
    at = visit("learn", "lesson-2")
    at.button(key="learn_class").click().run()
    assert bool(at.warning) == is_warned
    offered = [box for box in at.selectbox if box.key == slides.ADDRESS]
    assert [tuple(box.options) for box in offered] == ([proposed] if proposed else [])


@pytest.mark.parametrize("where", ["", "lesson-2"])
def test_a_class_is_open_three_actions_after_the_menu(school, where):
    at = visit("learn", where)
    at.button(key="learn_class").click().run()
    at.button(key="class_open").click().run()
    assert picture(at)["mode"] == "slides" and picture(at)["room"]
    assert picture(at)["lesson"] == (where[-1:] or "1") and not picture(at)["is_revealed"]
    assert not at.warning


def test_a_pupil_joins_a_class_by_its_code_on_the_first_screen(school):
    _, room = open_class("lesson-3~presenter-on")
    code = room["code"]
    at = visit("learn")
    field = at.text_input(key="class_code")
    pasted = f" {code.lower()} "
    assert len(code) < len(pasted) <= field.proto.max_chars
    field.set_value(pasted).run()
    assert at.title[0].value == said(EVERY[2], EVERY[2].ask)
    assert set(at.query_params["s"].split("~")) == {f"class-{code}", "lesson-3"}


def test_a_code_is_known_in_any_case_and_with_spaces(school):
    _, room = open_class()
    code = room["code"]
    assert school[0].joined(f" {code[:3].lower()} {code[3:]}").code == code


@pytest.mark.parametrize("typed", ["ABC", "<b>x</b>", "ABCDEF", "**"])
def test_a_code_of_no_class_is_told_what_to_do(school, typed):
    at = visit("learn")
    at.text_input(key="class_code").set_value(typed).run()
    wording.found("class code", at.error[0].value)
    assert path(at)
    assert "<b>" not in at.error[0].value
    at.text_input(key="class_code").set_value("").run()
    assert not at.error


@pytest.mark.parametrize("leads", [("next", "previous"), ("open",)])
def test_what_slides_revealed_is_hidden_again_when_they_come_back_and_in_a_new_class(school, leads):
    at = reveal(visit("learn", "lesson-1~presenter-on"))
    assert picture(at)["is_revealed"]
    for asked in leads:
        report(at, lesson_cards._SLIDE, asked=asked)
    assert not picture(at)["is_revealed"] and at.title[0].value == heading(EVERY[0])


def test_slides_begin_with_the_question_though_the_teacher_has_answered_it():
    at = visit("learn", "lesson-2")
    reveal(at)
    at.button(key="learn_present").click().run()
    assert picture(at)["mode"] == "slides" and not picture(at)["is_revealed"]


def test_the_attackers_game_follows_the_guess_of_the_last_lesson():
    at = visit("learn", "lesson-8")
    assert not [piece for piece in at.get("bidi_component") if "lesson_game" in piece.proto.id]
    reveal(at)  # the game shows the bound that was to be guessed
    (game,) = [piece for piece in at.get("bidi_component") if "lesson_game" in piece.proto.id]
    now = json.loads(game.proto.mixed.json or game.proto.json)["now"]
    assert now["view"] == "attack"
    assert now["rev"] != at.session_state["rev"]  # else it would begin where another slider stands


def games(at):
    return [piece for piece in at.get("bidi_component") if "lesson_game" in piece.proto.id]


def test_the_game_is_a_slide_between_the_guess_and_the_question_of_its_lesson(school):
    at, room = open_class("presenter-on~lesson-8")
    assert (
        picture(at)["slide"]["has_game"] and picture(at)["slide"]["start"] == "" and not games(at)
    )
    pupil = visit("learn", f"class-{room['code']}")
    reveal(at)
    report(at, lesson_cards._SLIDE, asked="game")
    assert games(at) and pupil.run() and games(pupil)  # what is revealed stays so
    for button, start in (("slide_question", "question"), ("slide_shows", "shows")):
        at.button(key=button).click().run()
        assert not games(at) and picture(at)["slide"]["start"] == start
        seen = f"{pupil.run().title[0].value} {words(pupil)}"
        assert (
            typed(said(EVERY[7], EVERY[7].question.ask if start == "question" else EVERY[7].shows))
            in seen
        )
        reveal(at)
        report(at, lesson_cards._SLIDE, asked="game")
    at.button(key="slide_leave").click().run()
    assert at.button(key="learn_present")
    at.button(key="learn_present").click().run()
    assert not games(at) and picture(at)["slide"]["start"] == "shows"  # where the class is


def test_slides_end_with_the_question_of_the_lesson_and_every_answer():
    closing = picture(visit("learn", "presenter-on~lesson-1"))["slide"]["question"]
    assert closing["ask"] == said(CoinFlip, CoinFlip.question.ask)
    assert [option["why"] for option in closing["options"]] == [
        said(CoinFlip, option.why) for option in CoinFlip.question.options
    ]
    assert sum(option["is_right"] for option in closing["options"]) == 1


def test_a_link_brings_lesson_seed_and_view_back():
    now = links.decode("lesson-7~seed-12~presenter-on")[0]
    assert (now.lesson, now.seed, now.presenter) == ("7", 12, "on")
    assert links.decode(links.encode(now)) == (now, [])


def test_a_link_to_a_lesson_that_does_not_exist_opens_the_path_and_says_so():
    at = visit("teach", "lesson-9~presenter-loud")
    assert path(at)
    assert [warning.value.count("(lesson)") for warning in at.warning] == [1, 0]


def test_pages_that_lessons_lead_to_understand_their_links_and_keep_the_noise():
    for lesson in EVERY:
        for see in lesson.see:
            assert (lesson_cards._PAGES / see.script).exists()
            assert links.decode(see.token)[1] == []
    *_, link = visit("teach", "lesson-7~seed-5").get("page_link")
    (token,) = parse_qs(link.proto.query_string)["s"]
    now = links.decode(token)[0]
    assert (now.audit_part, now.epsilon, now.second_epsilon, now.seed) == ("reuse", 0.3, 1.0, 5)
    assert links.encode(now) == token


def test_numbers_behind_the_picture_wait_for_the_guess():
    at = visit("teach", "lesson-3~open-teach_numbers")
    assert not at.dataframe
    reveal(at)
    assert "Bias" in at.dataframe[0].value.columns
