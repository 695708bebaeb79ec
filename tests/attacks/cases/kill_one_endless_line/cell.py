import os

print("x" * 100_000_000)
try:
    os.write(1, b"y" * 100_000_000)
except OSError:
    pass
