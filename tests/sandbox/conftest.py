"""Shared by the sandbox's tests."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
