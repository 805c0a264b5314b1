"""apiextensions.k8s.io/v1: definitions of other people's kinds, and their objects as loops see them.

    CustomResourceDefinition      a definition, as far as loops read it
    CustomObject                  an object of any defined kind: its metadata, and what kind it is
    kind_defined_by(definition)   the kind that a definition makes, for whoever reads and deletes its objects

The rules of definitions, and what the API makes of one, are the registry's (kumi.registry.custom).
"""

from __future__ import annotations

from functools import lru_cache

from msgspec import convert, defstruct, field

from kumi.api.meta import Condition, Object, View, is_true
from kumi.api.scheme import SCHEME, Column, Kind, ViewType
from kumi.api.validation.metadata import with_metadata
from kumi.api.wire import JsonObject

GROUP = "apiextensions.k8s.io"
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
"""the finalizer that keeps a definition until its objects are gone"""


class CustomResourceDefinitionNames(View):
    """What a kind is called."""

    plural: str = ""
    singular: str = ""
    kind: str = ""
    list_kind: str = ""
    short_names: list[str] = []
    categories: list[str] = []


class CustomResourceDefinitionVersion(View):
    """One version, without its schema."""

    name: str = ""
    served: bool = False
    storage: bool = False


class CustomResourceDefinitionSpec(View):
    """The part that names it; schemas are read as JSON where they are needed."""

    group: str = ""
    scope: str = ""
    names: CustomResourceDefinitionNames = field(default_factory=CustomResourceDefinitionNames)
    versions: list[CustomResourceDefinitionVersion] = []


class CustomResourceDefinitionStatus(View):
    """What the API server says of it."""

    conditions: list[Condition] = []
    accepted_names: CustomResourceDefinitionNames = field(default_factory=CustomResourceDefinitionNames)
    stored_versions: list[str] = []


class CustomResourceDefinition(Object):
    """apiextensions.k8s.io/v1 CustomResourceDefinition."""

    spec: CustomResourceDefinitionSpec = field(default_factory=CustomResourceDefinitionSpec)
    status: CustomResourceDefinitionStatus = field(default_factory=CustomResourceDefinitionStatus)


class CustomObject(Object):
    """An object of a kind that others define. `plural` and `namespaced` are the informer's word about its kind."""

    plural: str = ""
    namespaced: bool = True

    @property
    def group(self) -> str:
        """Of its kind."""
        return self.api_version.rpartition("/")[0]

    @property
    def key(self) -> str:
        """Unique among the objects of all such kinds; those of a namespace stand together."""
        return custom_key(custom_kind_of(self), self.metadata.namespace, self.metadata.name)


def custom_object(kind: Kind, raw: JsonObject) -> CustomObject:
    """An object of that kind. msgspec.ValidationError."""
    said = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": raw["metadata"]}
    return convert(said | {"plural": kind.plural, "namespaced": kind.namespaced}, CustomObject)


def custom_key(kind: Kind, namespace: str, name: str) -> str:
    """The key of a CustomObject."""
    own = f"{kind.kind}.{kind.group}/{name}"
    return f"{namespace}/{own}" if namespace else own


def custom_kind_of(obj: CustomObject) -> Kind:
    """The kind of an object, for whoever deletes or patches it."""
    return _named(obj.api_version, obj.kind, obj.plural, obj.namespaced)


def kind_defined_by(definition: CustomResourceDefinition) -> Kind | None:
    """The kind that a definition makes, in a version that is served; None while it makes none."""
    served = [version for version in definition.spec.versions if version.served]
    if not served or not is_true(definition.status.conditions, "Established"):
        return None
    version = next((version for version in served if version.storage), served[0])
    spec = definition.spec
    return _named(f"{spec.group}/{version.name}", spec.names.kind, spec.names.plural, spec.scope == "Namespaced")


@lru_cache(maxsize=1024)
def _named(api_version: str, kind: str, plural: str, namespaced: bool) -> Kind:
    group, _, version = api_version.rpartition("/")
    type_: ViewType = defstruct(kind, [], bases=(Object,), rename="camel", gc=False, kw_only=True)  # type: ignore[assignment]
    return Kind(group, version, kind, plural, type_, namespaced=namespaced, custom=True, strategic=False)


SCHEME.register(
    Kind(
        GROUP,
        "v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        CustomResourceDefinition,
        namespaced=False,
        short_names=("crd", "crds"),
        categories=("api-extensions",),
        subresources=("status",),
        columns=(
            Column("Created At", ".metadata.creationTimestamp", "string", description="when it was made, in UTC"),
        ),
        validate=with_metadata(),
        schema="io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
    )
)
