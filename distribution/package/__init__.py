"""Privacy Curves: what differential privacy costs when the data are curves.

The names of `__all__` are the public interface, described in `privacy_curves.engine.api`;
everything else may change with any version. The command `privacy-curves` opens the dashboard.
"""

import importlib
from typing import TYPE_CHECKING, Any

from privacy_curves.engine import __version__ as __version__

if TYPE_CHECKING:
    from privacy_curves.engine.api import *  # noqa: F403

_INTERFACE = "privacy_curves.engine.api"


def __getattr__(name: str) -> Any:
    """A name of the interface, which is loaded when it is first used."""
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_INTERFACE), name)


def __dir__() -> list[str]:
    return sorted(importlib.import_module(_INTERFACE).__all__)
