from __future__ import annotations

import datetime as dt
import ssl
import stat
from pathlib import Path

import pytest
from cryptography import x509

from kumi.api.errors import KumiError
from kumi.apiserver import pki

NOW = 1_800_000_000_000
DAY = 24 * 3600 * 1000


def server_certificate(directory: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate((directory / "server.crt").read_bytes())


def names(directory: Path) -> list[str]:
    extension = server_certificate(directory).extensions.get_extension_for_class(x509.SubjectAlternativeName)
    return [str(name.value) for name in extension.value]


def test_the_server_certificate_is_for_this_machine_and_the_names_given(tmp_path: Path) -> None:
    assert pki.ensure(tmp_path, ("head.lab.example", "192.0.2.7"), NOW)
    assert {"localhost", "127.0.0.1", "::1", "head.lab.example", "192.0.2.7"} <= set(names(tmp_path))


def test_the_server_certificate_is_issued_by_the_authority(tmp_path: Path) -> None:
    pki.ensure(tmp_path, (), NOW)
    authority = x509.load_pem_x509_certificate(pki.authority_pem(tmp_path))
    server_certificate(tmp_path).verify_directly_issued_by(authority)
    assert authority.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_only_the_owner_can_read_the_files(tmp_path: Path) -> None:
    directory = tmp_path / "pki"
    pki.ensure(directory, (), NOW)
    assert {stat.S_IMODE(p.stat().st_mode) for p in directory.iterdir()} == {0o600}
    assert sorted(p.name for p in directory.iterdir()) == ["ca.crt", "ca.key", "server.crt", "server.key"]


def test_asking_again_writes_nothing(tmp_path: Path) -> None:
    pki.ensure(tmp_path, (), NOW)
    before = server_certificate(tmp_path)
    assert not pki.ensure(tmp_path, (), NOW + DAY)
    assert server_certificate(tmp_path) == before


@pytest.mark.parametrize(("days", "renewed"), [(240, False), (250, True), (400, True)])
def test_it_is_renewed_when_a_third_of_its_life_is_left(tmp_path: Path, days: int, renewed: bool) -> None:
    pki.ensure(tmp_path, (), NOW)
    authority = pki.authority_pem(tmp_path)
    assert pki.ensure(tmp_path, (), NOW + days * DAY) is renewed
    assert pki.authority_pem(tmp_path) == authority
    assert server_certificate(tmp_path).not_valid_after_utc > dt.datetime.fromtimestamp(
        NOW / 1000 + days * 86400, dt.UTC
    )


def test_it_is_made_again_when_the_names_change(tmp_path: Path) -> None:
    pki.ensure(tmp_path, (), NOW)
    assert pki.ensure(tmp_path, ("other.example",), NOW)
    assert "other.example" in names(tmp_path)


def test_it_is_made_again_when_it_cannot_be_read(tmp_path: Path) -> None:
    pki.ensure(tmp_path, (), NOW)
    (tmp_path / "server.crt").write_text("nonsense")
    assert pki.ensure(tmp_path, (), NOW)
    assert server_certificate(tmp_path)


def test_it_is_made_again_when_the_key_is_another_one(tmp_path: Path) -> None:
    pki.ensure(tmp_path, (), NOW)
    (tmp_path / "server.key").write_bytes((tmp_path / "ca.key").read_bytes())
    assert pki.ensure(tmp_path, (), NOW)


def test_an_authority_that_cannot_be_read_is_an_error_and_stays(tmp_path: Path) -> None:
    pki.ensure(tmp_path, (), NOW)
    (tmp_path / "ca.key").write_text("nonsense")
    with pytest.raises(KumiError, match="authority"):
        pki.ensure(tmp_path, (), NOW)
    assert (tmp_path / "ca.key").read_text() == "nonsense"


def test_half_an_authority_is_an_error(tmp_path: Path) -> None:
    pki.ensure(tmp_path, (), NOW)
    (tmp_path / "ca.key").unlink()
    with pytest.raises(KumiError, match="authority"):
        pki.ensure(tmp_path, (), NOW)


def test_an_authority_near_its_end_is_replaced_and_the_server_with_it(tmp_path: Path) -> None:
    pki.ensure(tmp_path, (), NOW)
    before = pki.authority_pem(tmp_path)
    assert pki.ensure(tmp_path, (), NOW + 3400 * DAY)
    assert pki.authority_pem(tmp_path) != before
    server_certificate(tmp_path).verify_directly_issued_by(x509.load_pem_x509_certificate(pki.authority_pem(tmp_path)))


def test_the_context_is_one_of_a_server(tmp_path: Path) -> None:
    pki.ensure(tmp_path, (), NOW)
    context = pki.server_context(tmp_path)
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pki.write_private(tmp_path / "f", b"old")

    def full(_: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(pki.os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        pki.write_private(tmp_path / "f", b"new")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("f", b"old")]
