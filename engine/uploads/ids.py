"""The normal form of ids: two spellings that a person may use for one id are one id.

To merge two spellings lets one person's lines be more, which their protection covers; to split them
would protect somebody less. So every form but `EXACT` merges spellings that look alike. Letters of
two alphabets stay apart, since both may be meant; `n_alike` counts such ids for the holder.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from engine.core.enumerations import Enumeration

ROUNDED = (
    "Format the column of ids as text or whole numbers in the spreadsheet program, so that "
    "every digit is there, and save the file again. If ids are called so, put a letter in "
    "front of them."
)
"""What to do about ids that look like 1.2E+11."""


LONGEST = 1000  # bytes of an id
TOO_LONG = (
    "Check which column says who a line belongs to, or write shorter ids: "
    f"at most {LONGEST:,} bytes each."
)
"""What to do about ids that would fill the memory."""


class IdForm(Enumeration):
    """The spellings that count as one id."""

    TEXT = "text"  # blanks, invisible characters, kinds of dashes and capitals make no difference
    NUMBER = "number"  # nor do leading zeros, and .0 behind whole numbers
    EXACT = "exact"  # every spelling is another id: a statement that stands on the card


_MINUS = "\N{MINUS SIGN}"
_TEXT_SIGN = "'"  # before texts that look like numbers, in exports of spreadsheets
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0000-\U000e0fff]"
)  # letters and marks without a shape
_ROUNDED = r"^[0-9]+(\.[0-9]+)?e[+-]?[0-9]+$"
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
    folded = unicodedata.normalize("NFKC", text).casefold()
    letters = (
        "-" if kind == "Pd" or letter == _MINUS else letter
        for letter in unicodedata.normalize("NFKD", folded)
        if (kind := unicodedata.category(letter))[0] != "Z"
        and kind not in ("Cf", "Cc")
        and not _UNSEEN.match(letter)
    )
    plain = unicodedata.normalize("NFKC", "".join(letters))  # an accent may have stood apart
    plain = plain.lstrip(_TEXT_SIGN)
    whole = _WHOLE.fullmatch(plain) if form is IdForm.NUMBER else None
    return whole[1] if whole else plain


def canonical_texts(texts: pa.Array, form: IdForm = IdForm.TEXT) -> pa.Array:
    """Return `canonical` of each text, of plain ones by the array; itself where none changes."""
    if _are_canonical(texts, form):
        return texts
    if form is IdForm.EXACT:
        return pa.array([canonical(text, form) for text in texts.to_pylist()], pa.string())
    folded = pc.replace_substring_regex(pc.utf8_lower(texts), r"[\x00-\x20\x7f]", "")
    folded = pc.utf8_ltrim(folded, characters=_TEXT_SIGN)
    if form is IdForm.NUMBER:
        folded = pc.replace_substring_regex(folded, r"^0*([0-9]+?)(\.0+)?$", r"\1")
    return _where_not_plain(texts, folded, lambda text: canonical(text, form))


_CHANGED = np.isin(np.arange(256), [*range(0x21), *range(0x41, 0x5B), *range(0x7F, 256), 0x27])
_ZERO, _POINT, _E = b"0.e"


def _letters(texts: pa.Array) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Return all letters of some texts, and where those of each begin and end."""
    _, ends, letters = texts.buffers()
    if not len(texts) or letters is None:
        return np.empty(0, np.uint8), np.zeros(len(texts) + 1, np.int32)
    places = np.frombuffer(ends, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return np.frombuffer(letters, np.uint8)[places[0] : places[-1]], places - places[0]


def _are_canonical(texts: pa.Array, form: IdForm) -> bool:
    """True if all texts are plain, and no letter of theirs is one that a normal form changes."""
    letters, places = _letters(texts)
    if texts.null_count or _CHANGED[letters].any():
        return False
    if form is not IdForm.NUMBER:
        return True
    first = letters[places[:-1][places[1:] > places[:-1]]]
    return not ((first == _ZERO).any() or (letters == _POINT).any())


def earlier_texts(texts: pa.Array) -> pa.Array:
    """Return ids as version 0.5.0 told people apart: by NFC, without outer blanks and capitals."""
    return _where_not_plain(
        texts,
        pc.utf8_lower(pc.utf8_trim_whitespace(texts)),
        lambda text: unicodedata.normalize("NFC", text.strip()).strip().casefold(),
    )


def _where_not_plain(texts: pa.Array, folded: pa.Array, fold: Callable[[str], str]) -> pa.Array:
    """Replace what was folded as ASCII where a text holds more than that."""
    plain = np.asarray(pc.string_is_ascii(texts))
    if plain.all():
        return folded
    rest = texts.filter(pa.array(~plain)).to_pylist()
    return pc.replace_with_mask(folded, pa.array(~plain), pa.array(map(fold, rest), pa.string()))


_LATIN = str.maketrans(
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
    "ABEKMHOPCTYXIJSABEZHIKMNOPTYX",
)  # Cyrillic and Greek capitals to the Latin one of their shape, which no property of Unicode has


def n_alike(ids: pa.Array) -> int:
    r"""Count different ids in normal form that look like another one in mixed alphabets.

    Examples
    --------
    >>> n_alike(pa.array(["anna", "\N{CYRILLIC SMALL LETTER A}nna", "bob"]))
    2
    """
    if pc.all(pc.string_is_ascii(ids)).as_py():
        return 0
    shapes = Counter(text.upper().translate(_LATIN) for text in pc.unique(ids).to_pylist())
    return sum(number for number in shapes.values() if number > 1)


def lost_digits(ids: pa.Array) -> NDArray[np.bool_]:
    """Tell which ids in normal form look like 1.2E+11: two people may have been rounded to one."""
    if not (_letters(ids)[0] == _E).any():
        return np.zeros(len(ids), dtype=bool)
    return np.asarray(pc.match_substring_regex(ids, _ROUNDED))
