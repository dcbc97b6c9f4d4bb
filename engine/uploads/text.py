"""A table in a text file: its kind, its encoding, its separator, and its cells as text.

The content decides, never the name of the file.
"""

from __future__ import annotations

from engine.core.errors import InputError
from engine.core.lists import counted, shortened
from engine.uploads.limits import SAMPLE, SAVE, refused

ENCODINGS = ("utf-8", "latin-1", "windows-1252", "windows-1250", "utf-16")
_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_MOST_CONTROL = 0.01  # of the characters of a text

# How other kinds of file begin, and what they are called.
_MARKUP = (
    (b"%pdf-", "a PDF document"),
    (b"<!doctype html", "a web page"),
    (b"<html", "a web page"),
    (b"<table", "a web page"),
    (b"<?xml", "an XML file"),
    (b"{\\rtf", "a text document (RTF)"),
)
_BINARY = (  # only with zero bytes behind it: a column may well be called PAR1
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"\x1f\x8b", "a compressed file (gzip)"),
    (b"BZh", "a compressed file (bzip2)"),
    (b"\xfd7zXZ", "a compressed file (xz)"),
    (b"7z\xbc\xaf\x27\x1c", "an archive (7z)"),
    (b"Rar!", "an archive (rar)"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"\x89HDF", "an HDF5 file"),
    (b"SQLite format 3", "a database (SQLite)"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"$FL2", "an SPSS file"),
)


def checked_text(content: bytes, encoding: str) -> bytes:
    """Bring a text of the stated encoding to UTF-8, without a byte-order mark at its beginning."""
    marked = codec_of(content, encoding)
    try:
        is_ascii = marked == "utf-8" and content.isascii()
        text = content if is_ascii else content.decode(marked).encode()
    except UnicodeError:
        raise _wrong_encoding(content, marked, encoding.upper()) from None
    check_beginning(text)
    return text


def codec_of(content: bytes, encoding: str) -> str:
    """Return the codec of a text from its beginning, which may have a byte-order mark."""
    _refuse_other_kinds(content)
    if encoding not in ENCODINGS:
        raise refused(
            f"There is no encoding “{shortened(encoding)}”.",
            f"Choose one of {', '.join(ENCODINGS)}.",
            "encoding",
        )
    marked = next((name for mark, name in _MARKS if content.startswith(mark)), encoding)
    name = marked.removesuffix("-sig")
    if name != encoding:
        raise refused(
            f"The file begins with the mark of {name.upper()}, which is not the stated encoding.",
            "State it as “encoding” of the “frame”."
            if name in ENCODINGS
            else "Save the table as CSV UTF-8.",
            "encoding",
        )
    return marked


def check_beginning(text: bytes) -> None:
    """Refuse a text that begins with many control characters."""
    if _share_of_control(text[:SAMPLE].replace(b"\0", b"")) > _MOST_CONTROL:
        raise not_text()  # zero bytes are counted by line


def _refuse_other_kinds(content: bytes) -> None:
    markup = content[:64].lstrip().lower()
    kinds = [kind for start, kind in _MARKUP if markup.startswith(start)]
    if b"\x00" in content:
        kinds += [kind for start, kind in _BINARY if content.startswith(start)]
    if kinds:
        raise refused(f"This is not a text table but {kinds[0]}.", SAVE)
    if content.startswith(b"\xd0\xcf\x11\xe0"):  # the container of old and of locked documents
        if "EncryptedPackage".encode("utf-16-le") in content:
            raise refused(
                "This workbook is protected by a password.", "Remove the password, or save as .csv."
            )
        raise refused("This is an old workbook (.xls), which is not read.", SAVE)


def _wrong_encoding(content: bytes, codec: str, label: str) -> InputError:
    if b"\x00" in content and codec == "utf-8":
        return not_text()
    places = content.decode(codec, "replace").count("\ufffd")
    return refused(
        f"The file is not {label} text: {counted(places, 'place')} cannot be read.",
        "State its encoding (often windows-1252), or save it as CSV UTF-8.",
        "encoding",
    )


def _share_of_control(text: bytes) -> float:
    """Return the share of control characters at the beginning of a text."""
    start = text[:SAMPLE]
    left = start.translate(None, bytes(set(range(32)) - set(b"\t\n\r\f\v")))
    return 1 - len(left) / len(start) if start else 0.0


def not_text() -> InputError:
    return refused("This is not a text table.", "Save the table as CSV UTF-8 or .xlsx.")
