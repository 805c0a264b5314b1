from __future__ import annotations

from typing import Annotated

from kumi.api.meta import Object, View
from kumi.api.openapi.definitions import PREFIX
from kumi.api.schema import Int32, PodTemplate, Quantity, RawObject, derive, keyed, like, prefix_of, refers, say
from kumi.api.wire import JsonObject

GROUP, VERSION, HERE = "things.example.com", "v1", "com.example.things.v1"


class Shaped(View):
    """What a raw field is shaped like."""

    word: str = ""


class Part(View):
    """A part."""

    name: str
    size: Annotated[Int32 | None, say("how large", minimum=1, default=3)] = None


class Thing(Object):
    """A thing."""

    parts: Annotated[list[Part], keyed("name"), say("its parts", required=True)] = []
    best: Annotated[Part | None, say("the best one", default={})] = None
    amount: Annotated[Quantity | None, say("how much")] = None
    amounts: dict[str, Quantity] = {}
    template: PodTemplate = {}
    raw: RawObject = {}
    shaped: Annotated[JsonObject | None, like(Shaped)] = None
    rows: list[Annotated[JsonObject, like(Shaped)]] = []
    condition: Annotated[JsonObject, refers("io.k8s.apimachinery.pkg.apis.meta.v1.Condition")] = {}
    free: JsonObject = {}


def properties(name: str) -> dict[str, JsonObject]:
    found: dict[str, JsonObject] = derive(Thing, GROUP, VERSION)[f"{HERE}.{name}"]["properties"]
    return found


def test_definitions_are_named_by_the_group_backwards() -> None:
    assert prefix_of("kueue.x-k8s.io", "v1beta2") == "io.x-k8s.kueue.v1beta2"
    assert set(derive(Thing, GROUP, VERSION)) == {f"{HERE}.{name}" for name in ("Thing", "Part", "Shaped")}


def test_a_kind_says_what_it_is() -> None:
    thing = derive(Thing, GROUP, VERSION)[f"{HERE}.Thing"]
    assert thing["x-kubernetes-group-version-kind"] == [{"group": GROUP, "kind": "Thing", "version": VERSION}]
    assert thing["description"] == "A thing."
    assert thing["properties"]["metadata"] == {"$ref": f"{PREFIX}io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}


def test_what_a_view_has_no_default_for_is_required_and_so_is_what_is_marked() -> None:
    found = derive(Thing, GROUP, VERSION)
    assert found[f"{HERE}.Part"]["required"] == ["name"]
    assert found[f"{HERE}.Thing"]["required"] == ["parts"]


def test_only_the_api_s_own_defaults_are_in_the_schema() -> None:
    assert properties("Part")["size"] == {
        "format": "int32",
        "type": "integer",
        "minimum": 1,
        "description": "how large",
        "default": 3,
    }
    assert "default" not in properties("Thing")["amounts"]


def test_null_is_no_type_and_words_stand_beside_a_reference() -> None:
    ref = {"$ref": f"{PREFIX}{HERE}.Part"}
    assert properties("Thing")["best"] == {"description": "the best one", "allOf": [ref], "default": {}}


def test_lists_say_how_their_items_are_told_apart() -> None:
    parts = properties("Thing")["parts"]
    assert (parts["x-kubernetes-list-type"], parts["x-kubernetes-list-map-keys"]) == ("map", ["name"])


def test_marked_fields_refer_to_what_they_are_shaped_like() -> None:
    thing = properties("Thing")
    quantity = {"$ref": f"{PREFIX}io.k8s.apimachinery.pkg.api.resource.Quantity"}
    assert thing["amount"] == {"description": "how much", "allOf": [quantity]}
    assert thing["amounts"]["additionalProperties"] == quantity
    assert thing["template"] == {"$ref": f"{PREFIX}io.k8s.api.core.v1.PodTemplateSpec"}
    assert thing["shaped"] == thing["rows"]["items"] == {"$ref": f"{PREFIX}{HERE}.Shaped"}
    assert thing["condition"] == {"$ref": f"{PREFIX}io.k8s.apimachinery.pkg.apis.meta.v1.Condition"}


def test_json_without_a_shape_is_kept_as_it_is() -> None:
    for field in ("raw", "free"):
        assert properties("Thing")[field] == {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def test_no_marker_of_this_module_is_left() -> None:
    assert "x-kumi" not in str(derive(Thing, GROUP, VERSION))
