"""Code shared by pages.

The framework puts the folder of its main script, this one, first into `sys.path` for each run of a
page and takes it out at the end. An import in another thread, such as that of a job's result, walks
along that list meanwhile, passes over an entry and misses its module. A folder that is in the list
already is left there; last, it hides nobody's modules.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
