"""Code for audits, releases and lessons: it gives what these pages show, and holds no data."""

import contextlib
import io

import pytest

from engine import lessons
from engine.core.types import Budget
from engine.exports import code_for
from engine.language.numbers import in_unit
from engine.questions import ask, kinds
from engine.release import ledger
from engine.release.data_content import content_of
from engine.release.published import release_cost
from engine.topics.audit import answer as audit_topic
from engine.topics.audit import words as audit_words
from engine.topics.coverage import answer as coverage_topic
from engine.topics.coverage.question import limits
from engine.topics.reuse.answer import FACTS
from engine.uploads.facts import StatedCovariate, declare_rows
from engine.uploads.own_file import OwnFile
from pages.shared.state import settings
from tests import files
from tests.files import requested
from tests.ledgers import SEA, charges, spent
from tests.pages.opening import visit
from tests.pages.test_code import (
    BUDGET,
    DEFAULT,
    by_command,
    look,
    numbers,
    on_the_strip,
    own_of,
    run,
)
from tests.readings import rows_upload_of
from tests.sentences import of_topic
from tests.unit.test_upload_rows import frame as row_frame
from tests.waiting import PATIENCE

AT_MOST = "attacker’s accuracy, at most"  # name of a number of every answer
wording = of_topic("code")

__all__ = ["look"]
GRADIENT = "audited-noisy_gradient_mean.mean_function"


def verdicts(text):
    """What attacks found, but for how many tries and releases they had: those end by a clock."""
    return [
        line.partition(", after ")[0]
        for line in text.splitlines()
        if ", after " in line or not line.startswith(" ")
    ]


@pytest.mark.slow
def test_code_of_an_attack_and_of_a_planted_fault_says_what_the_page_says(look):
    token = f"{GRADIENT}~variant-NoClipping~epsilon-2~seed-3"
    (python, command), notebook, _, _ = look("audit", token)
    cells = "\n".join(
        "".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"
    )
    by_script, by_notebook = run(python, cells)
    assert verdicts(by_script) == verdicts(by_notebook) == verdicts(by_command(command))
    assert by_script.count("\n  claim") == 2 and "NoClipping" in by_script
    page = visit("audit", token)
    page.button(key="audit_run").click().run()
    (job,) = page.session_state["audit_jobs"].values()
    assert job.wait(PATIENCE)
    first = audit_words.in_lines("noisy_gradient_mean", "", job.result)
    assert verdicts(by_script)[:2] == verdicts(first)


@pytest.mark.parametrize("around", ["screen", pytest.param("small", marks=pytest.mark.slow)])
def test_code_of_an_attack_asks_for_what_the_page_asks_for(look, around):
    (python, command), *_ = look("audit", f"{GRADIENT}~around-{around}~variant-NoClipping~seed-3")
    made = {}
    exec(python.split("answer =")[0], made)
    usual = settings.Settings()
    honest, planted = made["question"]["attacks"]
    assert (honest.seed, honest.variant, planted.variant) == (3, "", "NoClipping")
    assert honest.mechanism.key == "noisy_gradient_mean" and honest.budget.epsilon == 1.0
    assert honest.source == (usual.source if around == "screen" else None)
    assert command.count("python -m engine audit --scenario -") == 2
    assert command.count(f" --tries {audit_topic.TRIES} --runs {audit_topic.RUNS} --seed 3") == 2
    assert command.count("--small") == 2 * (around == "small")


@pytest.mark.slow
@pytest.mark.parametrize(
    "token",
    [
        pytest.param("part-coverage~limits-coefficient~seed-2", marks=pytest.mark.slow),
        "part-reuse~again-5~draw-fresh",
    ],
)
def test_code_of_repetitions_and_of_reused_noise_gives_what_the_page_shows(look, token):
    (python, command), notebook, _, said = look("audit", token)
    (by_script,) = run(python)
    assert by_script.strip() == by_command(command)
    result = numbers(by_script)
    if "reuse" in token:
        off = result["what the formula gives, off by at most"]
        assert in_unit(off, FACTS.value_unit) in said
    else:
        page = visit("audit", token)
        page.button(key="audit_repeat").click().run()
        (job,) = page.session_state["audit_jobs"].values()
        assert job.wait(PATIENCE)
        both = coverage_topic.CoverageAnswer.joined(job.parts)
        assert limits(both) == pytest.approx(result, rel=1e-5)


@pytest.mark.parametrize("kind", coverage_topic.KINDS)
def test_every_kind_of_limits_can_be_asked_for_on_the_command_line(kind):
    one, now = coverage_topic.KINDS[kind], settings.Settings()
    method = coverage_topic.mechanism_for(kind, now.mechanism_of(one.task), 0.25)
    budget = coverage_topic.Experiment(
        kind, now.source_of(one.task), method, Budget(2.0, 1e-6), 4, 0.25
    )
    code = code_for.code_for(ask(coverage_topic.coverage_answer, budget))
    made = {}
    exec(code.run.split("answer =")[0], made)
    assert made["question"]["experiment"] == budget
    view = code.command.split("<<'END'\n")[1].removesuffix("\nEND")
    assert kinds.from_json(view) == made["question"]


@pytest.mark.parametrize(
    "lesson",
    [
        pytest.param(key, marks=pytest.mark.slow) if key in "2458" else key
        for key in lessons.names()[1:]
    ],
)
def test_code_of_a_lesson_gives_what_is_to_be_guessed_and_its_table(lesson, few_data_sets):
    code, worked = code_for.code_for(ask(lessons.work, lesson, 3)), lessons.work(lesson, 3)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code.python, {})
    assert out.getvalue().strip() == by_command(code.command)
    result = numbers(out.getvalue())
    unit = f" ({worked.guess.unit})" if worked.guess.unit else ""
    for name, value in zip(worked.guess.names, worked.guess.truth, strict=True):
        assert result[f"{name}{unit}"] == pytest.approx(value, rel=1e-5)
    table = worked.picture.table
    assert len(result) == len(worked.guess.names) + sum(map(len, list(table.values())[1:]))


def test_code_of_a_lesson_stands_on_its_page_with_its_seed(look):
    (python, command), *_ = look("teach", "lesson-3~seed-7")
    assert 'ask(work, key="3", seed=7)' in python and '"seed": 7' in command


@pytest.fixture
def real(tmp_path, monkeypatch):
    """A release page on public data, with a ledger of its own."""
    monkeypatch.setenv(ledger.VARIABLE, str(tmp_path / "ledger.sqlite3"))
    return "c-sea_temperature~epsilon-2"


@pytest.mark.slow
def test_code_of_a_release_tells_its_cost_and_publishes_nothing_without_a_name(look, real):
    (python, command), notebook, strip, said = look("release", real)
    cells = "\n".join(
        "".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"
    )
    by_script, by_notebook = run(python, cells)
    assert by_script == by_notebook
    result = numbers(by_script)
    assert result["certified ε"] == 2 > result["ideal ε"]
    assert 0 <= on_the_strip(strip.odds) - 100 * result[AT_MOST] <= 1
    printed = by_command(command)
    wording.found("certified", printed, 2)
    assert strip.odds.replace("≤", "at most") in printed
    assert not ledger.Ledger().entries()
    assert "with new noise" in said and "charged" in said
    wording.found("noise own", "".join(notebook["cells"][0]["source"]))


@pytest.mark.slow
def test_code_of_a_release_with_a_name_is_the_real_path_and_is_charged(look, real, costly_guesses):
    (python, _), *_ = look("release", real)
    run(python.replace('NAME = ""', 'NAME = "by hand"'))
    book = ledger.Ledger()
    assert charges(book, SEA) == [("by hand", "drawn")] and spent(book, SEA) == 2


def test_a_release_of_ones_own_file_is_asked_for_by_its_name_and_stated_facts(
    tmp_path, monkeypatch
):
    for kind, task, method in (
        ("curves", "mean_function", DEFAULT.mechanism),
        ("records", "density", DEFAULT.mechanism_of("density")),
    ):
        source, own = own_to_publish(kind, tmp_path)
        code = code_for.release(ask(release_cost, source, method, BUDGET), own)
        result = requested(code.command.split("<<'END'\n")[1].removesuffix("\nEND"), tmp_path)
        assert result.source.declared == source.declared and result.mechanism == method
        assert content_of(result.source) == content_of(source) and task in method.served
        assert result.budget.epsilon == 2 and result.name == ""
        monkeypatch.chdir(tmp_path)
        made = {}
        exec(code.run.split("question =")[0], made)
        assert content_of(made["source"]) == content_of(source)


def own_to_publish(kind, folder):
    """A source that a person may publish, and how its file was read."""
    if kind == "curves":
        return own_of("curves", folder)
    frame = row_frame(400)
    (folder / "rows.csv").write_bytes(files.csv(frame))
    declared = declare_rows(
        "density",
        [StatedCovariate("f0", 0.0, 10.0, "kg")],
        "a register",
        person="patient",
        people="patients",
    )
    source = rows_upload_of(
        files.csv(frame), declared, {"id": None, "value": None}, features=["f0"]
    )
    return source, OwnFile("rows.csv", source.reading)
