"""The scheme: the only source of kinds. Discovery, CRDs, validation, defaulting, printer columns and types come from it.

A `Kind` says everything about one kind that is not a rule of scheduling. Modules of this floor register theirs with
`register`; `load()` imports them all once. Objects are stored in `version`; `conversions` holds, for every other served
version, a pair of pure functions (to the stored version, from the stored version) on whole JSON objects.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from kumi.api.errors import FieldError, KumiError
from kumi.api.meta import Object
from kumi.api.wire import JsonObject

MODULES = (
    "core",
    "limits",
    "claims",
    "replication",
    "apps",
    "batch",
    "policy",
    "networking",
    "discovery",
    "node",
    "events",
    "scheduling",
    "coordination",
    "admissionregistration",
    "autoscaling",
    "rbac",
    "apiextensions",
    "kueue_kinds",
    "provisioning",
    "kubeflow",
    "volcano",
    "volcano_command",
    "nodeinfo",
    "coscheduling",
)
"""The modules of this floor that register kinds, in the order in which discovery shows their groups."""

Convert = Callable[[JsonObject], JsonObject]
Default = Callable[[JsonObject], None]
Validate = Callable[[JsonObject, JsonObject | None], list[FieldError]]
Cell = Callable[[JsonObject, int], object]
ViewType: TypeAlias = type[Object]


@dataclass(frozen=True)
class Column:
    """A column of `kubectl get`. `path` is a JSONPath as in a CRD (`.spec.suspend`,
    `.status.conditions[?(@.type=='Admitted')].status`, `.status.conditions[-1:].type`), or `cell` a function of
    (object, now in ms) where a path can't say it. `priority` > 0 shows only with `-o wide`.
    `type` is string, integer, number, boolean or date; `date` prints as an age (a `cell` may give the age's text itself).

    NAME is not listed: the table's renderer puts it first, unless a kind lists a column `Name` itself (events show it
    last). AGE is listed where users know it, as the date column `AGE` of this module; nothing is added for it."""

    name: str
    path: str = ""
    type: str = "string"
    priority: int = 0
    description: str = ""
    cell: Cell | None = None


AGE = Column("Age", ".metadata.creationTimestamp", "date")
"""The column that nearly every kind ends with."""


@dataclass(frozen=True)
class ScalePaths:
    """Where a kind with the subresource `scale` keeps its numbers, as JSONPaths of a CRD."""

    spec_replicas: str
    status_replicas: str
    label_selector: str = ""


@dataclass(frozen=True)
class Twin:
    """Another name for the objects of another kind: they are stored as that kind, in its version.

    `to_stored` and `from_stored` change whole objects, and never their argument."""

    group: str
    version: str
    to_stored: Convert
    from_stored: Convert


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind: its names, its type, what the API does with it."""

    group: str
    version: str
    kind: str
    plural: str
    type: ViewType
    namespaced: bool = True
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[str, ...] = ()
    """of: status, scale, log, exec, binding, eviction"""
    columns: tuple[Column, ...] = ()
    schema: str = ""
    """name of the OpenAPI definition of the stored version (kumi.api.openapi); "" derives it from `type`"""
    default: Default | None = None
    """fills defaults in place, on create and update, after conversion to the stored version"""
    validate: Validate | None = None
    """(new, old or None) -> every wrong field; sees the object after defaulting, in the stored version"""
    conversions: dict[str, tuple[Convert, Convert]] = field(default_factory=dict)
    """served version -> (to stored, from stored)"""
    served_types: dict[str, ViewType] = field(default_factory=dict)
    """served version -> the type whose schema that version is checked against (the stored version has `type`)"""
    scale: ScalePaths | None = None
    """of a kind with the subresource scale"""
    custom: bool = False
    """whether a real cluster needs a CustomResourceDefinition for it"""
    deprecated: str = ""
    """what callers of every version are warned of"""
    twin: Twin | None = None
    """whose objects these are, where they are those of another kind"""
    strategic: bool = True
    """whether strategic merge patch is allowed: built-in kinds, never custom ones"""

    @property
    def api_version(self) -> str:
        """`group/version` of the stored version, or `v1` for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """`plural.group`, as kubectl prints it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def versions(self) -> tuple[str, ...]:
        """Every served version, the preferred one (as clients should use it) first."""
        return (self.version, *self.conversions)

    def columns_in(self, version: str) -> tuple[Column, ...]:
        """The columns in a served version ("" = stored)."""
        return self.columns

    def subresources_in(self, version: str) -> tuple[str, ...]:
        """The subresources in a served version ("" = stored)."""
        return self.subresources

    def scale_in(self, version: str) -> ScalePaths | None:
        """Where a served version ("" = stored) keeps the numbers of its subresource scale."""
        return self.scale

    def selectable_in(self, version: str) -> tuple[str, ...]:
        """Paths (`.spec.color`) by which a served version ("" = stored) may be selected, beyond what the registry knows."""
        return ()

    def deprecation(self, version: str) -> str:
        """What callers of a served version are warned of, "" for nothing."""
        return self.deprecated

    def presented(self, obj: JsonObject) -> JsonObject:
        """A stored object as it is read, in the stored version: itself, or a copy."""
        return obj

    def fill(self, version: str, obj: JsonObject) -> None:
        """Fills defaults in place, in an object in the stored version whose writer speaks `version`."""
        if self.default is not None:
            self.default(obj)

    def wrong(self, version: str, new: JsonObject, old: JsonObject | None) -> list[FieldError]:
        """Every wrong field of an object in the stored version whose writer speaks `version`."""
        return [] if self.validate is None else list(self.validate(new, old))

    def wrong_status(self, version: str, new: JsonObject, old: JsonObject) -> list[FieldError]:
        """Every wrong field after a write to the subresource status."""
        return []

    def published(self, version: str) -> dict[str, JsonObject] | None:
        """The definitions (OpenAPI v3, by name) of a kind that brings its own; None: see kumi.api.shapes."""
        return None


class Scheme:
    """Kinds by group and kind, by group and plural, and by type. Every change makes new tables: readers are never upset."""

    def __init__(self) -> None:
        self._by_kind: dict[tuple[str, str], Kind] = {}
        self._by_plural: dict[tuple[str, str], Kind] = {}
        self._by_type: dict[type[Object], Kind] = {}

    def register(self, kind: Kind) -> Kind:
        """Adds a kind; KumiError if its name or type is taken."""
        if (kind.group, kind.kind) in self._by_kind or kind.type in self._by_type:
            raise KumiError(f"kind {kind.group}/{kind.kind} is registered twice")
        self._by_kind = {**self._by_kind, (kind.group, kind.kind): kind}
        self._by_plural = {**self._by_plural, (kind.group, kind.plural): kind}
        self._by_type = {**self._by_type, kind.type: kind}
        return kind

    def copy(self) -> Scheme:
        """A scheme of its own with the same kinds."""
        made = Scheme()
        made._by_kind, made._by_plural, made._by_type = self._by_kind, self._by_plural, self._by_type
        return made

    def put(self, kind: Kind) -> None:
        """Adds a kind at run time, or puts it in the place of the one of that name; KumiError if its plural is taken.

        Whoever walks the scheme meanwhile sees it as it was."""
        there = self.find_plural(kind.group, kind.plural)
        if there is not None and there.kind != kind.kind:
            raise KumiError(f"{kind.resource} are {there.kind} already")
        self.remove(kind.group, kind.kind)
        self._by_kind = {**self._by_kind, (kind.group, kind.kind): kind}
        self._by_plural = {**self._by_plural, (kind.group, kind.plural): kind}
        self._by_type = {**self._by_type, kind.type: kind}

    def remove(self, group: str, kind: str) -> None:
        """Takes a kind out at run time, if it is there."""
        gone = self.find(group, kind)
        if gone is not None:
            self._by_kind = {key: each for key, each in self._by_kind.items() if each is not gone}
            self._by_plural = {key: each for key, each in self._by_plural.items() if each is not gone}
            self._by_type = {key: each for key, each in self._by_type.items() if each is not gone}

    def __iter__(self) -> Iterator[Kind]:
        return iter(self._by_kind.values())

    def find(self, group: str, kind: str) -> Kind | None:
        """By group and kind (`kubeflow.org`, `PyTorchJob`)."""
        return self._by_kind.get((group, kind))

    def find_plural(self, group: str, plural: str) -> Kind | None:
        """By group and plural (`kubeflow.org`, `pytorchjobs`)."""
        return self._by_plural.get((group, plural))

    def of(self, type_: type[Object]) -> Kind:
        """The kind of a view type; KeyError if it has none."""
        return self._by_type[type_]

    def of_object(self, obj: JsonObject) -> Kind | None:
        """By the object's own apiVersion and kind."""
        group, _, _ = str(obj.get("apiVersion", "")).rpartition("/")
        return self.find(group, str(obj.get("kind", "")))


SCHEME = Scheme()


def load() -> Scheme:
    """A scheme of its own with the kinds of every module of this floor: what a server puts into it stays its own."""
    for module in MODULES:
        importlib.import_module(f"kumi.api.{module}")
    return SCHEME.copy()
