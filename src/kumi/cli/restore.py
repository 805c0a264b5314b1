"""`kumi restore FILE`: the cluster of a backup, in a data directory where none runs."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

import click

from kumi.api.errors import KumiError
from kumi.cli.backup import KEPT
from kumi.cli.instance import holder
from kumi.cli.options import data_dir_option


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--force", is_flag=True, help="Replace the cluster that is in the data directory.")
@data_dir_option
def command(file: Path, data_dir: Path, force: bool) -> None:
    """Put the cluster of a backup into the data directory; `kumi up` then starts it.

    Objects are as they were. Who watched the cluster after the backup was made is told to read again. Pods that ran are taken up
    as after a crash of the machine: jobs start them again."""
    from kumi.kubelet.machine import kill_everything
    from kumi.store.backup import restore

    data_dir = data_dir.absolute()
    running = holder(data_dir)
    if running:
        raise KumiError(f"a cluster runs in {data_dir} (process {running.pid}); stop it: kumi down")
    if not force and (data_dir / "kumi.db").exists():
        raise KumiError(f"{data_dir} holds a cluster already; --force replaces it, or choose another --data-dir")
    if not force and data_dir.exists() and any(data_dir.iterdir()):
        raise KumiError(f"{data_dir} is not empty; --force uses it all the same, or choose another --data-dir")
    if data_dir.exists():
        kill_everything(data_dir)
    files = restore(file, data_dir / "kumi.db")
    for name, content in files.items():
        _put(data_dir, name, content)
    click.echo(f"restored into {data_dir}; start it: kumi up --data-dir {data_dir}")


def _put(data_dir: Path, name: str, content: bytes) -> None:
    """Writes a file that was kept; only its owner may read it. KumiError: it would lie elsewhere."""
    path = PurePosixPath(name)
    if len(path.parts) != 2 or path.parts[0] not in KEPT or path.parts[1] in ("..", "."):
        raise KumiError(f"the backup holds a file of a name that no backup has: {name}")
    folder = data_dir / path.parts[0]
    folder.mkdir(mode=0o700, exist_ok=True)
    target = folder / path.parts[1]
    target.unlink(missing_ok=True)
    descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as opened:
        opened.write(content)
