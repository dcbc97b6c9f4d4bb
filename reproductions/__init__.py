"""Exhibits of the papers as data: a module or package for each paper, with its `PAPER`.

The engine and the pages reach it through `engine.exhibits` alone.
"""

from reproductions import claims, files, question, words
from reproductions.exhibits import (
    Claim,
    Exhibit,
    Finding,
    Paper,
    Result,
    RowFiles,
    WorkProgress,
    frame,
    n_pieces,
    run,
    versions,
)
from reproductions.shelf import find, names, papers, quick

__all__ = [
    "Claim",
    "Exhibit",
    "Finding",
    "Paper",
    "Result",
    "RowFiles",
    "WorkProgress",
    "claims",
    "files",
    "find",
    "frame",
    "n_pieces",
    "names",
    "papers",
    "question",
    "quick",
    "run",
    "versions",
    "words",
]
