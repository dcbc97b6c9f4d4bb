"""Answers of a released curve: closed forms, places, refusals, and the card alone."""

import json
from dataclasses import replace

import numpy as np
import pytest

from engine import __main__
from engine.answers import ReleasedCurve, card, curve_questions
from engine.answers.released_curve import Status
from engine.answers.reply import Verdict
from engine.answers.times import crossings, length_above, pieces_of
from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.types import Budget, PublicFacts
from engine.mechanisms import mechanisms
from engine.numerics import end_slopes
from engine.numerics.bases import Basis
from engine.numerics.public_curves import PublicCurve
from engine.release import published
from engine.release.ledger import Ledger
from engine.sources import sources

TIMES = np.linspace(0, 1, 37)
FACTS = PublicFacts(
    value_name="Height",
    value_unit="cm",
    time_name="Age",
    time_unit="years",
    time_low=2.0,
    time_high=18.0,
    value_low=0.0,
    value_high=10.0,
)


def project(function, size):
    nodes = (np.arange(20_000) + 0.5) / 20_000
    return Basis(size, family="cosine")(nodes).T @ function(nodes) / len(nodes)


def curve(function, size=12, sd=0.05, **other):
    return ReleasedCurve(
        facts=FACTS,
        centre=project(function, size),
        covariance=sd**2 * np.eye(size),
        effective_size=200.0,
        **other,
    )


def ask(key, released, **values):
    return curve_questions.build(key, values).answer(released)


HILL = curve(lambda t: 2 + 6 * np.exp(-(((t - 0.4) / 0.2) ** 2)))
STRAIGHT = curve(lambda t: 1 + 8 * t)


# -- slopes at the ends ---------------------------------------------------------------------------


@pytest.mark.parametrize("size", range(4, 22))
def test_the_map_to_slopes_inverts_the_coefficients_of_curves_with_slopes(size):
    model = np.concatenate([np.eye(size)[:, : size - 2], end_slopes.end_tails(size)], axis=1)
    np.testing.assert_allclose(end_slopes.slope_map(size) @ model, np.eye(size), atol=1e-9)


@pytest.mark.parametrize("size", [4, 7, 14])
def test_a_parabola_is_given_back_at_every_time(size):
    coefficients = end_slopes.end_tails(size) @ [2.0, 0.0]
    coefficients[0] += 3.0
    np.testing.assert_allclose(
        end_slopes.slope_rows(size, TIMES) @ coefficients, 3 + 2 * TIMES - TIMES**2, atol=1e-9
    )


def test_tails_are_the_cosine_coefficients_of_both_parabolas():
    for k, parabola in enumerate((lambda t: t - t**2 / 2, lambda t: t**2 / 2)):
        np.testing.assert_allclose(end_slopes.end_tails(9)[:, k], project(parabola, 9), atol=1e-8)


@pytest.mark.parametrize("rows", [end_slopes.slope_rows, end_slopes.cosine_rows])
@pytest.mark.parametrize("order", [1, 2])
def test_rows_of_derivatives_are_differences_of_those_below(rows, order):
    inside, step = np.linspace(0.1, 0.9, 21), 1e-5
    difference = (rows(8, inside + step, order - 1) - rows(8, inside - step, order - 1)) / 2 / step
    np.testing.assert_allclose(rows(8, inside, order), difference, rtol=1e-5, atol=1e-4)


def test_the_check_of_details_rejects_five_in_a_hundred_curves_that_pass():
    rng, size, repeats = np.random.default_rng(3), 9, 2000
    root = rng.standard_normal((size, size)) / 4 + np.eye(size)
    truth = end_slopes.fewer_waves(size) @ rng.standard_normal(size - 2)
    drawn = truth + rng.standard_normal((repeats, size)) @ root.T
    rejected = np.mean(
        [
            ReleasedCurve(facts=FACTS, centre=a, covariance=root @ root.T).p_detail < 0.05
            for a in drawn
        ]
    )
    assert abs(rejected - 0.05) < 5 * np.sqrt(0.05 * 0.95 / repeats)


# -- numbers --------------------------------------------------------------------------------------


def test_an_interval_of_a_linear_question_is_the_normal_one():
    answer = ask("difference", HILL, first=6.0, second=10.0)
    weights = np.subtract(*(end_slopes.slope_rows(12, np.array(t)) for t in (0.5, 0.25)))
    low, high = answer.interval
    assert answer.value == pytest.approx(weights @ HILL.centre)
    assert high - low == pytest.approx(2 * 1.96 * 0.05 * np.linalg.norm(weights), rel=1e-4)


def test_an_area_is_the_average_times_the_length_in_the_unit_of_times():
    area, average = (ask(key, HILL, start=4.0, end=9.0) for key in ("area", "average"))
    np.testing.assert_allclose(area.interval, 5 * np.array(average.interval))
    assert area.unit == "cm × years"


def test_no_answer_is_beyond_what_is_publicly_possible_as_the_drawn_curve_is_not():
    steep = curve(lambda t: -5 + 25 * t, sd=2.0)
    for key in ("value", "average", "peak_height", "trough_height"):
        (low, high), value = ask(key, steep).interval, ask(key, steep).value
        assert 0 <= low <= value <= high <= 10
    assert ask("difference", steep).interval[1] == ask("difference", steep).value == 10
    assert max(ask("area", steep).interval) <= 160


def test_velocity_is_per_unit_of_time_and_right_at_the_ends_too():
    for time in (2.0, 10.0, 18.0):
        answer = ask("velocity", STRAIGHT, time=time)
        assert answer.value == pytest.approx(0.5, abs=1e-3) and answer.unit == "cm per year"


def test_a_peak_and_its_height_are_found_where_they_are():
    time, height = ask("peak_time", HILL), ask("peak_height", HILL)
    assert time.holds(2 + 16 * 0.4) and abs(time.value - 8.4) < 0.2
    assert height.holds(8.0)
    assert ask("trough_time", HILL).holds(18.0)


def test_a_mirrored_curve_has_its_trough_where_the_peak_was():
    mirrored = replace(
        HILL, centre=-HILL.centre, facts=replace(FACTS, value_low=-10.0, value_high=0.0)
    )
    assert ask("trough_time", mirrored).pieces == ask("peak_time", HILL).pieces
    low, high = ask("trough_height", mirrored).interval
    np.testing.assert_allclose([-high, -low], ask("peak_height", HILL).interval)


def test_the_fastest_rise_and_fall_are_on_both_sides_of_a_hill():
    turn = 16 * 0.2 / np.sqrt(2)
    assert ask("fastest_time", HILL, direction="rise").holds(8.4 - turn)
    assert ask("fastest_time", HILL, direction="fall").holds(8.4 + turn)
    speed = 6 / 0.2 / 16 * np.sqrt(2) * np.exp(-0.5)
    assert ask("fastest_speed", HILL, direction="rise").holds(speed)
    assert ask("fastest_speed", HILL, direction="fall").holds(-speed)


def test_a_level_is_crossed_twice_by_a_hill_and_time_above_lies_between():
    crossed, above = ask("crossing", HILL, level=5.0), ask("time_above", HILL, level=5.0)
    reach = 16 * 0.2 * np.sqrt(np.log(2))
    assert len(crossed.values) == 2
    assert crossed.holds(8.4 - reach) and crossed.holds(8.4 + reach)
    assert above.holds(2 * reach)
    below = ask("time_below", HILL, level=5.0)
    np.testing.assert_allclose(above.value + below.value, 16.0)


def test_never_and_always_exclude_each_other():
    assert ask("time_above", HILL, level=20.0).verdict is Verdict.NEVER
    assert ask("time_above", HILL, level=-20.0).verdict is Verdict.ALWAYS
    vague = replace(HILL, covariance=100 * np.eye(12), passed=True)
    for key in ("time_above", "crossing"):
        assert ask(key, vague, level=5.0).verdict is Verdict.OPEN
    assert ask("peak_time", vague).verdict is Verdict.OPEN


def test_a_curve_so_steep_that_no_grid_point_is_near_the_level_still_crosses_it():
    exact = replace(STRAIGHT, covariance=1e-12 * np.eye(12), passed=True)
    answer = ask("crossing", exact, level=4.99)
    assert len(answer.values) == 1 and answer.holds(answer.values[0])


@pytest.mark.parametrize(
    "key", ["value", "difference", "average", "crossing", "time_above", "peak_height", "peak_time"]
)
def test_what_holds_together_contains_what_holds_alone(key):
    alone, jointly = ask(key, HILL), ask(key, HILL.together())
    for low, high in alone.pieces:
        assert any(a <= low + 1e-9 and high - 1e-9 <= b for a, b in jointly.pieces), key


def test_a_public_curve_is_added_to_what_is_released():
    prior = PublicCurve((0.0, 4.0, 1.0))
    moved = replace(HILL, offset=prior)
    low, high = ask("value", HILL, time=6.0).interval
    np.testing.assert_allclose(ask("value", moved, time=6.0).interval, (low + 2, high + 2))
    assert ask("velocity", moved).verdict is Verdict.REFUSED


def test_lengths_and_crossings_of_broken_lines():
    times = np.linspace(0, 1, 201)
    assert float(length_above(times - 0.3333)) == pytest.approx(1 - 0.3333)
    assert crossings(times - 0.3333) == [pytest.approx(0.3333)]
    assert float(length_above(np.zeros(201) - 1)) == 0 and float(length_above(np.ones(201))) == 1
    assert pieces_of(np.ones(201, dtype=bool), 0.005) == [(0.0, 1.0)]


# -- refusals -------------------------------------------------------------------------------------


def keys(released, verdict):
    return {cls.key for cls in curve_questions.all() if cls().answer(released).verdict is verdict}


SPEEDS = {"velocity", "acceleration", "fastest_time", "fastest_speed"}


def test_few_people_or_few_waves_answer_nothing():
    everything = {cls.key for cls in curve_questions.all()}
    assert keys(replace(HILL, effective_size=11.0), Verdict.REFUSED) == everything
    assert keys(curve(lambda t: 5 + t, size=3), Verdict.REFUSED) == everything


def test_speeds_need_a_curve_without_finer_detail_and_enough_waves():
    rough = curve(lambda t: 5 + np.cos(40 * t), sd=0.01)
    assert rough.status is Status.COARSE
    refused = [
        keys(each, Verdict.REFUSED) - {"next_person", "modes", "groups"}
        for each in (
            rough,
            curve(lambda t: 5 + t, size=9, passed=True),
            curve(lambda t: 5 + t, size=7, passed=True),
        )
    ]
    assert refused == [SPEEDS, {"acceleration"}, SPEEDS]


def test_without_delta_only_linear_questions_are_answered():
    answered = {cls.key for cls in curve_questions.all()} - keys(
        replace(HILL, is_pure=True), Verdict.REFUSED
    )
    assert answered == {"value", "difference", "average", "area"}


def test_a_rough_curve_is_answered_by_both_readings():
    rough = curve(lambda t: 5 + np.cos(40 * t), sd=0.01)
    low, high = ask("value", rough, time=2.0).interval
    for rows in (end_slopes.slope_rows, end_slopes.cosine_rows):
        assert low < rows(12, np.array(0.0)) @ rough.centre < high
    assert ask("value", rough).notes


def test_times_outside_the_range_are_refused_with_the_range():
    with pytest.raises(InputError, match="between 2 and 18"):
        ask("value", HILL, time=19.0)
    with pytest.raises(InputError):
        ask("average", HILL, start=9.0, end=8.0)


def test_a_release_without_covariance_is_refused():
    source = sources.build("sparse_curves", {})
    for method in (
        mechanisms.build("noisy_gradient_mean", {}),
        mechanisms.build("adaptive_mean", {"band": "none"}),
    ):
        estimate = method.release(
            source.draw(1, generator(1, 0, 0)), (Budget(2.0, 1e-5),), generator(1, 1, 0)
        )
        with pytest.raises(InputError, match="covariance"):
            ReleasedCurve.of(estimate, source.facts)


# -- the card alone -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    book, sea = Ledger(folder / "ledger"), sources.build("sea_temperature", {})
    one = published.publish(
        sea,
        mechanisms.build("adaptive_mean", {}),
        Budget(2.0, 1e-4),
        book,
        "sea",
        Budget(3.0, 1e-2),
    )
    (folder / "guarantee.json").write_text(json.dumps(one.card))
    return folder, one, book, sea


def test_the_card_gives_the_very_answers_of_the_estimate(release):
    estimate = mechanisms.build("adaptive_mean", {}).release(
        sources.build("sparse_curves", {"n_curves": 500}).draw(1, generator(1, 0, 0)),
        (Budget(1.0, 1e-5),),
        generator(1, 1, 0),
    )
    direct = ReleasedCurve.of(estimate, FACTS)
    again = card.read(
        json.loads(
            json.dumps({"kind": "differential privacy guarantee", "answers": card.written(direct)})
        )
    )
    for cls in curve_questions.all():
        assert json.dumps(cls().answer(direct).plain()) == json.dumps(cls().answer(again).plain())


FEW = (0.0, 0.1, 0.3, 0.5, 1.0)


def asked_again(entry):
    return card.read(
        json.loads(json.dumps({"kind": "differential privacy guarantee", "answers": entry}))
    )


def test_the_card_keeps_few_common_times_and_refuses_times_that_cannot_be():
    curve = replace(HILL, times=FEW, wider=1.2)
    again = asked_again(card.written(curve))
    assert again.times == FEW and again.wider == 1.2
    assert again.linear(lambda f: f(0.6)) == curve.linear(lambda f: f(0.6))
    for wrong in (
        {"few_times": [0.0, 2.0]},
        {"few_times": [0.5, 0.1]},
        {"few_times": None},
        {"band_factor": 0.5},
        {"band_factor": None},
    ):
        with pytest.raises(InputError):
            asked_again(card.written(curve) | wrong)


def test_a_card_of_version_06_keeps_its_factor_and_its_few_times():
    entry = card.written(HILL)
    del entry["few_times"], entry["band_factor"]
    earlier = asked_again(entry | {"unseen": {"times": list(FEW), "scale": 0.6}})
    assert earlier.times == FEW and earlier.wider == 1.1
    assert asked_again(entry | {"unseen": None}).times == ()


def test_between_few_times_an_answer_holds_all_ways_to_draw_the_curve():
    curve = replace(HILL, times=FEW, covariance=1e-12 * np.eye(HILL.size))
    at, between = (curve.linear(lambda f, at=at: f(at))[1] for at in (0.3, 0.75))
    assert at[1] - at[0] < 1e-4 < 0.1 < between[1] - between[0]
    values = curve.waves(np.array(FEW)) @ curve.centre
    assert between[0] < (values[-2] + values[-1]) / 2 < between[1]  # on the straight line


def test_a_published_release_is_asked_from_its_card_without_data_or_charge(
    release, capsys, monkeypatch
):
    folder, one, book, sea = release
    before = book.standing(sea)
    path = str(folder / "guarantee.json")
    monkeypatch.setattr("engine.sources.Source.draw", None, raising=False)
    outputs = []
    for _ in range(2):
        assert __main__.main(["ask-card", "--json", path]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    plain = json.loads(outputs[0])
    assert {*plain} == {cls.key for cls in curve_questions.all()}
    low, high = plain["average"]["pieces"][0]
    assert low < one.columns[one.value].mean() < high
    assert book.standing(sea) == before


def test_options_of_a_question_reach_it(release, capsys):
    path = str(release[0] / "guarantee.json")
    assert __main__.main(["ask-card", path, "value", "--time", "3"]) == 0
    assert "3 months" in capsys.readouterr().out
    for words in (
        ["value", "--time", "300"],
        ["nothing"],
        ["value", "--when", "3"],
        ["value", "--time"],
    ):
        assert __main__.main(["ask-card", path, *words]) == 2
        assert "error:" in capsys.readouterr().err


def test_a_damaged_card_is_refused():
    good = {"kind": "differential privacy guarantee", "answers": card.written(HILL)}
    assert card.read(good).size == 12

    def broken(**changes):
        return {**good, "answers": {**good["answers"], **changes}}

    covariance = good["answers"]["covariance"]
    for bad in (
        {},
        [],
        {"kind": good["kind"]},
        broken(version=2),
        broken(centre=[1.0]),
        broken(centre=["1"] * 12),
        broken(covariance=covariance[:-1]),
        broken(covariance=[-1.0, *covariance[1:]]),
        broken(basis=None),
        broken(people=-1),
        broken(centre=[float("nan")] * 12),
        broken(basis={"family": "haar", "size": 12}),
        broken(units={}),
    ):
        with pytest.raises(InputError):
            card.read(bad)


# -- coverage -------------------------------------------------------------------------------------


def coverage(mean, epsilon, repeats, questions, **settings):
    """How often each answer holds the number of the true curve, among releases that answer."""
    source = sources.build("sparse_curves", {"mean": mean, "n_curves": 500, **settings})
    method, held = mechanisms.build("adaptive_mean", {}), {key: [] for key, _, _ in questions}
    for block in range(repeats // 25):
        estimate = method.release(
            source.draw(25, generator(1, 0, block)),
            (Budget(epsilon, 500.0**-2),),
            generator(1, 1, block),
        )
        for repeat in range(25):
            released = ReleasedCurve.of(estimate, source.facts, 0, repeat)
            for key, values, truth in questions:
                answer = ask(key, released, **values)
                if answer.pieces:
                    held[key].append(answer.holds(truth))
    return {key: (np.mean(each), len(each)) for key, each in held.items()}


def cell(mean):
    source = sources.build("sparse_curves", {"mean": mean})
    facts, truth = source.facts, source.truth
    fine = np.linspace(0, 1, 20_001)
    heights = truth.at(fine)
    at = dict(
        zip(
            ("value", "from", "to", "start", "end"),
            map(float, facts.from_unit_time(np.array([0.37, 0.25, 0.75, 0.2, 0.6]))),
            strict=True,
        )
    )
    level = {"growth": 140.0, "mu1": 1.2}[mean]
    within = (fine >= 0.2) & (fine <= 0.6)
    length = facts.time_high - facts.time_low
    crossing = fine[:-1][np.diff(np.sign(heights - level)) != 0][0]
    return [
        ("value", {"time": at["value"]}, heights[7400]),
        ("difference", {"first": at["from"], "second": at["to"]}, heights[15000] - heights[5000]),
        (
            "average",
            {"start": at["start"], "end": at["end"]},
            np.trapezoid(heights[within], fine[within]) / 0.4,
        ),
        ("crossing", {"level": level}, facts.time_low + length * crossing),
        ("time_above", {"level": level}, length * (heights > level).mean()),
        ("peak_time", {}, facts.time_low + length * fine[heights.argmax()]),
        ("peak_height", {}, heights.max()),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mean", "repeats"),
    [
        ("mu1", 50),
        pytest.param("mu1", 300, marks=pytest.mark.slow),
        pytest.param("growth", 300, marks=pytest.mark.slow),
    ],
)
def test_answers_hold_the_truth_in_95_of_100_releases(mean, repeats):
    for key, (share, count) in coverage(mean, 1.0, repeats, cell(mean)).items():
        assert count > 0.6 * repeats, key
        assert share > 0.95 - 5 * np.sqrt(0.95 * 0.05 / count), (key, share)
