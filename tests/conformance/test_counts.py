"""The cases handed down from the systems that Kumi replaces: a count may rise, never fall.

The cases stand beside the checkout, in `shared`; where they are not, the test is reported as not run.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
SHARED = HERE.parent.parent.parent / "shared"
CASES = SHARED / "contracts" / "cases"
KUEUE = SHARED / "conformance" / "kueue"
VOLCANO = SHARED / "conformance" / "volcano"
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


def _tool(path: Path, name: str) -> Any:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("suite", PASSED["kueue"])
def test_no_fewer_cases_of_a_suite_of_kueue_pass_than_before(suite: str, tmp_path: Path) -> None:
    cases = KUEUE / f"{suite}.jsonl"
    if not cases.exists():
        pytest.skip("not run: the shared cases are not here")
    results = tmp_path / "results.jsonl"
    assert _tool(HERE / "run.py", "conformance_run").main(["kueue", str(cases), str(results)]) == 0
    given = {one["id"]: one["result"] for one in map(json.loads, results.read_text().splitlines())}
    wanted = [json.loads(line) for line in cases.read_text().splitlines() if line.strip()]
    check = _tool(KUEUE / "check.py", "kueue_check").check_case
    failed = {
        words: [f"{case['id']}: {no}" for case in wanted if (no := check(case, given.get(case["id"]), strict))]
        for words, strict in (("passed", False), ("strict", True))
    }
    counts = {"cases": len(wanted), **{words: len(wanted) - len(noes) for words, noes in failed.items()}}
    known = PASSED["kueue"][suite]
    assert counts["cases"] == known["cases"]
    assert counts["passed"] >= known["passed"], failed["passed"]
    assert counts["strict"] >= known["strict"], failed["strict"]
    assert known.get("nothing", 0) < known["passed"]


@pytest.mark.parametrize("suite", PASSED["volcano"])
def test_no_fewer_cases_of_a_suite_of_volcano_pass_than_before(
    suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = VOLCANO / f"{suite}.jsonl"
    if not cases.exists():
        pytest.skip("not run: the shared cases are not here")
    results = tmp_path / "results.jsonl"
    assert _tool(HERE / "run.py", "conformance_run").main(["volcano", str(cases), str(results)]) == 0
    known = PASSED["volcano"][suite]
    for words in ("passed", "strict"):
        strict = ["--strict"] if words == "strict" else []
        _tool(VOLCANO / "check.py", "volcano_check").main([str(cases), str(results), *strict])
        said = capsys.readouterr().out
        passed, of = re.findall(r": (\d+)/(\d+)", said)[-1]
        assert int(of) == known["cases"]
        assert int(passed) >= known[words], said
