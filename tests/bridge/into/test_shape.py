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
