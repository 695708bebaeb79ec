say = lambda *what: print("FOUND", "IT", *what)

import os

for top, folders, files in os.walk("/"):
    folders[:] = [f for f in folders if f not in ("proc", "sys", "dev", "site-packages", "usr")]
    own = top.startswith((os.path.expanduser("~"), "/tmp", "/dev/shm"))
    if not own and (os.access(top, os.W_OK) or any(os.access(f"{top}/{file}", os.W_OK) for file in files[:50])):
        say(top)
