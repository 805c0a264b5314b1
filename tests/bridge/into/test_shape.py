from __future__ import annotations

import pytest

from kumi.api.core import Toleration
from kumi.api.errors import KumiError
from kumi.bridge.into.shape import Shapes, requirement, toleration
from kumi.engine import model


def template(**spec: object) -> dict[str, object]:
    return {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "500m"}}}], **spec}}


def test_equal_pods_have_one_shape() -> None:
    shapes = Shapes()
    assert shapes.of_template(template()) is shapes.of_template(template())


def test_a_pod_asks_for_what_its_containers_ask_for() -> None:
    assert Shapes().of_template(template()).requests == (("cpu", 500),)


def test_init_containers_and_overhead_count() -> None:
    init = {"name": "i", "resources": {"requests": {"cpu": "2"}}}
    shape = Shapes().of_template(template(initContainers=[init], overhead={"cpu": "250m"}))
    assert dict(shape.requests)["cpu"] == 2250


def test_selectors_and_tolerations_are_kept() -> None:
    shape = Shapes().of_template(
        template(
            nodeSelector={"b": "2", "a": "1"},
            tolerations=[{"key": "k", "operator": "Exists"}, {"key": "e", "value": "v"}],
        )
    )
    assert shape.node_selector == (("a", "1"), ("b", "2"))
    assert shape.tolerations == (model.Toleration("k", "Exists", "", ""), model.Toleration("e", "Equal", "v", ""))


def test_required_node_affinity_is_kept_and_preferred_is_not() -> None:
    term = {"matchExpressions": [{"key": "gpu", "operator": "In", "values": ["a", "b"]}]}
    named = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term, named, {}]},
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": term}],
        }
    }
    shape = Shapes().of_template(template(affinity=affinity))
    assert shape.affinity == (
        (model.Requirement("gpu", "In", ("a", "b")),),
        (model.Requirement("metadata.name", "In", ("n1",)),),
    )


def test_without_required_affinity_there_is_none() -> None:
    assert Shapes().of_template(template()).affinity is None
    assert Shapes().of_template(template(affinity={"podAntiAffinity": {}})).affinity is None


@pytest.mark.parametrize(
    "spec",
    [{"containers": "none"}, {"containers": [{"name": "c", "resources": {"requests": {"cpu": "many"}}}]}],
)
def test_a_template_that_cannot_be_read_is_an_error(spec: dict[str, object]) -> None:
    with pytest.raises(KumiError):
        Shapes().of_template({"spec": spec})


def test_a_requirement_without_values() -> None:
    assert requirement({"key": "k", "operator": "Exists"}) == model.Requirement("k", "Exists", ())


def test_an_empty_operator_means_equal() -> None:
    assert toleration(Toleration(key="k", operator="", value="v")) == model.Toleration("k", "Equal", "v", "")


def test_preferred_node_affinity_is_kept_with_its_weights() -> None:
    term = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
    wanted = [{"weight": 7, "preference": term}, {"weight": 1, "preference": {}}, {"weight": 0, "preference": term}]
    shape = Shapes().of_template(
        template(affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": wanted}})
    )
    assert shape.preferred == ((7, (model.Requirement("disk", "In", ("ssd",)),)),)


def test_ports_of_the_host_are_those_of_containers_that_stay() -> None:
    def container(name: str, *ports: dict[str, object], **more: object) -> dict[str, object]:
        return {"name": name, "ports": list(ports), **more}

    spec = {
        "containers": [
            container("a", {"containerPort": 1, "hostPort": 80}, {"containerPort": 2}),
            container("b", {"containerPort": 3, "hostPort": 80, "protocol": "UDP", "hostIP": "10.0.0.1"}),
        ],
        "initContainers": [
            container("s", {"containerPort": 4, "hostPort": 81}, restartPolicy="Always"),
            container("i", {"containerPort": 5, "hostPort": 82}),
        ],
    }
    assert Shapes().of_template({"spec": spec}).ports == (
        model.HostPort(80),
        model.HostPort(80, "UDP", "10.0.0.1"),
        model.HostPort(81),
    )
    on_host = Shapes().of_template({"spec": {**spec, "hostNetwork": True}})
    assert [port.port for port in on_host.ports] == [80, 2, 80, 81]


def test_images_are_named_as_nodes_name_them() -> None:
    images = ["x", "r:5000/x", "x:1", "x@sha256:1", ""]
    shape = Shapes().of_template({"spec": {"containers": [{"name": "c", "image": i} for i in images]}})
    assert shape.images == ("x:latest", "r:5000/x:latest", "x:1", "x@sha256:1")
    assert shape.containers == 5


@pytest.mark.parametrize(
    ("requests", "scored"),
    [
        ([{"cpu": "1", "memory": "1Gi"}], None),
        ([{}], (100, 200 * 2**20)),
        ([{"cpu": "1"}, {"memory": "1Gi"}], (1100, 2**30 + 200 * 2**20)),
    ],
)
def test_a_container_that_says_nothing_counts_for_a_little_in_scores(
    requests: list[dict[str, str]], scored: tuple[int, int] | None
) -> None:
    containers = [{"name": str(at), "resources": {"requests": asked}} for at, asked in enumerate(requests)]
    assert Shapes().of_template({"spec": {"containers": containers}}).scored == scored


@pytest.mark.parametrize(
    ("resources", "cpus"),
    [
        ([({"cpu": "2", "memory": "1Gi"}, {})], (2,)),
        (
            [({"cpu": "2", "memory": "1Gi"}, {"cpu": "2000m", "memory": "1Gi"}), ({"cpu": "500m", "memory": "1"}, {})],
            (2, 0),
        ),
        ([({"cpu": "2", "memory": "1Gi"}, {"cpu": "1"})], ()),
        ([({"cpu": "2"}, {})], ()),
        ([({"cpu": "0", "memory": "1Gi"}, {})], ()),
        ([({}, {})], ()),
    ],
)
def test_whole_cpus_are_of_pods_that_ask_for_just_their_limits(
    resources: list[tuple[dict[str, str], dict[str, str]]], cpus: tuple[int, ...]
) -> None:
    containers = [
        {"name": str(at), "resources": {"limits": limits, "requests": asked}}
        for at, (limits, asked) in enumerate(resources)
    ]
    assert Shapes().of_template({"spec": {"containers": containers}}).whole_cpus == cpus


def test_what_a_pod_says_of_others_is_read_with_its_labels() -> None:
    constraint = {"topologyKey": "zone", "maxSkew": 1, "labelSelector": {}, "matchLabelKeys": ["rev"]}
    made = Shapes().of_template(
        {**template(topologySpreadConstraints=[constraint]), "metadata": {"labels": {"rev": "1"}}}
    )
    assert made.neighbours == model.Neighbours(
        spread=(model.SpreadTerm("zone", (model.Requirement("rev", "In", ("1",)),)),)
    )


def test_a_share_of_a_gpu_is_asked_for_by_annotation() -> None:
    shared = {**template(), "metadata": {"annotations": {"alibabacloud.com/gpu-milli": "300"}}}
    shape = Shapes().of_template(shared)
    assert (shape.share, dict(shape.requests)) == (300, {"cpu": 500, "nvidia.com/gpu": 300})
    whole = {**template(), "metadata": {"annotations": {"alibabacloud.com/gpu-count": "2"}}}
    assert (Shapes().of_template(whole).share, dict(Shapes().of_template(whole).requests)["nvidia.com/gpu"]) == (
        0,
        2000,
    )


def test_a_share_that_cannot_be_read_is_an_error() -> None:
    with pytest.raises(KumiError, match="gpu-share"):
        Shapes().of_template({**template(), "metadata": {"annotations": {"kumi.dev/gpu-share": "half"}}})
