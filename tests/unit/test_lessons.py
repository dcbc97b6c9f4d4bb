"""Lessons: every number in their words is the engine's, the words obey the house rules, one is right."""

import math
import re
import xml.etree.ElementTree as ElementTree
from html import unescape
from string import Formatter

import numpy as np
import pytest
from scipy.stats import norm

from engine.core.tasks import MEAN_FUNCTION
from engine.core.types import Budget
from engine.exports.files import handout
from engine.figures import drawn
from engine.language.numbers import percent_up, together
from engine.lessons import (
    attackers_game,
    clipping,
    coin_flip,
    heading,
    lessons,
    many_sites,
    neighbours,
    reused_noise,
    same_epsilon,
    what_epsilon_does,
    when_privacy_is_free,
)
from engine.lessons import store as lesson_store
from engine.lessons import stored_errors as stored_lessons
from engine.mechanisms import mechanisms
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.privacy import accounting
from engine.privacy.tradeoff import Gaussian
from engine.simulation import studies
from engine.sources.sparse_curves import SparseCurves
from engine.topics.mean.answer import mean_over_budgets, simulated_study
from engine.topics.reuse import answer as reuse_topic
from tests.conftest import fewer_data_sets
from tests.heavy import all_but
from tests.sentences import of_topic

wording = of_topic("learn")

pytestmark = pytest.mark.usefixtures("unhurried")
SEED = 3
EVERY = lessons.all()
LONG = [many_sites.ManySites, when_privacy_is_free.WhenPrivacyIsFree]
LOOKS = (
    drawn.WIDE,
    drawn.NARROW,
    drawn.PRESENTED,
    drawn.PRESENTED_NARROW,
    drawn.PRESENTED_HIGH,
    drawn.PRINTED,
)
BANNED = (
    "safe",
    "secure",
    "anonymous",
    "compliant",
    "guarantee of privacy",
    "true privacy",
    "leak-free",
    "simply",
    "just",
)
_worked = {}


@pytest.fixture(autouse=True, scope="module")
def light():
    """Few repeats: what is tested are the words, not how precise the errors are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(studies, "MAX_DATA_SETS", 4)
        patch.setattr(studies, "_FEWEST_DATA_SETS", 2)
        patch.setattr(studies, "_ENOUGH_RELEASES", 20)
        yield


def worked(lesson):
    if lesson not in _worked:
        _worked[lesson] = lesson.work(SEED)
    return _worked[lesson]


def templates(lesson):
    asked = lesson.question
    yield from (*lesson.story, lesson.ask, lesson.shows, *lesson.explains, asked.ask)
    for option in asked.options:
        yield from (option.text, option.why)


def each(test):
    """Lessons that simulate for seconds are in `make test-all`."""
    return pytest.mark.parametrize("lesson", all_but(LONG, EVERY), ids=lambda one: one.__name__)(
        test
    )


# -- all lessons --------------------------------------------------------------------------------


def test_there_are_eight_lessons_numbered_in_their_order_each_in_a_file_of_its_own():
    assert [lesson.key for lesson in EVERY] == list("12345678")
    assert len({lesson.__module__ for lesson in EVERY}) == 8
    wording.found("lesson means survive", heading(EVERY[1]), 2, 8, alone=True)
    assert neighbours(EVERY[0]) == (None, EVERY[1])
    assert neighbours(EVERY[-1]) == (EVERY[-2], None)


@each
def test_no_number_is_written_into_the_words_by_hand(lesson):
    for template in templates(lesson):
        assert not re.search(r"\d", template), template


@each
def test_every_field_of_the_words_is_filled_and_every_filled_one_is_used(lesson):
    used = {name for text in templates(lesson) for _, name, _, _ in Formatter().parse(text) if name}
    assert used == set(worked(lesson).words)
    assert all(value and "nan" not in value for value in worked(lesson).words.values())


@each
def test_no_number_stands_at_the_start_of_a_line_without_what_it_belongs_to(lesson):
    result = worked(lesson)
    for template in templates(lesson):
        text = result.filled(template)
        assert not re.search(r"\d (%|cm\b)| = |± ", text), text
        assert text.replace("\N{NO-BREAK SPACE}", " ") == template.format_map(result.words).replace(
            "\N{NO-BREAK SPACE}", " "
        )


@each
def test_sentences_are_short_and_paragraphs_few(lesson):
    words = worked(lesson).words
    for template in templates(lesson):
        for sentence in re.split(r"[.?:;] ", template.format_map(words)):
            assert len(sentence.split()) <= 20, sentence
    assert sum(len(text.split()) for text in lesson.story) <= 90
    assert sum(len(text.split()) for text in lesson.explains) <= 100


@each
def test_words_that_promise_too_much_are_not_used(lesson):
    result = " ".join((*templates(lesson), lesson.label, *lesson.unit)).lower()
    assert not [word for word in BANNED if re.search(rf"\b{word}\b", result)]
    assert "!" not in result


@each
def test_one_answer_is_right_and_all_are_explained(lesson):
    options = lesson.question.options
    assert len(options) >= 3 and sum(option.is_right for option in options) == 1
    assert len({option.text for option in options}) == len(options)
    assert all(len(option.why.split()) >= 5 for option in options)


def test_the_right_answer_stands_in_no_default_place():
    places = [lesson.question.options.index(lesson.question.right) for lesson in EVERY]
    assert max(places.count(place) for place in range(3)) <= 4 and len(set(places)) == 3


@each
def test_a_guess_can_reach_what_is_right_and_does_not_start_there(lesson):
    result = worked(lesson)
    guess, picture = result.guess, result.picture
    axis = picture.y if guess.is_curve else picture.x
    assert len(guess.truth) == len(guess.start) == len(guess.names)
    assert len(guess.places) in (0, len(guess.truth)) and (guess.is_curve or len(guess.truth) == 1)
    for value in (*guess.truth, *guess.start):
        assert axis.low <= value <= axis.high
    assert all(picture.x.low <= place <= picture.x.high for place in guess.places)
    assert guess.off(guess.truth) == 0 and guess.off(guess.start) > guess.close > guess.step / 2


@each
def test_the_same_seed_gives_the_same_lesson(lesson):
    if lesson.key in "1367":  # the others take longer and draw in the same way
        again = lesson.work(SEED)
        assert again.words == worked(lesson).words and again.guess == worked(lesson).guess


@each
def test_a_picture_is_well_formed_in_every_size_and_stays_inside(lesson):
    picture = worked(lesson).picture
    for look in LOOKS:
        text = drawn.svg(picture, look, "test")
        assert ElementTree.fromstring(text).tag.endswith("svg") and "nan" not in text
        for _row, x, _, width in drawn._entries(picture, look, drawn.frame(picture, look).left):
            assert x + width <= look.width
        box = drawn.frame(picture, look)
        assert box.bottom - box.top > look.height / 3 and box.right - box.left > look.width / 2


@each
def test_no_line_runs_out_of_the_plot(lesson):
    picture = worked(lesson).picture
    for mark in picture.marks:
        for axis, values in ((picture.x, mark.x), (picture.y, mark.y)):
            inside = values[np.isfinite(values)]
            assert ((axis.low <= inside) & (inside <= axis.high)).all(), mark.label


@each
def test_what_happened_is_hidden_at_first_and_has_a_text_and_a_table(lesson):
    picture = worked(lesson).picture
    assert any(mark.after for mark in picture.marks) and not all(m.after for m in picture.marks)
    assert 'class="after"' in drawn.svg(picture, drawn.WIDE, "test")
    assert picture.alt_after.startswith(picture.alt) and len(picture.alt_after) > len(picture.alt)
    assert len({len(column) for column in picture.table.values()}) == 1


def test_a_label_can_never_become_markup():
    axis = drawn.Axis("a<b", 0, 1, ((0.0, "<i>"),))
    mark = drawn.Mark(np.zeros(2), np.ones(2), "raw", "<script>")
    text = drawn.svg(drawn.Picture(axis, axis, (mark,), "", ""), drawn.WIDE, "test")
    assert "<script>" not in text and "<i>" not in text and ElementTree.fromstring(text) is not None


@each
def test_a_handout_holds_the_whole_lesson_and_asks_nothing_of_a_network(lesson):
    page = handout(lesson, worked(lesson), SEED, 'http://here/teach?s="><script>').decode()
    assert heading(lesson) in page and "<svg" in page and f"seed {SEED}" in page
    assert page.index("Question.") < page.index('class="answer"') < page.index("Answer: ")
    assert "<script" not in page and not re.search(r"src=|url\((?!#)|@import|<link", page)
    assert [*map(unescape, re.findall(r'href="([^"]*)"', page))] == [
        'http://here/teach?s="><script>'
    ]


def test_a_handout_without_an_address_has_no_link():
    assert "href" not in handout(EVERY[0], worked(EVERY[0]), SEED).decode()


# -- numbers, worked out again -------------------------------------------------------------------


def test_coins_turn_a_quarter_round_and_what_is_left_is_taken_off_the_total():
    words, picture = worked(coin_flip.CoinFlip).words, worked(coin_flip.CoinFlip).picture
    yes, no, turned = (len(mark.x) for mark in picture.marks[:3])
    assert yes + no == coin_flip.PUPILS == int(words["n"])
    assert (words["turned"], words["ratio"]) == (
        "25",
        "3",
    )  # half of the tails give the other answer
    assert int(words["said_yes"]) == yes and float(words["said"]) == 100 * yes / (yes + no)
    # P(yes) = 3/4 true + 1/4 (1 − true) is solved for the true share
    assert words["estimate"] == f"{100 * (2 * yes / (yes + no) - 0.5):.0f}"
    said, flipped, between = (float(words[name]) for name in ("said", "turned", "between"))
    assert f"{(said - flipped) / between:.0f}" == words["estimate"]  # as the lesson works it out
    assert between == (float(words["unturned"]) - flipped) / 100
    assert words["error"] == f"{100 * 1.96 * 2 * math.sqrt(3 / 16 / (yes + no)):.0f}"
    turned_yes = sum(place <= picture.marks[0].x.max() for place in picture.marks[2].x)
    assert float(words["true"]) == 100 * (yes - turned_yes + turned - turned_yes) / (yes + no)


def test_the_class_that_everybody_meets_first_has_a_typical_error_of_its_estimate():
    found = coin_flip.ask(stored_lessons.SEED)
    assert 0.25 < abs(found.estimate - found.true.mean()) / found.standard_error < 1.96


def test_the_first_figure_draws_the_estimate_with_its_error():
    words, picture = worked(coin_flip.CoinFlip).words, worked(coin_flip.CoinFlip).picture
    lines = [mark for mark in picture.marks if mark.after and mark.shape == "line"]
    ends = [(mark.x.min(), mark.x.max()) for mark in lines if np.ptp(mark.x) > 0]
    estimate, error = float(words["estimate"]), float(words["error"])
    assert ends == [pytest.approx((estimate - error, estimate + error), abs=1)]  # both are rounded
    assert any(mark.x[0] == mark.x[-1] == pytest.approx(sum(ends[0]) / 2) for mark in lines)


def test_coin_answers_are_right_on_average_over_classes():
    errors = [found.estimate - found.true.mean() for found in map(coin_flip.ask, range(400))]
    se = coin_flip.ask(0).standard_error
    assert abs(np.mean(errors)) < 5 * se / math.sqrt(400)
    assert abs(np.std(errors) / se - 1) < 5 / math.sqrt(800)


def test_the_error_at_each_epsilon_is_that_of_explore_and_lines_are_for_each_age():
    words, module = worked(what_epsilon_does.WhatEpsilonDoes).words, what_epsilon_does
    study = mean_over_budgets(
        module.SOURCE, module.METHOD, module.DELTA, SEED, (0.3, 1.0, 3.0)
    ).study
    assert [words["error_less"], words["error"], words["error_more"]] == together(
        study.error.tolist()
    )
    assert 0 < float(words["moved"]) < 140 / 200 * 2  # a mean of 200 within a range of 140 cm
    answer = mean_over_budgets(module.SOURCE, module.METHOD, module.DELTA, SEED, (1.0,))
    half = (answer.noise_high[0] - answer.noise_low[0]) / 2
    off = np.abs(answer.releases[0] - answer.ordinary) <= half
    assert (int(words["inside"]), int(words["drawn"])) == (sum(map(all, off)), len(off))
    assert (
        off.mean() > 0.8 > float(words["inside"]) / float(words["drawn"])
    )  # at each age, not at all of them
    assert float(words["noise"]) == pytest.approx(math.sqrt(np.mean(half**2)), abs=0.005)


def test_nothing_in_sight_before_the_guess_of_the_second_lesson_gives_it_away():
    lesson = worked(what_epsilon_does.WhatEpsilonDoes)
    truth = np.array(lesson.guess.truth)
    for mark in lesson.picture.marks:
        heights = np.interp(lesson.guess.places, mark.x, mark.y) if not mark.after else None
        assert heights is None or np.abs(heights - truth).min() > 2 * lesson.guess.close


def test_bias_of_clipping_is_that_of_the_pupils_who_are_drawn_and_noise_is_what_it_is():
    words, picture = worked(clipping.Clipping).words, worked(clipping.Clipping).picture
    dots, low = picture.marks[0].x, float(words["low"])
    assert len(dots) == int(words["n"])
    assert float(words["bias_low"]) == pytest.approx(
        dots.mean() - np.clip(dots, 0, low).mean(), abs=0.005
    )
    _, noise = clipping.parts(low, dots)
    assert noise == pytest.approx(math.sqrt(2) * low / (50 * 0.5))
    errors = [math.hypot(*clipping.parts(limit, dots)) for limit in clipping.LIMITS]
    assert float(words["best"]) == clipping.LIMITS[int(np.argmin(errors))]
    assert float(words["least"]) == pytest.approx(min(errors), abs=0.005)
    assert float(words["best_twice"]) >= float(words["best"])


def test_pupils_are_in_a_strip_of_their_own_and_no_dot_is_an_error():
    picture = worked(clipping.Clipping).picture
    dots, lines = (
        [mark for mark in picture.marks if mark.shape == shape] for shape in ("dot", "line")
    )
    assert min(mark.y.min() for mark in dots) > max(np.nanmax(mark.y) for mark in lines)
    strip = next(at for at, text in picture.y.ticks if text == "Pupils")
    assert all(mark.y.min() < strip < mark.y.max() for mark in dots)
    assert all(
        at < mark.y.min() for mark in dots for at, text in picture.y.ticks if text != "Pupils"
    )


@pytest.mark.slow
def test_errors_with_few_and_many_readings_are_simulated():
    words = worked(when_privacy_is_free.WhenPrivacyIsFree).words
    source = SparseCurves(mean="growth", n_curves=200, n_observations_per_curve=50)
    study = simulated_study(source, when_privacy_is_free._METHOD, [Budget(1.0, 1 / 200**2)], SEED)
    assert float(words["private_dense"]) == pytest.approx(study.error[0], abs=0.005)
    assert float(words["without_dense"]) == pytest.approx(study.baseline, abs=0.005)
    assert words["ratio"] == f"{study.error[0] / study.baseline:.0f}"
    few = float(words["private_dense"]) / float(words["without_dense"])
    assert few > 2 * float(words["many_private"]) / float(words["many_without"])


@pytest.mark.slow
def test_more_hospitals_err_more_and_one_alone_most():
    found, words = many_sites.measure(SEED), worked(many_sites.ManySites).words
    source = SparseCurves(mean="growth", n_curves=1000, n_observations_per_curve=10, n_servers=20)
    study = simulated_study(source, many_sites._METHOD, [many_sites.BUDGET], SEED)
    assert float(words["together"]) == pytest.approx(study.error[0], abs=0.005)
    assert found.together[-1] > 2 * found.together[0]
    assert float(words["alone"].removesuffix(" cm")) > float(words["together_some"])


@pytest.mark.parametrize(
    ("alone", "reaches", "said"),
    [
        (
            (0.4, 0.6, 1.0, 3.0, math.nan),
            2.0,
            ["One of 10: 3.00 cm", "One of 20: too few children"],
        ),
        (
            (0.4, 0.6, 1.0, math.nan, math.nan),
            1.0,
            ["One of 10: too few children", "One of 20: too few children"],
        ),
        ((0.4, 0.6, 1.0, 1.5, 1.9), 1.9, []),
    ],
)
def test_where_the_line_of_one_hospital_ends_the_figure_says_what_comes_next(alone, reaches, said):
    together = np.array([0.4, 0.5, 0.7, 0.9, 1.3])
    errors = many_sites.SiteErrors(together, np.array(alone), 0.3)
    picture = many_sites.ManySites.of_errors(errors).picture
    assert picture.y.high == 2.0
    line = next(mark for mark in picture.marks if mark.label == "One hospital alone")
    assert line.y[-1] == pytest.approx(reaches) and (np.diff(line.x) > 0).all()
    drawing = drawn.svg(picture, drawn.NARROW, "test")
    shown = [
        text for text in re.findall(r"<text[^>]*>([^<]*)", drawing) if text.startswith("One of")
    ]
    assert shown == said


def test_the_formula_that_gives_the_mean_away_is_written_in_its_lesson():
    lesson = reused_noise.ReusedNoise
    (formula,) = [text for text in lesson.explains if "=" in text]
    found = reuse_topic.reuse_answer(0.3, 1.0, 1 / 200**2, SEED, False)
    (s1, s2), r1, r2 = found.scales, found.first, found.second
    plain = formula.strip("*").replace("\N{NO-BREAK SPACE}", " ").partition("= ")[2]
    for name, code in (
        ("s₂ r₁", "s2 * r1"),
        ("s₁ r₂", "s1 * r2"),
        ("s₂ − s₁", "s2 - s1"),
        ("−", "-"),
    ):
        plain = plain.replace(name, code)
    mean = eval(plain, {}, {"s1": s1, "s2": s2, "r1": r1, "r2": r2})
    assert np.abs(mean - found.exact).max() < 1e-9


def test_right_guesses_follow_from_the_noise_and_from_epsilon_alone():
    words, delta = worked(same_epsilon.SameEpsilon).words, same_epsilon.DELTA
    for epsilon in (0.1, 1.0, 10.0):
        mu = 2 * norm.ppf(same_epsilon.accuracy(epsilon) / 100)
        spent = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(
            -mu / 2 - epsilon / mu
        )
        assert spent == pytest.approx(delta, rel=1e-4)  # Balle and Wang (2018)
    assert words["pure"] == f"{100 * math.e / (1 + math.e):.1f} %"
    assert words["gauss"] == percent_up(same_epsilon.accuracy(1.0) / 100)
    for error, of in (("error_gauss", delta), ("error_pure", 0.0)):  # as Lab says, which takes both
        study = mean_over_budgets(same_epsilon.SOURCE, AdaptiveMean(), of, SEED, (1.0,)).study
        assert float(words[error]) == pytest.approx(study.error[0], abs=0.005)


def test_two_releases_with_one_draw_give_the_average_and_with_fresh_noise_they_do_not():
    words = worked(reused_noise.ReusedNoise).words
    found = reuse_topic.reuse_answer(0.3, 1.0, 1 / 200**2, SEED, False)
    one, other = found.scales
    worked_out = (other * found.first - one * found.second) / (other - one)
    assert np.abs(worked_out - found.exact).max() < 10 ** -int(words["digits"]) * 10
    assert int(words["digits"]) >= 11 and float(words["fresh"]) > 0.1
    assert float(words["noise_first"]) == pytest.approx(found.noise[0], abs=0.05)


def test_the_best_attacker_wins_as_often_as_the_noise_allows():
    words = worked(attackers_game.AttackersGame).words
    most = float(Gaussian(accounting.exact_mu(1.0, attackers_game.DELTA)).right())
    assert (
        words["accuracy"] == percent_up(most) and float(words["best"]) == math.ceil(200 * most) / 10
    )
    tail = sum(math.comb(20, k) for k in range(int(words["low"]))) / 2**20
    assert tail < 0.025 < tail + math.comb(20, int(words["low"])) / 2**20
    assert int(words["high"]) == 20 - int(words["low"])


@pytest.fixture
def as_kept():
    """As many data sets as what is kept was made of."""
    yield from fewer_data_sets(
        {
            "engine.simulation.studies.MAX_DATA_SETS": 100,
            "engine.simulation.studies._FEWEST_DATA_SETS": 4,
        }
    )


@pytest.mark.parametrize(
    "name",
    all_but(
        (
            "errors of 200 children by observations",
            "errors of 1000 children by sites",
            "errors of 2000 children by observations",
        ),
        lesson_store.makers(),
    ),
)
def test_what_is_kept_of_a_lesson_is_what_the_engine_makes(name, as_kept):
    make = lesson_store.makers()[name]
    result = stored_lessons.numbers_of(
        name, stored_lessons.SEED, lambda seed: pytest.fail("not kept")
    )
    for one, again in zip(result, make(stored_lessons.SEED), strict=True):
        np.testing.assert_allclose(one, again, rtol=1e-6)


def test_an_error_that_a_lesson_keeps_is_that_of_lab_for_the_same_scenario(as_kept):
    """One of each picture; what is kept of all others is made again in `make test-all`."""
    kept = when_privacy_is_free.lines(200, stored_lessons.SEED)
    growth = SparseCurves(mean="growth", n_curves=200, n_observations_per_curve=2)
    default = mechanisms.default(MEAN_FUNCTION.mechanism, MEAN_FUNCTION.key)
    lab = mean_over_budgets(growth, default, 1 / 200**2, stored_lessons.SEED, (1.0,))
    assert kept.private[0] == pytest.approx(lab.study.error[0], rel=1e-6)
    assert kept.ordinary[0] == pytest.approx(lab.study.baseline, rel=1e-6)


def test_of_another_seed_nothing_is_kept():
    assert stored_lessons.numbers_of("any", 2, lambda seed: [seed, [1.0, np.nan]])[0] == 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_what_lessons_say_holds_for_other_seeds_with_all_repeats(seed, as_kept):
    by_name = {lesson.key: lesson.work(seed).words for lesson in EVERY}
    assert float(by_name["2"]["moved"]) < float(by_name["2"]["noise"])
    assert float(by_name["4"]["many_private"]) < 1.3 * float(by_name["4"]["many_without"])
    assert float(by_name["5"]["together"]) > float(by_name["5"]["centre"])
    assert 10 < float(by_name["8"]["best"]) < 12
