"""The public interface: what notebooks and other programs may rely on.

`import privacy_curves as pc` has these names once the package is installed; in the project's folder
it is `from engine import api as pc`. Everything else of the package may change with any version.

Data go in as files, pandas tables or arrays; `frame` gives a pandas table of whatever is returned,
and `figure` a plotly figure. Arguments are read by their annotations, as a request in JSON is:
numpy scalars and arrays are numbers and lists, and a source, method or budget may be its JSON. What
a person can put right is an `InputError`, a wrong argument included.

Examples
--------
>>> from engine import api as pc
>>> curves = pc.source("sparse_curves", n_curves=500)
>>> method = pc.mechanism("adaptive_mean")
>>> budgets = [pc.Budget(0.5, 1e-5), pc.Budget(2, 1e-5)]
>>> releases = pc.simulate_release(pc.simulate(curves), method, budgets)
>>> list(pc.frame(releases).columns)
['budget', 'repeat', 'draw', 'Time', 'Response']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine import __version__
from engine.core.discovery import member

if TYPE_CHECKING:
    from engine.api.data import (
        mechanism,
        mechanisms,
        read_curves,
        read_survival,
        simulate,
        source,
        sources,
    )
    from engine.api.display import figure, frame
    from engine.api.files import look, propose
    from engine.api.releases import (
        ask,
        guarantee,
        odds,
        preview,
        quote,
        read_card,
        release,
        release_again,
        save,
        simulate_release,
        tune,
    )
    from engine.api.sharing import share
    from engine.api.studies import (
        audit,
        exhibit,
        exhibits,
        plan,
        plan_periods,
        read_scenario,
        run_scenario,
    )
    from engine.audit.callables import attack
    from engine.core.errors import InputError
    from engine.core.types import Budget, Covariate, CurveData, PublicFacts
    from engine.exports.schemas import schema
    from engine.release.ledger import Ledger
    from engine.release.measurement import opendp_measurement

__all__ = [
    "Budget",
    "Covariate",
    "CurveData",
    "InputError",
    "Ledger",
    "PublicFacts",
    "__version__",
    "ask",
    "attack",
    "audit",
    "exhibit",
    "exhibits",
    "figure",
    "frame",
    "guarantee",
    "look",
    "mechanism",
    "mechanisms",
    "odds",
    "opendp_measurement",
    "plan",
    "plan_periods",
    "preview",
    "propose",
    "quote",
    "read_card",
    "read_curves",
    "read_scenario",
    "read_survival",
    "release",
    "release_again",
    "run_scenario",
    "save",
    "schema",
    "share",
    "simulate",
    "simulate_release",
    "source",
    "sources",
    "tune",
]

# Each name by its module, which is loaded with the first use of the name: a budget needs no plot.
_NAMES = {
    "engine.api.data": "mechanism mechanisms read_curves read_survival simulate source sources",
    "engine.api.display": "figure frame",
    "engine.api.files": "look propose",
    "engine.api.releases": "ask guarantee odds preview quote read_card release release_again save "
    "simulate_release tune",
    "engine.api.sharing": "share",
    "engine.api.studies": "audit exhibit exhibits plan plan_periods read_scenario run_scenario",
    "engine.audit.callables": "attack",
    "engine.core.errors": "InputError",
    "engine.core.types": "Budget Covariate CurveData PublicFacts",
    "engine.exports.schemas": "schema",
    "engine.release.ledger": "Ledger",
    "engine.release.measurement": "opendp_measurement",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Load a name of the interface on its first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = member(_MODULES[name], name)
    return globals()[name]


def __dir__() -> list[str]:
    return __all__
