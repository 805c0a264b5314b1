"""The note on a pod that says which environment variables its job kind injected.

    metadata.annotations["kumi.dev/injected"] =
        {"endpoints":["PET_RDZV_ENDPOINT"],"group":"<job uid>","names":["MASTER_ADDR"],"port":23456,"ports":["MASTER_PORT"]}

Why        Where pods share the host's network, a fixed port collides between two jobs and a service name may not
           resolve. A node of that sort picks one free port for each (group, port), puts it in place of the port, and
           puts an address in place of a name. It must touch only what the kind injected, never a value that the user
           wrote, hence this note. Everywhere else it is ignored.
names      variables whose whole value is the name of a pod or service of the group
ports      variables whose whole value is the port, in decimal
endpoints  variables of the form `name:port`; a port in them that is not `port` is the user's and stays
group      the job's uid: pods of one group agree on one substitute
port       the port that the kind meant, the one that is to be replaced
Form       compact JSON, keys sorted, lists in the order of injection: the same job gives the same bytes.
"""

from __future__ import annotations

import json

import msgspec

ANNOTATION = "kumi.dev/injected"


class Injected(msgspec.Struct, frozen=True, kw_only=True):
    """What was injected; see the module. An empty `group` or a `port` of 0 means: nothing to substitute."""

    names: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    endpoints: tuple[str, ...] = ()
    group: str = ""
    port: int = 0

    @property
    def variables(self) -> tuple[str, ...]:
        """Every variable named, in the order names, ports, endpoints."""
        return (*self.names, *self.ports, *self.endpoints)


def encode(injected: Injected) -> str:
    """The annotation's value."""
    return json.dumps(msgspec.to_builtins(injected), separators=(",", ":"), sort_keys=True)


def decode(annotations: dict[str, str]) -> Injected | None:
    """What a pod's annotations say; None without the note, and for a note that can't be read (it is then not ours)."""
    text = annotations.get(ANNOTATION)
    if text is None:
        return None
    try:
        return msgspec.json.decode(text.encode(), type=Injected)
    except msgspec.DecodeError:
        return None
