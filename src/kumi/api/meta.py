"""The parts that every object has (apimachinery's meta/v1): metadata, owner references, conditions, selectors.

All are partial views: they decode only what Kumi reads, and are never encoded back over a stored object.
Times are RFC 3339 strings in whole seconds, as the API has them; `parse_time` gives milliseconds.
"""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache

from msgspec import Struct, field

from kumi.api.errors import KumiError
from kumi.api.wire import JsonObject

_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:\d\d)")
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class TimeError(KumiError, ValueError):
    """The text is no time."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{text!r} is not a time: write it as RFC 3339 has it, such as 2006-01-02T15:04:05Z")


class View(Struct, rename="camel", gc=False, kw_only=True):
    """Base of all partial views of API objects."""


class OwnerReference(View):
    """Who an object belongs to; `controller` marks the one that manages it."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(View):
    """metadata of an object."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: list[OwnerReference] = []
    finalizers: list[str] = []

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that manages this object, if any."""
        return next((o for o in self.owner_references if o.controller), None)


class Object(View):
    """Base of every kind's view."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = field(default_factory=ObjectMeta)

    @property
    def key(self) -> str:
        """`namespace/name`, or `name` for a cluster-scoped object: unique within its kind, the last word of every sort."""
        m = self.metadata
        return f"{m.namespace}/{m.name}" if m.namespace else m.name


class Condition(View):
    """meta/v1 Condition, and the older kinds' conditions with their extra times."""

    type: str = ""
    status: str = "Unknown"
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
    last_update_time: str | None = None
    last_probe_time: str | None = None
    observed_generation: int | None = None


class LabelSelectorRequirement(View):
    """One term of a set-based selector: In, NotIn, Exists, DoesNotExist."""

    key: str = ""
    operator: str = ""
    values: list[str] = []


class LabelSelector(View):
    """matchLabels and matchExpressions, all of which must hold; an empty selector selects everything."""

    match_labels: dict[str, str] = {}
    match_expressions: list[LabelSelectorRequirement] = []


def selector_text(selector: JsonObject | None) -> str:
    """A selector as kubectl's -l takes it; "" for one that is empty. Plain labels are taken for a selector by them."""
    if not selector:
        return ""
    if "matchLabels" not in selector and "matchExpressions" not in selector:
        return ",".join(f"{key}={value}" for key, value in sorted(selector.items()))
    terms = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for term in selector.get("matchExpressions") or ():
        key, values = term["key"], ",".join(sorted(term.get("values") or ()))
        text = {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "Exists": key}
        terms.append(text.get(term["operator"], f"!{key}"))
    return ",".join(terms)


def find_condition(conditions: list[Condition], kind: str) -> Condition | None:
    """The condition of that type, if it is there."""
    return next((c for c in conditions if c.type == kind), None)


def is_true(conditions: list[Condition], kind: str) -> bool:
    """Whether the condition of that type is there with status True."""
    found = find_condition(conditions, kind)
    return found is not None and found.status == "True"


def parse_time(text: str | None) -> int | None:
    """Milliseconds since the epoch (UTC) of an RFC 3339 time; None for none. TimeError."""
    if not text:
        return None
    try:
        moment = dt.datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise TimeError(text) from None
    if moment.tzinfo is None:
        raise TimeError(text)
    return (moment - EPOCH) // dt.timedelta(milliseconds=1)


def is_time(text: str) -> bool:
    """Whether it is written as RFC 3339 has it."""
    try:
        return bool(_RFC_3339.fullmatch(text)) and parse_time(text) is not None
    except TimeError:
        return False


def format_time(ms: int) -> str:
    """RFC 3339 in whole seconds, as Kubernetes' metav1.Time."""
    return _format_second(ms // 1000)


@lru_cache(maxsize=64)
def _format_second(second: int) -> str:
    """Hundreds of texts are of the same second: now."""
    return (EPOCH + dt.timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_micro_time(ms: int) -> str:
    """RFC 3339 with microseconds, as Kubernetes' metav1.MicroTime (leases and events)."""
    return (EPOCH + dt.timedelta(milliseconds=ms)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@lru_cache(maxsize=1024)
def canonical_time(text: str, exact: str) -> str:
    """A moment as Kubernetes writes it, in UTC, whatever zone and digits the text has; `exact` is second or microsecond.
    ValueError: it is no RFC 3339 time."""
    if not _RFC_3339.fullmatch(text):
        raise ValueError(f'parsing time "{text}" as "2006-01-02T15:04:05Z07:00": cannot parse it')
    moment = dt.datetime.fromisoformat(text).astimezone(dt.UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ" if exact == "second" else "%Y-%m-%dT%H:%M:%S.%fZ")


def owner_reference(owner: JsonObject | Object, api_version: str = "", kind: str = "") -> JsonObject:
    """The controller owner reference that a child of `owner` carries.

    A decoded view may have lost `apiVersion` and `kind` (lists omit them): pass them then.
    """
    if isinstance(owner, Object):
        version, name, uid, its_kind = owner.api_version, owner.metadata.name, owner.metadata.uid, owner.kind
    else:
        meta = owner["metadata"]
        version, name, uid, its_kind = owner.get("apiVersion", ""), meta["name"], meta["uid"], owner.get("kind", "")
    return {
        "apiVersion": api_version or version,
        "kind": kind or its_kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
