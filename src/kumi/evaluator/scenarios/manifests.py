"""Manifests of a scenario: those that stand in it, and files of them, each with its place; what is wrong is noted there.

Not here   what is wrong with one: ../manifests.py; what it is for the engine: plays.py.
"""

from __future__ import annotations

from pathlib import Path

from kumi.api.errors import KumiError
from kumi.api.wire import JsonObject
from kumi.api.yaml import load_objects
from kumi.evaluator.manifests import ManifestError, checked, name_of
from kumi.evaluator.scenarios.document import Part


def listed(parts: Part) -> list[tuple[str, JsonObject]]:
    """The objects of a part, each with its place: files beside the scenario, and objects that stand in it. What is wrong is
    noted."""
    found: list[tuple[str, JsonObject]] = []
    for part in parts.items():
        if isinstance(part.value, str):
            found += _of_file(part)
        elif isinstance(part.value, dict):
            found.append((part.path, part.value))
        else:
            part.wrong("must be a manifest, or the name of a file of them")
    return found


def proven(part: Part, objects: list[tuple[str, JsonObject]]) -> list[tuple[str, JsonObject]]:
    """The same, those that are right; what is wrong with others is noted."""
    right = []
    for place, obj in objects:
        try:
            checked(obj)
        except ManifestError as error:
            for fault in error.faults:
                Part(part.document, None, place if place.startswith(part.path) else part.path).wrong(
                    f"{'' if place.startswith(part.path) else place + ': '}{name_of(obj)}: {fault}"
                )
            continue
        right.append((place, obj))
    return right


def _of_file(part: Part) -> list[tuple[str, JsonObject]]:
    path: Path = part.document.beside(part.value)
    try:
        objects = load_objects(path.read_bytes())
    except (OSError, KumiError) as error:
        part.wrong(f"{path} can't be read: {error}")
        return []
    return [(f"{path.name}, object {number}", obj) for number, obj in enumerate(objects, 1)]
