"""Suite validation: the rules of kumi.api.validation for the kinds of kueue.x-k8s.io, without schemas and metadata, which the
cases leave to the API server.

Gates that a case closes are rules that are left out, by the gate's name; where workloads may be scaled in place, pod sets may
shrink.
"""

from __future__ import annotations

from typing import Any

from kumi.api.errors import FieldError
from kumi.api.validation.kueue import cluster_queue_rules, cohort_rules, resource_flavor_rules
from kumi.api.validation.kueue_workload import FIXED_POD_SETS, GATED, workload_rules

Case = dict[str, Any]
JsonObject = dict[str, Any]

RULES = {"ClusterQueue": cluster_queue_rules, "Cohort": cohort_rules, "ResourceFlavor": resource_flavor_rules}
ELASTIC = "ElasticJobsViaWorkloadSlices"


def run(case: Case) -> JsonObject | None:
    """Every error of the write that the case is about."""
    asked = case["input"]
    if "operation" not in asked:
        return None
    new, old = asked["object"], asked.get("oldObject")
    if new["kind"] == "Workload":
        errors = workload_rules(new, old, _left_out(case["featureGates"]))
    else:
        errors = RULES[new["kind"]](new, old)
    return {"valid": not errors, "errors": [_told(e) for e in errors], "warnings": 0}


def _left_out(gates: dict[str, bool]) -> frozenset[str]:
    closed = {gate for gate in GATED if not gates.get(gate, gate != "PriorityBoost")}
    return frozenset(closed | ({FIXED_POD_SETS} if gates.get(ELASTIC, True) else set()))


def _told(error: FieldError) -> JsonObject:
    return {"field": error.path, "type": error.type}


SUITES = {"validation": run}
