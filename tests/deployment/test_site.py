"""The documentation site is built without a warning; needs an index of packages."""

import re
import subprocess
import sys

import pytest

from engine import api
from tests.server import ROOT

pytestmark = pytest.mark.slow


def test_the_site_is_built_with_warnings_as_errors_and_describes_the_interface(tmp_path):
    subprocess.run(
        ["make", "site", f"PYTHON={sys.executable}", f"DOCS={tmp_path / 'docs'}"],
        cwd=ROOT,
        check=True,
    )
    built = tmp_path / "docs" / "html"
    reference = (built / "reference.html").read_text("utf-8")
    described = set(re.findall(r'id="privacy_curves\.(\w+)"', reference))
    assert {*api.__all__} - {"__version__"} <= described
    for notebook in (ROOT / "docs" / "notebooks").glob("*.ipynb"):
        page = (built / "notebooks" / f"{notebook.stem}.html").read_text("utf-8")
        assert "cell_output" in page, notebook.stem
        assert len(page) < 500_000 and 'src="https://' not in page, notebook.stem
    assert (built / "_static/plotly.min.js").stat().st_size > 1_000_000
