from __future__ import annotations

from kumi.bridge.out.admit import admit
from kumi.engine.decisions import Admit
from kumi.engine.model import Admission, PodSetAssigned
from kumi.runtime.reconcile import Patch

from .made import NOW_MS, condition, said, workload

GOT = Admission(
    "gpus",
    (
        PodSetAssigned("master", 1, (("nvidia.com/gpu", "a100"),), (("nvidia.com/gpu", 1000),), (("n1", 1),)),
        PodSetAssigned("worker", 3, (("nvidia.com/gpu", "a100"),), (("nvidia.com/gpu", 3000),), (("n1", 1), ("n2", 2))),
    ),
)


def test_the_admission_and_its_conditions_are_one_conditional_patch() -> None:
    step = admit("t", Admit("n/w", GOT), workload(), NOW_MS)
    (patch,) = step.writes
    assert isinstance(patch, Patch)
    assert (patch.kind.kind, patch.namespace, patch.name, patch.subresource) == ("Workload", "n", "w", "status")
    assert isinstance(patch.body, dict)
    assert patch.body["metadata"] == {"resourceVersion": "7"}
    status = patch.body["status"]
    assert said(status) == {"QuotaReserved": ("True", "QuotaReserved"), "Admitted": ("True", "Admitted")}
    assert status["admission"]["clusterQueue"] == "gpus"
    assert status["admission"]["podSetAssignments"][1] == {
        "name": "worker",
        "flavors": {"nvidia.com/gpu": "a100"},
        "resourceUsage": {"nvidia.com/gpu": "3"},
        "count": 3,
        "topologyAssignment": {
            "levels": ["kubernetes.io/hostname"],
            "slices": [
                {
                    "domainCount": 2,
                    "valuesPerLevel": [{"individual": {"prefix": "n", "roots": ["1", "2"]}}],
                    "podCounts": {"individual": [1, 2]},
                }
            ],
        },
    }


def test_what_was_said_while_it_waited_goes() -> None:
    view = workload(
        {
            "decision": {"code": "NODES_FULL"},
            "conditions": [
                condition("QuotaReserved", "False", "WaitingForQuota"),
                condition("Evicted", "True", "Preempted"),
                condition("Preempted", "True", "Preempted"),
                condition("Requeued", "False", "Deactivated"),
            ],
        }
    )
    (patch,) = admit("t", Admit("n/w", GOT), view, NOW_MS).writes
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, dict)
    status = patch.body["status"]
    assert status["decision"] is None
    assert said(status) == {
        "QuotaReserved": ("True", "QuotaReserved"),
        "Evicted": ("False", "QuotaReserved"),
        "Preempted": ("False", "QuotaReserved"),
        "Requeued": ("True", "Reactivated"),
        "Admitted": ("True", "Admitted"),
    }


def test_its_events_say_how_long_it_waited_and_what_it_got() -> None:
    notes = admit("t", Admit("n/w", GOT), workload(), NOW_MS).notes
    assert [n.reason for n in notes] == ["QuotaReserved", "Admitted"]
    assert notes[0].message == "Quota is reserved in ClusterQueue gpus after 10s"
    assert notes[1].message == "Admitted by ClusterQueue gpus: 4 pods on 2 nodes, flavor a100"
    assert notes[0].about["uid"] == "u"


def test_where_the_cluster_places_there_is_no_topology_assignment() -> None:
    got = Admission("q", (PodSetAssigned("main", 1, (), ()),))
    (patch,) = admit("t", Admit("n/w", got), workload(), NOW_MS).writes
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, dict)
    assert "topologyAssignment" not in patch.body["status"]["admission"]["podSetAssignments"][0]


def test_with_checks_that_are_not_ready_only_quota_is_reserved() -> None:
    step = admit("t", Admit("n/w", GOT, checks=("capacity",)), workload(), NOW_MS)
    (patch,) = step.writes
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, dict)
    assert said(patch.body["status"]) == {
        "QuotaReserved": ("True", "QuotaReserved"),
        "Admitted": ("False", "UnsatisfiedAdmissionChecks"),
    }
    assert [n.reason for n in step.notes] == ["QuotaReserved"]
