"""One-time pads between pairs of sites, so that only the sum of all their messages can be read.

Each pair of sites agrees on a secret by X25519, from the keys of their offers, which serve one
study. From it follows, for each round, a stream of 64-bit numbers. The one of the pair that stands
first in the plan adds them to its message and the other takes them away, modulo 2^64. Whoever lacks
one of the pads sees uniform numbers; in the sum of all messages every pad cancels. Sites that work
together know the pads between them and the rest, and so learn the sum over the rest, and nothing
else: pads within the rest stay secret.

A pad is used once. The digest of the plan, the round and the digest of all that was heard before
are in what it is derived from, and a site sends one message a round (`engine.sites.site`). If a
site never answers, the sum of that round cannot be read, and the run ends without it.

References
----------
Bonawitz and others (2017), Practical secure aggregation for privacy-preserving machine learning,
CCS, for pads between pairs; RFC 7748 for X25519; RFC 5869 for HKDF, with SHA-256; FIPS 202 for
SHAKE256, which makes the stream.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import InputError

_MODULUS = 1 << 64
_HALF = 1 << 63


def public_half(secret: bytes) -> str:
    """Give what an offer names of a key for pads, in hex."""
    public: bytes = (
        _x25519().X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()
    )
    return public.hex()


def agreed(secret: bytes, public: str) -> bytes:
    """Agree on a secret: the same from either secret and the other’s public half."""
    library = _x25519()
    try:
        shared: bytes = library.X25519PrivateKey.from_private_bytes(secret).exchange(
            library.X25519PublicKey.from_public_bytes(bytes.fromhex(public))
        )
    except ValueError:
        raise InputError(
            "A key for pads of the plan is none.",
            field="pads",
            hint="Nothing more is drawn. Ask for new offers.",
        ) from None
    return shared


def mask(secret: bytes, publics: Sequence[str], site: int, context: bytes, n: int) -> list[int]:
    """Sum the pads of one site, modulo 2^64: what it adds to its n numbers.

    `publics` are the public halves of all sites in the order of the plan, `site` its place in them;
    `context` is the same for all sites in this round, and in no other.
    """
    total = np.zeros(n, dtype=np.uint64)
    for other, public in enumerate(publics):
        if other != site:
            pad = stream(agreed(secret, public), context, n)
            total = total + pad if site < other else total - pad  # modulo 2^64
    return [int(number) for number in total]


def stream(shared: bytes, context: bytes, n: int) -> Any:
    """Draw the pad of one pair in one round: (n,) numbers of 64 bits."""
    extracted = hmac.new(b"privacy curves: pads", shared, hashlib.sha256).digest()
    key = hmac.new(extracted, context + b"\x01", hashlib.sha256).digest()
    return np.frombuffer(hashlib.shake_256(key).digest(8 * n), dtype="<u8").astype(np.uint64)


def added(numbers: Sequence[int], masks: Sequence[int]) -> tuple[int, ...]:
    """Add modulo 2^64, from −2^63 on, as messages hold numbers.

    Examples
    --------
    >>> added([5, -1], [2**64 - 3, 2**63])
    (2, 9223372036854775807)
    """
    return tuple(
        (number + mask + _HALF) % _MODULUS - _HALF
        for number, mask in zip(numbers, masks, strict=True)
    )


class _X25519:
    """The two names of `cryptography` that are used."""

    def __init__(self) -> None:
        from cryptography.hazmat.primitives.asymmetric import x25519

        self.X25519PrivateKey: Any = x25519.X25519PrivateKey
        self.X25519PublicKey: Any = x25519.X25519PublicKey


def _x25519() -> _X25519:
    try:
        return _X25519()
    except ImportError:
        raise InputError(
            "Sums that only all sites together can read need the library “cryptography”.",
            field="key",
            hint='Install the extra: pip install ".[sites]".',
        ) from None
