"""`kumi queues`: what Volcano's queues hold, what they may have, and who waits in them."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from kumi.cli.options import client_options, output_option
from kumi.cli.status import show

if TYPE_CHECKING:
    from kumi.sdk.gangs import Queue


@click.command("queues")
@client_options
@output_option
def command(kubeconfig: str, namespace: str, output: str) -> None:
    """Show Volcano's queues: what each holds, what it may have, and which gangs run and wait in it. With -n only gangs of that
    namespace are named."""
    asyncio.run(_queues(kubeconfig, namespace, output))


async def _queues(kubeconfig: str, namespace: str, output: str) -> None:
    from kumi.sdk import connect
    from kumi.sdk.gangs import look

    async with connect(kubeconfig, namespace) as kumi:
        queues, _ = await look(kumi.client, namespace)
    if output == "json":
        click.echo(json.dumps([asdict(queue) for queue in queues], indent=2))
        return
    show("QUEUE", [row(queue) for queue in queues], ("PARENT", "STATE", "WEIGHT", "HOLDS", "MAY HAVE", "RUN", "WAIT"))


def row(queue: Queue) -> tuple[str, ...]:
    """name, parent, state, weight, what it holds and may have at most, how many gangs run and wait."""
    counts = (str(len(queue.running)), str(len(queue.waiting)))
    held, most = amounts(queue.holds), amounts(queue.capability) or "any"
    return (queue.name, queue.parent, queue.state, str(queue.weight), held, most, *counts)


def amounts(listed: dict[str, str]) -> str:
    """`2 cpu, 4 pods`; a resource of which there is none is left out."""
    return ", ".join(f"{amount} {name}" for name, amount in listed.items() if amount != "0")
