"""A code means one thing at every command: 0 done or as asked, 1 false, 2 refused, 3 not known."""

import json
import re
from pathlib import Path

import pytest

from engine import __main__, handbook
from engine.commands.exit_codes import Exit
from engine.release import key_file
from engine.sites.plan import SitePlan
from tests import site_runs

pytestmark = pytest.mark.usefixtures("few_data_sets")

CARD = str(Path(__file__).parents[1] / "golden" / "guarantee_2.json")
SCENARIO = {
    "source": {"key": "sparse_curves", "parameters": {"n_curves": 20}},
    "mechanism": {"key": "adaptive_mean", "parameters": {}},
    "budgets": [{"epsilon": 1.0, "delta": 0.001}],
    "repeats": 1,
    "draws": 1,
    "seed": 1,
}
REQUEST = {
    "version": 1,
    "name": "trial",
    "data": {"file": "trial.csv", **site_runs.EVENTS},
    "mechanism": {"key": "noisy_counts"},
    "budgets": [{"epsilon": 1.0}],
}
CHEAPER = REQUEST | {"budgets": [{"epsilon": 0.5}]}  # under the same name
STUDY = site_runs.study(site_runs.EVENTS, "noisy_counts", people=(100, 120), epsilon=1.0)
RECORD = ["record", CARD, "--curator", "A", "--use", "B", "--region", "C"]


def own(site, *words):
    return [*words, "--name", site, "--key", "all.key", "--ledger", f"{site}.sqlite3"]


def through(*words):
    return [*words, "--through", "through"]


NO_ROOM = ["--limit-gigabytes", "1e-9", "--limit-minutes", "1e-9"]  # refused before anything runs


# In the order of one folder: what was published and signed before is there.
STEPS = [
    (0, ["list"]),
    (2, ["list", "--nothing"]),
    (0, ["schema", "scenario"]),
    (2, ["schema", "nothing"]),
    (0, ["run", "scenario.json"]),
    (2, ["run", "nothing.json"]),
    (0, ["plan", "scenario.json", "--target", "50"]),
    (2, ["plan", "scenario.json", "--target", "-1"]),
    (0, ["audit", "bernstein", "--tries", "20", "--runs", "0"]),
    (2, ["audit", "nothing"]),
    (0, ["exhibit"]),
    (2, ["exhibit", "nothing/figure-0"]),
    (3, ["exhibit", "all", "--executor", "serial", *NO_ROOM]),
    (0, ["ask", "curves", "--help"]),
    (2, ["ask", "nothing"]),
    (0, ["share", "lesson", "3", "-o", "lesson.html"]),
    (2, ["share", "lesson", "3", "-o", "lesson.html"]),
    (2, ["share", "nothing"]),
    (2, ["share", "heights.csv"]),
    (2, ["show", "nothing.json"]),
    (0, ["look", "heights.csv", "-o", "look.html"]),
    (2, ["look", "heights.csv", "-o", "look.txt"]),
    (0, ["propose", "heights.csv", "-o", "reading.json"]),
    (2, ["propose", "scenario.json"]),
    (0, ["ask-card", CARD, "average"]),
    (2, ["ask-card", "scenario.json"]),
    (2, ["ask-card", CARD, "nothing"]),
    (2, ["compare-cards", CARD, CARD]),
    (2, RECORD),
    (0, ["synthetic", CARD, "--people", "3"]),
    (2, ["synthetic", CARD, "--seed", "-1"]),
    (3, ["ledger", "verify"]),
    (0, ["ledger", "show"]),
    (2, ["ledger", "rebuild"]),
    (2, ["ledger", "lower", "1"]),
    (0, ["state", "request.json", "--unseen"]),
    (2, ["state", "scenario.json"]),
    (0, ["release", "request.json"]),
    (2, ["release"]),
    (2, ["release", "scenario.json"]),
    (0, ["release", "request.json", "--yes"]),
    (0, ["release", "request.json"]),
    (2, ["release", "request.json", "--name", "more", "--total-epsilon", "9"]),
    (2, ["release", "cheaper.json"]),
    (0, ["ledger", "verify"]),
    (0, ["ledger", "show", "request.json"]),
    (0, ["ledger", "rebuild"]),
    (0, ["ledger", "lower", "2"]),
    (2, ["ledger", "lower", "3"]),
    (2, ["ledger", "join", "nothing"]),
    (2, ["ledger", "complete", "request.json"]),
    (0, ["check-files", "release/guarantee.json"]),
    (2, ["check-files", "trial.csv"]),
    (0, ["share", "release/guarantee.json", "release/release.csv"]),
    (2, ["share", "release/guarantee.json"]),
    (3, ["check-files", "release/guarantee.json", "--ledger", "nothing"]),
    (1, ["check-files", "changed/guarantee.json"]),
    (1, ["check-files", "changed/guarantee.json", "--ledger", "nothing"]),
    (0, ["record", "release/guarantee.json", *RECORD[2:]]),
    (0, ["site-key", "all", "--shared"]),
    (2, ["site-key", "all", "--shared"]),
    (0, ["partners", "add", "north", "0" * 63 + "1"]),
    (2, ["partners", "add", "north", "nothing"]),
    (0, ["partners", "list"]),
    (2, ["partners", "list", "--partners", "nothing.json"]),
    (0, ["plan-sites", "study.json"]),
    (2, ["plan-sites", "nothing.json"]),
    (2, own("west", *through("offer", "study.json"))),
    *((0, own(site, *through("offer", "study.json"))) for site in ("north", "south")),
    (0, ["plan-sites", "study.json", "through/offer-north.json", "through/offer-south.json"]),
    (0, own("north", *through("sign-off", "plan.json"))),
    (2, own("north", *through("sign-off", "plan.json", "--words", "no-words"))),
    (0, own("north", *through("sign-off", "plan.json", "--words", "WORDS"))),
    (2, own("south", *through("site", "south.csv", "--once"))),
    (3, own("north", *through("site", "north.csv", "--once"))),
    (3, through("centre", "--key", "all.key", "--once")),
    (2, through("centre", "--once")),
    (0, own("south", *through("sign-off", "plan.json", "--words", "WORDS"))),
    (3, own("south", *through("site", "south.csv", "--once"))),
    (0, own("north", *through("site", "north.csv", "--once"))),
    (0, through("centre", "--key", "all.key", "--once", "--out", "together")),
    (2, own("south", *through("offer", "study.json", "--take-back"))),
    (0, own("south", *through("withdraw", "plan.json"))),
    (2, own("south", *through("site", "south.csv", "--once"))),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRIVACY_CURVES_LEDGER", str(tmp_path / "ledger.sqlite3"))
    (tmp_path / "through").mkdir()
    (tmp_path / "heights.csv").write_text(site_runs.curves_csv(1, 30))
    for seed, name in ((5, "trial"), (11, "north"), (12, "south")):
        (tmp_path / f"{name}.csv").write_text(
            site_runs.events_csv(seed, 120 if seed == 12 else 100)
        )
    for name, value in (
        ("scenario", SCENARIO),
        ("request", REQUEST),
        ("study", STUDY),
        ("cheaper", CHEAPER),
    ):
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    return tmp_path


def ended(words):
    try:
        return __main__.main(words)
    except SystemExit as end:  # of the parser
        return int(end.code or 0)


def test_every_command_ends_with_the_code_of_what_it_found(folder, capsys):
    for code, words in STEPS:
        if "changed/guarantee.json" in words and not (folder / "changed").exists():
            (folder / "changed").mkdir()
            text = (folder / "release" / "guarantee.json").read_text()
            (folder / "changed" / "guarantee.json").write_text(
                re.sub(r'"right_guess_at_most": [0-9.]+', '"right_guess_at_most": 0.99', text)
            )
        if "WORDS" in words:
            plan = SitePlan.read((folder / "plan.json").read_bytes())
            words = [plan.words[0] if word == "WORDS" else word for word in words]
        assert ended(words) == code, (words, *capsys.readouterr())


def test_no_command_is_left_out(capsys):
    ended(["--help"])
    commands = re.findall(r"^    ([a-z-]+)\b", capsys.readouterr().out, re.M)
    assert len(commands) > 20 and {words[0] for _, words in STEPS} == {*commands}


def test_what_is_false_or_not_known_is_told_by_the_code(folder, monkeypatch, capsys):
    assert ended(["release", "request.json", "--yes"]) == 0
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv(key_file.VARIABLE, str(folder / "another key"))
        assert ended(["ledger", "verify"]) == 3 and "Not known" in capsys.readouterr().out
    with (folder / "ledger.sqlite3").open("r+b") as file:
        file.truncate(100)
    assert ended(["ledger", "verify"]) == 1 and "Wrong" in capsys.readouterr().out


def test_one_false_finding_counts_most_and_then_one_that_is_not_known():
    assert Exit.of([True, None, False]) == 1 and Exit.of([True, None]) == 3 and Exit.of([True]) == 0


def test_the_guide_has_every_code():
    table = handbook.chapter("command_line").text.partition("Exit codes")[2]
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", table, re.M)] == [*Exit]
