from __future__ import annotations

import pytest

from kumi.api import batch, claims, core, kueue, nodeinfo, policy, scheduling, volcano
from kumi.api.limits import LimitRange, LimitRangeItem, LimitRangeSpec, ResourceQuota
from kumi.api.meta import ObjectMeta
from kumi.bridge.into import AROUND, TYPES, Deltas, removal
from kumi.engine import gangs, model

NOUNS = {
    kueue.ResourceFlavor: (model.Flavor, "x"),
    kueue.AdmissionCheck: (model.AdmissionCheck, "x"),
    kueue.Cohort: (model.Cohort, "x"),
    kueue.ClusterQueue: (model.ClusterQueue, "x"),
    kueue.Topology: (model.Topology, "x"),
    kueue.LocalQueue: (model.LocalQueue, "n/x"),
    core.Namespace: (model.Namespace, "x"),
    core.Node: (model.Node, "x"),
    kueue.Workload: (model.Workload, "n/x"),
    core.Pod: (model.Pod, "u"),
    scheduling.PriorityClass: (gangs.PriorityClass, "x"),
    volcano.Queue: (gangs.Queue, "x"),
    volcano.PodGroup: (gangs.PodGroup, "n/x"),
    policy.PodDisruptionBudget: (gangs.DisruptionBudget, "n/x"),
    nodeinfo.Numatopology: (model.NumaTopology, "x"),
    claims.CSINode: (model.VolumeLimits, "x"),
    ResourceQuota: (gangs.NamespaceQuota, "n/x"),
}


@pytest.mark.parametrize("type_", TYPES, ids=lambda t: t.__name__)
def test_each_type_becomes_its_noun_and_goes_by_its_key(type_: type) -> None:
    noun, key = NOUNS[type_]
    namespace = "n" if "/" in key or type_ is core.Pod else ""
    obj = type_(metadata=ObjectMeta(name="x", namespace=namespace, uid="u"))
    assert type(Deltas().put(obj).noun) is noun
    assert removal(obj) == model.Remove(noun, key)


def test_other_kinds_are_refused() -> None:
    with pytest.raises(TypeError, match="Job"):
        Deltas().put(batch.Job())
    with pytest.raises(TypeError, match="Job"):
        removal(batch.Job())


def test_deltas_share_their_shapes() -> None:
    deltas = Deltas()
    first, second = (deltas.put(core.Pod(metadata=ObjectMeta(name=n, uid=n))).noun for n in "ab")
    assert isinstance(first, model.Pod)
    assert isinstance(second, model.Pod)
    assert first.shape is second.shape


def test_what_is_around_pods_says_how_workloads_are_read() -> None:
    deltas = Deltas()
    item = LimitRangeItem(type="Container", default_request={"cpu": "3"})
    limits = LimitRange(metadata=ObjectMeta(name="l", namespace="n"), spec=LimitRangeSpec([item]))
    main = kueue.PodSet(name="main", count=1, template={"spec": {"containers": [{"name": "c"}]}})
    obj = kueue.Workload(metadata=ObjectMeta(name="w", namespace="n"), spec=kueue.WorkloadSpec(pod_sets=[main]))

    def asked() -> tuple[tuple[str, int], ...]:
        noun = deltas.put(obj).noun
        assert isinstance(noun, model.Workload)
        return noun.pod_sets[0].shape.requests

    assert asked() == ()
    deltas.learn(limits)
    assert asked() == (("cpu", 3000),)
    deltas.learn(limits, gone=True)
    assert asked() == ()
    assert type(limits) in AROUND
    with pytest.raises(TypeError, match="Node"):
        deltas.learn(core.Node())
