from __future__ import annotations

from kumi.api.defaulting import core
from kumi.api.wire import JsonObject


def test_a_service_has_a_type_and_its_ports_a_protocol_and_a_target() -> None:
    service: JsonObject = {"spec": {"ports": [{"port": 80}, {"port": 81, "targetPort": "http", "protocol": "UDP"}]}}
    core.default_service(service)
    assert service["spec"] == {
        "ports": [
            {"port": 80, "protocol": "TCP", "targetPort": 80},
            {"port": 81, "targetPort": "http", "protocol": "UDP"},
        ],
        "type": "ClusterIP",
        "sessionAffinity": "None",
        "internalTrafficPolicy": "Cluster",
    }


def test_traffic_policies_go_with_the_type() -> None:
    services: dict[str, JsonObject] = {type_: {"spec": {"type": type_}} for type_ in ("NodePort", "ExternalName")}
    for service in services.values():
        core.default_service(service)
    assert services["NodePort"]["spec"]["externalTrafficPolicy"] == "Cluster"
    assert "internalTrafficPolicy" not in services["ExternalName"]["spec"]


def test_text_of_a_secret_goes_over_its_data_and_is_not_kept() -> None:
    secret: JsonObject = {"data": {"a": "eA==", "b": "eA=="}, "stringData": {"a": "é"}}
    core.default_secret(secret)
    assert secret == {"data": {"a": "w6k=", "b": "eA=="}, "type": "Opaque"}


def test_ports_of_endpoints_are_tcp() -> None:
    endpoints: JsonObject = {"subsets": [{"ports": [{"port": 1}]}]}
    core.default_endpoints(endpoints)
    assert endpoints["subsets"][0]["ports"][0]["protocol"] == "TCP"


def test_a_namespace_has_the_label_of_its_name() -> None:
    namespace = {"metadata": {"name": "a", "labels": {"x": "y"}}}
    core.default_namespace(namespace)
    assert namespace["metadata"]["labels"] == {"x": "y", "kubernetes.io/metadata.name": "a"}
    nameless: dict[str, dict[str, str]] = {"metadata": {"generateName": "a-"}}
    core.default_namespace(nameless)
    assert nameless == {"metadata": {"generateName": "a-"}}
