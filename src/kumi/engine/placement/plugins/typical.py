"""Typical tasks: what a cluster's tasks are like, as a table that rules about fragmentation look at.

The rule       a row: cpu (thousandths), the share of one GPU (thousandths) or how many whole ones, the GPU models that it may
               have (none: any), how often there are such tasks (a whole number). Rows with the same content are one.
Written        a list of mappings: cpu (a quantity), share (1 to 999) or gpus (a whole number), models, weight (1)
Of a load      `of_shapes` counts the tasks of a load, or of a cluster; tasks without GPUs are in it: they count in the whole
Order          by content: equal tables are equal, whatever the order in which tasks came
Units          thousandths of a core and of a device.
Source         "Beware of Fragmentation" (USENIX ATC 2023), the target workload.
Not here       what is made of it: fragmentation.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from kumi.api.errors import FieldError, KumiError
from kumi.api.quantity import format_amount, parse_amount
from kumi.engine.model import PodShape
from kumi.engine.placement.devices import WHOLE, asked

MODEL = "kumi.dev/gpu-model"
"""the node label that says which GPUs a node has"""


class Typical(NamedTuple):
    """A row. `share` 0: `gpus` whole devices; both 0: none."""

    cpu: int
    share: int
    gpus: int
    models: tuple[str, ...]
    weight: int


Table: TypeAlias = tuple[Typical, ...]


def of_shapes(shapes: Iterable[tuple[PodShape, int]]) -> Table:
    """The table of tasks of these shapes, each so many times."""
    counts: dict[tuple[int, int, int, tuple[str, ...]], int] = {}
    for shape, count in shapes:
        cpu = dict(shape.requests).get("cpu", 0)
        gpus = 0 if shape.share else -(-asked(shape) // WHOLE)
        key = (cpu, shape.share, gpus, models(shape))
        counts[key] = counts.get(key, 0) + count
    return tuple(sorted(Typical(*key, count) for key, count in counts.items() if count > 0))


def models(shape: PodShape) -> tuple[str, ...]:
    """The GPU models that such a pod may have; () any."""
    found = [value for key, value in shape.node_selector if key == MODEL]
    terms = shape.affinity or ()
    if len(terms) == 1:
        for requirement in terms[0]:
            if requirement.key == MODEL and requirement.operator == "In":
                found += requirement.values
    return tuple(sorted(dict.fromkeys(found)))


def to_text(table: Table) -> str:
    """As it stands in a profile's arguments; `parse(json.loads(...))` gives it back."""
    return json.dumps([_written(row) for row in table], separators=(",", ":"))


def parse(written: Any, path: str, errors: list[FieldError]) -> Table:
    """A table that somebody wrote. What is wrong with it goes to `errors`, with its path."""
    if not isinstance(written, list):
        errors.append(FieldError(path, "must be a list of mappings", "FieldValueTypeInvalid"))
        return ()
    rows = [_row(one, f"{path}[{number}]", errors) for number, one in enumerate(written)]
    counts: dict[tuple[int, int, int, tuple[str, ...]], int] = {}
    for row in rows:
        if row is not None:
            counts[row[:4]] = counts.get(row[:4], 0) + row.weight
    return tuple(sorted(Typical(*key, weight) for key, weight in counts.items()))


def _written(row: Typical) -> dict[str, Any]:
    made: dict[str, Any] = {"cpu": format_amount("cpu", row.cpu), "weight": row.weight}
    if row.share:
        made["share"] = row.share
    if row.gpus:
        made["gpus"] = row.gpus
    if row.models:
        made["models"] = list(row.models)
    return made


def _row(one: Any, path: str, errors: list[FieldError]) -> Typical | None:
    before = len(errors)
    if not isinstance(one, Mapping):
        errors.append(FieldError(path, "must be a mapping", "FieldValueTypeInvalid"))
        return None
    for key in one:
        if key not in ("cpu", "share", "gpus", "models", "weight"):
            errors.append(FieldError(f"{path}.{key}", "unknown field", "FieldValueForbidden"))
    share = _whole(one, "share", 0, WHOLE - 1, path, errors)
    gpus = _whole(one, "gpus", 0, None, path, errors)
    weight = _whole(one, "weight", 1, None, path, errors)
    if share and gpus not in (0, 1):
        errors.append(FieldError(f"{path}.gpus", "a share is of one GPU", "FieldValueInvalid", gpus))
    cpu = 0
    try:
        cpu = parse_amount("cpu", str(one.get("cpu", 0)))
    except KumiError as error:
        errors.append(FieldError(f"{path}.cpu", str(error), "FieldValueInvalid", one.get("cpu")))
    allowed = one.get("models", [])
    if not isinstance(allowed, list) or not all(isinstance(model, str) for model in allowed):
        errors.append(FieldError(f"{path}.models", "must be a list of names", "FieldValueTypeInvalid"))
    if len(errors) > before:
        return None
    return Typical(cpu, share, 0 if share else gpus, tuple(sorted(dict.fromkeys(allowed))), weight)


def _whole(one: Mapping[str, Any], key: str, least: int, most: int | None, path: str, errors: list[FieldError]) -> int:
    value = one.get(key, least)
    if isinstance(value, bool) or not isinstance(value, int) or value < least or (most is not None and value > most):
        said = f"must be a whole number, at least {least}" + (f", at most {most}" if most is not None else "")
        errors.append(FieldError(f"{path}.{key}", said, "FieldValueInvalid", value))
        return least
    return value
