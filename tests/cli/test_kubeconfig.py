from __future__ import annotations

import base64
import stat
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from cryptography import x509
from cryptography.x509.oid import NameOID

from kumi.api.errors import KumiError
from kumi.apiserver import pki
from kumi.cli.kubeconfig import command

URL = "https://127.0.0.1:6443"


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    pki.ensure(tmp_path / "pki", (), time.time_ns() // 1_000_000)
    return tmp_path


def run(data_dir: Path, *words: str) -> str:
    result = CliRunner().invoke(command, [*words, "--data-dir", str(data_dir)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def certificate_of(config: Any) -> x509.Certificate:
    (user,) = config["users"]
    return x509.load_pem_x509_certificate(base64.b64decode(user["user"]["client-certificate-data"]))


def test_the_certificate_names_the_user_and_the_groups_for_so_long(data_dir: Path) -> None:
    words = ("--user", "jane", "--group", "devs", "--group", "ops", "--days", "30", "-n", "team", "--server", URL)
    config = yaml.safe_load(run(data_dir, *words))
    certificate = certificate_of(config)
    named = [(a.oid, a.value) for a in certificate.subject]
    organization = NameOID.ORGANIZATION_NAME
    assert named == [(organization, "devs"), (organization, "ops"), (NameOID.COMMON_NAME, "jane")]
    assert (certificate.not_valid_after_utc - certificate.not_valid_before_utc).days == 30
    authority = x509.load_pem_x509_certificate(pki.authority_pem(data_dir / "pki"))
    certificate.verify_directly_issued_by(authority)
    assert config["clusters"][0]["cluster"]["server"] == URL
    assert config["contexts"][0]["context"]["namespace"] == "team"


def test_a_file_is_for_its_owner_only(data_dir: Path) -> None:
    assert run(data_dir, "--user", "jane", "--server", URL, "-o", str(data_dir / "jane")) == ""
    assert stat.S_IMODE((data_dir / "jane").stat().st_mode) == 0o600
    assert yaml.safe_load((data_dir / "jane").read_text())["users"][0]["name"] == "jane"


def test_without_a_cluster_an_address_is_needed(data_dir: Path) -> None:
    with pytest.raises(KumiError, match="--server"):
        run(data_dir, "--user", "jane")


@pytest.mark.parametrize(("user", "word"), [("", "name"), ("j" * 65, "name")])
def test_a_name_that_no_certificate_has_is_refused(data_dir: Path, user: str, word: str) -> None:
    with pytest.raises(KumiError, match=word):
        run(data_dir, "--user", user, "--server", URL)


def test_without_an_authority_there_is_nothing_to_hand_out(tmp_path: Path) -> None:
    with pytest.raises(KumiError, match="start the cluster once"):
        run(tmp_path, "--user", "jane", "--server", URL)
