from __future__ import annotations

import msgspec
import pytest

from kumi.api.kueue import ClusterQueue, LocalQueue
from kumi.bridge.into import Deltas
from kumi.controllers.queue_conditions import CLOSED, of_cluster_queue, of_local_queue
from kumi.engine.catalog import Catalog
from kumi.engine.reasons import Code
from kumi.engine.state import State

from .made import at, cluster_queue, flavor, local_queue, views


def catalog(*names: str) -> tuple[ClusterQueue, Catalog]:
    queue = msgspec.convert(cluster_queue(), ClusterQueue)
    state, deltas = State(), Deltas()
    for view in [queue, *views(*(flavor(name) for name in names))]:
        state.apply(deltas.put(view))
    return queue, state.catalog


def test_a_queue_that_admits_is_ready() -> None:
    queue, known = catalog("default")
    assert (of_cluster_queue(queue, known).status, of_cluster_queue(queue, known).reason) == ("True", "Ready")


def test_going_comes_before_all_else() -> None:
    queue, known = catalog()
    assert of_cluster_queue(queue, known).reason == "FlavorNotFound"
    queue.metadata.deletion_timestamp = at(0)
    assert of_cluster_queue(queue, known).reason == "Terminating"


@pytest.mark.parametrize("code", [c for c in Code if c in CLOSED])
def test_each_cause_has_kueues_word(code: Code) -> None:
    assert CLOSED[code].isalpha()


def test_a_door_is_as_good_as_its_queue() -> None:
    queue, known = catalog()
    door = msgspec.convert(local_queue(), LocalQueue)
    assert of_local_queue(door, None, known).reason == "ClusterQueueDoesNotExist"
    assert of_local_queue(door, queue, known).reason == "ClusterQueueIsInactive"
    assert of_local_queue(door, *catalog("default")).reason == "Ready"
    door.spec.stop_policy = "Hold"
    assert of_local_queue(door, *catalog("default")).reason == "Stopped"
