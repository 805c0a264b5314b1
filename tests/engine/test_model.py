"""Model: a pod's key is its namespace and its name."""

from __future__ import annotations

import pytest

from kumi.engine.model import Pod, PodShape


@pytest.mark.parametrize(("key", "namespace", "name"), [("team/a", "team", "a"), ("/a", "", "a")])
def test_a_pod_tells_its_namespace_and_its_name_from_its_key(key: str, namespace: str, name: str) -> None:
    pod = Pod("uid", key, PodShape(()), 0)
    assert (pod.namespace, pod.name) == (namespace, name)
