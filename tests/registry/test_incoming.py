"""What comes in, before anything is decided about it."""

from __future__ import annotations

import re

import pytest

from kumi.api.errors import ApiError
from kumi.api.wire import JsonObject
from kumi.registry import incoming
from kumi.registry.registry import WriteOptions

from .world import World


def read(world: World, body: object, validation: str = "Warn", kind: str = "ConfigMap") -> JsonObject:
    options = WriteOptions(field_validation=validation)  # type: ignore[arg-type]
    return incoming.read(world.target(kind), body, options)


async def test_kind_and_version_are_filled_in(world: World) -> None:
    assert read(world, {"metadata": {"name": "a"}}) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a"},
    }


async def test_what_is_read_is_a_copy(world: World) -> None:
    body = {"metadata": {"name": "a", "labels": {"x": "y"}}, "data": {"k": "v"}}
    found = read(world, body)
    found["data"]["k"] = found["metadata"]["labels"]["x"] = "changed"
    assert (body["data"], body["metadata"]["labels"]) == ({"k": "v"}, {"x": "y"})  # type: ignore[index]


async def test_nulls_are_as_good_as_absent(world: World) -> None:
    body = {"metadata": {"name": "a", "creationTimestamp": None}, "immutable": None}
    assert read(world, body).keys() == {"apiVersion", "kind", "metadata"}


@pytest.mark.parametrize(
    ("kind", "body", "code", "message"),
    [
        ("ConfigMap", {"data": {"a": 1}}, 400, 'ConfigMap in version "v1" cannot be handled as a ConfigMap'),
        ("ConfigMap", {"kind": "Secret"}, 400, "Secret in version"),
        ("ConfigMap", "text", 400, "must be an object"),
        ("LocalQueue", {"metadata": {"name": "q"}, "spec": {"clusterQueue": 1}}, 422, "spec.clusterQueue"),
    ],
)
async def test_wrong_types_are_refused_with_their_path(
    world: World, kind: str, body: object, code: int, message: str
) -> None:
    with pytest.raises(ApiError, match=re.escape(message)) as refused:
        read(world, body, kind=kind)
    assert refused.value.code == code


CUSTOM = {"metadata": {"name": "q"}, "spec": {"clusterQueu": "q", "stopPolicy": "No"}}


async def test_a_strict_writer_of_a_custom_kind_is_told_of_unknown_fields_first(world: World) -> None:
    with pytest.raises(ApiError, match=re.escape('strict decoding error: unknown field "spec.clusterQueu"')):
        read(world, CUSTOM, "Strict", "LocalQueue")
    with pytest.raises(ApiError, match="stopPolicy"):
        read(world, CUSTOM, "Ignore", "LocalQueue")


async def test_warnings_of_unknown_fields_come_with_a_refusal_too(world: World) -> None:
    options = WriteOptions(field_validation="Warn")
    with pytest.raises(ApiError, match="stopPolicy"):
        incoming.read(world.target("LocalQueue"), CUSTOM, options)
    assert options.warnings == ['unknown field "spec.clusterQueu"']


async def test_fields_given_twice_are_told_with_the_unknown_ones(world: World) -> None:
    body, twice = {"metadata": {"name": "a"}, "dat": {}}, ('duplicate field "data.k"',)
    options = WriteOptions(field_validation="Strict", repeated=twice)
    with pytest.raises(ApiError, match=re.escape('duplicate field "data.k", unknown field "dat"')):
        incoming.read(world.target("ConfigMap"), body, options)
    options = WriteOptions(field_validation="Warn", repeated=twice)
    incoming.read(world.target("ConfigMap"), body, options)
    assert options.warnings == ['duplicate field "data.k"', 'unknown field "dat"']


async def test_the_place_of_an_object_is_that_of_the_request(world: World) -> None:
    obj = {"metadata": {}}
    incoming.check_place(world.target("ConfigMap", "a"), obj)
    assert obj == {"metadata": {"namespace": "ns", "name": "a"}}
    with pytest.raises(ApiError, match="does not match the name on the URL"):
        incoming.check_place(world.target("ConfigMap", "b"), obj)
    with pytest.raises(ApiError, match="does not match the namespace sent"):
        incoming.check_place(world.target("ConfigMap", ns="two"), obj)
