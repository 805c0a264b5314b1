"""Schemas and values that may fit them or not, for laws."""

from __future__ import annotations

from hypothesis import strategies as st

from kumi.api.wire import JsonObject

NAMES = st.sampled_from(["a", "b", "c"])
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["", "x", "yy"]))
VALUES = st.recursive(
    SCALARS,
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(NAMES, below, max_size=3)),
    max_leaves=12,
)


@st.composite
def leaves(draw: st.DrawFn) -> JsonObject:
    """A schema of a scalar, perhaps with a default that fits."""
    kind = draw(st.sampled_from(["string", "integer", "boolean"]))
    schema: JsonObject = {"type": kind}
    if draw(st.booleans()):
        schema["default"] = {"string": "d", "integer": 7, "boolean": True}[kind]
    if draw(st.booleans()):
        schema["nullable"] = True
    return schema


def _wider(below: st.SearchStrategy[JsonObject]) -> st.SearchStrategy[JsonObject]:
    @st.composite
    def made(draw: st.DrawFn) -> JsonObject:
        form = draw(st.sampled_from(["object", "map", "list", "open"]))
        if form == "list":
            return {"type": "array", "items": draw(below)}
        if form == "map":
            return {"type": "object", "additionalProperties": draw(below)}
        schema: JsonObject = {"type": "object", "properties": draw(st.dictionaries(NAMES, below, max_size=3))}
        if form == "open":
            schema["x-kubernetes-preserve-unknown-fields"] = True
        if draw(st.booleans()):
            schema["default"] = {}
        return schema

    return made()


SCHEMAS = st.recursive(leaves(), _wider, max_leaves=8)


@st.composite
def roots(draw: st.DrawFn) -> JsonObject:
    """A schema of whole objects."""
    return {"type": "object", "properties": draw(st.dictionaries(NAMES, SCHEMAS, max_size=3))}


OBJECTS = st.dictionaries(NAMES, VALUES, max_size=3)
