"""What a sandboxed container would see, as places; nothing is started."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kumi.kubelet import sandbox_view
from kumi.kubelet.mounts import CannotProvide, Mount
from kumi.kubelet.sandbox_view import DEVICE, READ, WRITE, Plan, View, arrange


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A home with a hidden data directory, a working directory and a program's."""
    for name in ("home/data/pods", "home/work/src", "home/env/bin"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path.resolve()


def plan(top: Path, **more: list[str]) -> Plan:
    home = top / "home"
    given = {"hidden": [str(home), str(home / "data")], "shared": [str(home / "work")], **more}
    return Plan("/usr/bin/bwrap", **given)


def places(words: list[str]) -> dict[str, tuple[str, str]]:
    """path -> (option, source)."""
    found, rest = {}, list(words)
    while rest:
        option = rest.pop(0)
        source = "" if option in ("--tmpfs", "--proc", "--dev", "--remount-ro") else rest.pop(0)
        if option != "--remount-ro":
            found[rest[0]] = (option, source)
        rest.pop(0)
    return found


def arranged(plan: Plan, *mounts: Mount) -> dict[str, tuple[str, str]]:
    words, placed = arrange(plan, mounts)
    sandbox_view.close(placed)
    return places(words)


def test_the_machine_is_there_to_read_and_what_is_hidden_is_empty(top: Path) -> None:
    found = arranged(plan(top))
    home = str(top / "home")
    assert found["/usr"] == (READ, "/usr")
    assert found["/proc"][0] == "--proc"
    assert found["/dev"][0] == "--dev"
    assert found["/tmp"][0] == "--tmpfs"
    assert found[home][0] == found[f"{home}/data"][0] == "--tmpfs"
    assert found[f"{home}/work"] == (WRITE, f"{home}/work")
    assert list(found) == sorted(found, key=lambda path: [p for p in path.split("/") if p]), "parents before children"


def test_what_is_shown_is_there_with_the_links_that_lead_to_it(top: Path) -> None:
    (top / "home" / "link").symlink_to("env")
    found = arranged(plan(top, shown=[str(top / "home" / "link" / "bin")]))
    assert found[str(top / "home" / "link")] == ("--symlink", "env")
    assert found[str(top / "home" / "env" / "bin")] == (READ, str(top / "home" / "env" / "bin"))


def test_a_read_only_directory_without_the_mount_point_is_covered(top: Path) -> None:
    volume = Mount(str(top / "home/data/pods"), "/etc/kumi-test/deep", within=str(top / "home/data"))
    words, placed = arrange(plan(top), [volume])
    sandbox_view.close(placed)
    found = places(words)
    assert found["/etc"][0] == "--tmpfs"
    assert found["/etc/passwd"] == (READ, "/etc/passwd")
    assert found["/etc/kumi-test/deep"] == (WRITE, str(top / "home/data/pods"))
    assert words[-4:] == ["--remount-ro", "/etc", "--remount-ro", "/"]


def test_a_new_entry_of_the_root_needs_no_cover(top: Path) -> None:
    found = arranged(plan(top), Mount(str(top / "home/data/pods"), "/kumi-test/x"))
    assert found["/kumi-test/x"][0] == WRITE
    assert found["/etc"] == (READ, "/etc")


def test_a_mount_point_below_a_shared_directory_is_left_to_be_made_for_real(top: Path) -> None:
    target = str(top / "home/work/data")
    found = arranged(plan(top), Mount(str(top / "home/data/pods"), target, read_only=True))
    assert found[target] == (READ, str(top / "home/data/pods"))
    assert found[str(top / "home/work")] == (WRITE, str(top / "home/work"))


def test_links_to_a_mount_point_are_followed_as_the_container_has_them(top: Path) -> None:
    view = View(plan(top))
    (top / "home/work/here").symlink_to("/usr/lib")
    assert view.resolve(str(top / "home/work/here/x")) == "/usr/lib/x"
    (top / "home/secret").symlink_to("/usr/lib")
    assert view.resolve(str(top / "home/secret/x")) == str(top / "home/secret/x"), "it is hidden, and so no link there"


def test_links_in_a_circle_are_refused(top: Path) -> None:
    (top / "home/work/a").symlink_to("b")
    (top / "home/work/b").symlink_to("a")
    with pytest.raises(CannotProvide, match="too many links"):
        View(plan(top)).resolve(str(top / "home/work/a/x"))


def test_a_link_out_of_its_volume_is_refused(top: Path) -> None:
    volume = top / "home/data/pods/v"
    volume.mkdir()
    (volume / "sub").symlink_to(top / "home/data")
    with pytest.raises(CannotProvide, match="leads out of its volume"):
        arranged(plan(top), Mount(str(volume / "sub"), "/data", within=str(volume)))


@pytest.mark.parametrize(
    ("path", "access"),
    [
        ("home/work/src", WRITE),
        ("home/work", READ),  # a part of it may only be read
        ("home/work/env", READ),
        ("home", ""),
        ("home/data/pods", ""),
        ("home/env", ""),
        ("", ""),
    ],
)
def test_a_pod_may_name_what_it_sees_anyway_and_no_more_than_that(top: Path, path: str, access: str) -> None:
    (top / "home/work/env").mkdir()
    view = View(plan(top, shown=[str(top / "home/work/env")]))
    assert view.access(str(top / path)) == access


def test_a_named_path_that_is_only_read_is_mounted_read_only(top: Path) -> None:
    assert arranged(plan(top), Mount("/usr/lib", "/data", named=True))["/data"][0] == READ
    named = Mount(str(top / "home/work/src"), "/data", named=True)
    assert arranged(plan(top), named)["/data"][0] == WRITE
    with pytest.raises(CannotProvide, match="hides it"):
        arranged(plan(top), Mount(str(top / "home"), "/data", named=True))


def test_only_the_devices_of_the_plan_are_there(top: Path) -> None:
    found = arranged(plan(top, devices=["/dev/null", "/dev/kumi-no-such-device"]))
    assert found["/dev/null"] == (DEVICE, "/dev/null")
    assert [path for path in found if path.startswith("/dev/")] == ["/dev/null"]


@pytest.mark.parametrize(
    ("target", "words"), [("/etc/passwd", "there is a file"), ("/usr/lib", "there is a directory")]
)
def test_a_file_is_no_place_for_a_directory_nor_the_other_way_round(top: Path, target: str, words: str) -> None:
    source = str(top) if target == "/etc/passwd" else "/etc/hosts"
    with pytest.raises(CannotProvide, match=words):
        arranged(plan(top), Mount(source, target))


def test_a_mount_over_a_directory_takes_what_was_planned_below_it_away(top: Path) -> None:
    home = str(top / "home")
    found = arranged(plan(top), Mount("/usr/lib", home, read_only=True))
    assert found[home] == (READ, "/usr/lib")
    assert not [path for path in found if path.startswith(home + os.sep)]


def test_what_has_more_entries_than_bubblewrap_takes_is_refused(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_view, "ENTRIES_AT_MOST", 3)
    with pytest.raises(CannotProvide, match="more than 3 entries"):
        View(plan(top)).words()


def test_a_source_that_is_not_there_is_told(top: Path) -> None:
    with pytest.raises(CannotProvide, match="can't mount /no/such: No such file"):
        arranged(plan(top), Mount("/no/such", "/data"))
