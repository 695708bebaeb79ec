import logging
import os
import warnings

warnings.warn("just saying")
logging.warning("just logging")
os.write(2, b"a library says something\n")
np.zeros(1) / 0
