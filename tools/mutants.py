"""Plants named faults in Kumi's rules, one at a time, and checks that the tests catch each.

A fault stands in tests/mutants/*.toml:
    [[mutant]]
    name = "a lending limit is ignored"
    file = "src/kumi/engine/admission/quota.py"
    find = "exact text, found once"
    replace = "the fault"
    tests = ["tests/engine/admission/test_quota.py"]
Each runs in a copy of the tree of its own; a fault that survives, or whose text is no longer found once, is an error.
Usage: mutants.py [--only TEXT] [--jobs N]
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PATIENCE_S = 120.0
"""Many times what the tests of a rule take."""


class Mutant(NamedTuple):
    """One fault."""

    name: str
    file: str
    find: str
    replace: str
    tests: list[str]


def read_mutants() -> list[Mutant]:
    """All faults of tests/mutants, in order."""
    found = []
    for path in sorted((ROOT / "tests" / "mutants").glob("*.toml")):
        found += [Mutant(**entry) for entry in tomllib.loads(path.read_text()).get("mutant", [])]
    return found


def try_mutant(mutant: Mutant) -> str:
    """ "" if the tests caught it, else what went wrong."""
    text = (ROOT / mutant.file).read_text()
    if text.count(mutant.find) != 1:
        return f"its text stands {text.count(mutant.find)} times in {mutant.file}, not once"
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "kumi"
        copy.mkdir()
        for name in ("src", "tests", "tools", "pyproject.toml"):
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
            else:
                shutil.copy(source, copy / name)
        (copy / mutant.file).write_text(text.replace(mutant.find, mutant.replace))
        environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "HYPOTHESIS_STORAGE_DIRECTORY": folder}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *mutant.tests]
        try:
            done = subprocess.run(
                command, cwd=copy, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
            )
        except subprocess.TimeoutExpired:
            return ""  # a rule that never ends is noticed by whoever waits for the tests
    if done.returncode == 0:
        return f"survived {' '.join(mutant.tests)}"
    if done.returncode != 1:
        return f"pytest ended with {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}"
    return ""


def main() -> int:
    """Runs all, prints a line for each, and returns 1 if any survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only faults with this text in their name or file")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    mutants = [m for m in read_mutants() if arguments.only in m.name or arguments.only in m.file]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for mutant, problem in zip(mutants, pool.map(try_mutant, mutants), strict=True):
            failed += bool(problem)
            print(
                f"{'NOT CAUGHT' if problem else 'caught'}: {mutant.name}{': ' + problem if problem else ''}", flush=True
            )
    print(f"{len(mutants) - failed} of {len(mutants)} faults caught")
    return 1 if failed or not mutants else 0


if __name__ == "__main__":
    sys.exit(main())
