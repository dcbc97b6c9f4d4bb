"""The command that runs exhibits, and the files that it writes."""

import itertools
import json
from types import SimpleNamespace

import pytest

import reproductions
from engine.__main__ import main
from engine.commands import exhibit as exhibit_command
from engine.core.errors import InputError
from reproductions import files as exhibit_files
from reproductions.exhibits import WorkProgress
from tests.pages.test_reproduce import quickest
from tests.sentences import of_topic

wording = of_topic("code")


def test_without_a_name_it_lists_every_exhibit(capsys):
    assert main(["exhibit"]) == 0
    listed = capsys.readouterr().out
    assert all(key in listed for key in reproductions.names())


def test_a_name_that_does_not_exist_is_explained(capsys):
    assert main(["exhibit", "nothing/figure-0"]) == 2
    wording.found("no exhibit", capsys.readouterr().err, 0)


def test_a_form_is_stored_in_its_own_place_and_left_alone_where_it_is_there(
    tmp_path, monkeypatch, capsys
):
    key, folders = quickest(), {form: tmp_path / form for form in ("quick", "full")}
    for form, folder in folders.items():
        monkeypatch.setitem(exhibit_files.FOLDERS, form, folder)
    options = [
        "exhibit",
        key,
        "--full",
        "--store",
        "--executor",
        "serial",
        "--resume",
        str(tmp_path / "parts"),
    ]
    assert main(options) == 0
    (path,) = folders["full"].iterdir()
    first = json.loads(path.read_text("utf-8"))
    assert first["form"] == "full" and not folders["quick"].exists()
    for part in (tmp_path / "parts").iterdir():
        part.unlink()
    assert main(options) == 0
    assert json.loads(path.read_text("utf-8")) == first
    assert not list((tmp_path / "parts").iterdir())


def test_seconds_of_all_runs_of_an_exhibit_are_counted_together(tmp_path, monkeypatch):
    ticks = itertools.count()
    monkeypatch.setattr(exhibit_command, "time", SimpleNamespace(perf_counter=ticks.__next__))
    options = [
        "exhibit",
        quickest(),
        "--executor",
        "serial",
        "--resume",
        str(tmp_path / "parts"),
        "--out",
        str(tmp_path / "out"),
    ]
    seconds = []
    for _ in range(2):
        assert main(options) == 0
        (path,) = (tmp_path / "out").glob("*.json")
        seconds.append(json.loads(path.read_text("utf-8"))["seconds"])
    assert 0 < seconds[0] < seconds[1]
    assert seconds[1] <= next(ticks) / 2  # each step lasts one of two ticks


def test_a_step_is_counted_when_it_ends_so_that_a_run_that_is_killed_later_counts(
    tmp_path, monkeypatch
):
    counted = []

    def first_step_alone(*_):
        yield WorkProgress(1, 2)
        counted.extend(float(clock.read_text("utf-8")) for clock in tmp_path.glob("*.seconds"))
        raise InputError("no second step", field="executor")

    monkeypatch.setattr("reproductions.run", first_step_alone)
    assert main(["exhibit", quickest(), "--executor", "serial", "--resume", str(tmp_path)]) != 0
    assert len(counted) == 1 and counted[0] >= 0


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exhibit")
    assert main(["exhibit", quickest(), "--executor", "serial", "--out", str(folder)]) == 0
    return folder


def test_it_prints_each_claim_with_its_number(written, capsys):
    main(["exhibit", quickest(), "--executor", "serial"])
    assert capsys.readouterr().out.count("Measured:") == len(
        reproductions.find(quickest())[1].claims
    )


def test_it_writes_the_drawing_the_table_and_all_of_it(written):
    paper, exhibit = reproductions.find(quickest())
    stem = exhibit_files.name(paper, exhibit)
    assert {path.name for path in written.iterdir()} == {
        f"{stem}.json",
        f"{stem}.csv",
        f"{stem}.html",
        "plotly.min.js",
    }
    page = (written / f"{stem}.html").read_text("utf-8")
    assert exhibit.title in page
    assert 'src="http' not in page
    plain = json.loads((written / f"{stem}.json").read_text("utf-8"))
    assert plain["table"] == list(exhibit_files.stored(paper, exhibit).table)
    lines = (written / f"{stem}.csv").read_text("utf-8").splitlines()
    assert len([line for line in lines if not line.startswith("#")]) == len(plain["table"]) + 1


def test_a_folder_that_cannot_be_written_is_explained(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert (
        main(["exhibit", quickest(), "--executor", "serial", "--out", str(tmp_path / "file")]) == 2
    )
    assert "Cannot write into" in capsys.readouterr().err
