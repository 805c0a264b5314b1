"""Own gangs: whose pod group it is, in any order in which pods and groups come."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from kumi.api.core import Pod
from kumi.api.volcano import PodGroup
from kumi.bridge.scheduler_names import OWN_NAMES, SCHEDULERS
from kumi.controllers.own_gangs import SCHEDULER_NAME, OwnGangs
from kumi.testing.view import decoded

from .made import meta, pod

GROUP = "ns/g"


def group(**annotations: str) -> PodGroup:
    made = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": meta("g", "ns"), "spec": {}}
    found = decoded({**made, "metadata": {**made["metadata"], "annotations": annotations}})
    assert isinstance(found, PodGroup)
    return found


def member(scheduler: str, name: str = "p") -> Pod:
    spec: dict[str, Any] = {"schedulerName": scheduler}
    found = decoded(pod(name, "ns", spec=spec, annotations={"scheduling.k8s.io/group-name": "g"}))
    assert isinstance(found, Pod)
    return found


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_one_with_a_pod_that_names_kumi_is_kumis_in_whatever_order_they_come(order: tuple[int, ...]) -> None:
    gangs = OwnGangs(OWN_NAMES)
    for number in order:
        if number == 0:
            gangs.meet(group())
        else:
            gangs.meet_pod(member(("volcano", "kumi")[number - 1], f"p{number}"))
    assert gangs.has(GROUP)


def test_one_with_pods_of_others_or_with_none_is_not() -> None:
    gangs = OwnGangs(OWN_NAMES)
    assert not gangs.meet(group())
    assert gangs.meet_pod(member("volcano")) == ""
    assert gangs.meet_pod(member("")) == ""
    assert not gangs.has(GROUP)


def test_one_that_says_so_is_before_it_has_pods() -> None:
    gangs = OwnGangs(OWN_NAMES)
    assert not gangs.meet(group(**{SCHEDULER_NAME: "volcano"}))
    assert gangs.meet(group(**{SCHEDULER_NAME: "kumi"}))


def test_it_stays_kumis_without_pods_and_one_that_comes_after_it_is_asked_anew() -> None:
    gangs = OwnGangs(OWN_NAMES)
    assert gangs.meet_pod(member("kumi")) == GROUP
    assert gangs.meet(group())
    gangs.part_with_pod(member("kumi"))
    assert gangs.has(GROUP)
    gangs.part(GROUP)
    assert not gangs.has(GROUP)


def test_where_kumi_is_the_control_plane_all_are() -> None:
    assert OwnGangs(SCHEDULERS).meet(group())
