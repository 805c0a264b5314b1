"""Waits until a name resolves: what an injected init container runs on nodes that have no images.

    INIT_COMMAND + (name,)     as a container's command; exit code 0 when it resolves, 1 when it does not in time
    KUMI_HOSTS                 a hosts file to look into too, where it can't be mounted over /etc/hosts
Why        a script of its own, not `kumi wait-for`: it starts in some 20 ms, standard library only.
"""

from __future__ import annotations

import os
import socket
import sys
import time

SECONDS = 200.0
"""how long it waits at most, as the shell loop that it stands in for"""
INIT_COMMAND: tuple[str, ...] = (sys.executable, "-I", "-S", os.path.abspath(__file__))
_PAUSES_S = (0.02, 0.05, 0.1, 0.2, 0.5)
_TELL_EVERY_S = 10.0


def resolves(name: str) -> bool:
    """Whether the name has an address now."""
    if _in_file(name, os.environ.get("KUMI_HOSTS", "")):
        return True
    try:
        socket.getaddrinfo(name, None)
    except OSError:
        return False
    return True


def wait_for(name: str, seconds: float = SECONDS) -> int:
    """Waits; the exit code."""
    begin = time.monotonic()
    told = begin
    tries = 0
    while not resolves(name):
        now = time.monotonic()
        if now - begin >= seconds:
            print(f"{name} did not resolve in {seconds:.0f} s", file=sys.stderr)
            return 1
        if tries == 0 or now - told >= _TELL_EVERY_S:
            print(f"waiting for {name} to resolve", flush=True)
            told = now
        time.sleep(_PAUSES_S[min(tries, len(_PAUSES_S) - 1)])
        tries += 1
    return 0


def _in_file(name: str, path: str) -> bool:
    if not path:
        return False
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return any(name in line.split()[1:] for line in file)
    except OSError:
        return False


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: wait.py NAME [SECONDS]")
    sys.exit(wait_for(sys.argv[1], float(sys.argv[2]) if len(sys.argv) == 3 else SECONDS))
