"""The sandbox of process pods: which directories of the machine they see, and what of Kumi's environment they get.

The rule:
    hidden    the home directory of the user, and Kumi's data directory, with everything of other pods in it
    shared    the working directory, unless it is the home directory or around it; what the user shares. Read and written
    shown     the programs: Kumi's own, and a virtual or conda environment that is active; what the user shows. Only read; of
              a shared directory with programs in it the whole entry that they are in, since who may rename it may replace them
    never     the data directory within a shared one: a pod could rename what is above it
    variables those that programs need to find their way (KEPT, KEPT_BEGINNINGS); not the rest, which may hold keys
    devices   the nodes of a container's own GPUs, and what all GPUs have in common
Why        the view is made of what is left out: a program needs most of a machine's files, and none of its user's.
Source     bwrap(1); Kubernetes: hostPath.
Not here   how the view is made of these: sandbox_view.py. What a sandbox can't keep apart: docs/security.md.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from kumi.api.errors import KumiError
from kumi.api.wire import JsonObject
from kumi.kubelet.bubblewrap import PROGRAM
from kumi.kubelet.environment import CannotConfigure, Environment
from kumi.kubelet.sandbox_view import DEVICE, WRITE, Plan, View

_PLACES = ("PATH", "HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV")
_LIBRARIES = ("LD_LIBRARY_PATH", "PYTHONPATH", "CUDA_HOME", "CUDA_PATH")
KEPT = frozenset([*_PLACES, *_LIBRARIES, "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM"])
KEPT_BEGINNINGS = ("LC_", "NCCL_", "OMP_", "MKL_", "OPENBLAS_")
_GPU_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset")
_MAKING = ("DirectoryOrCreate", "FileOrCreate")


class Extra(NamedTuple):
    """Directories that the user shares with pods, or shows to them."""

    shared: Sequence[Path] = ()
    shown: Sequence[Path] = ()


NOTHING = Extra()


def plan_of(data_dir: Path, working_dir: Path, environment: Mapping[str, str], extra: Extra = NOTHING) -> Plan:
    """What the sandboxes of a machine are like. KumiError: bubblewrap is not here, or a directory can't be shared."""
    program = shutil.which(PROGRAM)
    if program is None:
        raise KumiError(
            "--sandbox bubblewrap: the program bwrap is not installed; install the package bubblewrap "
            "(Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap), or leave the option out"
        )
    data = os.path.realpath(data_dir)
    homes = _homes(environment)
    work = os.path.realpath(working_dir)
    shared = [os.path.realpath(path) for path in extra.shared]
    if not any(_is_below(home, work) for home in homes) and work != "/":
        shared.append(work)
    for path in shared:
        if _is_below(data, path):
            raise KumiError(
                f"--sandbox bubblewrap: the data directory {data} is in {path}, which pods may write; choose another "
                "--data-dir, or start from another directory"
            )
    shown = [*_programs(environment), *(str(path.absolute()) for path in extra.shown)]
    guarded = [_entry(top, path) for path in shown for top in shared if _is_below(os.path.realpath(path), top)]
    return Plan(program, [*homes, data], shared, [*shown, *guarded])


def refusal(trouble: str) -> KumiError:
    """What to say when bubblewrap is there and makes no sandbox."""
    return KumiError(
        f"--sandbox bubblewrap: it does not work here ({trouble}). User namespaces may be off: see the settings "
        "user.max_user_namespaces (above 0), kernel.unprivileged_userns_clone (1) and "
        "kernel.apparmor_restrict_unprivileged_userns (0) of sysctl; in a container they are often forbidden from outside. "
        "Or leave the option out"
    )


def variables_of(inherited: Environment) -> Environment:
    """What a sandboxed container gets of what it would inherit."""
    return {k: v for k, v in inherited.items() if k in KEPT or k.startswith(KEPT_BEGINNINGS)}


def device_nodes(numbers: Sequence[int]) -> list[str]:
    """The device nodes of a container with these GPUs (their minor numbers)."""
    return [*_GPU_NODES, *(f"/dev/nvidia{number}" for number in numbers)] if numbers else []


def check_host_paths(pod: JsonObject, plan: Plan) -> None:
    """CannotConfigure for a pod that names a path of the machine that it does not see, before anything is made there."""
    named = [v["hostPath"] for v in pod["spec"].get("volumes") or () if v.get("hostPath")]
    view = View(plan) if named else None
    for source in named:
        assert view is not None
        path = os.path.realpath(source.get("path") or "/")
        access = view.access(path)
        if not access:
            raise CannotConfigure(f"hostPath {source.get('path')}: the sandbox hides it from pods")
        if source.get("type") in _MAKING and not os.path.exists(path) and access not in (WRITE, DEVICE):
            raise CannotConfigure(f"hostPath {source.get('path')}: pods may not write there, so it is not made")


def _homes(environment: Mapping[str, str]) -> list[str]:
    named = [environment.get("HOME", "")]
    with contextlib.suppress(KeyError):  # a user without an entry
        named.append(pwd.getpwuid(os.getuid()).pw_dir)
    found = {os.path.realpath(path) for path in named if path and os.path.isdir(path)}
    return sorted(found - {"/"})


def _programs(environment: Mapping[str, str]) -> list[str]:
    active = [environment.get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX")]
    kumi = str(Path(__file__).resolve().parents[1])
    own = [sys.prefix, sys.base_prefix, os.path.dirname(sys.executable), kumi]
    return list(dict.fromkeys(path for path in (*own, *active) if path and path != "/"))


def _entry(top: str, path: str) -> str:
    """The entry of `top` that a path is in; `top` itself for `top`."""
    rest = os.path.relpath(os.path.realpath(path), top).split("/")[0]
    return os.path.normpath(os.path.join(top, rest))


def _is_below(path: str, top: str) -> bool:
    return path == top or path.startswith(top.rstrip("/") + "/")
