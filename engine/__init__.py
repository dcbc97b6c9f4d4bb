"""Privacy Curves: what differential privacy costs when the data are curves."""

import os

__version__ = "0.1.0"

# Results are equal to the last bit wherever they are made, and sums over several BLAS threads are
# not; more threads also cost nine times the processor time for nothing. Read once, by numpy.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
