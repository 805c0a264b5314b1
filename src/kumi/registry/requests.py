"""What a caller asks of the registry: what it is about (Target) and how (options)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from kumi.api.scheme import Kind
from kumi.api.user import User

FieldValidation = Literal["Strict", "Warn", "Ignore"]


@dataclass(frozen=True)
class Target:
    """What a request is about: `version` is the served version that the caller speaks ("" = stored)."""

    kind: Kind
    namespace: str = ""
    name: str = ""
    version: str = ""
    subresource: str = ""


@dataclass
class WriteOptions:
    """Options of create, update and patch. `warnings` and `created` are filled by the call: what the writer is to be warned of
    (Warning headers), and whether the object is new. `repeated`: a sentence for each field that the body gives twice."""

    dry_run: bool = False
    field_validation: FieldValidation = "Warn"
    field_manager: str = ""
    force: bool = False
    user: User | None = None
    """who writes; None: a loop of this process, which may write anything"""
    repeated: tuple[str, ...] = ()
    warnings: list[str] = field(default_factory=list)
    created: bool = False

    def warn(self, texts: Iterable[str]) -> None:
        """Adds warnings, each once: a write that is tried again says the same again."""
        self.warnings += [text for text in texts if text not in self.warnings]


@dataclass(frozen=True)
class ListOptions:
    """Options of list, watch and deletecollection."""

    labels: str = ""
    fields: str = ""
    limit: int = 0
    token: str = ""
    revision: str = ""
    revision_match: str = ""
    bookmarks: bool = False
    send_initial_events: bool = False


@dataclass(frozen=True)
class DeleteOptions:
    """Options of delete. `grace_seconds` None takes the object's own; `propagation` "" takes the kind's own."""

    uid: str = ""
    revision: str = ""
    grace_seconds: int | None = None
    propagation: str = ""
    dry_run: bool = False
    user: User | None = None
    """who deletes; None: a loop of this process"""
