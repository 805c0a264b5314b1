from __future__ import annotations

import base64
import stat
from pathlib import Path

import pytest
import yaml
from aiohttp.test_utils import make_mocked_request

from kumi.api.errors import KumiError
from kumi.apiserver.identity import ADMINISTRATOR, Identity

DAY = 24 * 3600 * 1000


class Clock:
    now = 1_800_000_000_000

    def __call__(self) -> int:
        return self.now


def ask(identity: Identity, authorization: str | None) -> object:
    headers = {} if authorization is None else {"Authorization": authorization}
    return identity.authenticate(make_mocked_request("GET", "/", headers=headers))


def test_the_token_proves_the_administrator(tmp_path: Path) -> None:
    identity = Identity(tmp_path, Clock())
    assert ask(identity, f"Bearer {identity.token}") == ADMINISTRATOR
    assert ask(identity, f"bearer {identity.token}") == ADMINISTRATOR


@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer", "Bearer wrong", "Basic {token}", "Bearer {token}x", "{token}"]
)
def test_anything_else_proves_nobody(tmp_path: Path, authorization: str | None) -> None:
    identity = Identity(tmp_path, Clock())
    given = authorization and authorization.replace("{token}", identity.token)
    assert ask(identity, given) is None


def test_the_token_is_kept_and_only_the_owner_can_read_it(tmp_path: Path) -> None:
    identity = Identity(tmp_path, Clock())
    (tmp_path / "pki" / "token").chmod(0o644)
    assert Identity(tmp_path, Clock()).token == identity.token
    assert stat.S_IMODE((tmp_path / "pki" / "token").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "pki").stat().st_mode) == 0o700


def test_two_identities_have_two_tokens(tmp_path: Path) -> None:
    assert Identity(tmp_path / "a", Clock()).token != Identity(tmp_path / "b", Clock()).token


@pytest.mark.parametrize("content", [b"", b"short\n", b"\xff\xfe" * 40])
def test_a_token_file_that_holds_no_token_is_an_error(tmp_path: Path, content: bytes) -> None:
    Identity(tmp_path, Clock())
    (tmp_path / "pki" / "token").write_bytes(content)
    with pytest.raises(KumiError, match="token"):
        Identity(tmp_path, Clock())


def test_the_kubeconfig_says_where_whom_to_trust_and_who_we_are(tmp_path: Path) -> None:
    identity = Identity(tmp_path, Clock())
    path = tmp_path / "kubeconfig"
    identity.write_kubeconfig(path, "https://127.0.0.1:6443")
    config = yaml.safe_load(path.read_text())
    cluster = config["clusters"][0]["cluster"]
    assert config["current-context"] == "kumi"
    assert cluster["server"] == "https://127.0.0.1:6443"
    assert base64.b64decode(cluster["certificate-authority-data"]) == (tmp_path / "pki" / "ca.crt").read_bytes()
    assert config["users"][0]["user"] == {"token": identity.token}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_renewing_reaches_the_context_that_is_in_use(tmp_path: Path) -> None:
    clock = Clock()
    identity = Identity(tmp_path, clock)
    context = identity.server_context()
    assert not identity.renew()
    clock.now += 300 * DAY
    assert identity.renew()
    assert identity.server_context() is context
