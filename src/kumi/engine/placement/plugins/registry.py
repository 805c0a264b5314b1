"""Registry: the plug-ins of the scheduler's file by their names there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kumi.engine.placement.named import Named

if TYPE_CHECKING:
    from kumi.engine.placement.hooks import Configured

_CLASSES = {
    "bestFit": "best_fit:BestFit",
    "binpack": "binpack:Binpack",
    "bundle-shares": "bundle_shares:BundleShares",
    "capacity": "capacity:Capacity",
    "conformance": "conformance:Conformance",
    "deadline": "deadline:Deadline",
    "disruption-budgets": "disruption_budgets:DisruptionBudgets",
    "drf": "drf:Drf",
    "fewestFree": "fewest_free:FewestFree",
    "fragmentation": "fragmentation:Fragmentation",
    "gang": "gang:Gang",
    "least_slack": "least_slack:LeastSlack",
    "nodegroup": "nodegroup:NodeGroup",
    "nodeorder": "nodeorder:NodeOrder",
    "numa-aware": "numa_aware:NumaAware",
    "overcommit": "overcommit:Overcommit",
    "pdb": "pdb:Pdb",
    "predicates": "predicates:Predicates",
    "priority": "priority:Priority",
    "proportion": "proportion:Proportion",
    "random": "at_random:AtRandom",
    "resource-strategy-fit": "resource_strategy_fit:ResourceStrategyFit",
    "resourcequota": "resourcequota:ResourceQuota",
    "shortest": "shortest:Shortest",
    "sla": "sla:Sla",
    "task-topology": "task_topology:TaskTopology",
    "tdm": "tdm:Tdm",
    "usage": "usage:Usage",
    "utilization": "utilization:Utilization",
}

PLUGINS: Named[Configured] = Named({name: f"kumi.engine.placement.plugins.{where}" for name, where in _CLASSES.items()})
