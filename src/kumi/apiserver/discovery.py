"""What is served, told to clients: API groups, their versions, the resources of each; all from the scheme.

    /api                /apis                       APIVersions, APIGroupList
    /apis/GROUP                                     APIGroup
    /api/v1             /apis/GROUP/VERSION         APIResourceList
    /api and /apis with Accept: ...;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList    everything at once

Versions of a group stand as Kubernetes orders them: v2 before v1 before v2beta1 before v1beta1 before v1alpha1, then all
others by name; the first is preferred. Groups stand as the scheme has them. Nothing is cached: it takes less than a
millisecond, and a scheme may grow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aiohttp import web

from kumi.api.metrics import METRICS
from kumi.api.reviews import REVIEWS
from kumi.api.scheme import Kind, Scheme
from kumi.api.visibility import PENDING, QUEUES, SUMMARY
from kumi.api.wire import JsonObject
from kumi.apiserver.errors import no_such_resource
from kumi.apiserver.negotiate import clauses, negotiate
from kumi.apiserver.responses import JSON, answer
from kumi.apiserver.routes.paths import SUBRESOURCE_VERBS, subresources_of, verbs_of

AGGREGATED = "APIGroupDiscoveryList"
DISCOVERY_GROUP = "apidiscovery.k8s.io"

SUBRESOURCE_KINDS = {
    "exec": ("", "v1", "PodExecOptions"),
    "attach": ("", "v1", "PodAttachOptions"),
    "portforward": ("", "v1", "PodPortForwardOptions"),
    "proxy": ("", "v1", "PodProxyOptions"),
    "scale": ("autoscaling", "v1", "Scale"),
    "binding": ("", "v1", "Binding"),
    "eviction": ("policy", "v1", "Eviction"),
    "token": ("authentication.k8s.io", "v1", "TokenRequest"),
    PENDING: ("", "", SUMMARY),
}
"""subresource -> group, version ("": those of the resource) and kind of what travels there; elsewhere it is the object itself"""


def version_order(version: str) -> tuple[int, int, int, str]:
    """Sort key of a version: generally available, then beta, then alpha, the newest first, then the rest by name."""
    match = re.fullmatch(r"v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?", version)
    if match is None:
        return (3, 0, 0, version)
    major, stage, minor = match.groups()
    return ({None: 0, "beta": 1, "alpha": 2}[stage], -int(major), -int(minor or 0), version)


def kinds(scheme: Scheme) -> Iterator[Kind]:
    """Everything that is served: what is stored, and what is only answered."""
    yield from scheme
    yield from REVIEWS
    yield from QUEUES
    yield from METRICS


def groups(scheme: Scheme) -> list[str]:
    """The named groups, as the scheme has them (the core group has no name and is not among them)."""
    return [g for g in dict.fromkeys(kind.group for kind in kinds(scheme)) if g]


def versions(scheme: Scheme, group: str) -> list[str]:
    """Every version served in a group, the preferred one first."""
    return sorted({v for kind in kinds(scheme) if kind.group == group for v in kind.versions}, key=version_order)


def served(scheme: Scheme, group: str, version: str) -> list[Kind]:
    """The kinds of a group in a version, by plural."""
    found = (kind for kind in kinds(scheme) if kind.group == group and version in kind.versions)
    return sorted(found, key=lambda kind: kind.plural)


def singular(kind: Kind) -> str:
    """The singular name: the kind in lower case, unless it says otherwise."""
    return kind.singular or kind.kind.lower()


def api_group(scheme: Scheme, group: str) -> JsonObject:
    """An APIGroup without its own kind and version."""
    found = [{"groupVersion": f"{group}/{v}", "version": v} for v in versions(scheme, group)]
    return {"name": group, "versions": found, "preferredVersion": found[0]}


def group_list(scheme: Scheme) -> JsonObject:
    """/apis"""
    found = [api_group(scheme, group) for group in groups(scheme)]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": found}


def core_versions(scheme: Scheme, host: str) -> JsonObject:
    """/api; `host` is the address that the client used."""
    address = {"clientCIDR": "0.0.0.0/0", "serverAddress": host}
    return {"kind": "APIVersions", "versions": versions(scheme, ""), "serverAddressByClientCIDRs": [address]}


def resource_list(scheme: Scheme, group: str, version: str) -> JsonObject:
    """/api/v1 or /apis/GROUP/VERSION; ApiError 404."""
    listed_kinds = served(scheme, group, version)
    if not listed_kinds:
        raise no_such_resource()
    resources = [resource for kind in listed_kinds for resource in _resources(kind, version)]
    listed: JsonObject = {"kind": "APIResourceList"}
    if group:
        listed["apiVersion"] = "v1"  # as Kubernetes has it: the core's list is older than its own apiVersion
    return listed | {"groupVersion": f"{group}/{version}" if group else version, "resources": resources}


def aggregated(scheme: Scheme, names: list[str], version: str) -> JsonObject:
    """An APIGroupDiscoveryList of these groups; `version` is that of the list itself (v2, v2beta1)."""
    items = []
    for group in names:
        found = [_discovered(scheme, group, v) for v in versions(scheme, group)]
        items.append({"metadata": {"name": group} if group else {}, "versions": found})
    return {"kind": AGGREGATED, "apiVersion": f"{DISCOVERY_GROUP}/{version}", "metadata": {}, "items": items}


def wants_aggregated(accept: str) -> str:
    """The version of the aggregated list that an Accept header asks for first, "" for the plain documents."""
    for clause in clauses(accept):
        if clause.media_type != JSON:
            continue
        if "as" not in clause.parameters:
            return ""
        if clause.parameters["as"] == AGGREGATED and clause.parameters.get("g") == DISCOVERY_GROUP:
            version = clause.parameters.get("v", "")
            if version in ("v2", "v2beta1"):
                return version
    return ""


def _resources(kind: Kind, served_version: str) -> Iterator[JsonObject]:
    resource: JsonObject = {
        "name": kind.plural,
        "singularName": singular(kind),
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": verbs_of(kind),
    }
    yield resource | _names(kind)
    for subresource in _subresources(kind, served_version):
        found: JsonObject = {"name": f"{kind.plural}/{subresource}", "singularName": "", "namespaced": kind.namespaced}
        group, version, name = SUBRESOURCE_KINDS.get(subresource, ("", "", kind.kind))
        if group:
            found |= {"group": group, "version": version}
        yield found | {"kind": name, "verbs": sorted(SUBRESOURCE_VERBS[subresource])}


def _discovered(scheme: Scheme, group: str, version: str) -> JsonObject:
    resources = []
    for kind in served(scheme, group, version):
        found: JsonObject = {
            "resource": kind.plural,
            "responseKind": {"group": group, "version": version, "kind": kind.kind},
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "singularResource": singular(kind),
            "verbs": verbs_of(kind),
        }
        found |= _names(kind)
        if subresources := _subresources(kind, version):
            found["subresources"] = [_discovered_subresource(kind, version, s) for s in subresources]
        resources.append(found)
    return {"version": version, "resources": resources, "freshness": "Current"}


def _subresources(kind: Kind, version: str) -> list[str]:
    """In the order in which Kubernetes lists them: by name, but status before scale of a custom kind."""
    found = subresources_of(kind, version)
    return list(found) if kind.custom else sorted(found)


def _discovered_subresource(kind: Kind, version: str, subresource: str) -> JsonObject:
    group, other, name = SUBRESOURCE_KINDS.get(subresource, ("", "", kind.kind))
    if not other:
        group, other = kind.group, version
    return {
        "subresource": subresource,
        "responseKind": {"group": group, "version": other, "kind": name},
        "verbs": sorted(SUBRESOURCE_VERBS[subresource]),
    }


def _names(kind: Kind) -> JsonObject:
    found: JsonObject = {}
    if kind.short_names:
        found["shortNames"] = list(kind.short_names)
    if kind.categories:
        found["categories"] = list(kind.categories)
    return found


def add_routes(app: web.Application, scheme: Scheme) -> None:
    """The documents under /api and /apis."""

    async def respond(request: web.Request, names: list[str], plain: JsonObject) -> web.Response:
        accept = request.headers.get("Accept", "")
        if version := wants_aggregated(accept):
            media_type = f"{JSON};g={DISCOVERY_GROUP};v={version};as={AGGREGATED}"
            return await answer(request, aggregated(scheme, names, version), media_type=media_type)
        return await answer(request, plain, media_type=negotiate(accept).media_type)

    async def core(request: web.Request) -> web.Response:
        return await respond(request, [""], core_versions(scheme, request.host))

    async def all_groups(request: web.Request) -> web.Response:
        return await respond(request, groups(scheme), group_list(scheme))

    async def one_group(request: web.Request) -> web.Response:
        group = request.match_info["group"]
        if group not in groups(scheme):
            raise no_such_resource()
        return await answer(request, {"kind": "APIGroup", "apiVersion": "v1"} | api_group(scheme, group))

    async def one_version(request: web.Request) -> web.Response:
        group = request.match_info.get("group", "")
        return await answer(request, resource_list(scheme, group, request.match_info["version"]))

    # kubectl asks with and without the slash at the end
    for slash in ("", "/"):
        app.router.add_get(f"/api{slash}", core)
        app.router.add_get(f"/apis{slash}", all_groups)
        app.router.add_get(f"/api/{{version}}{slash}", one_version)
        app.router.add_get(f"/apis/{{group}}{slash}", one_group)
        app.router.add_get(f"/apis/{{group}}/{{version}}{slash}", one_version)
