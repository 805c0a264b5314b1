from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from kumi.kubelet import mounts
from kumi.kubelet.environment import CannotConfigure, Facts, Sources
from kumi.kubelet.mounts import Mount
from kumi.kubelet.volumes import contents_of, mounts_of, provide, remove, tokens_of, variables_of, wanted_of
from tests.kubelet.stage import container, pod


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


SOURCES = Sources(
    {"cm": {"data": {"a": "1", "b": "2"}}, "none": None}, {"sec": {"data": {"key": b64("secret")}}, "none": None}
)


def facts(**spec: Any) -> Facts:
    return Facts(pod("p", container("x"), meta={"uid": "u1", "labels": {"app": "x"}}, **spec), "127.0.0.1", "127.9.0.2")


def contents(volume: dict[str, Any]) -> dict[str, tuple[bytes, int]]:
    return {path: tuple(c) for path, c in contents_of({"name": "v", **volume}, SOURCES, facts()).items()}


def test_a_config_map_is_a_file_a_key() -> None:
    assert contents({"configMap": {"name": "cm"}}) == {"a": (b"1", 0o644), "b": (b"2", 0o644)}


def test_items_choose_keys_paths_and_modes() -> None:
    items = [{"key": "a", "path": "sub/x", "mode": 0o600}]
    assert contents({"configMap": {"name": "cm", "items": items, "defaultMode": 0o400}}) == {"sub/x": (b"1", 0o600)}
    with pytest.raises(CannotConfigure, match="non-existent config key: zz"):
        contents({"configMap": {"name": "cm", "items": [{"key": "zz", "path": "x"}]}})


def test_a_secret_is_decoded() -> None:
    assert contents({"secret": {"secretName": "sec", "defaultMode": 0o400}}) == {"key": (b"secret", 0o400)}


def test_what_is_missing_is_refused_unless_optional() -> None:
    for volume, noun in (
        ({"configMap": {"name": "none"}}, 'configmap "none" not found'),
        ({"secret": {"secretName": "none"}}, 'secret "none" not found'),
    ):
        with pytest.raises(CannotConfigure, match=noun):
            contents(volume)
    assert contents({"configMap": {"name": "none", "optional": True}}) == {}
    assert contents({"secret": {"secretName": "none", "optional": True}}) == {}


def test_a_projected_volume_is_all_its_sources() -> None:
    label = {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels['app']"}}
    sources = [{"configMap": {"name": "cm"}}, {"secret": {"name": "sec"}}, {"downwardAPI": {"items": [label]}}]
    found = contents({"projected": {"sources": sources, "defaultMode": 0o440}})
    assert {path: data for path, (data, _) in found.items()} == {"a": b"1", "b": b"2", "key": b"secret", "labels": b"x"}
    assert {mode for _, mode in found.values()} == {0o440}


def test_every_volume_of_a_pod_is_provided_and_removed(tmp_path: Path) -> None:
    volumes = [
        {"name": "e", "emptyDir": {}},
        {"name": "c", "configMap": {"name": "cm", "items": [{"key": "a", "path": "d/f"}]}},
        {"name": "h", "hostPath": {"path": str(tmp_path / "made"), "type": "DirectoryOrCreate"}},
    ]
    found = facts(volumes=volumes)
    places = provide(found.pod, tmp_path / "v", SOURCES, found)
    assert places == {"e": str(tmp_path / "v" / "e"), "c": str(tmp_path / "v" / "c"), "h": str(tmp_path / "made")}
    assert (tmp_path / "v" / "c" / "d" / "f").read_text() == "1"
    assert (tmp_path / "v" / "e").stat().st_mode & 0o777 == 0o777
    assert provide(found.pod, tmp_path / "v", SOURCES, found) == places
    remove("u1", tmp_path / "v")
    assert not (tmp_path / "v").exists()
    assert (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("volume", "words"),
    [
        ({"persistentVolumeClaim": {"claimName": "c"}}, "persistentVolumeClaim is not known on this node"),
        ({"hostPath": {"path": "/no/such"}}, "/no/such is not a path of this machine"),
        ({"hostPath": {"path": "/etc/passwd", "type": "Directory"}}, "is not a directory"),
        ({"configMap": {"name": "cm", "items": [{"key": "a", "path": "../x"}]}}, "must be a path below the volume"),
    ],
)
def test_what_can_not_be_provided_says_why(tmp_path: Path, volume: dict[str, Any], words: str) -> None:
    found = facts(volumes=[{"name": "v", **volume}])
    with pytest.raises(CannotConfigure, match=words):
        provide(found.pod, tmp_path, SOURCES, found)


def test_mounts_have_their_sub_path_and_what_was_written_for_the_pod_is_read_only(tmp_path: Path) -> None:
    found = facts(volumes=[{"name": "e", "emptyDir": {}}, {"name": "c", "configMap": {"name": "cm"}}])
    places = provide(found.pod, tmp_path, SOURCES, found)
    wanted = [
        {"name": "e", "mountPath": "/data", "subPathExpr": "run-$(N)"},
        {"name": "c", "mountPath": "/etc/x", "subPath": "a"},
        {"name": "e", "mountPath": "/ro", "readOnly": True},
    ]
    mounted = mounts_of(container("x", volumeMounts=wanted), found.pod, places, {"N": "7"}, mounts.USER)
    assert mounted == [
        Mount(str(tmp_path / "e" / "run-7"), "/data", False, str(tmp_path / "e")),
        Mount(str(tmp_path / "c" / "a"), "/etc/x", True, str(tmp_path / "c")),
        Mount(str(tmp_path / "e"), "/ro", True, str(tmp_path / "e")),
    ]
    assert (tmp_path / "e" / "run-7").is_dir()


def test_where_nothing_can_be_mounted_only_what_is_there_anyway_is_provided(tmp_path: Path) -> None:
    volumes = [{"name": "h", "hostPath": {"path": str(tmp_path)}}, {"name": "my-data", "emptyDir": {}}]
    found = facts(volumes=volumes)
    places = provide(found.pod, tmp_path / "v", SOURCES, found)
    same = container("x", volumeMounts=[{"name": "h", "mountPath": str(tmp_path)}])
    assert mounts_of(same, found.pod, places, {}, mounts.NONE) == []
    other = container("x", volumeMounts=[{"name": "my-data", "mountPath": "/data"}])
    with pytest.raises(CannotConfigure, match=r"mountPath /data can't be provided.*KUMI_VOLUME_MY_DATA") as refusal:
        mounts_of(other, found.pod, places, {}, mounts.NONE)
    assert refusal.value.reason == "CreateContainerConfigError"
    assert variables_of(places)["KUMI_VOLUME_MY_DATA"] == str(tmp_path / "v" / "my-data")


def test_the_objects_that_volumes_need() -> None:
    volumes = [
        {"name": "1", "configMap": {"name": "b"}},
        {"name": "2", "projected": {"sources": [{"configMap": {"name": "a"}}, {"secret": {"name": "s2"}}]}},
        {"name": "3", "secret": {"secretName": "s1"}},
        {"name": "4", "emptyDir": {}},
    ]
    assert wanted_of(pod("p", "x", volumes=volumes)) == (["a", "b"], ["s1", "s2"])


GIVEN = {
    "name": "kube-api-access-x",
    "projected": {
        "sources": [
            {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
            {"serviceAccountToken": {"path": "vault", "audience": "vault"}},
        ]
    },
}


def test_the_tokens_that_a_pod_needs_are_told_once_each() -> None:
    twice = {**GIVEN, "name": "again"}
    assert tokens_of(pod("p", container("x"), volumes=[GIVEN, twice])) == [("", 3607), ("vault", 3600)]


def test_a_token_is_a_file() -> None:
    sources = Sources(tokens={("", 3607): "ours", ("vault", 3600): "theirs"})
    found = contents_of(GIVEN, sources, facts())
    assert {path: content.data for path, content in found.items()} == {"token": b"ours", "vault": b"theirs"}


def test_what_every_pod_is_given_is_left_out_where_nothing_can_be_mounted() -> None:
    mount = {"name": "kube-api-access-x", "mountPath": "/var/run/secrets/x"}
    run = {**container("x"), "volumeMounts": [mount]}
    owner = pod("p", run, volumes=[GIVEN])
    assert mounts_of(run, owner, {"kube-api-access-x": "/nowhere"}, {}, mounts.NONE) == []
    (made,) = mounts_of(run, owner, {"kube-api-access-x": "/nowhere"}, {}, mounts.USER)
    assert (made.target, made.read_only) == ("/var/run/secrets/x", True)


def test_a_sub_path_that_a_link_leads_out_of_the_volume_is_refused_and_nothing_is_made_there(tmp_path: Path) -> None:
    found = facts(volumes=[{"name": "e", "emptyDir": {}}])
    places = provide(found.pod, tmp_path / "volumes", SOURCES, found)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "volumes" / "e" / "link").symlink_to(tmp_path / "elsewhere")
    wanted = [{"name": "e", "mountPath": "/data", "subPath": "link/new"}]
    with pytest.raises(CannotConfigure, match="leads out of it"):
        mounts_of(container("x", volumeMounts=wanted), found.pod, places, {}, mounts.USER)
    assert not list((tmp_path / "elsewhere").iterdir())
