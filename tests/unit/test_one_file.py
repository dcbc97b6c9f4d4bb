"""One file for a friend: small, equal bytes for equal answers, and nothing of an own file in it."""

import base64
import json
import os
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from engine import __main__
from engine import api as pc
from engine.core.errors import InputError
from engine.core.packed import unpack
from engine.core.types import Budget
from engine.exports import memo, one_card, one_decision, one_file, sharing
from engine.mechanisms import mechanisms
from engine.questions import ask, kinds
from engine.release import files as release_files
from engine.release import published
from engine.release.ledger import Ledger
from engine.sources import sources
from engine.topics.decision.answer import decision_of, equal_sites
from engine.topics.mean.answer import mean_over_budgets
from tests.conftest import fewer_data_sets
from tests.few import FEW_DATA_SETS

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests/golden"
CARD = (GOLDEN / "guarantee_2.json").read_bytes()
TABLE = (GOLDEN / "release_of_guarantee_2.csv").read_bytes()
METHOD = mechanisms.build("adaptive_mean", {})
MARKS = ("ZZ-4711", "123.456789")


@pytest.fixture(scope="module", autouse=True)
def _few_data_sets():
    yield from fewer_data_sets(FEW_DATA_SETS)


def card_page(card, table):
    return one_card.of_files({"guarantee.json": card, "release.csv": table})


def sent(html):
    """What a file carries to its drawing, unpacked."""
    (packed,) = re.findall(rb'id="sent">([A-Za-z0-9+/=]*)<', html)
    return unpack(base64.b64decode(packed))


def picture(source, epsilons=(0.5, 1.0), **about):
    answer = mean_over_budgets(source, METHOD, 1e-4, 1, epsilons)
    return one_file.of_mean(source, METHOD, Budget(1.0, 1e-4), 1, answer, **about)


def marked_file():
    """Curves of an own file in which an id and a reading are found again."""
    rows = [(f"c{k}", age, 80 + 5 * age + k % 7) for k in range(80) for age in (2, 8, 14)]
    rows += [(MARKS[0], age, float(MARKS[1])) for age in (2, 8, 14)]
    return pc.read_curves(
        pd.DataFrame(rows, columns=["child", "age", "height"]),
        reading={
            "frame": {"header": ["child", "age", "height"]},
            "person": {"column": "child"},
            "columns": {"time": {"name": "age"}, "value": {"name": "height"}},
        },
        values=(60, 210),
        times=(2, 18),
        origin="a chart",
        design={"law": "common", "times": [2, 8, 14]},
    )


def test_a_file_holds_the_message_of_the_page_and_begins_at_the_chosen_budget():
    page = picture(sources.build("growth_curves", {"n_curves": 60}))
    message = sent(page.html)["sent"]
    assert message["curves"]["epsilons"] == ["0.5", "1"] and message["now"]["start"] == 1
    assert page.title == message["curves"]["title"] and page.title.encode() in page.html
    assert page.html.count(b"<td>") == 6  # ε, accuracy and error of both, for whoever has no script


def test_equal_answers_give_equal_bytes_in_any_process_and_folder(tmp_path):
    written = []
    for k, seed in enumerate(("1", "2")):
        folder = tmp_path / f"folder {k}"
        folder.mkdir()
        subprocess.run(
            [sys.executable, "-m", "engine", "share", "lesson", "3"],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
            check=True,
        )
        written.append((folder / "lesson-3.html").read_bytes())
    assert written[0] == written[1] and len(written[0]) < 80_000


def test_a_figure_is_written_without_tables_plots_or_pages():
    """A process of numpy and scipy alone can draw and send it."""
    code = """
import sys
from engine.core.types import Budget
from engine.exports import one_file
from engine.mechanisms import mechanisms
from engine.sources import sources
from engine.topics.mean.answer import mean_over_budgets
source = sources.build("growth_curves", {"n_curves": 40})
method = mechanisms.build("adaptive_mean", {})
answer = mean_over_budgets(source, method, 1e-4, 1, (1.0, 2.0))
assert len(one_file.of_mean(source, method, Budget(1.0, 1e-4), 1, answer).html) > 50_000
heavy = {"streamlit", "plotly", "pandas", "opendp", "pyarrow", "dp_accounting"}
sys.exit(" ".join(heavy & sys.modules.keys()) or None)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("source", "chosen"),
    [
        ("growth_curves", {"n_curves": 60, "times": "common", "children": "girls"}),
        ("carbon_dioxide", {}),
    ],
)
def test_the_command_in_a_file_asks_for_the_same_figure(source, chosen):
    data = sources.build(source, chosen)
    words = one_file.command(data, METHOD, Budget(2.0, 1e-4), 7).split()
    assert words[:3] == ["privacy-curves", "share", source]
    options = dict(zip(words[3::2], words[4::2], strict=True))
    named = {
        name.removeprefix("--source."): text
        for name, text in options.items()
        if name.startswith("--source.")
    }
    assert named == {name: str(value) for name, value in chosen.items()}
    assert options["--epsilon"] == "2" and options["--seed"] == "7"
    assert options["--delta"] == "0.0001"


def test_curves_of_an_own_file_are_sent_by_no_way(tmp_path, capsys):
    own = marked_file()
    with pytest.raises(InputError, match="real people"):
        pc.share(own)
    answer = mean_over_budgets(own, METHOD, 1e-4, 1, (1.0,))
    with pytest.raises(InputError, match="real people"):
        one_file.of_mean(own, METHOD, Budget(1.0, 1e-4), 1, answer)
    simulated = sources.build("growth_curves", {"n_curves": 60})
    with pytest.raises(InputError, match="real people"):  # also beside data that are no file
        one_file.of_mean(simulated, METHOD, Budget(1.0, 1e-4), 1, answer)
    (tmp_path / "heights.csv").write_text("child,age,height\n")
    assert __main__.main(["share", str(tmp_path / "heights.csv")]) == 2
    assert "real people" in capsys.readouterr().err


def test_the_page_of_a_card_holds_no_value_of_the_file_behind_it(tmp_path):
    release = published.publish(
        marked_file(), METHOD, Budget(2.0, 1e-4), Ledger(tmp_path / "ledger"), "growth"
    )
    page = pc.share(release)
    carried = json.dumps(sent(page.html)).encode()
    for mark in MARKS:
        assert mark.encode() not in page.html + carried
    files = release_files.all_files(release)
    assert page == card_page(files["guarantee.json"], files["release.csv"])


def test_a_card_carries_both_of_its_files_and_draws_the_published_curve():
    page = card_page(CARD, TABLE)
    assert len(page.html) < 130_000
    files = sent(page.html)["files"]
    assert files == {"guarantee.json": CARD.decode(), "release.csv": TABLE.decode()}
    curves = sent(page.html)["sent"]["curves"]
    assert curves["epsilons"] == ["1"] and curves["counts"] == [] and curves["draws"] == 20
    assert curves["attacker"] == ["≤ 55 %"] and curves["errors"][0][0] == "1.80 °C"


def test_a_card_without_coefficients_has_its_curve_and_band_alone():
    card = json.loads(CARD)
    del card["answers"]
    curves = sent(card_page(json.dumps(card).encode(), TABLE).html)["sent"]["curves"]
    assert curves["draws"] == 1 and len(curves["fog"]) == 1
    assert curves["words"]["release"] == "published curve"


def plain_table():
    frame = pd.read_csv(GOLDEN / "release_of_guarantee_2.csv", comment="#")
    frame.columns = ["time", "value", "low", "high"]
    return frame


def test_a_card_of_several_functions_has_each_of_them_in_its_figure_and_its_table():
    card = json.loads(CARD)
    del card["answers"]
    tables = [plain_table().assign(function=name, value=lambda t: t.value) for name in ("A", "B")]
    tables[1]["value"] += 1
    table = pd.concat(tables).to_csv(index=False).encode()
    page = card_page(json.dumps(card).encode(), table)
    message = sent(page.html)["sent"]
    assert len(message["more"]) == 1 and message["more"][0]["tag"] != message["curves"]["tag"]
    assert re.findall(rb"<option value=\"(\d)\">(\w)<", page.html) == [(b"0", b"A"), (b"1", b"B")]
    assert page.html.count(b"<td>A</td>") == page.html.count(b"<td>B</td>") == 21


def test_groups_of_one_archive_are_in_one_file_with_the_files_of_each(tmp_path):
    with zipfile.ZipFile(tmp_path / "groups.zip", "w") as archive:
        for group in ("girls", "boys"):
            card = json.loads(CARD)
            card["answers"]["groups"] = {"set": "children", "name": group, "disjoint_from": []}
            archive.writestr(f"{group}/guarantee.json", json.dumps(card))
            archive.writestr(f"{group}/release.csv", TABLE)
            archive.writestr(f"{group}/release.html", "the report")
    page = sharing.of_paths([tmp_path / "groups.zip"])
    carried = sent(page.html)
    assert len(carried["sent"]["more"]) == 1
    assert set(carried["files"]) == {
        f"{group}-{file}"
        for group in ("girls", "boys")
        for file in ("guarantee.json", "release.csv")
    }
    assert re.findall(rb"<h2>(\w+)</h2>", page.html) == [b"girls", b"boys"]


@pytest.mark.parametrize(
    ("what", "across", "up"),
    [
        ("ROC and calibration", "False-positive share", "True-positive share"),
        ("Average curve", "Hour of the day (h)", "Air temperature (°C)"),
    ],
)
def test_axes_of_a_card_are_named_after_what_was_published(what, across, up):
    card = json.loads(CARD)
    card["release"]["what"] = what
    curves = sent(card_page(json.dumps(card).encode(), TABLE).html)["sent"]["curves"]
    assert (curves["time"]["label"], curves["value"]["label"]) == (across, up)


def test_a_coefficient_is_named_by_its_unit_and_drawn_in_its_own_range():
    card = json.loads(CARD)
    del card["answers"]
    card["bounds"]["columns"] = [{"name": "weight", "unit": "kg", "low": 2.0, "high": 5.0}]
    table = plain_table().assign(function="weight", value=0.5, low=0.25, high=0.75)
    curves = sent(card_page(json.dumps(card).encode(), table.to_csv(index=False).encode()).html)[
        "sent"
    ]["curves"]
    assert "kg of weight" in curves["value"]["label"]
    assert (curves["value"]["low"], curves["value"]["high"]) == (0.25, 0.75)


def test_a_surface_and_a_number_are_no_curve():
    surface = b"time,time2,value\n" + b"".join(
        b"%d,%d,1\n" % (s, t) for s in (0, 1) for t in (0, 1)
    )
    for table in (surface, b"value\n1.5\n"):
        with pytest.raises(InputError, match="no curve"):
            card_page(CARD, table)


def places(value, path=()):
    """Where the texts and numbers of a card are."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in parts:
        if isinstance(part, dict | list):
            yield from places(part, (*path, key))
        else:
            yield (*path, key)


@pytest.mark.parametrize("other", ["</script><img src=x>", None, 1e300, [], {"@": [0, 9]}, True])
def test_a_card_with_anything_in_any_place_is_drawn_or_refused(other):
    card = json.loads(CARD)
    card["answers"]["covariance"] = card["answers"]["covariance"][:3]
    card["answers"]["centre"] = card["answers"]["centre"][:2]
    card["answers"]["basis"]["size"] = 2
    for path in places(card):
        changed = json.loads(json.dumps(card))
        inner = changed
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = other
        try:
            page = card_page(json.dumps(changed).encode(), TABLE)
        except InputError:
            continue
        assert b"<img src=x" not in page.html


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nonsense"], "growth_curves, glucose_days"),
        (["density_points"], "no figure that can be sent"),
        (["lesson", "99"], "There is no lesson"),
        (["growth_curves", "--method", "noisy_counts"], "does not answer"),
        ([str(GOLDEN / "guarantee_2.json")], "The card has no curve to draw"),
        ([], "Say what is to be sent"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_what_can(words, said, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert __main__.main(["share", *words]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_files_of_a_release_are_sent_and_no_file_is_overwritten(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = [str(GOLDEN / "guarantee_2.json"), str(GOLDEN / "release_of_guarantee_2.csv")]
    command = ["share", *files, "-o", "card.html"]
    assert __main__.main(command) == 0
    assert "card.html" in capsys.readouterr().out
    first = (tmp_path / "card.html").read_bytes()
    assert __main__.main(command) == 2 and __main__.main([*command, "--force"]) == 0
    assert (tmp_path / "card.html").read_bytes() == first


def test_a_notebook_shows_the_file_in_a_frame_that_only_runs_its_scripts():
    shown = pc.share(2)._repr_html_()
    assert (
        shown.startswith('<iframe srcdoc="') and 'sandbox="allow-scripts allow-downloads"' in shown
    )
    assert "<script" not in shown


def test_a_twin_says_that_it_is_simulated_from_what_was_stated():
    source = sources.build("growth_curves", {"n_curves": 60})
    answer = mean_over_budgets(source, METHOD, 1e-4, 1, (1.0,))
    stated = replace(source.facts, kind="twin")
    answer = replace(answer, data=replace(answer.data, facts=stated))
    page = one_file.of_mean(source, METHOD, Budget(1.0, 1e-4), 1, answer)
    assert b"Simulated from the facts that were stated" in page.html


def test_a_question_of_a_page_is_sent_by_its_file(tmp_path):
    question = {"question": "lesson", "key": "2", "seed": 1}
    (tmp_path / "view.json").write_text(json.dumps(question))
    assert sharing.of_paths([tmp_path / "view.json"]) == pc.share(2)


@pytest.fixture(scope="module")
def decided():
    """A question of *Decide* about few children, its answer and its page."""
    source = sources.build("growth_curves", {"n_curves": 60, "n_observations_per_curve": 5})
    question = ask(
        decision_of, source, METHOD, equal_sites(source, "School"), None, "sites", 8.0, "19", 1
    )
    answer = question.answer()
    return question, answer, one_decision.of_decision(question, answer)


def test_a_decision_has_every_step_its_distance_and_whether_it_meets_the_target(decided):
    question, answer, page = decided
    curves = sent(page.html)["sent"]["curves"]
    assert len(curves["epsilons"]) == len(curves["errors"]) == 24 and curves["counts"] == []
    distances = answer.profile.distance(0.95)
    for note, distance, refused in zip(curves["notes"], distances, curves["refused"], strict=True):
        if distance != distance:
            assert refused and not note
        else:
            assert ("meets the target" if distance <= 8 else "misses the target") in note
    start = sent(page.html)["sent"]["now"]["start"]
    assert curves["epsilons"][start] == f"{answer.chosen.budget.epsilon:g}"


def test_a_decision_carries_its_memo_and_the_study_that_brings_it_back(decided, tmp_path):
    question, answer, page = decided
    files = sent(page.html)["files"]
    assert files["memo.html"] == memo.study_memo(answer)
    assert kinds.from_json(files["study.json"]) == question
    (tmp_path / "study.json").write_text(files["study.json"])
    assert sharing.of_paths([tmp_path / "study.json"]) == page
    assert pc.share(json.loads(files["study.json"])) == page
    assert len(page.html) < 150_000


def test_a_decision_about_several_functions_is_its_memo_alone(decided):
    question, answer, _ = decided
    bare = replace(answer, profile=replace(answer.profile, bands=None))
    page = one_decision.of_decision(question, bare)
    assert page.html.decode() == memo.study_memo(bare)


def test_a_decision_about_an_own_file_is_not_sent(decided):
    question, answer, _ = decided
    own = ask(question.function, **question.arguments | {"source": marked_file()})
    with pytest.raises(InputError, match="real people"):
        one_decision.of_decision(own, answer)
