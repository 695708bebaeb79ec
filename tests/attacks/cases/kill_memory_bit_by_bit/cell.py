import os

hoard = []
for _ in range(2):
    os.fork()
while True:
    try:
        hoard.append(os.urandom(1 << 20) * 8)
    except MemoryError:
        pass
