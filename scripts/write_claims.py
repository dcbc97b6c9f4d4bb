"""Write `data/claims.tsv`, the verdict of every claim, and the claims within stored results.

.venv/bin/python -m scripts.write_claims
"""

from pathlib import Path

from engine.exhibits import FORMS
from reproductions import claims, files
from reproductions.shelf import papers

FILE = Path(__file__).parents[1] / "data" / "claims.tsv"


def main() -> None:
    """Write the table anew; the tables of results stay as they are."""
    for paper in papers():
        for exhibit in paper.exhibits:
            for form in FORMS:
                result = files.stored(paper, exhibit, form)
                if result is not None:
                    path = files.path_of(paper, exhibit, form)
                    path.write_text(files.as_json(paper, exhibit, result), "utf-8")
    FILE.write_text(claims.as_tsv(), "utf-8")


if __name__ == "__main__":
    main()
