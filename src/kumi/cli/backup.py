"""`kumi backup FILE`: everything that a cluster holds, in one file, while it runs or not."""

from __future__ import annotations

from pathlib import Path

import click

from kumi.api.errors import KumiError
from kumi.cli.options import data_dir_option

KEPT = ("pki",)
"""Folders of a data directory that a backup holds, beside the store: who the cluster is, and who it trusts."""


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@data_dir_option
def command(file: Path, data_dir: Path, force: bool) -> None:
    """Write what the cluster holds to FILE: every object as of one moment, with its keys and certificates.

    The cluster may run and be written to. Whoever can read FILE knows every secret of the cluster. Not in it: logs and files of
    pods, and volumes."""
    from kumi.store.backup import back_up

    data_dir = data_dir.absolute()
    if file.exists() and not force:
        raise KumiError(f"{file} is there already; --force replaces it")
    files = {
        path.relative_to(data_dir).as_posix(): path.read_bytes()
        for folder in KEPT
        for path in sorted((data_dir / folder).glob("*"))
        if path.is_file()
    }
    revision = back_up(data_dir / "kumi.db", file, files)
    click.echo(f"{file}: everything up to revision {revision}, {file.stat().st_size / 1e6:.1f} MB")
