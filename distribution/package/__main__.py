"""`python -m privacy_curves`: the same as the command `privacy-curves`."""

import sys

from privacy_curves.command import main

if __name__ == "__main__":
    sys.exit(main())
