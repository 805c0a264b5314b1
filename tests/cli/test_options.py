"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kumi.cli.options import client_options, data_dir_option


def test_the_data_directory_comes_from_the_environment_or_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    @data_dir_option
    def command(data_dir: Path) -> None:
        click.echo(data_dir)

    monkeypatch.setenv("KUMI_DATA_DIR", "/x")
    assert CliRunner().invoke(command).output == "/x\n"
    assert CliRunner().invoke(command, ["--data-dir", "/y"]).output == "/y\n"


def test_a_client_may_be_told_cluster_and_namespace() -> None:
    @click.command()
    @client_options
    def command(kubeconfig: str, namespace: str) -> None:
        click.echo(f"{kubeconfig} {namespace}")

    assert CliRunner().invoke(command, ["--kubeconfig", "k", "-n", "team"]).output == "k team\n"
