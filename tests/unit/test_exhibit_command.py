"""The command that runs exhibits, and the files that it writes."""

import json

import pytest

from engine import papers
from engine.__main__ import main
from engine.exports import exhibits as exhibit_files
from tests.pages.test_reproduce import quickest


def test_without_a_name_it_lists_every_exhibit(capsys):
    assert main(["exhibit"]) == 0
    listed = capsys.readouterr().out
    assert all(key in listed for key in papers.names())


def test_a_name_that_does_not_exist_is_explained(capsys):
    assert main(["exhibit", "nothing/figure-0"]) == 2
    assert "There is no exhibit 'nothing/figure-0'." in capsys.readouterr().err


def test_only_quick_results_can_be_stored(capsys):
    assert main(["exhibit", quickest(), "--full", "--store"]) == 2
    assert "Only quick results" in capsys.readouterr().err


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exhibit")
    assert main(["exhibit", quickest(), "--executor", "serial", "--out", str(folder)]) == 0
    return folder


def test_it_prints_each_claim_with_its_number(written, capsys):
    main(["exhibit", quickest(), "--executor", "serial"])
    assert capsys.readouterr().out.count("Measured:") == len(papers.find(quickest())[1].claims)


def test_it_writes_the_drawing_the_table_and_all_of_it(written):
    paper, exhibit = papers.find(quickest())
    stem = exhibit_files.name(paper, exhibit)
    assert {path.name for path in written.iterdir()} == {
        f"{stem}.json", f"{stem}.csv", f"{stem}.html", "plotly.min.js"}
    page = (written / f"{stem}.html").read_text("utf-8")
    assert exhibit.title in page
    assert 'src="http' not in page
    plain = json.loads((written / f"{stem}.json").read_text("utf-8"))
    assert plain["table"] == list(exhibit_files.stored(paper, exhibit).table)
    lines = (written / f"{stem}.csv").read_text("utf-8").splitlines()
    assert len([line for line in lines if not line.startswith("#")]) == len(plain["table"]) + 1


def test_a_folder_that_cannot_be_written_is_explained(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["exhibit", quickest(), "--executor", "serial",
                 "--out", str(tmp_path / "file")]) == 2
    assert "Cannot write into" in capsys.readouterr().err
