"""`kumi apply -f FILE`: for machines that have no kubectl."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click

from kumi.cli.options import client_options


@click.command("apply")
@click.option(
    "-f", "files", multiple=True, required=True, help="A manifest, a folder of them, or - for standard input."
)
@client_options
def command(files: tuple[str, ...], kubeconfig: str, namespace: str) -> None:
    """Create or change what manifests say. What was done before an object that is refused stays done."""
    asyncio.run(_apply(files, kubeconfig, namespace))


def read(name: str) -> str:
    """The text of a file, of every .yaml, .yml and .json file of a folder, or of standard input."""
    if name == "-":
        return sys.stdin.read()
    path = Path(name)
    if not path.exists():
        raise click.ClickException(f"-f {name}: there is no such file")
    if path.is_dir():
        found = sorted(p for p in path.iterdir() if p.suffix in (".yaml", ".yml", ".json"))
        return "\n---\n".join(p.read_text() for p in found)
    return path.read_text()


async def _apply(files: tuple[str, ...], kubeconfig: str, namespace: str) -> None:
    from kumi.api.yaml import load_objects
    from kumi.sdk import connect

    async with connect(kubeconfig, namespace) as kumi:
        for name in files:
            for obj in load_objects(read(name)):
                [(done, stored)] = await kumi.apply([obj])
                click.echo(f"{stored['kind'].lower()}/{stored['metadata']['name']} {done}")
