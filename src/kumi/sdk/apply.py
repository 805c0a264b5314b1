"""Manifests to the server: create what is not there, merge into what is."""

from __future__ import annotations

from kumi.api.errors import ApiError, KumiError
from kumi.api.scheme import Kind, load
from kumi.api.wire import JsonObject
from kumi.runtime.client import Client


def kind_of(obj: JsonObject) -> Kind:
    """The kind of an object. KumiError if Kumi does not know it."""
    kind = load().of_object(obj)
    if kind is None:
        raise KumiError(
            f"{obj.get('apiVersion')} {obj.get('kind')}: Kumi does not know this kind; see kubectl api-resources"
        )
    return kind


async def apply(client: Client, obj: JsonObject, namespace: str = "default") -> tuple[str, JsonObject]:
    """("created" | "configured" | "unchanged", the object as stored). `namespace` is for objects that name none.

    An object without a name (generateName) is always created. ApiError as the server says it."""
    kind = kind_of(obj)
    metadata = obj.setdefault("metadata", {})
    if kind.namespaced:
        metadata.setdefault("namespace", namespace)
    if not metadata.get("name"):
        return "created", await client.create(obj)
    where = (kind, metadata.get("namespace", "") if kind.namespaced else "", metadata["name"])
    try:
        old = await client.get(*where)
    except ApiError as error:
        if error.code != 404:
            raise
        try:
            return "created", await client.create(obj)
        except ApiError as raced:
            if raced.reason != "AlreadyExists":
                raise
            old = await client.get(*where)
    body = {key: value for key, value in obj.items() if key != "status"}
    new = await client.patch(*where, body)
    same = new["metadata"]["resourceVersion"] == old["metadata"]["resourceVersion"]
    return ("unchanged" if same else "configured"), new
