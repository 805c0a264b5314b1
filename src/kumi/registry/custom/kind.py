"""A kind made from a definition: what the rest of the house serves like any other.

    custom_kind(definition, revision, since, before) -> CustomKind

Objects are stored in the definition's storage version. Versions are alike but for their `apiVersion` (conversion None); each
has a schema, columns, subresources and selectable fields of its own, and objects are read and checked by those of the version
that their writer speaks. There is no typed view: the type of a custom kind knows what every object has, its metadata.

Reading    what was stored under an older definition is pruned and defaulted as it is read (`presented`); what was stored since
           is right already.
Source     Kubernetes: custom resources, versions in CustomResourceDefinitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from weakref import WeakSet

import msgspec
import orjson

from kumi.api.errors import FieldError
from kumi.api.fields import Checked, check_metadata
from kumi.api.meta import Object
from kumi.api.schema import META, prefix_of
from kumi.api.scheme import AGE, Column, Kind, ScalePaths, ViewType
from kumi.api.wire import JsonObject
from kumi.registry.custom.defaulting import drop_nulls, fill
from kumi.registry.custom.definition import stored_version
from kumi.registry.custom.objects import wrong_object
from kumi.registry.custom.pruning import prune
from kumi.registry.custom.schema import Schema, compile_schema
from kumi.store.base import Watch

SAME = (dict, dict)
"""conversion None: the object itself, copied since its apiVersion is written over"""


@dataclass(frozen=True, eq=False)
class Version:
    """One version of a custom kind."""

    name: str
    served: bool
    schema: Schema
    published: dict[str, JsonObject]
    """the definition of whole objects for OpenAPI, by its name"""
    columns: tuple[Column, ...] = (AGE,)
    subresources: tuple[str, ...] = ()
    scale: ScalePaths | None = None
    selectable: tuple[str, ...] = ()
    deprecation: str = ""


@dataclass(frozen=True, eq=False)
class CustomKind(Kind):
    """See the module."""

    by_version: Mapping[str, Version] = field(default_factory=dict)
    generation: int = 0
    """of the definition that it was made from"""
    since: int = 0
    """the revision that created the definition: nothing older can be watched"""
    changed: int = 0
    """a revision from which on all objects were written under this definition"""
    terminating: bool = False
    """whether the definition is being deleted: nothing can be created any more"""
    watches: WeakSet[Watch] = field(default_factory=WeakSet)
    """the open watches, which end with the kind"""

    @property
    def versions(self) -> tuple[str, ...]:
        """Every served version, the stored one first if it is served."""
        served = [version.name for version in self.by_version.values() if version.served]
        return tuple(sorted(served, key=lambda name: (name != self.version, served.index(name))))

    def columns_in(self, version: str) -> tuple[Column, ...]:
        """See Kind."""
        return self._in(version).columns

    def subresources_in(self, version: str) -> tuple[str, ...]:
        """See Kind."""
        return self._in(version).subresources

    def scale_in(self, version: str) -> ScalePaths | None:
        """See Kind."""
        return self._in(version).scale

    def selectable_in(self, version: str) -> tuple[str, ...]:
        """See Kind."""
        return self._in(version).selectable

    def deprecation(self, version: str) -> str:
        """See Kind."""
        return self._in(version).deprecation

    def fill(self, version: str, obj: JsonObject) -> None:
        """See Kind."""
        schema = self._in(version).schema
        fill(schema, obj)
        drop_nulls(schema, obj)

    def wrong(self, version: str, new: JsonObject, old: JsonObject | None) -> list[FieldError]:
        """See Kind."""
        spoken = self._in(version)
        return wrong_object(spoken.schema, new, old, spoken.scale)

    def wrong_status(self, version: str, new: JsonObject, old: JsonObject) -> list[FieldError]:
        """See Kind."""
        return self.wrong(version, new, old)

    def published(self, version: str) -> dict[str, JsonObject]:
        """See Kind."""
        return self._in(version).published

    def taken(self, version: str, obj: JsonObject) -> Checked:
        """An object that came with a request, pruned in place; its metadata as every object's is."""
        metadata, unknown, errors = check_metadata(obj.get("metadata"))
        obj["metadata"] = metadata
        return Checked(obj, [*unknown, *prune(self._in(version).schema, obj)], errors)

    def presented(self, obj: JsonObject) -> JsonObject:
        """A stored object as it is read: itself, or a copy where the definition has changed since."""
        revision = obj["metadata"].get("resourceVersion")
        if not revision or int(revision) > self.changed:
            return obj
        schema = self._in("").schema
        copy: JsonObject = orjson.loads(orjson.dumps(obj))
        copy["apiVersion"] = self.api_version
        prune(schema, copy)
        fill(schema, copy)
        drop_nulls(schema, copy)
        return copy

    def going(self) -> CustomKind:
        """The same kind while its definition is being deleted."""
        return replace(self, terminating=True)

    def end_watches(self) -> None:
        """What they have to tell yet is told."""
        for watch in list(self.watches):
            watch.end()

    def _in(self, version: str) -> Version:
        return self.by_version[version or self.version]


def custom_kind(definition: JsonObject, revision: int, since: int, before: CustomKind | None = None) -> CustomKind:
    """See the module. `definition` is established; `before` is the kind as it was, whose type is kept."""
    spec, names = definition["spec"], definition["status"]["acceptedNames"]
    storage = stored_version(definition)
    webhook = spec.get("conversion", {}).get("strategy") == "Webhook" and len(spec["versions"]) > 1
    versions = {}
    for said in spec["versions"]:
        made = _version(spec["group"], names["kind"], said)
        versions[made.name] = replace(made, served=made.served and (not webhook or made.name == storage))
    stored = versions[storage]
    return CustomKind(
        spec["group"],
        storage,
        names["kind"],
        names["plural"],
        before.type if before is not None else _type(names["kind"]),
        namespaced=spec["scope"] == "Namespaced",
        singular=names.get("singular", ""),
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        subresources=stored.subresources,
        columns=stored.columns,
        conversions={name: SAME for name in versions if name != storage},
        scale=stored.scale,
        custom=True,
        strategic=False,
        by_version=versions,
        generation=definition["metadata"].get("generation", 0),
        since=since,
        changed=revision,
        terminating=bool(definition["metadata"].get("deletionTimestamp")),
    )


def _type(name: str) -> ViewType:
    """A view of metadata only, of its own for each kind: caches tell kinds apart by their types."""
    made: ViewType = msgspec.defstruct(name, [], bases=(Object,), rename="camel", gc=False, kw_only=True)  # type: ignore[assignment]
    return made


def _version(group: str, kind: str, said: JsonObject) -> Version:
    schema, name = said["schema"]["openAPIV3Schema"], said["name"]
    subresources = said.get("subresources") or {}
    scale = subresources.get("scale")
    columns = said.get("additionalPrinterColumns")
    deprecation = ""
    if said.get("deprecated"):
        deprecation = said.get("deprecationWarning") or f"{group}/{name} {kind} is deprecated"
    return Version(
        name,
        bool(said.get("served")),
        compile_schema(schema),
        {f"{prefix_of(group, name)}.{kind}": _published(schema, group, name, kind)},
        tuple(_column(column) for column in columns) if columns else (AGE,),
        tuple(word for word in ("status", "scale") if subresources.get(word) is not None),
        ScalePaths(scale["specReplicasPath"], scale["statusReplicasPath"], scale.get("labelSelectorPath", ""))
        if scale
        else None,
        tuple(field["jsonPath"] for field in said.get("selectableFields") or ()),
        deprecation,
    )


def _column(said: JsonObject) -> Column:
    return Column(said["name"], said["jsonPath"], said["type"], said.get("priority") or 0, said.get("description", ""))


def _published(schema: JsonObject, group: str, version: str, kind: str) -> JsonObject:
    """The definition of whole objects."""
    made = deepcopy(schema)
    own = {
        "apiVersion": {"type": "string", "description": "the group and version of the schema that this object follows"},
        "kind": {"type": "string", "description": "what kind of object this is"},
        "metadata": {
            "description": "Standard object's metadata.",
            "allOf": [{"$ref": f"#/components/schemas/{META}.ObjectMeta"}],
        },
    }
    made["properties"] = own | {k: v for k, v in (made.get("properties") or {}).items() if k not in own}
    made["x-kubernetes-group-version-kind"] = [{"group": group, "kind": kind, "version": version}]
    return made
