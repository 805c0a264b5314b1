"""Saving: a long run on disk, and how it goes on from there.

    kumi-run <format>, the versions of Kumi and Python, the fingerprint of what the run was given, the sum of the rest:
    a line of JSON; then the run as Python pickles it
Whole         written beside its place, brought to disk, and moved there: whoever kills the process leaves the save before.
The same      load, policy and seed: a fingerprint of the setting, the policy and the seed, and a sum over the events that were
              read so far. What the load and the policy are is not kept: both are given again. Of a plug-in the text of its file
              counts, as it is then.
What follows  is what the run that was never interrupted would have played, observers included: they are kept with the run.
Errors        KumiError, where it is no saved run, is damaged, was written by another version, or is of another load or policy.
Trust         a pickle can run any code when it is read: open none that somebody else could write to.
Cost          O(what is alive), and what the observers keep.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from kumi import __version__
from kumi.api.errors import KumiError
from kumi.engine.model import Profile
from kumi.evaluator.failures import file_of
from kumi.evaluator.model import Load, Policy

FORMAT = 1
MAGIC = "kumi-run"
PROFILE = "profile"


def write(path: Path, run: object, profile: Profile, given: str) -> None:
    """`run` without its profile, to be read with the fingerprint `given` only."""
    buffer = io.BytesIO()
    _Pickler(buffer, profile).dump(run)
    body = buffer.getvalue()
    head = {**_versions(), "given": given, "sum": hashlib.sha256(body).hexdigest()}
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        file.write(json.dumps(head, sort_keys=True).encode() + b"\n" + body)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read(path: Path, profile: Profile, given: str) -> Any:
    """What was written there for the same, with that profile. KumiError."""
    try:
        line, _, body = path.read_bytes().partition(b"\n")
        head = json.loads(line)
    except OSError as error:
        raise KumiError(f"{path}: the run can't be read: {error.strerror}") from error
    except ValueError as error:
        raise KumiError(f"{path} is no saved run") from error
    if not isinstance(head, dict) or MAGIC not in head:
        raise KumiError(f"{path} is no saved run")
    for name, here in _versions().items():
        if head.get(name) != here:
            raise KumiError(f"{path}: the run was saved by {name} {head.get(name)}, and this is {here}")
    if head.get("given") != given:
        raise KumiError(f"{path}: the run that was saved is of another load, policy or seed")
    if head.get("sum") != hashlib.sha256(body).hexdigest():
        raise KumiError(f"{path}: the saved run is damaged")
    return _Unpickler(io.BytesIO(body), profile).load()


def fingerprint(load: Load, policy: Policy, seed: int) -> str:
    """Of all that a run is given, its events aside."""
    told = hashlib.sha256()
    profile = policy.profile
    rest = {f.name: getattr(profile, f.name) for f in fields(profile) if f.name != "plugins"}
    plugins = [(name, _text_of(made)) for name, made in sorted(profile.plugins.items())]
    of_policy = (policy.name, policy.as_gangs, policy.nouns, plugins, rest)
    told.update(_plain((load.name, load.start_ms, load.size, seed, of_policy)).encode())
    for noun in load.setting:
        told.update(_plain(noun).encode())
    return told.hexdigest()


def _text_of(plugin: object) -> str:
    """The sum of the file in which the plug-in is written; "" where there is none, or it can't be read any more."""
    file = file_of(plugin)
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""
    except OSError:
        return ""


def _plain(value: object) -> str:
    """The value in the same words in every process."""
    if is_dataclass(value) and not isinstance(value, type):
        return f"{type(value).__name__}({','.join(_plain(getattr(value, f.name)) for f in fields(value))})"
    if isinstance(value, tuple | list):
        return f"[{','.join(_plain(one) for one in value)}]"
    if isinstance(value, frozenset | set):
        return f"{{{','.join(sorted(_plain(one) for one in value))}}}"
    if isinstance(value, Mapping):
        return f"{{{','.join(sorted(f'{_plain(k)}:{_plain(v)}' for k, v in value.items()))}}}"
    return repr(value)


def _versions() -> dict[str, object]:
    return {MAGIC: FORMAT, "Kumi": __version__, "Python": sys.version.partition(" ")[0]}


class _Pickler(pickle.Pickler):
    """Leaves out the profile: plug-ins come from files that only their own process knows by name."""

    def __init__(self, file: io.BytesIO, profile: Profile) -> None:
        super().__init__(file, protocol=5)
        self._profile = profile

    def persistent_id(self, value: object) -> str | None:
        return PROFILE if value is self._profile else None


class _Unpickler(pickle.Unpickler):
    """Puts it in again."""

    def __init__(self, file: io.BytesIO, profile: Profile) -> None:
        super().__init__(file)
        self._profile = profile

    def persistent_load(self, name: str) -> object:
        if name != PROFILE:
            raise pickle.UnpicklingError(f"unknown part {name!r}")
        return self._profile
