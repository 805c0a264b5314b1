"""API objects as deltas of the engine's state: one file a kind, each a pure function of the object.

    Deltas().put(object) -> Put        the kind's noun, in base units
    Deltas().learn(object)             a kind that only says how others are read (AROUND)
    removal(object)      -> Remove     by the key that the engine knows it under

What can't be read (a quantity that is no quantity) is a KumiError: for the engine such an object is not there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kumi.api import claims, core, kueue, limits, metrics, nodeinfo, policy, scheduling, volcano
from kumi.api.meta import Object
from kumi.api.node import RuntimeClass
from kumi.bridge.into.adjusted import Around
from kumi.bridge.into.admissioncheck import admissioncheck
from kumi.bridge.into.clusterqueue import clusterqueue
from kumi.bridge.into.cohort import cohort
from kumi.bridge.into.companions import Companions
from kumi.bridge.into.disruptionbudget import disruptionbudget
from kumi.bridge.into.flavor import flavor
from kumi.bridge.into.localqueue import localqueue
from kumi.bridge.into.namespace import namespace
from kumi.bridge.into.namespacequota import namespacequota
from kumi.bridge.into.node import node
from kumi.bridge.into.nodeload import nodeload
from kumi.bridge.into.numatopology import numatopology
from kumi.bridge.into.pod import pod
from kumi.bridge.into.podgroup import podgroup
from kumi.bridge.into.priorityclass import priorityclass
from kumi.bridge.into.queue import queue
from kumi.bridge.into.shape import Shapes
from kumi.bridge.into.topology import topology
from kumi.bridge.into.volumelimits import volumelimits
from kumi.bridge.into.workload import workload
from kumi.bridge.scheduler_names import SCHEDULERS
from kumi.engine import gangs, model
from kumi.engine.settings import Settings

TYPES: tuple[type[Object], ...] = (
    kueue.Topology,
    kueue.ResourceFlavor,
    kueue.AdmissionCheck,
    kueue.Cohort,
    kueue.ClusterQueue,
    kueue.LocalQueue,
    core.Namespace,
    core.Node,
    scheduling.PriorityClass,
    volcano.Queue,
    volcano.PodGroup,
    policy.PodDisruptionBudget,
    limits.ResourceQuota,
    nodeinfo.Numatopology,
    claims.CSINode,
    kueue.Workload,
    core.Pod,
)
"""What the engine is told of, those that others refer to first."""

NOUNS: dict[type[Object], tuple[type[model.Noun], Callable[[Any], model.Noun]]] = {
    kueue.Topology: (model.Topology, topology),
    kueue.ResourceFlavor: (model.Flavor, flavor),
    kueue.AdmissionCheck: (model.AdmissionCheck, admissioncheck),
    kueue.Cohort: (model.Cohort, cohort),
    kueue.ClusterQueue: (model.ClusterQueue, clusterqueue),
    kueue.LocalQueue: (model.LocalQueue, localqueue),
    core.Namespace: (model.Namespace, namespace),
    core.Node: (model.Node, node),
    scheduling.PriorityClass: (gangs.PriorityClass, priorityclass),
    volcano.Queue: (gangs.Queue, queue),
    volcano.PodGroup: (gangs.PodGroup, podgroup),
    policy.PodDisruptionBudget: (gangs.DisruptionBudget, disruptionbudget),
    limits.ResourceQuota: (gangs.NamespaceQuota, namespacequota),
    nodeinfo.Numatopology: (model.NumaTopology, numatopology),
    claims.CSINode: (model.VolumeLimits, volumelimits),
    metrics.NodeLoad: (model.NodeUsage, nodeload),
}
"""what an object becomes that is read by itself, and how"""

POLLED: tuple[type[Object], ...] = (metrics.NodeLoad,)
"""what the engine is told of too, where somebody asks for it: it can't be watched"""

AROUND: tuple[type[Object], ...] = (limits.LimitRange, RuntimeClass)
"""what only says how other objects are read"""


class Deltas:
    """Makes deltas; holds nothing but the shapes that it has seen, and what there is around pods (LimitRanges, RuntimeClasses).
    `schedulers`: the names that mean Kumi; `settings`: of these, the order of the queue and what resources count for;
    `companions`: services and makers, which somebody else tells."""

    def __init__(
        self,
        schedulers: tuple[str, ...] = SCHEDULERS,
        settings: Settings | None = None,
        companions: Companions | None = None,
    ) -> None:
        self._shapes = Shapes()
        self._schedulers = schedulers
        self._settings = settings or Settings()
        self._around = Around()
        self._companions = companions or Companions()

    def learn(self, obj: Object, *, gone: bool = False) -> None:
        """There is such a thing around pods now, it changed, or it is gone: workloads that are put after this are read by it.
        KumiError if it can't be read: what was known of it stays. TypeError for what is not of AROUND."""
        if not isinstance(obj, limits.LimitRange | RuntimeClass):
            raise TypeError(f"a {type(obj).__name__} is not around pods")
        if gone:
            self._around.drop(obj)
        else:
            self._around.put(obj)

    def put(self, obj: Object) -> model.Put:
        """The object as it is now. KumiError if it can't be read; TypeError for a kind that the engine does not know."""
        return model.Put(self._noun(obj))

    def _noun(self, obj: Object) -> model.Noun:
        match obj:
            case core.Pod():
                return pod(obj, self._shapes, self._schedulers, self._companions.spread(obj))
            case kueue.Workload():
                return workload(obj, self._shapes, self._settings, self._around)
        _, read = _known(obj)
        return read(obj)


def removal(obj: Object) -> model.Remove:
    """It is gone."""
    match obj:
        case core.Pod():
            return model.Remove(model.Pod, obj.metadata.uid)
        case kueue.Workload():
            return model.Remove(model.Workload, obj.key)
    noun, _ = _known(obj)
    return model.Remove(noun, obj.key)


def _known(obj: Object) -> tuple[type[model.Noun], Callable[[Any], model.Noun]]:
    found = NOUNS.get(type(obj))
    if found is None:
        raise TypeError(f"the engine knows no {type(obj).__name__}")
    return found
