from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from kumi.api.errors import InvariantError, KumiError
from kumi.engine import invariants
from kumi.engine.decisions import EvictPod, Unplaced
from kumi.engine.gangs import Queue
from kumi.engine.model import (
    Cohort,
    Evictable,
    Namespace,
    Noun,
    Preemption,
    Profile,
    Put,
    Remove,
    Taint,
)
from kumi.engine.model import Node as NodeNoun
from kumi.engine.policy import parse
from kumi.engine.settings import Settings
from kumi.evaluator.budget import Budget
from kumi.evaluator.engine import IDLE_WAKES, Run
from kumi.evaluator.model import START_MS, Arrive, Cancel, Change, Load, Policy, Role, Via, What
from kumi.testing.builders import door, flavor, node, pod, queue, shape, workload
from tests.evaluator.loads import loads, policies
from tests.evaluator.stories import Story, job, load, play


def at(ms: int) -> int:
    return START_MS + ms


# pods on their own


def test_a_job_runs_its_time_and_the_next_starts_on_its_node_at_the_very_moment_of_its_end():
    story = play(load([node("n", gpu=1)], [job("a", gpu=1, runs_ms=5000), job("b", at_ms=1, gpu=1, runs_ms=3000)]))
    assert story.lines == [
        "0 arrived team/a 0",
        "0 placed team/a 0:n",
        "0 started team/a 0",
        "1 arrived team/b 0",
        "5000 finished team/a 5000",
        "5000 left team/a 0:n",
        "5000 placed team/b 0:n",
        "5000 started team/b 0",
        "8000 finished team/b 3000",
        "8000 left team/b 0:n",
    ]
    assert story.closed_ms == 8000
    assert story.waiting == {}


def test_a_pod_that_fits_no_node_ends_the_run_and_is_named():
    story = play(load([node("n", gpu=4)], [job("huge", gpu=8), job("small", gpu=4)]))
    assert list(story.waiting) == ["team/huge"]
    assert "8 nvidia.com/gpu" in story.waiting["team/huge"]
    assert story.times(What.FINISHED) == {"team/small": 1000}
    assert story.closed_ms == 1000


def test_a_job_of_many_pods_runs_once_all_of_them_have_a_node():
    events = [job("first", gpu=1, runs_ms=5000), job("pair", pods=2, gpu=1, at_ms=10)]
    story = play(load([node("a", gpu=1), node("b", gpu=1)], events))
    assert story.of("team/pair") == ["10 arrived 0", "5000 started 0", "6000 finished 1000"]
    assert story.lines.count("10 placed team/pair 0:b") == 1


@pytest.mark.parametrize("via", [Via.POD, Via.WORKLOAD])
def test_jobs_of_one_second_go_in_the_order_in_which_they_came_whatever_they_are_called(via):
    events = [job("held", gpu=1, runs_ms=2000, via=via, queue="lq")]
    events += [job(n, at_ms=at_ms, gpu=1, via=via, queue="lq") for n, at_ms in (("9", 100), ("10", 100), ("1", 900))]
    story = play(load([*queued(quota=1)[:-2], node("n", gpu=1)], events))
    assert sorted(story.times(What.STARTED), key=story.times(What.STARTED).__getitem__) == [
        "team/held",
        "team/9",
        "team/10",
        "team/1",
    ]


def test_a_job_without_a_run_time_runs_until_it_is_deleted_and_has_then_finished():
    events = [job("a", gpu=1, runs_ms=None), Cancel(at(7000), "team/a"), Cancel(at(7001), "team/a")]
    story = play(load([node("n", gpu=1)], events))
    assert story.of("team/a") == ["0 arrived 0", "0 started 0", "7000 finished 7000"]


def test_a_job_without_a_run_time_that_nobody_deletes_ends_the_run():
    story = play(load([node("n", gpu=1)], [job("a", gpu=1, runs_ms=None)]))
    assert story.waiting == {"team/a": "It runs until it is deleted, and nothing deletes it."}
    assert story.closed_ms == 0


def test_a_job_that_is_deleted_while_it_waits_or_runs_is_cancelled():
    events = [job("a", gpu=1), job("b", gpu=1, at_ms=1), Cancel(at(5), "team/b"), Cancel(at(6), "team/a")]
    story = play(load([node("n", gpu=1)], events))
    assert story.of("team/a") == ["0 arrived 0", "0 started 0", "6 cancelled 0"]
    assert story.of("team/b") == ["1 arrived 0", "5 cancelled 0"]
    assert story.closed_ms == 6


def test_a_job_without_pods_is_refused():
    story = play(
        load([node("n", gpu=1)], [job("a", pods=0), job("b", pods=0, via=Via.GANG), job("c", pods=0, via=Via.WORKLOAD)])
    )
    assert story.of("team/a") == ["0 arrived 0", "0 refused 0"]
    assert story.waiting == {}


def test_who_gives_up_waiting_goes_on_if_it_runs():
    events = [job("a", gpu=1), job("b", gpu=1, at_ms=1)]
    events += [Cancel(at(5), "team/b", only_waiting=True), Cancel(at(5), "team/a", only_waiting=True)]
    story = play(load([node("n", gpu=1)], events))
    assert story.of("team/a")[-1] == "1000 finished 1000"
    assert story.of("team/b")[-1] == "5 cancelled 0"


def test_a_job_that_takes_no_time_ends_when_it_starts():
    story = play(load([node("n", gpu=1)], [job("a", gpu=1, runs_ms=0), job("b", gpu=1)]))
    assert story.of("team/a") == ["0 arrived 0", "0 started 0", "0 finished 0"]
    assert story.of("team/b")[-1] == "1000 finished 1000"


def test_the_higher_priority_preempts_and_the_victim_goes_on_from_its_last_checkpoint():
    events = [
        job("low", gpu=1, runs_ms=10_000, checkpoint_ms=3000),
        job("high", gpu=1, at_ms=7000, priority=10, runs_ms=2000),
    ]
    story = play(load([node("n", gpu=1)], events))
    assert story.of("team/low") == [
        "0 arrived 0",
        "0 started 0",
        "7000 preempted 6000",
        "9000 started 6000",
        "13000 finished 10000",
    ]
    assert story.of("team/high")[1] == "7000 started 0"


def test_a_victim_that_writes_no_checkpoints_starts_from_zero():
    events = [job("low", gpu=1, runs_ms=10_000), job("high", gpu=1, at_ms=7000, priority=10, runs_ms=2000)]
    story = play(load([node("n", gpu=1)], events))
    assert story.of("team/low")[2:] == ["7000 preempted 0", "9000 started 0", "19000 finished 10000"]


# nodes


def lost(name: str) -> Remove:
    return Remove(NodeNoun, name)


@pytest.mark.parametrize(
    "change",
    [
        lost("a"),
        Put(node("a", gpu=1, ready=False)),
        Put(node("a", gpu=1, taints=(Taint("spot", "", "NoExecute"),))),
    ],
)
def test_a_job_on_a_node_that_goes_fails_or_drives_it_away_starts_anew_elsewhere(change):
    events = [job("a", gpu=1, runs_ms=10_000, checkpoint_ms=4000), Change(at(5000), (change,))]
    story = play(load([node("a", gpu=1), node("b", gpu=1)], events))
    assert story.of("team/a") == [
        "0 arrived 0",
        "0 started 0",
        "5000 lost 4000",
        "5000 started 4000",
        "11000 finished 10000",
    ]
    assert "5000 placed team/a 0:b" in story.lines


def test_a_cordoned_node_keeps_what_runs_there():
    events = [job("a", gpu=1), Change(at(5), (Put(node("n", gpu=1, unschedulable=True)),))]
    story = play(load([node("n", gpu=1)], events))
    assert story.of("team/a")[-1] == "1000 finished 1000"


def test_who_waits_for_a_node_gets_it_when_it_comes_and_one_that_shrinks_keeps_who_is_there():
    events = [
        job("a", gpu=2, runs_ms=5000),
        Change(at(100), (Put(node("n", gpu=2)),)),
        Change(at(200), (Put(node("n", gpu=1)),)),
    ]
    story = play(load([], events))
    assert story.of("team/a") == ["0 arrived 0", "100 started 0", "5100 finished 5000"]


def test_a_job_of_many_pods_that_loses_one_stops_whole_before_it_starts_anew():
    events = [job("a", pods=2, gpu=1, runs_ms=5000), Change(at(1000), (lost("n1"),)), Change(at(2000), (Put(n("n3")),))]
    story = play(load([n("n1"), n("n2")], events))
    assert story.of("team/a") == ["0 arrived 0", "0 started 0", "1000 lost 0", "2000 started 0", "7000 finished 5000"]


def n(name: str) -> NodeNoun:
    return node(name, gpu=1)


# gangs


def test_a_gang_starts_whole_or_not_at_all():
    events = [job("one", gpu=1, runs_ms=5000), job("gang", at_ms=10, pods=2, gpu=1, via=Via.GANG)]
    story = play(load([node("n", gpu=2)], events))
    assert story.of("team/gang") == ["10 arrived 0", "5000 started 0", "6000 finished 1000"]
    assert "5000 placed team/gang 0:n 0:n" in story.lines


def test_two_gangs_that_would_block_each_other_as_pods_run_one_after_the_other():
    events = [job("a", pods=2, gpu=1, via=Via.GANG), job("b", pods=2, gpu=1, via=Via.GANG)]
    story = play(load([node("n1", gpu=1), node("n2", gpu=1), node("n3", gpu=1)], events))
    assert story.times(What.FINISHED) == {"team/a": 1000, "team/b": 2000}


def test_a_gang_runs_with_its_minimum_and_takes_the_rest_later():
    events = [job("one", gpu=1, runs_ms=500), job("gang", pods=3, least=2, gpu=1, via=Via.GANG, at_ms=1)]
    story = play(load([node("n", gpu=3)], events))
    assert story.of("team/gang") == ["1 arrived 0", "1 started 0", "1001 finished 1000"]
    assert "500 placed team/gang 0:n" in story.lines


def test_a_gang_that_loses_more_than_it_can_spare_starts_anew_and_one_that_can_spare_goes_on():
    events = [
        job("rigid", pods=2, gpu=1, via=Via.GANG, runs_ms=5000),
        job("elastic", pods=2, least=1, cpu=1, via=Via.GANG, runs_ms=5000),
        Change(at(1000), (lost("a"),)),
    ]
    nodes = [node("a", gpu=1, cpu=1), node("b", gpu=1, cpu=1), node("c", gpu=1)]
    story = play(load(nodes, events))
    assert story.of("team/rigid")[2:] == ["1000 lost 0", "1000 started 0", "6000 finished 5000"]
    assert story.of("team/elastic") == ["0 arrived 0", "0 started 0", "5000 finished 5000"]


def test_a_gang_of_a_higher_priority_takes_the_place_of_another_whole():
    events = [
        job("low", pods=2, gpu=1, via=Via.GANG, runs_ms=5000),
        job("high", pods=2, gpu=1, via=Via.GANG, at_ms=1000, priority=5),
    ]
    story = play(load([node("n", gpu=2)], events))
    assert story.of("team/high") == ["1000 arrived 0", "1000 started 0", "2000 finished 1000"]
    assert story.of("team/low")[2:] == ["1000 preempted 0", "2000 started 0", "7000 finished 5000"]
    assert any(isinstance(d, EvictPod) for d in story.decisions)


def test_a_policy_may_take_jobs_that_come_as_pods_for_gangs():
    events = [job("one", gpu=1, runs_ms=5000), job("pair", at_ms=10, pods=2, gpu=1)]
    story = play(load([node("n", gpu=2)], events), Policy("gangs", as_gangs=True))
    assert not any(line.startswith("10 placed team/pair") for line in story.lines)
    assert story.of("team/pair")[1] == "5000 started 0"


def test_the_reason_of_a_gang_that_never_starts_is_what_its_pod_group_was_told():
    story = play(load([node("n", gpu=2)], [job("gang", pods=3, gpu=1, via=Via.GANG)]))
    assert "3 pods that start together" in story.waiting["team/gang"]


@pytest.mark.parametrize("line", ["easy", "conservative"])
def test_what_is_kept_for_a_gang_goes_with_it_also_where_it_was_the_last(line):
    events = [job("first", gpu=1, via=Via.GANG, runs_ms=5000, said_ms=5000), Cancel(at(5000), "team/second")]
    events += [
        job("second", at_ms=1000, gpu=1, via=Via.GANG, said_ms=9000),
        job("alone", at_ms=5000, gpu=1, said_ms=1000),
    ]
    run = Run(load([node("n", gpu=1)], events), Policy("p", parse({"line": line})), 1, (story := Story(),))
    while run.advance(1):
        pass
    assert story.of("team/alone") == ["5000 arrived 0", "5000 started 0", "6000 finished 1000"]
    assert run.state.wake_at_ms() is None


# workloads


def queued(**fields) -> list[Noun]:
    quota = {"default": {"gpu": fields.pop("quota", 2)}}
    return [
        Namespace("team"),
        flavor(),
        queue("cq", quota, **fields),
        door("team/lq", "cq"),
        node("n1", gpu=2),
        node("n2", gpu=2),
    ]


def test_a_workload_waits_for_quota_and_runs_on_what_it_was_promised():
    events = [
        job("a", pods=2, gpu=1, via=Via.WORKLOAD, queue="lq", runs_ms=5000),
        job("b", pods=1, gpu=1, via=Via.WORKLOAD, queue="lq", at_ms=10),
    ]
    story = play(load(queued(), events))
    assert story.of("team/a") == ["0 arrived 0", "0 started 0", "5000 finished 5000"]
    assert story.of("team/b") == ["10 arrived 0", "5000 started 0", "6000 finished 1000"]
    assert story.waiting == {}


def test_why_a_workload_never_started_is_its_decision_record():
    story = play(load(queued(), [job("a", pods=3, gpu=1, via=Via.WORKLOAD, queue="lq")]))
    assert "more than the whole quota" in story.waiting["team/a"]
    story = play(load(queued(), [job("a", gpu=1, via=Via.WORKLOAD, queue="nowhere")]))
    assert "LocalQueue team/nowhere does not exist" in story.waiting["team/a"]


def test_the_higher_priority_preempts_in_its_queue_and_the_victim_waits_again():
    events = [
        job("low", pods=2, gpu=1, via=Via.WORKLOAD, queue="lq", runs_ms=5000, checkpoint_ms=500),
        job("high", gpu=2, via=Via.WORKLOAD, queue="lq", priority=1, at_ms=1200),
    ]
    story = play(load(queued(preemption=Preemption(within=Evictable.LOWER_PRIORITY)), events))
    assert story.of("team/high") == ["1200 arrived 0", "1200 started 0", "2200 finished 1000"]
    assert story.of("team/low")[2:] == ["1200 preempted 1000", "2200 started 1000", "6200 finished 5000"]


@pytest.mark.parametrize("renews", [False, True])
def test_pods_that_are_in_a_queue_by_themselves_queue_anew_behind_who_waited(renews):
    events = [
        job("first", gpu=2, via=Via.WORKLOAD, queue="lq", runs_ms=5000, renews=renews),
        job("second", gpu=2, via=Via.WORKLOAD, queue="lq", at_ms=1000),
        job("high", gpu=2, via=Via.WORKLOAD, queue="lq", priority=1, at_ms=2000),
        Change(at(10_000), (lost("n1"), lost("n2"))),
        Change(at(11_000), (Put(node("n1", gpu=2)),)),
    ]
    story = play(load(queued(preemption=Preemption(within=Evictable.LOWER_PRIORITY)), events))
    first, second = (
        next(int(line.split()[0]) for line in story.of(f"team/{name}")[at_:] if "started" in line)
        for name, at_ in (("first", 3), ("second", 0))
    )
    assert (second < first) is renews
    assert story.waiting == {}


def test_a_queue_borrows_what_another_leaves_and_gives_it_back_when_that_comes():
    setting = [
        *(Namespace(name) for name in ("left", "right")),
        flavor(),
        Cohort("both"),
        queue("q1", {"default": {"gpu": 1}}, cohort="both", preemption=Preemption(reclaim=Evictable.ANY)),
        queue("q2", {"default": {"gpu": 1}}, cohort="both"),
        door("left/lq", "q1"),
        door("right/lq", "q2"),
        node("n", gpu=2),
    ]
    events = [
        job("right/a", gpu=1, via=Via.WORKLOAD, queue="lq", runs_ms=5000),
        job("right/b", gpu=1, via=Via.WORKLOAD, queue="lq", runs_ms=5000, at_ms=1),
        job("left/c", gpu=1, via=Via.WORKLOAD, queue="lq", runs_ms=5000, at_ms=1000),
    ]
    story = play(load(setting, events))
    assert story.of("left/c")[1] == "1000 started 0"
    assert sorted(story.times(What.PREEMPTED)) in (["right/a"], ["right/b"])
    assert len(story.times(What.FINISHED)) == 3


@pytest.mark.parametrize("by_priority", [True, False])
def test_who_borrowed_and_gives_way_to_one_who_borrows_stands_by_its_eviction_where_age_goes_before_priority(
    by_priority,
):
    borrows = Preemption(borrowing=Evictable.LOWER_PRIORITY, reclaim=Evictable.LOWER_PRIORITY)
    setting = [
        *(Namespace(name) for name in ("left", "right")),
        flavor(),
        queue("idle", {"default": {"gpu": 2}}, cohort="all"),
        queue("q1", {"default": {"gpu": 0}}, cohort="all", preemption=borrows),
        queue("q2", {"default": {"gpu": 0}}, cohort="all"),
        door("left/lq", "q1"),
        door("right/lq", "q2"),
        node("n", gpu=2),
    ]
    events = [
        job("right/low", gpu=2, via=Via.WORKLOAD, queue="lq", runs_ms=5000),
        job("left/high", gpu=2, via=Via.WORKLOAD, queue="lq", runs_ms=5000, at_ms=1500, priority=1),
    ]
    policy = Policy("p", Profile(settings=Settings(priority_in_cohort=by_priority)))
    run = Run(load(setting, events), policy, 1, (story := Story(),))
    run.advance(2)
    assert story.of("right/low")[-1] == "1500 preempted 0"
    assert run.state.workloads["right/low"].queued_ms == (0 if by_priority else at(1001))
    run.advance(1)
    assert story.of("right/low")[-1] == "6500 started 0"
    assert run.state.workloads["right/low"].queued_ms == 0


def test_a_workload_whose_node_goes_is_lost_and_admitted_again():
    events = [
        job("a", gpu=1, via=Via.WORKLOAD, queue="lq", runs_ms=5000),
        Change(at(1000), (lost("n1"),)),
    ]
    story = play(load(queued(), events))
    assert story.of("team/a") == ["0 arrived 0", "0 started 0", "1000 lost 0", "1000 started 0", "6000 finished 5000"]
    assert "1000 placed team/a 0:n2" in story.lines


def test_a_workload_may_start_with_fewer_pods_where_it_says_so():
    events = [job("a", pods=4, least=1, gpu=1, via=Via.WORKLOAD, queue="lq")]
    story = play(load(queued(), events))
    assert story.lines[1].startswith("0 placed team/a 0:")
    assert story.lines[1].count("0:") == 2
    assert story.of("team/a")[-1] == "1000 finished 1000"


def test_where_only_quota_is_decided_a_workload_runs_once_it_is_admitted():
    events = [job(name, pods=2, gpu=1, via=Via.WORKLOAD, queue="lq") for name in "ab"]
    story = play(load(queued(), events), Policy("quota", Profile(places=False)))
    assert story.times(What.STARTED) == {"team/a": 0, "team/b": 1000}
    assert not any("placed" in line for line in story.lines)


def test_the_queues_of_a_policy_take_the_place_of_those_of_the_setting():
    events = [job(name, gpu=1, via=Via.WORKLOAD, queue="lq") for name in "ab"]
    less = Policy("less", nouns=(queue("cq", {"default": {"gpu": 1}}),))
    assert play(load(queued(), events)).times(What.STARTED) == {"team/a": 0, "team/b": 0}
    assert play(load(queued(), events), less).times(What.STARTED) == {"team/a": 0, "team/b": 1000}


def test_a_workload_that_comes_with_a_change_is_admitted_as_well():
    run = Run(load(queued(), [Change(at(5), (Put(workload("team/w", 2, gpu=1)),))]), Policy("p"), 1)
    run.advance(1)
    assert "team/w" in run.state.holdings.admission


# the run


def test_pods_that_are_nobodys_hold_their_room():
    setting = [node("n", gpu=2), pod("kube-system/agent", gpu=1, node="n"), pod("kube-system/late", gpu=1)]
    story = play(load(setting, [job("a", gpu=1)]))
    assert list(story.waiting) == ["team/a"]


def test_two_jobs_of_one_key_at_once_and_events_out_of_order_are_errors_of_the_load():
    with pytest.raises(KumiError, match="two jobs team/a"):
        play(load([], [job("a"), job("a")]))
    events = [Arrive(job("b", at_ms=5)), Arrive(job("a"))]
    with pytest.raises(KumiError, match="before the one ahead of it"):
        play(Load("wrong", (), lambda: iter(events)))


def test_a_run_is_played_in_pieces_of_whole_instants():
    run = Run(load([node("n", gpu=1)], [job("a", gpu=1), job("b", gpu=1), job("c", at_ms=5)]), Policy("p"), 1)
    assert run.advance(1)
    assert (run.now_ms, run.played) == (at(0), 2)
    assert run.advance(1)
    assert (run.now_ms, run.played) == (at(5), 3)
    assert [key for key, _ in run.waiting()] == ["team/a", "team/b", "team/c"]
    assert not run.advance(100)
    assert not run.advance(1)


def test_a_budget_ends_the_run_and_says_so():
    story = Story()
    events = [job("a", gpu=1), job("b", gpu=1, at_ms=1), job("c", at_ms=5000)]
    run = Run(load([node("n", gpu=1)], events), Policy("p"), 1, (story,), Budget(virtual_ms=1500))
    while run.advance(10):
        pass
    assert run.stopped == "The run's budget of virtual time was used up."
    assert story.closed_ms == 1500
    assert story.waiting == {"team/b": "It runs, and has not come to its end."}


def test_real_time_comes_from_a_clock_that_is_given():
    ticks = iter(range(10_000))
    events = [job(f"j{number:04}", at_ms=number, runs_ms=1) for number in range(2000)]
    budget = Budget(real_s=10, clock=lambda: float(next(ticks)))
    run = Run(load([node("n", gpu=1)], events), Policy("p"), 1, (), budget)
    while run.advance(100):
        pass
    assert run.stopped == "The run's budget of real time was used up."
    assert run.played < 50, "it is looked at before each instant: one may take long"


def test_the_priority_class_and_the_queue_of_gangs_are_made_where_they_are_missing():
    events = [job("a", gpu=1, via=Via.GANG, queue="gold", priority=7), job("b", gpu=1, via=Via.GANG)]
    run = Run(load([node("n", gpu=2), Queue("gold", weight=3)], events), Policy("p"), 1)
    run.advance(1)
    assert run.state.tasks.queues["gold"].weight == 3
    assert sorted(run.state.tasks.queues) == ["default", "gold"]
    assert [c.value for c in run.state.tasks.classes.values()] == [7]


def test_roles_of_a_job_have_shapes_of_their_own():
    two = replace(job("a"), roles=(Role("master", 1, shape(cpu=1)), Role("worker", 2, shape(gpu=1))))
    story = play(load([node("n", cpu=1, gpu=1), node("m", gpu=1)], [two]))
    assert sorted(" ".join(line.split()[3:]) for line in story.lines if "placed" in line) == ["0:n 1:m 1:n"]


# the laws, of any load under any policy


@given(loads(), policies())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_happens_the_invariants_hold_after_each_instant_and_the_run_ends(given_load, policy):
    story = Story()
    run = Run(given_load, policy, 1, (story,))
    invariants.check(run.state)
    while run.advance(1):
        invariants.check(run.state)
    ended = [line.split()[2] for line in story.lines if line.split()[1] in ("finished", "cancelled")]
    arrived = [line.split()[2] for line in story.lines if line.split()[1] == "arrived"]
    assert sorted([*ended, *story.waiting]) == sorted(arrived)
    assert all(said.endswith(".") for said in story.waiting.values())


@given(loads(), policies())
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_equal_seeds_tell_equal_stories_however_the_run_is_cut_into_pieces(given_load, policy):
    first, second = Story(), Story()
    for story, piece in ((first, 1), (second, 1000)):
        run = Run(given_load, policy, 3, (story,))
        while run.advance(piece):
            pass
    assert first.lines == second.lines
    assert first.decisions == second.decisions
    assert first.waiting == second.waiting


@given(loads(vias=(Via.POD,)))
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_ends_come_before_starts_at_one_instant(given_load):
    runs = {event.job.key: event.job.runs_ms for event in given_load.events() if isinstance(event, Arrive)}
    placed_ms = ""
    for line in play(given_load).lines:
        at_ms, what, key, *_ = line.split()
        if what == "placed":
            placed_ms = at_ms
        elif what == "finished" and runs[key] != 0:
            assert placed_ms != at_ms


# when nothing comes to rest


def test_wake_ups_that_change_nothing_do_not_keep_a_run_going(monkeypatch):
    story = Story()
    run = Run(load([node("n", gpu=1)], [job("a", gpu=1), job("huge", gpu=2)]), Policy("p"), 1, (story,))
    monkeypatch.setattr(run.state, "wake_at_ms", lambda: run.now_ms + 1)
    assert not run.advance(1000)
    assert story.closed_ms == 1000 + IDLE_WAKES
    assert list(story.waiting) == ["team/huge"]


def test_an_engine_that_never_comes_to_rest_is_stopped_and_the_instant_named(monkeypatch):
    run = Run(load([node("n", gpu=1)], [job("a", at_ms=7, gpu=1)]), Policy("p"), 1)
    monkeypatch.setattr("kumi.evaluator.engine.session.decide", lambda *_: [Unplaced("somebody", ())])
    with pytest.raises(InvariantError, match=f"at {at(7)} ms the engine does not come to rest"):
        run.advance(1)
