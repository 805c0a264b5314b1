"""Named: a table of what a file may name, each imported when it is first asked for.

Why           the names alone say whether a file is right; most files name a few of some forty plug-ins and actions, and to import
              them all is a third of what a short command costs.
Errors        KeyError for a name that isn't there.
Cost          O(1); the first time that of an import.
Not here      which there are: plugins/registry.py, actions/__init__.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TypeVar

V = TypeVar("V")


class Named(Mapping[str, V]):
    """See the module. `where`: "module:attribute" by name."""

    def __init__(self, where: Mapping[str, str]) -> None:
        self.where = dict(where)
        self._found: dict[str, V] = {}

    def joined(self, more: Mapping[str, V]) -> Named[V]:
        """This table and those, which go first."""
        if not more:
            return self
        made = Named[V]({**self.where, **dict.fromkeys(more, "")})
        made._found.update(more)
        return made

    def __getitem__(self, name: str) -> V:
        if name not in self._found:
            module, _, attribute = self.where[name].partition(":")
            self._found[name] = getattr(import_module(module), attribute)
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in self.where

    def __iter__(self) -> Iterator[str]:
        return iter(self.where)

    def __len__(self) -> int:
        return len(self.where)
