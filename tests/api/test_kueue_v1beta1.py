from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api import fields, scheme
from kumi.api.kueue_v1beta1 import domains, slices
from kumi.api.wire import JsonObject

SCHEME = scheme.load()
KUEUE = [kind for kind in SCHEME if kind.group == "kueue.x-k8s.io"]
NAMES = st.sampled_from(["a", "b-1", "c.d"])
QUANTITIES = st.sampled_from(["1", "500m", "2Gi", 4])


def some(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[JsonObject]:
    return st.fixed_dictionaries({}, optional=members)


QUOTA = st.fixed_dictionaries(
    {"name": st.just("cpu"), "nominalQuota": QUANTITIES},
    optional={"borrowingLimit": QUANTITIES, "lendingLimit": QUANTITIES},
)
GROUPS = st.lists(
    st.fixed_dictionaries(
        {
            "coveredResources": st.just(["cpu"]),
            "flavors": st.lists(
                st.fixed_dictionaries({"name": NAMES, "resources": st.lists(QUOTA, min_size=1, max_size=1)}),
                min_size=1,
                max_size=1,
            ),
        }
    ),
    max_size=2,
)
CHECKS = st.one_of(
    some(admissionChecks=st.lists(NAMES, min_size=1, max_size=3, unique=True)),
    some(
        admissionChecksStrategy=st.fixed_dictionaries(
            {
                "admissionChecks": st.lists(
                    st.fixed_dictionaries(
                        {"name": NAMES, "onFlavors": st.lists(NAMES, min_size=1, max_size=2, unique=True)}
                    ),
                    min_size=1,
                    max_size=1,
                )
            }
        )
    ),
)
QUEUE_SPECS = st.builds(
    lambda spec, checks: {**spec, **checks},
    some(
        cohort=NAMES,
        resourceGroups=GROUPS,
        queueingStrategy=st.sampled_from(["StrictFIFO", "BestEffortFIFO"]),
        namespaceSelector=st.just({}),
        flavorFungibility=some(
            whenCanBorrow=st.sampled_from(["Borrow", "TryNextFlavor"]),
            whenCanPreempt=st.sampled_from(["Preempt", "TryNextFlavor"]),
        ),
        preemption=some(withinClusterQueue=st.just("LowerPriority")),
        stopPolicy=st.sampled_from(["None", "Hold"]),
        fairSharing=some(weight=QUANTITIES),
    ),
    CHECKS,
)
DOMAINS = st.integers(1, 3).flatmap(
    lambda levels: st.lists(
        st.fixed_dictionaries(
            {"values": st.lists(NAMES, min_size=levels, max_size=levels), "count": st.integers(1, 4)}
        ),
        min_size=1,
        max_size=5,
    ).map(lambda found: {"levels": [f"level-{i}" for i in range(levels)], "domains": found})
)
WORKLOADS = some(
    spec=st.builds(
        lambda spec, ref: {**spec, **ref},
        some(queueName=NAMES, priority=st.integers(0, 9), active=st.booleans()),
        st.one_of(
            st.just({}),
            st.fixed_dictionaries(
                {
                    "priorityClassName": NAMES,
                    "priorityClassSource": st.sampled_from(
                        ["kueue.x-k8s.io/workloadpriorityclass", "scheduling.k8s.io/priorityclass"]
                    ),
                }
            ),
        ),
    ),
    status=some(
        accumulatedPastExexcutionTimeSeconds=st.integers(0, 9),
        admission=some(
            clusterQueue=NAMES,
            podSetAssignments=st.lists(
                st.fixed_dictionaries({"name": NAMES}, optional={"topologyAssignment": DOMAINS}), min_size=1, max_size=2
            ),
        ),
    ),
)
WRITTEN: dict[str, st.SearchStrategy[JsonObject]] = {
    "ClusterQueue": some(spec=QUEUE_SPECS),
    "Cohort": some(spec=some(parent=NAMES, resourceGroups=GROUPS)),
    "LocalQueue": some(
        spec=some(clusterQueue=NAMES),
        status=some(flavorUsage=st.just([{"name": "a", "resources": []}]), pendingWorkloads=st.just(1)),
    ),
    "Workload": WORKLOADS,
    "AdmissionCheck": some(spec=some(controllerName=NAMES)),
    "ResourceFlavor": some(spec=some(nodeLabels=st.just({"a": "b"}))),
    "Topology": some(spec=some(levels=st.just([{"nodeLabel": "a"}]))),
    "WorkloadPriorityClass": some(value=st.integers(0, 9)),
    "ProvisioningRequestConfig": some(
        spec=some(provisioningClassName=NAMES, managedResources=st.lists(NAMES, max_size=2))
    ),
}


@pytest.mark.parametrize("kind", KUEUE, ids=lambda kind: kind.kind)
@given(data=st.data())
def test_to_v1beta2_and_back_is_what_was_written_and_nothing_in_between_is_unknown(
    kind: scheme.Kind, data: st.DataObject
) -> None:
    written = data.draw(WRITTEN[kind.kind])
    assert fields.unknown_fields(kind, "v1beta1", written) == []
    up, down = kind.conversions["v1beta1"]
    before = deepcopy(written)
    stored = up(written)
    kept = deepcopy(stored)
    assert fields.unknown_fields(kind, "", stored) == []
    assert down(stored) == written
    assert (written, stored) == (before, kept)


@given(DOMAINS)
def test_domains_keep_their_order_through_columns(assignment: JsonObject) -> None:
    assert domains(slices(assignment)) == assignment


def test_columns_with_prefixes_and_several_slices_are_written_out() -> None:
    assignment = {
        "levels": ["block", "host"],
        "slices": [
            {
                "domainCount": 2,
                "valuesPerLevel": [
                    {"universal": "b1"},
                    {"individual": {"prefix": "h-", "suffix": ".x", "roots": ["1", "2"]}},
                ],
                "podCounts": {"universal": 3},
            },
            {
                "domainCount": 1,
                "valuesPerLevel": [{"individual": {"roots": ["b2"]}}, {"universal": "h-9"}],
                "podCounts": {"individual": [1]},
            },
        ],
    }
    assert domains(assignment) == {
        "levels": ["block", "host"],
        "domains": [
            {"values": ["b1", "h-1.x"], "count": 3},
            {"values": ["b1", "h-2.x"], "count": 3},
            {"values": ["b2", "h-9"], "count": 1},
        ],
    }


def convert(kind: str, obj: JsonObject, *, up: bool = True) -> JsonObject:
    found = SCHEME.find("kueue.x-k8s.io", kind)
    assert found is not None
    return found.conversions["v1beta1"][0 if up else 1](obj)


def test_the_names_of_a_cluster_queue_s_fields() -> None:
    spec = {
        "cohort": "all",
        "admissionChecks": ["a", "b"],
        "flavorFungibility": {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"},
    }
    assert convert("ClusterQueue", {"spec": spec})["spec"] == {
        "cohortName": "all",
        "admissionChecksStrategy": {"admissionChecks": [{"name": "a"}, {"name": "b"}]},
        "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "MayStopSearch"},
    }


def test_a_strategy_counts_where_both_forms_of_checks_are_given() -> None:
    strategy = {"admissionChecks": [{"name": "b", "onFlavors": ["f"]}]}
    spec = {"admissionChecks": ["a"], "admissionChecksStrategy": strategy}
    assert convert("ClusterQueue", {"spec": spec})["spec"] == {"admissionChecksStrategy": strategy}


def test_a_priority_class_is_named_with_its_group_and_kind() -> None:
    spec = {"priorityClassName": "high", "priorityClassSource": "kueue.x-k8s.io/workloadpriorityclass"}
    ref = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "high"}
    assert convert("Workload", {"spec": spec})["spec"] == {"priorityClassRef": ref}


def test_what_nothing_reads_any_more_is_gone() -> None:
    assert convert("AdmissionCheck", {"spec": {"controllerName": "c", "retryDelayMinutes": 5}})["spec"] == {
        "controllerName": "c"
    }
    assert convert("LocalQueue", {"status": {"flavors": [], "pendingWorkloads": 1}})["status"] == {
        "pendingWorkloads": 1
    }
    assert convert("ClusterQueue", {"status": {"pendingWorkloadsStatus": {}}})["status"] == {}


def test_an_object_without_spec_and_status_stays_so() -> None:
    for kind in KUEUE:
        for convert_one in kind.conversions["v1beta1"]:
            assert convert_one({"kind": kind.kind}) == {"kind": kind.kind}
