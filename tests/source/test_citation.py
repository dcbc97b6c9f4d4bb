"""What others cite and contribute by agrees with the project itself."""

import re
import subprocess
import sys
import tomllib

import pytest
import yaml

from engine import __version__
from tests.server import ROOT

CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
PAPER = (ROOT / "paper" / "paper.md").read_text("utf-8")


def test_the_citation_is_of_this_version_and_licence():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert CITATION["version"] == __version__ == project["version"]
    assert CITATION["license"] == project["license"]
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"## [{CITATION['version']}] – {CITATION['date-released']}" in changes
    assert {"cff-version", "message", "title", "authors"} <= CITATION.keys()


def test_the_paper_has_the_parts_and_references_that_it_names():
    front = yaml.safe_load(PAPER.split("---")[1])
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= front.keys()
    entries = set(
        re.findall(r"@\w+\{(\w+),", (ROOT / "paper" / front["bibliography"]).read_text("utf-8"))
    )
    assert set(re.findall(r"@(\w+)", PAPER.split("---", 2)[2])) == entries
    for heading in ("Summary", "Statement of need", "State of the field", "References"):
        assert f"\n# {heading}\n" in PAPER
    words = len(PAPER.split("---", 2)[2].split())
    assert 250 <= words <= 1750


@pytest.mark.slow
def test_figures_of_the_paper_are_what_the_engine_draws(tmp_path):
    subprocess.run([sys.executable, ROOT / "scripts" / "paper_figures.py", tmp_path], check=True)
    figures = sorted((ROOT / "paper" / "figures").iterdir())
    assert [path.name for path in figures] == sorted(path.name for path in tmp_path.iterdir())
    for path in figures:
        assert (tmp_path / path.name).read_text("utf-8") == path.read_text("utf-8"), path.name
        assert f"](figures/{path.name})" in PAPER


def test_templates_for_issues_have_what_a_forge_reads():
    templates = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.md"))
    assert len(templates) == 2
    for path in templates:
        assert {"name", "about"} <= yaml.safe_load(path.read_text("utf-8").split("---")[1]).keys()
    assert "SECURITY.md" in "".join(path.read_text("utf-8") for path in templates)
