"""Use my curves, with columns that may explain them: chosen with the reading, bounded below it."""

import pytest

from engine.api import propose
from engine.uploads.facts import StatedCovariate, declare
from tests import files
from tests.pages.opening import open_page, upload_of
from tests.pages.own_file import (
    bring,
    choose,
    confirm,
    dropped,
    fill,
    is_open,
    key_of,
    opened,
    ran,
    said,
    show,
    typed_limits,
    when,
)
from tests.sentences import of_topic

wording = of_topic("coefficients")

BOUNDS = {"value_low": 60, "value_high": 210, "time_low": 2, "time_high": 18}
CHOICE, MOTHER = "upload_role_covariates", "upload_covariate_mother_height"


def described(n=40):
    frame = files.growth_frame(n, 8)
    number = frame["child"].str[1:].astype(int)
    return frame.assign(mother_height=150.25 + number % 23, dose=number % 5)


def explained(at, *names):
    """The reading with these columns, and the question of ranges."""
    opened(at).multiselect(key=key_of(at, CHOICE)).set_value(list(names))
    at = confirm(ran(at))
    return at if at.error else when(at, "even")


def state(at, **bounds):
    return fill(typed_limits(at), value_low=60, value_high=210, origin="a chart", **bounds)


def errors(at):
    return " ".join(error.value for error in at.error)


def number_keys(at):
    return {field.key for field in at.text_input}


def test_the_columns_without_a_role_may_explain_the_curves_and_none_is_chosen_at_first(monkeypatch):
    at = dropped(monkeypatch, described())
    assert opened(at).multiselect(key=CHOICE).options == ["mother_height", "dose"]
    assert opened(at).multiselect(key=CHOICE).value == []
    assert not any("covariate" in key for key in number_keys(when(confirm(at))))


def test_a_file_without_further_columns_is_asked_nothing(monkeypatch):
    at = dropped(monkeypatch, files.growth_frame())
    assert not [field for field in opened(at).multiselect if field.key == CHOICE]


def test_a_table_of_one_row_per_curve_offers_its_other_columns(monkeypatch):
    frame = files.wide_frame(20).rename(columns={"id": "patient"}).assign(dose=range(20))
    at = explained(dropped(monkeypatch, frame), "dose")
    assert "upload_covariate_dose_low" in number_keys(at)


def test_a_range_is_asked_for_and_never_filled_from_the_file(monkeypatch):
    at = explained(dropped(monkeypatch, described()), "mother_height")
    fields = [at.text_input(key=f"{MOTHER}_{end}") for end in ("low", "high")]
    assert [field.value for field in fields] == ["", ""]
    assert at.text_input(key=f"{MOTHER}_unit").value == ""
    assert all(r"mother\_height" in field.label for field in fields)
    text = " ".join([m.value for m in at.markdown] + [f.placeholder for f in fields])
    assert "150.25" not in text and "172.25" not in text


def test_the_button_waits_until_every_range_is_stated(monkeypatch):
    at = state(explained(dropped(monkeypatch, described()), "mother_height"))
    wording.found("state lowest highest", errors(at))
    assert is_open(at)
    state(at, covariate_mother_height_low=200, covariate_mother_height_high=130)
    wording.found("below highest", errors(at))
    state(at, covariate_mother_height_low=130, covariate_mother_height_high=200)
    assert not is_open(at)


def test_own_curves_are_stored_with_their_covariates_and_what_was_moved_is_counted(monkeypatch):
    at = explained(dropped(monkeypatch, described()), "dose", "mother_height")
    at.text_input(key=f"{MOTHER}_unit").set_value("cm")
    show(
        state(
            at,
            covariate_mother_height_low=130,
            covariate_mother_height_high=160,
            covariate_dose_low=0,
            covariate_dose_high=4,
        )
    )
    kept = at.session_state["upload"]
    assert [(c.name, c.low, c.high, c.unit) for c in kept.facts.covariates] == [
        ("dose", 0, 4, ""),
        ("mother_height", 130, 160, "cm"),
    ]
    assert kept.covariates.shape == (40, 2)
    warned = " ".join(warning.value for warning in at.warning)
    wording.found("numbers columns explain", warned, kept.n_clipped.covariates)


def test_a_column_that_changes_along_a_curve_is_refused_under_the_reading(monkeypatch):
    frame = described()
    at = explained(dropped(monkeypatch, frame.assign(dose=range(len(frame)))), "dose")
    wording.found("covariate dose changes", errors(at), 40)
    assert at.title and opened(at).multiselect(key=CHOICE).value == ["dose"]


def test_a_column_that_gets_a_role_is_no_longer_offered(monkeypatch):
    at = dropped(monkeypatch, described())
    choose(at, value="dose")
    assert opened(at).multiselect(key=CHOICE).options == ["height", "mother_height"]
    assert "two roles" not in said(at)


def test_another_file_without_the_chosen_column_is_read_as_it_stands(monkeypatch):
    at = explained(dropped(monkeypatch, described()), "dose", "mother_height")
    bring(monkeypatch, described().drop(columns="dose"))
    ran(at)
    at.session_state["upload_open"] = True
    ran(at)
    assert opened(at).multiselect(key=key_of(at, CHOICE)).options == ["mother_height"]
    assert "upload_covariate_dose_low" not in number_keys(at)


def test_a_name_with_markup_stays_text(monkeypatch):
    name = "[x](javascript:0) $y$ <b>"
    at = explained(dropped(monkeypatch, described().rename(columns={"dose": name})), name)
    label = at.text_input(key=f"upload_covariate_{name}_low").label
    assert r"\[x\](javascript\:0) \$y\$ \<b\>" in label


@pytest.mark.slow
def test_explore_shows_the_same_picture_with_covariates_and_without():
    def shown(*covariates):
        upload = upload_of(
            described(),
            declare(**BOUNDS, origin="growth chart", covariates=covariates, **files.EVEN),
            covariates=["dose"],
        )
        return [m.value for m in open_page(upload=upload, show_upload=True).markdown]

    assert shown() == shown(StatedCovariate("dose", 0, 4))


def test_a_file_for_coefficients_goes_on_only_with_a_column_that_explains_its_curves(monkeypatch):
    frame = files.growth_frame(80, 4).assign(
        weeks=lambda rows: 38 + rows.iloc[:, 0].factorize()[0] % 5
    )
    at = dropped(monkeypatch, frame, "lab", "estimand-coefficients")
    assert is_open(at)
    at.multiselect(key=key_of(at, CHOICE)).set_value(["weeks"])
    assert not is_open(ran(at))


def test_a_saved_reading_without_such_a_column_does_not_go_on_either(monkeypatch):
    frame = files.growth_frame(80, 4)
    at = dropped(monkeypatch, frame, "lab", "estimand-coefficients")
    at.session_state["upload_brought"] = propose(frame).reading
    assert is_open(ran(at))
    at.button(key="drop_reading").click()
    assert is_open(ran(at)) and not at.exception
