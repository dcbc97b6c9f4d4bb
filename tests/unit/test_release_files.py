"""What a release gives away: files without requests, a card for machines, and a command line."""

import csv
import io
import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from engine import __main__
from engine.mechanisms import mechanisms
from engine.privacy import risk
from engine.release import files as release_files
from engine.release import ledger, published
from engine.release.data_content import content_of
from engine.release.ledger import Ledger
from engine.sources import sources
from engine.types import Budget
from engine.words.numbers import in_hundred

SEA = sources.build("sea_temperature", {})
FORMULA = "=HYPERLINK(1)"


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    book = Ledger(tmp_path_factory.mktemp("ledger") / "ledger")
    return published.publish(SEA, mechanisms.build("adaptive_mean", {}), Budget(2.0, 1e-4), book,
                             "<b>sea & sky</b>", Budget(3.0, 1e-2))


def test_the_csv_holds_the_released_curve_with_its_plausible_range(one):
    lines = [line for line in release_files.numbers_csv(one).decode().splitlines()
             if not line.startswith("#")]
    header, *rows = csv.reader(lines)
    assert header[:2] == ["Time of the year (months)", "Sea-surface temperature (°C)"]
    values = np.array(rows, dtype=float)
    assert values.shape == (101, 4)
    assert ((values[:, 2] <= values[:, 1]) & (values[:, 1] <= values[:, 3])).all()
    assert "ε = 2, δ = 1×10⁻⁴" in release_files.numbers_csv(one).decode()


def test_names_of_columns_are_no_formulas(one):
    from dataclasses import replace

    risky = replace(one, axis=FORMULA, columns={"@value": one.x}, ranges={})
    text = release_files.numbers_csv(risky).decode()
    header = next(csv.reader(io.StringIO(text.split("no seed exists\n")[1])))
    assert header == [f"'{FORMULA}", "'@value"]


def test_the_report_asks_nothing_of_any_network_and_escapes_words(one):
    text = release_files.report(one).decode()
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|<script|<img|<link|@import|url\(", text)
    assert "default-src 'none'" in text
    assert "<b>sea" not in text
    assert "&lt;b&gt;sea &amp; sky" in text
    for words in ("one year’s whole curve", "ε = 2", "no seed", "not covered"):
        assert words in text


def test_the_picture_is_well_formed_and_says_what_it_shows(one):
    root = ElementTree.fromstring(release_files.picture(one))
    assert "Sea-surface temperature (°C) from" in root.attrib["aria-label"]
    assert [child.tag.split("}")[1] for child in root].count("polyline") == 1


def test_the_card_says_unit_neighbours_budget_accounting_bounds_seed_and_versions(one):
    card = json.loads(release_files.card(one))
    assert card["unit_of_protection"] == "one year’s whole curve"
    assert "replaced" in card["neighbours"]
    assert card["guarantee"] == {"epsilon": 2.0, "delta": 1e-4}
    assert card["ideal"]["epsilon"] < 2.0
    assert len(card["accounting"]["messages"]) == 6
    assert card["bounds"]["value"]["low"] == 15.0
    assert "Peru" in card["bounds"]["source"]
    assert card["noise"]["seed"].startswith("none")
    assert card["versions"]["opendp"] == "0.16.0"
    assert card["ledger"]["total"]["epsilon"] == 3.0
    assert card["odds"]["right_guess_at_most"] == risk.of_ledger(one.quote.charged).right


def test_the_guarantee_says_how_often_an_attacker_is_right(one):
    right = in_hundred(risk.of_ledger(one.quote.charged).right)
    assert right in release_files.guarantee_rows(one)["Odds"]
    assert right in release_files.report(one).decode()


def test_no_file_mentions_the_hash_of_the_data_or_what_is_unprotected(one):
    """A hash would tell neighbouring data apart; the label of the ledger is random."""
    every = b"".join(release_files.all_files(one).values())
    held = content_of(SEA)
    assert held not in every
    assert held.hex().encode() not in every
    assert one.odometer.label.encode() in every


def test_a_number_has_a_picture_and_a_table_of_its_own(tmp_path):
    number = published.publish(SEA, mechanisms.build("univariate_mean", {"setting": "central_user"}),
                               Budget(1.0), Ledger(tmp_path / "ledger"), "mean")
    rows = release_files.numbers_csv(number).decode().splitlines()
    assert rows[-2] == "Sea-surface temperature (°C)"
    assert 15 < float(rows[-1]) < 32
    ElementTree.fromstring(release_files.picture(number))
    release_files.report(number)


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.2, 17.0), (1e-5, 2e-5), (60, 210)])
def test_ticks_are_few_round_and_inside(low, high):
    found = release_files.ticks(low, high)
    assert 2 <= len(found) <= 7
    assert low - 1e-9 <= found[0]
    assert found[-1] <= high + 1e-9


# -- the command line -------------------------------------------------------------------------------

_CSV = "child_id,age,height\n" + "".join(
    f"c{k},{age},{80 + 5.5 * age + k % 7}\n" for k in range(60) for age in (2, 8, 14))
_FACTS = {"value_low": 60, "value_high": 210, "time_low": 2, "time_high": 18, "origin": "a chart",
          "value_name": "Height", "value_unit": "cm", "person": "child", "people": "children",
          "design": {"law": "even"}, "observations_per_curve": 6}


def request(tmp_path, **changed):
    plain = {"version": 1, "name": "growth-2026", "data": {"file": "heights.csv", "facts": _FACTS},
             "mechanism": {"key": "bernstein", "parameters": {}}, "budgets": [{"epsilon": 2.0}]}
    (tmp_path / "heights.csv").write_text(_CSV)
    (tmp_path / "request.json").write_text(json.dumps({**plain, **changed}))
    return ["release", str(tmp_path / "request.json"), "--ledger", str(tmp_path / "ledger"),
            "--out", str(tmp_path / "out")]


def test_without_yes_the_cost_is_shown_and_nothing_is_charged(tmp_path, capsys):
    assert __main__.main(request(tmp_path)) == 2
    out, problem = capsys.readouterr()
    assert "Certified: ε = 2" in out
    assert "Nothing was published" in problem
    assert not (tmp_path / "ledger").exists()
    assert not (tmp_path / "out").exists()


def test_with_yes_the_files_are_written_and_the_ledger_is_charged(tmp_path, capsys):
    command = [*request(tmp_path), "--yes", "--total-epsilon", "3"]
    assert __main__.main(command) == 0
    assert "Left for these children: ε = 1 of 3" in capsys.readouterr().out
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        "release.csv", "release.svg", "release.html", "guarantee.json"}
    assert json.loads((tmp_path / "out" / "guarantee.json").read_text())["guarantee"] == {
        "epsilon": 2.0, "delta": 0.0}
    again = [*command[:-4], str(tmp_path / "other"), "--yes", "--name", "again"]
    assert __main__.main(again) == 2
    assert "over the total of ε = 3" in capsys.readouterr().err
    assert not list((tmp_path / "other").iterdir())


def test_files_of_an_earlier_release_are_not_overwritten(tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "release.csv").write_text("kept")
    assert __main__.main([*request(tmp_path), "--yes"]) == 2
    assert "not empty" in capsys.readouterr().err
    assert not (tmp_path / "ledger").exists()


def test_a_density_of_records_is_published_from_a_file(tmp_path):
    data = {"file": "heights.csv", "features": [{"name": "height", "low": 60, "high": 210}],
            "facts": {"origin": "a chart"}}
    command = request(tmp_path, data=data, mechanism={"key": "iclp", "parameters": {
        "task": "density"}})
    assert __main__.main([*command, "--yes"]) == 0
    assert "Density" in (tmp_path / "out" / "release.csv").read_text()


def test_a_scenario_of_public_data_will_do(tmp_path):
    plain = {"version": 1, "source": {"key": "sea_temperature"}, "seed": 4, "repeats": 1,
             "mechanism": {"key": "frl"}, "budgets": [{"epsilon": 1.0}], "name": "sea"}
    (tmp_path / "scenario.json").write_text(json.dumps(plain))
    assert __main__.main(["release", str(tmp_path / "scenario.json"), "--yes", "--ledger",
                          str(tmp_path / "ledger"), "--out", str(tmp_path / "out")]) == 0
    assert Ledger(tmp_path / "ledger").odometer(content_of(SEA)).spent_epsilon == 1.0


@pytest.mark.parametrize(("changed", "words"), [
    ({"data": {"file": "none.csv", "facts": _FACTS}}, "Cannot read"),
    ({"data": {"file": "heights.csv", "facts": {**_FACTS, "value_low": "60"}}}, "must be a number"),
    ({"data": {"file": "heights.csv", "facts": {**_FACTS, "origin": ""}}}, "where these bounds"),
    ({"data": {"file": "heights.csv", "facts": {}}}, "State the lowest and highest"),
    ({"data": {"file": "heights.csv", "fact": {}}}, "has no key 'fact'"),
    ({"source": {"key": "sea_temperature"}}, "not both"),
    ({"name": 3}, "must be text"), ({"seeds": 3}, "has no key 'seeds'"),
    ({"budgets": [{"epsilon": "inf"}]}, "finite"),
], ids=str)
def test_what_is_wrong_with_a_request_is_said_and_nothing_is_charged(tmp_path, capsys, changed,
                                                                    words):
    assert __main__.main([*request(tmp_path, **changed), "--yes"]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "ledger").exists()


def test_the_ledger_of_tests_is_not_that_of_a_person():
    assert "ledger-of-tests" in str(ledger.path_of())
