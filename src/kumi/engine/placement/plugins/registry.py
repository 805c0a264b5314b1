"""Registry: the plug-ins of the scheduler's file by their names there."""

from __future__ import annotations

from kumi.engine.placement.hooks import Configured
from kumi.engine.placement.plugins.at_random import AtRandom
from kumi.engine.placement.plugins.best_fit import BestFit
from kumi.engine.placement.plugins.binpack import Binpack
from kumi.engine.placement.plugins.bundle_shares import BundleShares
from kumi.engine.placement.plugins.capacity import Capacity
from kumi.engine.placement.plugins.conformance import Conformance
from kumi.engine.placement.plugins.deadline import Deadline
from kumi.engine.placement.plugins.drf import Drf
from kumi.engine.placement.plugins.fewest_free import FewestFree
from kumi.engine.placement.plugins.fragmentation import Fragmentation
from kumi.engine.placement.plugins.gang import Gang
from kumi.engine.placement.plugins.least_slack import LeastSlack
from kumi.engine.placement.plugins.nodegroup import NodeGroup
from kumi.engine.placement.plugins.nodeorder import NodeOrder
from kumi.engine.placement.plugins.numa_aware import NumaAware
from kumi.engine.placement.plugins.overcommit import Overcommit
from kumi.engine.placement.plugins.pdb import Pdb
from kumi.engine.placement.plugins.predicates import Predicates
from kumi.engine.placement.plugins.priority import Priority
from kumi.engine.placement.plugins.proportion import Proportion
from kumi.engine.placement.plugins.resource_strategy_fit import ResourceStrategyFit
from kumi.engine.placement.plugins.resourcequota import ResourceQuota
from kumi.engine.placement.plugins.shortest import Shortest
from kumi.engine.placement.plugins.sla import Sla
from kumi.engine.placement.plugins.task_topology import TaskTopology
from kumi.engine.placement.plugins.tdm import Tdm
from kumi.engine.placement.plugins.usage import Usage
from kumi.engine.placement.plugins.utilization import Utilization

PLUGINS: dict[str, Configured] = {
    "bestFit": BestFit,
    "binpack": Binpack,
    "bundle-shares": BundleShares,
    "capacity": Capacity,
    "conformance": Conformance,
    "deadline": Deadline,
    "drf": Drf,
    "fewestFree": FewestFree,
    "fragmentation": Fragmentation,
    "gang": Gang,
    "least_slack": LeastSlack,
    "nodegroup": NodeGroup,
    "nodeorder": NodeOrder,
    "numa-aware": NumaAware,
    "overcommit": Overcommit,
    "pdb": Pdb,
    "predicates": Predicates,
    "priority": Priority,
    "proportion": Proportion,
    "random": AtRandom,
    "resource-strategy-fit": ResourceStrategyFit,
    "resourcequota": ResourceQuota,
    "shortest": Shortest,
    "sla": Sla,
    "task-topology": TaskTopology,
    "tdm": Tdm,
    "usage": Usage,
    "utilization": Utilization,
}
