"""The decision records of one job over its life."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumi.api.errors import KumiError
from kumi.engine.decisions import Bind, Evict, EvictPod, GangPhase, Hold, Nominate, Unplaced
from kumi.engine.gangs import Phase
from kumi.engine.model import ClusterQueue, FlavorQuotas, LocalQueue, Namespace, Noun, Quota, ResourceGroup
from kumi.engine.model import Flavor as ResourceFlavor
from kumi.engine.reasons import Ahead, Code, Reason, Record
from kumi.evaluator import evaluate
from kumi.evaluator.engine import Run
from kumi.evaluator.explain import Entry, Explainer, find, job_of, lines, to_json
from kumi.evaluator.model import START_MS, Load, Policy, Via
from kumi.testing.builders import node
from tests.evaluator.stories import HOUR, job, load

GPU = "nvidia.com/gpu"
FULL = Reason(Code.NODES_FULL, resource=GPU, need=2000, have=1000, nodes=1)


def explained(given: Load, key: str, policy: Policy | None = None) -> list[Entry]:
    explainer = Explainer(key)
    run = Run(given, policy or Policy("test"), 0, (explainer,))
    while run.advance(1000):
        pass
    return explainer.entries


def told(entries: list[Entry]) -> list[str]:
    return [" ".join(line.split()) for line in lines(entries, START_MS)]


def queued(*others: Noun) -> list[Noun]:
    """One queue with quota for two GPUs, one node with four."""
    quota = FlavorQuotas("default", ((GPU, Quota(2000)),))
    return [
        node("n", gpu=4),
        Namespace("team"),
        ResourceFlavor("default"),
        ClusterQueue("gpus", (ResourceGroup((GPU,), (quota,)),)),
        LocalQueue("team/queue", "gpus"),
        *others,
    ]


def test_the_life_of_a_pod_on_its_own_from_its_arrival_to_its_end() -> None:
    given = load([node("n", gpu=2)], [job("first", 0, HOUR, gpu=2), job("second", 60_000, HOUR, gpu=2)])
    assert told(explained(given, "team/second")) == [
        "00:01:00 arrived arrives: 1 pod of 2 nvidia.com/gpu",
        "00:01:00 unplaced no node takes the pod: 1 node is full (it needs 2 nvidia.com/gpu, the most that one has is "
        "0 nvidia.com/gpu)",
        "01:00:00 bound a pod of it gets node n",
        "01:00:00 started runs",
        "02:00:00 finished is done",
    ]


def test_a_job_of_a_queue_is_told_what_it_needs_what_there_is_and_who_holds_it() -> None:
    given = load(
        queued(),
        [
            job("first", 0, HOUR, gpu=2, via=Via.WORKLOAD, queue="queue"),
            job("second", 1000, HOUR, gpu=2, via=Via.WORKLOAD, queue="queue"),
        ],
    )
    entries = explained(given, "team/second")
    assert [entry.what for entry in entries] == ["arrived", "held", "admitted", "bound", "started", "finished"]
    held = entries[1]
    assert (held.more["code"], held.more["need"], held.more["have"]) == ("QUOTA_IN_USE", "2", "0")
    assert (
        "it needs 2 nvidia.com/gpu, and 0 nvidia.com/gpu of the quota are unused in ClusterQueue gpus" in held.message
    )
    assert "held by Job team/first (2 nvidia.com/gpu)" in held.message
    assert entries[2].more["clusterQueue"] == "gpus"


def test_pods_that_get_nodes_at_one_instant_are_one_line() -> None:
    given = load([node("a", gpu=2), node("b", gpu=2)], [job("wide", 0, HOUR, pods=3, gpu=1)])
    (bound,) = [line for line in told(explained(given, "team/wide")) if " bound " in line]
    assert bound == "00:00:00 bound 3 pods of it get a (2), b"


def test_both_speeds_tell_the_same_of_a_job_in_a_queue_and_call_others_by_their_kinds() -> None:
    path = Path(__file__).parents[2] / "examples" / "evaluate" / "two-gangs.yaml"
    heard = [
        evaluate(path, ["fifo"], [0], explain="extra-2", speed=speed)[0].explained for speed in ("engine", "stack")
    ]
    engine, stack = ([(entry.at_ms, entry.what, entry.message) for entry in entries] for entries in heard)
    assert engine == stack
    assert "ahead: PyTorchJob default/second" in engine[1][2]


def test_a_job_that_never_ran_says_why_at_the_end() -> None:
    given = load([node("n", gpu=1)], [job("large", 0, HOUR, gpu=2)])
    last = explained(given, "team/large")[-1]
    assert last.what == "left"
    assert last.message.startswith("never ran to its end: No node takes the pod")


def test_decisions_about_others_are_not_told() -> None:
    explainer = Explainer("team/mine")
    for decision in (
        Bind("000000000001#team/mine-2", "n"),
        Unplaced("000000000001#team/other", (FULL,)),
        Hold("team/other", Record(FULL)),
        Evict("team/other", "Preempted", by="team/third"),
        EvictPod("000000000001#team/other", "000000000001#team/third"),
        Nominate("000000000001#team/other", "n"),
        GangPhase("team/other", Phase.PENDING),
    ):
        explainer.decided(START_MS, decision)
    assert explainer.entries == []


def test_whom_it_makes_go_and_who_makes_it_go_is_told() -> None:
    explainer = Explainer("team/mine")
    for decision in (
        EvictPod("000000000001#team/other/0/1", "000000000001#team/mine"),
        EvictPod("000000000001#team/other/0/2", "000000000001#team/mine"),
        Nominate("000000000001#team/mine", "n"),
        EvictPod("000000000001#team/mine", "000000000002#team/third"),
        Evict("team/mine", "Preempted", by="team/third", cause="InClusterQueue"),
        Evict("team/other", "Preempted", by="team/mine"),
    ):
        explainer.decided(START_MS, decision)
    assert told(explainer.entries) == [
        "00:00:00 preempts 2 pods of team/other go to make room for it",
        "00:00:00 promised node n is cleared for a pod of it",
        "00:00:00 evicted a pod of it makes room for team/third",
        "00:00:00 evicted workload team/third takes its place: it goes before this one in their ClusterQueue",
        "00:00:00 preempts team/other goes to make room for it",
    ]


def test_a_gang_is_told_its_phase_and_what_it_lacks() -> None:
    given = load([node("n", gpu=3)], [job("gang", 0, HOUR, pods=4, gpu=1, via=Via.GANG, least=4)])
    gang = next(entry for entry in explained(given, "team/gang") if entry.what == "gang")
    assert "3 of the 4 pods that start together fit" in gang.message


def test_only_a_new_place_in_the_queue_is_told_once_to_people_and_each_time_to_programs() -> None:
    explainer = Explainer("team/mine")
    reason = Reason(Code.QUOTA_IN_USE, resource=GPU, where="q", need=2000, have=0)
    for hour, ahead in enumerate(("a", "b", "c")):
        record = Record(reason, ahead=(Ahead(f"team/{ahead}", f"Job team/{ahead}"),), position=3 - hour)
        explainer.decided(START_MS + hour * HOUR, Hold("team/mine", record))
    (line,) = told(explainer.entries)
    assert "number 3 in its queue; ahead: Job team/a" in line
    assert line.endswith("(and 2 times more, until 02:00:00)")
    assert [one["position"] for one in to_json(explainer.entries, START_MS)] == [3, 2, 1]


def test_records_have_the_time_of_the_clock_and_since_the_start() -> None:
    (record,) = to_json([Entry(START_MS + 1500, "bound", "a pod of it gets node n", {"node": "n"})], START_MS)
    assert record == {
        "time": "2026-01-01T00:00:01Z",
        "at_s": 1.5,
        "what": "bound",
        "message": "a pod of it gets node n",
        "node": "n",
    }


@pytest.mark.parametrize(
    ("uid", "key"),
    [
        ("000000000001#team/a", "team/a"),
        ("000000000003#team/a/0/12", "team/a"),
        ("team/a", "team/a"),
        ("000000000002#team/a.b-c", "team/a.b-c"),
        ("", ""),
    ],
)
def test_a_pods_uid_names_its_job(uid: str, key: str) -> None:
    assert job_of(uid) == key


def test_a_job_is_found_by_its_key_or_by_a_name_that_one_job_has() -> None:
    given = load([], [job("a/x"), job("b/x"), job("a/y")])
    assert find(given, "a/x") == "a/x"
    assert find(given, "y") == "a/y"


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("x", "2 jobs are named x: write a/x, or b/x"),
        ("trainr", "is it one of a/trainer"),
        ("a/trainr", "is it one of a/trainer"),
        ("zzz", "it has a/x, b/x, a/trainer"),
    ],
)
def test_a_name_that_does_not_say_which_job_is_answered_with_names(said: str, answer: str) -> None:
    given = load([], [job("a/x"), job("b/x"), job("a/trainer")])
    with pytest.raises(KumiError) as caught:
        find(given, said)
    assert answer in str(caught.value)


def test_a_key_that_two_jobs_have_is_offered_once() -> None:
    given = load([], [job("a/x"), job("a/x", at_ms=5)])
    assert find(given, "x") == "a/x"
    with pytest.raises(KumiError, match=r"it has a/x$"):
        find(given, "zzz")


def test_a_load_without_jobs_says_so() -> None:
    with pytest.raises(KumiError, match="it has none at all"):
        find(load([], []), "x")
