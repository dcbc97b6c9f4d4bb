"""Ed25519 and X25519 in whole numbers, for tests where the library of the extra `sites` is missing.

The same names as those of `cryptography` that the project uses. Slow, and not in constant time: for
tests alone. (RFC 8032, sections 5.1 and 6; RFC 7748, section 5.)
"""

import hashlib
from types import ModuleType

PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, PRIME) % PRIME
ROOT = pow(2, (PRIME - 1) // 4, PRIME)  # of -1


class InvalidSignature(Exception):
    """Somebody else signed, or something else was signed."""


def _add(p, q):
    """Points (x, y, z, xy/z) of the twisted Edwards curve."""
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % PRIME, (p[1] + p[0]) * (q[1] + q[0]) % PRIME
    c, d = 2 * p[3] * q[3] * D % PRIME, 2 * p[2] * q[2] % PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % PRIME, g * h % PRIME, f * g % PRIME, e * h % PRIME


def _times(number, point):
    total = (0, 1, 1, 0)
    while number:
        if number & 1:
            total = _add(total, point)
        point, number = _add(point, point), number >> 1
    return total


def _x_of(y, is_odd):
    square = (y * y - 1) * pow(D * y * y + 1, -1, PRIME) % PRIME
    x = pow(square, (PRIME + 3) // 8, PRIME)
    if (x * x - square) % PRIME:
        x = x * ROOT % PRIME
    if (x * x - square) % PRIME:
        raise ValueError("no point")
    return PRIME - x if x & 1 != is_odd else x


def _point(y, is_odd):
    x = _x_of(y, is_odd)
    return x, y, 1, x * y % PRIME


BASE = _point(4 * pow(5, -1, PRIME) % PRIME, 0)


def _to_bytes(point):
    inverse = pow(point[2], -1, PRIME)
    x, y = point[0] * inverse % PRIME, point[1] * inverse % PRIME
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _from_bytes(content):
    number = int.from_bytes(content, "little")
    return _point(number & (1 << 255) - 1, number >> 255)


def _hash(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


def _clamped(content):
    return int.from_bytes(content, "little") & (1 << 254) - 8 | 1 << 254


class _Bytes:
    def __init__(self, content):
        if len(content) != 32:
            raise ValueError("32 bytes")
        self.content = bytes(content)

    def public_bytes_raw(self):
        return self.content


class Ed25519PublicKey(_Bytes):
    @classmethod
    def from_public_bytes(cls, content):
        return cls(content)

    def verify(self, signature, content):
        s = int.from_bytes(signature[32:], "little")
        if len(signature) != 64 or s >= ORDER:
            raise InvalidSignature
        try:
            r, key = _from_bytes(signature[:32]), _from_bytes(self.content)
        except ValueError:
            raise InvalidSignature from None
        challenge = _hash(signature[:32], self.content, content) % ORDER
        if _to_bytes(_times(s, BASE)) != _to_bytes(_add(r, _times(challenge, key))):
            raise InvalidSignature


class Ed25519PrivateKey(_Bytes):
    @classmethod
    def from_private_bytes(cls, content):
        return cls(content)

    def public_key(self):
        secret = _clamped(hashlib.sha512(self.content).digest()[:32])
        return Ed25519PublicKey(_to_bytes(_times(secret, BASE)))

    def sign(self, content):
        digest = hashlib.sha512(self.content).digest()
        secret, public = _clamped(digest[:32]), self.public_key().content
        nonce = _hash(digest[32:], content) % ORDER
        r = _to_bytes(_times(nonce, BASE))
        s = (nonce + _hash(r, public, content) * secret) % ORDER
        return r + s.to_bytes(32, "little")


class X25519PublicKey(_Bytes):
    @classmethod
    def from_public_bytes(cls, content):
        return cls(content)


class X25519PrivateKey(_Bytes):
    @classmethod
    def from_private_bytes(cls, content):
        return cls(content)

    def public_key(self):
        return X25519PublicKey(_ladder(self.content, 9))

    def exchange(self, other):
        shared = _ladder(self.content, int.from_bytes(other.content, "little") & (1 << 255) - 1)
        if shared == bytes(32):
            raise ValueError("no secret can be agreed on")
        return shared


def _ladder(secret, u):
    number, x1 = _clamped(secret), u
    x2, z2, x3, z3 = 1, 0, u, 1
    for bit in reversed(range(255)):
        is_set = number >> bit & 1
        if is_set:
            x2, x3, z2, z3 = x3, x2, z3, z2
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a % PRIME, b * b % PRIME, d * a % PRIME, c * b % PRIME
        x3, z3 = pow(da + cb, 2, PRIME), x1 * pow(da - cb, 2, PRIME) % PRIME
        e = aa - bb
        x2, z2 = aa * bb % PRIME, e * (aa + 121665 * e) % PRIME
        if is_set:
            x2, x3, z2, z3 = x3, x2, z3, z2
    return (x2 * pow(z2, -1, PRIME) % PRIME if z2 else 0).to_bytes(32, "little")


def modules():
    """What to put in place of the library, by the names under which it is imported; none with it."""
    try:
        import cryptography  # noqa: F401
    except ImportError:
        pass
    else:
        return {}
    exceptions, ed25519, x25519 = (ModuleType(name) for name in ("exceptions", "ed25519", "x25519"))
    exceptions.InvalidSignature = InvalidSignature
    ed25519.Ed25519PrivateKey, ed25519.Ed25519PublicKey = Ed25519PrivateKey, Ed25519PublicKey
    x25519.X25519PrivateKey, x25519.X25519PublicKey = X25519PrivateKey, X25519PublicKey
    asymmetric = ModuleType("asymmetric")
    asymmetric.ed25519, asymmetric.x25519 = ed25519, x25519
    above = "cryptography.hazmat.primitives"
    return {
        "cryptography": ModuleType("cryptography"),
        "cryptography.exceptions": exceptions,
        "cryptography.hazmat": ModuleType("hazmat"),
        above: ModuleType("primitives"),
        f"{above}.asymmetric": asymmetric,
        f"{above}.asymmetric.ed25519": ed25519,
        f"{above}.asymmetric.x25519": x25519,
    }
