from __future__ import annotations

import asyncio
import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from kumi.api.errors import KumiError
from kumi.kube.credentials import Credential, ExecPlugin, Fixed, TokenFile

V1, V1BETA1 = "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"


class Clock:
    now = 1_800_000_000_000

    def __call__(self) -> int:
        return self.now


def plugin(tmp_path: Path, status: dict[str, Any] | str, version: str = V1, **options: Any) -> ExecPlugin:
    """A plug-in that counts its runs in `runs`, keeps what it was told in `told`, and prints the status."""
    text = (
        status
        if isinstance(status, str)
        else json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": status})
    )
    script = tmp_path / "plugin"
    script.write_text(
        f"#!{sys.executable}\n"
        "import os, sys\n"
        f"open({str(tmp_path / 'runs')!r}, 'a').write('x')\n"
        f"open({str(tmp_path / 'told')!r}, 'w').write(os.environ['KUBERNETES_EXEC_INFO'] + ' ' + os.environ.get('EXTRA', ''))\n"
        f"print({text!r}.replace('RUN', str(len(open({str(tmp_path / 'runs')!r}).read()))))\n"
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return ExecPlugin(str(script), ("get-token",), options.pop("env", {}), version, **options)


def runs(tmp_path: Path) -> int:
    return len((tmp_path / "runs").read_text())


HEADERS = [
    (Credential(), ""),
    (Credential(token="t"), "Bearer t"),
    (Credential(basic="YTpi"), "Basic YTpi"),
    (Credential("t", "b"), "Bearer t"),
]


@pytest.mark.parametrize(("credential", "header"), HEADERS)
def test_a_credential_is_a_header(credential: Credential, header: str) -> None:
    assert credential.authorization == header


async def test_what_is_fixed_stays() -> None:
    fixed = Fixed(Credential(token="t"))
    assert await fixed.current() == Credential(token="t")
    assert not fixed.refused(Credential(token="t"))


async def test_a_token_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("one\n")
    source = TokenFile(path, Credential(certificate=b"c", key=b"k"))
    first = await source.current()
    assert first == Credential("one", certificate=b"c", key=b"k")
    assert not source.refused(first)
    path.write_text("two\n")
    assert source.refused(first)
    assert (await source.current()).token == "two"


async def test_a_token_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    source = TokenFile(tmp_path / "token")
    with pytest.raises(KumiError, match="token"):
        await source.current()
    assert not source.refused(Credential())


@pytest.mark.parametrize("version", [V1, V1BETA1])
async def test_a_plugin_gives_a_token_and_is_run_once(tmp_path: Path, version: str) -> None:
    source = plugin(tmp_path, {"token": "tRUN"}, version)
    found = await asyncio.gather(*(source.current() for _ in range(5)))
    assert {c.token for c in found} == {"t1"}
    assert runs(tmp_path) == 1


async def test_a_plugin_is_told_what_is_asked_of_it(tmp_path: Path) -> None:
    source = plugin(
        tmp_path, {"token": "t"}, cluster={"server": "https://x"}, env={"EXTRA": "more"}, interactive="Never"
    )
    await source.current()
    text, _, extra = (tmp_path / "told").read_text().rpartition(" ")
    told = json.loads(text)
    assert told == {
        "apiVersion": V1,
        "kind": "ExecCredential",
        "spec": {"interactive": False, "cluster": {"server": "https://x"}},
    }
    assert extra == "more"


async def test_a_plugin_is_run_again_when_its_credential_expires(tmp_path: Path) -> None:
    clock = Clock()
    source = plugin(tmp_path, {"token": "tRUN", "expirationTimestamp": "2027-01-15T08:10:00Z"}, now_ms=clock)
    assert (await source.current()).token == "t1"
    clock.now += 599_000
    assert (await source.current()).token == "t1"
    clock.now += 1_000
    assert (await source.current()).token == "t2"


async def test_a_plugin_is_run_again_when_the_server_refuses_what_it_gave(tmp_path: Path) -> None:
    source = plugin(tmp_path, {"token": "tRUN"})
    first = await source.current()
    assert source.refused(first)
    second = await source.current()
    assert (second.token, runs(tmp_path)) == ("t2", 2)
    assert source.refused(first)
    assert await source.current() == second


async def test_a_plugin_may_give_a_certificate(tmp_path: Path) -> None:
    source = plugin(tmp_path, {"clientCertificateData": "cert", "clientKeyData": "key"})
    assert await source.current() == Credential(certificate=b"cert", key=b"key")


@pytest.mark.parametrize(
    "status",
    [
        "nonsense",
        "[]",
        '{"apiVersion": "client.authentication.k8s.io/v1"}',
        '{"status": {"token": "t"}}',
        '{"apiVersion": "client.authentication.k8s.io/v1beta1", "status": {"token": "t"}}',
        {},
        {"clientCertificateData": "cert"},
        {"token": "t", "expirationTimestamp": "tomorrow"},
        {"token": "t", "expirationTimestamp": 3},
    ],
)
async def test_what_a_plugin_may_not_print_is_an_error(tmp_path: Path, status: dict[str, Any] | str) -> None:
    with pytest.raises(KumiError, match="plug-in"):
        await plugin(tmp_path, status).current()


async def test_a_plugin_that_is_not_there_says_how_to_get_it() -> None:
    source = ExecPlugin("/nonexistent/aws", (), {}, V1, hint="install the cloud's tools")
    with pytest.raises(KumiError, match="install the cloud's tools"):
        await source.current()


async def test_a_plugin_that_fails_is_an_error(tmp_path: Path) -> None:
    source = ExecPlugin(sys.executable, ("-c", "raise SystemExit(3)"), {}, V1)
    with pytest.raises(KumiError, match="exit code 3"):
        await source.current()


async def test_a_plugin_that_needs_a_terminal_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(KumiError, match="terminal"):
        await ExecPlugin(sys.executable, (), {}, V1, interactive="Always").current()


def test_a_command_with_a_slash_is_relative_to_the_configuration(tmp_path: Path) -> None:
    made = ExecPlugin.of({"apiVersion": V1BETA1, "command": "./bin/x"}, tmp_path, None)
    assert made._command == str(tmp_path / "bin" / "x")
