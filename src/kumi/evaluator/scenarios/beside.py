"""Beside: a Python file may import modules that stand in its own folder, as a script may.

    with beside:        the folder comes first on the path, and what was imported from there before is there again
        ...
    beside.files        the modules of the folder that were imported

The rule   while the block goes on, modules come from the folder first. Those that came from there are taken out of sys.modules in
           the end, and put back for the next block. What was imported before the first block stays as it is, whatever its folder
Why        two generators may each have a `jobs.py` of their own; and a notebook that plays a changed one again gets the new one.
Cost       some microseconds a block in which nothing is imported.
Not here   which files: python.py.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType


class Beside:
    """See the module. `path`: of the file that imports."""

    def __init__(self, path: Path) -> None:
        self._folder = path.absolute().parent
        self._mine: dict[str, ModuleType] = {}
        self._known: frozenset[str] | None = None
        """what was there before the first block"""
        self._before = 0

    @property
    def files(self) -> tuple[Path, ...]:
        """See the module."""
        return tuple(Path(module.__file__) for module in self._mine.values() if module.__file__)

    def __enter__(self) -> None:
        if self._known is None:
            self._known = frozenset(sys.modules)
        sys.modules.update(self._mine)
        sys.path.insert(0, str(self._folder))
        self._before = len(sys.modules)

    def __exit__(self, *error: object) -> None:
        if str(self._folder) in sys.path:
            sys.path.remove(str(self._folder))
        if len(sys.modules) != self._before:
            self._mine.update((name, module) for name, module in list(sys.modules.items()) if self._is_mine(name))
        for name in self._mine:
            sys.modules.pop(name, None)

    def _is_mine(self, name: str) -> bool:
        """Whether the module came from the folder: by the place of the package that it is part of."""
        top = name.partition(".")[0]
        if self._known is None or top in self._known:
            return False
        whole = sys.modules.get(top)
        places = [*getattr(whole, "__path__", ()), getattr(whole, "__file__", None) or ""]
        return any(Path(place).parent == self._folder for place in places if place)
