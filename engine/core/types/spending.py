"""Steps that leave a server, and the lines of the ledger that they are charged to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from engine.core.enumerations import Enumeration, NoiseLaw
from engine.core.tasks import Unit
from engine.core.types.budgets import Budget


class Composition(Enumeration):
    """Composition of several alike releases: about the same people, or each about others."""

    SEQUENTIAL = "sequential"
    PARALLEL = "parallel"


@dataclass(frozen=True)
class Step:
    """One kind of message of a mechanism, and the lines of the ledger it is charged to.

    Messages, lines of the ledger and noise of a release are matched by keys and by nothing else.
    Keys are written into ledgers that must open for ever: they never change. Labels may.
    """

    key: str  # its name in a mechanism; of a line of the ledger, that of the line
    label: str = ""  # what people read; nothing follows from it. Empty: the key.
    # keys of the lines that state its noise and its cost. Empty: that of the same key.
    charged_to: tuple[str, ...] = ()
    # the most that exchanging one of n curves moves n times an average, in units of the radius that
    # curves are clipped to; None where it is no property of the step alone
    sensitivity: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.key)
        object.__setattr__(self, "charged_to", self.charged_to or (self.key,))


class Cost(NamedTuple):
    """All that a guarantee depends on in a line of the ledger; the fields are those of `Spend`."""

    mu: float | None
    epsilon: float | None
    rho: float | None
    noise: NoiseLaw
    rounds: int


@dataclass(frozen=True)
class Spend:
    """One line of the ledger: what left a server and what it cost.

    Neighbouring data always replace one `unit`. Members of enumerations may be given as their text.
    """

    step: Step
    server: int
    # the Gaussian-DP parameter of one such release (∞ without noise); None where the noise is not
    # Gaussian
    mu: float | None
    # sensitivity, noise_scale: in units of what is released, in its own words
    sensitivity: tuple[float, ...]
    noise_scale: tuple[float, ...]
    count: int
    # "sequential" when the same people take part in each (μ's add in squares) or "parallel" when
    # every person takes part in one
    composition: Composition
    budget: Budget  # what was asked for, for the whole ledger of this server
    why: str
    # of a release whose noise is not Gaussian: holds with δ = 0, and those add
    epsilon: float | None = None
    # the zCDP parameter of one release, where neither of the two says all, as for a noisy choice;
    # those add, too
    rho: float | None = None
    unit: Unit = Unit.UNSTATED
    norm: str = ""  # the norm in which `sensitivity` is measured
    noise: NoiseLaw = NoiseLaw.UNSTATED

    def __post_init__(self) -> None:
        if (
            type(self.composition) is Composition
            and type(self.unit) is Unit
            and type(self.noise) is NoiseLaw
        ):  # as in each of thousands of lines
            return
        for name, names in (("composition", Composition), ("unit", Unit), ("noise", NoiseLaw)):
            object.__setattr__(self, name, names.named(getattr(self, name), name))

    def at(self, server: int, **other: Any) -> Spend:
        """The line of another server, of which only these fields differ; they are not checked.

        Thousands of machines have lines alike: this takes a fifth of the time of a new record.
        """
        line = object.__new__(Spend)
        line.__dict__.update(self.__dict__, server=server, **other)
        return line

    @property
    def cost(self) -> Cost:
        """Cost of this line, on which a guarantee depends."""
        return Cost(self.mu, self.epsilon, self.rho, self.noise, self.rounds)

    @property
    def what(self) -> str:
        """Name of what left the server, for people."""
        return self.step.label

    @property
    def rounds(self) -> int:
        """Number of its releases that one person takes part in."""
        return self.count if self.composition is Composition.SEQUENTIAL else 1
