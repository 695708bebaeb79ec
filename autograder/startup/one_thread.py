"""Limits numerical libraries to one thread in this process and its children. Import it before NumPy.

Two workers with two threads each would slow each other down on two cores.
"""

import os

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

os.environ.update(ONE_THREAD)
