from __future__ import annotations

import pytest

from kumi.api.openapi.definitions import definition, definitions, target
from kumi.api.openapi.messages import MessageField, message_of, messages
from kumi.api.scheme import load
from kumi.api.wire import JsonObject

SCALARS = {
    "text": "string",
    "bool": "boolean",
    "int32": "integer",
    "int64": "integer",
    "bytes": "string",
    "quantity": "string",
    "int or text": "string",
    "time": "string",
    "micro time": "string",
    "fields": "object",
}
RENAMED = {("io.k8s.api.core.v1.NodeAllocatableResourceClaimStatus", "resources")}
"""fields of an alpha that the newer release, from which the messages are, calls otherwise"""
LEFT_OUT = {
    ("io.k8s.api.authentication.v1.UserInfo", "extra"),
    ("io.k8s.api.authorization.v1.SubjectAccessReviewSpec", "extra"),
}
"""maps of lists, which kubectl never sends"""
UNSENT = ("controllerrevisions.apps", "customresourcedefinitions.apiextensions.k8s.io")
"""kinds that kubectl knows of as JSON only"""
DEFINED = sorted(set(messages()) & set(definitions()))


def json_fields(message: str) -> dict[str, MessageField]:
    """A message's fields by their names in JSON, those of its nameless parts among them."""
    found: dict[str, MessageField] = {}
    for field in messages()[message].values():
        found |= {field.name: field} if field.name else json_fields(field.type)
    return found


def kind_of(schema: JsonObject) -> str:
    """A JSON type, or the name of a definition that is an object with fields."""
    name = target(schema)
    if not name:
        return str(schema["type"])
    return name if definition(name).get("properties") else str(definition(name).get("type", "string"))


def test_every_built_in_kind_has_a_message_in_every_version() -> None:
    for kind in load():
        if kind.resource in UNSENT:
            continue
        versions = [f"{kind.group}/{version}" if kind.group else version for version in kind.versions]
        assert all(bool(message_of(version, kind.kind)) != kind.custom for version in versions), kind.resource


@pytest.mark.parametrize(
    ("api_version", "kind"), [("v1", "Binding"), ("policy/v1", "Eviction"), ("autoscaling/v1", "Scale")]
)
def test_what_is_sent_to_a_subresource_has_a_message(api_version: str, kind: str) -> None:
    assert message_of(api_version, kind) in messages()


@pytest.mark.parametrize("api_version", ["v1", "meta.k8s.io/v1", "batch/v1", ""])
def test_the_options_of_a_delete_belong_to_every_group(api_version: str) -> None:
    assert message_of(api_version, "DeleteOptions").endswith(".meta.v1.DeleteOptions")


def test_a_kind_of_another_group_or_version_has_no_message() -> None:
    assert message_of("batch/v1beta1", "Job") == message_of("batch.volcano.sh/v1alpha1", "Job") == ""


@pytest.mark.parametrize("name", DEFINED)
def test_a_message_has_every_field_of_its_definition(name: str) -> None:
    properties = definition(name).get("properties", {})
    known = {*json_fields(name), "apiVersion", "kind"}
    assert {field for field in properties if (name, field) not in RENAMED | LEFT_OUT} <= known


@pytest.mark.parametrize("name", DEFINED)
def test_a_field_is_of_the_type_that_its_definition_says(name: str) -> None:
    properties = definition(name).get("properties", {})
    for field_name, field in json_fields(name).items():
        schema = properties.get(field_name)
        if schema is None:
            continue
        shape = {"array": "list", "object": "map"}.get(schema.get("type"), "")
        assert (field.form if field.form in ("list", "map") else "") == shape, field_name
        schema = schema["items"] if shape == "list" else schema["additionalProperties"] if shape else schema
        assert SCALARS.get(field.type, field.type) == kind_of(schema), field_name


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("batch.v1.JobSpec", "parallelism"),
        ("batch.v1.JobSpec", "backoffLimit"),
        ("batch.v1.JobSpec", "suspend"),
        ("apps.v1.ReplicaSetSpec", "replicas"),
        ("core.v1.PodSpec", "terminationGracePeriodSeconds"),
        ("core.v1.PodSpec", "priority"),
        ("core.v1.PodSpec", "automountServiceAccountToken"),
        ("core.v1.SecurityContext", "runAsUser"),
        ("core.v1.SecretVolumeSource", "defaultMode"),
        ("core.v1.Container", "name"),
        ("core.v1.ContainerStatus", "ready"),
        ("scheduling.v1.PriorityClass", "value"),
    ],
)
def test_a_zero_that_somebody_may_mean_is_kept(message: str, field: str) -> None:
    assert json_fields(f"io.k8s.api.{message}")[field].form in ("", "by value")


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("core.v1.PodSpec", "hostNetwork"),
        ("core.v1.Container", "image"),
        ("core.v1.Probe", "periodSeconds"),
        ("core.v1.ServicePort", "targetPort"),
        ("scheduling.v1.PriorityClass", "globalDefault"),
    ],
)
def test_a_zero_that_says_nothing_is_left_out(message: str, field: str) -> None:
    assert json_fields(f"io.k8s.api.{message}")[field].form == "unless zero"


def test_every_message_that_a_field_is_of_is_there() -> None:
    for name, fields in messages().items():
        for field in fields.values():
            assert field.type in SCALARS or field.type in messages(), f"{name}.{field.name}"


def test_a_nameless_part_is_one_message_and_has_no_zero() -> None:
    nameless = [field for fields in messages().values() for field in fields.values() if not field.name]
    assert nameless
    assert all(field.type in messages() and field.form in ("", "by value") for field in nameless)


@pytest.mark.parametrize(
    ("message", "field", "form"),
    [
        ("apps.v1.DeploymentSpec", "template", "by value"),
        ("apps.v1.DeploymentSpec", "selector", ""),
        ("core.v1.PodSpec", "resources", ""),
        ("core.v1.PersistentVolumeClaimSpec", "resources", "by value"),
    ],
)
def test_what_an_object_always_has_is_told_from_what_may_be_absent(message: str, field: str, form: str) -> None:
    assert json_fields(f"io.k8s.api.{message}")[field].form == form


def test_no_message_holds_itself() -> None:
    def walk(name: str, above: tuple[str, ...]) -> None:
        assert name not in above
        for field in messages()[name].values():
            if field.type in messages():
                walk(field.type, (*above, name))

    for name in messages():
        walk(name, ())
