"""Definitions and custom objects as loops see them."""

from __future__ import annotations

import msgspec

from kumi.api.apiextensions import (
    CustomResourceDefinition,
    custom_key,
    custom_kind_of,
    custom_object,
    kind_defined_by,
)
from kumi.api.wire import JsonObject


def definition(*versions: JsonObject, established: str = "True", scope: str = "Namespaced") -> CustomResourceDefinition:
    """A definition of widgets."""
    names = {"plural": "widgets", "kind": "Widget"}
    spec = {"group": "example.com", "scope": scope, "names": names, "versions": list(versions)}
    status = {"conditions": [{"type": "Established", "status": established}]}
    return msgspec.convert({"spec": spec, "status": status}, CustomResourceDefinition)


STORED = {"name": "v1", "served": True, "storage": True}
OTHER = {"name": "v2", "served": True, "storage": False}


def test_a_definition_makes_a_kind_in_its_stored_version_if_that_is_served() -> None:
    kind = kind_defined_by(definition(OTHER, STORED))
    assert kind
    assert (kind.resource, kind.version, kind.namespaced, kind.custom) == (
        "widgets.example.com",
        "v1",
        True,
        True,
    )
    kind = kind_defined_by(definition({**STORED, "served": False}, OTHER, scope="Cluster"))
    assert kind
    assert (kind.version, kind.namespaced) == ("v2", False)


def test_a_definition_that_is_not_established_or_serves_nothing_makes_none() -> None:
    assert kind_defined_by(definition(STORED, established="False")) is None
    assert kind_defined_by(definition({**STORED, "served": False})) is None


def test_objects_of_all_kinds_have_keys_of_their_own_by_namespace() -> None:
    kind = kind_defined_by(definition(STORED))
    assert kind is not None
    obj = custom_object(kind, {"metadata": {"name": "w", "namespace": "ns", "uid": "u"}, "plural": "odd", "spec": 1})
    assert obj.key == custom_key(kind, "ns", "w") == "ns/Widget.example.com/w"
    assert custom_key(kind, "", "w") == "Widget.example.com/w"
    assert custom_kind_of(obj) is kind
