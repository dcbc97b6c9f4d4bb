"""The normal form of ids: two spellings that a person may use for one id are one id.

To merge two spellings lets one person's lines be more, which their protection covers; to split them
would protect somebody less. So every form but `EXACT` merges whatever looks alike.
"""

from __future__ import annotations

import re
import unicodedata

from engine.core.enumerations import Enumeration


class IdForm(Enumeration):
    """Which spellings are one id."""

    TEXT = "text"  # blanks, invisible characters, kinds of dashes and capitals make no difference
    NUMBER = "number"  # nor do leading zeros, and .0 behind whole numbers
    EXACT = "exact"  # every spelling is another id: a statement that stands on the card


_WHOLE = re.compile(r"0*([0-9]+?)(?:\.0+)?")


def canonical(text: str, form: IdForm = IdForm.TEXT) -> str:
    r"""Return an id in its normal form; "" where nothing visible is left.

    Examples
    --------
    >>> canonical(" Child\u201007\u200b") == canonical("CHILD-07")
    True
    >>> canonical("007.0", IdForm.NUMBER)
    '7'
    """
    if form is IdForm.EXACT:
        return unicodedata.normalize("NFC", text)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    letters = ("-" if kind == "Pd" else letter for letter in folded
               if (kind := unicodedata.category(letter))[0] != "Z" and kind not in ("Cf", "Cc"))
    plain = "".join(letters)
    whole = _WHOLE.fullmatch(plain) if form is IdForm.NUMBER else None
    return whole[1] if whole else plain
