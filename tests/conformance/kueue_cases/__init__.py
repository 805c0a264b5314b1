"""Cases of Kueue through Kumi: each module of this package has SUITES, suite name -> function(case) -> result or None.

No rule is here: manifests go through the production's own translation (kumi.bridge.into), the engine decides, and what it
decided is written in the shape that the checker reads. None: the case can't be expressed.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

Case = dict[str, Any]
Run = Callable[[Case], dict[str, Any] | None]


def suites() -> dict[str, Run]:
    """Every suite that has an adapter."""
    found: dict[str, Run] = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        found.update(getattr(importlib.import_module(f"{__name__}.{module}"), "SUITES", {}))
    return found


async def run(case: Case) -> dict[str, Any] | None:
    """The result of one case."""
    one = suites().get(case["suite"])
    return one(case) if one is not None else None
