from __future__ import annotations

from kumi.api.columns import networking
from kumi.api.scheme import Column
from kumi.api.wire import JsonObject


def shown(columns: tuple[Column, ...], obj: JsonObject) -> dict[str, object]:
    return {c.name: c.cell(obj, 0) for c in columns if c.cell is not None}


def test_an_ingress_shows_its_hosts_and_ports() -> None:
    rules = [{"host": f"h{i}"} for i in range(4)]
    cells = shown(networking.INGRESS, {"spec": {"rules": rules, "tls": [{}]}})
    assert cells == {"Class": "<none>", "Hosts": "h0,h1,h2 + 1 more...", "Address": "", "Ports": "80, 443"}
    assert shown(networking.INGRESS, {"spec": {}})["Hosts"] == "*"


def test_a_class_shows_its_parameters() -> None:
    parameters = {"apiGroup": "g.io", "kind": "K", "name": "n"}
    assert shown(networking.INGRESS_CLASS, {"spec": {"parameters": parameters}})["Parameters"] == "K.g.io/n"
    assert shown(networking.INGRESS_CLASS, {})["Parameters"] == "<none>"


def test_a_slice_shows_its_first_addresses() -> None:
    found = {"ports": [{"port": 80}], "endpoints": [{"addresses": [f"10.0.0.{i}"]} for i in range(4)]}
    cells = shown(networking.ENDPOINT_SLICE, found)
    assert cells == {"Ports": "80", "Endpoints": "10.0.0.0,10.0.0.1,10.0.0.2 + 1 more..."}
    assert shown(networking.ENDPOINT_SLICE, {}) == {"Ports": "<unset>", "Endpoints": "<unset>"}


def test_a_policy_shows_whom_it_is_about() -> None:
    assert shown(networking.NETWORK_POLICY, {"spec": {"podSelector": {"matchLabels": {"a": "b"}}}}) == {
        "Pod-Selector": "a=b"
    }
