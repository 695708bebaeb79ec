"""Has this process, and those that it starts, compute in one thread each. Import it before NumPy.

Two workers on two cores with two threads each stand in each other's way.
"""

import os

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

os.environ.update(ONE_THREAD)
