"""`--policy FILE`: the file that says how is decided, read and checked before anything starts, and again whenever it changes.

The file is YAML or JSON: Kumi's own policy, a Configuration of Kueue's or a scheduler file of Volcano's as it is
(kumi.engine.policy has all three). Every wrong field is told at once, one a line, with its line in the file. A file that is wrong
when it changes is told in the log, and what was read before goes on.
"""

from __future__ import annotations

import asyncio
import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kumi.api.errors import KumiError

if TYPE_CHECKING:
    import yaml

    from kumi.engine.model import Profile

log = logging.getLogger(__name__)

LOOK_EVERY_S = 1.0
"""between two looks whether the file has changed"""

policy_option = click.option(
    "--policy",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="How is decided: a policy file, a Configuration of Kueue's or a scheduler file of Volcano's; read again when it "
    "changes (default: Kumi's own way).",
)


class PolicyFile:
    """What is decided by, as of now. KumiError: the file is wrong. No path: the default, for good."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._seen = _look(path)
        self.profile = read_policy(path)

    async def changed(self) -> None:
        """Until the file says something else; `profile` is then what it says. Never where there is no file."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            if self.look():
                return

    def look(self) -> bool:
        """Whether the file says something else than before."""
        now = _look(self._path)
        if self._path is None or now == self._seen:
            return False
        self._seen = now
        profile, wrong = _read(self._path)
        if wrong:
            log.error("%s\nwhat it said before goes on", wrong)
        if profile is None or profile == self.profile:
            return False
        log.warning("the policy %s has changed: what it says now is in force", self._path)
        self.profile = profile
        return True


def _read(path: Path) -> tuple[Profile | None, str]:
    """The profile, or what is wrong with the file."""
    try:
        return read_policy(path), ""
    except KumiError as error:
        return None, str(error)


def _look(path: Path | None) -> tuple[int, int, int] | None:
    """What tells one content of the file from another; None: it isn't there."""
    try:
        found = path.stat() if path is not None else None
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino) if found is not None else None


def read_policy(path: Path | None) -> Profile:
    """The profile that the file asks for; the default where there is none. KumiError."""
    from kumi.api.yaml import load_all
    from kumi.cli.plugin_files import others
    from kumi.engine.policy import PolicyError, parse, plugin_files

    if path is None:
        return parse(None, {one.name: one.made for one in others()})
    try:
        text = path.read_bytes()
        documents = list(load_all(text))
    except (OSError, KumiError) as error:
        raise KumiError(f"the policy {path} can't be read: {error}") from error
    if len(documents) > 1:
        raise KumiError(f"the policy {path} must be one document, not {len(documents)}")
    raw = documents[0] if documents else None
    found = others([path.parent / file for file in plugin_files(raw)])
    try:
        return parse(raw, {one.name: one.made for one in found})
    except PolicyError as error:
        lines = "\n".join(f"  line {line_of(text, wrong.path)}: {wrong.text()}" for wrong in error.errors)
        raise KumiError(f"the policy {path} is wrong:\n{lines}") from error


def line_of(text: bytes, path: str) -> int:
    """The line of a field (`tiers[0].plugins[1].name`) in YAML; where it isn't there, of what is nearest above it."""
    import yaml

    from kumi.api.yaml import Loader

    node = yaml.compose(text, Loader)
    line = 1
    for word in re.findall(r"[^.\[\]]+", path):
        step = _below(node, word)
        if step is None:
            break
        line, node = step
    return line


def _below(node: Any, word: str) -> tuple[int, yaml.Node] | None:
    """The line and the value of a member or an item."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == word:
                return key.start_mark.line + 1, value
    elif isinstance(node, yaml.SequenceNode) and word.isdecimal() and int(word) < len(node.value):
        item = node.value[int(word)]
        return item.start_mark.line + 1, item
    return None
