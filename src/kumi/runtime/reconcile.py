"""What a loop is: a pure function from (view, key, now) to writes, a time to look again, and events to tell.

    reconcile(view, key, now_ms) -> Outcome

It is level-triggered and idempotent: it looks at what is, not at what happened, and asking twice changes nothing.
The manager (kumi.runtime.manager) does the writes in order; a 404 on a delete and a 409 AlreadyExists on a create
count as done, a Conflict or a lost connection puts the key back with back-off. A key is never in two hands at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from kumi.api.meta import Object
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.runtime.client import PatchType, Propagation
from kumi.runtime.view import View


@dataclass(frozen=True)
class Create:
    """Makes `object`; `subresource` "binding" binds a pod."""

    object: JsonObject
    subresource: str = ""


@dataclass(frozen=True)
class Patch:
    """Changes what is there. Put `metadata.resourceVersion` in `body` when the decision depends on what was read."""

    kind: Kind
    namespace: str
    name: str
    body: JsonObject | list[JsonObject]
    subresource: str = ""
    type: PatchType = "merge"


@dataclass(frozen=True)
class Delete:
    """Deletes the object with that uid and no other; with `revision` only as it was read."""

    kind: Kind
    namespace: str
    name: str
    uid: str
    grace_seconds: int | None = None
    propagation: Propagation = "Background"
    revision: str = ""


Write: TypeAlias = Create | Patch | Delete


@dataclass(frozen=True)
class Note:
    """A Kubernetes Event about `about` (an object reference: apiVersion, kind, namespace, name, uid)."""

    about: JsonObject
    reason: str
    message: str
    type: str = "Normal"


@dataclass(frozen=True)
class Outcome:
    """What one look at a key leads to. `wake_at_ms`: look again then even if nothing changes."""

    writes: tuple[Write, ...] = ()
    notes: tuple[Note, ...] = ()
    wake_at_ms: int | None = None


NOTHING = Outcome()

Keys: TypeAlias = Callable[[Object], Sequence[str]]
"""Which keys of the loop a change of this object concerns."""


Related: TypeAlias = Callable[[Object, View], Sequence[str]]
"""Which keys a change of this object concerns, found by looking at others (which services select a pod)."""


Matters: TypeAlias = Callable[[Object, Object], bool]
"""Whether the change from one object to the other concerns any key."""


@dataclass(frozen=True)
class Watches:
    """The kinds a loop reads, and for each the keys that a change concerns; `labels` are those it looks up by.

    `related` adds keys to those of `keys` for changes, not at the start: then every object has its own key looked at. `matters`:
    of a type, which changes concern anybody (all, where it isn't named): a status that is written twice a second need not."""

    keys: dict[type[Object], Keys]
    labels: tuple[str, ...] = field(default=())
    related: dict[type[Object], Related] = field(default_factory=dict)
    matters: dict[type[Object], Matters] = field(default_factory=dict)


def no_keys(_: Object) -> tuple[str, ...]:
    """Keys of a type that a loop only reads, or whose changes concern it through `related`."""
    return ()


def own_key(obj: Object) -> tuple[str, ...]:
    """Keys of the type that a loop is about."""
    return (obj.key,)


class Controller(Protocol):
    """A loop. `name` is unique and is the `reportingComponent` of its events."""

    name: str

    @property
    def watches(self) -> Watches:
        """What it reads."""
        ...

    def reconcile(self, view: View, key: str, now_ms: int) -> Outcome:
        """One look."""
        ...
