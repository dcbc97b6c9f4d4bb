"""Who may import whom, and how long a page may be."""

import re
from functools import cache
from pathlib import Path

import pytest

from engine.mechanisms import mechanisms
from engine.sources import sources
from tests.syntax import syntax

ROOT = Path(__file__).parents[2]
ENGINE = sorted((ROOT / "engine").rglob("*.py"))
REPRODUCTIONS = sorted((ROOT / "reproductions").rglob("*.py"))


def within(folder):
    """The files of a package of the engine, of which there are some."""
    rows = [file for file in ENGINE if (ROOT / "engine" / folder) in file.parents]
    assert rows, folder
    return rows


def imported(file):
    return syntax(file).imported


def imported_to_run(file):
    """What is imported, but for what only types need."""
    return syntax(file).imported - syntax(file).imported_for_types


def test_the_engine_imports_neither_the_web_framework_nor_the_pages():
    for file in ENGINE:
        roots = {name.split(".")[0] for name in imported(file)}
        assert not roots & {"streamlit", "pages", "app"}, file
        assert "plotly" not in roots or "figures" in file.parts, file


def test_one_module_leads_to_the_reproductions():
    """A wheel leaves them out, and everything else works there."""
    importers = [
        str(file.relative_to(ROOT))
        for file in OURS
        if file not in REPRODUCTIONS
        and "reproductions" in {name.split(".")[0] for name in imported(file)}
    ]
    assert importers == ["engine/exhibits.py"]


def test_nothing_is_built_on_the_benchmarks():
    """Neither the image nor a wheel has them."""
    assert list((ROOT / "benchmarks").rglob("*.py"))
    for file in OURS:
        assert "benchmarks" not in {name.split(".")[0] for name in imported(file)}, file


def test_reproductions_import_only_what_can_be_built_without_them():
    below = imports_of_packages()
    assert len(REPRODUCTIONS) > 30
    for file in REPRODUCTIONS:
        roots = {name.split(".")[0] for name in imported(file)}
        assert not roots & {"streamlit", "plotly", "pages", "app"}, file
        above = {name for name in packages(file) if "exhibits" in reached(name, below)}
        assert not above, file


def packages(file):
    """The packages and modules of the engine, one level down, that a file imports."""
    return {name.split(".")[1] for name in imported(file) if name.startswith("engine.")}


ARRAYS = ("numerics", "noise")
METHODS = ("privacy", "mechanisms", "sources", "rates", "audit")
SHOWN = {"language", "topics", "figures", "exports", "release", "exhibits", "lessons", "commands"}


@cache
def imports_of_packages():
    """Which packages and modules of the engine, one level down, each imports: within functions too.

    What is imported for types alone is left out.
    """
    found = {}
    for file in ENGINE:
        inside = file.relative_to(ROOT / "engine").parts
        package = inside[0].removesuffix(".py")
        found.setdefault(package, set()).update(
            name.split(".")[1] for name in imported_to_run(file) if name.startswith("engine.")
        )
    return {package: below - {package} for package, below in found.items()}


def reached(package, below):
    """All packages that one imports, directly or by way of others."""
    seen, left = set(), [package]
    while left:
        for other in below.get(left.pop(), ()):
            if other not in seen:
                seen.add(other)
                left.append(other)
    return seen


def test_no_packages_of_the_engine_import_each_other_in_a_circle():
    below = imports_of_packages()
    assert len(below) > 20 and below["topics"] >= {"language", "core", "mechanisms"}
    assert [package for package in below if package in reached(package, below)] == []


def test_the_floors_of_the_document_are_those_of_the_imports():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \|", text, flags=re.MULTILINE)
    floors = {
        name.removeprefix("engine."): int(number)
        for number, names in rows
        for name in re.findall(r"`([\w.]+)`", names)
        if name != "pages"
    }
    below = {
        package: packages & set(floors)
        for package, packages in imports_of_packages().items()
        if package in floors
    }
    assert set(floors) == {path.stem for path in (ROOT / "engine").glob("[a-z]*")} - {"engine"}
    for package, lower in below.items():
        assert floors[package] == 1 + max((floors[other] for other in lower), default=0), package


def test_records_know_nothing_of_algorithms_and_mechanisms_nothing_of_rates():
    below = imports_of_packages()
    assert reached("core", below) <= {"__version__"}
    assert not reached("mechanisms", below) & {"rates", "audit", "simulation", *SHOWN}


MECHANISMS = ("base", "summaries", "families", "each")  # upwards; "each" is a file of its own


def floor_of_mechanisms(name):
    """The floor of `engine.mechanisms…` that a dotted name belongs to."""
    below = [*name.split(".")[2:], "base"][0]
    return MECHANISMS.index(below if below in MECHANISMS else "each")


def test_what_mechanisms_share_knows_none_of_them_and_imports_downwards():
    for file in within("mechanisms"):
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        above = [
            other
            for other in imported_to_run(file)
            if other.startswith("engine.mechanisms.")
            and other.split(".")[2] not in ("Mechanism", "mechanisms", "one_per_server")
            and floor_of_mechanisms(other) > floor_of_mechanisms(name)
        ]
        assert not above, file


def test_attacks_do_not_know_the_faults_they_are_to_catch():
    for file in within("audit"):
        if "broken" not in file.parts:
            assert not [name for name in imported(file) if "broken" in name.split(".")], file


@pytest.mark.parametrize("folder", ARRAYS)
def test_numerics_and_noise_know_nothing_of_mechanisms_sources_or_experiments(folder):
    above = {*METHODS, *SHOWN, "simulation"}
    for file in within(folder):
        assert not above & packages(file), file


@pytest.mark.parametrize("folder", METHODS)
def test_methods_and_attacks_know_nothing_of_how_they_are_shown(folder):
    for file in within(folder):
        assert not SHOWN & packages(file), file


def test_numbers_know_no_charts_and_neither_do_sentences():
    drawing = [
        file
        for file in within("topics")
        if file.stem in ("asking", "question", "charts") or file.stem.endswith("_charts")
    ]
    for file in {*within("language"), *within("topics")} - {*drawing}:
        charts = [
            name
            for name in imported(file)
            if "figures" in name.split(".") or name.split(".")[-1].endswith("charts")
        ]
        assert not charts, file


def test_topics_build_on_each_other_in_one_direction():
    below = {}
    for file in within("topics"):
        topic = file.relative_to(ROOT / "engine/topics").parts[0].removesuffix(".py")
        others = {
            name.split(".")[2] for name in imported(file) if name.startswith("engine.topics.")
        }
        below.setdefault(topic, set()).update(others - {topic})
    assert len(below) > 10
    assert [topic for topic in below if topic in reached(topic, below)] == []


def test_modules_are_imported_by_a_made_up_name_in_one_place():
    places = [file.name for file in OURS if {"importlib", "importlib.util"} & {*imported(file)}]
    assert places == ["discovery.py"]


@pytest.mark.parametrize("file", sorted((ROOT / "pages").glob("*.py")), ids=lambda f: f.name)
def test_pages_stay_thin(file):
    assert len(file.read_text().splitlines()) <= 150
    assert "numpy" not in {name.split(".")[0] for name in imported(file)}


def test_pages_know_no_registered_source_or_mechanism_by_its_module():
    members = {cls.__module__ for cls in (*sources.all(), *mechanisms.all())}
    assert len(members) > 25
    for file in (ROOT / "pages").rglob("*.py"):
        assert not members & imported(file), file


def test_only_one_module_makes_parts_of_pages_run_again_by_themselves():
    pages = ROOT / "pages"
    text = [f.name for f in pages.rglob("*.py") if "run_every" in f.read_text()]
    assert text == ["timed.py"]


# -- nothing that a visitor wrote is ever run -----------------------------------------------------

PAGES = sorted((ROOT / "pages").rglob("*.py"))
OURS = [*ENGINE, *REPRODUCTIONS, *PAGES, ROOT / "app.py"]
BETWEEN_OUR_PROCESSES = {
    "engine/running/bounded.py",
    "engine/running/executors.py",
    "pages/shared/server/jobs.py",
}
RUN = {"eval", "exec", "compile", "system", "popen"}


def test_no_words_are_run_as_code_or_shown_as_markup_and_pickles_stay_between_our_processes():
    for file in OURS:
        assert not syntax(file).called & {
            *RUN,
            "unsafe_allow_html",
            "unsafe_allow_javascript",
            "allow_pickle",
        }, file
        unpickles = {"pickle", "marshal", "shelve", "dill", "joblib"} & imported(file)
        assert not unpickles or str(file.relative_to(ROOT)) in BETWEEN_OUR_PROCESSES, file
