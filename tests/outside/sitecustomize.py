"""Note every address beyond this machine that a process of Python looks up or connects to.

Python imports this module at the start of every process that has this folder on its path, workers
included; what is asked for is appended to the file named by `OUTSIDE`.
"""

import ipaddress
import os
import socket
import sys

LOOK_UPS = {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}
CONNECTIONS = {"socket.connect", "socket.sendto", "socket.sendmsg"}


def is_here(host):
    """True for this machine: no name, its own short name, or a loopback address."""
    if not host or host in ("localhost", b"localhost"):
        return True
    try:
        address = ipaddress.ip_address(host.decode() if isinstance(host, bytes) else host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def note(event, arguments):
    if event in LOOK_UPS:
        host = arguments[0]
    elif event in CONNECTIONS and isinstance(arguments[1], tuple):  # else a socket of this machine
        host = arguments[1][0]
    else:
        return
    if not is_here(host):
        with open(os.environ["OUTSIDE"], "a", encoding="utf-8") as file:
            file.write(f"{event} {host!r}\n")


class Socket(socket.socket):
    """A socket that listens to this machine alone where it is told to listen everywhere."""

    def bind(self, address):
        if isinstance(address, tuple) and address[0] == "0.0.0.0":
            address = ("127.0.0.1", *address[1:])
        super().bind(address)


if "OUTSIDE" in os.environ:
    sys.addaudithook(note)
    socket.socket = Socket
