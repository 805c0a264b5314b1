"""`kumi`: the group of commands. A command's module is imported only when it runs, so that `kumi --help` stays quick."""

from __future__ import annotations

import importlib
import sys

import click

from kumi import __version__

COMMANDS = {
    "up": "Start a cluster on this machine: pods run as processes.",
    "down": "Stop the cluster of this machine; jobs go on at the next `kumi up`.",
    "controllers": "Run the loops of a cluster from beside it, over HTTP.",
    "kubeconfig": "Hand out a kubeconfig for somebody else.",
    "backup": "Write what the cluster holds to one file.",
    "restore": "Make the cluster of a backup one that `kumi up` starts.",
    "status": "Show whether the cluster runs, its nodes and its queues.",
    "apply": "Create or change what manifests say, as kubectl apply does.",
    "submit": "Run a script as a training job, without YAML, and follow it.",
    "queues": "Show what Volcano's queues hold, and who waits in them.",
    "gangs": "Show what pod groups hold, what they wait for, and why.",
    "plugins": "List the plug-ins that a policy may name.",
    "why": "Say in two lines why a job waits.",
    "evaluate": "Play a load of jobs through policies on a virtual clock, and compare them.",
    "record": "Write down what happens in a cluster, to evaluate policies on it.",
}


class Lazy(click.Group):
    """Finds a command's module by its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of COMMANDS."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of `kumi.cli.<name>`."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"kumi.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of --help, without importing a command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="kumi")
def cli() -> None:
    """Queues, quotas and whole gangs for batch and AI work: start with `kumi up`."""


def main() -> None:
    """The entry point: what the world is to blame for is one clear line on standard error and exit status 1,
    never a traceback."""
    from kumi.api.errors import KumiError

    try:
        cli(standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        click.echo("kumi: interrupted", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except KumiError as error:
        click.echo(f"kumi: {error}", err=True)
        sys.exit(1)
    except ConnectionError as error:
        click.echo(f"kumi: the cluster does not answer ({error}): is it up? `kumi status` tells", err=True)
        sys.exit(1)
    except OSError as error:
        click.echo(f"kumi: {error.strerror or error}{f': {error.filename}' if error.filename else ''}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
