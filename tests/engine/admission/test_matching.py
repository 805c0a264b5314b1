"""Matching: taints, labels, affinity and topology of flavors and pods."""

from __future__ import annotations

import pytest

from kumi.engine.admission.matching import asks_for_topology, matches, shaped, topology_implied, topology_matches
from kumi.engine.model import Flavor, PodSet, PodShape, Requirement, Taint, Toleration
from kumi.testing.builders import GPU, flavor, group, queue, shape
from kumi.testing.strategies import ENDURES, TAINT

ZONE_A, ZONE_B = Requirement("zone", "In", ("a",)), Requirement("zone", "In", ("b",))
RANK = Requirement("rank", "In", ("1",))


@pytest.mark.parametrize(
    ("flavor_", "asked", "answer"),
    [
        (flavor("f", zone="a"), shape(), True),
        (flavor("f", zone="a"), shape(selector={"zone": "a"}), True),
        (flavor("f", zone="a"), shape(selector={"zone": "b"}), False),
        (flavor("f", zone="a"), shape(selector={"rank": "1"}), True),
        (flavor("f"), shape(selector={"zone": "b"}), True),
        (flavor("f", taints=(TAINT,)), shape(), False),
        (flavor("f", taints=(TAINT,)), shape(tolerations=(ENDURES,)), True),
        (flavor("f", taints=(TAINT,), tolerations=(ENDURES,)), shape(), True),
        (flavor("f", taints=(Taint("slow", "", "PreferNoSchedule"),)), shape(), True),
        (flavor("f", taints=(Taint("broken", "", "NoExecute"),)), shape(), False),
        (flavor("f", zone="a"), PodShape((), affinity=((ZONE_A,),)), True),
        (flavor("f", zone="a"), PodShape((), affinity=((ZONE_B,),)), False),
        (flavor("f", zone="a"), PodShape((), affinity=((ZONE_B,), (ZONE_A,))), True),
        (flavor("f", zone="a"), PodShape((), affinity=((ZONE_B, RANK),)), False),
        (flavor("f", zone="a"), PodShape((), affinity=((ZONE_A, RANK),)), True),
        (flavor("f", zone="a"), PodShape((), affinity=((ZONE_B,), (RANK,))), True),
        (flavor("f"), PodShape((), affinity=((ZONE_B,),)), True),
    ],
)
def test_a_flavor_and_a_shape(flavor_: Flavor, asked: PodShape, answer: bool) -> None:
    assert matches(flavor_, asked) is answer


def test_pods_will_have_the_flavors_labels_and_tolerations() -> None:
    asked = shape(selector={"rank": "1"}, tolerations=(ENDURES,), gpu=1)
    other = Toleration("spot", "Exists", "", "")
    made = shaped(asked, [flavor("f", tolerations=(ENDURES, other), zone="a"), flavor("g", zone="a")])
    assert made.node_selector == (("rank", "1"), ("zone", "a"))
    assert made.tolerations == (ENDURES, other)


GPUS = group({"f": {"gpu": 1}})
PLAIN, RACKS = Flavor("plain"), Flavor("racks", topology="dc")
NUMBERED = '{"podIndexLabel":"index"}'


@pytest.mark.parametrize("asked", ['{"required":"rack"}', '{"preferred":"rack"}', '{"unconstrained":true}'])
def test_pods_that_ask_for_a_topology_get_flavors_that_have_one(asked: str) -> None:
    pods = PodSet("main", 1, shape(gpu=1), topology=asked)
    assert topology_matches(RACKS, pods, GPUS, implied=False)
    assert not topology_matches(PLAIN, pods, GPUS, implied=False)


@pytest.mark.parametrize("asked", ["", NUMBERED, '{"unconstrained":false}'])
def test_pods_that_ask_for_none_get_flavors_without(asked: str) -> None:
    pods = PodSet("main", 1, shape(gpu=1), topology=asked)
    assert not asks_for_topology(asked)
    assert topology_matches(PLAIN, pods, GPUS, implied=False)
    assert not topology_matches(RACKS, pods, GPUS, implied=False)


def test_where_every_flavor_has_a_topology_all_pods_ask_for_it() -> None:
    pods = PodSet("main", 1, shape(gpu=1))
    cq = queue("cq", {"racks": {"gpu": 1}}, {"rows": {"cpu": 1}})
    assert topology_implied(cq, {"racks": RACKS, "rows": Flavor("rows", topology="dc")})
    assert not topology_implied(cq, {"racks": RACKS, "rows": Flavor("rows")})
    assert not topology_implied(cq, {"racks": RACKS})
    assert not topology_implied(queue("cq"), {})
    assert topology_matches(RACKS, pods, GPUS, implied=True)


def test_a_flavor_without_a_topology_serves_what_the_pods_themselves_do_not_request() -> None:
    pods = PodSet("main", 1, shape(cpu=1), topology='{"required":"rack"}')
    assert topology_matches(PLAIN, pods, GPUS, implied=False)
    assert GPU in GPUS.resources
