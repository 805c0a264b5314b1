from __future__ import annotations

from typing import Any

import pytest

from kumi.api.validation.volumes import volumes


@pytest.mark.parametrize(
    ("volume", "paths"),
    [
        ({"name": "a", "emptyDir": {}}, []),
        ({"emptyDir": {}}, ["v[0].name"]),
        ({"name": "A", "emptyDir": {}}, ["v[0].name"]),
        ({"name": "a"}, ["v[0]"]),
        ({"name": "a", "emptyDir": {}, "hostPath": {"path": "/x"}}, ["v[0].hostPath"]),
        ({"name": "a", "hostPath": {}}, ["v[0].hostPath.path"]),
        ({"name": "a", "hostPath": {"path": "/x/../y"}}, ["v[0].hostPath.path"]),
        ({"name": "a", "secret": {}}, ["v[0].secret.secretName"]),
        ({"name": "a", "configMap": {"name": "m", "defaultMode": 0o1777}}, ["v[0].configMap.defaultMode"]),
        (
            {"name": "a", "configMap": {"name": "m", "items": [{"key": "k", "path": "/abs"}]}},
            ["v[0].configMap.items[0].path"],
        ),
        (
            {"name": "a", "configMap": {"name": "m", "items": [{}]}},
            ["v[0].configMap.items[0].key", "v[0].configMap.items[0].path"],
        ),
        ({"name": "a", "persistentVolumeClaim": {}}, ["v[0].persistentVolumeClaim.claimName"]),
        ({"name": "a", "emptyDir": {"sizeLimit": "-1"}}, ["v[0].emptyDir.sizeLimit"]),
        ({"name": "a", "emptyDir": {"sizeLimit": "big"}}, ["v[0].emptyDir.sizeLimit"]),
    ],
)
def test_a_volume_has_a_name_and_one_source(volume: dict[str, Any], paths: list[str]) -> None:
    assert [error.path for error in volumes([volume], "v")[1]] == paths


def test_names_are_unique_and_are_given_for_mounts() -> None:
    names, errors = volumes([{"name": "a", "emptyDir": {}}, {"name": "a", "emptyDir": {}}], "v")
    assert names == {"a"}
    assert [error.path for error in errors] == ["v[1].name"]
