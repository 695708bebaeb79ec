"""Settings for every test: a fixed salt, one thread."""

import os

os.environ.setdefault("COURSE_SALT", "the tests' salt")
os.environ.setdefault("OMP_NUM_THREADS", "1")
