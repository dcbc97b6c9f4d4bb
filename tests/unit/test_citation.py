"""What others cite and contribute by agrees with the project itself."""

import re
import tomllib

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
    entries = set(re.findall(r"@\w+\{(\w+),", (ROOT / "paper" / front["bibliography"]).read_text("utf-8")))
    assert set(re.findall(r"@(\w+)", PAPER.split("---", 2)[2])) == entries
    for heading in ("Summary", "Statement of need", "State of the field", "References"):
        assert f"\n# {heading}\n" in PAPER
    words = len(PAPER.split("---", 2)[2].split())
    assert 250 <= words <= 1750


def test_pictures_and_links_of_paper_and_conduct_are_there():
    for folder, text in ((ROOT / "paper", PAPER), (ROOT, (ROOT / "CODE_OF_CONDUCT.md").read_text("utf-8"))):
        for path in re.findall(r"\]\(([\w./]+)\)", text):
            assert (folder / path).is_file(), path


def test_templates_for_issues_have_what_a_forge_reads():
    templates = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.md"))
    assert len(templates) == 2
    for path in templates:
        assert {"name", "about"} <= yaml.safe_load(path.read_text("utf-8").split("---")[1]).keys()
    assert "SECURITY.md" in "".join(path.read_text("utf-8") for path in templates)
