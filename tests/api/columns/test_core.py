from __future__ import annotations

from kumi.api.columns import core
from kumi.api.scheme import Column
from kumi.api.wire import JsonObject


def cells(columns: tuple[Column, ...], obj: JsonObject, now_ms: int = 0) -> dict[str, object]:
    return {column.name: column.cell(obj, now_ms) for column in columns if column.cell is not None}


def test_a_node_is_ready_or_not_and_may_take_no_pods() -> None:
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    lost = {"conditions": [{"type": "Ready", "status": "Unknown"}]}
    assert cells(core.NODE, {"metadata": {}, "status": ready})["Status"] == "Ready"
    assert cells(core.NODE, {"metadata": {}, "status": lost})["Status"] == "NotReady"
    cordoned = {"metadata": {}, "spec": {"unschedulable": True}}
    assert cells(core.NODE, cordoned)["Status"] == "Unknown,SchedulingDisabled"


def test_a_node_s_roles_are_its_labels() -> None:
    labels = {"node-role.kubernetes.io/worker": "", "kubernetes.io/role": "gpu", "other": "x"}
    assert cells(core.NODE, {"metadata": {"labels": labels}})["Roles"] == "gpu,worker"
    assert cells(core.NODE, {"metadata": {}})["Roles"] == "<none>"


def test_a_node_s_addresses_and_versions() -> None:
    status = {
        "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
        "nodeInfo": {"kubeletVersion": "v1", "osImage": "Linux"},
    }
    found = cells(core.NODE, {"metadata": {}, "status": status})
    assert (found["Internal-IP"], found["External-IP"], found["Version"]) == ("10.0.0.1", "<none>", "v1")
    assert (found["OS-Image"], found["Kernel-Version"]) == ("Linux", "<unknown>")


def test_a_service_s_addresses_and_ports() -> None:
    spec = {
        "type": "ClusterIP",
        "clusterIP": "None",
        "ports": [{"port": 80, "protocol": "TCP"}, {"port": 53, "protocol": "UDP", "nodePort": 3000}],
        "selector": {"a": "b"},
    }
    found = cells(core.SERVICE, {"spec": spec})
    assert (found["Cluster-IP"], found["External-IP"]) == ("None", "<none>")
    assert (found["Port(s)"], found["Selector"]) == ("80/TCP,53:3000/UDP", "a=b")
    balanced = {"spec": {"type": "LoadBalancer"}, "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}}
    assert cells(core.SERVICE, balanced)["External-IP"] == "1.2.3.4"
    assert cells(core.SERVICE, {"spec": {"type": "LoadBalancer"}})["External-IP"] == "<pending>"
    named = {"spec": {"type": "ExternalName", "externalName": "x.y"}}
    assert cells(core.SERVICE, named)["External-IP"] == "x.y"


def test_endpoints_show_three_and_count_the_rest() -> None:
    subsets = [{"addresses": [{"ip": f"10.0.0.{i}"} for i in range(5)], "ports": [{"port": 80}]}]
    shown = "10.0.0.0:80,10.0.0.1:80,10.0.0.2:80 + 2 more..."
    assert cells(core.ENDPOINTS, {"subsets": subsets})["Endpoints"] == shown
    assert cells(core.ENDPOINTS, {})["Endpoints"] == "<none>"


def test_data_is_counted() -> None:
    assert cells(core.CONFIG_MAP, {"data": {"a": "1"}, "binaryData": {"b": ""}})["Data"] == 2
    assert cells(core.SECRET, {})["Data"] == 0


def test_an_event_says_when_about_what_and_from_whom() -> None:
    event = {
        "involvedObject": {"kind": "Pod", "name": "p1"},
        "lastTimestamp": "1970-01-01T00:00:10Z",
        "firstTimestamp": "1970-01-01T00:00:00Z",
        "source": {"component": "kubelet", "host": "n1"},
        "message": "it ended\n",
    }
    found = cells(core.EVENT, event, 70_000)
    assert (found["Last Seen"], found["First Seen"], found["Object"]) == ("60s", "70s", "pod/p1")
    assert (found["Source"], found["Message"], found["Count"]) == ("kubelet, n1", "it ended", 1)
    newer = {"eventTime": "1970-01-01T00:00:10Z", "series": {"count": 4}, "reportingComponent": "kumi"}
    found = cells(core.EVENT, newer, 70_000)
    assert (found["Last Seen"], found["Count"], found["Source"]) == ("60s", 4, "kumi")


def test_events_show_their_own_name_last() -> None:
    assert core.EVENT[-1].name == "Name"
    assert core.EVENT[-1].priority == 1
