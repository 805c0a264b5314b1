"""What every test may ask for: real programs by name."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

from kumi.api.scheme import load

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))

from programs import find_bubblewrap, find_chromium, find_kubectl, has_user_namespaces

FOUND_BY: dict[str, Callable[[], object]] = {
    "kubectl": cache(find_kubectl),
    "bubblewrap": cache(find_bubblewrap),
    "chromium": cache(find_chromium),
    "user namespaces": cache(has_user_namespaces),
}
"""what is no Python package; asked once"""
# An example's time says nothing on a shared machine; what CI found must be found again elsewhere.
settings.register_profile("kumi", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("kumi")
load()  # the scheme, as every program does first

T = TypeVar("T")


def missing(program: str) -> bool:
    """Whether a program that a test needs is not here."""
    if program in FOUND_BY:
        return not FOUND_BY[program]()
    return importlib.util.find_spec(program) is None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test whose program is missing is reported as not run, by name; with CI set that is a failure."""
    for marker in item.iter_markers("needs"):
        for program in marker.args:
            if missing(program):
                if os.environ.get("CI"):
                    pytest.fail(f"{program} is missing, and with CI set nothing may be", pytrace=False)
                pytest.skip(f"not run: {program} is not here")


@pytest.fixture(scope="session")
def kubectl() -> str:
    """The path of a real kubectl; mark the test `needs("kubectl")`."""
    program = find_kubectl()
    assert program is not None
    return program


class Cluster:
    """A cluster of `kumi up --detach` in a folder of its own, as a user has it."""

    def __init__(self, data_dir: Path, working_dir: Path) -> None:
        self.data_dir, self.working_dir = data_dir, working_dir
        bin_dir = Path(sys.executable).parent
        self.environment = {
            **os.environ,
            "PATH": f"{bin_dir}{os.pathsep}{os.environ['PATH']}",
            "KUBECONFIG": str(data_dir / "kubeconfig"),
            "KUBECACHEDIR": str(data_dir / "cache"),
            "KUMI_DATA_DIR": str(data_dir),
            "KUBE_EDITOR": "true",
        }

    def run(self, *words: str, stdin: str = "", ok: bool = True) -> subprocess.CompletedProcess[str]:
        """A command in the working directory; with `ok` its success is asserted."""
        done = subprocess.run(
            words,
            cwd=self.working_dir,
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        assert not ok or done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
        return done

    def kumi(self, *words: str, stdin: str = "", ok: bool = True) -> subprocess.CompletedProcess[str]:
        """`kumi WORDS`."""
        return self.run("kumi", *words, stdin=stdin, ok=ok)

    def up(self, *options: str) -> None:
        """Starts it, or starts it again."""
        self.kumi("up", "--detach", *options)

    def kubectl(self, *words: str, stdin: str = "", ok: bool = True) -> subprocess.CompletedProcess[str]:
        """`kubectl WORDS`."""
        program = find_kubectl()
        assert program
        return self.run(program, *words, stdin=stdin, ok=ok)

    def until(self, seconds: float, question: Callable[[], T | None]) -> T:
        """The first answer that is true, asked again and again."""
        end = time.monotonic() + seconds
        while not (answer := question()):
            assert time.monotonic() < end, "it did not come to be"
            time.sleep(0.05)
        return answer


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster that is not started yet; stopped at the end, whatever happened."""
    (tmp_path / "work").mkdir()
    made = Cluster(tmp_path / "data", tmp_path / "work")
    yield made
    made.kumi("down", ok=False)
