"""Served versions and the stored one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumi.api.scheme import Kind, Scheme
from kumi.registry import versions


@pytest.fixture
def kind(scheme: Scheme) -> Kind:
    found = scheme.find("kueue.x-k8s.io", "LocalQueue")
    assert found is not None
    return replace(
        found,
        conversions={"v0": (lambda obj: {**obj, "spec": obj["old"]}, lambda obj: {**obj, "old": obj["spec"]})},
    )


def test_the_stored_version_is_the_object_itself(kind: Kind) -> None:
    obj = {"apiVersion": kind.api_version}
    assert versions.from_stored(kind, "", obj) is obj
    assert versions.to_stored(kind, kind.version, obj) is obj


def test_another_version_is_converted_both_ways(kind: Kind) -> None:
    stored = {"apiVersion": kind.api_version, "spec": 1}
    spoken = versions.from_stored(kind, "v0", stored)
    assert (spoken["apiVersion"], spoken["old"]) == ("kueue.x-k8s.io/v0", 1)
    assert versions.to_stored(kind, "v0", spoken)["apiVersion"] == kind.api_version
    assert stored == {"apiVersion": kind.api_version, "spec": 1}


def test_the_core_group_has_no_prefix(scheme: Scheme) -> None:
    pod = scheme.find("", "Pod")
    assert pod is not None
    assert versions.api_version(pod, "") == "v1"
