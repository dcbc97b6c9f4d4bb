"""Published files are checked against the ledger that made them, and against each other."""

import json

import pytest

from engine import __main__
from engine.core.errors import InputError
from engine.core.types import Budget
from engine.mechanisms import mechanisms
from engine.release import captions, published
from engine.release import files as release_files
from engine.release.checked_files import check, unpacked
from engine.release.ledger import Ledger
from engine.sources import sources
from tests.heavy import few


def released(folder, source="sea_temperature", mechanism="adaptive_mean", delta=1e-4, **chosen):
    book = Ledger(folder / "ledger")
    one = published.publish(
        sources.build(source, {}),
        mechanisms.build(mechanism, chosen),
        Budget(2.0, delta),
        book,
        "files",
        Budget(100.0, 1e-1),
    )
    return one, book


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return released(tmp_path_factory.mktemp("made"))


def verdicts(files, book):
    return [finding.holds for finding in check(files, book)]


def test_the_archive_of_a_release_is_what_its_ledger_makes_again(made):
    one, book = made
    (files,) = unpacked({"release.zip": release_files.archive(one)}).values()
    assert len(files) == len(release_files.all_files(one)) and set(verdicts(files, book)) == {True}


def test_files_of_several_groups_are_checked_group_by_group(made):
    one, _ = made
    folders = unpacked({"release.zip": release_files.archive(one, one)})
    assert [*folders] == ["group-1", "group-2"]


@pytest.mark.parametrize(
    "chosen",
    few(
        [
            {"source": "airport_temperature", "mechanism": "bernstein", "delta": 0.0},
            {"mechanism": "univariate_mean", "setting": "central_user"},
            {"source": "airport_temperature", "mechanism": "percentile_curves"},
            {"source": "heart_failure", "mechanism": "noisy_counts", "delta": 0.0},
        ],
        2,
    ),
)
def test_what_was_published_by_any_method_fits_together(tmp_path, chosen):
    one, book = released(tmp_path, **chosen)
    assert set(verdicts(release_files.all_files(one), book)) == {True}


def test_a_number_that_was_changed_is_found_with_and_without_the_ledger(made, tmp_path):
    one, book = made
    files = release_files.all_files(one)
    *lines, last = files["release.csv"].decode().splitlines()
    cells = last.split(",")
    cells[2] = f"{float(cells[2]) - 1:.10g}"
    changed = files | {"release.csv": "\n".join([*lines, ",".join(cells)]).encode()}
    assert False in verdicts(changed, book) and False in verdicts(
        changed, Ledger(tmp_path / "other")
    )
    assert False not in verdicts(files, Ledger(tmp_path / "other"))


def test_a_band_that_an_earlier_version_drew_between_few_times_is_not_judged(made):
    files = release_files.all_files(made[0])
    del files["datapackage.json"]  # no earlier version wrote one
    card = json.loads(files["guarantee.json"])
    times = card["answers"].pop("few_times")
    assert times and card["answers"].pop("band_factor") == 1.05
    card["answers"]["unseen"] = {"times": times, "scale": 1.0}
    changed = files | {"guarantee.json": json.dumps(card).encode()}
    assert False not in verdicts(changed, None)


@pytest.mark.parametrize(
    "change",
    [
        lambda card: card["guarantee"].update(epsilon=0.1),
        lambda card: card["accounting"]["messages"][0].update(rho=1e-6),
        lambda card: card["odds"].update(right_guess_at_most=0.999),
        lambda card: card["release"].update(id="0" * 16),
        lambda card: card.pop("accounting"),
    ],
    ids=["a smaller budget", "a cheaper message", "better odds", "another release", "less"],
)
def test_a_card_that_was_changed_is_found_by_its_own_numbers(made, change):
    files = release_files.all_files(made[0])
    card = json.loads(files["guarantee.json"])
    change(card)
    assert False in verdicts(files | {"guarantee.json": json.dumps(card).encode()}, None)


def as_in_090(one):
    """Its tables as version 0.9.0 wrote them, with lines of words above the names of the columns."""
    table = captions.columns(one)
    words = [f"# Privacy Curves 0.9.0: released {one.at}, “{one.name}”, id {one.release_id}"]
    rows = [",".join(f"{cell:.10g}" for cell in row) for row in zip(*table.values(), strict=True)]
    return "\n".join([*words, ",".join(f'"{name}"' for name in table), *rows, ""]).encode()


def test_a_table_of_an_earlier_version_is_right_by_its_numbers_and_wrong_by_one(made):
    one, book = made
    files = release_files.all_files(one)
    del files["datapackage.json"]
    earlier = as_in_090(one)
    assert set(verdicts(files | {"release.csv": earlier}, book)) == {True}
    changed = earlier.replace(b"\n0,2", b"\n0,1", 1)
    assert changed != earlier and False in verdicts(files | {"release.csv": changed}, book)


def test_whether_it_was_released_is_not_known_without_its_ledger(made):
    findings = check(release_files.all_files(made[0]), None)
    assert [finding.holds for finding in findings].count(None) == 1
    assert all(finding.holds for finding in findings[1:])


@pytest.mark.parametrize(
    "files", [{"release.csv": b"1"}, {"guarantee.json": b"{}"}, {"guarantee.json": b"[1"}]
)
def test_without_a_guarantee_card_nothing_is_said_of_files(files):
    with pytest.raises(InputError):
        check(files, None)
    with pytest.raises(InputError):
        unpacked({"a.zip": files.popitem()[1]})


def test_the_command_line_checks_the_same_and_says_so_by_its_exit_code(made, tmp_path, capsys):
    one, book = made
    archive, card = tmp_path / "release.zip", tmp_path / "guarantee.json"
    archive.write_bytes(release_files.archive(one))
    ledger = ["--ledger", str(book.path)]
    assert __main__.main(["check-files", str(archive), *ledger]) == 0
    assert "byte for byte" in capsys.readouterr().out
    card.write_bytes(release_files.card(one).replace(b'"files"', b'"others"'))
    assert __main__.main(["check-files", str(card), *ledger]) == 1
    assert "WRONG" in capsys.readouterr().out
