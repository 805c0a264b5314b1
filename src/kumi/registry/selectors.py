"""Selectors: which objects a list, a watch or a deletecollection is about.

Labels     terms joined by commas, all of which must hold:
           `k` there; `!k` not there; `k=v` `k==v`; `k!=v` (also where k is not there); `k in (a,b)`;
           `k notin (a,b)` (also where k is not there); `k>n` `k<n` integers.
Fields     terms `path=value`, `path==value`, `path!=value` on the few fields that a kind offers. A field that is not set
           counts as "" ("false", "0" for booleans and numbers).
Source     Kubernetes: labels and selectors, field selectors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from kumi.api.errors import ApiError, bad_request
from kumi.api.meta import LabelSelector
from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject
from kumi.registry.jsonpath import compile_path

Predicate: TypeAlias = Callable[[JsonObject], bool]
"""Whether an object is meant."""

Labels: TypeAlias = Mapping[str, str]

_NAME = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)\Z")
_PREFIX = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")
_TOKEN = re.compile(r"\s*(?:(?P<symbol>==|!=|[=!<>(),])|(?P<word>[^\s=!<>(),]+))")


class Requirement(NamedTuple):
    """One term. `operator` is one of in, notin, exists, absent, gt, lt."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def holds(self, labels: Labels) -> bool:
        """Whether labels satisfy it."""
        value = labels.get(self.key)
        match self.operator:
            case "in":
                return value is not None and value in self.values
            case "notin":
                return value is None or value not in self.values
            case "exists":
                return value is not None
            case "absent":
                return value is None
        number, bound = _integer(value), int(self.values[0])
        return number is not None and (number > bound if self.operator == "gt" else number < bound)


def matches(selector: LabelSelector, labels: Labels) -> bool:
    """Whether labels satisfy a decoded LabelSelector; an empty one is satisfied by all.

    ValueError for an operator that is not In, NotIn, Exists or DoesNotExist."""
    if any(labels.get(key) != value for key, value in selector.match_labels.items()):
        return False
    operators = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "absent"}
    for term in selector.match_expressions:
        if term.operator not in operators:
            raise ValueError(f'"{term.operator}" is not a valid label selector operator')
        if not Requirement(term.key, operators[term.operator], tuple(term.values)).holds(labels):
            return False
    return True


def parse_labels(text: str) -> tuple[Requirement, ...]:
    """The terms of a label selector. ApiError 400."""
    return _Parser(text).terms() if text.strip() else ()


def selection(kind: Kind, labels: str, fields: str, version: str = "") -> Predicate | None:
    """What a request selects of a kind, by the fields that `version` offers; None for everything. ApiError 400."""
    terms, wanted = parse_labels(labels), parse_fields(kind, fields, version)
    if not terms and not wanted:
        return None

    def selected(obj: JsonObject) -> bool:
        shown = kind.presented(obj) if wanted else obj
        for read, value, equal in wanted:
            if (read(shown) == value) is not equal:
                return False
        if not terms:
            return True
        of = obj["metadata"].get("labels") or {}
        return all(term.holds(of) for term in terms)

    return selected


def name_wanted(fields: str) -> str:
    """The one name that a field selector leaves (`metadata.name=x`), "" if it leaves several."""
    for term in _field_terms(fields):
        if term[0] == "metadata.name" and term[2]:
            return term[1]
    return ""


Read: TypeAlias = Callable[[JsonObject], str]


def parse_fields(kind: Kind, text: str, version: str = "") -> Sequence[tuple[Read, str, bool]]:
    """The terms of a field selector as (read, value, whether it must be equal). ApiError 400."""
    offered = _FIELDS.get((kind.group, kind.kind), ())
    selectable = {path.lstrip("."): path for path in kind.selectable_in(version)}
    terms = []
    for path, value, equal in _field_terms(text):
        if path in selectable:
            terms.append((_reader_of(selectable[path]), value, equal))
            continue
        if path not in offered and path not in _always(kind):
            raise _unknown_field(kind, path)
        terms.append((_reader(path), value, equal))
    return terms


def _field_terms(text: str) -> list[tuple[str, str, bool]]:
    terms = []
    for part in _split_unescaped(text):
        if not part:
            continue
        found = re.match(r"(?P<path>[^=!]*)(?P<operator>==|!=|=)(?P<value>.*)\Z", part, re.DOTALL)
        if found is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        value = re.sub(r"\\([\\,=])", r"\1", found["value"])
        terms.append((found["path"].strip(), value, found["operator"] != "!="))
    return terms


def _split_unescaped(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<!\\),", text)]


def _always(kind: Kind) -> tuple[str, ...]:
    return ("metadata.name", "metadata.namespace") if kind.namespaced else ("metadata.name",)


def _unknown_field(kind: Kind, path: str) -> ApiError:
    if kind.custom or (kind.group, kind.kind) in _FIELDS:
        return bad_request(f"field label not supported: {path}")
    return bad_request(f'"{path}" is not a known field selector: only "metadata.name", "metadata.namespace"')


_FIELDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("", "Pod"): (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    ("", "Event"): (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    ("", "Node"): ("spec.unschedulable",),
    ("", "Namespace"): ("status.phase",),
    ("", "Secret"): ("type",),
    ("", "Service"): ("spec.clusterIP", "spec.type"),
    ("batch", "Job"): ("status.successful",),
    ("apps", "ReplicaSet"): ("status.replicas",),
}
"""What each kind offers besides its name and namespace. Source: Kubernetes, field selectors."""

_BOOLEANS = ("spec.unschedulable", "spec.hostNetwork")
_NUMBERS = {"status.successful": "succeeded", "status.replicas": "replicas"}


def _reader(path: str) -> Read:
    if path == "source":
        return lambda obj: str((obj.get("source") or {}).get("component") or obj.get("reportingComponent") or "")
    if path in _NUMBERS:
        key = _NUMBERS[path]
        return lambda obj: str((obj.get("status") or {}).get(key) or 0)
    if path in _BOOLEANS:
        key = path.removeprefix("spec.")
        return lambda obj: "true" if (obj.get("spec") or {}).get(key) else "false"
    head, _, tail = path.partition(".")
    if not tail:
        return lambda obj: str(obj.get(head) or "")
    return lambda obj: str((obj.get(head) or {}).get(tail) or "")


def _reader_of(path: str) -> Read:
    """Of a JSONPath to text, a number or a boolean."""
    find = compile_path(path)

    def read(obj: JsonObject) -> str:
        value = next(iter(find(obj)), "")
        return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)

    return read


def _integer(value: str | None) -> int | None:
    try:
        return None if value is None else int(value)
    except ValueError:
        return None


class _Parser:
    """Recursive descent over a label selector's tokens."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._scan(text)
        self._at = 0

    def terms(self) -> tuple[Requirement, ...]:
        terms = [self._term()]
        while self._peek() is not None:
            self._expect(",")
            if self._peek() is None:
                raise self._error("found '', expected: identifier after ','")
            terms.append(self._term())
        return tuple(terms)

    def _term(self) -> Requirement:
        if self._peek() == "!":
            self._next()
            return Requirement(self._key(), "absent")
        key = self._key()
        operator = self._peek()
        if operator is None or operator == ",":
            return Requirement(key, "exists")
        self._next()
        if operator in ("=", "==", "!="):
            return Requirement(key, "notin" if operator == "!=" else "in", (self._value(),))
        if operator in ("in", "notin"):
            return Requirement(key, operator, self._values())
        if operator in ("<", ">"):
            bound = self._value()
            if _integer(bound) is None:
                raise self._error(f"for 'Gt', 'Lt' operators, the value must be an integer, found {bound!r}")
            return Requirement(key, "gt" if operator == ">" else "lt", (bound,))
        raise self._error(f"found '{operator}', expected: in, notin, =, ==, !=, gt, lt")

    def _values(self) -> tuple[str, ...]:
        self._expect("(")
        values = [self._value()]
        while self._peek() == ",":
            self._next()
            values.append(self._value())
        self._expect(")")
        return tuple(values)

    def _key(self) -> str:
        key = self._next()
        if key is None or not is_label_key(key):
            raise self._error(f"found '{key or ''}', expected: a label key, optionally with a prefix (example.com/key)")
        return key

    def _value(self) -> str:
        following = self._peek()
        if following is None or following in (",", ")"):
            return ""
        value = self._next() or ""
        if not is_label_value(value):
            raise self._error(f"'{value}' is no label value")
        return value

    def _peek(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _next(self) -> str | None:
        token = self._peek()
        self._at += 1
        return token

    def _expect(self, token: str) -> None:
        found = self._next()
        if found != token:
            raise self._error(f"found '{found or ''}', expected: '{token}'")

    def _scan(self, text: str) -> list[str]:
        return [found["symbol"] or found["word"] for found in _TOKEN.finditer(text.rstrip())]

    def _error(self, why: str) -> ApiError:
        return bad_request(f"unable to parse requirement: {why} (in selector '{self._text}')")


def is_label_key(text: str) -> bool:
    """Whether it is `name` or `prefix/name` as label keys are."""
    prefix, slash, name = text.rpartition("/")
    return _NAME.match(name) is not None and (not slash or _PREFIX.match(prefix) is not None)


def is_label_value(text: str) -> bool:
    """Whether it is empty or a name of at most 63 characters as label values are."""
    return text == "" or _NAME.match(text) is not None
