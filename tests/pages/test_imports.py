"""Runs of pages leave the search for modules of other threads alone."""

import importlib
import sys
from types import SimpleNamespace

from streamlit.runtime.scriptrunner.exec_code import modified_sys_path

import pages.shared  # noqa: F401  (what the application imports before the first run)
from tests.pages.opening import SHELL

END = "the end of a run"


def test_the_end_of_a_run_hides_no_module_from_an_import_that_is_under_way(tmp_path, monkeypatch):
    (tmp_path / "imported_late.py").write_text("answer = 42")
    run = modified_sys_path(SHELL)

    def ends_the_run(entry):
        if entry != END:
            raise ImportError
        return SimpleNamespace(find_spec=lambda *_: run.__exit__(None, None, None) or None)

    monkeypatch.setattr(sys, "path_hooks", [ends_the_run, *sys.path_hooks])
    for entry in (str(tmp_path), END):
        monkeypatch.syspath_prepend(entry)
    with run:
        assert importlib.import_module("imported_late").answer == 42
    sys.modules.pop("imported_late")
    sys.path_importer_cache.pop(END)
