"""Where things are, in the order in which they are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumi.api.errors import KumiError
from kumi.sdk.places import data_dir, find_kubeconfig


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("KUBECONFIG", "KUMI_DATA_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


def write(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return str(path)


def test_the_data_directory_is_the_users_unless_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert data_dir() == home / ".local" / "share" / "kumi"
    monkeypatch.setenv("XDG_DATA_HOME", "/x")
    assert data_dir() == Path("/x/kumi")
    monkeypatch.setenv("KUMI_DATA_DIR", "/y")
    assert data_dir() == Path("/y")


def test_a_kubeconfig_is_looked_for_in_four_places(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KumiError, match="kumi up"):
        find_kubeconfig()
    users = write(home / ".kube" / "config")
    assert find_kubeconfig() == users
    ours = write(data_dir() / "kubeconfig")
    assert find_kubeconfig() == ours
    monkeypatch.setenv("KUBECONFIG", "a:b")
    assert find_kubeconfig() == "a:b"
    assert find_kubeconfig("c") == "c"
