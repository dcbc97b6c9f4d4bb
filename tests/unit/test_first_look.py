"""A first look: ranges rounded outward and the grid of a file, which nothing else may take."""

import numpy as np
import pandas as pd
import pytest

from engine.core.errors import InputError
from engine.core.tasks import DataType
from engine.core.types import Budget
from engine.exports import code_for
from engine.mechanisms import mechanisms
from engine.questions import ask
from engine.release import request
from engine.release.published import release_cost
from engine.topics.decision.answer import equal_sites, sized
from engine.topics.release.preview import release_preview
from engine.uploads import examples
from engine.uploads.curves import Upload
from engine.uploads.looking import first_look, from_file, observations_of, outward, proposed
from engine.uploads.own_file import OwnFile
from engine.uploads.proposal import propose
from tests import files
from tests.sentences import of_topic

wording = of_topic("upload")


def curves_of(frame):
    content = files.csv(frame)
    return observations_of(content, propose(content).likely, DataType.CURVES)


def looked_at(frame, task="mean_function"):
    curves = curves_of(frame)
    return Upload(curves=curves, declared=proposed(curves, task))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (3.2, 16.8, (3, 17)),
        (0, 23.75, (0, 24)),
        (61.3, 208, (60, 210)),
        (-0.034, 0.021, (-0.035, 0.025)),
        (1e-9, 1.05e-9, (1e-9, 1.05e-9)),
        (119, 121, (119, 121)),
        (-7, 995_000, (-50_000, 1_000_000)),
    ],
)
def test_ranges_are_rounded_outward_to_steps_of_1_2_or_5(low, high, expected):
    assert outward(low, high) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(50))
def test_a_rounded_range_holds_both_ends_and_is_at_most_a_fifth_wider(seed):
    rng = np.random.default_rng(seed)
    low, high = np.sort(rng.normal(size=2) * 10.0 ** rng.integers(-6, 7))
    first, last = outward(float(low), float(high))
    assert first <= low + 1e-9 * abs(low) and last >= high - 1e-9 * abs(high)
    assert last - first <= 1.2001 * (high - low)


def test_times_on_a_grid_are_proposed_as_common_times():
    upload = looked_at(files.days_frame())
    assert upload.facts.is_proposed and upload.facts.design.law == "common"
    wording.found("grid come file", from_file(upload.facts), 0, 23, 1)


def test_a_quarter_of_an_hour_is_said_in_minutes():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        [
            (f"p{k}", f"{h:02d}:{m:02d}", 9 + 3 * np.sin(h / 4) + rng.uniform(-1, 1))
            for k in range(20)
            for h in range(24)
            for m in (0, 15, 30, 45)
        ],
        columns=["patient_id", "time", "glucose_mmol_l"],
    )
    facts = looked_at(frame).facts
    wording.found("range mmol hours", from_file(facts), 5, 13, 0, 23.75, 15, alone=True)
    assert facts.value_name == "Glucose"


def test_own_times_are_proposed_as_even_where_the_file_looks_so():
    facts = looked_at(files.growth_frame(60, 8)).facts
    assert facts.design.law == "independent" and facts.observations_per_curve == 9


def test_times_that_look_like_no_design_are_not_known():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        [(f"p{k}", t, t + k) for k in range(40) for t in np.round(10 * rng.beta(0.4, 3, 6), 3)],
        columns=["id", "time", "value"],
    )
    assert looked_at(frame).facts.design.law == "unknown"


def test_a_code_far_from_all_other_numbers_does_not_make_the_range():
    frame = files.growth_frame(80, 8)
    frame.loc[3, "height"] = -999
    assert curves_of(frame).values.min() == -999
    assert proposed(curves_of(frame), "mean_function").value_low > 50


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (files.growth_frame(7, 5), "10 people are the fewest for a picture; this file has 7"),
        (files.growth_frame(30, 5).assign(height=3), "One value fills nine tenths of “height”"),
        (files.growth_frame(30, 5).assign(age=3), "All times are the same"),
    ],
)
def test_where_a_file_gives_no_range_one_is_asked_for(frame, words):
    with pytest.raises(InputError, match=words):
        proposed(curves_of(frame), "mean_function")


ADAPTIVE = mechanisms.build("adaptive_mean", {})
FILE = OwnFile("heights.csv", propose(files.csv(files.growth_frame())).reading)


@pytest.mark.parametrize(
    "taken",
    [
        lambda upload: release_cost(upload, ADAPTIVE, Budget(1.0, 1e-6)),
        lambda upload: release_preview(upload.facts, upload.sizes, ADAPTIVE, Budget(1.0, 1e-6), 1),
        lambda upload: request.to_plain(upload, ADAPTIVE, Budget(1.0, 1e-6), FILE),
        lambda upload: request.stated_of(upload.facts, ADAPTIVE),
        lambda upload: code_for.code_for(
            ask(release_cost, upload, ADAPTIVE, Budget(1.0, 1e-6)), FILE
        ),
        lambda upload: sized(upload, equal_sites(upload, "")),
        lambda upload: upload.facts.to_plain(),
    ],
    ids=["release", "preview", "request", "stated", "code", "decide", "site plan"],
)
def test_nothing_takes_ranges_that_are_from_the_file(taken):
    upload = looked_at(files.growth_frame(60, 8))
    with pytest.raises(InputError, match="for your eyes only"):
        taken(upload)


@pytest.mark.parametrize(
    ("make", "task", "sentence"),
    [
        (
            examples.growth_curves,
            "mean_function",
            "Range 70 to 190 and 2 to 19 come from this file",
        ),
        (examples.temperatures, "wavelet_regression", "0 to 24 hours come from this file"),
        (examples.records, "density", "The ranges of 2 columns come from this file"),
        (examples.outcomes, "survival", "Range 0 to 1800 days comes from this file"),
        (examples.concentrations, "distribution", "Range 0 to 5.5 comes from this file"),
        (examples.scores, "roc", "Range 0 to 0.95 comes from this file"),
    ],
)
def test_a_file_of_each_kind_is_looked_at_without_a_question(make, task, sentence):
    upload = first_look(make().encode(), task)
    assert (
        sentence in from_file(upload.facts) and upload.facts.is_proposed and upload.reading is None
    )


def test_a_column_that_no_name_speaks_of_is_asked_for():
    content = b"aa,bb,cc,dd\n" + b"".join(b"x%d,u,v,w\n" % k for k in range(20))
    with pytest.raises(InputError, match="no column says when an observation was made"):
        first_look(content, "mean_function")


def test_what_is_predicted_is_asked_where_no_name_says_it():
    with pytest.raises(InputError, match="No name of a column says what is predicted"):
        first_look(examples.records().encode(), "sparse_regression")
