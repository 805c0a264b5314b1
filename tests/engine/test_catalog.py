"""Catalog: where a workload waits, and why it waits nowhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumi.engine.catalog import Catalog
from kumi.engine.journal import Journal
from kumi.engine.model import Namespace, Requirement, StopPolicy
from kumi.engine.reasons import Code, Reason
from kumi.testing.builders import door, flavor, queue, workload

JOB = workload("ns/a")
QUEUE = queue("cq", {"default": {"gpu": 1}})


@pytest.fixture
def catalog() -> Catalog:
    made = Catalog(Journal())
    made.flavors["default"] = flavor()
    made.cluster_queues["cq"] = QUEUE
    made.put_local_queue(door("ns/lq", "cq"))
    return made


def test_a_workload_waits_in_the_queue_behind_its_door(catalog: Catalog) -> None:
    assert catalog.route(JOB) == "cq"
    assert catalog.closed("cq") is None


def test_an_inactive_one_waits_nowhere_whatever_else_is_wrong(catalog: Catalog) -> None:
    assert catalog.route(replace(JOB, active=False, queue="ns/none")) == Reason(Code.INACTIVE)


def test_a_missing_door_is_named(catalog: Catalog) -> None:
    assert catalog.route(replace(JOB, queue="ns/none")) == Reason(Code.NO_LOCAL_QUEUE, where="ns/none")


def test_a_stopped_door_lets_nobody_in(catalog: Catalog) -> None:
    catalog.put_local_queue(door("ns/lq", "cq", stop=StopPolicy.HOLD))
    assert catalog.route(JOB) == Reason(Code.LOCAL_QUEUE_STOPPED, where="ns/lq")


def test_a_door_to_nowhere_is_named(catalog: Catalog) -> None:
    catalog.put_local_queue(door("ns/lq", "none"))
    assert catalog.route(JOB) == Reason(Code.NO_CLUSTER_QUEUE, where="none")
    assert catalog.doors["cq"] == {}


@pytest.mark.parametrize(
    ("selector", "labels", "selected"),
    [
        ((), (), True),
        (None, (("team", "red"),), False),
        ((Requirement("team", "In", ("red",)),), (("team", "red"),), True),
        ((Requirement("team", "In", ("red",)),), (("team", "blue"),), False),
    ],
)
def test_the_queue_selects_namespaces(
    catalog: Catalog, selector: tuple[Requirement, ...] | None, labels: tuple[tuple[str, str], ...], selected: bool
) -> None:
    catalog.cluster_queues["cq"] = replace(QUEUE, selector=selector)
    catalog.namespaces["ns"] = Namespace("ns", labels)
    assert catalog.route(JOB) == ("cq" if selected else Reason(Code.NAMESPACE_NOT_SELECTED, where="cq"))


def test_a_namespace_that_is_not_known_has_no_labels(catalog: Catalog) -> None:
    catalog.cluster_queues["cq"] = replace(QUEUE, selector=(Requirement("team", "Exists"),))
    assert catalog.route(JOB) == Reason(Code.NAMESPACE_NOT_SELECTED, where="cq")


@pytest.mark.parametrize("stop", [StopPolicy.HOLD, StopPolicy.HOLD_AND_DRAIN])
def test_a_stopped_queue_is_closed_and_keeps_its_line(catalog: Catalog, stop: StopPolicy) -> None:
    catalog.cluster_queues["cq"] = replace(QUEUE, stop=stop)
    assert catalog.closed("cq") == Reason(Code.CLUSTER_QUEUE_STOPPED, where="cq")
    assert catalog.route(JOB) == "cq"


def test_a_queue_without_one_of_its_flavors_is_closed(catalog: Catalog) -> None:
    del catalog.flavors["default"]
    assert catalog.closed("cq") == Reason(Code.FLAVOR_NOT_FOUND, flavor="default", where="cq")
    assert catalog.closed("none") == Reason(Code.NO_CLUSTER_QUEUE, where="none")


def test_a_door_that_went_is_gone(catalog: Catalog) -> None:
    catalog.remove_local_queue("ns/lq")
    catalog.remove_local_queue("ns/lq")
    assert catalog.route(JOB) == Reason(Code.NO_LOCAL_QUEUE, where="ns/lq")
