from __future__ import annotations

import pytest

from kumi.api.wire import JsonObject
from kumi.jobs.base import PodSetShape
from kumi.jobs.topology import request


def asked(annotations: dict[str, str], index_label: str = "") -> JsonObject:
    said = {f"kueue.x-k8s.io/podset-{key}": value for key, value in annotations.items()}
    return request(PodSetShape("main", 1, {"metadata": {"annotations": said}}, index_label=index_label))


@pytest.mark.parametrize(
    ("annotations", "made"),
    [
        ({"required-topology": "rack"}, {"required": "rack"}),
        ({"preferred-topology": "block"}, {"preferred": "block"}),
        ({"unconstrained-topology": "true"}, {"unconstrained": True}),
        ({"group-name": "g", "required-topology": "rack"}, {"podSetGroupName": "g", "required": "rack"}),
        (
            {"slice-required-topology": "rack", "slice-size": "4"},
            {"podSetSliceRequiredTopology": "rack", "podSetSliceSize": 4},
        ),
    ],
)
def test_each_annotation_is_a_part_of_the_request(annotations: dict[str, str], made: JsonObject) -> None:
    assert asked(annotations) == made


def test_the_label_of_the_pods_numbers_goes_with_any_request() -> None:
    assert asked({"required-topology": "rack"}, "index") == {"required": "rack", "podIndexLabel": "index"}
    assert asked({"slice-size": "4"}, "index") == {"podIndexLabel": "index"}
    assert asked({}, "index") == {}


def test_a_slice_needs_its_level_and_a_number() -> None:
    assert "podSetSliceSize" not in asked({"slice-size": "4"})
    assert "podSetSliceRequiredTopology" not in asked({"slice-required-topology": "rack", "slice-size": "x"})


def test_annotations_from_elsewhere_stand_for_those_of_the_template() -> None:
    shape = PodSetShape("main", 1, {}, asked={"kueue.x-k8s.io/podset-required-topology": "rack"})
    assert request(shape) == {"required": "rack"}
