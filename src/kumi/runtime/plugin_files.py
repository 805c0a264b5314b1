"""Plug-ins of placement that aren't Kumi's own: where they are found, and what they are called.

The rule   installed     every entry point of the group `kumi.plugins` of a package: its name, and the class that it names
           in a policy   each file of `plugins:` has one class with `configured` and `open`: its name is the file's, without .py
           Kumi's own names can't be taken, and no name is given twice.
Why        built-ins and strangers enter by one door: a class that kumi.engine.placement.hooks describes.
Trust      a plug-in is Python that runs in Kumi's process, with Kumi's rights: the policy's author is trusted with that.
Errors     KumiError with the file or the package. One that raises while it decides: at_fault.py.
Not here   which of them have a say: the tiers of the policy.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kumi.api.errors import KumiError
from kumi.engine.placement.plugins.registry import PLUGINS
from kumi.runtime.at_fault import KUMI, MODULE

if TYPE_CHECKING:
    from kumi.engine.placement.hooks import Configured

GROUP = "kumi.plugins"
BUILT_IN = KUMI


@dataclass(frozen=True)
class Found:
    """A plug-in and where it is from: kumi, `package x`, or the file."""

    name: str
    made: Configured
    source: str


def built_in() -> list[Found]:
    """Kumi's own, by name."""
    return [Found(name, made, BUILT_IN) for name, made in sorted(PLUGINS.items())]


def others(files: Sequence[Path] = ()) -> list[Found]:
    """Those installed, and those of the files, by name. KumiError."""
    found = [*_installed(), *(_of_file(file) for file in files)]
    taken = dict.fromkeys(PLUGINS, BUILT_IN)
    for one in found:
        if one.name in taken:
            raise KumiError(f"plug-in {one.name} of {one.source}: {taken[one.name]} has one of that name")
        taken[one.name] = one.source
    return sorted(found, key=lambda one: one.name)


def _installed() -> list[Found]:
    found = []
    for entry in sorted(entry_points(group=GROUP), key=lambda e: (e.name, e.value)):
        source = f"package {entry.dist.name}" if entry.dist is not None else entry.value
        try:
            made: Any = entry.load()
        except Exception as error:
            raise KumiError(f"plug-in {entry.name} of {source} can't be loaded: {error}") from error
        if not _is_plugin(made):
            raise KumiError(f"plug-in {entry.name} of {source}: {entry.value} lacks `configured` or `open`")
        found.append(Found(entry.name, made, source))
    return found


def _of_file(file: Path) -> Found:
    name = file.stem
    spec = importlib.util.spec_from_file_location(MODULE + name, file)
    if spec is None or spec.loader is None:
        raise KumiError(f"plug-in {file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise KumiError(f"plug-in {file} can't be loaded: {type(error).__name__}: {error}") from error
    made = [c for c in vars(module).values() if _is_plugin(c) and c.__module__ == module.__name__]
    if len(made) != 1:
        raise KumiError(f"plug-in {file} must have one class with `configured` and `open`, and has {len(made)}")
    return Found(name, made[0], str(file))


def _is_plugin(made: object) -> bool:
    return inspect.isclass(made) and hasattr(made, "configured") and hasattr(made, "open")
