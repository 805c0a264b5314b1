from dataclasses import replace

import pytest

from kumi.engine.gangs import ALONE, Member
from kumi.engine.model import Admission, PodSetAssigned, Toleration
from kumi.engine.settings import QueueOrder
from kumi.evaluator import life as lives
from kumi.evaluator.life import Life
from kumi.evaluator.model import START_MS, Role, Via
from kumi.testing.builders import GPU, flavor, shape
from tests.evaluator.stories import job

LATE = START_MS + 1999
TWO = replace(job("team/a"), roles=(Role("master", 1, shape(cpu=1)), Role("worker", 2, shape(gpu=1))))


def come(life: Life, before: int = 0, **flavors):
    return lives.missing_pods(life, LATE, flavors, before)


def admitted(one, *counts: tuple[str, int]) -> Life:
    flavors = (("cpu", "spot"),)
    return Life(
        one, Via.WORKLOAD, admission=Admission("cq", tuple(PodSetAssigned(n, c, flavors, ()) for n, c in counts))
    )


def test_a_job_of_one_pod_is_that_pod_and_others_have_theirs_by_role_and_number():
    (pod,) = come(Life(job("team/a", gpu=1), Via.POD))
    assert (pod.key, pod.member, pod.workload, pod.index) == ("team/a", ALONE, "", None)
    assert [p.key for p in come(Life(TWO, Via.POD))] == [
        "team/a-master-0",
        "team/a-worker-0",
        "team/a-worker-1",
    ]


def test_pods_are_created_in_whole_seconds():
    (pod,) = come(Life(job("a"), Via.POD))
    assert pod.created_ms == START_MS + 1000


def test_only_what_is_missing_comes_and_under_another_uid():
    life = Life(TWO, Via.POD)
    first = come(life)
    del life.pods[first[1].uid]
    (again,) = come(life, 3)
    assert again.key == first[1].key
    assert again.uid not in {pod.uid for pod in first}
    assert set(life.pods.values()) == {(0, 0), (1, 0), (1, 1)}


def test_uids_are_told_apart_whatever_jobs_are_called():
    one = come(Life(replace(TWO, key="team/a"), Via.POD))
    other = come(Life(job("team/a-master-0"), Via.POD))
    assert not {pod.uid for pod in one} & {pod.uid for pod in other}


def test_what_the_owner_says_of_time_stands_on_pods_and_on_gangs():
    said = {"deadline_ms": START_MS + 9000, "said_ms": 500}
    (pod,) = come(Life(job("a", **said), Via.POD))
    assert pod.member == Member(deadline_ms=START_MS + 9000, execution_ms=500)
    group = lives.group(Life(job("a", **said), Via.GANG), LATE)
    assert (group.deadline_ms, group.execution_ms) == (START_MS + 9000, 500)


def test_pods_of_a_gang_name_it_and_their_role_and_the_gang_what_its_minimum_asks_for():
    life = Life(replace(TWO, least=2, priority=4), Via.GANG)
    assert [(p.member.group, p.member.role, p.member.priority) for p in come(life)] == [
        ("team/a", "master", 4),
        ("team/a", "worker", 4),
        ("team/a", "worker", 4),
    ]
    group = lives.group(life, LATE)
    assert (group.least, group.queue, group.priority_class) == (2, "default", "priority4")
    assert dict(group.resources or ()) == {"cpu": 1000, GPU: 1000}


@pytest.mark.parametrize(
    ("least", "via", "needs"), [(None, Via.GANG, 3), (2, Via.GANG, 2), (9, Via.GANG, 3), (2, Via.POD, 3)]
)
def test_how_many_pods_a_job_runs_with(least, via, needs):
    assert Life(replace(TWO, least=least), via).least == needs


def test_a_workload_has_the_pods_that_it_was_admitted_with_as_their_flavor_makes_them():
    endured = Toleration("spot", "Exists", "", "")
    life = admitted(TWO, ("master", 1), ("worker", 1))
    pods = come(life, spot=flavor("spot", tolerations=(endured,), zone="b"))
    assert [(p.pod_set, p.index, p.workload) for p in pods] == [("master", 0, "team/a"), ("worker", 0, "team/a")]
    assert pods[0].shape.tolerations == (endured,)
    assert pods[0].shape.node_selector == (("zone", "b"),)
    assert life.least == 2


def test_a_workload_may_be_content_with_fewer_where_it_has_one_role():
    assert [
        s.least for s in lives.workload(Life(job("a", pods=3, least=2), Via.WORKLOAD), LATE, QueueOrder.TIME).pod_sets
    ] == [2]
    two = lives.workload(Life(replace(TWO, least=2), Via.WORKLOAD), LATE, QueueOrder.TIME)
    assert [s.least for s in two.pod_sets] == [None, None]


def test_a_workload_stands_in_its_queue_by_its_creation_or_by_what_the_order_counts():
    one = job("team/a", queue="lq", deadline_ms=START_MS + 9000, said_ms=500)
    by = {order: lives.workload(Life(one, Via.WORKLOAD), LATE, order) for order in QueueOrder}
    assert by[QueueOrder.TIME].queue == "team/lq"
    assert by[QueueOrder.TIME].queued_ms == 0
    assert by[QueueOrder.LEAST_SLACK].queued_ms == START_MS + 8500
    assert by[QueueOrder.DEADLINE].queued_ms == START_MS + 9000
    assert by[QueueOrder.SHORTEST].queued_ms == 500
    assert by[QueueOrder.FAIR].queued_ms == 0


def test_when_a_workload_was_put_back_counts_where_nothing_else_does():
    silent, said = job("a"), job("a", said_ms=500)
    for order in QueueOrder:
        first, later = (lives.turn_ms(silent, order, START_MS, queued_ms) for queued_ms in (1000, 2000))
        assert later - first == 1000
    assert lives.turn_ms(said, QueueOrder.SHORTEST, START_MS, 1000) == 500


@pytest.mark.parametrize(
    ("span", "ran_ms", "kept_ms"), [(None, 999, 0), (0, 999, 0), (300, 299, 0), (300, 300, 300), (300, 999, 900)]
)
def test_a_run_that_is_cut_short_keeps_its_whole_checkpoint_spans(span, ran_ms, kept_ms):
    life = Life(job("a", checkpoint_ms=span), Via.POD, started_ms=START_MS)
    assert life.kept_at(START_MS + ran_ms) == kept_ms


def test_what_was_kept_before_counts_on_and_the_rest_is_still_to_run():
    life = Life(job("a", runs_ms=1000, checkpoint_ms=300), Via.POD, kept_ms=600, started_ms=START_MS)
    assert life.kept_at(START_MS + 350) == 900
    assert life.left_ms == 400
    assert Life(job("a", runs_ms=None), Via.POD).left_ms is None
