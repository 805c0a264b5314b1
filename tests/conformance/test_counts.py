"""The cases handed down from the systems that Kumi replaces: a count may rise, never fall.

The cases stand beside the checkout, in `shared`; where they are not, the test is reported as not run.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SHARED = HERE.parent.parent.parent / "shared"
CASES = SHARED / "contracts" / "cases"
PASSED = tomllib.loads((HERE / "passed.toml").read_text())


@pytest.mark.parametrize("kind", PASSED["jobs"])
@pytest.mark.parametrize("words", ["passed", "strict"])
def test_no_fewer_cases_of_a_job_kind_pass_than_before(kind: str, words: str, tmp_path: Path) -> None:
    cases = CASES / f"{kind}.jsonl"
    if not cases.exists():
        pytest.skip("not run: the shared cases are not here")
    results = tmp_path / "results.jsonl"
    subprocess.run([sys.executable, str(HERE / "run.py"), "jobs", str(cases), str(results)], check=True)
    command = [sys.executable, str(CASES / "check.py"), str(cases), str(results)]
    done = subprocess.run(
        [*command, *(["--strict"] if words == "strict" else [])], capture_output=True, text=True, check=False
    )
    found = re.search(r"^total: (\d+)/(\d+)$", done.stdout, re.MULTILINE)
    assert found, done.stdout + done.stderr
    assert int(found[1]) >= PASSED["jobs"][kind][words], done.stdout
    assert int(found[2]) == PASSED["jobs"][kind]["cases"]
