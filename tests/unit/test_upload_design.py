"""What is stated about observation times: asked for in full, and the same however a file is laid out."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from engine.core.errors import InputError
from engine.core.random_streams import generator
from engine.core.typed import record
from engine.core.types import Budget, Design, PublicFacts
from engine.exports import code_for
from engine.mechanisms import mechanisms
from engine.numerics.observation_times import draw_times
from engine.questions import ask
from engine.release import request
from engine.release.data_sections import RequestFacts, design_of
from engine.release.published import release_cost
from engine.uploads.curves import Upload
from engine.uploads.design import StatedDesign, moved_to_common, numbers_in
from engine.uploads.doubts import doubts, doubts_of_bounds, doubts_of_people, doubts_of_period
from engine.uploads.facts import declare
from engine.uploads.own_file import OwnFile
from engine.uploads.stated import design as design_in_words
from tests import files
from tests.files import requested
from tests.readings import curves_in, request_with_reading, upload_of
from tests.sentences import of_topic

wording = of_topic("upload")

BOUNDS = {"value_low": 0, "value_high": 200, "time_low": 2, "time_high": 18, "origin": "a manual"}
COMMON = StatedDesign(law="common", times=(2, 6, 10, 18))
STATED = [
    COMMON,
    StatedDesign(law="visits", gap=2.5),
    StatedDesign(law="windows", window=4.0),
    StatedDesign(law="density", heights=(1.0, 2.0, 1.0)),
    StatedDesign(law="even"),
    StatedDesign(law="unknown"),
]


def stated(design, observations=4, **more):
    return declare(**BOUNDS, design=design, observations=observations, **more)


def upload(frame, design=COMMON, **more):
    return Upload(curves=curves_in(files.csv(frame)), declared=stated(design, **more))


# -- what must be stated


def test_nothing_is_taken_for_even_times_by_silence():
    with pytest.raises(InputError, match="State how the observation times come about") as no:
        declare(**BOUNDS, observations=4)
    assert no.value.field == "design" and "always possible" in no.value.hint
    with pytest.raises(InputError, match="how many observations each curve was planned"):
        declare(**BOUNDS, design=StatedDesign(law="even"))
    facts = stated(StatedDesign(law="unknown"))
    assert not facts.design.is_known and not facts.symmetric
    assert stated(StatedDesign(law="even"), symmetric=True).symmetric


@pytest.mark.parametrize(
    ("design", "observations", "words"),
    [
        (StatedDesign(law="often"), 4, "State how the observation times"),
        (StatedDesign(law="common"), None, "State the times at which everybody"),
        (StatedDesign(law="common", times=(1, 3)), 4, "1 of 2 stated times lie outside"),
        (StatedDesign(law="common", times=(3, float("nan"))), 4, "finite numbers"),
        (StatedDesign(law="visits"), 4, "the interval between observations"),
        (
            StatedDesign(law="visits", gap=6.0),
            4,
            "4 observations 6 apart do not fit between 2 and 18",
        ),
        (StatedDesign(law="windows", window=17.0), 4, "at most 16, the length of the range"),
        (StatedDesign(law="windows", window=0.0), 4, "above 0"),
        (StatedDesign(law="density"), 4, "how often times occur"),
        (StatedDesign(law="density", heights=(1, -2)), 4, "must not go below zero"),
        (StatedDesign(law="even"), 0, "whole number from 1"),
        (StatedDesign(law="even"), 2.5, "whole number from 1"),
        (StatedDesign(law="even"), 20_000, "whole number from 1"),
    ],
)
def test_a_design_must_be_complete_and_fit_the_stated_range(design, observations, words):
    with pytest.raises(InputError, match=words) as refused:
        stated(design, observations)
    assert refused.value.field


@pytest.mark.parametrize(
    ("times", "words"),
    [(range(2, 10), "8 common times from 2 to 9 years"), ((4,), "1 common time at 4 years")],
)
def test_common_times_are_told_by_their_number_and_range(times, words):
    facts = stated(StatedDesign(law="common", times=tuple(times)), 1, time_unit="years")
    assert design_in_words(facts) == f"everybody at {words}"


def test_designs_are_stated_in_the_unit_of_the_file():
    assert stated(COMMON).design == Design.common((0.0, 0.25, 0.5, 1.0))
    assert stated(STATED[1]).design.gap == 2.5 / 16
    assert stated(STATED[2]).design.window == 0.25
    assert stated(STATED[3]).design.density == (1.0, 2.0, 1.0)


def test_common_times_say_how_many_observations_there_are_unless_it_is_stated():
    assert stated(COMMON, None).observations_per_curve == 4
    assert stated(COMMON, 3).observations_per_curve == 3


def test_single_observations_need_a_design_and_no_number():
    with pytest.raises(InputError, match="observation times"):
        declare(**BOUNDS, single=True, reading_sd=1.0)
    facts = declare(**BOUNDS, single=True, reading_sd=1.0, design=StatedDesign(law="even"))
    assert facts.observations_per_curve == 1
    with pytest.raises(InputError, match="observation times"):
        declare(**BOUNDS, single=True, reading_sd=1.0, design=StatedDesign(law="visits", gap=2))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("2, 6, 10", (2, 6, 10)),
        ("2; 6;10", (2, 6, 10)),
        ("2 6", (2, 6)),
        ("", ()),
        ("0 to 1 by 0.25", (0, 0.25, 0.5, 0.75, 1)),
        ("0 to 0.3 by 0.1", (0, 0.1, 0.2, 0.3)),
    ],
)
def test_lists_of_numbers_are_read(text, numbers):
    assert numbers_in(text, "times") == numbers


@pytest.mark.parametrize(
    "text", ["a, b", "1 to 2 by 0", "2 to 1 by 1", "1 to x by 2", "nan", "0 to 1e9 by 0.001"]
)
def test_what_is_no_list_of_numbers_is_refused(text):
    with pytest.raises(InputError) as refused:
        numbers_in(text, "times")
    assert refused.value.field == "times"


# -- files


@settings(max_examples=12)
@given(some.integers(2, 9), some.integers(1, 6), some.randoms(use_true_random=False))
def test_wide_and_long_files_of_the_same_numbers_are_exactly_the_same_data(n, m, chance):
    """Whatever is missing, and however the rows of the long file are ordered within a person."""
    times = sorted(chance.sample(range(200, 1801), m))
    times = [t / 100 for t in times]
    rows = [
        [round(chance.uniform(-10, 110), 2) if chance.random() < 0.8 else None for _ in times]
        for _ in range(n)
    ]
    rows[0][0] = 50.0
    wide = pd.DataFrame(rows, columns=[f"{t:g}" for t in times]).assign(
        id=[f"p{k}" for k in range(n)]
    )
    long = files.melted(wide) if m > 1 else wide.melt("id", var_name="time", value_name="value")
    design = StatedDesign(law="common", times=tuple(times))
    if m == 1:  # a table with one column of times does not look wide
        wide = long
    one, other = (
        upload(frame, design, observations=m).draw(1, generator(0, 0, 0)) for frame in (wide, long)
    )
    for name in ("times", "values", "counts", "server"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert one.facts == other.facts and one.sizes == other.sizes
    assert set(one.times[0]) <= set(one.facts.design.times)


def test_each_observation_goes_to_the_nearest_common_time_whatever_the_others_are():
    design, times = Design.common((0.1, 0.2, 0.9)), np.random.default_rng(0).random(200)
    moved = moved_to_common(times, design)
    stated_times = np.array(design.times)
    nearest = np.abs(times[:, None] - stated_times).min(axis=1)
    assert np.array_equal(np.abs(moved - times), nearest) and set(moved) == set(design.times)
    for k in (0, 7, 100):
        assert moved_to_common(times[k : k + 1], design)[0] == moved[k]
    assert np.array_equal(moved_to_common(times, Design()), times)


def test_sizes_are_those_that_are_stated_whatever_single_curves_have():
    frame = files.growth_frame(20, 8).rename(
        columns={"child": "id", "age": "time", "height": "value"}
    )
    short = frame.drop(frame.index[frame.id == "c003"][1:])
    sizes = {
        upload(table, StatedDesign(law="even"), observations=9).sizes for table in (frame, short)
    }
    assert len(sizes) == 1
    one = sizes.pop()
    assert (one.fewest_per_curve, one.n_observations) == (9, 180)
    drawn = upload(short, StatedDesign(law="even"), observations=9).draw(1, generator(0, 0, 0))
    assert drawn.sizes == one and drawn.pooled().sizes == one
    assert drawn.counts.min() == 1


@pytest.mark.parametrize("design", STATED, ids=lambda d: d.law)
def test_what_was_stated_is_written_and_read_back_to_the_last_bit(design):
    facts = stated(design, 4)
    assert StatedDesign.of(facts) == design
    plain = json.loads(json.dumps(StatedDesign.of(facts).to_plain()))
    assert record(StatedDesign, plain, "design").on_unit_time(facts) == facts.design


@settings(max_examples=12)
@given(
    some.lists(
        some.floats(-50, 50).map(lambda x: round(x, 4)), min_size=1, max_size=9, unique=True
    ),
    some.floats(0.1, 30).map(lambda x: round(x, 3)),
)
def test_any_stated_times_are_written_back_as_they_were_stated(times, more):
    low, high = min(times) - more, max(times) + more
    design = StatedDesign(law="common", times=tuple(sorted(times)))
    facts = declare(0, 1, low, high, "x", design=design, observations=1)
    again = StatedDesign.of(facts)
    assert again.times == pytest.approx(design.times)
    assert again.on_unit_time(facts) == facts.design


# -- a request file


def request_of(tmp_path, frame, facts, **columns):
    (tmp_path / "data.csv").write_bytes(files.csv(frame))
    plain = request_with_reading(
        {
            "version": 1,
            "data": {
                "file": "data.csv",
                "columns": {"id": "id", **columns},
                "facts": {**BOUNDS, **facts},
            },
            "mechanism": {"key": "adaptive_mean"},
            "budgets": [{"epsilon": 1.0, "delta": 1e-5}],
        },
        files.csv(frame),
    )
    return requested(json.dumps(plain), tmp_path).source


def test_times_of_a_header_are_offered_only_to_files_that_have_them():
    for times, is_offered in (((), False), ((2.0, 6.0), True)):
        facts = RequestFacts.of({"facts": {"design": {"law": "common"}}})
        with pytest.raises(InputError, match="State the times at which everybody") as refused:
            design_of(facts, times).on_unit_time(PublicFacts())
        assert ("header" in refused.value.hint) is is_offered


def test_a_request_file_states_the_design(tmp_path):
    wide = pd.DataFrame({"id": [f"p{k}" for k in range(30)], "2": 1.0, "6": 2.0, "18": 3.0})
    header = request_of(tmp_path, wide, {"design": {"law": "common", "times": "header"}})
    assert header.facts.design.times == (0.0, 0.25, 1.0)
    assert header.facts.observations_per_curve == 3
    even = request_of(
        tmp_path, wide, {"design": {"law": "even"}, "observations_per_curve": 3, "symmetric": True}
    )
    assert even.facts.design == Design() and even.facts.symmetric


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({}, "how many observations each curve"),
        ({"observations_per_curve": 3}, "observation times"),
        ({"observations_per_curve": 3, "design": {"law": "even", "gaps": 1}}, "has no key 'gaps'"),
        (
            {"observations_per_curve": 3, "design": {"law": "common", "times": "2, 6"}},
            "must be a list",
        ),
        (
            {"observations_per_curve": 3, "design": {"law": "visits", "gap": "2"}},
            "must be a number",
        ),
        (
            {"observations_per_curve": 3, "design": {"law": "common", "times": ["2"]}},
            "must be a number",
        ),
    ],
)
def test_a_request_that_does_not_state_the_design_is_refused(tmp_path, facts, words):
    frame = pd.DataFrame({"id": ["a", "b"], "time": [3, 4], "value": [1, 2]})
    with pytest.raises(InputError, match=words):
        request_of(tmp_path, frame, facts)


@pytest.mark.parametrize(
    "facts",
    [
        {"symmetric": "no"},
        {"symmetric": 0},
        {"periodic": "yes"},
        {"value_low": "60"},
        {"value_unit": 3},
        {"origin": ["x"]},
        {"covariates": "age"},
        {"covariates": [{"name": "age", "low": "0"}]},
        {"observations_per_curve": True},
    ],
)
def test_a_fact_of_another_type_is_refused_by_its_name(tmp_path, facts):
    frame = pd.DataFrame({"id": ["a", "b"], "time": [3, 4], "value": [1, 2]})
    stated = {"observations_per_curve": 3, "design": {"law": "even"}} | facts
    with pytest.raises(InputError) as refused:
        request_of(tmp_path, frame, stated)
    assert refused.value.field in (*facts, "low")


# -- doubts, for the holder alone


LAWS = {
    "common": Design.common((0.1, 0.3, 0.5, 0.7, 0.9)),
    "visits": Design.visits(0.1),
    "windows": Design(law="windows", window=0.2),
    "even": Design(),
    "density": Design(density=(1.0, 4.0, 1.0)),
}


TIMES = LAWS | {"unknown": Design(law="unknown")}


def doubted(true, stated_law, m=5, n=400, planned=None, seed=0):
    times = np.sort(draw_times(LAWS[true], n, m, np.random.default_rng(seed)), axis=1).ravel()
    facts = PublicFacts(
        kind="upload", design=TIMES[stated_law], observations_per_curve=planned or m
    )
    return doubts(times, np.full(n, m), facts)


@pytest.mark.parametrize("law", LAWS)
def test_a_file_that_is_as_stated_raises_no_doubt(law):
    assert [d for seed in range(10) for d in doubted(law, law, seed=seed)] == []


@pytest.mark.parametrize(
    ("true", "stated_law", "words"),
    [
        ("common", "even", "few different times"),
        ("windows", "even", "lie close together"),
        ("visits", "even", "lie close together"),
        ("density", "even", "lie elsewhere than even spread"),
        ("even", "density", "lie elsewhere than the stated density"),
        ("even", "common", "to which they"),
        ("windows", "visits", "differ by more than half"),
        ("even", "windows", "more than the stated"),
        ("visits", "windows", "more than the stated"),
    ],
)
def test_a_file_that_is_not_as_stated_is_doubted(true, stated_law, words):
    assert any(words in doubt for doubt in doubted(true, stated_law)), doubted(true, stated_law)


def numbers_beside_shares(doubt, planned):
    """The digits of a doubt that are neither a share nor the number of observations stated."""
    return re.findall(
        r"\d+", re.sub(r"\d+ %", "", doubt).replace(f"the {planned} observations", "")
    )


@pytest.mark.parametrize("stated_law", [*LAWS, "unknown"])
@pytest.mark.parametrize("true", LAWS)
def test_no_doubt_has_a_number_to_state_instead(true, stated_law):
    doubts_found = [
        doubt
        for m, planned in ((5, 5), (5, 2), (3, 12), (8, 8))
        for doubt in doubted(true, stated_law, m, planned=planned)
        if numbers_beside_shares(doubt, planned)
    ]
    assert doubts_found == []


def test_a_file_observed_in_one_half_and_beyond_its_bounds_leads_to_no_number_either():
    rng = np.random.default_rng(0)
    facts = PublicFacts(
        kind="upload",
        value_low=0,
        value_high=1,
        periodic=False,
        symmetric=True,
        observations_per_curve=8,
    )
    times, values = np.sort(rng.random((100, 8)) / 2).ravel(), rng.exponential(1, 800)
    upload = [
        *doubts(times, np.full(100, 8), facts),
        *doubts_of_bounds(values, facts),
        *doubts_of_people(times, values, np.full(100, 8), facts),
    ]
    assert len(upload) >= 2 and not any(numbers_beside_shares(doubt, 8) for doubt in upload)


def test_a_few_observations_beyond_the_bounds_are_no_doubt_and_many_are():
    facts = PublicFacts(kind="upload", value_low=0, value_high=1)
    few, many = (np.where(np.arange(1000) < n, 2.0, 0.5) for n in (5, 100))
    assert not doubts_of_bounds(few, facts) and len(doubts_of_bounds(many, facts)) == 1


FAR, BEYOND, ELSEWHERE, AS_STATED = "can be far off", "than its band says", "lie elsewhere", ""
CONSEQUENCES = {  # of what is stated, beside each law that times really follow, in order of LAWS
    "common": (AS_STATED, BEYOND, BEYOND, BEYOND, BEYOND),
    "visits": (FAR, AS_STATED, FAR, FAR, FAR),
    "windows": (FAR, FAR, AS_STATED, FAR, FAR),
    "even": (FAR, BEYOND, BEYOND, AS_STATED, ELSEWHERE),
    "density": (FAR, ELSEWHERE, BEYOND, ELSEWHERE, AS_STATED),
    "unknown": (FAR, AS_STATED, AS_STATED, AS_STATED, AS_STATED),
}


@pytest.mark.parametrize("stated_law", CONSEQUENCES)
def test_the_holder_is_told_what_follows_from_any_statement_that_times_contradict(stated_law):
    for true, consequence in zip(LAWS, CONSEQUENCES[stated_law], strict=True):
        said = " ".join(doubted(true, stated_law))
        assert consequence in said and bool(consequence) is bool(said), (stated_law, true)
        assert (FAR in said) is (consequence == FAR), (stated_law, true)


def test_few_different_times_are_told_first_whatever_is_stated_and_twenty_are_enough():
    """Also where everybody has visits at the stated interval, at the same times."""
    rng = np.random.default_rng(0)
    for law in ("even", "density", "unknown", "visits", "windows"):
        for n_times, is_few in ((5, True), (19, True), (20, False)):
            step = 1 / n_times
            start = rng.integers(0, n_times - 4, 400) if law in ("visits", "windows") else 0
            index = (
                np.asarray(start)[..., None] + np.arange(5)
                if law in ("visits", "windows")
                else np.sort(np.argsort(rng.random((400, n_times)), axis=1)[:, :5], axis=1)
            )
            design = {
                "visits": Design.visits(step * 0.999),
                "windows": Design(law="windows", window=5 * step),
            }.get(law, TIMES[law])
            facts = PublicFacts(kind="upload", design=design, observations_per_curve=5)
            said = doubts(((index + 0.5) * step).ravel(), np.full(400, 5), facts)
            assert any("occur: the curve" in line for line in said[:1]) is is_few, (
                law,
                n_times,
                said,
            )


def test_empty_stretches_regular_times_and_other_counts_are_seen():
    rng, facts = np.random.default_rng(0), PublicFacts(observations_per_curve=8)
    half = np.sort(0.8 * rng.random((100, 8)), axis=1).ravel()
    wording.found("nobody observed near", doubts(half, np.full(100, 8), facts)[0])
    apart = np.where(half > 0.4, half + 0.2, half)
    assert "has none" in doubts(apart, np.full(100, 8), facts)[0]
    regular = ((np.arange(8) + rng.random((100, 1))) / 8).ravel()
    assert "equally far apart" in doubts(regular, np.full(100, 8), facts)[0]
    even = np.sort(rng.random((100, 3)), axis=1).ravel()
    wording.found("fewer half", doubts(even, np.full(100, 3), facts)[0], 8)
    many = np.sort(rng.random((100, 20)), axis=1).ravel()
    wording.found("twice", doubts(many, np.full(100, 20), facts)[0], 8)


@pytest.mark.parametrize("m", [2, 3])
def test_two_or_three_regular_visits_of_each_person_are_seen(m):
    rng, facts = np.random.default_rng(0), PublicFacts(observations_per_curve=m)
    visits = draw_times(Design.visits(1 / 3), 400, m, rng).ravel()
    assert "equally far apart" in doubts(visits, np.full(400, m), facts)[-1]
    for _ in range(20):
        even = np.sort(rng.random((100, m)), axis=1).ravel()
        assert doubts(even, np.full(100, m), facts) == ()


def people(law, seed, n=500, m=4):
    """Times and values around a wave, for people whose levels follow a law."""
    rng = np.random.default_rng(seed)
    levels = {
        "normal": rng.standard_normal,
        "heavy": lambda n: rng.standard_t(4, n),
        "skewed": rng.standard_exponential,
        "outliers": lambda n: rng.standard_normal(n) + 6 * (rng.random(n) < 0.1),
    }[law](n)
    times = rng.random((n, m))
    values = np.sin(6 * times) + levels[:, None] + 0.5 * rng.standard_normal((n, m))
    return times.ravel(), values.ravel(), np.full(n, m)


@pytest.mark.parametrize(
    ("law", "doubted"), [("normal", False), ("heavy", False), ("skewed", True), ("outliers", True)]
)
def test_people_who_are_not_as_symmetric_as_stated_are_doubted(law, doubted):
    stated = PublicFacts(symmetric=True, value_low=-20, value_high=20)
    for seed in range(10):
        sentences = doubts_of_people(*people(law, seed), stated)
        assert bool(sentences) is doubted
        assert doubts_of_people(*people(law, seed), replace(stated, symmetric=False)) == ()


@pytest.mark.parametrize(
    ("curve", "doubted"),
    [
        (lambda t: np.sin(2 * np.pi * t), False),
        (lambda t: np.sin(6 * np.pi * t + 1), False),
        (lambda t: t, True),
        (lambda t: np.exp(-3 * t), True),
    ],
    ids=["one turn", "three turns", "line", "fall"],
)
def test_curves_that_do_not_end_where_they_began_as_stated_are_doubted(curve, doubted):
    stated = PublicFacts(periodic=True, value_low=-20, value_high=20)
    rng = np.random.default_rng(1)
    for n, m in ((100, 12), (1000, 6)):
        times = rng.random((n, m))
        values = 5 * curve(times) + rng.standard_normal((n, 1)) + 0.5 * rng.standard_normal((n, m))
        file = times.ravel(), values.ravel(), np.full(n, m)
        assert bool(doubts_of_period(*file, stated)) is doubted
        assert doubts_of_period(*file, replace(stated, periodic=False)) == ()
        few = file[0][: 10 * m], file[1][: 10 * m], file[2][:10]
        assert doubts_of_period(*few, stated) == ()


def test_a_missing_value_and_too_few_curves_raise_no_doubt_about_people():
    stated = PublicFacts(symmetric=True, value_low=-20, value_high=20)
    times, values, counts = people("normal", 1)
    values[7] = np.nan
    assert doubts_of_people(times, values, counts, stated) == ()
    assert doubts_of_people(times[:40], values[:40], counts[:10], stated) == ()


def test_nothing_stated_about_times_can_be_doubted():
    facts = PublicFacts(design=Design(law="unknown"), observations_per_curve=2)
    spread = np.linspace(0.01, 0.99, 40)
    assert doubts(spread, np.full(20, 2), facts) == ()


@pytest.mark.parametrize("law", ["unknown", "independent"])
def test_an_end_of_the_stated_range_where_nobody_was_observed_is_told_to_the_holder(law):
    facts = PublicFacts(design=Design(law=law), time_name="Age")
    late = np.sort(0.06 + 0.94 * np.random.default_rng(0).random((100, 8)), axis=1).ravel()
    wording.found("nobody observed", doubts(late, np.full(100, 8), facts))
    rising = PublicFacts(design=Design(law="independent", density=(0.0, 0.0, 0.0, 1.0, 1.0)))
    planned = np.sort(0.55 + 0.45 * np.random.default_rng(0).random((100, 8)), axis=1).ravel()
    assert not any("nobody" in doubt for doubt in doubts(planned, np.full(100, 8), rising))


def test_a_wide_file_of_the_page_is_a_request_with_the_same_data(tmp_path):
    """What the page read and was told is written as a request, which reads the same to the bit."""
    wide = files.wide_frame(12).rename(columns=lambda c: c if c == "id" else str(2 + 16 * float(c)))
    (tmp_path / "own.csv").write_bytes(files.csv(wide))
    times = curves_in(files.csv(wide), {"id": "id"}).header_times
    source = upload_of(
        files.csv(wide),
        stated(StatedDesign(law="common", times=times), None, value_name="Level"),
        {"id": "id"},
    )
    result = OwnFile("own.csv", source.reading)
    plain = request.to_plain(
        source, mechanisms.build("adaptive_mean", {}), Budget(1.0, 1e-5), result
    )
    again = requested(json.dumps(plain), tmp_path).source
    assert again.facts == source.facts
    one, other = (each.draw(1, generator(0, 0, 0)) for each in (source, again))
    assert np.array_equal(one.times, other.times) and np.array_equal(one.values, other.values)


@pytest.mark.parametrize("design", STATED, ids=lambda d: d.law)
def test_code_that_reads_the_file_again_states_the_same_design(design, tmp_path, monkeypatch):
    frame = files.growth_frame(20, 6)
    (tmp_path / "own.csv").write_bytes(files.csv(frame))
    source = upload_of(files.csv(frame), stated(design, 3))
    question = ask(release_cost, source, mechanisms.build("adaptive_mean", {}), Budget(1.0, 1e-5))
    code = code_for.release(question, OwnFile("own.csv", source.reading))
    monkeypatch.chdir(tmp_path)
    made = {}
    exec(code.run[: code.run.index("answer = ")], made)
    assert made["source"].facts == source.facts
