import numpy as np
import pytest

from kumi.api.errors import InvariantError, KumiError
from kumi.engine.decisions import Bind
from kumi.engine.model import Node, Pod, Profile, Put, Remove
from kumi.engine.policy import parse
from kumi.engine.settings import Discipline, Settings
from kumi.engine.state import State
from kumi.evaluator.laws import STOPS_AT_MOST, Laws, idle_fit
from kumi.evaluator.model import Policy, Via, What
from kumi.evaluator.student import interval
from kumi.testing.builders import node, pod
from tests.evaluator.stories import job, load, play

A = job("a", gpu=1, runs_ms=100)
PAIR = job("pair", pods=2, gpu=1, runs_ms=100)


@pytest.fixture
def laws() -> Laws:
    made = Laws()
    made.changed(0, Put(node("n", gpu=2)))
    return made


def started(laws, one=A, now_ms=0, kept_ms=0, nodes=("n",)):
    laws.happened(now_ms, What.ARRIVED, one, 0)
    laws.placed(now_ms, one, [(0, name) for name in nodes])
    laws.happened(now_ms, What.STARTED, one, kept_ms)


def broken(said):
    return pytest.raises(InvariantError, match=said)


def test_a_job_that_lives_as_it_should_breaks_none(laws):
    started(laws)
    laws.happened(40, What.PREEMPTED, A, 30)
    laws.left(40, A, [(0, "n")])
    laws.placed(50, A, [(0, "n")])
    laws.happened(50, What.STARTED, A, 30)
    laws.happened(120, What.FINISHED, A, 100)
    laws.left(120, A, [(0, "n")])
    laws.closed(120, [])


def stopped_at(laws, now_ms, times):
    for _ in range(times):
        laws.happened(now_ms, What.STARTED, A, 0)
        laws.happened(now_ms, What.PREEMPTED, A, 0)


def test_a_job_that_is_stopped_again_and_again_at_one_instant_never_comes_to_rest(laws):
    started(laws)
    laws.happened(0, What.PREEMPTED, A, 0)
    stopped_at(laws, 0, STOPS_AT_MOST - 1)
    stopped_at(laws, 1, STOPS_AT_MOST)
    with broken(f"at 1 ms job team/a is stopped {STOPS_AT_MOST + 1} times"):
        stopped_at(laws, 1, 1)


def test_tiers_that_let_two_gangs_take_each_others_place_for_ever_are_told_as_a_mistake_of_the_policy():
    tiers = [{"plugins": [{"name": name} for name in tier]} for tier in (("priority", "gang"), ("conformance",))]
    policy = Policy("own", parse({"actions": "allocate, preempt", "tiers": tiers}), as_gangs=True)
    with pytest.raises(KumiError, match=r"the policy places team/a and takes its place away again without end"):
        play(load([node("n", gpu=1)], [job("a", gpu=1), job("b", gpu=1, at_ms=500)]), policy)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (What.STARTED, "has not arrived, and is started"),
        (What.FINISHED, "has not arrived, and is finished"),
        (What.CANCELLED, "has not arrived, and is cancelled"),
    ],
)
def test_nothing_happens_to_a_job_before_it_arrives(laws, what, said):
    with broken(f"at 7 ms job team/a {said}"):
        laws.happened(7, what, A, 0)
    with broken("has not arrived, and is placed"):
        laws.placed(7, A, [(0, "n")])


def test_a_job_arrives_once_starts_when_it_does_not_run_and_stops_when_it_does(laws):
    started(laws)
    with broken("arrives twice"):
        laws.happened(1, What.ARRIVED, A, 0)
    with broken("starts while it runs"):
        laws.happened(1, What.STARTED, A, 0)
    laws.happened(1, What.LOST, A, 0)
    with broken("does not run, and is preempted"):
        laws.happened(2, What.PREEMPTED, A, 0)
    with broken("finishes and does not run"):
        laws.happened(2, What.FINISHED, A, 0)


@pytest.mark.parametrize(("now_ms", "kept_ms"), [(99, 0), (101, 0), (100, 1)])
def test_a_job_that_finishes_has_run_for_exactly_its_time(laws, now_ms, kept_ms):
    started(laws, kept_ms=kept_ms)
    with broken(f"finishes after {now_ms + kept_ms} of 100 ms"):
        laws.happened(now_ms, What.FINISHED, A, 100)


def test_time_never_goes_back(laws):
    laws.happened(5, What.ARRIVED, A, 0)
    with broken("is heard of after 5 ms"):
        laws.placed(4, A, [(0, "n")])


def test_an_end_after_a_placement_at_the_same_instant_is_out_of_order(laws):
    started(laws)
    laws.happened(100, What.ARRIVED, PAIR, 0)
    laws.placed(100, PAIR, [(0, "n")])
    with broken("ends after somebody was placed at the same instant"):
        laws.happened(100, What.FINISHED, A, 100)


def test_a_job_that_takes_no_time_may_end_at_the_instant_of_its_start(laws):
    none = job("none", gpu=1, runs_ms=0)
    started(laws, none)
    laws.happened(0, What.FINISHED, none, 0)


def test_nobody_is_placed_where_too_little_is_left_pods_included():
    laws = Laws()
    laws.changed(0, Put(node("n", gpu=2)))
    laws.changed(0, Put(node("few", gpu=8, pods=1)))
    laws.happened(0, What.ARRIVED, PAIR, 0)
    laws.happened(0, What.ARRIVED, A, 0)
    laws.placed(0, PAIR, [(0, "n"), (0, "n")])
    with broken("job team/a is placed on node n, which has too little nvidia.com/gpu left"):
        laws.placed(0, A, [(0, "n")])
    laws.placed(0, A, [(0, "few")])
    with broken("too little pods left"):
        laws.placed(0, A, [(0, "few")])
    with broken("on node gone"):
        laws.placed(0, A, [(0, "gone")])


def test_a_node_may_shrink_under_those_who_are_there_and_takes_nobody_more(laws):
    started(laws, PAIR, nodes=("n", "n"))
    laws.changed(1, Put(node("n", gpu=1)))
    laws.happened(1, What.ARRIVED, A, 0)
    with broken("too little"):
        laws.placed(1, A, [(0, "n")])


def test_what_left_gives_its_room_back_also_where_the_node_went_meanwhile(laws):
    started(laws, PAIR, nodes=("n", "n"))
    laws.changed(1, Remove(Node, "n"))
    laws.happened(1, What.LOST, PAIR, 0)
    laws.left(1, PAIR, [(0, "n"), (0, "n")])
    laws.changed(2, Put(node("n", gpu=2)))
    laws.placed(2, PAIR, [(0, "n"), (0, "n")])


def test_pods_of_nobody_use_what_they_use(laws):
    for uid, at in (("x", "n"), ("y", "")):
        laws.changed(0, Put(pod(uid, gpu=1, node=at)))
    laws.decided(0, Bind("y", "n"))
    laws.happened(0, What.ARRIVED, A, 0)
    with broken("too little"):
        laws.placed(0, A, [(0, "n")])
    laws.changed(1, Remove(Pod, "x"))
    laws.changed(1, Put(pod("y", gpu=1, node="n", finished=True)))
    laws.placed(1, A, [(0, "n")])


def test_a_gang_runs_with_its_minimum_or_not_at_all():
    laws = Laws()
    laws.changed(0, Put(node("n", gpu=9)))
    gang = job("gang", pods=3, least=2, gpu=1, via=Via.GANG)
    laws.happened(0, What.ARRIVED, gang, 0)
    laws.placed(0, gang, [(0, "n")])
    with broken("starts with 1 pods of at least 2"):
        laws.happened(0, What.STARTED, gang, 0)
    laws.placed(0, gang, [(0, "n"), (0, "n")])
    laws.happened(0, What.STARTED, gang, 0)
    laws.left(1, gang, [(0, "n")])
    with broken("runs with 1 pods of at least 2"):
        laws.left(2, gang, [(0, "n")])


@pytest.mark.parametrize(("as_gangs", "few"), [(False, 3), (True, 1)])
def test_a_job_of_pods_needs_all_of_them_unless_the_policy_makes_a_gang_of_it(as_gangs, few):
    laws = Laws(as_gangs=as_gangs)
    laws.changed(0, Put(node("n", gpu=9)))
    one = job("a", pods=3, least=1, gpu=1)
    laws.happened(0, What.ARRIVED, one, 0)
    for _ in range(few - 1):
        laws.placed(0, one, [(0, "n")])
        with broken("starts with"):
            laws.happened(0, What.STARTED, one, 0)
    laws.placed(0, one, [(0, "n")])
    laws.happened(0, What.STARTED, one, 0)


def test_where_nobody_places_a_job_runs_without_nodes():
    laws = Laws(places=False)
    laws.happened(0, What.ARRIVED, A, 0)
    laws.happened(0, What.STARTED, A, 0)


def test_little_counts_those_who_are_still_there(laws):
    laws.happened(3, What.ARRIVED, A, 0)
    laws.happened(5, What.ARRIVED, PAIR, 0)
    laws.happened(9, What.CANCELLED, A, 0)
    laws.closed(20, [("team/pair", "why")])


def test_little_notices_time_that_was_counted_for_nobody(laws):
    laws.happened(3, What.ARRIVED, A, 0)
    laws._jobs["team/a"].arrived_ms = 4
    with broken("jobs in the system over time are 17 ms, and their times in it 16 ms"):
        laws.closed(20, [("team/a", "why")])


def test_those_who_are_said_to_wait_are_those_who_have_not_ended(laws):
    laws.happened(3, What.ARRIVED, A, 0)
    with broken("those who are said to wait"):
        laws.closed(20, [])


def idle_state(profile: Profile | None = None) -> State:
    """A pod that nobody was asked about waits beside a node that would take it."""
    state = State(profile)
    state.apply(Put(node("n", gpu=2)))
    state.apply(Put(pod("ns/full", gpu=3)))
    state.apply(Put(pod("ns/idle", gpu=2)))
    return state


def test_work_is_not_left_where_the_line_is_open(laws):
    state = idle_state()
    found = idle_fit(state)
    assert found is not None
    assert found.key == "ns/idle"
    with broken("at 7 ms pod ns/idle waits, and would fit a node"):
        laws.rested(7, state)


def test_work_may_be_left_where_nobody_may_pass(laws):
    state = idle_state(Profile(settings=Settings(line=Discipline.STRICT)))
    for _ in range(100):
        laws.rested(7, state)


def test_work_is_looked_at_as_often_as_it_costs(laws, monkeypatch):
    looks = []
    monkeypatch.setattr("kumi.evaluator.laws.idle_fit", lambda _: looks.append(1))
    for number in range(79):
        laws.changed(0, Put(node(f"m{number}", gpu=1)))
    state = idle_state()
    for _ in range(110):
        laws.rested(7, state)
    assert len(looks) == 10


def test_a_pod_for_which_room_is_kept_or_that_looks_at_others_is_left_out():
    state = idle_state()
    state.journal.put(state.answers.promised, "somebody", "n")
    assert idle_fit(state) is None


# theory: jobs of one GPU that come independently of each other, to c GPUs that serve them in their order


def mean_wait_s(servers: int, gaps_s, runs_s, skipped: int) -> float:
    """The mean wait of jobs behind the first `skipped`, in a run."""
    arrives = (np.cumsum(gaps_s) * 1000).astype(int).tolist()
    runs = np.maximum((np.asarray(runs_s) * 1000).astype(int), 1).tolist()
    jobs = [job(f"j{n:06}", at, run, gpu=1) for n, (at, run) in enumerate(zip(arrives, runs, strict=True))]
    began = play(load([node("n", gpu=servers, pods=servers)], jobs)).times(What.STARTED)
    waits = [began[one.key] - at for one, at in zip(jobs, arrives, strict=True)][skipped:]
    return sum(waits) / len(waits) / 1000


def erlang_c(servers: int, load_: float) -> float:
    """The probability that a job waits: M. Erlang's formula for `load_` = rate x mean time."""
    inverse = 1.0
    for n in range(1, servers + 1):
        inverse = 1 + n / load_ * inverse
    blocked = 1 / inverse
    return blocked / (1 - load_ / servers * (1 - blocked))


JOBS, SKIPPED, RUNS = 600, 100, 10
MEAN_S = 1000.0


def test_waits_of_many_servers_with_exponential_times_are_those_of_theory():
    servers, busy = 3, 0.7
    rate = busy * servers / MEAN_S
    theory = erlang_c(servers, busy * servers) / (servers / MEAN_S - rate)
    found = []
    for seed in range(RUNS):
        rng = np.random.default_rng([1, seed])
        gaps, runs = rng.exponential(1 / rate, JOBS), rng.exponential(MEAN_S, JOBS)
        found.append(mean_wait_s(servers, gaps, runs, SKIPPED))
    within(theory, found)


def test_waits_of_one_server_with_equal_times_are_those_of_theory():
    busy = 0.6
    theory = busy / (2 * (1 - busy)) * MEAN_S
    found = []
    for seed in range(RUNS):
        gaps = np.random.default_rng([2, seed]).exponential(MEAN_S / busy, JOBS)
        found.append(mean_wait_s(1, gaps, [MEAN_S] * JOBS, SKIPPED))
    within(theory, found)


def within(theory: float, found: list[float]) -> None:
    said = interval(found)
    assert said.half is not None
    assert abs(theory - said.mean) <= said.half, (theory, said)
    assert said.half < theory / 4, "the interval says something"
