from __future__ import annotations

from typing import Any

from kumi.api.apps import StatefulSet
from kumi.controllers.controller_revisions import HASH
from kumi.controllers.stateful_pods import claims_of, pod_for
from kumi.testing.view import decoded

from .made import meta

TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {"containers": [{"name": "c", "image": "i"}], "volumes": [{"name": "data"}, {"name": "tmp"}]},
}


def stateful_set(**spec: Any) -> StatefulSet:
    given = {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE, "serviceName": "svc", **spec}
    made = decoded({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta("web", "ns"), "spec": given})
    assert isinstance(made, StatefulSet)
    return made


def test_a_pod_has_name_number_host_and_claims_of_its_own() -> None:
    found = stateful_set(
        volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}]
    )
    pod = pod_for(found, 3, TEMPLATE, "web-hash")
    assert pod["metadata"]["name"] == "web-3"
    assert pod["metadata"]["labels"] == {
        "a": "b",
        HASH: "web-hash",
        "statefulset.kubernetes.io/pod-name": "web-3",
        "apps.kubernetes.io/pod-index": "3",
    }
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("web-3", "svc")
    assert pod["spec"]["volumes"] == [
        {"name": "tmp"},
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-3"}},
    ]
    [claim] = claims_of(found, 3)
    assert claim["metadata"]["name"] == "data-web-3"
    assert "ownerReferences" not in claim["metadata"]


def test_claims_that_go_with_the_set_are_owned_by_it() -> None:
    retention = {"whenDeleted": "Delete"}
    found = stateful_set(
        volumeClaimTemplates=[{"metadata": {"name": "d"}}], persistentVolumeClaimRetentionPolicy=retention
    )
    [owner] = claims_of(found, 0)[0]["metadata"]["ownerReferences"]
    assert (owner["uid"], owner["controller"]) == ("uid-web", False)
