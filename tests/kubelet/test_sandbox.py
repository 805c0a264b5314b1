"""Which directories sandboxes have. `bwrap` need not be here."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kumi.api.errors import KumiError
from kumi.kubelet import sandbox
from kumi.kubelet.environment import CannotConfigure
from kumi.kubelet.sandbox import Extra, check_host_paths, device_nodes, plan_of, refusal, variables_of
from kumi.kubelet.sandbox_view import Plan
from tests.kubelet.stage import pod


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, and a bubblewrap that need not be there."""
    found = (tmp_path / "home").resolve()
    for name in ("work", "env/bin", "data"):
        (found / name).mkdir(parents=True)
    monkeypatch.setattr(sandbox.shutil, "which", lambda _: "/usr/bin/bwrap")
    return found


def planned(home: Path, work: Path, **more: Any) -> Plan:
    return plan_of(home / "data", work, {"HOME": str(home), **more.pop("environment", {})}, Extra(**more))


def test_the_home_and_the_data_directory_are_hidden_and_the_working_directory_is_shared(home: Path) -> None:
    found = planned(home, home / "work")
    assert {str(home), str(home / "data")} <= set(found.hidden)
    assert found.shared == [str(home / "work")]


@pytest.mark.parametrize("place", [lambda home: home, lambda home: home.parent, lambda _: Path("/")])
def test_a_working_directory_around_the_home_is_not_shared(home: Path, place: Callable[[Path], Path]) -> None:
    assert planned(home, place(home)).shared == []


def test_an_active_environment_is_shown(home: Path) -> None:
    found = planned(home, home / "work", environment={"VIRTUAL_ENV": str(home / "env")}, shown=[home / "more"])
    assert {str(home / "env"), str(home / "more")} <= set(found.shown)


def test_programs_in_a_shared_directory_can_be_neither_written_nor_moved_away(home: Path) -> None:
    inner = home / "work" / "envs" / "mine"
    inner.mkdir(parents=True)
    found = planned(home, home / "work", environment={"VIRTUAL_ENV": str(inner)})
    assert str(home / "work" / "envs") in found.shown


def test_a_data_directory_that_pods_could_move_away_is_refused(home: Path) -> None:
    with pytest.raises(KumiError, match="choose another --data-dir"):
        plan_of(home / "work" / "data", home / "work", {"HOME": str(home)})
    with pytest.raises(KumiError, match="which pods may write"):
        planned(home, home / "work", shared=[home])


def test_without_bubblewrap_it_is_said_what_to_install(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox.shutil, "which", lambda _: None)
    with pytest.raises(KumiError, match="apt install bubblewrap"):
        planned(home, home / "work")
    assert "user.max_user_namespaces" in str(refusal("No space left on device"))


def test_no_key_of_the_shell_reaches_a_pod() -> None:
    given = {"PATH": "/bin", "HOME": "/h", "LC_ALL": "C", "AWS_SECRET_ACCESS_KEY": "x", "SSH_AUTH_SOCK": "y"}
    assert variables_of(given) == {"PATH": "/bin", "HOME": "/h", "LC_ALL": "C"}


def test_a_container_has_the_nodes_of_its_own_gpus_and_one_without_has_none() -> None:
    assert device_nodes([]) == []
    found = device_nodes([3, 1])
    assert [node for node in found if node[-1].isdigit()] == ["/dev/nvidia3", "/dev/nvidia1"]
    assert "/dev/nvidiactl" in found


def host_path(path: str, type_: str = "") -> dict[str, Any]:
    return pod("p", "true", volumes=[{"name": "v", "hostPath": {"path": path, "type": type_}}])


def test_a_host_path_that_pods_do_not_see_is_refused_before_anything_is_made(home: Path) -> None:
    plan = planned(home, home / "work")
    for path in (home / "data" / "pods", home, Path("/")):
        with pytest.raises(CannotConfigure, match="the sandbox hides it"):
            check_host_paths(host_path(str(path)), plan)
    (home / "work" / "link").symlink_to(home / "data")
    with pytest.raises(CannotConfigure, match="the sandbox hides it"):
        check_host_paths(host_path(str(home / "work" / "link")), plan)
    with pytest.raises(CannotConfigure, match="so it is not made"):
        check_host_paths(host_path("/usr/kumi-no-such-directory", "DirectoryOrCreate"), plan)
    assert not os.path.exists("/usr/kumi-no-such-directory")
    check_host_paths(host_path(str(home / "work" / "new"), "DirectoryOrCreate"), plan)
    check_host_paths(host_path("/usr/lib"), plan)
