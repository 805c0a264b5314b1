from __future__ import annotations

import pytest

from kumi.api.errors import KumiError
from kumi.api.shapes import Shape
from kumi.registry.apply.elements import Unnameable, canonical_element, indexed, item_element, path_text

from .shapes import POD

CONTAINERS = POD.members["spec"].members["containers"]
assert CONTAINERS.items is not None
PORTS = CONTAINERS.items.members["ports"]
FINALIZERS = POD.members["metadata"].members["finalizers"]


def test_items_are_named_by_their_keys_and_a_key_left_out_by_its_default() -> None:
    assert item_element(CONTAINERS, {"image": "i", "name": 'a"b'}) == 'k:{"name":"a\\"b"}'
    assert item_element(PORTS, {"protocol": "UDP", "containerPort": 80}) == 'k:{"containerPort":80,"protocol":"UDP"}'
    assert item_element(PORTS, {"containerPort": 80}) == 'k:{"containerPort":80,"protocol":"TCP"}'
    assert item_element(FINALIZERS, "a/b") == 'v:"a/b"'


@pytest.mark.parametrize(("shape", "item"), [(CONTAINERS, {"image": "i"}), (CONTAINERS, "c"), (FINALIZERS, {"a": 1})])
def test_what_has_no_keys_has_no_name(shape: Shape, item: object) -> None:
    with pytest.raises(Unnameable):
        item_element(shape, item)


def test_items_that_are_there_twice_stand_together() -> None:
    assert indexed(FINALIZERS, ["a", "b", "a"]) == {'v:"a"': ["a", "a"], 'v:"b"': ["b"]}


def test_paths_are_told_as_people_read_them() -> None:
    path = ("f:spec", "f:containers", 'k:{"name":"web"}', "f:ports", 'k:{"containerPort":80,"protocol":"TCP"}')
    assert path_text(path) == '.spec.containers[name="web"].ports[containerPort=80,protocol="TCP"]'
    assert path_text(("f:metadata", "f:finalizers", 'v:"x"')) == '.metadata.finalizers[="x"]'
    assert path_text(("f:a", "i:3")) == ".a[3]"


def test_elements_are_written_one_way() -> None:
    assert canonical_element('k:{"b": 1, "a": true}') == 'k:{"a":true,"b":1}'
    assert canonical_element("f:with:colon") == "f:with:colon"
    assert canonical_element("i: 3") == "i:3"


@pytest.mark.parametrize("text", ["", "f", "k:[]", "i:x", "z:1", "v:"])
def test_what_is_no_element_is_refused(text: str) -> None:
    with pytest.raises(KumiError):
        canonical_element(text)
