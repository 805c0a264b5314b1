"""Admission: what may change or refuse an object on its way in. The registry calls hooks in order, `jobs` provides one."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

from kumi.api.errors import FieldError
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject

Operation = Literal["CREATE", "UPDATE"]


class AdmissionHook(Protocol):
    """Sees whole objects in the stored version, after defaulting; never called for writes to a subresource."""

    def mutate(self, operation: Operation, kind: Kind, new: JsonObject, old: JsonObject | None) -> None:
        """Changes `new` in place."""
        ...

    def validate(self, operation: Operation, kind: Kind, new: JsonObject, old: JsonObject | None) -> list[FieldError]:
        """Every wrong field; an empty list admits."""
        ...

    def warnings(self, operation: Operation, kind: Kind, new: JsonObject) -> list[str]:
        """What the writer should be warned of (Warning headers)."""
        ...


@runtime_checkable
class DeletionHook(Protocol):
    """A hook that may keep objects from being deleted."""

    def deleting(self, kind: Kind, obj: JsonObject) -> None:
        """ApiError: the object has to stay."""
        ...
