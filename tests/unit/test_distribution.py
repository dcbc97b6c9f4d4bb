"""Sources and documents as the distribution has them: the same program below `privacy_curves`."""

import ast
import re

import pytest

from distribution.names import FOLDERS, Names, lay_out
from tests.server import ROOT

NAMES = Names(ROOT)


@pytest.mark.parametrize(
    ("ours", "installed"),
    [
        ("from engine import audit\n", "from privacy_curves.engine import audit\n"),
        ("import engine.core.errors as e\n", "import privacy_curves.engine.core.errors as e\n"),
        (
            "if True:\n    from  pages.shared import x\n",
            "if True:\n    from  privacy_curves.pages.shared import x\n",
        ),
        (
            "import engineering\nfrom enginex import y\n",
            "import engineering\nfrom enginex import y\n",
        ),
    ],
)
def test_imports_of_the_project_are_found_below_the_package(ours, installed):
    assert NAMES.python(ours) == installed


@pytest.mark.parametrize(
    ("ours", "installed"),
    [
        ('Registry("engine.rates")\n', 'Registry("privacy_curves.engine.rates")\n'),
        ('"engine.core.errors:InputError"\n', '"privacy_curves.engine.core.errors:InputError"\n'),
        ('x = f"engine.topics.{name}"\n', 'x = f"privacy_curves.engine.topics.{name}"\n'),
        ('"engine.no_such_module"\n', '"engine.no_such_module"\n'),
        ('"The engine. It runs."\n', '"The engine. It runs."\n'),
    ],
)
def test_only_a_string_that_names_a_module_is_changed(ours, installed):
    assert NAMES.python(ours) == installed


def test_people_are_told_the_command_that_is_installed():
    assert NAMES.text("Type `.venv/bin/python -m engine list`.") == "Type `privacy-curves list`."
    assert NAMES.text("with `python\n-m engine ask`") == "with `\nprivacy-curves ask`"
    assert NAMES.text(">>> from engine import api as pc") == ">>> import privacy_curves as pc"
    assert NAMES.text("from engine import audit") == "from privacy_curves.engine import audit"


def test_an_import_that_would_bind_another_name_is_refused():
    with pytest.raises(ValueError, match="line 2"):
        NAMES.python("import os\nimport engine.core\n")


def test_no_module_of_the_project_binds_a_name_that_the_distribution_has_not():
    bound = re.compile(rf"^ *import ({'|'.join(FOLDERS)})\b(?!.* as )", re.M)
    assert [
        path
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
        if bound.search(path.read_text("utf-8"))
    ] == []


@pytest.mark.slow
def test_no_module_of_the_distribution_looks_for_a_name_at_the_top(tmp_path):
    package = lay_out(ROOT, tmp_path)
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom) and not node.level
                else [each.name for each in node.names]
                if isinstance(node, ast.Import)
                else []
            )
            tops = {name.partition(".")[0] for name in names}
            assert not tops & {*FOLDERS, "tests"}, path
    assert not list(package.rglob("__pycache__"))
    assert not (package / "reproductions").exists() and not (package / "data/exhibits").exists()
