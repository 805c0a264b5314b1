"""Manifests: API objects as the engine's nouns."""

from __future__ import annotations

from typing import Any

import pytest

from kumi.api.errors import KumiError
from kumi.engine.model import Flavor, LocalQueue
from kumi.evaluator.manifests import is_object, nouns

FLAVOR = {
    "apiVersion": "kueue.x-k8s.io/v1beta1",
    "kind": "ResourceFlavor",
    "metadata": {"name": "spot"},
    "spec": {"nodeLabels": {"a": "b"}},
}


def test_an_object_is_what_the_bridge_reads_of_it_in_whatever_version() -> None:
    local = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "lq"}}
    local["spec"] = {"clusterQueue": "cq"}
    assert nouns([("f", FLAVOR), ("f", local)]) == (
        Flavor("spot", (("a", "b"),)),
        LocalQueue("default/lq", "cq"),
    )


def test_what_an_object_is() -> None:
    configuration = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
    old = {**FLAVOR, "apiVersion": "kueue.x-k8s.io/v1alpha1"}
    assert [is_object(one) for one in (FLAVOR, configuration, old, {"line": "easy"}, None, [])] == [True, *[False] * 5]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {**FLAVOR, "spec": {"nodeLabel": {}}},
            r"f, line 3: ResourceFlavor spot is wrong:\n  spec\.nodeLabel: .*unknown field",
        ),
        ({**FLAVOR, "spec": {"nodeLabels": 3}}, "ResourceFlavor spot is wrong"),
        ({**FLAVOR, "metadata": {"name": "No Name"}}, "ResourceFlavor No Name is wrong"),
        (
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}},
            "Secret s: it says nothing that is decided by",
        ),
        ({"line": "easy"}, "no object of a kind that Kumi serves"),
        (["a"], "no object of a kind that Kumi serves"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(wrong: Any, said: str) -> None:
    with pytest.raises(KumiError, match=said):
        nouns([("f, line 3", wrong)])
