"""A cluster in a process of its own, to be killed: python -m tests.kubelet.harness DATA_DIR; it says `up` and then runs."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from kumi.store.sqlite import SqliteStore
from tests.kubelet.stage import Cluster, pod


async def main(data_dir: Path) -> None:
    """Runs three pods until it is killed."""
    cluster = Cluster(data_dir, store=SqliteStore.open(data_dir / "api.db"))
    await cluster.start()
    go = data_dir / "go"
    await cluster.run(
        pod("goes-on", f"echo begin; while [ ! -e {go} ]; do sleep 0.02; done; echo end"),
        pod("ends", f"echo begin; while [ ! -e {go}1 ]; do sleep 0.02; done; exit 5"),
        pod("removed", "sleep 1000"),
    )
    for name in ("goes-on", "ends", "removed"):
        await cluster.phase(name, "Running")
    print("up", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
