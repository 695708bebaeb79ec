say = lambda *what: print("FOUND", "IT", *what)

import ctypes
import os

libc = ctypes.CDLL(None)
for name, arguments in (
    ("mount", (b"none", b"/tmp", b"tmpfs", 0, None)),
    ("umount2", (b"/course", 2)),
    ("chroot", (b"/tmp",)),
    ("setuid", (0,)),
    ("unshare", (0x10000000,)),
    ("sethostname", (b"owned", 5)),
    ("ptrace", (16, 1, 0, 0)),
):
    if getattr(libc, name)(*arguments) == 0:
        say(name)
for path, text in (("/proc/sys/kernel/core_pattern", "|/tmp/x"), ("/proc/self/oom_score_adj", "-1000"), ("/proc/1/mem", "")):
    try:
        open(path, "w").write(text)
        if text:
            say(path)
    except OSError:
        pass
