"""schemathesis on the server's own OpenAPI document: whatever it sends, there is no 5xx and no hang."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cluster

pytestmark = [pytest.mark.needs("schemathesis", "kubectl"), pytest.mark.process]

RUN_S = 40
ANSWER_S = 10


def that_ends(document: dict[str, Any]) -> dict[str, Any]:
    """The document with every watch bounded to a second: one that is not may rightly stay silent for long."""
    soon = {"in": "query", "name": "timeoutSeconds", "type": "integer", "enum": [1], "required": True}
    for path in document["paths"].values():
        for operation in [path, *(each for each in path.values() if isinstance(each, dict))]:
            given = operation.get("parameters", [])
            if any(each.get("name") == "watch" for each in given):
                operation["parameters"] = [each for each in given if each.get("name") != "timeoutSeconds"] + [soon]
    return document


def test_there_is_no_server_error_and_no_hang(bare: Cluster, tmp_path: Path) -> None:
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(that_ends(json.loads(bare.kubectl("get", "--raw", "/openapi/v2").stdout))))
    url = bare.kubectl("config", "view", "-o", "jsonpath={.clusters[0].cluster.server}").stdout
    token = bare.kubectl("config", "view", "--raw", "-o", "jsonpath={.users[0].user.token}").stdout
    done = subprocess.run(
        [
            *(str(Path(sys.executable).parent / "schemathesis"), "run", str(document), "--url", url),
            *("--header", f"Authorization: Bearer {token}", "--tls-verify", str(bare.data_dir / "pki" / "ca.crt")),
            *("--checks", "not_a_server_error", "--phases", "fuzzing", "--max-examples", "1", "--seed", "1"),
            *("--request-timeout", str(ANSWER_S), "--workers", "2", "--suppress-health-check", "all"),
            *("--warnings", "off", "--no-color"),
        ],
        cwd=tmp_path,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=5 * RUN_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:]
    tested = re.search(r"Tested: (\d+)", done.stdout)
    assert tested
    assert int(tested[1]) > 400, "it went through the whole document"
    assert bare.kubectl("get", "--raw", "/readyz").stdout == "ok"
