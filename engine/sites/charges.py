"""All that a site asks of its ledger: one charge for a plan, its messages one by one, the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.types import Array, Budget, Data
from engine.privacy import accounting
from engine.release import partial, published
from engine.release.books import Charge, round_loss
from engine.release.certified import Key
from engine.release.earlier_ledgers import mu_of_spends
from engine.release.ledger import Ledger, Receipt
from engine.release.plan import messages_to_bytes
from engine.release.published import Published
from engine.sites.protocol import Protocol
from engine.sources import Source


@dataclass(frozen=True)
class SitePeople:
    """Statements of the holder of a site's data about its people."""

    total: Budget | None = None  # most that all releases about them may cost, if this is the first
    same_people: bool | None = None  # whether they are those whom the ledger seems to know


@dataclass(frozen=True)
class SiteCharge:
    """The charge of a plan in the ledger of a site."""

    ledger: Ledger
    receipt: Receipt

    @classmethod
    def made(
        cls, ledger: Ledger, protocol: Protocol, site: int, source: Source[Data], people: SitePeople
    ) -> SiteCharge:
        """Charge the people of a site once for a plan; the same charge is found again.

        The whole is reserved, and what was drawn is charged round by round.
        """
        study, turns = protocol.plan.study, protocol.of_site(site)
        spends = study.certified_spends(site)
        rounds = tuple(
            round_loss(turn.noise for turn in turns if turn.round == number)
            for number in range(protocol.n_rounds)
        )
        cost = Charge(
            study.cost(site).certified, mu_of_spends(spends), accounting.total_rho(spends), rounds
        )
        description = (
            f"{study.mechanism.main_task.label} by {study.mechanism.label}, with other sites"
        )
        return cls(
            ledger,
            published.charge(
                protocol.plan.release,
                source,
                cost,
                ledger,
                description,
                people.total,
                people.same_people,
            ),
        )

    @classmethod
    def found(cls, ledger: Ledger, release_id: str) -> SiteCharge | None:
        """Find a charge by its id; None if it was never made."""
        receipt = ledger.receipt(release_id) if release_id else None
        return None if receipt is None else cls(ledger, receipt)

    @property
    def is_finished(self) -> bool:
        """True if its release is in the ledger."""
        return self.receipt.state == "drawn"

    def stored(self) -> dict[int, bytes]:
        """Give what was drawn so far, by position."""
        return partial.stored(self.ledger, self.receipt)

    def store(self, position: int, content: bytes, number: int | None = None) -> bytes:
        """Store what was drawn in a round, and give what is stored; see `partial.store`."""
        return partial.store(self.ledger, self.receipt, position, content, number)

    def close(self, drawing: int | None = None) -> None:
        """Draw nothing more under it, for ever, and return the rounds that were never drawn."""
        self.ledger.close(self.receipt, drawing)

    def finish(self, messages: Mapping[Key, Array]) -> Published:
        """Store all messages of the release, and make it from them."""
        self.ledger.store(self.receipt, messages_to_bytes(messages))
        return published.again(self.ledger, self.receipt.release_id)
