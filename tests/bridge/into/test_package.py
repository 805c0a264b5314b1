from __future__ import annotations

import pytest

from kumi.api import batch, core, kueue
from kumi.api.meta import ObjectMeta
from kumi.bridge.into import TYPES, Deltas, removal
from kumi.engine import model

NOUNS = {
    kueue.ResourceFlavor: (model.Flavor, "x"),
    kueue.ClusterQueue: (model.ClusterQueue, "x"),
    kueue.LocalQueue: (model.LocalQueue, "n/x"),
    core.Namespace: (model.Namespace, "x"),
    core.Node: (model.Node, "x"),
    kueue.Workload: (model.Workload, "n/x"),
    core.Pod: (model.Pod, "u"),
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
