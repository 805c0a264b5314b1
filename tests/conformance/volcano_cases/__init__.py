"""Cases of Volcano through Kumi: one session on the objects of a case, and what the probes ask for.

No rule is here: manifests go through the production's own translation (kumi.bridge.into), the engine decides, and what it
decided is written in the shape that the checker reads. None: the case can't be expressed.
"""

from __future__ import annotations

from typing import Any

from volcano_cases import operations, probes, session

Case = dict[str, Any]


async def run(case: Case) -> dict[str, Any] | None:
    """The result of one case."""
    if "op" in case["input"]:
        return operations.run(case)
    opened = session.opened(case)
    if opened is None:
        return None
    result = probes.run(case, opened)
    if case["schedulerConf"]["actions"]:
        result |= session.run(case, opened)
    return result
