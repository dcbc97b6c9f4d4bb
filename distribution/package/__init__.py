"""Privacy Curves: what differential privacy costs when the data are curves.

The names of `__all__` are the public interface, described in `privacy_curves.engine.api`; everything
else may change with any version. The command `privacy-curves` opens the dashboard.
"""

from typing import TYPE_CHECKING, Any

from privacy_curves import engine
from privacy_curves.engine import __version__ as __version__

if TYPE_CHECKING:
    from privacy_curves.engine.api import *  # noqa: F403

__all__ = getattr(engine, "__all__", ())


def __getattr__(name: str) -> Any:
    return getattr(engine, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
