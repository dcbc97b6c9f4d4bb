"""Changes of the same people between two periods: read, refused, released and attacked."""

import json
from dataclasses import replace

import numpy as np
import pytest

from engine.audit import broken
from engine.audit.losses import compare
from engine.audit.neighbours import Pairs
from engine.core.errors import InputError
from engine.core.tasks import DataType
from engine.core.types import Budget
from engine.mechanisms.adaptive_mean import AdaptiveMean
from engine.uploads.curves import Upload
from engine.uploads.design import StatedDesign
from engine.uploads.facts import declare
from engine.uploads.people import read
from engine.uploads.proposal import propose
from engine.uploads.proposing.questions import answered
from engine.uploads.reading_of_files import Reading
from engine.uploads.records import curves_of

MONTHS = (0, 3, 6, 12)
COLUMNS = {
    "time": {"name": "month"},
    "value": {"name": "score"},
    "period": {"name": "wave", "kind": "word", "words": {"1": "before", "2": "after"}},
}
FRAME = {"separator": ",", "encoding": "utf-8", "header": ["child", "wave", "month", "score"]}
READING = {"frame": FRAME, "person": {"column": "child"}, "columns": COLUMNS, "paired": True}
BUDGET = Budget(60.0, 1e-3)  # large, because a small budget over few people releases nothing
ROUNDING = 1 + 1e-9


def file(people=24, shift=2.0, seed=1):
    """Everybody at all months of both waves, `shift` higher in the second."""
    rng = np.random.default_rng(seed)
    return {
        f"c{k:03d}": [
            (wave, month, round(float(10 + shift * (wave - 1) + rng.normal()), 3))
            for wave in (1, 2)
            for month in MONTHS
        ]
        for k in range(people)
    }


def content(people):
    lines = [
        f"{child},{wave},{month},{score}"
        for child, observed in people.items()
        for wave, month, score in observed
    ]
    return "\n".join(["child,wave,month,score", *lines, ""]).encode()


def curves(people, **changes):
    return curves_of(read(content(people), Reading.of(READING | changes)))


def facts(low=-5, high=5, **more):
    return declare(
        low,
        high,
        0,
        12,
        "protocol",
        design=StatedDesign(law="common", times=MONTHS),
        observations=len(MONTHS),
        value_name="Score",
        person="child",
        people="children",
        **more,
    )


def upload(people, low=-5, high=5):
    return Upload(curves=curves(people), declared=facts(low, high), reading=Reading.of(READING))


def test_a_change_is_the_second_period_less_the_first_at_times_in_both():
    people = {"a": [(1, 0, 3), (2, 0, 5), (2, 6, 9), (1, 6, 4), (1, 12, 1)], "b": [(2, 0, 2)]}
    found = curves(people)
    assert found.counts.tolist() == [2, 0] and found.n_curves == 2
    assert found.times.tolist() == [0, 6] and found.values.tolist() == [2, 5]


def test_several_observations_of_one_period_and_time_are_averaged_or_refused():
    people = {"a": [(1, 0, 3), (1, 0, 5), (2, 0, 10)]}
    assert curves(people).values.tolist() == [6]
    with pytest.raises(InputError) as refused:
        curves(people, several="refuse")
    assert refused.value.field == "several"


def test_a_row_for_each_period_gives_the_same_changes_as_a_row_for_each_observation():
    people = file(5)
    rows = ["child,wave,m0,m3,m6,m12"]
    for child, observed in people.items():
        for wave in (1, 2):
            rows.append(f"{child},{wave}," + ",".join(str(x) for w, _, x in observed if w == wave))
    columns = {
        "values": {"at": [[f"m{month}", month] for month in MONTHS], "kind": "number"},
        "period": COLUMNS["period"],
    }
    frame = FRAME | {"header": rows[0].split(",")}
    wide = read(
        "\n".join([*rows, ""]).encode(), Reading.of(READING | {"columns": columns, "frame": frame})
    )
    assert np.array_equal(curves_of(wide).values, curves(people).values)


def test_the_reading_is_written_and_read_again():
    reading = Reading.of(READING)
    assert reading.periods == ("before", "after") and reading.is_of_changes
    assert Reading.of(json.loads(json.dumps(reading.to_plain()))) == reading


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"paired": False}, "paired"),
        ({"columns": {**COLUMNS, "period": COLUMNS["period"] | {"words": {"1": "a"}}}}, "period"),
        (
            {
                "columns": {
                    **COLUMNS,
                    "period": COLUMNS["period"] | {"words": {"1": "a", "2": "b", "3": "c"}},
                }
            },
            "period",
        ),
        ({"columns": {name: COLUMNS[name] for name in ("time", "value")}}, "paired"),
        ({"paired": "yes"}, "paired"),
    ],
)
def test_a_period_without_two_meanings_or_the_statement_of_pairs_is_refused(changes, field):
    with pytest.raises(InputError) as refused:
        Reading.of(READING | changes).complete()
    assert refused.value.field == field


def test_values_are_named_as_changes_once_and_bounds_lie_on_both_sides_of_zero():
    own = upload(file())
    assert own.facts.value_name == "Change in score"
    again = Upload(curves=own.curves, declared=own.facts, reading=own.reading)
    assert again.facts.value_name == "Change in score"
    assert own.draw(1, np.random.default_rng(0)).facts.value_name == "Change in score"
    with pytest.raises(InputError) as refused:
        upload(file(), 0, 20)
    assert refused.value.field == "value_low"


def test_a_release_of_changes_is_about_their_mean():
    own = upload(file(400))
    estimate = AdaptiveMean().release(
        own.draw(1, np.random.default_rng(0)), (Budget(4.0, 1e-5),), np.random.default_rng(1)
    )
    curve = estimate.values(np.linspace(0, 1, 5))[0, 0, 0]
    assert curve == pytest.approx(2.0, abs=0.6)


def test_a_column_of_two_periods_is_asked_about_once_and_used_only_if_chosen():
    asked = propose(content(file()), data=DataType.CURVES)
    (question,) = [each for each in asked.ask if each.field == "columns.period"]
    assert not question.is_gap and not asked.reading.is_of_changes
    assert not answered(asked.reading, question.options[0]).is_of_changes
    forwards, backwards = (answered(asked.reading, option) for option in question.options[1:])
    assert forwards.complete().periods == ("1", "2") == backwards.complete().periods[::-1]
    three = {child: [*seen, (3, 0, 1.0)] for child, seen in file().items()}
    others = propose(content(three), data=DataType.CURVES).ask
    assert all(each.field != "columns.period" for each in others)


# -- neighbours: both periods of one person ----------------------------------------------------------

EXTREMES = (-1e9, -25.0, 0.0, 5e-324, 25.0, 1e9)


def swapped(rng):
    """One person of a file with other values in both periods, twice."""
    people, child = file(), f"c{rng.integers(24):03d}"
    for _ in range(2):
        first, second = rng.choice(EXTREMES, 2)
        tilt = rng.choice([-1.0, 0.0, 1.0])
        yield people | {
            child: [
                (wave, month, (first if wave == 1 else second) * (1 + tilt * month / 12))
                for wave, month, _ in people[child]
            ]
        }


def pairs(count, seed=3):
    """Files that differ in both periods of one person, as they are read."""
    rng = np.random.default_rng(seed)
    read_pairs = [[upload(each).draw(1, rng) for each in swapped(rng)] for _ in range(count)]
    batches = [
        replace(
            side[0],
            times=np.concatenate([each.times for each in side]),
            values=np.concatenate([each.values for each in side]),
        )
        for side in zip(*read_pairs, strict=True)
    ]
    return Pairs(*batches, np.zeros(count, dtype=np.int64))


def test_files_that_differ_in_both_periods_of_one_person_differ_in_one_curve():
    both = pairs(60)
    differ = (both.usual.values != both.neighbour.values).reshape(60, 24, len(MONTHS))
    assert (differ.any(axis=2).sum(axis=1) <= 1).all() and differ.any()
    assert np.array_equal(both.usual.counts, both.neighbour.counts)


def test_nobody_in_either_period_moves_a_release_of_changes_beyond_its_claim():
    losses = compare(AdaptiveMean(), pairs(150), BUDGET, 7, np.random.default_rng(7))
    assert not losses.reason
    assert 0.5 < losses.lines.max() <= ROUNDING and losses.worst <= ROUNDING


def test_noise_for_leaving_somebody_out_is_caught_in_a_release_of_changes():
    variant = broken.get("LocationsAsIfLeftOut").case.mechanism
    losses = compare(variant, pairs(150), BUDGET, 7, np.random.default_rng(7))
    assert losses.worst > 1.1
