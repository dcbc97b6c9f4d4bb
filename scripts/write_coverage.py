"""Write `docs/coverage.md`, the table of all items of the documents, from `data/coverage.tsv`.

.venv/bin/python -m scripts.write_coverage
"""

from pathlib import Path

from reproductions import coverage

FILE = Path(__file__).parents[1] / "docs" / "coverage.md"


def main() -> None:
    """Write the file anew."""
    FILE.write_text(coverage.as_markdown(), "utf-8")


if __name__ == "__main__":
    main()
