"""A look at a file for its holder: pictures, lines, the commands and the notebook."""

import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest

from engine import api as pc
from engine.__main__ import main
from engine.core.errors import InputError
from engine.exports.looking import MARK, looked_at
from engine.numerics.counts.cells import Counted
from engine.uploads import examples
from engine.uploads.events import EventColumns, EventTable, UploadEvents, declare_events
from engine.uploads.people import read, read_frame
from engine.uploads.proposal import propose
from engine.uploads.reading_of_files import Reading
from tests import files, large
from tests.sentences import of_topic

wording = of_topic("mean")

INVENTED = ("growth_curves", "temperatures", "outcomes", "concentrations", "scores", "records")


def look(content):
    proposal = propose(content)
    return looked_at(read(content, proposal.likely), proposal)


@pytest.mark.parametrize("name", INVENTED)
def test_every_kind_of_file_has_a_picture_that_says_that_it_is_not_private(name):
    looked = look(getattr(examples, name)().encode())
    drawing = ElementTree.fromstring(looked.svg())
    assert MARK in "".join(drawing.itertext()) and MARK in looked.html()
    assert any(np.isfinite(mark.x).any() for mark in looked.picture.marks)
    assert looked.lines[0].startswith("People: ")


def test_the_average_of_the_picture_is_that_of_the_file():
    looked = look(b"child,age,height\na,2,80\nb,2,90\na,6,110\nb,6,112\nb,10,130\n")
    average = looked.picture.marks[1]
    assert list(average.x) == [2, 6, 10] and list(average.y) == [85, 111, 130]


def test_the_first_line_says_people_time_value_and_observations():
    content = (
        b"child;visit;height (cm)\n"
        + b"".join(
            f"c{k};{k % 28 + 1:02d}.0{k % 9 + 1}.2024;{100 + k},5\n".encode() for k in range(40)
        )
        * 2
    )
    wording.found("people child time", look(content).lines[0], 40, 80, alone=True)


def test_gaps_are_told_with_the_answer_that_the_picture_takes():
    looked = look(b"sex,age,height\nm,2,80\nf,3,90\nm,6,110\n")
    wording.found("line another person", looked.lines)
    assert looked.table.n_curves == 3


# -- commands --------------------------------------------------------------------------------------


@pytest.fixture
def curves(tmp_path):
    path = tmp_path / "curves.csv"
    path.write_bytes(files.csv())
    return path


@pytest.mark.parametrize("ending", ["html", "svg"])
def test_look_writes_a_picture_and_prints_what_is_known(curves, tmp_path, ending, capsys):
    out = tmp_path / f"look.{ending}"
    assert main(["look", str(curves), "-o", str(out)]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("People: “child”, 12;") and MARK in shown.err
    assert "<svg" in out.read_text("utf-8") and MARK in out.read_text("utf-8")


def test_propose_writes_a_reading_with_what_is_to_be_said(tmp_path, capsys):
    path, out = tmp_path / "data.csv", tmp_path / "reading.json"
    path.write_bytes(b"patient,days,end\n1,3,dead\n2,5,alive\n3,9,alive\n")
    assert main(["propose", str(path), "-o", str(out)]) == 0
    plain = json.loads(out.read_text("utf-8"))
    assert [each["field"] for each in plain["ask"]] == ["columns.status.words"]
    assert "To be said" in capsys.readouterr().out
    with pytest.raises(InputError):
        Reading.of(plain).complete()
    plain["columns"]["status"] |= plain["ask"][0]["options"][0]["adds"]["columns"]["status"]
    assert len(read(path.read_bytes(), Reading.of(plain)).ids) == 3
    assert main(["propose", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["person"]["column"] == "patient"


@pytest.mark.parametrize("kind", large.KINDS)
def test_the_reading_of_a_folder_is_proposed_from_its_first_lines(kind, tmp_path, capsys):
    (tmp_path / "parts").mkdir()
    table = large.frame(n=60).assign(id=lambda frame: "person " + frame["id"])
    for k in range(2):
        large.written(table, tmp_path / "parts" / f"{k}.{kind}", kind)
    assert main(["propose", str(tmp_path / "parts")]) == 0
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    assert found["person"]["column"] == "id"
    assert found["columns"]["value"]["name"] == "value"
    assert "2 files" in shown.err


def test_only_the_beginning_of_a_large_file_is_looked_at(tmp_path, capsys):
    (tmp_path / "parts").mkdir()
    large.written(large.frame(n=60), tmp_path / "parts" / "1.csv")
    path = large.written(large.frame(n=60), tmp_path / "parts" / "0.csv")
    lines = path.read_text().partition("\n")[2]
    with path.open("a") as file:
        file.write(lines * (2**20 // len(lines)))
        file.write("a line of another kind\n")
    assert main(["propose", str(path.parent)]) == 0
    assert json.loads(capsys.readouterr().out)["person"]["column"] == "id"
    path.write_text("x" * 2**21)
    assert main(["propose", str(path.parent)]) == 2
    assert "longer" in capsys.readouterr().err


def test_what_a_file_holds_can_be_stated(tmp_path, capsys):
    path = tmp_path / "data.csv"
    path.write_bytes(b"person_id,age,bp\n1,30,120\n2,40,110\n3,50,100\n")
    assert main(["propose", str(path), "--data", "single observations"]) == 0
    assert "time" in json.loads(capsys.readouterr().out)["columns"]
    assert main(["propose", str(path), "--data", "records"]) == 0
    assert "features" in json.loads(capsys.readouterr().out)["columns"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["look", "{}", "-o", "picture.png"],
        ["look", "missing.csv"],
        ["propose", "{}", "--sheet", "none", "-o", "/"],
    ],
)
def test_what_cannot_be_is_refused_in_words(curves, arguments, capsys):
    assert main([each.format(curves) for each in arguments]) == 2
    assert capsys.readouterr().err.startswith("error: ")


# -- notebooks -------------------------------------------------------------------------------------


def test_a_table_and_its_file_have_one_proposal(tmp_path):
    frame = files.growth_frame()
    path = tmp_path / "heights.csv"
    path.write_bytes(files.csv(frame))
    assert pc.propose(frame).reading == pc.propose(path).reading
    assert pc.look(frame).lines == pc.look(str(path)).lines
    assert MARK in pc.look(frame)._repr_html_()


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_a_table_with_types_is_read_by_its_proposal(zone):
    frame = pd.DataFrame(
        {
            "patient": np.repeat(np.arange(20.0), 6),
            "group": pd.Categorical(["a", "b"] * 60),
            "time": pd.date_range("2024-01-01", periods=120, freq="h", tz=zone),
            "is_awake": [True, False] * 60,
            "value": np.arange(120.0),
        }
    )
    proposal = pc.propose(frame, columns={"value": "value", "covariates": ["is_awake"]})
    assert [gap.field for gap in proposal.gaps] == ["columns.time.from"]
    people = read_frame(frame, proposal.likely)
    assert len(people.ids) == 20 and set(people.covariates[:, 0]) == {0.0, 1.0}


@pytest.mark.parametrize(
    "data", [pd.Series([123.25, 456.75]), [123.25], np.array([123.25]), None, 123.25]
)
@pytest.mark.parametrize("function", [pc.propose, pc.look])
def test_what_is_no_table_is_refused_without_its_values(function, data):
    with pytest.raises(InputError) as refused:
        function(data)
    assert (
        refused.value.field == "data"
        and "123" not in str(refused.value)
        and "456" not in str(refused.value)
    )


@pytest.mark.parametrize("data", [pd.Series([123.25, 456.75]), [123.25]])
@pytest.mark.parametrize(
    "reading", [None, {"frame": {"header": ["id"]}, "person": {"column": "id"}}]
)
def test_curves_of_what_is_no_table_are_refused_without_its_values(data, reading):
    with pytest.raises(InputError) as refused:
        pc.read_curves(
            data,
            reading=reading,
            values=(0, 1),
            times=(0, 1),
            origin="a chart",
            design={"law": "even"},
            observations=2,
        )
    assert refused.value.field == "data" and "123" not in str(refused.value)


def test_a_reading_that_is_proposed_and_checked_leads_to_curves_that_may_be_published():
    frame = files.growth_frame(40)
    facts = {
        "values": (60, 210),
        "times": (2, 18),
        "origin": "a chart",
        "design": {"law": "even"},
        "observations": 5,
    }
    assert pc.read_curves(frame, reading=pc.propose(frame).reading, **facts).reading is not None
    assert pc.read_curves(frame, **facts).reading is None


# -- requests --------------------------------------------------------------------------------------


def request(folder, content, columns, mechanism="adaptive_mean", **data):
    (folder / "data.csv").write_bytes(content)
    path = folder / "request.json"
    facts = {
        "value_low": 60,
        "value_high": 210,
        "time_low": 2,
        "time_high": 18,
        "origin": "a chart",
        "design": {"law": "even"},
        "observations_per_curve": 5,
    }
    if mechanism == "noisy_counts":
        facts = {"time_high": 60, "origin": "the protocol"}
    path.write_text(
        json.dumps(
            {
                "version": 1,
                "name": "a study",
                "data": {"file": "data.csv", "columns": columns, "facts": facts, **data},
                "mechanism": {"key": mechanism},
                "budgets": [{"epsilon": 1, "delta": 1e-5}],
            }
        ),
        "utf-8",
    )
    return path


def test_what_a_request_of_earlier_versions_says_is_translated(tmp_path, capsys):
    content = b"kid,when,cm\n" + b"".join(
        b"c%d,0%d/0%d/2024,%d\n" % (k % 9, 1 + k % 9, 1 + k % 7, 80 + k) for k in range(60)
    )
    path = request(tmp_path, content, {"id": "kid", "time": "when", "value": "cm"}, day_first=True)
    assert main(["release", str(path)]) == 2
    assert "propose" in capsys.readouterr().err
    assert main(["propose", str(path), "-o", str(tmp_path / "reading.json")]) == 0
    reading = Reading.of(json.loads((tmp_path / "reading.json").read_text("utf-8")))
    assert [gap.field for gap in reading.gaps] == ["columns.time.from"]
    assert reading.columns["time"].order == "dmy" and reading.person.column == "kid"
    assert main(["look", str(path), "-o", str(tmp_path / "look.svg")]) == 0


def test_about_file_begins_with_people_time_value_and_observations(tmp_path, capsys):
    path = request(tmp_path, files.csv(files.growth_frame(40)), {})
    plain = json.loads(path.read_text("utf-8"))
    del plain["data"]["columns"]
    plain["data"]["reading"] = propose((tmp_path / "data.csv").read_bytes()).to_plain()
    path.write_text(json.dumps(plain), "utf-8")
    assert main(["release", str(path), "--about-file"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    wording.found("people child", first, 40, len(files.growth_frame(40)), alone=True)


def test_a_request_about_a_file_given_to_a_command_without_one_says_which_take_it(tmp_path, capsys):
    path = request(tmp_path, files.csv(), {})
    assert main(["run", str(path)]) == 2
    shown = capsys.readouterr().err
    assert "release" in shown and "look" in shown and "has no key" not in shown


def test_a_request_without_a_file_and_a_document_are_refused(tmp_path, capsys):
    path = tmp_path / "request.json"
    path.write_text('{"version": 1}', "utf-8")
    assert main(["propose", str(path)]) == 2
    path.write_text("{\\rtf1 }", "utf-8")
    assert main(["look", str(path)]) == 2
    assert main(["look", str(path.rename(tmp_path / "data.csv"))]) == 2
    assert "RTF" in capsys.readouterr().err


def test_times_in_another_unit_than_stated_name_the_part_of_the_reading_that_says_it():
    frame = pd.DataFrame(
        {
            "patient": np.repeat(np.arange(20), 3),
            "value": np.arange(60.0),
            "time": pd.date_range("2024-01-01", periods=60, freq="6h"),
        }
    )
    reading = pc.propose(frame).likely
    with pytest.raises(InputError) as refused:
        pc.read_curves(
            frame,
            reading=reading,
            values=(0, 100),
            times=(0, 24),
            time_unit="weeks",
            origin="a plan",
            design={"law": "even"},
            observations=3,
        )
    assert (
        refused.value.field == "time_unit"
        and "“from”" in refused.value.hint
        and "above" not in refused.value.hint
    )


@pytest.mark.parametrize("counted", ["outcomes", "values"])
def test_nobody_is_advised_to_empty_the_time_of_an_event(counted):
    r = np.random.default_rng(1)
    times = np.append(r.uniform(1, 60, 40).round(1), [9999.0] * 4)
    columns = EventColumns(counted=Counted(counted), events=("1",) * (counted == "outcomes"))
    facts = declare_events(0, 20000, "the protocol", columns)
    events = EventTable(
        time=times,
        status=np.ones(44, dtype=np.int64),
        server=np.zeros(44, dtype=np.int64),
        covariates=np.empty((44, 0)),
        counted=Counted(counted),
    )
    remarks = [
        each for each in UploadEvents(events=events, declared=facts).remarks() if "9999" in each
    ]
    assert len(remarks) == 1 and ("cells empty" in remarks[0]) == (counted == "values")


def test_numbers_that_stand_for_a_missing_value_are_missing_in_a_frame_too():
    frame = pd.DataFrame(
        {"child": [1, 1, 2, 2], "age": [2, 6, 2, 6], "height": [86, -9, 84.5, 112]}
    )
    reading = Reading.of(
        {
            "frame": {"header": ["child", "age", "height"]},
            "person": {"column": "child"},
            "columns": {"time": {"name": "age"}, "value": {"name": "height"}},
            "missing": ["", "-9", "NA"],
        }
    )
    assert np.isnan(read_frame(frame, reading).columns["value"]).tolist() == [
        False,
        True,
        False,
        False,
    ]


def test_a_proposal_that_nobody_checked_is_no_reading():
    frame = pd.DataFrame({"child": [1, 1, 2, 2], "age": [2, 6, 2, 6], "height": [86, 115, 84, 112]})
    with pytest.raises(InputError) as refused:
        pc.read_curves(
            frame,
            reading=pc.propose(frame),
            values=(60, 210),
            times=(2, 18),
            origin="growth chart",
            design={"law": "even"},
            observations=2,
        )
    assert refused.value.field == "reading"
