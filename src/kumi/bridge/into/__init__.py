"""API objects as deltas of the engine's state: one file a kind, each a pure function of the object.

    Deltas().put(object) -> Put        the kind's noun, in base units
    removal(object)      -> Remove     by the key that the engine knows it under

What can't be read (a quantity that is no quantity) is a KumiError: for the engine such an object is not there.
"""

from __future__ import annotations

from kumi.api import core, kueue
from kumi.api.meta import Object
from kumi.bridge.into.clusterqueue import clusterqueue
from kumi.bridge.into.flavor import flavor
from kumi.bridge.into.localqueue import localqueue
from kumi.bridge.into.namespace import namespace
from kumi.bridge.into.node import node
from kumi.bridge.into.pod import SCHEDULERS, pod
from kumi.bridge.into.shape import Shapes
from kumi.bridge.into.workload import workload
from kumi.engine import model

TYPES: tuple[type[Object], ...] = (
    kueue.ResourceFlavor,
    kueue.ClusterQueue,
    kueue.LocalQueue,
    core.Namespace,
    core.Node,
    kueue.Workload,
    core.Pod,
)
"""What the engine is told of, those that others refer to first."""


class Deltas:
    """Makes deltas; holds nothing but the shapes that it has seen. `schedulers`: the names that mean Kumi."""

    def __init__(self, schedulers: tuple[str, ...] = SCHEDULERS) -> None:
        self._shapes = Shapes()
        self._schedulers = schedulers

    def put(self, obj: Object) -> model.Put:
        """The object as it is now. KumiError if it can't be read; TypeError for a kind that the engine does not know."""
        return model.Put(self._noun(obj))

    def _noun(self, obj: Object) -> model.Noun:
        match obj:
            case core.Pod():
                return pod(obj, self._shapes, self._schedulers)
            case kueue.Workload():
                return workload(obj, self._shapes)
            case core.Node():
                return node(obj)
            case kueue.ClusterQueue():
                return clusterqueue(obj)
            case kueue.LocalQueue():
                return localqueue(obj)
            case kueue.ResourceFlavor():
                return flavor(obj)
            case core.Namespace():
                return namespace(obj)
        raise TypeError(f"the engine knows no {type(obj).__name__}")


def removal(obj: Object) -> model.Remove:
    """It is gone."""
    match obj:
        case core.Pod():
            return model.Remove(model.Pod, obj.metadata.uid)
        case kueue.Workload():
            return model.Remove(model.Workload, obj.key)
        case core.Node():
            return model.Remove(model.Node, obj.key)
        case kueue.ClusterQueue():
            return model.Remove(model.ClusterQueue, obj.key)
        case kueue.LocalQueue():
            return model.Remove(model.LocalQueue, obj.key)
        case kueue.ResourceFlavor():
            return model.Remove(model.Flavor, obj.key)
        case core.Namespace():
            return model.Remove(model.Namespace, obj.key)
    raise TypeError(f"the engine knows no {type(obj).__name__}")
