"""What a request asks for, as rules speak of it: a verb on a resource, or a verb on a path that is none.

The path is taken apart as routing takes it apart (paths.py), but without looking at what is served: whoever may not ask about
something does not learn whether it is there.

    the verb        get, list, watch, create, update, patch, delete, deletecollection; of what is no resource the HTTP method;
                    exec, attach and portforward are `create`, however they are asked for
    the name        that of the path, else the one that a field selector leaves of a list, a watch or a deletecollection
    the namespace   that of the path; a namespace is in itself
Source     Kubernetes: authorization overview (request attributes).
"""

from __future__ import annotations

from urllib.parse import unquote

from kumi.api.errors import ApiError
from kumi.apiserver.routes.paths import METHODS, parts, split
from kumi.registry.authorization.rules import Asked
from kumi.registry.selectors import name_wanted

COLLECTION = ("list", "watch", "deletecollection")
STREAMS = ("attach", "exec", "portforward")


def attributes(method: str, raw_path: str, *, watch: bool = False, fields: str = "") -> Asked:
    """`raw_path` is still percent-encoded; `watch` and `fields` are the query's."""
    try:
        group, _, rest = split(raw_path)
        old_watch = rest[:1] == ["watch"]
        namespace, plural, name, subresource = parts(rest[1:] if old_watch else rest)
    except ApiError:
        return Asked(method.lower(), path=unquote(raw_path))
    verb = _verb(method, name, watch=watch, old_watch=old_watch)
    if subresource in STREAMS:
        verb = "create"
    if verb in COLLECTION and not name:
        name = _selected(fields)
    if not group and plural == "namespaces" and name and verb not in COLLECTION:
        namespace = name
    resource = f"{plural}/{subresource}" if subresource else plural
    return Asked(verb, group, resource, namespace, name)


def _verb(method: str, name: str, *, watch: bool, old_watch: bool) -> str:
    if old_watch and method in ("GET", "HEAD"):
        return "watch"
    verb = str(METHODS.get("GET" if method == "HEAD" else method, method.lower()))
    if name:
        return verb
    return {"get": "watch" if watch else "list", "delete": "deletecollection"}.get(verb, verb)


def _selected(fields: str) -> str:
    try:
        return name_wanted(fields)
    except ApiError:
        return ""  # it is refused where it is read
