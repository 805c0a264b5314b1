from __future__ import annotations

from kumi.bridge.out.bind import bind
from kumi.engine.decisions import Bind
from kumi.runtime.reconcile import Create

from .made import pod


def test_this_pod_is_bound_to_that_node() -> None:
    step = bind("t", Bind("pu", "node-1"), pod())
    (create,) = step.writes
    assert isinstance(create, Create)
    assert create.subresource == "binding"
    assert create.object["metadata"] == {"namespace": "n", "name": "p", "uid": "pu"}
    assert create.object["target"] == {"apiVersion": "v1", "kind": "Node", "name": "node-1"}
    assert [(n.reason, n.message) for n in step.notes] == [("Scheduled", "n/p is assigned to node node-1")]


def test_the_gpus_that_it_has_there_are_written_onto_it() -> None:
    (create,) = bind("t", Bind("pu", "node-1", (0, 2)), pod()).writes
    assert isinstance(create, Create)
    assert create.object["metadata"]["annotations"] == {"kumi.dev/gpu-index": "0,2"}
