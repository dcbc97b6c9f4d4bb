"""What a release gives away: files without requests, a card for machines, and a command line."""

import csv
import hashlib
import html
import io
import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from engine import __main__
from engine.core.types import Budget, Caution, Design, PublicFacts, SaidIn
from engine.language.numbers import at_most_percent, in_unit
from engine.mechanisms import mechanisms
from engine.privacy import risk
from engine.privacy.failure import usual_delta
from engine.privacy.feasibility import Feasibility
from engine.release import captions, certified, ledger, published, sentences
from engine.release import files as release_files
from engine.release import request as release_request
from engine.release.data_content import content_of
from engine.release.ledger import Ledger
from engine.release.picture import picture, ticks
from engine.release.plan import Forecast
from engine.release.uncertainty import ReleasedBand, Uncertainty, covariance_inside
from engine.sources import sources
from engine.topics.mean import live
from engine.topics.mean.answer import mean_answer
from engine.topics.release import charts
from engine.topics.release.preview import release_preview
from tests.alarms import without_alarm
from tests.heavy import few
from tests.ledgers import spent
from tests.readings import request_with_reading, upload_of
from tests.sentences import of_topic

wording = of_topic("release")

SEA = sources.build("sea_temperature", {})
FORMULA = "=HYPERLINK(1)"
WITH_WORDS = ("release.svg", "release.html", "guarantee.json")  # that say what to think of it


def releases_in(path):
    """The releases of a ledger, whatever was frozen in it."""
    with Ledger(path).log.reading() as log:
        return [logged for logged in log.entries if logged.entry["kind"] == "release"]


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    book = Ledger(tmp_path_factory.mktemp("ledger") / "ledger")
    return published.publish(
        SEA,
        mechanisms.build("adaptive_mean", {}),
        Budget(2.0, 1e-4),
        book,
        "<b>sea & sky</b>",
        Budget(3.0, 1e-2),
    )


def test_the_csv_holds_the_released_curve_with_its_plausible_range(one):
    table = pd.read_csv(io.BytesIO(release_files.numbers_csv(one)))
    assert [*table] == ["time", "value", "low", "high"] and {*map(str, table.dtypes)} == {"float64"}
    assert len(table) == 101
    assert table.value.between(table.low, table.high).all()


def test_the_table_under_the_chart_of_a_release_has_the_columns_of_its_file(one):
    chart = charts.chart(one)
    _, x, values, low, high = ["", *chart.table.values()]
    assert [*chart.table] == [*captions.columns(one)] and len(x) == 101
    assert all(a <= b <= c for a, b, c in zip(low, values, high, strict=True))
    assert chart.spec["data"][-1]["y"] == values


def test_names_of_functions_are_no_formulas(one):
    functions = replace(one.functions, columns={FORMULA: one.x, "@value": one.x}, ranges={})
    text = release_files.numbers_csv(replace(one, functions=functions)).decode()
    rows = list(csv.DictReader(text.splitlines()))
    assert {row["function"] for row in rows} == {f"'{FORMULA}", "'@value"}
    assert [*rows[0]] == ["function", "time", "value"] and len(rows) == 202


def test_the_data_package_binds_table_and_card_and_names_every_column(one):
    files = release_files.all_files(one)
    package = json.loads(files["datapackage.json"])
    assert re.fullmatch(r"[a-z0-9._-]+", package["name"])
    for resource in package["resources"]:
        content = files[resource["path"]]
        assert resource["bytes"] == len(content)
        assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
    table = package["resources"][0]
    named = {field["name"]: field for field in table["schema"]["fields"]}
    header = files["release.csv"].decode().splitlines()[0]
    assert [*named] == header.split(",") and table["schema"]["primaryKey"] == ["time"]
    assert named["time"]["title"] == "Time of the year (months)"
    assert named["value"]["constraints"] == {"required": True, "minimum": 15.0, "maximum": 32.0}
    assert one.release_id in files["citation.txt"].decode()


def test_the_report_asks_nothing_of_any_network_and_escapes_words(one):
    text = release_files.report(one).decode()
    assert not re.search(
        r"https?://(?!www\.w3\.org/2000/svg)|<script|<img|<link|@import|url\(", text
    )
    assert "default-src 'none'" in text
    assert "<b>sea" not in text
    assert "&lt;b&gt;sea &amp; sky" in text
    for words in ("one year’s whole curve", "ε = 2", "no seed", "not covered"):
        assert words in text


def test_the_picture_is_well_formed_and_says_what_it_shows(one):
    root = ElementTree.fromstring(picture(one))
    wording.found("sea surface temperature", root.attrib["aria-label"])
    assert [child.tag.split("}")[1] for child in root].count("polyline") == 1


def test_the_card_says_unit_neighbours_budget_accounting_bounds_seed_and_versions(one):
    card = json.loads(release_files.card(one))
    wording.found("one year’s whole", card["unit_of_protection"], alone=True)
    assert (card["unit"], card["neighbours"]) == ("person", "replace-one-person/fixed-membership")
    assert card["guarantee"] == {"epsilon": 2.0, "delta": 1e-4}
    assert card["ideal"]["epsilon"] < 2.0
    assert len(card["accounting"]["messages"]) == 6
    assert card["bounds"]["value"]["low"] == 15.0
    assert "Peru" in card["bounds"]["source"]
    assert card["noise"]["seed"].startswith("none")
    assert card["versions"]["opendp"] == "0.16.0"
    assert card["odds"]["right_guess_at_most"] == risk.of_ledger(one.cost.certified_spends).right


def test_a_large_delta_is_pointed_out_before_a_release_and_in_all_of_its_files(one, tmp_path):
    words = "largest value in common practice"
    for name in WITH_WORDS:
        assert words in release_files.all_files(one)[name].decode()
    method = mechanisms.build("adaptive_mean", {})
    shown = {
        delta: " ".join(
            sentences.before(
                SEA,
                method,
                published.release_cost(SEA, method, Budget(2.0, delta)),
                Ledger(tmp_path / "none").standing_of(SEA),
            )
        )
        for delta in (1e-6, 1e-4, 5e-3)
    }
    assert words not in shown[1e-6] and words in shown[1e-4] and "δ is large" in shown[5e-3]
    small = published.publish(SEA, method, Budget(2.0, 1e-6), Ledger(tmp_path / "ledger"), "sea")
    assert "delta_warning" not in small.card and "δ is" not in release_files.report(small).decode()


def test_the_guarantee_says_how_often_an_attacker_is_right(one):
    right = at_most_percent(risk.of_ledger(one.cost.certified_spends).right)
    assert right in release_files.guarantee_rows(one)["Odds"]
    assert right in release_files.report(one).decode()


def test_no_file_mentions_the_hash_of_the_data_or_what_is_unprotected(one):
    """A hash, or what the ledger knows people by, would tell neighbouring data apart."""
    every = b"".join(release_files.all_files(one).values())
    result = content_of(SEA)
    assert result not in every
    assert result.hex().encode() not in every
    assert one.release_id.encode() in every


def test_what_was_forecast_of_the_error_stands_in_all_files_and_charges_nothing_anew(tmp_path):
    book, method = Ledger(tmp_path / "ledger.sqlite3"), mechanisms.build("adaptive_mean", {})
    told = published.publish(
        SEA, method, Budget(2.0, 1e-4), book, "sea", forecast=Forecast(0.123, 0.234, "°C")
    )
    files = release_files.all_files(told)
    wording.found("error within", files["release.html"].decode(), "0.123", "0.234")
    assert json.loads(files["guarantee.json"])["accuracy"]["forecast"] | {"of": ""} == {
        "root_mean_squared_error": 0.123,
        "within_95": 0.234,
        "unit": "°C",
        "of": "",
    }
    assert release_files.all_files(published.again(book, told.release_id)) == files
    asked = published.publish(
        SEA, method, Budget(2.0, 1e-4), book, "sea"
    )  # without it, or with another one
    assert asked.release_id == told.release_id and release_files.all_files(asked) == files


def test_a_number_has_a_picture_and_a_table_of_its_own(tmp_path):
    number = published.publish(
        SEA,
        mechanisms.build("univariate_mean", {"setting": "central_user"}),
        Budget(1.0),
        Ledger(tmp_path / "ledger"),
        "mean",
    )
    rows = release_files.numbers_csv(number).decode().splitlines()
    assert rows[-2] == "value"
    assert 15 < float(rows[-1]) < 32
    assert charts.chart(number).table == {
        "Sea-surface temperature (°C)": [pytest.approx(float(rows[-1]), abs=1e-3)]
    }
    ElementTree.fromstring(picture(number))
    release_files.report(number)


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.2, 17.0), (1e-5, 2e-5), (60, 210)])
def test_ticks_are_few_round_and_inside(low, high):
    result = ticks(low, high)
    assert 2 <= len(result) <= 7
    assert low - 1e-9 <= result[0]
    assert result[-1] <= high + 1e-9


# -- the command line -------------------------------------------------------------------------------

_CSV = "child_id,age,height\n" + "".join(
    f"c{k},{age},{80 + 5.5 * age + k % 7}\n" for k in range(60) for age in (2, 8, 14)
)
_FACTS = {
    "value_low": 60,
    "value_high": 210,
    "time_low": 2,
    "time_high": 18,
    "origin": "a chart",
    "value_name": "Height",
    "value_unit": "cm",
    "person": "child",
    "people": "children",
    "design": {"law": "even"},
    "observations_per_curve": 6,
}


def request(tmp_path, text=_CSV, **changed):
    plain = {
        "version": 1,
        "name": "growth-2026",
        "data": {"file": "heights.csv", "facts": _FACTS},
        "mechanism": {"key": "bernstein", "parameters": {}},
        "budgets": [{"epsilon": 2.0}],
    }
    (tmp_path / "heights.csv").write_text(text)
    plain |= changed
    if "data" in plain:
        file = tmp_path / plain["data"].get("file", "")
        plain = request_with_reading(plain, file.read_bytes() if file.is_file() else _CSV.encode())
    (tmp_path / "request.json").write_text(json.dumps(plain))
    return [
        "release",
        str(tmp_path / "request.json"),
        "--ledger",
        str(tmp_path / "ledger"),
        "--out",
        str(tmp_path / "out"),
    ]


def test_the_error_that_is_forecast_before_stands_in_the_report_and_the_card(tmp_path, capsys):
    main = __main__.main
    assert main(request(tmp_path)) == 0
    before = capsys.readouterr().out
    assert main([*request(tmp_path), "--yes"]) == 0
    card = json.loads((tmp_path / "out" / "guarantee.json").read_text())
    expected = in_unit(card["accuracy"]["forecast"]["root_mean_squared_error"], "cm")
    assert expected in before and expected in (tmp_path / "out" / "release.html").read_text()


def test_without_yes_the_cost_is_shown_and_nothing_is_charged(tmp_path, capsys):
    assert __main__.main(request(tmp_path)) == 0
    out, problem = capsys.readouterr()
    wording.found("certified", out, 2)
    assert "forecast" in out and "hree peaks" in out  # how far off, and what survives
    assert "Nothing was published" in problem and "--about-file" in problem
    assert not releases_in(tmp_path / "ledger")
    assert not (tmp_path / "out").exists()


def test_the_holder_of_a_file_is_told_what_to_look_at_in_it_and_only_if_they_ask(tmp_path, capsys):
    command = request(tmp_path)
    first, *others = _CSV.splitlines(True)
    (tmp_path / "heights.csv").write_text("".join([first, *others, others[0], "c1,3,\n"]))
    assert __main__.main([*command, "--about-file", "--yes"]) == 0
    about, warning = capsys.readouterr()
    wording.found("observation left out", about, 1)
    assert "Exact copies" in about
    wording.found("private data", warning)
    assert not releases_in(tmp_path / "ledger")
    assert __main__.main(command) == 0
    assert "left out" not in capsys.readouterr().out


def test_a_request_without_delta_has_that_of_the_pages_and_an_explicit_0_stays(tmp_path, capsys):
    method = {"key": "adaptive_mean", "parameters": {}}
    assert __main__.main(request(tmp_path, mechanism=method)) == 0
    wording.found("certified with delta", capsys.readouterr().out, 2, "8.3×10⁻⁵")
    assert (
        __main__.main(request(tmp_path, mechanism=method, budgets=[{"epsilon": 2, "delta": 0}]))
        == 2
    )
    assert "δ" in capsys.readouterr().err


def test_groups_without_delta_have_that_of_all_people(tmp_path):
    header, *others = _CSV.splitlines()
    rows = [f"{row},{'fm'[int(row[1:].split(',')[0]) < 20]}\n" for row in others]
    request(
        tmp_path,
        "".join([f"{header},sex\n", *rows]),
        data={
            "file": "heights.csv",
            "facts": _FACTS,
            "columns": {"group": "sex"},
            "groups": ["f", "m"],
        },
        mechanism={"key": "adaptive_mean"},
    )
    requests = release_request.from_json((tmp_path / "request.json").read_text(), tmp_path)
    assert [each.source.sizes.n_curves for each in requests] == [40, 20]
    assert [each.budget.delta for each in requests] == [usual_delta(60)] * 2


def test_people_who_seem_to_be_known_are_told_once_and_without_markup(tmp_path, capsys):
    command = request(tmp_path)
    assert __main__.main([*command, "--yes", "--name", "long_common"]) == 0
    (tmp_path / "heights.csv").write_text(_CSV.replace("c1,2,92", "c1,2,93"))
    capsys.readouterr()
    assert __main__.main(command) == 2
    out, problem = capsys.readouterr()
    wording.found("left person", out, 1, 3)
    assert "\\" not in out
    wording.found("children less", problem, 60, 60)


def test_with_yes_the_files_are_written_and_the_ledger_is_charged(tmp_path, capsys):
    command = [*request(tmp_path), "--yes", "--total-epsilon", "3"]
    assert __main__.main(command) == 0
    wording.found("person least", capsys.readouterr().out, 1, 3)
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        "release.csv",
        "release.svg",
        "release.html",
        "guarantee.json",
        "datapackage.json",
        "citation.txt",
        "check.html",
        "again.json",
    }
    assert json.loads((tmp_path / "out" / "guarantee.json").read_text())["guarantee"] == {
        "epsilon": 2.0,
        "delta": 0.0,
    }
    again = [*command[:-4], str(tmp_path / "other"), "--yes", "--name", "again"]
    assert __main__.main(again) == 2
    wording.found("children less left", capsys.readouterr().err, 60, 60)
    assert not (tmp_path / "other").exists()


def test_files_of_an_earlier_release_are_not_overwritten(tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "release.csv").write_text("kept")
    assert __main__.main([*request(tmp_path), "--yes"]) == 2
    assert "not empty" in capsys.readouterr().err
    assert not releases_in(tmp_path / "ledger")


def test_a_density_of_records_is_published_from_a_file(tmp_path):
    data = {
        "file": "heights.csv",
        "features": [{"name": "height", "low": 60, "high": 210}],
        "facts": {"origin": "a chart"},
    }
    heights = "".join(f"{line.split(',', 1)[1]}\n" for line in _CSV.splitlines())
    command = request(
        tmp_path, heights, data=data, mechanism={"key": "iclp", "parameters": {"task": "density"}}
    )
    assert __main__.main([*command, "--yes"]) == 0
    assert (tmp_path / "out" / "release.csv").read_text().startswith("place,value\n")
    assert "Density" in (tmp_path / "out" / "datapackage.json").read_text()


_OBSERVATIONS = "hour,value\n" + "".join(
    f"{(k * 0.618034) % 1 * 24:.3f},{37 + (k % 24 > 12) + 0.3 * (k % 3 - 1):.2f}\n"
    for k in range(900)
)
_OF_SINGLE = {
    "value_low": 35,
    "value_high": 39,
    "time_low": 0,
    "time_high": 24,
    "origin": "a manual",
    "reading_sd": 0.5,
    "design": {"law": "even"},
}


@pytest.mark.parametrize(
    ("key", "chosen", "n_messages"),
    [("wavelet_global", {}, 2), ("wavelet_adaptive", {"messages": "three"}, 5)],
)
def test_a_regression_curve_of_single_observations_is_published_by_wavelets(
    tmp_path, key, chosen, n_messages
):
    (tmp_path / "hours.csv").write_text(_OBSERVATIONS)
    command = request(
        tmp_path,
        data={"file": "hours.csv", "facts": _OF_SINGLE},
        mechanism={"key": key, "parameters": {"edges": "corrected", **chosen}},
        budgets=[{"epsilon": 3.0, "delta": 1e-5}],
    )
    assert __main__.main([*command, "--yes"]) == 0
    card = json.loads((tmp_path / "out" / "guarantee.json").read_text())
    assert card["unit"] == "observation"
    wording.found("states one person", card["unit_of_protection"])
    assert card["guarantee"] == {"epsilon": 3.0, "delta": 1e-5}
    messages = card["accounting"]["messages"]
    assert [message["noise"] for message in messages] == ["discrete Gaussian"] * n_messages
    values = pd.read_csv(tmp_path / "out" / "release.csv").value
    assert len(values) == 101 and values.min() >= 35 and values.max() <= 39


def test_a_prediction_is_published_in_the_unit_of_what_is_predicted(tmp_path):
    (tmp_path / "pairs.csv").write_text(
        "age,weight\n" + "".join(f"{k % 100},{50 + k % 40}\n" for k in range(300))
    )
    data = {
        "file": "pairs.csv",
        "features": [{"name": "age", "low": 0, "high": 100, "unit": "years"}],
        "columns": {"value": "weight"},
        "facts": {"origin": "a chart", "value_low": 40, "value_high": 100, "value_unit": "kg"},
    }
    command = request(
        tmp_path,
        data=data,
        mechanism={"key": "frl", "parameters": {"task": "risk_minimisation", "grid_size": 30}},
    )
    assert __main__.main([*command, "--yes"]) == 0
    package = (tmp_path / "out" / "datapackage.json").read_text()
    assert "age (years)" in package and "weight (kg)" in package
    values = pd.read_csv(tmp_path / "out" / "release.csv").value
    assert values.min() >= 40 and values.max() <= 100


def test_a_covariance_is_published_for_all_pairs_of_times(tmp_path):
    command = request(
        tmp_path, mechanism={"key": "frl", "parameters": {"task": "covariance", "grid_size": 12}}
    )
    assert __main__.main([*command, "--yes"]) == 0
    rows = pd.read_csv(tmp_path / "out" / "release.csv", dtype=float)
    assert [*rows] == ["time", "time2", "value"]
    table = rows.pivot(index="time", columns="time2", values="value").to_numpy()
    assert table.shape == (21, 21)
    np.testing.assert_allclose(table, table.T, atol=1e-6)
    assert (np.linalg.eigvalsh(table) >= -1e-6 * np.abs(table).max()).all()  # all 0 by much noise
    root = ElementTree.parse(tmp_path / "out" / "release.svg").getroot()
    assert len(list(root.iter("{http://www.w3.org/2000/svg}rect"))) == 21**2
    source = children(60)
    release = released(tmp_path / "page", source, "frl", 2.0, task="covariance", grid_size=12)
    (heat,) = charts.chart(release).spec["data"]
    assert heat["type"] == "heatmap" and len(heat["z"]) == len(heat["x"]) == 21


def test_a_covariance_held_to_the_stated_bounds_is_still_one(tmp_path):
    """Twice the largest variance at the first times, and far less at the last."""
    most = NARROW.value_half_width**2
    height = np.linspace(1.5, 0.1, 21) * NARROW.value_half_width
    apart = np.subtract.outer(np.arange(21), np.arange(21))
    before = height * np.exp(-((apart / 4) ** 2)) * height[:, None]
    held, beyond = covariance_inside(before, most)
    assert np.linalg.eigvalsh(np.clip(before, -most, most))[0] < -1
    assert np.linalg.eigvalsh(held)[0] > -1e-9 * most and np.abs(held).max() <= most
    root, root_before = np.sqrt(np.diagonal(held)), np.sqrt(np.diagonal(before))
    np.testing.assert_allclose(
        held / np.outer(root, root), before / np.outer(root_before, root_before)
    )
    assert beyond == (before > most).mean()
    one = released(tmp_path, children(60), "frl", 0.05, task="covariance", grid_size=12)
    assert np.abs([*one.columns.values()]).max() <= most * (1 + 1e-12)
    assert re.search(r"\d %\W* of the noisy variances", texts(one)["release.html"])


def test_a_scenario_of_public_data_will_do(tmp_path):
    plain = {
        "version": 1,
        "source": {"key": "sea_temperature"},
        "seed": 4,
        "repeats": 1,
        "mechanism": {"key": "frl"},
        "budgets": [{"epsilon": 1.0}],
        "name": "sea",
    }
    (tmp_path / "scenario.json").write_text(json.dumps(plain))
    assert (
        __main__.main(
            [
                "release",
                str(tmp_path / "scenario.json"),
                "--yes",
                "--ledger",
                str(tmp_path / "ledger"),
                "--out",
                str(tmp_path / "out"),
            ]
        )
        == 0
    )
    assert spent(Ledger(tmp_path / "ledger"), SEA) == 1.0


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"data": {"file": "none.csv", "facts": _FACTS}}, "Cannot read"),
        (
            {"data": {"file": "heights.csv", "facts": {**_FACTS, "value_low": "60"}}},
            "must be a number",
        ),
        (
            {"data": {"file": "heights.csv", "facts": {**_FACTS, "origin": ""}}},
            "where these bounds",
        ),
        ({"data": {"file": "heights.csv", "facts": {}}}, "State the lowest and highest"),
        ({"data": {"file": "heights.csv", "fact": {}}}, "has no key 'fact'"),
        ({"source": {"key": "sea_temperature"}}, "not both"),
        ({"mechanism": {"key": "sparse_regression"}}, "Only functions and average numbers"),
        ({"name": 3}, "must be text"),
        ({"seeds": 3}, "has no key 'seeds'"),
        ({"budgets": [{"epsilon": "inf"}]}, "finite"),
    ],
    ids=str,
)
def test_what_is_wrong_with_a_request_is_said_and_nothing_is_charged(
    tmp_path, capsys, changed, words
):
    assert __main__.main([*request(tmp_path, **changed), "--yes"]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "ledger").exists()


def test_the_ledger_of_tests_is_not_that_of_a_person():
    assert "ledger-of-tests" in str(ledger.path_of())


def test_a_copy_of_published_data_is_charged_to_the_same_people(tmp_path, capsys):
    assert __main__.main([*request(tmp_path), "--yes"]) == 0
    command = request(tmp_path)
    (tmp_path / "heights.csv").write_text(
        "".join(line for line in _CSV.splitlines(True) if not line.startswith("c3,"))
    )
    capsys.readouterr()
    command = [*command[:-1], str(tmp_path / "second"), "--name", "second"]
    for people in (
        [],
        ["--people", "same"],
        ["--people", "others"],
    ):  # ids are no matter of opinion
        assert __main__.main([*command, "--yes", *people]) == 2
        wording.found("children less left", capsys.readouterr().err, 59, 59)
    (tmp_path / "heights.csv").write_text(_CSV.replace("\nc", "\nnew"))
    assert (
        __main__.main([*command, "--yes"]) == 0
    )  # short curves of whole numbers tell nobody apart


# -- what is published says how far off it may be ---------------------------------------------------

NARROW = PublicFacts(
    kind="upload",
    person="child",
    people="children",
    value_name="Height",
    value_unit="cm",
    time_name="Age",
    time_unit="years",
    time_low=2,
    time_high=18,
    value_low=60,
    value_high=210,
    origin="a chart",
    observations_per_curve=6,
)


def children(n, m=6, seed=1, height=100.0, spread=5.0):
    rng = np.random.default_rng(seed)
    rows = "".join(
        f"c{k},{age:.2f},{height + spread * rng.normal():.1f}\n"
        for k in range(n)
        for age in rng.uniform(2, 18, m)
    )
    return upload_of(("child_id,age,height\n" + rows).encode(), NARROW)


def released(tmp_path, source, key="adaptive_mean", epsilon=1.0, **chosen):
    delta = 0.0 if mechanisms.get(key).guarantee == "pure" else 1e-4
    return published.publish(
        source,
        mechanisms.build(key, chosen),
        Budget(epsilon, delta),
        Ledger(tmp_path / "ledger"),
        "a",
        Budget(1000.0, 1e-2),
    )


def quietly_released(tmp_path, source, **chosen):
    """Release, each time into a folder of its own, until no check raises a false alarm."""
    return without_alarm(
        lambda k: released(tmp_path / str(k), source, **chosen),
        lambda one: one.uncertainty.verdict == "doubtful",
    )


def texts(one):
    """The files as their readers see them, by name; escaped characters as they stand."""
    return {
        name: html.unescape(content.decode())
        for name, content in release_files.all_files(one).items()
        if name in WITH_WORDS
    }


def test_a_release_whose_band_has_room_for_a_constant_says_that_it_tells_no_change(tmp_path):
    one = quietly_released(tmp_path, children(400), epsilon=4.0)  # as tall at all ages
    for name in ("release.html", "guarantee.json"):
        assert "A flat line" in texts(one)[name], name
    accuracy = json.loads(texts(one)["guarantee.json"])["accuracy"]
    assert accuracy["verdict"] == "coarse" and accuracy["headline"].startswith("Coarse:")
    assert any("would show" in line for line in accuracy["warnings"])


def test_explore_says_of_a_file_what_its_release_says_of_changes(tmp_path):
    file, method, budget = children(400), mechanisms.build("adaptive_mean", {}), Budget(4.0, 1e-4)
    shown = mean_answer(file, method, budget, 1)
    note = live.at_budgets(file.facts, shown, [risk.of_ledger(spends) for spends in shown.spends])[
        shown.budgets.index(budget)
    ].note
    warned = next(
        line
        for line in sentences.warnings(released(tmp_path, file, epsilon=4.0).uncertainty)
        if "flat line" in line
    )
    assert warned.split(" Rises above")[0] in note and "would show" in note


def test_a_coarse_release_says_so_in_the_first_line_of_every_file(tmp_path):
    one = quietly_released(tmp_path, children(18), epsilon=5.0)
    every = texts(one)
    assert one.uncertainty.feasibility.verdict == "coarse"
    wording.found("coarse first", every["release.html"].split("</svg>")[1].lstrip())
    assert "coarse ·" in every["release.svg"]
    assert json.loads(every["guarantee.json"])["accuracy"]["verdict"] == "coarse"


@pytest.mark.parametrize("law", few(["independent", "unknown"], 1))
def test_a_release_whose_band_cannot_be_relied_on_is_doubtful_in_the_first_line_of_every_file(
    tmp_path, law
):
    """Everybody at the same five ages, of which the holder says otherwise or nothing."""
    rng = np.random.default_rng(0)
    rows = "".join(
        f"c{k},{age},{100 + 30 * np.sin(age / 3) + rng.normal(0, 4):.1f}\n"
        for k in range(1000)
        for age in (3, 5, 9, 12, 17)
    )
    one = released(
        tmp_path,
        upload_of(
            ("child_id,age,height\n" + rows).encode(),
            replace(NARROW, observations_per_curve=5, design=Design(law=law)),
        ),
    )
    every = texts(one)
    assert (
        every["release.html"].split("</svg>")[1].lstrip().startswith('<p class="first">Doubtful:')
    )
    assert "· doubtful ·" in every["release.svg"]
    accuracy = json.loads(every["guarantee.json"])["accuracy"]
    assert accuracy["verdict"] == "doubtful" and accuracy["headline"].startswith("Doubtful:")
    assert not {"usable", "small"} & {*accuracy["headline"].split()}


def test_every_file_says_level_kind_and_limits_of_the_band(tmp_path):
    one = released(tmp_path, children(60), epsilon=4.0)
    assert one.uncertainty.band.kind == "simultaneous"
    for name, text in texts(one).items():
        flat = " ".join(re.sub("<[^>]*>", " ", text).split())
        size = one.uncertainty.band.basis_size
        for words in (
            "95 %",
            "simultaneous",
            f"finer than {size} basis functions can represent",
            "privacy noise, sampling variability and steep ends",
            "from 2 to 18 years together",
        ):
            assert words in flat, (name, words)
        assert "Dashed" not in flat


def test_a_release_that_uses_a_stated_period_says_so_and_means_its_band_up_to_both_ends(tmp_path):
    file = children(400)
    file = replace(file, declared=replace(file.declared, periodic=True))
    one, twin = (
        released(tmp_path, file, epsilon=4.0),
        release_preview(
            file.facts, file.sizes, mechanisms.build("adaptive_mean", {}), Budget(4.0, 1e-4), 1
        ),
    )
    assert one.uncertainty.band.covered == (one.x[0], one.x[-1])
    for curve in (next(iter(one.columns.values())), twin.curves[0].released):
        assert curve[0] == pytest.approx(curve[-1])
    wording.found("ends meet", one.card["accuracy"]["explained"])


def test_a_band_that_does_not_count_steep_ends_is_not_meant_to_hold_there(tmp_path):
    one = released(tmp_path, children(60), epsilon=4.0, truncation=3)
    wording.found("dashed outside range", texts(one)["release.html"], 2.48, 17.52)


@pytest.mark.parametrize(("size", "is_said"), [(0, False), (1, True), (6, True), (7, False)])
def test_a_band_of_few_basis_functions_comes_with_the_warning_that_it_misses_short_features(
    size, is_said
):
    for counts_bias in (False, True):
        band = ReleasedBand("simultaneous", size, (0.0, 1.0), 1.0, counts_bias=counts_bias)
        said = any(
            "smooth short features" in sentence
            for sentence in sentences.warnings(Uncertainty(band=band))
        )
        assert said == (is_said and not counts_bias)


def test_a_method_without_a_band_says_that_it_states_none(tmp_path):
    one = released(tmp_path, children(200), "iclp", epsilon=4.0)
    assert not one.ranges
    for text in texts(one).values():
        assert "no confidence band" in text


def test_the_ends_of_the_picture_are_dashed_where_the_band_is_not_meant_to_hold(tmp_path):
    tag = "{http://www.w3.org/2000/svg}"
    for truncation, has_dashes in ((3, True), (7, False)):
        one = released(tmp_path / str(truncation), children(60), epsilon=4.0, truncation=truncation)
        root = ElementTree.fromstring(picture(one))
        dashed = [path for path in root.iter(f"{tag}path") if path.get("stroke-dasharray")]
        (filled,) = root.iter(f"{tag}polygon")
        across = {float(point.split(",")[0]) for point in filled.get("points").split()}
        left, right = (
            float(edge.get("points").split()[end].split(",")[0])
            for edge in root.iter(f"{tag}polyline")
            for end in (0, -1)
        )
        assert (left < min(across) < max(across) < right) == has_dashes
        assert len(dashed) == 4 * has_dashes  # both edges at both ends


@pytest.mark.parametrize("key", ["adaptive_mean", "iclp", "univariate_mean"])
def test_released_values_and_bands_are_held_to_the_public_bounds(tmp_path, key):
    """Everybody is at the lower bound, so the noise goes beyond it half of the time."""
    chosen = {"setting": "central_user"} if key == "univariate_mean" else {}
    source = children(40, height=60.0, spread=0.0)
    for attempt in range(30):
        one = released(tmp_path / str(attempt), source, key, 3.0, **chosen)
        every = [*one.columns.values(), *(end for pair in one.ranges.values() for end in pair)]
        assert all((values >= 60).all() and (values <= 210).all() for values in every)
        if one.uncertainty.moved:
            break
    assert one.uncertainty.moved
    for text in texts(one).values():
        wording.found("beyond stated bounds", " ".join(re.sub("<[^>]*>", " ", text).split()))


def test_a_density_is_held_above_zero(tmp_path):
    ages = sources.build("ages_at_death", {})
    one = released(tmp_path, ages, "iclp", 1e-3, task="density")
    assert min(values.min() for values in one.columns.values()) >= 0


def test_warnings_of_the_estimate_stand_in_every_file(tmp_path, monkeypatch):
    replayed = certified.replayed

    def warned(*asked):
        estimate = replayed(*asked)
        applies = np.ones(estimate.coefficients.shape[:3], dtype=bool)
        caution = Caution("Times do not fit.", applies, SaidIn.HEADING)
        return replace(estimate, cautions=(caution,))

    monkeypatch.setattr(certified, "replayed", warned)
    one = released(tmp_path, children(60), epsilon=4.0)
    for _name, text in texts(one).items():
        wording.found("times fit", text)


def test_a_release_with_a_band_as_wide_as_the_range_is_coarse_whatever_was_forecast():
    wide = Uncertainty(ReleasedBand("pointwise", 9, (0.0, 1.0), 41.0), None, (), 0.0, 41 / 75)
    assert wide.is_coarse
    wording.found("coarse level trusted", sentences.headline(wide, NARROW, Budget(1.0), 18), 55)


def test_a_band_that_is_wide_between_a_few_visits_is_measured_at_them_and_says_where_they_are(one):
    band = replace(one.uncertainty.band, half_width=41.0, at_times=2.0)
    told = sentences.headline(Uncertainty(band, wide=41 / 75), NARROW, Budget(1.0), 18)
    wording.found("coarse between common", told)
    assert "2" in told.split("average,")[-1]
    visits, always = (
        replace(
            one, functions=replace(one.functions, uncertainty=replace(one.uncertainty, band=each))
        )
        for each in (band, replace(band, at_times=0.0))
    )
    assert any("common times" in text for text in captions.statements(visits))
    assert picture(visits).count(">common times<") == 1 and ">common times<" not in picture(always)


@pytest.mark.parametrize("size", [50.0, 150.0, 500.0])
def test_what_sizes_let_expect_is_said_of_noise_alone_and_never_reads_as_accuracy(size):
    narrow = Uncertainty(
        ReleasedBand("pointwise", 9, (0.0, 1.0), 1.0), Feasibility(size), (), 0.0, 0.01
    )
    said = sentences.headline(narrow, NARROW, Budget(1.0), 18)
    assert "privacy noise" in said
    wording.found("nothing about smoothing", said)
    assert not {"usable", "good", "nearly free"} & {*said.replace(".", "").split()}


def test_the_report_holds_no_json_and_is_one_page_of_its_own(one):
    text = release_files.report(one).decode()
    assert "{" not in text.split("</style>")[1]
    assert "<pre" not in text and "@page" in text


def test_certified_and_ideal_are_told_apart_in_plain_words(one):
    rows = release_files.guarantee_rows(one)
    wording.found("certified row", rows["Guarantee"], 2, "1×10⁻⁴")
    assert "not the guarantee" in rows["For comparison"]


# -- nothing published hangs on the content of the ledger ------------------------------------------


def test_two_releases_of_equal_data_and_of_neighbours_look_alike_but_for_random_ids(tmp_path):
    """A second release of the same data, and one of other data, differ in no word but the id."""
    source, other = children(60), children(60, seed=2)
    mechanism = mechanisms.build("iclp", {})
    cards = []
    for k, held in enumerate((source, source, other)):
        book = Ledger(tmp_path / ("other" if held is other else "ledger"))
        one = published.publish(
            held, mechanism, Budget(1.0), book, "a" if k != 1 else "b", same_people=False
        )
        card = json.loads(release_files.card(one))
        ids = card["release"].pop("id")
        assert re.fullmatch("[0-9a-f]{16}", ids)
        for varying in ("at", "name"):
            card["release"].pop(varying)
        cards.append(
            (
                ids,
                json.dumps(card["accuracy"] | {"warnings": []}),
                json.dumps({key: value for key, value in card.items() if key != "accuracy"}),
            )
        )
    assert len({ids for ids, *_ in cards}) == 3
    assert len({rest for *_, rest in cards}) == 1


# -- neighbours -------------------------------------------------------------------------------------


def sorted_text(values, is_wide):
    """A file sorted by value, as spreadsheets often are."""
    people = sorted(zip(values, range(len(values)), strict=True))
    if is_wide:
        return "id,2,8,14\n" + "".join(f"c{who},{v},{v + 5},{v + 9}\n" for v, who in people)
    return "id,age,height\n" + "".join(
        f"c{who},{age},{v + age}\n" for v, who in people for age in (2, 8, 14)
    )


@pytest.mark.parametrize("key", ["adaptive_mean", "noisy_gradient_mean", "iclp"])
@pytest.mark.parametrize("is_wide", few([False, True]), ids=["long", "wide"])
def test_files_of_neighbours_differ_in_nothing_but_the_noised_messages(
    tmp_path, run_with_noise, is_wide, key
):
    """With the messages held fixed, a person replaced at any place of a sorted file changes no byte."""
    values = [90.0 + k for k in range(60)]
    mechanism = mechanisms.build(key, {"scheme": "split"} if "gradient" in key else {})
    budget = mechanism.suited(Budget(8.0, 1e-4))
    files, fixed = [], []

    def once(usual, *given):
        fixed or fixed.append(usual(*given))
        return fixed[0]

    run_with_noise(once)
    for n, (place, value) in enumerate([(0, 90.0), (0, 140.0), (59, 61.0), (30, 90.5)]):
        text = sorted_text([*values[:place], value, *values[place + 1 :]], is_wide)
        source = upload_of(text.encode(), NARROW)
        one = published.publish(
            source, mechanism, budget, Ledger(tmp_path / str(n)), "a", Budget(9.0, 1e-2)
        )
        files.append(
            {
                name: re.sub(
                    "sha256:[0-9a-f]{64}",
                    "HASH",
                    content.decode().replace(one.release_id, "ID").replace(one.at, "AT"),
                )
                for name, content in release_files.all_files(one).items()
            }
        )
    assert files[0] == files[1] == files[2] == files[3]
