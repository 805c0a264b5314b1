from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from kumi.api.errors import KumiError
from kumi.apiserver import pki
from kumi.kube import tls


@pytest.fixture
def pair(tmp_path: Path) -> tuple[bytes, bytes, bytes]:
    """Authority, certificate and key."""
    pki.ensure(tmp_path, (), 1_800_000_000_000)
    return tuple((tmp_path / name).read_bytes() for name in ("ca.crt", "server.crt", "server.key"))  # type: ignore[return-value]


def test_only_the_authority_given_is_trusted(pair: tuple[bytes, bytes, bytes]) -> None:
    made = tls.context(pair[0])
    assert made.verify_mode is ssl.CERT_REQUIRED
    assert made.check_hostname
    assert len(made.get_ca_certs()) == 1


def test_anybody_is_trusted_only_when_that_was_asked_for() -> None:
    made = tls.context(b"", insecure=True)
    assert (made.verify_mode, made.check_hostname) == (ssl.CERT_NONE, False)


def test_a_certificate_is_shown_and_no_file_of_it_stays(
    pair: tuple[bytes, bytes, bytes], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path_factory.mktemp("tmp")
    monkeypatch.setattr(tls.tempfile, "tempdir", str(directory))
    tls.context(pair[0], certificate=pair[1], key=pair[2])
    assert list(directory.iterdir()) == []


@pytest.mark.parametrize("authority", [b"nonsense", b"\xff"])
def test_an_authority_that_is_none_is_an_error(authority: bytes) -> None:
    with pytest.raises(KumiError, match="certificate-authority"):
        tls.context(authority)


def test_a_key_of_another_certificate_is_an_error(
    pair: tuple[bytes, bytes, bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    pki.ensure(other, (), 1_800_000_000_000)
    with pytest.raises(KumiError, match="client-key"):
        tls.context(b"", certificate=pair[1], key=(other / "server.key").read_bytes())
