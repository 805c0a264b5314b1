"""The few kinds of field errors that every rule needs."""

from __future__ import annotations

from collections.abc import Iterable

from kumi.api.errors import FieldError


def required(path: str, detail: str = "") -> FieldError:
    """Something must be here."""
    return FieldError(path, detail, "FieldValueRequired")


def forbidden(path: str, detail: str) -> FieldError:
    """Nothing may be here."""
    return FieldError(path, detail, "FieldValueForbidden")


def not_supported(path: str, value: object, supported: Iterable[str]) -> FieldError:
    """One of these words must be here."""
    words = ", ".join(f'"{word}"' for word in supported)
    return FieldError(path, f"supported values: {words}", "FieldValueNotSupported", value)


def duplicate(path: str, value: object) -> FieldError:
    """It is there already."""
    return FieldError(path, "", "FieldValueDuplicate", value)


def not_negative(path: str, value: object) -> list[FieldError]:
    """An error for a number below 0; nothing for what is no number."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
        return [FieldError(path, "must be greater than or equal to 0", value=value)]
    return []


def immutable(path: str, new: object, old: object) -> list[FieldError]:
    """An error if it changed."""
    return [] if new == old else [FieldError(path, "field is immutable", value=new)]
