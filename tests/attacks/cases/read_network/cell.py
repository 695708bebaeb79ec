say = lambda *what: print("FOUND", "IT", *what)

import socket

for family, address in (
    (socket.AF_INET, ("192.0.2.1", 80)),
    (socket.AF_INET, ("127.0.0.1", 22)),
    (socket.AF_UNIX, "\0/tmp/.X11-unix/X0"),
    (socket.AF_UNIX, "/var/run/docker.sock"),
):
    try:
        with socket.socket(family) as link:
            link.settimeout(0.3)
            link.connect(address)
            say(address)
    except OSError:
        pass
try:
    socket.getaddrinfo("example.org", 80)
    say("names")
except OSError:
    pass
