"""The recorded tour of the Kubernetes API, replayed on `kumi up --bare`: a count may rise, never fall.

The steps stand beside the checkout, in `shared`; where they are not, the test is reported as not run.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
TOUR = HERE.parent.parent.parent / "shared" / "conformance" / "apitour"
PASSED = tomllib.loads((HERE / "passed.toml").read_text())["apitour"]


@pytest.mark.process
@pytest.mark.needs("kubectl")
def test_no_fewer_steps_of_the_tour_pass_than_before(cluster: Any, kubectl: str, tmp_path: Path) -> None:
    if not TOUR.exists():
        pytest.skip("not run: the shared tour is not here")
    tokens = tmp_path / "tokens.csv"
    tokens.write_text("dev-token-of-the-tour,dev,dev-uid,devs\n")
    cluster.up("--bare", "--token-file", str(tokens))
    command = [
        sys.executable, str(TOUR / "replay.py"), "--kubeconfig", str(cluster.data_dir / "kubeconfig"),
        "--kubectl", kubectl, "--dev-token", "dev-token-of-the-tour", *map(str, sorted(TOUR.glob("*.jsonl"))),
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=tmp_path, env=cluster.environment, capture_output=True, text=True, timeout=900, check=False
    )
    counts = {
        name: int(passed) for name, passed in re.findall(r"^(\d\d-\w+)/\w+: (\d+)/\d+", done.stdout, re.MULTILINE)
    }
    assert set(counts) == set(PASSED), done.stdout[-2000:] + done.stderr[-2000:]
    fallen = {name: (counts[name], before) for name, before in PASSED.items() if counts[name] < before}
    assert not fallen, done.stdout[-6000:]
