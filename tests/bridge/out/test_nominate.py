from __future__ import annotations

from kumi.bridge.out import step
from kumi.bridge.out.nominate import nominate
from kumi.engine.decisions import Nominate
from kumi.runtime.reconcile import Patch

from .made import NOW_MS, pod


def test_this_pod_says_which_node_is_cleared_for_it() -> None:
    decision = Nominate("pu", "node-1")
    made = nominate("t", decision, pod())
    (patch,) = made.writes
    assert isinstance(patch, Patch)
    assert (patch.namespace, patch.name, patch.subresource) == ("n", "p", "status")
    assert patch.body == {"metadata": {"uid": "pu"}, "status": {"nominatedNodeName": "node-1"}}
    assert [n.reason for n in made.notes] == ["Nominated"]
    assert step("t", decision, pod(), NOW_MS) == made
