"""Whatever somebody sends as a definition or as an object of one is taken or refused, and never breaks the registry."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import ApiError
from kumi.api.scheme import load
from kumi.api.wire import JsonObject
from tests.registry.custom.made import GROUP, NUMBER, TEXT, definition, keyed, many, of, ruled, version, widget
from tests.registry.world import World

CRD = "CustomResourceDefinition"
EVERYTHING = version(
    schema=of(
        spec=ruled(
            {
                **of(
                    size={**NUMBER, "minimum": 1, "default": 3},
                    when={**TEXT, "format": "date-time"},
                    tags=many(TEXT, **{"x-kubernetes-list-type": "set"}),
                    parts=keyed(of(k=TEXT, v=NUMBER)),
                    any={"x-kubernetes-int-or-string": True},
                    map={"type": "object", "additionalProperties": NUMBER},
                    one={**of(a=TEXT), "oneOf": [{"required": ["a"]}, {"properties": {"a": {"pattern": "^x"}}}]},
                ),
                "required": ["size"],
            },
            {
                "rule": "!has(self.when) || self.when > timestamp('2020-01-01T00:00:00Z')",
                "messageExpression": "string(self.size)",
            },
            {"rule": "self.size >= oldSelf.size", "fieldPath": ".size", "reason": "FieldValueForbidden"},
        ),
        status=of(n=NUMBER),
    ),
    subresources={"status": {}, "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.n"}},
    additionalPrinterColumns=[{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
    selectableFields=[{"jsonPath": ".spec.size"}],
)
WORDS = [
    "type", "properties", "items", "additionalProperties", "default", "enum", "pattern", "x-kubernetes-validations", "rule",
    "fieldPath", "names", "plural", "kind", "group", "versions", "name", "scope", "allOf", "not", "format", "conversion",
    "jsonPath", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-preserve-unknown-fields", "size", "parts",
]  # fmt: skip
JUNK = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from(
            ["", "x", "object", "array", "(", "self", "self.a > 1", "ns", ".spec.size", "map", "2019-01-01T00:00:00Z"]
        ),
    ),
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(st.sampled_from(WORDS), below, max_size=3)),
    max_leaves=6,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """(container, key) of everything in a tree."""
    if isinstance(value, dict):
        return [(value, key) for key in value] + [place for below in value.values() for place in places(below)]
    if isinstance(value, list):
        return [(value, index) for index in range(len(value))] + [place for below in value for place in places(below)]
    return []


@st.composite
def mangled(draw: st.DrawFn, whole: JsonObject) -> JsonObject:
    """The same with a few places missing or something else."""
    made = deepcopy(whole)
    for _ in range(draw(st.integers(1, 3))):
        container, key = draw(st.sampled_from([place for place in places(made) if place[1] not in ("apiVersion",)]))
        if isinstance(container, dict) and draw(st.booleans()):
            del container[key]
        else:
            container[key] = draw(JUNK)
        if not places(made):
            break
    return made


async def sent(world: World, kind: str, obj: JsonObject) -> None:
    """Creates it, or is refused; if it is there, reads it, changes it and deletes it."""
    try:
        made = await world.create(kind, orjson.loads(orjson.dumps(obj)))
        name = made["metadata"]["name"]
        await world.get(kind, name)
        await world.put(kind, orjson.loads(orjson.dumps(made)))
        await world.delete(kind, name)
    except ApiError as error:
        if error.code >= 500:
            raise
        orjson.dumps(error.status())


async def cluster() -> World:
    world = World(load())
    await world.create("Namespace", {"metadata": {"name": "ns"}})
    return world


@given(mangled(definition(EVERYTHING, version("v2", storage=False))))
def test_any_definition(obj: JsonObject) -> None:
    async def run() -> None:
        world = await cluster()
        await sent(world, CRD, obj)

    asyncio.run(run())


WIDGET = widget(
    size=3, when="2021-01-01T00:00:00Z", tags=["a"], parts=[{"k": "a", "v": 1}], any="x", map={"a": 1}, one={"a": "y"}
)


@given(st.lists(mangled(WIDGET), min_size=1, max_size=4))
def test_any_object(objects: list[JsonObject]) -> None:
    async def run() -> None:
        world = await cluster()
        await world.create(CRD, definition(EVERYTHING))
        for obj in objects:
            await sent(world, "Widget", obj)
        assert world.scheme.find(GROUP, "Widget") is not None

    asyncio.run(run())
