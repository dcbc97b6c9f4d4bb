"""Write the tables of constants into `docs/methods/`, as the engine computes them now.

.venv/bin/python -m scripts.write_method_tables
"""

from __future__ import annotations

import re

from engine.handbook import DOCS, method_keys
from engine.topics.compare.method_constants import constants_of

_TABLE = re.compile(r"(?<=^## Constants\n)(.*?)(?:^\|[^\n]*\n)+", re.DOTALL | re.MULTILINE)


def main() -> None:
    for key in method_keys():
        found, file = constants_of(key), DOCS / "methods" / f"{key}.md"
        if found is not None:
            file.write_text(
                _TABLE.sub(
                    lambda m, new=found: m[1] + new.markdown + "\n",
                    file.read_text("utf-8"),
                    count=1,
                ),
                "utf-8",
            )


if __name__ == "__main__":
    main()
