"""`kumi kubeconfig`: hands out a kubeconfig with a client certificate for somebody else."""

from __future__ import annotations

import datetime as dt
import time
from pathlib import Path

import click

from kumi.cli.options import data_dir_option


@click.command("kubeconfig")
@click.option("--user", required=True, help="The user's name, as roles are bound to it.")
@click.option("--group", "groups", multiple=True, help="A group of the user's; may be given again.")
@click.option("--namespace", "-n", default="default", show_default=True, help="Where the user's commands act.")
@click.option("--days", default=365, show_default=True, type=click.IntRange(1, 3650), help="How long it is good for.")
@click.option("--server", default="", help="The URL that the user reaches the cluster at (default: its own).")
@click.option(
    "--output", "-o", type=click.Path(path_type=Path, dir_okay=False), help="Write it there, for its owner only."
)
@data_dir_option
def command(  # noqa: PLR0917  one argument an option
    user: str, groups: tuple[str, ...], namespace: str, days: int, server: str, output: Path | None, data_dir: Path
) -> None:
    """Print a kubeconfig by which its holder is USER of these groups: who has the file is that user until it expires.

    What the user may do is up to roles and bindings, e.g.
    kubectl create rolebinding jane --clusterrole kueue-batch-user-role --user jane -n team-a"""
    from kumi.api.errors import KumiError
    from kumi.apiserver import kubeconfigs, pki
    from kumi.cli.instance import read_instance

    instance = read_instance(data_dir)
    url = server or (instance.url if instance else "")
    if not url:
        raise KumiError(f"no cluster runs in {data_dir}: start it (kumi up), or say its address with --server")
    directory = data_dir / "pki"
    certificate, key = pki.make_client(directory, user, groups, dt.timedelta(days=days), time.time_ns() // 1_000_000)
    text = kubeconfigs.text(
        url, pki.authority_pem(directory), kubeconfigs.by_certificate(certificate, key), user=user, namespace=namespace
    )
    if output is None:
        click.echo(text, nl=False)
    else:
        pki.write_private(output, text.encode())
