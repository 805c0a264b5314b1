"""Runs cases of another system through Kumi and writes what Kumi did.

usage: run.py SYSTEM CASES.jsonl RESULTS.jsonl

SYSTEM   jobs (job kinds), kueue (queues and admission), volcano (gangs and nodes)
CASES    one case a line; whatever they say about the right answer is not looked at
RESULTS  one {"id": ..., "result": {...}} a line; a case that can't be expressed has none

The adapters hold no rule: they drive the code that production runs. `passed.toml` keeps how many cases pass.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson

sys.path.insert(0, str(Path(__file__).parent))

import job_cases
import kueue_cases
import volcano_cases

Adapter = Callable[[dict[str, Any]], Awaitable[dict[str, Any] | None]]

ADAPTERS: dict[str, Adapter] = {"jobs": job_cases.run, "kueue": kueue_cases.run, "volcano": volcano_cases.run}
ANSWERS = ("expect", "title", "note", "source")


def main(arguments: list[str]) -> int:
    """0: every case was run; 2: wrong usage, or a system without an adapter."""
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    system, cases, results = arguments
    if system not in ADAPTERS:
        known = ", ".join(sorted(ADAPTERS))
        print(f"run.py: {system} is not known; there is an adapter for: {known}", file=sys.stderr)
        return 2
    with Path(cases).open(encoding="utf-8") as source, Path(results).open("w", encoding="utf-8") as sink:
        for line in source:
            if not line.strip():
                continue
            case = {key: value for key, value in json.loads(line).items() if key not in ANSWERS}
            result = asyncio.run(_run(ADAPTERS[system], case))
            if result is not None:
                sink.write(orjson.dumps({"id": case["id"], "result": result}).decode() + "\n")
    return 0


async def _run(adapter: Adapter, case: dict[str, Any]) -> dict[str, Any] | None:
    return await adapter(case)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
