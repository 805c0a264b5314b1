"""`kumi gangs`: what pod groups hold, what they wait for, and why."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from kumi.cli.options import client_options, output_option
from kumi.cli.queues import amounts
from kumi.cli.status import show

if TYPE_CHECKING:
    from kumi.sdk.gangs import Gang


@click.command("gangs")
@client_options
@output_option
def command(kubeconfig: str, namespace: str, output: str) -> None:
    """Show pod groups: who holds what, who waits for what, and why. Those of all namespaces, or with -n of one."""
    asyncio.run(_gangs(kubeconfig, namespace, output))


async def _gangs(kubeconfig: str, namespace: str, output: str) -> None:
    from kumi.sdk import connect
    from kumi.sdk.gangs import look

    async with connect(kubeconfig, namespace) as kumi:
        _, gangs = await look(kumi.client, namespace)
    if output == "json":
        click.echo(json.dumps([asdict(gang) for gang in gangs], indent=2))
        return
    show("GANG", [row(gang) for gang in gangs], ("QUEUE", "PHASE", "PLACED", "HOLDS", "WAITS FOR", "WHY"))


def row(gang: Gang) -> tuple[str, ...]:
    """namespace/name, queue, phase, pods placed of those needed, what they hold, what the others ask for, why they wait."""
    placed = f"{gang.placed}/{max(gang.least, gang.pods)}"
    name = f"{gang.namespace}/{gang.name}"
    return (name, gang.queue, gang.phase, placed, amounts(gang.holds), amounts(gang.waits_for), gang.why)
