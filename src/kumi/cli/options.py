"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from kumi.sdk.places import data_dir

F = TypeVar("F", bound=Callable[..., object])


def data_dir_option(function: F) -> F:
    """`--data-dir D`."""
    return click.option(
        "--data-dir",
        type=click.Path(path_type=Path, file_okay=False),
        default=data_dir,
        show_default="$KUMI_DATA_DIR, else kumi under the user's data directory",
        help="Where the cluster keeps everything.",
    )(function)


def client_options(function: F) -> F:
    """`--kubeconfig F --namespace N`."""
    function = click.option(
        "--kubeconfig", default="", help="Which cluster (default: $KUBECONFIG, else that of kumi up)."
    )(function)
    return click.option("--namespace", "-n", default="", help="Which namespace (default: the kubeconfig's).")(function)


def output_option(function: F) -> F:
    """`-o table|json`."""
    return click.option(
        "--output",
        "-o",
        default="table",
        show_default=True,
        type=click.Choice(["table", "json"]),
        help="How it is shown.",
    )(function)
