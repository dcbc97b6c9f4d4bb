"""The public interface changes only on purpose: api.txt holds every signature and field of it."""

import difflib
from dataclasses import dataclass
from types import SimpleNamespace

from scripts import write_interface


def test_the_interface_is_that_of_the_file():
    kept, now = write_interface.FILE.read_text("utf-8"), write_interface.text()
    changes = "\n".join(
        difflib.unified_diff(kept.splitlines(), now.splitlines(), "kept", "now", n=0)
    )
    assert not changes, (
        f"{changes}\nIf this is meant: python scripts/write_interface.py, and a fragment "
        "`changes/….changed.md` or `….todo.md`"
    )


@dataclass
class Curve:
    length: int
    unit: str = "cm"

    @property
    def is_long(self):
        return self.length > 9

    def cut(self, at: int = 1) -> None: ...

    def _inside(self): ...


def test_each_field_property_and_signature_has_a_line():
    Curve.__module__ = "engine.curves"
    module = SimpleNamespace(__all__=["Curve", "measure"], Curve=Curve, measure=lambda x, *, y=2: x)
    unit, length = "    unit: <class 'str'> = …", "    length: <class 'int'>"
    assert list(write_interface.interface(module)) == [
        "class Curve()",
        "    cut(self, at: int = 1) -> None",
        "    is_long: property",
        length,
        unit,
        "measure(x, *, y=2)",
    ]
