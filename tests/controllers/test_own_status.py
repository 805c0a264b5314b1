from __future__ import annotations

from kumi.api.apps import ReplicaSet, ReplicaSetStatus
from kumi.controllers.own_status import written
from kumi.testing.view import decoded

from .made import meta


def replica_set() -> ReplicaSet:
    found = decoded({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta("web", "team"), "spec": {}})
    assert isinstance(found, ReplicaSet)
    return found


def test_a_status_that_is_right_already_is_not_written() -> None:
    assert written(replica_set(), ReplicaSetStatus(replicas=2), ReplicaSetStatus(replicas=2)) == []


def test_what_changed_is_written_onto_the_version_that_was_seen() -> None:
    [patch] = written(replica_set(), ReplicaSetStatus(replicas=1), ReplicaSetStatus(replicas=1, ready_replicas=1))
    assert (patch.kind.kind, patch.namespace, patch.name, patch.subresource) == ("ReplicaSet", "team", "web", "status")
    assert patch.body == {"metadata": {"resourceVersion": "1"}, "status": {"readyReplicas": 1}}
