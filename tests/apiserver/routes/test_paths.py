from __future__ import annotations

from contextlib import suppress
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import ApiError
from kumi.api.scheme import load
from kumi.apiserver.routes.paths import Call, resolve, subresources_of, verbs_of

SCHEME = load()


def call(method: str, path: str, *, watch: bool = False) -> Call:
    return resolve(SCHEME, method, path, watch=watch)


def refusal(method: str, path: str) -> int:
    with pytest.raises(ApiError) as refused:
        call(method, path)
    return refused.value.code


@given(st.sampled_from(["GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS", "X"]), st.text(), st.booleans())
def test_any_path_is_a_call_or_a_refusal(method: str, tail: str, watch: bool) -> None:
    for start in ("", "/api/", "/api/v1/", "/apis/batch/v1/", "/api/v1/namespaces/a/"):
        with suppress(ApiError):
            assert isinstance(call(method, start + tail, watch=watch), Call)


@given(st.text(min_size=1), st.text(min_size=1))
def test_names_are_taken_apart_as_they_were_put_together(namespace: str, name: str) -> None:
    path = f"/api/v1/namespaces/{quote(namespace, safe='')}/configmaps/{quote(name, safe='')}"
    target = call("GET", path).target
    assert (target.namespace, target.name) == (namespace, name)


@pytest.mark.parametrize(
    ("method", "path", "verb", "where"),
    [
        ("GET", "/api/v1/pods", "list", ("pods", "", "", "")),
        ("GET", "/api/v1/namespaces/a/pods", "list", ("pods", "a", "", "")),
        ("POST", "/api/v1/namespaces/a/pods", "create", ("pods", "a", "", "")),
        ("DELETE", "/api/v1/namespaces/a/pods", "deletecollection", ("pods", "a", "", "")),
        ("GET", "/api/v1/namespaces/a/pods/p", "get", ("pods", "a", "p", "")),
        ("PUT", "/api/v1/namespaces/a/pods/p", "update", ("pods", "a", "p", "")),
        ("PATCH", "/api/v1/namespaces/a/pods/p/status", "patch", ("pods", "a", "p", "status")),
        ("POST", "/api/v1/namespaces/a/pods/p/binding", "create", ("pods", "a", "p", "binding")),
        ("GET", "/api/v1/namespaces/a/pods/p/log", "get", ("pods", "a", "p", "log")),
        ("GET", "/api/v1/namespaces", "list", ("namespaces", "", "", "")),
        ("GET", "/api/v1/namespaces/a", "get", ("namespaces", "", "a", "")),
        ("PATCH", "/api/v1/namespaces/a/status", "patch", ("namespaces", "", "a", "status")),
        ("DELETE", "/api/v1/nodes", "deletecollection", ("nodes", "", "", "")),
        ("GET", "/apis/batch/v1/namespaces/a/jobs/j", "get", ("jobs", "a", "j", "")),
        ("GET", "/apis/kubeflow.org/v1/pytorchjobs/", "list", ("pytorchjobs", "", "", "")),
        ("GET", "/api/v1/watch/pods", "watch", ("pods", "", "", "")),
    ],
)
def test_a_path_means_a_verb_on_a_target(method: str, path: str, verb: str, where: tuple[str, ...]) -> None:
    found = call(method, path)
    target = found.target
    assert found.verb == verb
    assert (target.kind.plural, target.namespace, target.name, target.subresource) == where


def test_the_target_speaks_the_version_of_the_path() -> None:
    assert call("GET", "/apis/kueue.x-k8s.io/v1beta1/clusterqueues").target.version == "v1beta1"


def test_a_list_with_watch_is_a_watch() -> None:
    assert call("GET", "/api/v1/pods", watch=True).verb == "watch"


def test_a_watch_on_one_object_by_the_old_path_names_it() -> None:
    found = call("GET", "/api/v1/watch/namespaces/a/pods/p")
    assert (found.verb, found.one, found.target.name) == ("watch", "p", "")


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/widgets",
        "/api/v2/pods",
        "/apis/none.example/v1/things",
        "/apis/kueue.x-k8s.io/v9/clusterqueues",
        "/api/v1/pods/p",
        "/api/v1/namespaces/a/nodes",
        "/api/v1/namespaces/a/pods/p/nothing",
        "/api/v1/namespaces/a/pods/p/log/more",
        "/api/v1/namespaces//pods",
        "/api/v1/%ff",
        "/api",
    ],
)
def test_what_nobody_serves_is_a_404(path: str) -> None:
    assert refusal("GET", path) == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/pods"),
        ("DELETE", "/api/v1/pods"),
        ("DELETE", "/api/v1/namespaces"),
        ("POST", "/api/v1/namespaces/a/pods/p"),
        ("PUT", "/api/v1/namespaces/a/pods"),
        ("DELETE", "/api/v1/namespaces/a/pods/p/status"),
        ("GET", "/api/v1/namespaces/a/pods/p/binding"),
        ("POST", "/api/v1/watch/pods"),
        ("GET", "/apis/metrics.k8s.io/v1beta1/watch/pods"),
        ("POST", "/apis/metrics.k8s.io/v1beta1/nodes"),
        ("DELETE", "/apis/metrics.k8s.io/v1beta1/nodes/n"),
        ("GET", "/apis/authorization.k8s.io/v1/watch/selfsubjectaccessreviews"),
        ("OPTIONS", "/api/v1/pods"),
    ],
)
def test_a_verb_that_the_resource_has_not_is_a_405(method: str, path: str) -> None:
    assert refusal(method, path) == 405


def test_discovery_shows_the_verbs_that_are_served() -> None:
    namespaces, pods = SCHEME.find_plural("", "namespaces"), SCHEME.find_plural("", "pods")
    assert namespaces is not None
    assert pods is not None
    assert "deletecollection" not in verbs_of(namespaces)
    assert verbs_of(pods) == ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
    assert {"binding", "eviction", "log", "status"} <= set(subresources_of(pods))
