"""Privacy Curves: what differential privacy costs when the data are curves.

The names of `__all__` are the public interface, described in `privacy_curves.engine.api`;
everything else may change with any version. The command `privacy-curves` opens the dashboard.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privacy_curves.engine.api import *  # noqa: F403

_ENGINE, _INTERFACE = "privacy_curves.engine", "privacy_curves.engine.api"


def __getattr__(name: str) -> Any:
    """A name of the interface, which is loaded when it is first used.

    So the plugin of pytest loads none of it where it is not used.
    """
    if name.startswith("_") and name not in ("__all__", "__version__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_ENGINE if name == "__version__" else _INTERFACE), name)


def __dir__() -> list[str]:
    return sorted(importlib.import_module(_INTERFACE).__all__)
