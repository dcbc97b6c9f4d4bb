"""The few records that everything else is made of.

All are frozen and picklable; their arrays are read-only. Neighbouring data always *replace one
curve*, and the sizes (servers, curves, observations per curve) are public.
"""

from engine.core.arrays import Array
from engine.core.bands import Band
from engine.core.tasks import Unit
from engine.core.types.budgets import MAX_EPSILON, MIN_EPSILON, NON_PRIVATE, Budget
from engine.core.types.data import (
    CurveData,
    Data,
    EventData,
    SampleData,
    from_public_facts,
    kind_of,
)
from engine.core.types.estimates import (
    Caution,
    Estimate,
    Fit,
    Intervals,
    Late,
    LateCautions,
    Plan,
    SaidIn,
    ServerParts,
)
from engine.core.types.facts import (
    Covariate,
    DataKind,
    Design,
    EventFacts,
    PublicFacts,
    PublicGroup,
    TimeLaw,
)
from engine.core.types.sizes import Public, Sizes
from engine.core.types.spending import Composition, Cost, Spend, Step
from engine.core.types.store import CurveStore
from engine.core.types.truth import FunctionBasis, Truth

__all__ = [
    "MAX_EPSILON",
    "MIN_EPSILON",
    "NON_PRIVATE",
    "Array",
    "Band",
    "Budget",
    "Caution",
    "Composition",
    "Cost",
    "Covariate",
    "CurveData",
    "CurveStore",
    "Data",
    "DataKind",
    "Design",
    "Estimate",
    "EventData",
    "EventFacts",
    "Fit",
    "FunctionBasis",
    "Intervals",
    "Late",
    "LateCautions",
    "Plan",
    "Public",
    "PublicFacts",
    "PublicGroup",
    "SaidIn",
    "SampleData",
    "ServerParts",
    "Sizes",
    "Spend",
    "Step",
    "TimeLaw",
    "Truth",
    "Unit",
    "from_public_facts",
    "kind_of",
]
