"""`kumi why JOB`: two lines."""

from __future__ import annotations

import asyncio

import click

from kumi.cli.options import client_options


@click.command("why")
@click.argument("job")
@client_options
def command(job: str, kubeconfig: str, namespace: str) -> None:
    """Say in two lines why JOB (NAME, KIND/NAME or NAMESPACE/KIND/NAME; also a PodGroup or a pod) waits: what it needs and
    what there is; who is ahead and what would help."""
    asyncio.run(_why(job, kubeconfig, namespace))


async def _why(job: str, kubeconfig: str, namespace: str) -> None:
    from kumi.sdk import connect

    async with connect(kubeconfig, namespace) as kumi:
        for line in await kumi.why(await kumi.find_waiting(job)):
            click.echo(line)
