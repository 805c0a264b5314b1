"""Companions: whom a pod is to be spread with, and who is read again when that changes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api import core
from kumi.api.apps import ReplicaSet
from kumi.api.errors import KumiError
from kumi.api.meta import LabelSelectorRequirement, Object
from kumi.bridge.into import Deltas
from kumi.bridge.into.companions import SKEWS, Companions, Touched, Waiting, anybody, on_their_own
from kumi.engine.model import Pod, Requirement, SpreadTerm
from kumi.testing.view import decoded

APP = {"app": "x"}


def service(name: str = "s", namespace: str = "ns", **selector: str) -> Object:
    meta = {"name": name, "namespace": namespace}
    return decoded({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": {"selector": selector}})


def maker(kind: str, **selector: Any) -> Object:
    version = "v1" if kind == "ReplicationController" else "apps/v1"
    said = selector if kind == "ReplicationController" else {"matchLabels": selector}
    meta = {"name": "m", "namespace": "ns", "uid": "uid-m"}
    return decoded({"apiVersion": version, "kind": kind, "metadata": meta, "spec": {"selector": said}})


def pod(by: str = "", namespace: str = "ns", spec: dict[str, Any] | None = None, **meta: Any) -> core.Pod:
    owner = {"apiVersion": "apps/v1", "kind": by, "name": "m", "uid": "uid-m", "controller": True}
    metadata = {"name": "p", "namespace": namespace, "uid": "u", "labels": APP, **meta}
    if by:
        metadata["ownerReferences"] = [owner]
    made = decoded({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec or {}})
    assert isinstance(made, core.Pod)
    return made


def knowing(*objects: Object, **fields: Any) -> Companions:
    known = Companions(**fields)
    for obj in objects:
        known.learn(obj)
    return known


def terms(*requirements: tuple[str, str]) -> tuple[SpreadTerm, ...]:
    among = tuple(Requirement(key, "In", (value,)) for key, value in requirements)
    return tuple(SpreadTerm(key, among, skew, hard=False, unlabelled=True) for key, skew in SKEWS)


def test_a_pod_of_a_service_is_spread_over_hosts_and_zones() -> None:
    found = knowing(service(app="x")).spread(pod())
    assert found == terms(("app", "x"))
    assert [(term.topology, term.skew) for term in found] == [
        ("kubernetes.io/hostname", 3),
        ("topology.kubernetes.io/zone", 5),
    ]


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "ReplicationController"])
def test_so_is_a_pod_of_a_maker(kind: str) -> None:
    assert knowing(maker(kind, app="x")).spread(pod(kind)) == terms(("app", "x"))


def test_it_is_spread_with_those_that_all_of_these_mean() -> None:
    known = knowing(
        service("a", app="x"), service("b", tier="y"), service("c", app="other"), maker("ReplicaSet", h="1")
    )
    one = pod("ReplicaSet", labels={**APP, "tier": "y", "h": "1"})
    assert known.spread(one) == terms(("app", "x"), ("tier", "y"), ("h", "1"))


def test_one_that_says_something_itself_or_has_nobody_is_left_alone() -> None:
    known = knowing(service(app="x"), service("bare"))
    said = {"topologySpreadConstraints": [{"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}]}
    assert known.spread(pod(spec=said)) == ()
    assert known.spread(pod(labels={"app": "y"})) == ()
    assert known.spread(pod(namespace="other")) == ()
    assert known.spread(pod("Job")) == terms(("app", "x"))
    assert knowing().spread(pod("Job")) == ()


def test_gangs_are_near_and_workloads_are_where_they_were_admitted() -> None:
    gang = pod(annotations={"scheduling.k8s.io/group-name": "g"})
    admitted = pod(annotations={"kueue.x-k8s.io/workload": "w"})
    assert [knowing(service(app="x"), whom=w).spread(gang) != () for w in (on_their_own, anybody)] == [False, True]
    assert [knowing(service(app="x"), whom=w).spread(admitted) for w in (on_their_own, anybody)] == [(), ()]


def test_only_those_may_be_spread_that_say_nothing_themselves_and_are_spared_by_nothing() -> None:
    said = {"topologySpreadConstraints": [{"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"}]}
    gang = pod(annotations={"scheduling.k8s.io/group-name": "g"})
    known = Companions()
    assert [known.may_spread(one) for one in (pod(), pod("Job"), pod(spec=said), gang)] == [True, True, False, False]


def test_it_becomes_part_of_the_shape() -> None:
    known = knowing(service(app="x"))
    noun = Deltas(companions=known).put(pod()).noun
    assert isinstance(noun, Pod)
    assert noun.shape.neighbours is not None
    assert noun.shape.neighbours.spread == terms(("app", "x"))
    assert not noun.shape.neighbours.binds


def test_a_change_of_whom_it_means_touches_those_that_it_meant_or_means() -> None:
    known = Companions()
    assert known.learn(service(app="x")) == Touched("ns", ({"app": "x"},))
    assert known.learn(service(app="x")) is None
    touched = known.learn(service(app="y"))
    assert touched == Touched("ns", ({"app": "x"}, {"app": "y"}))
    assert touched.concerns(pod())
    assert not touched.concerns(pod(labels={"app": "z"}))
    assert not touched.concerns(pod(namespace="other"))
    assert known.learn(service(app="y"), gone=True) == Touched("ns", ({"app": "y"},))
    assert known.learn(service(app="y"), gone=True) is None
    assert known == Companions()


def test_a_maker_touches_its_own() -> None:
    known = Companions()
    touched = known.learn(maker("ReplicaSet", app="x"))
    assert touched == Touched("ns", maker="uid-m")
    assert touched.concerns(pod("ReplicaSet"))
    assert not touched.concerns(pod())
    assert known.learn(maker("ReplicaSet", app="x")) is None
    assert known.learn(maker("ReplicaSet", app="x"), gone=True) == touched
    assert known == Companions()


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.booleans()), max_size=10))
def test_nobody_whose_constraints_changed_goes_untouched(steps: list[tuple[str, str, bool]]) -> None:
    known, pods = Companions(), [pod(labels={"app": app}) for app in "xyz"]
    for name, app, gone in steps:
        before = [known.spread(one) for one in pods]
        touched = known.learn(service(name, app=app), gone=gone)
        for one, was in zip(pods, before, strict=True):
            assert known.spread(one) == was or (touched is not None and touched.concerns(one))


def test_a_maker_that_cannot_be_read_is_an_error_and_changes_nothing() -> None:
    known = knowing(maker("ReplicaSet", app="x"))
    bad = maker("ReplicaSet")
    assert isinstance(bad, ReplicaSet)
    bad.spec.selector.match_expressions = [LabelSelectorRequirement(key="", operator="Exists")]
    with pytest.raises(KumiError):
        known.learn(bad)
    assert known == knowing(maker("ReplicaSet", app="x"))


PODS = st.builds(
    lambda uid, namespace, by, app: pod(by, namespace, uid=uid, labels={"app": app}),
    st.sampled_from("1234"),
    st.sampled_from(["ns", "other"]),
    st.sampled_from(["", "ReplicaSet"]),
    st.sampled_from("xy"),
)
TOUCHED = st.one_of(
    st.builds(lambda namespace: Touched(namespace, maker="uid-m"), st.sampled_from(["ns", "other"])),
    st.builds(
        lambda namespace, app: Touched(namespace, ({"app": app},)),
        st.sampled_from(["ns", "other"]),
        st.sampled_from("xy"),
    ),
)


@given(st.lists(st.one_of(PODS, st.sampled_from("1234")), max_size=12), TOUCHED)
def test_of_those_who_wait_all_are_found_whom_a_change_concerns(steps: list[core.Pod | str], touched: Touched) -> None:
    waiting, there = Waiting(), dict[str, core.Pod]()
    for step in steps:
        if isinstance(step, str):
            waiting.drop(step)
            there.pop(step, None)
        else:
            waiting.put(step)
            there[step.metadata.uid] = step
    assert waiting.concerned(touched) == [one for _, one in sorted(there.items()) if touched.concerns(one)]
    for uid in "1234":
        waiting.drop(uid)
    assert waiting == Waiting()


class Counted(Touched):
    """Counts whom it is asked of."""

    asked = 0

    def concerns(self, pod: core.Pod) -> bool:
        Counted.asked += 1
        return super().concerns(pod)


def test_a_change_of_a_maker_looks_at_none_but_its_own() -> None:
    waiting = Waiting()
    for uid in "123456789":
        waiting.put(pod("ReplicaSet" if uid == "5" else "", uid=uid))
    assert [one.metadata.uid for one in waiting.concerned(Counted("ns", maker="uid-m"))] == ["5"]
    assert Counted.asked == 1
