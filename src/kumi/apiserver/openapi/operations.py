"""The paths of a kind and their operations, in OpenAPI v3, as a Kubernetes API server describes them.

Each operation names its verb (`x-kubernetes-action`) and its kind (`x-kubernetes-group-version-kind`): kubectl finds a kind's
path and the parameters of its writes by these.
"""

from __future__ import annotations

from dataclasses import dataclass

from kumi.api.schema import META
from kumi.api.scheme import Kind
from kumi.api.shapes import definition_name
from kumi.api.wire import JsonObject
from kumi.apiserver.bodies import PATCH_TYPES
from kumi.apiserver.openapi.schemas import SUBRESOURCE_SCHEMAS, group_version_kind, list_name, reference
from kumi.apiserver.responses import JSON, YAML
from kumi.apiserver.routes.attributes import STREAMS
from kumi.apiserver.routes.paths import SUBRESOURCE_VERBS, Verb, collection_verbs, object_verbs, subresources_of
from kumi.apiserver.routes.unsupported import SENTENCES
from kumi.registry.refusals import STRATEGIC_PATCH

METHODS: dict[Verb, str] = {
    "get": "get",
    "list": "get",
    "create": "post",
    "update": "put",
    "patch": "patch",
    "delete": "delete",
    "deletecollection": "delete",
}
ACTIONS = {"create": "post", "update": "put"}
"""verb -> x-kubernetes-action, where they differ"""


def parameter(name: str, type: str, description: str, where: str = "query") -> JsonObject:
    """One parameter of a path or a query."""
    found: JsonObject = {"name": name, "in": where, "description": description, "schema": {"type": type}}
    return found | {"required": True} if where == "path" else found


NAMESPACE = parameter("namespace", "string", "the object's namespace", "path")
NAME = parameter("name", "string", "the object's name", "path")
DRY_RUN = parameter("dryRun", "string", "`All`: everything is done but the writing")
FIELD_MANAGER = parameter("fieldManager", "string", "who writes; the client's own name by default")
FIELD_VALIDATION = parameter(
    "fieldValidation", "string", "what unknown and repeated fields are: `Ignore`, `Warn` (the default) or `Strict`"
)
FORCE = parameter("force", "boolean", "take over fields that other managers own; only for apply patches")
LIST = (
    parameter("labelSelector", "string", "which labels"),
    parameter("fieldSelector", "string", "which fields"),
    parameter("limit", "integer", "at most so many"),
    parameter("continue", "string", "the token of the page before"),
    parameter("resourceVersion", "string", "as of which revision, or after which"),
    parameter("resourceVersionMatch", "string", "how resourceVersion is meant: `Exact`, `NotOlderThan`"),
)
WATCH = (
    parameter("watch", "boolean", "a stream of changes instead of a list"),
    parameter("allowWatchBookmarks", "boolean", "events of type BOOKMARK are understood"),
    parameter("sendInitialEvents", "boolean", "start with what is there"),
    parameter("timeoutSeconds", "integer", "end the stream after that long"),
)
DELETE = (
    DRY_RUN,
    parameter("gracePeriodSeconds", "integer", "seconds until the object is removed"),
    parameter("propagationPolicy", "string", "what becomes of dependents: `Foreground`, `Background`, `Orphan`"),
    parameter("orphanDependents", "boolean", "the old word for propagationPolicy `Orphan`"),
)
WRITE = (DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION)
LOG = (
    parameter("container", "string", "which container, when there are several"),
    parameter("follow", "boolean", "go on until the container ends"),
    parameter("previous", "boolean", "of the container's run before this one"),
    parameter("timestamps", "boolean", "start each line with its time"),
    parameter("tailLines", "integer", "only the last so many lines"),
    parameter("sinceSeconds", "integer", "only what is not older than that"),
    parameter("sinceTime", "string", "only what is not older than that time"),
    parameter("limitBytes", "integer", "at most so many bytes"),
)
PARAMETERS: dict[Verb, tuple[JsonObject, ...]] = {
    "list": (*LIST, *WATCH),
    "create": WRITE,
    "update": WRITE,
    "patch": (*WRITE, FORCE),
    "delete": DELETE,
    "deletecollection": (*LIST, *DELETE),
}


@dataclass(frozen=True)
class Place:
    """A kind in a served version: what its paths are made from."""

    kind: Kind
    version: str

    @property
    def root(self) -> str:
        """`/apis/GROUP/VERSION`, or `/api/v1`."""
        return f"/apis/{self.kind.group}/{self.version}" if self.kind.group else f"/api/{self.version}"

    @property
    def collection(self) -> str:
        """The path of all its objects, of a namespace if it has namespaces."""
        namespace = "/namespaces/{namespace}" if self.kind.namespaced else ""
        return f"{self.root}{namespace}/{self.kind.plural}"


def paths(kind: Kind, version: str) -> dict[str, JsonObject]:
    """Every path of a kind, with its operations."""
    place = Place(kind, version)
    scope = [NAMESPACE] if kind.namespaced else []
    whole, listed = definition_name(kind, version), list_name(kind, version)
    found: dict[str, JsonObject] = {}
    verbs = sorted(v for v in collection_verbs(kind) if v != "watch")
    found[place.collection] = _path(
        scope, {v: _operation(place, v, whole, listed if v == "list" else "") for v in verbs}
    )
    if kind.namespaced and "list" in verbs:
        found[f"{place.root}/{kind.plural}"] = _path([], {"list": _operation(place, "list", whole, listed, "ForAll")})
    item = f"{place.collection}/{{name}}"
    if one := object_verbs(kind):
        found[item] = _path([*scope, NAME], {v: _operation(place, v, whole) for v in one})
    for subresource in sorted(subresources_of(kind, version)):
        if subresource in STREAMS or subresource in SENTENCES:
            continue  # no request and answer, but a protocol of its own; or nothing that is answered
        body = SUBRESOURCE_SCHEMAS.get(subresource, whole)
        operations = {v: _operation(place, v, body, suffix=subresource) for v in SUBRESOURCE_VERBS[subresource]}
        if subresource == "log":
            operations["get"] = _log_operation(place)
        found[f"{item}/{subresource}"] = _path([*scope, NAME], operations)
    return found


def _path(parameters: list[JsonObject], operations: dict[Verb, JsonObject]) -> JsonObject:
    found: JsonObject = {METHODS[verb]: operation for verb, operation in operations.items()}
    return found | {"parameters": parameters} if parameters else found


def _operation(place: Place, verb: Verb, schema: str, answer: str = "", suffix: str = "") -> JsonObject:
    """`schema` is what is sent, and answered too unless `answer` says otherwise."""
    if verb in ("delete", "deletecollection"):
        answer = f"{META}.Status"
    operation = _outline(place, verb, suffix)
    operation["parameters"] = list(PARAMETERS.get(verb, ()))
    if verb in ("create", "update"):
        content: JsonObject = {media_type: {"schema": reference(schema)} for media_type in (JSON, YAML)}
        operation["requestBody"] = {"content": content, "required": True}
    elif verb == "patch":
        types = [t for t in PATCH_TYPES if place.kind.strategic or t != STRATEGIC_PATCH]
        content = {media_type: {"schema": reference(f"{META}.Patch")} for media_type in types}
        operation["requestBody"] = {"content": content, "required": True}
    elif verb in ("delete", "deletecollection"):
        operation["requestBody"] = {"content": {JSON: {"schema": reference(f"{META}.DeleteOptions")}}}
    media_types = (JSON, YAML)
    ok = {"description": "OK", "content": {m: {"schema": reference(answer or schema)} for m in media_types}}
    code = "201" if verb == "create" else "200"
    operation["responses"] = {code: ok, "401": {"description": "Unauthorized"}}
    return operation


def _log_operation(place: Place) -> JsonObject:
    operation = _outline(place, "get", "log")
    operation["parameters"] = list(LOG)
    content = {"text/plain": {"schema": {"type": "string"}}}
    operation["responses"] = {"200": {"description": "OK", "content": content}, "401": {"description": "Unauthorized"}}
    return operation


def _outline(place: Place, verb: Verb, suffix: str) -> JsonObject:
    kind, version = place.kind, place.version
    tag = f"{kind.group or 'core'}_{version}".replace(".", "_")
    scope = "Namespaced" if kind.namespaced and suffix != "ForAll" else ""
    name = "".join(part[:1].upper() + part[1:] for part in tag.replace("-", "_").split("_"))
    return {
        "tags": [tag],
        "operationId": f"{verb}{name}{scope}{kind.kind}{suffix[:1].upper() + suffix[1:]}",
        "x-kubernetes-action": ACTIONS.get(verb, verb),
        "x-kubernetes-group-version-kind": group_version_kind(kind, version),
    }
