from __future__ import annotations

from dataclasses import replace

import pytest

from kumi.controllers.life import queues
from kumi.controllers.life.look import Look
from kumi.controllers.life.queues import Queue
from tests.controllers.made import admission, admitted, at, condition

from .made import look, said, status_of

RESERVED = {"admission": admission(), "conditions": [condition("QuotaReserved", "True")]}


@pytest.mark.parametrize("kind", ["LocalQueue", "ClusterQueue"])
def test_one_that_was_stopped_comes_back_when_its_queue_runs_again(kind: str) -> None:
    rule = queues.local_restarted if kind == "LocalQueue" else queues.cluster_restarted
    status = {"conditions": [condition("Requeued", "False", f"{kind}Stopped")]}
    assert said(rule(look(status)))["Requeued"] == ("True", f"{kind}Restarted")
    field = "queue" if kind == "LocalQueue" else "cluster"
    assert rule(look(status, **{field: {"stopPolicy": "Hold"}})) is None
    assert rule(look({"conditions": [condition("Requeued", "False", "Deactivated")]})) is None
    assert rule(replace(look(status), queue=None, cluster_queue=None)) is None


@pytest.mark.parametrize("kind", ["LocalQueue", "ClusterQueue"])
def test_a_drained_queue_evicts_what_is_admitted_once(kind: str) -> None:
    rule = queues.local_drained if kind == "LocalQueue" else queues.cluster_drained
    field = "queue" if kind == "LocalQueue" else "cluster"
    drained = {field: {"stopPolicy": "HoldAndDrain"}}
    assert said(rule(look(admitted(), **drained)))["Evicted"] == ("True", f"{kind}Stopped")
    assert rule(look(admitted(conditions=[condition("Evicted", "True")]), **drained)) is None
    assert rule(look(RESERVED, **drained)) is None
    assert rule(look(admitted(), **{field: {"stopPolicy": "Hold"}})) is None


@pytest.mark.parametrize("kind", ["LocalQueue", "ClusterQueue"])
def test_quota_that_is_only_reserved_goes_back_with_its_queue(kind: str) -> None:
    rule = queues.local_gone if kind == "LocalQueue" else queues.cluster_gone
    field, attribute = ("queue", "queue") if kind == "LocalQueue" else ("cluster", "cluster_queue")
    stopped = rule(look(RESERVED, **{field: {"stopPolicy": "Hold"}}))
    assert said(stopped) == {"QuotaReserved": ("False", "Suspended"), "Admitted": ("False", "NoReservation")}
    assert status_of(stopped)["admission"] is None
    nothing: dict[str, Queue | None] = {attribute: None}
    assert said(rule(replace(look(RESERVED), **nothing)))["QuotaReserved"] == ("False", "Misconfigured")
    assert said(rule(going(look(RESERVED), attribute)))["QuotaReserved"] == ("False", "Misconfigured")
    assert rule(look(admitted(), **{field: {"stopPolicy": "Hold"}})) is None
    assert rule(look(RESERVED)) is None


def going(seen: Look, attribute: str) -> Look:
    found: Queue = getattr(seen, attribute)
    found.metadata.deletion_timestamp = at(0)
    return seen
