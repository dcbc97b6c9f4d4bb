"""Sentences about a release: what it costs, what is left, and what cannot be taken back."""

from __future__ import annotations

import math

from engine.mechanisms import Mechanism
from engine.privacy import risk
from engine.release.certified import Quote
from engine.release.ledger import USUAL_TOTAL, Odometer
from engine.sources import Source
from engine.types import PublicFacts
from engine.words.chances import odds_main
from engine.words.grammar import escape
from engine.words.numbers import number, small
from engine.words.tags import budget_chip

TITLE = "Publish one protected curve"


def before(source: Source, mechanism: Mechanism, quoted: Quote, book: Odometer | None
           ) -> list[str]:
    """What a release would cost, before anything is charged."""
    facts, n = source.facts, source.sizes.n_curves
    return [f"{mechanism.label} of {number(n, 9)} {facts.people}: {facts.name}.",
            certified(quoted), odds(facts, quoted), left(facts, book),
            f"Bounds come from: {facts.origin}."]


def certified(quoted: Quote) -> str:
    """The certified charge beside the ideal one."""
    words = (f"Certified: **{budget_chip(quoted.certified)}**, by the maps of the library that "
             "draws the noise.")
    ideal = f"{quoted.ideal.epsilon:.3g}"
    if ideal == f"{quoted.certified.epsilon:.3g}":
        return words
    return f"{words} Ideal noise of the same size would cost ε = {ideal}; that is not promised."


def odds(facts: PublicFacts, quoted: Quote, group: int = 1) -> str:
    """What an attacker could find out about one person, by what is charged."""
    return odds_main(risk.of_ledger(quoted.charged, group), facts.person, quoted.charged[0].unit)


def left(facts: PublicFacts, book: Odometer | None) -> str:
    """What is left of the total of a data set: its odometer in a line."""
    if book is None:
        return f"Nothing published of these {escape(facts.people)} yet."
    return (f"Left for these {escape(facts.people)}: **ε = {_epsilon(max(book.left, 0.0))} of "
            f"{_epsilon(book.total.epsilon)}**.")


def after(facts: PublicFacts, book: Odometer) -> str:
    """What has been spent in all."""
    total = (f"Total for one {escape(facts.person)} so far: **ε = {_epsilon(book.spent_epsilon)}"
             f"**, δ = {small(book.spent_delta)}, by adding up.")
    return " ".join(filter(None, (total, left(facts, book), tighter(book))))


def tighter(book: Odometer) -> str:
    """What all releases cost by their ρ's, where that is less than their sum."""
    if book.tight is None or book.tight.epsilon >= book.spent_epsilon:
        return ""
    return (f"By tighter accounting all of them together cost **ε = {_up(book.tight.epsilon)}** at "
            f"δ = {small(book.tight.delta)} at most; the limit goes by the sum.")


def ticks(facts: PublicFacts, quoted: Quote, of_rows: bool = False) -> tuple[str, ...]:
    """What must be confirmed before anything is published.

    `of_rows` says that somebody may have several rows, each of which is protected on its own.
    """
    once = (f"Each {escape(facts.person)} is one row of the file, and people with several rows are "
            "protected less." if of_rows else
            f"Each {escape(facts.person)} is in the file once: under one id, or in one row where "
            "there are no ids.")
    return ("The bounds come from a public source, not from these data.",
            once,
            f"I understand that this spends {budget_chip(quoted.certified)} and cannot be taken "
            "back.")


def total_help(facts: PublicFacts) -> str:
    return (f"Most that all releases about these {facts.people} may cost together. The first one "
            f"fixes it; later it can only be lowered. Usual: {USUAL_TOTAL:g}.")


def _epsilon(value: float) -> str:
    return f"{value:.6g}"


def _up(value: float) -> str:
    """Three digits, rounded up: an "at most" number stays true."""
    step = 10.0 ** (math.floor(math.log10(value)) - 2)
    return _epsilon(math.ceil(value / step - 1e-6) * step)


LIMITS = """
* **A release is not a preview.** Its noise comes from the operating system through OpenDP’s exact
  samplers, on a lattice of powers of two. There is no seed, so nobody can draw it again.
* **Charged first.** The ledger is written before anything is computed. If the server stops at any
  moment, it may have charged for what nobody saw, never the other way round.
* **The total cannot be overrun.** ε and δ of all releases of the same data add up. The data are
  known by their readings; a changed copy, or other data about the same people, is not recognised.
* **Together they cost less than their sum.** The ρ’s of zero-concentrated privacy add, too, and
  prove a smaller ε. Each release may be chosen after seeing the others, so orders and δ of that
  proof are fixed beforehand: δ is the square of the first total δ. The sum alone limits.
* **Not covered:** who is in the data, how many people and readings there are, what is true of
  people in general, and how long the computation took.
* **OpenDP** marks the constructors used here “contrib”: not all of their proofs are reviewed.
"""


DEMONSTRATION = ("**Nothing is published here:** others may reach this dashboard, and a release "
                 "is for the holder of the data alone. Start a copy on a machine of your own.")


def with_next(book: Odometer, quoted: Quote) -> str:
    """What the total would be after one more release."""
    after_it = book.spent_epsilon + quoted.certified.epsilon
    return f"With one more like this: ε = {_epsilon(after_it)} of {_epsilon(book.total.epsilon)}."


def why(quoted: Quote) -> str:
    """How the charge follows from the messages."""
    if quoted.certified.is_pure:
        return ("Each charge is what OpenDP’s own map says of its noise, rounding to the lattice "
                f"included. They add to **ε = {quoted.certified.epsilon:g}** with δ = 0.")
    return ("Each ρ (zero-concentrated privacy) is what OpenDP’s own map says of its noise, "
            f"rounding to the lattice included. They add, and prove **ε = "
            f"{quoted.certified.epsilon:g}** at δ = {small(quoted.certified.delta)}. Continuous "
            f"Gaussian noise of the same size would be exactly ε = {quoted.ideal.epsilon:.3g}; "
            "that is not what is certified, so a release has slightly more noise than its "
            "preview.")
