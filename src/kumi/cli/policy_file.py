"""`--policy FILE`: the file that says how is decided, read and checked before anything starts, and again whenever it changes.

The file is YAML or JSON: Kumi's own policy, a Configuration of Kueue's or a scheduler file of Volcano's as it is
(kumi.engine.policy has all three). Every wrong field is told at once, one a line, with its line in the file; what it says
in vain is told in the log, and passes. A file that is wrong when it changes is told in the log, and what was read before goes on.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kumi.api.errors import KumiError
from kumi.runtime.policy_files import read_policy

if TYPE_CHECKING:
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
        _warn(self.profile)

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
        if profile is None:
            return False
        _warn(profile)
        if profile == self.profile:
            return False
        log.warning("the policy %s has changed: what it says now is in force", self._path)
        self.profile = profile
        return True


def _warn(profile: Profile) -> None:
    for line in profile.vain:
        log.warning("%s", line)


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
