"""Code shared by pages.

The framework inserts the folder of its main script, this one, at the head of `sys.path` for each
run of a page and removes it at the end. An import in another thread, such as that of a job's
result, then skips an entry of the changing list and misses its module. The framework leaves a
folder that is already in the list; at the end it hides no other module.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
