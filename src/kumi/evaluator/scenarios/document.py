"""A scenario's document: YAML with parameters in it, read part by part, and all that is wrong with it told at once.

The rule   a Part is a value with its path; what is asked of it and isn't so is noted in the document's faults, and the default
           taken; `finish` tells them all: file, line, path, what is wrong and what may be
Parameters `${name}` alone is the parameter's value, within a text it is the value's text; the document's own `parameters` are
           what counts where nobody gives others
Lengths    of time are written like 90s, 1h30m or 2d; a number alone is seconds
Units      milliseconds.
Not here   what the parts mean: cluster.py, arrivals.py, outages.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from kumi.api.errors import KumiError
from kumi.api.yaml import load_all
from kumi.jobs import due
from kumi.runtime.policy_files import line_of

Value: TypeAlias = bool | int | float | str
MARK = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_-]*)\}")
NOTHING = ("0", "0s", "0d")
"""what is no time at all"""


class ScenarioError(KumiError):
    """A scenario can't be read or played; `faults` has every sentence."""

    def __init__(self, path: Path, faults: list[str]) -> None:
        self.path, self.faults = path, faults
        lines = "\n".join(f"  {fault}" for fault in faults)
        super().__init__(f"the scenario {path} is wrong:\n{lines}")

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[Path, list[str]]]:
        return type(self), (self.path, self.faults)


@dataclass(slots=True)
class Document:
    """A file and what is wrong with it."""

    path: Path
    text: bytes
    faults: list[tuple[str, str]] = field(default_factory=list)
    """(path of the part, what is wrong)"""
    files: dict[Path, None] = field(default_factory=dict)
    """which others it names"""

    def beside(self, name: str) -> Path:
        """A file that is named in it: by its place beside it."""
        found = self.path.parent / Path(name).expanduser()
        self.files[found] = None
        return found

    def finish(self) -> None:
        """ScenarioError, if anything is wrong."""
        if self.faults:
            raise ScenarioError(self.path, [self._told(*fault) for fault in dict.fromkeys(self.faults)])

    def line(self, path: str) -> int:
        """In which that part begins."""
        return line_of(self.text, path)

    def _told(self, path: str, what: str) -> str:
        return f"line {self.line(path)}: {path or 'the scenario'}: {what}"


@dataclass(frozen=True, slots=True)
class Part:
    """A value of the document, where it stands."""

    document: Document
    value: Any
    path: str = ""

    def __bool__(self) -> bool:
        return self.value is not None

    @property
    def place(self) -> str:
        """Where it stands, for people."""
        return f"{self.path} ({self.document.path.name}, line {self.document.line(self.path)})"

    def wrong(self, what: str) -> None:
        """Notes what is wrong here."""
        self.document.faults.append((self.path, what))

    def fields(self, *known: str) -> dict[str, Part]:
        """The members of a mapping, all of these: one that isn't there is a Part without a value."""
        members = self._mapping()
        for name in members:
            if name not in known:
                self._at(name, None).wrong(f"there is no such field; it may be {', '.join(known)}")
        return {name: self._at(name, members.get(name)) for name in known}

    def members(self) -> dict[str, Part]:
        """The members of a mapping, whatever their names."""
        return {name: self._at(name, value) for name, value in self._mapping().items()}

    def items(self) -> list[Part]:
        """The items of a list; one thing alone is a list of it."""
        if self.value is None:
            return []
        if not isinstance(self.value, list):
            return [self]
        return [Part(self.document, value, f"{self.path}[{i}]") for i, value in enumerate(self.value)]

    def text(self, default: str = "") -> str:
        """A text; a number as it is written."""
        if self.value is None:
            return default
        if isinstance(self.value, dict | list | bool):
            self.wrong("must be a text")
            return default
        return str(self.value)

    def word(self, *known: str) -> str:
        """One of these; the first where nothing is said."""
        found = self.text(known[0])
        if found not in known:
            self.wrong(f"{found!r} means nothing here; it may be {', '.join(known)}")
            return known[0]
        return found

    def flag(self) -> bool:
        """Yes or no; no where nothing is said."""
        if not isinstance(self.value, bool | None):
            self.wrong("must be true or false")
        return self.value is True

    def number(self, default: float, above: float | None = None) -> float:
        """A number, above that."""
        if self.value is None:
            return default
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            self.wrong(f"{self.value!r} is not a number")
            return default
        if above is not None and not self.value > above:
            self.wrong(f"must be above {above}, not {self.value}")
            return default
        return float(self.value)

    def whole(self, default: int, least: int = 0, most: int | None = None) -> int:
        """A whole number, of at least that, and at most that."""
        if self.value is None:
            return default
        if isinstance(self.value, bool) or not isinstance(self.value, int) or self.value < least:
            self.wrong(f"must be a whole number of {least} or more, not {self.value!r}")
            return default
        if most is not None and self.value > most:
            self.wrong(f"must be {most:,} at most, not {self.value:,}")
            return default
        return self.value

    def span_ms(self, default: int = 0, *, least: int = 0) -> int:
        """A length of time, of at least that."""
        if self.value is None:
            return default
        found = length_ms(self.value)
        if found is None or found < least:
            self.wrong(f"{self.value!r} is no length of time{' above 0' if least else ''}: write 90s, 1h30m or 2d")
            return default
        return found

    def _mapping(self) -> dict[str, Any]:
        if self.value is not None and not isinstance(self.value, dict):
            self.wrong("must be a mapping")
        return {str(name): value for name, value in self.value.items()} if isinstance(self.value, dict) else {}

    def _at(self, name: str, value: Any) -> Part:
        return Part(self.document, value, f"{self.path}.{name}" if self.path else name)


def length_ms(value: object) -> int | None:
    """A length of time as people write it; None: it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return round(value * 1000) if 0 <= value * 1000 < due.LONGEST_MS else None
    if not isinstance(value, str):
        return None
    return 0 if value in NOTHING else due.length_ms(value)


def read(path: Path, parameters: Mapping[str, Value]) -> Part:
    """The document, with its parameters in place. ScenarioError."""
    try:
        text = path.read_bytes()
        documents = list(load_all(text))
    except OSError as error:
        raise ScenarioError(path, [f"can't be read: {error.strerror or error}"]) from error
    except KumiError as error:
        raise ScenarioError(path, [str(error)]) from error
    if len(documents) != 1 or not isinstance(documents[0], dict):
        raise ScenarioError(path, [f"must be one YAML document, a mapping; it has {len(documents)}"])
    document = Document(path, text)
    raw = dict(documents[0])
    given = Part(document, raw.pop("parameters", None), "parameters").members()
    values = {name: part.value for name, part in given.items()}
    for name in parameters:
        if name not in values:
            document.faults.append(("parameters", f"there is no parameter {name!r}: there are {_listed(values)}"))
    filled = Part(document, _filled(raw, {**values, **parameters}, document, ""))
    document.finish()
    return filled


def _filled(value: Any, values: Mapping[str, Any], document: Document, path: str) -> Any:
    if isinstance(value, dict):
        return {k: _filled(v, values, document, f"{path}.{k}" if path else str(k)) for k, v in value.items()}
    if isinstance(value, list):
        return [_filled(v, values, document, f"{path}[{i}]") for i, v in enumerate(value)]
    if not isinstance(value, str) or "${" not in value:
        return value
    for name in _names(value):
        if name not in values:
            document.faults.append((path, f"there is no parameter {name!r}: there are {_listed(values)}"))
            return value
    alone = MARK.fullmatch(value)
    return values[alone[1]] if alone else MARK.sub(lambda mark: str(values[mark[1]]), value)


def _names(text: str) -> Iterator[str]:
    return (mark[1] for mark in MARK.finditer(text))


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(values) or "none"
