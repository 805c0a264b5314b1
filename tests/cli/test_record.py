"""`kumi record`, against a cluster in a dictionary."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from kumi import sdk
from kumi.api.scheme import SCHEME, load
from kumi.cli.record import command
from kumi.evaluator.recording import RECORDED
from kumi.evaluator.traces import record
from kumi.testing.fake_client import FakeClient

load()


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    client = FakeClient([SCHEME.of(type_) for type_ in RECORDED])

    @asynccontextmanager
    async def connect(kubeconfig: str = "") -> AsyncIterator[SimpleNamespace]:
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{len(client.calls)}", "namespace": "ns"}}
        await client.create({**pod, "spec": {"containers": []}})
        yield SimpleNamespace(client=client)

    monkeypatch.setattr(sdk, "connect", connect)
    return client


def test_a_recording_stops_after_its_time_and_goes_on_with_the_same_file(cluster: FakeClient, tmp_path: Path) -> None:
    path = tmp_path / "rec"
    first = CliRunner().invoke(command, ["--for", "0.05", str(path)])
    assert (first.exit_code, first.output.splitlines()) == (
        0,
        [f"recording into {path}; Ctrl-C stops", f"1 changes written to {path}"],
    )
    second = CliRunner().invoke(command, ["--for", "0.05", str(path)])
    assert second.output.splitlines()[0] == f"recording on into {path}; Ctrl-C stops"
    assert len(list(record.read(None, path).events())) == 2


def test_a_length_of_nothing_is_refused(tmp_path: Path) -> None:
    assert CliRunner().invoke(command, ["--for", "0", str(tmp_path / "rec")]).exit_code == 2
