"""Use my curves: what is asked, what is said before anything is wrong, and of whom."""

import re
from types import SimpleNamespace

import pandas as pd
import pytest
import streamlit as st

from engine.running.bounded import Ended
from engine.uploads import bounded
from engine.uploads.bounds_library import public_bounds
from pages.shared import components
from pages.shared.uploads import columns, tables
from tests import files
from tests.pages.opening import EACH_SITE, trust, visit
from tests.pages.reading import words


@pytest.fixture
def panel(monkeypatch):
    """Open the panel on Explore with a file in it: ``panel(frame)``."""
    def panel(frame):
        result = SimpleNamespace(file_id="1", name="curves.csv", getvalue=lambda: files.csv(frame))
        monkeypatch.setattr(st, "file_uploader", lambda *_, **__: result)
        return visit("explore", upload_open=True)
    return panel


def visits(people=30, each=2):
    """A row for every visit, with readings at four times."""
    rows = [(f"p{k % people}", *(100.0 + k + 2 * t for t in range(4))) for k in range(people * each)]
    return pd.DataFrame(rows, columns=["id", "x_1", "x_2", "x_3", "x_4"])


def stated(at, low=0, high=300, first=1, last=4):
    """The public bounds, in their part of the form."""
    trust(at)
    for name, number in (("value_low", low), ("value_high", high), ("time_low", first),
                         ("time_high", last)):
        at.text_input(key=f"upload_{name}").set_value(str(number))
    at.selectbox(key="upload_law").set_value("even")
    at.text_input(key="upload_observations").set_value("4")
    at.text_input(key="upload_origin").set_value("manual")
    return at.run()


def test_several_rows_of_a_person_are_averaged_so_that_the_person_is_protected(panel):
    at = panel(visits())
    assert at.selectbox(key="upload_several").value == "average"
    assert "**30 curves · 4 observations each**" in words(at)
    assert not any("One row is protected" in box.value for box in at.warning)


@pytest.fixture
def asked(monkeypatch):
    """What the panel had computed, with its bounds."""
    asked, usual = [], tables.computed

    def computed(key, reader, *arguments, bounds):
        asked.append((reader.__name__, bounds))
        return usual(key, reader, *arguments, bounds=bounds)

    monkeypatch.setattr(tables, "computed", computed)
    return asked


def test_curves_are_made_of_a_file_once_for_each_choice_and_within_bounds(panel, asked):
    at = panel(visits()).run()
    assert asked == [("read_table", bounded.BOUNDS), ("read_curves", bounded.OF_COLUMNS)]
    at.selectbox(key="upload_several").set_value("keep").run()
    assert asked[2:] == [("read_curves", bounded.OF_COLUMNS)]
    stated(at).button(key="upload_show").click().run()
    assert len(asked) == 3 and at.session_state["upload"].curves.n_curves == 60
    assert "upload_held" not in at.session_state  # the bytes of the file


def test_columns_that_take_too_much_are_refused_in_a_sentence(panel, asked, monkeypatch):
    def read_curves(*_):
        raise Ended("memory")

    monkeypatch.setattr(columns, "read_curves", read_curves)
    at = panel(visits())
    assert "This file needs more than 5 seconds or 600 MB of memory to be read." in at.error[0].value
    assert not at.exception


def test_where_one_row_is_protected_nothing_claims_that_it_is_one_person(panel):
    at = panel(visits())
    at.selectbox(key="upload_several").set_value("keep").run()
    assert any("One row is protected, not one person" in box.value for box in at.warning)
    stated(at).button(key="upload_show").click().run()
    assert not at.exception
    facts = at.session_state["upload"].facts
    assert (facts.person, facts.people) == ("row", "rows")
    assert re.fullmatch(r"The mean .*curve of \d+ rows, released with differential privacy",
                        at.title[0].value)


@pytest.mark.slow
def test_public_groups_of_a_file_are_stated_and_compared_on_explore(panel):
    frame = files.growth_frame(80, 4).assign(arm=lambda rows: [
        f"arm {sum(map(ord, str(person))) % 2}" for person in rows.iloc[:, 0]])
    at = panel(frame)
    at.selectbox(key="upload_group").set_value("arm").run()
    assert "Choose two or more groups" in " ".join(each.value for each in (*at.error, *at.info))
    assert at.multiselect(key="upload_groups_arm").value == []  # a stated fact, never taken from the file
    at.button(key="upload_groups_arm_all").click().run()
    assert at.multiselect(key="upload_groups_arm").value == ["arm 0", "arm 1"]
    stated(at, 60, 220, 2, 18)
    at.button(key="upload_show").click().run()
    at = visit("explore", "shape-groups~epsilon-3~open-shape",
               upload=at.session_state["upload"], show_upload=True)
    assert "Arm 0 and arm 1" in words(at) and "released apart" in words(at)


def test_columns_whose_names_say_nothing_are_chosen_by_hand(panel):
    frame = pd.DataFrame([(k, a, 2 * a + k) for k in range(20) for a in range(5)],
                         columns=["aa", "bb", "cc"])
    at = panel(frame)
    assert "no column says" in at.info[0].value and not at.error  # a question, and nothing wrong
    for role, column in (("id", "aa"), ("time", "bb"), ("value", "cc")):
        at.selectbox(key=f"upload_role_{role}_open").set_value(column)
    at.run()
    assert not at.error and "**20 curves · 5 observations each**" in words(at)


def test_what_comes_first_is_said_before_anything_is_wrong(panel):
    at = panel(files.growth_frame(30, 5))
    first = "State the lowest and highest possible value"
    assert not at.error and any(first in box.value for box in at.info)
    at.text_input(key="upload_value_high").set_value("200").run()
    assert any(first in box.value for box in at.error)


def test_the_columns_of_a_second_file_are_found_anew(panel, monkeypatch):
    at = panel(files.growth_frame(30, 5))
    assert not at.radio  # no column is left that could name sites
    with_site = files.growth_frame(30, 5).assign(site="North")
    second = SimpleNamespace(file_id="2", name="more.csv", getvalue=lambda: files.csv(with_site))
    monkeypatch.setattr(st, "file_uploader", lambda *_, **__: second)
    at.run()
    assert at.radio(key="upload_trust_1").value is None
    at.radio(key="upload_trust_1").set_value("Each site adds its own noise").run()
    assert at.selectbox(key="upload_sites_1").value == "site"
    assert "**30 curves · 5 to 7 observations each**" in words(at)


def test_an_encoding_that_was_chosen_stays_chosen(monkeypatch):
    content = files.csv(files.growth_frame(30, 5)).replace(b"child", "élève".encode("latin-1"))
    result = SimpleNamespace(file_id="1", name="curves.csv", getvalue=lambda: content)
    monkeypatch.setattr(st, "file_uploader", lambda *_, **__: result)
    at = visit("explore", upload_open=True)
    at.selectbox(key="upload_encoding").set_value("latin-1").run()
    assert not at.error and "**30 curves · 5 to 7 observations each**" in words(at)
    stated(at, first=2, last=18)
    assert not at.error and at.selectbox(key="upload_encoding").value == "latin-1"


def test_who_is_one_person_can_be_said_of_a_file_with_one_row_per_curve(panel):
    at = panel(visits().rename(columns={"id": "code"}).assign(group="a"))
    assert "**60 curves · 4 observations each**" in words(at)
    at.selectbox(key="upload_role_id").set_value("code").run()
    assert "**30 curves · 4 observations each**" in words(at)


TRUST = "upload_trust"


def with_hospitals():
    frame = files.growth_frame(30, 5)
    return frame.assign(hospital=frame.child.str[-1].astype(int) % 3)


def test_a_column_of_sites_is_offered_and_nothing_is_shown_before_it_is_said_who_is_trusted(panel):
    at = panel(with_hospitals())
    assert at.radio(key=TRUST).value is None and not at.error
    assert any("State who is trusted with the data" in box.value for box in at.info)
    assert at.button(key="upload_show").disabled
    at.radio(key=TRUST).set_value("One trusted centre holds all of it").run()
    stated(at, first=2, last=18).button(key="upload_show").click().run()
    assert not at.exception
    kept = at.session_state["upload"]
    assert kept.sizes.n_servers == 1 and kept.curves.server_names == ()
    who = at.switch_page("../decide.py").run().selectbox(key="w_noise")
    assert who.value == "centre"


def test_sites_that_add_their_own_noise_are_those_of_the_column(panel, monkeypatch):
    strips = []
    monkeypatch.setattr(components, "strip", lambda chips, *_, **__: strips.append(chips))
    at = panel(with_hospitals())
    at.radio(key=TRUST).set_value(EACH_SITE).run()
    assert at.selectbox(key="upload_sites").value == "hospital"
    stated(at, first=2, last=18).button(key="upload_show").click().run()
    assert not at.exception and at.session_state["upload"].sizes.n_servers == 3
    assert "3 sites, own noise" in [chip.text for chip in strips[-1]]
    assert at.switch_page("../decide.py").run().selectbox(key="w_noise").value == "sites"


def test_the_design_must_be_stated_and_header_times_be_confirmed(panel):
    at = panel(visits(30, 1))
    for name, number in (("value_low", 0), ("value_high", 300), ("time_low", 1), ("time_high", 4)):
        at.text_input(key=f"upload_{name}").set_value(str(number))
    at.text_input(key="upload_origin").set_value("manual").run()
    assert any("how many observations each curve was planned" in box.value for box in at.info)
    at.selectbox(key="upload_law").set_value("common").run()
    assert any("State the times at which everybody" in box.value for box in at.error)
    at.checkbox(key="upload_header_public").check().run()
    assert not at.error
    at.button(key="upload_show").click().run()
    facts = at.session_state["upload"].facts
    assert facts.design.times == (0, 1 / 3, 2 / 3, 1) and facts.observations_per_curve == 4
    assert not facts.symmetric


@pytest.mark.slow
def test_common_times_of_a_long_file_are_typed_in_and_a_bad_list_keeps_the_form_whole(panel):
    at = stated(panel(files.growth_frame(30, 5)), first=2, last=18)
    at.selectbox(key="upload_law").set_value("common").run()
    at.text_input(key="upload_times").set_value("2, six").run()
    assert any("must be finite numbers" in box.value for box in at.error)
    assert at.text_input(key="upload_origin").value == "manual"
    at.text_input(key="upload_times").set_value("2 to 18 by 4").run()
    assert not at.error
    assert any("does not look as stated" in box.value for box in at.warning)
    at.selectbox(key="upload_symmetric").set_value(True)
    at.run().button(key="upload_show").click().run()
    facts = at.session_state["upload"].facts
    assert facts.design.times == (0, 0.25, 0.5, 0.75, 1) and facts.symmetric


def test_a_site_is_offered_where_the_other_columns_have_to_be_chosen_by_hand_as_well(panel):
    at = panel(with_hospitals().rename(columns={"child": "aa", "age": "bb", "height": "cc"}))
    for role, column in (("id", "aa"), ("time", "bb"), ("value", "cc")):
        at.selectbox(key=f"upload_role_{role}_open").set_value(column)
    assert at.run().radio(key=TRUST).value is None


def test_nothing_is_lost_when_the_dialog_is_opened_again(panel):
    at = panel(with_hospitals())
    at.radio(key=TRUST).set_value(EACH_SITE).run()
    stated(at, first=2, last=18).button(key="upload_show").click().run()
    at.session_state["upload_open"] = True
    at.run()
    assert "**30 curves · 5 to 7 observations each**" in words(at) and not at.error
    assert at.text_input(key="upload_value_high").value == "300"
    assert at.text_input(key="upload_origin").value == "manual"
    assert at.selectbox(key="upload_law").value == "even"
    assert at.radio(key=TRUST).value == EACH_SITE


def test_what_was_stated_in_the_dialog_of_a_page_is_there_in_publish(panel):
    at = stated(panel(files.growth_frame(30, 5)), first=2, last=18)
    at.switch_page("../publish.py").run()
    assert not at.exception and "1 Data" in [header.value for header in at.header]
    assert at.text_input(key="upload_value_high").value == "300"
    assert at.text_input(key="upload_origin").value == "manual"
    assert at.selectbox(key="upload_law").value == "even"


def test_whoever_shows_a_file_on_another_page_is_asked_nothing_twice_in_publish(panel, monkeypatch):
    at = stated(panel(files.growth_frame(30, 5)), first=2, last=18)
    at.button(key="upload_show").click().run()
    at.switch_page("../publish.py").run()
    assert not at.exception and "2 Preview on simulated data" in [header.value for header in at.header]
    assert "curves.csv" in words(at) and "Value 0 to 300" in words(at)
    monkeypatch.setattr(st, "file_uploader", lambda *_, **__: None)  # the bytes are gone
    at.button(key="change_step_1").click().run()
    assert at.text_input(key="upload_value_high").value == "300" and "curves.csv" in words(at)


def test_the_library_fills_bounds_with_their_source_and_leaves_them_free(panel):
    at = panel(files.growth_frame(30, 5))
    at.selectbox(key="upload_library").set_value("height").run()
    height = public_bounds()["height"]
    assert at.text_input(key="upload_value_high").value == f"{height.value_high:g}"
    assert at.text_input(key="upload_origin").value == height.source
    at.text_input(key="upload_value_high").set_value("230")
    at.text_input(key="upload_observations").set_value("5").run()
    at.button(key="upload_show").click().run()
    facts = at.session_state["upload"].facts
    assert (facts.value_high, facts.origin, facts.person) == (230, height.source, "child")


def test_dates_that_can_be_read_in_two_ways_are_asked_for_under_the_file(panel):
    frame = pd.DataFrame([(f"p{k}", f"{1 + k % 5}/{1 + a}/2024", 1.0 * k + a)
                          for k in range(20) for a in range(5)], columns=["id", "time", "value"])
    at = panel(frame)
    assert any("can be read in two ways" in box.value for box in at.info) and not at.error
    assert not at.text_input  # bounds are asked for once the file can be read
    at.selectbox(key="upload_dates").set_value(True).run()
    at.text_input(key="upload_since").set_value("2024-01-01").run()
    assert "day/month/year: dates read as days since 2024-01-01" in words(at).replace("\\", "")
    assert not at.error
    at.selectbox(key="upload_beginning_time").set_value("from_first").run()
    at.selectbox(key="upload_unit_from_first_time_").set_value("weeks").run()
    assert "weeks since each person’s first observation" in words(at) and not at.error


def test_people_in_columns_are_recognised_and_the_other_reading_can_be_chosen(panel):
    frame = pd.DataFrame({"age": [2, 6, 10], "p1": [86, 115, 138], "p2": [84, 112, 135]})
    at = panel(frame)
    assert at.selectbox(key="upload_kind").value == "transposed"
    assert "**2 curves · 3 observations each**" in words(at)
