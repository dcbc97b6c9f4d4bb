"""Use my curves, with columns that may explain them: chosen under the file, bounded below it."""

from types import SimpleNamespace

import pytest
import streamlit as st

from engine.uploads.curves import Upload, read_curves
from engine.uploads.facts import StatedCovariate, declare
from engine.uploads.layout import suggest_layout
from engine.uploads.tables import read_table
from tests import files
from tests.pages.opening import open_page, trust

BOUNDS = {"value_low": 60, "value_high": 210, "time_low": 2, "time_high": 18}
CHOICE, MOTHER = "upload_covariates", "upload_covariate_mother_height"


def described(n=40):
    frame = files.growth_frame(n, 8)
    number = frame["child"].str[1:].astype(int)
    return frame.assign(mother_height=150.25 + number % 23, dose=number % 5)


@pytest.fixture
def panel(monkeypatch):
    """Open the panel with a file in it: ``panel(frame)``."""
    def panel(frame):
        result = SimpleNamespace(file_id=str(id(frame)), name="a.csv", getvalue=lambda: files.csv(frame))
        monkeypatch.setattr(st, "file_uploader", lambda *_, **__: result)
        return open_page(upload_open=True)
    return panel


def ran(at):
    at.run()
    assert not at.exception
    return at


def choose(at, *names):
    at.multiselect(key=CHOICE).set_value(list(names))
    return ran(at)


def state(at, **bounds):
    trust(at)
    for name, number in {**BOUNDS, **bounds}.items():
        at.text_input(key=f"upload_{name}").set_value(str(number))
    at.selectbox(key="upload_law").set_value("even")
    at.text_input(key="upload_observations").set_value("8")
    at.text_input(key="upload_origin").set_value("growth chart")
    return ran(at)


def errors(at):
    return " ".join(error.value for error in at.error)


def number_keys(at):
    return {field.key for field in at.text_input}


def test_the_columns_without_a_role_may_explain_the_curves_and_none_is_chosen_at_first(panel):
    at = panel(described())
    assert at.multiselect(key=CHOICE).options == ["mother_height", "dose"]
    assert at.multiselect(key=CHOICE).value == []
    assert not any("covariate" in key for key in number_keys(at))


def test_a_file_without_further_columns_is_asked_nothing(panel):
    at = panel(files.growth_frame())
    assert not [field for field in at.multiselect if field.key == CHOICE]


def test_a_table_of_one_row_per_curve_offers_its_other_columns(panel):
    at = panel(files.wide_frame().assign(dose=range(6)))
    assert at.multiselect(key=CHOICE).options == ["dose"]
    choose(at, "dose")
    assert "upload_covariate_dose_low" in number_keys(at)


def test_a_range_is_asked_for_and_never_filled_from_the_file(panel):
    at = choose(panel(described()), "mother_height")
    fields = [at.text_input(key=f"{MOTHER}_{end}") for end in ("low", "high")]
    assert [field.value for field in fields] == ["", ""]
    assert at.text_input(key=f"{MOTHER}_unit").value == ""
    assert all(r"mother\_height" in field.label for field in fields)
    text = " ".join([m.value for m in at.markdown] + [f.placeholder for f in fields])
    assert "150.25" not in text and "172.25" not in text


def test_the_button_waits_until_every_range_is_stated(panel):
    at = state(choose(panel(described()), "mother_height"))
    assert r"State the lowest and highest possible “mother\_height”" in errors(at)
    assert at.button(key="upload_show").disabled
    state(at, covariate_mother_height_low=200, covariate_mother_height_high=130)
    assert "must be below the highest" in errors(at)
    state(at, covariate_mother_height_low=130, covariate_mother_height_high=200)
    assert not at.button(key="upload_show").disabled


def test_own_curves_are_stored_with_their_covariates_and_what_was_moved_is_counted(panel):
    at = choose(panel(described()), "dose", "mother_height")
    at.text_input(key=f"{MOTHER}_unit").set_value("cm")
    state(at, covariate_mother_height_low=130, covariate_mother_height_high=160,
          covariate_dose_low=0, covariate_dose_high=4)
    at.button(key="upload_show").click()
    ran(at)
    kept = at.session_state["upload"]
    assert [(c.name, c.low, c.high, c.unit) for c in kept.facts.covariates] == [
        ("dose", 0, 4, ""), ("mother_height", 130, 160, "cm")]
    assert kept.covariates.shape == (40, 2)
    warned = " ".join(warning.value for warning in at.warning)
    assert f"{kept.n_clipped.covariates} numbers of columns that may explain" in warned
    assert "observations lay outside" not in warned


def test_a_column_that_changes_along_a_curve_is_refused_under_the_file(panel):
    frame = described()
    at = choose(panel(frame.assign(dose=range(len(frame)))), "dose")
    assert "The covariate “dose” changes within 40 curves" in errors(at)
    assert at.title and at.multiselect(key=CHOICE).value == ["dose"]


def test_a_column_that_gets_a_role_is_no_longer_offered(panel):
    at = choose(panel(described()), "dose")
    at.radio(key="upload_trust").set_value("Each site adds its own noise")
    assert ran(at).selectbox(key="upload_sites").options == ["mother_height"]
    assert "two roles" not in errors(at)


def test_another_file_without_the_chosen_column_is_read_as_it_stands(panel, monkeypatch):
    at = choose(panel(described()), "dose", "mother_height")
    other = SimpleNamespace(file_id="other", name="a.csv", getvalue=lambda: files.csv(
        described().drop(columns="dose")))
    monkeypatch.setattr(st, "file_uploader", lambda *_, **__: other)
    ran(at)
    assert at.multiselect(key=f"{CHOICE}_1").options == ["mother_height"]
    assert "There is no column" not in errors(at)
    assert "upload_covariate_dose_low" not in number_keys(at)


def test_a_name_with_markup_stays_text(panel):
    name = "[x](javascript:0) $y$ <b>"
    at = choose(panel(described().rename(columns={"dose": name})), name)
    label = at.text_input(key=f"upload_covariate_{name}_low").label
    assert r"\[x\](javascript\:0) \$y\$ \<b\>" in label


def test_explore_shows_the_same_picture_with_covariates_and_without():
    table = read_table(files.csv(described()))
    curves = read_curves(table, suggest_layout(table, {"covariates": ["dose"]}))

    def shown(*covariates):
        upload = Upload(curves=curves, declared=declare(
            **BOUNDS, origin="growth chart", covariates=covariates, **files.EVEN))
        return [m.value for m in open_page(upload=upload, show_upload=True).markdown]

    assert shown() == shown(StatedCovariate("dose", 0, 4))
