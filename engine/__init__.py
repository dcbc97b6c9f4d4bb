"""Privacy Curves: what differential privacy costs when the data are curves.

The way of a number: `sources` and `uploads` give data, `mechanisms` clip and add noise, `privacy`
counts the cost, `topics` turn answers into sentences and charts. *Where to look* in
`docs/architecture.md` says which file answers which question.
"""

import os
import sys

__version__ = "0.13.2"


def use_one_blas_thread() -> None:
    """Have numpy use one thread, where it is not loaded yet and nothing else was asked for.

    Results are equal to the last bit wherever they are made, and sums over several threads need
    not be; more threads also cost nine times the processor time for nothing.
    """
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


if "numpy" not in sys.modules:  # else it is too late, and must not look as if it were not
    use_one_blas_thread()
