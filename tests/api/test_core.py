from __future__ import annotations

import msgspec

from kumi.api import core, scheme


def test_the_core_group_is_registered_with_its_views() -> None:
    known = {kind.kind: kind for kind in scheme.load() if kind.group == ""}
    names = ["Pod", "Node", "Namespace", "Service", "Endpoints", "ConfigMap", "Secret", "ServiceAccount", "Event"]
    found = {name: known[name] for name in names}
    assert found["Pod"].type is core.Pod
    assert [kind.kind for kind in found.values() if not kind.namespaced] == ["Node", "Namespace"]
    assert {"log", "binding", "status"} <= set(found["Pod"].subresources)


def test_names_in_capitals_are_read() -> None:
    pod = msgspec.convert({"status": {"podIP": "10.0.0.1"}}, core.Pod)
    service = msgspec.convert({"spec": {"clusterIP": "None"}}, core.Service)
    assert (pod.status.pod_ip, service.spec.cluster_ip) == ("10.0.0.1", "None")
