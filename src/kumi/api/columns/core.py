"""Columns of the core group, except those of Pod (kumi.api.columns.pod)."""

from __future__ import annotations

from kumi.api.columns.cells import NONE, UNKNOWN, age, condition, joined, pairs
from kumi.api.scheme import AGE, Column
from kumi.api.wire import JsonObject

_ROLE_PREFIX = "node-role.kubernetes.io/"
_ROLE_LABEL = "kubernetes.io/role"
_SHOWN_ENDPOINTS = 3


def _node_status(node: JsonObject, _now_ms: int) -> str:
    ready = condition(node, "Ready")
    words = ["Unknown" if ready is None else "Ready" if ready.get("status") == "True" else "NotReady"]
    if (node.get("spec") or {}).get("unschedulable"):
        words.append("SchedulingDisabled")
    return ",".join(words)


def _node_roles(node: JsonObject, _now_ms: int) -> str:
    roles = set()
    for label, value in (node["metadata"].get("labels") or {}).items():
        if label.startswith(_ROLE_PREFIX) and len(label) > len(_ROLE_PREFIX):
            roles.add(label.removeprefix(_ROLE_PREFIX))
        elif label == _ROLE_LABEL and value:
            roles.add(value)
    return joined(sorted(roles))


def _address(type_: str) -> Column:
    def cell(node: JsonObject, _now_ms: int) -> str:
        for address in (node.get("status") or {}).get("addresses") or ():
            if address.get("type") == type_:
                return str(address.get("address", NONE))
        return NONE

    return Column("Internal-IP" if type_ == "InternalIP" else "External-IP", priority=1, cell=cell)


def _node_info(name: str, key: str, priority: int = 1) -> Column:
    def cell(node: JsonObject, _now_ms: int) -> str:
        return ((node.get("status") or {}).get("nodeInfo") or {}).get(key) or (UNKNOWN if priority else "")

    return Column(name, priority=priority, cell=cell)


NODE = (
    Column("Status", cell=_node_status, description="Ready, NotReady or Unknown, and whether it takes new pods"),
    Column("Roles", cell=_node_roles),
    AGE,
    _node_info("Version", "kubeletVersion", 0),
    _address("InternalIP"),
    _address("ExternalIP"),
    _node_info("OS-Image", "osImage"),
    _node_info("Kernel-Version", "kernelVersion"),
    _node_info("Container-Runtime", "containerRuntimeVersion"),
)

NAMESPACE = (Column("Status", ".status.phase"), AGE)


def _cluster_ip(service: JsonObject, _now_ms: int) -> str:
    return str((service.get("spec") or {}).get("clusterIP") or NONE)


def _external_ip(service: JsonObject, _now_ms: int) -> str:
    spec = service.get("spec") or {}
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName", ""))
    given = list(spec.get("externalIPs") or ())
    if spec.get("type") == "LoadBalancer":
        ingress = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
        given = [i.get("ip") or i.get("hostname", "") for i in ingress] + given
        return ",".join(given) or "<pending>"
    return joined(given)


def _ports(service: JsonObject, _now_ms: int) -> str:
    texts = []
    for port in (service.get("spec") or {}).get("ports") or ():
        node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
        texts.append(f"{port.get('port')}{node_port}/{port.get('protocol', 'TCP')}")
    return joined(texts)


def _selector(service: JsonObject, _now_ms: int) -> str:
    return pairs((service.get("spec") or {}).get("selector"))


SERVICE = (
    Column("Type", ".spec.type"),
    Column("Cluster-IP", cell=_cluster_ip),
    Column("External-IP", cell=_external_ip),
    Column("Port(s)", cell=_ports),
    AGE,
    Column("Selector", priority=1, cell=_selector),
)


def _endpoints(endpoints: JsonObject, _now_ms: int) -> str:
    found = []
    for subset in endpoints.get("subsets") or ():
        ports = subset.get("ports") or ()
        for address in subset.get("addresses") or ():
            found += [f"{address.get('ip')}:{port.get('port')}" for port in ports] or [str(address.get("ip"))]
    more = f" + {len(found) - _SHOWN_ENDPOINTS} more..." if len(found) > _SHOWN_ENDPOINTS else ""
    return joined(found[:_SHOWN_ENDPOINTS]) + more


ENDPOINTS = (Column("Endpoints", cell=_endpoints), AGE)


def _entries(obj: JsonObject, _now_ms: int) -> int:
    return len(obj.get("data") or {}) + len(obj.get("binaryData") or {})


CONFIG_MAP = (Column("Data", cell=_entries), AGE)
SECRET = (Column("Type", ".type"), Column("Data", cell=_entries), AGE)
SERVICE_ACCOUNT = (Column("Secrets", cell=lambda account, _now_ms: len(account.get("secrets") or ())), AGE)


def _last_seen(event: JsonObject, now_ms: int) -> str:
    series = event.get("series") or {}
    last = series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("firstTimestamp")
    return age(last or event.get("eventTime"), now_ms)


def _first_seen(event: JsonObject, now_ms: int) -> str:
    return age(event.get("firstTimestamp") or event.get("eventTime"), now_ms)


def _about(event: JsonObject, _now_ms: int) -> str:
    about = event.get("involvedObject") or {}
    kind, name = str(about.get("kind", "")).lower(), about.get("name", "")
    return f"{kind}/{name}" if name else kind


def _source(event: JsonObject, _now_ms: int) -> str:
    source = event.get("source") or {}
    component, host = source.get("component") or event.get("reportingComponent", ""), source.get("host")
    return f"{component}, {host}" if host else str(component)


def _count(event: JsonObject, _now_ms: int) -> int:
    return int((event.get("series") or {}).get("count") or event.get("count") or 1)


EVENT = (
    Column("Last Seen", cell=_last_seen),
    Column("Type", ".type"),
    Column("Reason", ".reason"),
    Column("Object", cell=_about),
    Column("Subobject", ".involvedObject.fieldPath", priority=1),
    Column("Source", priority=1, cell=_source),
    Column("Message", cell=lambda event, _now_ms: str(event.get("message", "")).strip()),
    Column("First Seen", priority=1, cell=_first_seen),
    Column("Count", priority=1, cell=_count),
    Column("Name", ".metadata.name", priority=1),
)
