"""Numbers known of every person: they stay with their curve, are bounded, and must explain."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.core.errors import InputError
from engine.core.identity import digest
from engine.core.random_streams import generator
from engine.core.types import Budget, Covariate, PublicFacts
from engine.mechanisms import mechanisms
from engine.uploads import examples
from engine.uploads.curves import Upload
from engine.uploads.facts import StatedCovariate, declare
from engine.uploads.regressors import MAX_CONDITION, MAX_COVARIATES, check_regressors
from tests import files
from tests.readings import curves_in, reading_of
from tests.sentences import of_topic

wording = of_topic("coefficients")

STATED = {
    "value_low": 60,
    "value_high": 210,
    "time_low": 2,
    "time_high": 18,
    "origin": "growth chart",
    **files.EVEN,
}
DOSE, AGE = StatedCovariate("dose", 0, 20, "mg"), StatedCovariate("mother_age", 15, 60, "years")


def described(n=12):
    """Curves of which two numbers are known: the dose is the number of the child."""
    frame = files.growth_frame(n)
    number = frame["child"].str[1:].astype(int)
    return frame.assign(dose=number, mother_age=20 + (7 * number) % 11)


def curves_of(frame, *covariates, several="keep", **roles):
    return curves_in(files.csv(frame), {"covariates": covariates, **roles}, several=several)


def uploaded(frame, *stated):
    return Upload(
        curves=curves_of(frame, *[s.name for s in stated]),
        declared=declare(**STATED, covariates=stated),
    )


def drawn(upload):
    return upload.draw(1, generator(1, 0, 0))


def refused(words, make, *args, **options):
    with pytest.raises(InputError, match=words) as caught:
        make(*args, **options)
    assert caught.value.hint and caught.value.field
    return caught.value


# -- they stay with their curve


def test_covariates_stay_with_their_curve_through_the_public_shuffle():
    upload = uploaded(described(), DOSE, AGE)
    numbers = [int(child[1:]) for child in upload.curves.ids]
    assert numbers != sorted(numbers)
    covariates = drawn(upload).covariates
    assert covariates.shape == (1, 12, 2)
    assert covariates[0, :, 0].tolist() == numbers
    assert covariates[0, :, 1].tolist() == [20 + (7 * k) % 11 for k in numbers]


def test_covariates_stay_with_their_curve_when_curves_are_sorted_by_site():
    frame = described()
    frame["site"] = np.where(frame["dose"] % 2, "north", "south")
    curves = curves_of(frame, "dose", server="site")
    data = drawn(Upload(curves=curves, declared=declare(**STATED, covariates=[DOSE])))
    assert data.server.tolist() == [0] * 6 + [1] * 6
    assert (data.covariates[0, :, 0] % 2).tolist() == [1] * 6 + [0] * 6


def test_the_declared_names_choose_the_covariates_and_their_order():
    curves = curves_of(described(), "dose", "mother_age")
    both, swapped, one = (
        drawn(Upload(curves=curves, declared=declare(**STATED, covariates=c)))
        for c in ([DOSE, AGE], [AGE, DOSE], [AGE])
    )
    assert (swapped.covariates == both.covariates[:, :, ::-1]).all()
    assert (one.covariates == both.covariates[:, :, 1:]).all()
    assert [c.name for c in swapped.facts.covariates] == ["mother_age", "dose"]


def test_without_a_declared_covariate_none_is_passed_on():
    upload = Upload(curves=curves_of(described(), "dose"), declared=declare(**STATED))
    assert drawn(upload).covariates is None
    upload.check_regressors()


def test_a_wide_table_has_covariates_too():
    frame = files.wide_frame().assign(dose=[0.0, 1, 2, 3, 4, 5])
    curves = curves_of(frame, "dose")
    assert curves.header_times == (0, 0.25, 0.5, 1)
    assert curves.covariates[:, 0].tolist() == [int(person[1:]) for person in curves.ids]


def test_rows_that_are_averaged_keep_the_covariate_they_share():
    frame = pd.concat([files.wide_frame(), files.wide_frame().iloc[:2]])
    shared = frame.assign(dose=frame["id"].str[1:].astype(float))
    averaged = curves_of(shared, "dose", several="average")
    assert averaged.covariates[:, 0].tolist() == [int(person[1:]) for person in averaged.ids]
    assert refused(
        "“dose” changes.* 2 of 6", curves_of, frame.assign(dose=range(8)), "dose", several="average"
    )


def test_the_name_of_an_upload_depends_on_its_covariates_and_on_their_stated_range():
    other = described()
    other.loc[other["child"] == "c003", "dose"] = 19
    wider = replace(DOSE, high=30)
    assert (
        len(
            {
                digest(uploaded(*made))
                for made in (
                    (described(), DOSE),
                    (other, DOSE),
                    (described(), wider),
                    (described(), DOSE, AGE),
                )
            }
        )
        == 4
    )


@pytest.mark.parametrize("cls", mechanisms.for_task("mean_function"), ids=lambda cls: cls.key)
def test_the_average_is_the_same_to_the_last_bit_whatever_is_known_of_people(cls):
    def release(*stated):
        data = drawn(uploaded(described(60), *stated))
        return cls().release_many(data, [(Budget(1.0, 1e-3),)], 3, generator(1, 1, 0)).coefficients

    assert (release() == release(replace(DOSE, high=60), AGE)).all()


# -- they are bounded by what is stated


@pytest.mark.parametrize(
    ("covariate", "words"),
    [
        (
            replace(DOSE, low=None),
            "State the lowest and highest possible “dose”. They limit what one child can change",
        ),
        (replace(DOSE, high=None), "highest possible “dose”."),
        (replace(DOSE, high=float("nan")), "finite"),
        (replace(DOSE, high=float("inf")), "finite"),
        (replace(DOSE, low=20), "lowest dose must be below the highest"),
    ],
)
def test_the_range_of_a_covariate_must_be_stated(covariate, words):
    error = refused(words, declare, **STATED, covariates=[covariate], person="child")
    assert error.field.startswith("covariate")


def test_eight_covariates_are_accepted_and_nine_are_not():
    stated = [Covariate(f"x{k}", 0, 1) for k in range(MAX_COVARIATES + 1)]
    assert declare(**STATED, covariates=stated[:-1]).covariates == tuple(stated[:-1])
    assert refused("At most 8 covariates.* 9", declare, **STATED, covariates=stated)


def test_a_covariate_is_stated_once_and_must_have_been_read():
    assert refused("once: “dose”", declare, **STATED, covariates=[DOSE, DOSE])
    declared = declare(**STATED, covariates=[DOSE])
    assert refused(
        "“dose”.* Read: “mother_age”",
        Upload,
        curves=curves_of(described(), "mother_age"),
        declared=declared,
    )
    assert refused("file is read", Upload, curves=curves_of(described()), declared=declared)


def test_covariates_outside_their_range_are_counted_and_moved_to_its_ends():
    upload = uploaded(described(), replace(DOSE, low=2, high=8))
    assert upload.n_clipped.covariates == 5  # 0, 1 and 9, 10, 11
    data = drawn(upload)
    assert data.covariates.max() == 11
    assert (data.regressors.min(), data.regressors.max()) == (-1, 1)
    assert uploaded(described(), DOSE).n_clipped.covariates == 0


# -- what is missing, and what is text


def test_a_missing_covariate_is_noted_and_its_curve_still_counts():
    frame = described()
    frame.loc[frame["child"].isin(["c001", "c002"]), "dose"] = np.nan
    upload = uploaded(frame, DOSE, AGE)
    assert upload.n_without_covariates == 2
    wording.found("curves without value", upload.curves.notes, 2)
    data = drawn(upload)
    assert np.isnan(data.covariates).sum() == 2 and np.isfinite(data.regressors).all()
    upload.check_regressors()
    assert uploaded(frame, AGE).n_without_covariates == 0


def test_one_row_of_a_curve_is_enough_to_know_its_covariate():
    frame = described()
    frame.loc[frame.duplicated("child"), "dose"] = np.nan
    assert uploaded(frame, DOSE).n_without_covariates == 0


@pytest.mark.parametrize(
    "pair", [("no", "yes"), ("F", "M"), ("False", "True"), ("control", "Treated")]
)
def test_two_well_known_words_are_read_as_0_and_1_as_the_reading_says(pair):
    frame = described()
    frame["kind"] = np.where(frame["dose"] % 2, pair[1], pair[0])
    frame.loc[frame["child"] == "c004", "kind"] = "NA"
    curves = curves_of(frame, "kind", "dose")
    zero, one = (word.lower() for word in pair)
    kind, _ = reading_of(files.csv(frame), columns={"covariates": ["kind", "dose"]}).covariates
    assert dict(kind.words) == {zero: 0, one: 1}
    known = np.isfinite(curves.covariates[:, 0])
    assert (~known).sum() == 1
    assert (curves.covariates[known, 0] == curves.covariates[known, 1] % 2).all()


@pytest.mark.parametrize("words", [("red", "blue"), ("yes", "secret-77"), ("1", "yes"), ("3", "x")])
def test_other_text_is_refused_with_what_to_do_and_without_a_cell(words):
    frame = described()
    frame["kind"] = np.where(frame["dose"] % 2, *words)
    error = refused("of column “kind” hold no number", curves_of, frame, "kind")
    assert error.hint
    assert not any(f"“{word}”" in str(error) or "secret" in str(error) for word in words)


# -- whether they can explain anything


def test_a_constant_covariate_is_named():
    error = refused(
        "The same for all curves within what was stated: “dose”",
        uploaded(described().assign(dose=4.321), DOSE, AGE).check_regressors,
    )
    assert "4.321" not in str(error) and "mother" not in str(error)


def test_a_range_that_moves_every_number_to_one_end_makes_a_covariate_constant():
    assert refused("“dose”", uploaded(described(), replace(DOSE, low=50, high=60)).check_regressors)


def test_a_constant_stays_constant_where_some_curves_lack_it():
    frame = described().assign(dose=1.0)
    frame.loc[frame["child"] == "c001", "dose"] = np.nan
    assert refused("same for all", uploaded(frame, DOSE, AGE).check_regressors)


def test_curves_without_a_reading_say_nothing_about_covariates():
    frame = described().assign(dose=1.0)
    alone = frame["child"] == "c001"
    frame.loc[alone, ["dose", "height"]] = [7.0, np.nan]
    assert refused("same for all", uploaded(frame, DOSE, AGE).check_regressors)


def test_covariates_that_follow_from_each_other_are_named_with_the_condition_number():
    frame = described()
    frame["twice"] = 2 * frame["dose"]
    twice = StatedCovariate("twice", 0, 45)
    error = refused(
        r"Each of “dose” and “twice” follows from the rest \(condition number above "
        r"10¹²; at most 1,000,000\)",
        uploaded(frame, DOSE, AGE, twice).check_regressors,
    )
    assert "mother" not in str(error)


def test_one_column_for_every_kind_is_one_too_many():
    frame = described()
    frame["a"], frame["b"] = (frame["dose"] % 2), 1 - frame["dose"] % 2
    stated = [StatedCovariate(name, 0, 1) for name in "ab"]
    error = refused("Each of “a” and “b” follows", uploaded(frame, *stated, AGE).check_regressors)
    wording.found("leave one them", error.hint)


def test_three_covariates_of_which_one_is_a_mixture_are_all_named():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (50, 4))
    x[:, 2] = x[:, 0] * 0.7 + 0.3 * x[:, 1]
    facts = PublicFacts(covariates=tuple(Covariate(name) for name in "pqrs"))
    error = refused("Each of “p”, “q” and “r” follows", check_regressors, facts, x)
    assert "“s”" not in str(error)


def test_a_covariate_that_hardly_varies_in_a_far_too_wide_range_is_named_alone():
    wide = replace(DOSE, low=-1e6, high=1e6)
    error = refused("“dose” hardly varies", uploaded(described(), AGE, wide).check_regressors)
    assert "mother" not in str(error)


def test_the_condition_number_is_that_of_the_gram_matrix_and_the_limit_is_its():
    rng, facts = np.random.default_rng(1), PublicFacts(covariates=(Covariate("p"), Covariate("q")))
    x = rng.uniform(-0.9, 0.9, (200, 1))
    for apart, is_refused in ((1e-2, False), (1e-4, True)):
        near = np.hstack([x, x + apart * rng.uniform(-1, 1, x.shape)])
        regressors = facts.to_regressors(near)
        condition = np.linalg.cond(regressors.T @ regressors)
        assert (condition > MAX_CONDITION) == is_refused
        if is_refused:
            said = f"{float(f'{condition:.2g}'):,.0f}"
            assert refused(f"condition number {said};", check_regressors, facts, near)
        else:
            check_regressors(facts, near)


def test_covariates_that_no_curve_has_together_are_refused():
    frame = described()
    odd = frame["dose"] % 2 == 1
    frame["dose"] = frame["dose"].where(odd)
    frame["mother_age"] = frame["mother_age"].where(~odd)
    assert refused(
        "No curve.* “dose” and “mother_age”", uploaded(frame, DOSE, AGE).check_regressors
    )


def test_fewer_curves_than_covariates_cannot_tell_them_apart():
    stated = [StatedCovariate(name, -10, 90) for name in "xyzw"]
    frame = described(3)
    for k, covariate in enumerate(stated):
        frame[covariate.name] = (frame["dose"] + 1) ** (k + 1)
    assert refused("from the rest", uploaded(frame, *stated).check_regressors)


def test_usual_ranges_pass():
    upload = uploaded(described(), replace(DOSE, low=-100, high=1000), AGE)
    assert upload.check_regressors() is None


def test_the_example_file_has_a_covariate_to_try():
    curves = curves_in(examples.growth_curves().encode(), {"covariates": ["mother_height"]})
    upload = Upload(
        curves=curves,
        declared=declare(
            **STATED | {"time_high": 19},
            covariates=[StatedCovariate("mother_height", 120, 220, "cm")],
        ),
    )
    assert sum(upload.n_clipped) == 0
    upload.check_regressors()
