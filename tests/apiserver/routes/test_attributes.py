from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import ApiError
from kumi.api.scheme import load
from kumi.apiserver.routes.attributes import attributes
from kumi.apiserver.routes.paths import resolve
from kumi.registry.authorization.rules import Asked

WORDS = (
    "api", "apis", "v1", "apps", "batch", "namespaces", "watch", "pods", "jobs", "deployments", "nodes", "team", "log",
    "status", "scale", "finalize", "", ".", "..", "a/b", "%2e", "rbac.authorization.k8s.io", "roles",
)  # fmt: skip
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
segments = st.lists(st.sampled_from(WORDS), max_size=8)
starts = st.sampled_from(
    ([], ["api", "v1"], ["apis", "batch", "v1"], ["api", "v1", "namespaces", "team"], ["api", "v1", "watch"])
)


@given(st.sampled_from(METHODS), starts, segments, st.booleans(), st.booleans())
def test_what_is_decided_about_is_what_is_done(
    method: str, start: list[str], rest: list[str], watch: bool, slash: bool
) -> None:
    path = "/" + "/".join(quote(word, safe="") for word in [*start, *rest]) + ("/" if slash else "")
    asked = attributes(method, path, watch=watch)
    try:
        call = resolve(load(), method, path, watch=watch)
    except ApiError:
        return
    target = call.target
    subresource = f"/{target.subresource}" if target.subresource else ""
    assert asked.path == ""
    assert (asked.verb, asked.group, asked.resource) == (
        call.verb, target.kind.group, f"{target.kind.plural}{subresource}",
    )  # fmt: skip
    assert asked.name == (target.name or call.one)
    if target.kind.plural != "namespaces":
        assert asked.namespace == target.namespace


@pytest.mark.parametrize(
    ("method", "path", "asked"),
    [
        ("GET", "/api/v1/namespaces/team/pods", Asked("list", "", "pods", "team")),
        ("HEAD", "/api/v1/namespaces/team/pods/p", Asked("get", "", "pods", "team", "p")),
        ("GET", "/api/v1/pods", Asked("list", "", "pods")),
        ("GET", "/api/v1/namespaces/team/pods/p/log", Asked("get", "", "pods/log", "team", "p")),
        ("DELETE", "/api/v1/namespaces/team/pods", Asked("deletecollection", "", "pods", "team")),
        ("POST", "/apis/batch/v1/namespaces/team/jobs", Asked("create", "batch", "jobs", "team")),
        ("PATCH", "/apis/apps/v1/namespaces/team/deployments/d/scale",
         Asked("patch", "apps", "deployments/scale", "team", "d")),
        ("GET", "/api/v1/watch/namespaces/team/pods", Asked("watch", "", "pods", "team")),
        ("GET", "/api/v1/namespaces/team", Asked("get", "", "namespaces", "team", "team")),
        ("PUT", "/api/v1/namespaces/team/finalize", Asked("update", "", "namespaces/finalize", "team", "team")),
        ("GET", "/api/v1/namespaces", Asked("list", "", "namespaces")),
        ("GET", "/api/v1/namespaces/team/pods/p/exec", Asked("create", "", "pods/exec", "team", "p")),
        ("GET", "/api/v1/nosuch/x", Asked("get", "", "nosuch", "", "x")),
        ("GET", "/api/v1/namespaces/team/pods/a%2Fb", Asked("get", "", "pods", "team", "a/b")),
        ("GET", "/apis/apps/v1", Asked("get", path="/apis/apps/v1")),
        ("POST", "/version", Asked("post", path="/version")),
        ("GET", "/version/%2e%2e/api", Asked("get", path="/version/../api")),
    ],
)  # fmt: skip
def test_what_a_request_asks_for(method: str, path: str, asked: Asked) -> None:
    assert attributes(method, path) == asked


@pytest.mark.parametrize(
    ("method", "watch", "fields", "verb", "name"),
    [
        ("GET", False, "metadata.name=p", "list", "p"),
        ("GET", True, "metadata.name=p,status.phase=Running", "watch", "p"),
        ("DELETE", False, "metadata.name==p", "deletecollection", "p"),
        ("GET", False, "metadata.name!=p", "list", ""),
        ("GET", False, "!!", "list", ""),
        ("POST", False, "metadata.name=p", "create", ""),
    ],
)
def test_a_list_of_one_name_is_about_that_name(method: str, watch: bool, fields: str, verb: str, name: str) -> None:
    asked = attributes(method, "/api/v1/namespaces/team/pods", watch=watch, fields=fields)
    assert (asked.verb, asked.name) == (verb, name)
