from __future__ import annotations

from typing import Any

from kumi.api.defaulting.networking import default_endpoint_slice, default_ingress_class, default_network_policy


def test_a_policy_is_about_egress_if_it_has_rules_for_it() -> None:
    policy: dict[str, Any] = {"spec": {"egress": [{"ports": [{"port": 1}]}]}}
    default_network_policy(policy)
    assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
    assert policy["spec"]["egress"][0]["ports"] == [{"port": 1, "protocol": "TCP"}]
    plain: dict[str, Any] = {}
    default_network_policy(plain)
    assert plain["spec"]["policyTypes"] == ["Ingress"]


def test_ports_and_parameters_say_all() -> None:
    found: dict[str, Any] = {"ports": [{"port": 1}]}
    default_endpoint_slice(found)
    assert found["ports"] == [{"port": 1, "name": "", "protocol": "TCP"}]
    class_: dict[str, Any] = {"spec": {"parameters": {"kind": "K", "name": "n"}}}
    default_ingress_class(class_)
    assert class_["spec"]["parameters"]["scope"] == "Cluster"
