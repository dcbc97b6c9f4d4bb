"""The build hook of the wheel: lays the package out and hands it to hatchling."""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))
import names


class LayOut(BuildHookInterface):
    """Puts `privacy_curves` into the wheel, written from the folder by `names.lay_out`."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            raise RuntimeError(
                "There is no editable installation: the package is written from the "
                "folder. Work in the folder itself, with `make run` and "
                "`python -m engine`."
            )
        self._folder = tempfile.mkdtemp()
        package = names.lay_out(Path(self.root), Path(self._folder))
        build_data["force_include"][str(package)] = names.PACKAGE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(self._folder)
