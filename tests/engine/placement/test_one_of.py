"""One of: a pod that stands for those of a pod set."""

from __future__ import annotations

from kumi.engine.model import PodSet
from kumi.engine.placement.one_of import one_of
from kumi.testing.builders import shape


def test_it_has_the_shape_the_namespace_and_the_labels_of_the_pods() -> None:
    pods = PodSet("main", 3, shape(cpu=1), namespace="ns", labels=(("app", "a"),))
    one = one_of(pods)
    assert (one.shape, one.namespace, one.labels, one.pod_set) == (pods.shape, "ns", pods.labels, "main")
