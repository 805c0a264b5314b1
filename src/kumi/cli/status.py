"""`kumi status`: does it run, what do the nodes offer, what do the queues hold."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click

from kumi.api.wire import JsonObject
from kumi.cli.instance import Instance, read_instance
from kumi.cli.options import data_dir_option


@click.command("status")
@data_dir_option
def command(data_dir: Path) -> None:
    """Show whether the cluster of this machine runs, its nodes, queues and waiting jobs. Exit status 3: it does not run."""
    instance = read_instance(data_dir)
    if instance is None:
        click.echo(f"no cluster runs in {data_dir}; start one: kumi up --data-dir {data_dir}")
        sys.exit(3)
    asyncio.run(_status(instance, data_dir))


async def _status(instance: Instance, data_dir: Path) -> None:
    from kumi.api.core import Node
    from kumi.api.kueue import ClusterQueue, Workload
    from kumi.api.scheme import SCHEME
    from kumi.sdk import connect

    async with connect(str(data_dir / "kubeconfig")) as kumi:
        click.echo(f"up at {instance.url}, process {instance.pid}, data in {data_dir}")
        for check in await kumi.client.failed_checks():
            click.echo(unsound(check, data_dir))
        nodes = (await kumi.client.list(SCHEME.of(Node))).items
        queues = (await kumi.client.list(SCHEME.of(ClusterQueue))).items
        workloads = (await kumi.client.list(SCHEME.of(Workload))).items
    show("NODE", [node_row(node) for node in nodes], ("STATUS", "OFFERS"))
    show("CLUSTER QUEUE", [queue_row(queue) for queue in queues], ("PENDING", "ADMITTED", "IN USE"))
    waiting = [workload_row(w) for w in workloads if waits(w)]
    show("WAITS", waiting, ("QUEUE", "WHY"))


def unsound(check: str, data_dir: Path) -> str:
    """What there is to say of a part of the cluster that does not do its work."""
    return (
        f"NOT READY: the {check} fails again and again, and decides nothing; "
        f"why is in {data_dir / 'kumi.log'}, what it saw in {data_dir / 'replays'}"
    )


def condition(obj: JsonObject, kind: str) -> JsonObject:
    """A condition of the object, {} if it has none of that type."""
    found = (c for c in obj.get("status", {}).get("conditions", []) if c["type"] == kind)
    return next(found, {})


def waits(workload: JsonObject) -> bool:
    """Whether it is neither admitted nor finished."""
    return all(condition(workload, kind).get("status") != "True" for kind in ("Admitted", "Finished"))


def node_row(node: JsonObject) -> tuple[str, ...]:
    """name, Ready or not, what can be allocated."""
    ready = "Ready" if condition(node, "Ready").get("status") == "True" else "NotReady"
    offers = node.get("status", {}).get("allocatable", {})
    return node["metadata"]["name"], ready, ", ".join(f"{amount} {name}" for name, amount in sorted(offers.items()))


def queue_row(queue: JsonObject) -> tuple[str, ...]:
    """name, counts, quota reserved."""
    status = queue.get("status", {})
    used = [
        f"{resource['total']} {resource['name']} of {flavor['name']}"
        for flavor in status.get("flavorsReservation", [])
        for resource in flavor.get("resources", [])
    ]
    counts = (str(status.get("pendingWorkloads", 0)), str(status.get("admittedWorkloads", 0)))
    return queue["metadata"]["name"], *counts, ", ".join(used)


def workload_row(workload: JsonObject) -> tuple[str, ...]:
    """namespace/kind/name of its job as `kumi why` takes it, queue, why."""
    meta = workload["metadata"]
    owner = next((o for o in meta.get("ownerReferences", []) if o.get("controller")), {"kind": "Workload", **meta})
    name = f"{meta['namespace']}/{owner['kind'].lower()}/{owner['name']}"
    return name, workload.get("spec", {}).get("queueName", ""), condition(workload, "QuotaReserved").get("message", "")


def show(first: str, rows: list[tuple[str, ...]], others: tuple[str, ...]) -> None:
    """A table as kubectl prints one; nothing for no rows."""
    if not rows:
        return
    table = [(first, *others), *rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    click.echo("")
    for row in table:
        click.echo("   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
