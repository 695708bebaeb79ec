import os
import socket
import time

for _ in range(14):
    if os.fork() == 0:
        held = []
        try:
            while True:
                held += (pair := socket.socketpair())
                for end in pair:
                    try:
                        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
                    except OSError:
                        pass
                    end.setblocking(False)
                    try:
                        while True:
                            end.send(b"x" * 65536)
                    except BlockingIOError:
                        pass
        except OSError:
            pass
        time.sleep(10)
        os._exit(0)
time.sleep(2.5)
