"""`kumi plugins`: the plug-ins of placement: Kumi's own, those of installed packages, those of a policy."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kumi.api.errors import KumiError
from kumi.cli.options import output_option
from kumi.cli.status import show

if TYPE_CHECKING:
    from kumi.runtime.plugin_files import Found


@click.command("plugins")
@click.option(
    "--policy",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A policy whose own plug-ins are listed, too.",
)
@output_option
def command(policy: Path | None, output: str) -> None:
    """List the plug-ins that a policy may name: the hooks in which they have a say, their arguments, and where they are from."""
    from kumi.runtime.plugin_files import built_in, others

    found = [described(one) for one in (*built_in(), *others(_files(policy)))]
    if output == "json":
        click.echo(json.dumps(found, indent=2))
        return
    rows: list[tuple[str, ...]] = [
        (one["name"], ", ".join(one["hooks"]), _written(one["arguments"]), one["source"]) for one in found
    ]
    show("PLUGIN", rows, ("HOOKS", "ARGUMENTS", "SOURCE"))


def described(found: Found) -> dict[str, Any]:
    """name, hooks, arguments with their defaults, source, and what its page says first. KumiError: it can't be opened."""
    from kumi.engine.journal import Journal
    from kumi.engine.placement.conf import Conf, Option
    from kumi.engine.placement.framework import Framework
    from kumi.engine.placement.hooks import SWITCH
    from kumi.engine.placement.nodes import Nodes
    from kumi.engine.placement.surroundings import Surroundings
    from kumi.engine.placement.tasks import Tasks
    from kumi.engine.pods import Pods

    journal = Journal()
    empty = Surroundings(Tasks(journal), Nodes(journal), Pods(journal), journal, 0)
    try:
        made: Any = found.made.configured(Option(found.name))
        opened = made.open(Framework(empty, Conf((), ()), {}))
    except Exception as error:
        raise KumiError(f"plug-in {found.name} of {found.source} can't be opened: {error}") from error
    fields = dataclasses.fields(made) if dataclasses.is_dataclass(made) else ()
    return {
        "name": found.name,
        "hooks": [hook for hook in SWITCH if hasattr(opened, hook)],
        "arguments": {field.name: _plain(getattr(made, field.name)) for field in fields},
        "source": found.source,
        "about": first_line(found.made),
    }


def first_line(made: object) -> str:
    """The first line of the module's documentation, else of the class's."""
    import sys

    module = sys.modules.get(getattr(made, "__module__", ""))
    text = (module.__doc__ if module is not None else None) or made.__doc__ or ""
    return text.strip().partition("\n")[0]


def _files(policy: Path | None) -> list[Path]:
    from kumi.api.yaml import load_all
    from kumi.engine.policy import plugin_files

    if policy is None:
        return []
    documents = list(load_all(policy.read_bytes()))
    return [policy.parent / file for file in plugin_files(documents[0] if documents else None)]


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)


def _written(arguments: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in arguments.items())
