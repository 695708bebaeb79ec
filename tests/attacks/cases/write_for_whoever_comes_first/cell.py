say = lambda *what: print("FOUND", "IT", *what)

import glob
import os
from multiprocessing import shared_memory

places = ["/tmp", "/dev/shm", "/var/tmp", "/run", os.path.expanduser("~"), os.getcwd(), "/course"]
if any(glob.glob(f"{place}/mark*") for place in places):
    say("a file")
try:
    shared_memory.SharedMemory("mark")
    say("shared memory")
except OSError:
    shared_memory.SharedMemory("mark", create=True, size=10)
for place in places:
    try:
        open(f"{place}/mark1", "w").close()
    except OSError:
        pass
