"""Notebooks run from the first to the last cell, on the public interface alone."""

import ast
import json
import sys

import pandas as pd
import pytest
from plotly.graph_objects import Figure

from engine import api
from tests.heavy import few
from tests.server import ROOT

FOLDER = ROOT / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
OTHERS = {"numpy", "pandas", "plotly"}
INTERFACE = {"import privacy_curves as pc", "from engine import api as pc"}  # or in the repository


def name(path):
    return path.stem


def cells(path):
    """The sources of the code cells."""
    return [
        "".join(cell["source"])
        for cell in json.loads(path.read_text("utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]


def results(path):
    """What each cell would show: the value of its last line."""
    names = {"__name__": "__main__"}
    for source in cells(path):
        tree = ast.parse(source)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, path.name, "exec"), names)
        yield eval(compile(ast.Expression(last.value), path.name, "eval"), names) if last else None


@pytest.mark.parametrize(
    "path",
    few(
        [
            FOLDER / f"{key}.ipynb"
            for key in (
                "audit_a_mechanism",
                "a_million_meters",
                "own_curves",
                "plan_a_study",
                "reproduce_a_figure",
                "several_sites",
            )
        ]
    ),
    ids=name,
)
def test_a_notebook_runs_and_shows_tables_and_a_figure(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "privacy_curves", api)  # as it is called once it is installed
    shown = list(results(path))
    assert any(isinstance(result, Figure) and result.data for result in shown)
    assert any(isinstance(result, pd.DataFrame) and len(result) for result in shown)


def test_all_notebooks_are_listed():
    listed = (FOLDER / "README.md").read_text("utf-8")
    assert len(NOTEBOOKS) == 6
    assert all(f"({path.name})" in listed for path in NOTEBOOKS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_a_notebook_is_stored_as_its_format_asks_and_without_results(path):
    stored = json.loads(path.read_text("utf-8"))
    assert (stored["nbformat"], stored["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in stored["cells"]]
    assert len(set(ids)) == len(ids)
    for cell in stored["cells"]:
        assert cell["cell_type"] in ("code", "markdown") and cell["metadata"] == {}
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None
    assert stored["cells"][0]["source"][0].startswith("# ")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_a_notebook_uses_the_public_interface_and_nothing_else_of_the_project(path):
    tree = ast.parse("\n".join(cells(path)))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    ours = {each for each in imported if each.split(".")[0] not in sys.stdlib_module_names}
    (interface,) = INTERFACE & {ast.unparse(node) for node in ast.walk(tree)}
    own = interface.split()[1]
    assert {each.split(".")[0] for each in ours} <= {own, *OTHERS}
    assert own in ours and not any(each.startswith(f"{own}.") for each in ours)
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "pc"
    }
    assert used and used <= set(api.__all__)
