"""Fields: a mapping that somebody wrote, read field by field, every wrong one told with its path.

The rule       a reader asks a section for each field that it knows, by its kind, and gets what was written, or the default where
               nothing was (null is nothing) or where it is wrong. At the end every field that nobody asked for is not known.
Units          durations as Go writes them (1h30m, 5m0s, 500ms, 0) become milliseconds, rounded up; quantities become
               thousand-millionths.
Source         Kubernetes: API conventions (field errors). Go: time.ParseDuration.
Not here       which fields there are: configuration.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar

from kumi.api.errors import FieldError
from kumi.api.quantity import QuantityError, nano

T = TypeVar("T")

_DURATION = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?P<unit>ns|us|µs|ms|s|m|h)")
_MS = {
    "ns": Fraction(1, 10**6),
    "us": Fraction(1, 1000),
    "µs": Fraction(1, 1000),
    "ms": Fraction(1),
    "s": Fraction(1000),
    "m": Fraction(60_000),
    "h": Fraction(3_600_000),
}
_MOST_MS = 2**53


@dataclass(frozen=True, slots=True)
class Section:
    """The fields of one mapping. Each is asked for once, by its kind; `done` tells those that nobody asked for."""

    path: str
    raw: Mapping[str, Any]
    errors: list[FieldError]
    asked: dict[str, None] = field(default_factory=dict)

    def wrong(self, name: str, detail: str, type_: str = "FieldValueInvalid", value: object = None) -> None:
        """The field is wrong."""
        path = f"{self.path}.{name}" if name else self.path
        self.errors.append(FieldError(path, detail, type_, value))

    def skip(self, name: str) -> None:
        """The field may be there."""
        self.asked[name] = None

    def done(self) -> None:
        """Every other field is not known."""
        for key in self.raw:
            if key not in self.asked:
                known = ", ".join(f'"{name}"' for name in sorted(self.asked))
                self.wrong(str(key), f"unknown field; known are {known}", "FieldValueForbidden")

    def flag(self, name: str, default: bool) -> bool:
        """true or false."""
        return self._of(name, bool, default, "must be true or false")

    def text(self, name: str, default: str) -> str:
        """A text."""
        return self._of(name, str, default, "must be a text")

    def word(self, name: str, words: Sequence[str], default: str) -> str:
        """One of these words."""
        found = self.text(name, default)
        if found in words:
            return found
        self.wrong(name, f"supported values: {_quoted(words)}", "FieldValueNotSupported", found)
        return default

    def words(self, name: str, words: Sequence[str]) -> tuple[str, ...]:
        """A list of these words, each once."""
        found: list[str] = []
        for n, one in enumerate(self._list(name)):
            if one not in words:
                self.wrong(f"{name}[{n}]", f"supported values: {_quoted(words)}", "FieldValueNotSupported", one)
            elif one in found:
                self.wrong(f"{name}[{n}]", "each once", "FieldValueDuplicate", one)
            else:
                found.append(one)
        return tuple(found)

    def integer(self, name: str, default: int | None) -> int | None:
        """A whole number, not negative."""
        found = self._given(name)
        if found is None:
            return default
        if isinstance(found, bool) or not isinstance(found, int) or found < 0:
            self.wrong(name, "must be a whole number, not negative", value=found)
            return default
        return found

    def duration(self, name: str, default: int, least: int = 0) -> int:
        """Milliseconds of a duration as Go writes it, rounded up."""
        found = self._given(name)
        if found is None:
            return default
        ms = duration_ms(found) if isinstance(found, str) else None
        if ms is None or ms < least:
            self.wrong(
                name, "must be a duration such as 5m or 1h30m, and more than nothing where it has to be", value=found
            )
            return default
        return ms

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        found = self._list(name)
        for n, one in enumerate(found):
            if not isinstance(one, str):
                self.wrong(f"{name}[{n}]", "must be a text", "FieldValueTypeInvalid")
        return tuple(one for one in found if isinstance(one, str))

    def items(self, name: str) -> list[Section]:
        """A list of mappings."""
        found = []
        for n, one in enumerate(self._list(name)):
            if isinstance(one, Mapping):
                found.append(Section(f"{self.path}.{name}[{n}]", one, self.errors))
            else:
                self.wrong(f"{name}[{n}]", "must be a mapping", "FieldValueTypeInvalid")
        return found

    def within(self, name: str) -> Section:
        """A mapping; empty where it isn't there."""
        found = self._given(name)
        if found is not None and not isinstance(found, Mapping):
            self.wrong(name, "must be a mapping", "FieldValueTypeInvalid")
        return Section(f"{self.path}.{name}", found if isinstance(found, Mapping) else {}, self.errors)

    def numbers(self, name: str) -> tuple[tuple[str, float], ...]:
        """A mapping of names to numbers, not negative."""
        found = []
        for key, one in self._pairs(name):
            if isinstance(one, bool) or not isinstance(one, int | float) or not 0 <= one < float("inf"):
                self.wrong(f"{name}[{key}]", "must be a number, not negative", value=one)
            else:
                found.append((key, float(one)))
        return tuple(found)

    def quantities(self, name: str) -> tuple[tuple[str, int], ...]:
        """A mapping of names to quantities, in thousand-millionths."""
        found = []
        for key, one in self._pairs(name):
            try:
                found.append((key, nano(one)))
            except QuantityError as error:
                self.wrong(f"{name}[{key}]", str(error), value=one)
        return tuple(found)

    def _pairs(self, name: str) -> list[tuple[str, Any]]:
        return sorted(((str(key), one) for key, one in self.within(name).raw.items()), key=lambda pair: pair[0])

    def _list(self, name: str) -> Sequence[Any]:
        return self._of(name, list, [], "must be a list")

    def _of(self, name: str, type_: type[T], default: T, detail: str) -> T:
        found = self._given(name)
        if found is None:
            return default
        if not isinstance(found, type_):
            self.wrong(name, detail, "FieldValueTypeInvalid")
            return default
        return found

    def _given(self, name: str) -> Any:
        self.asked[name] = None
        return self.raw.get(name)


def duration_ms(text: str) -> int | None:
    """Milliseconds of a duration as Go writes it (1h30m, 500ms, 0), rounded up; None where it is none, or negative."""
    if text in ("0", "+0"):
        return 0
    parts = list(_DURATION.finditer(text))
    if not parts or "".join(part.group() for part in parts) != text.removeprefix("+"):
        return None
    total = sum((Fraction(part["number"].rstrip(".") or 0) * _MS[part["unit"]] for part in parts), Fraction(0))
    return min(_MOST_MS, -(-total // 1))


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)
