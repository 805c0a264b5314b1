from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import KumiError
from kumi.bridge import messages
from kumi.bridge.sentences import SENTENCES
from kumi.engine.reasons import Ahead, Code, Considered, Reason, Record, Tried

GPU = "nvidia.com/gpu"
words = st.text(alphabet="abc/-", max_size=8)
amounts = st.integers(0, 2**40)


@st.composite
def reasons(draw: st.DrawFn) -> Reason:
    resource = draw(st.sampled_from(["", "cpu", "memory", GPU, "pods"]))
    return Reason(
        draw(st.sampled_from(list(Code))),
        resource=resource,
        flavor=draw(words),
        where=draw(words),
        pod_set=draw(words),
        need=draw(amounts) if resource else 0,
        have=draw(amounts) if resource else 0,
        pods=draw(st.integers(0, 9)),
        permanent=draw(st.booleans()),
        nodes=draw(st.integers(0, 3)),
        detail=draw(words),
    )


@st.composite
def records(draw: st.DrawFn) -> Record:
    reason = draw(reasons())
    held = amounts if reason.resource else st.just(0)
    others = st.lists(st.builds(Ahead, words, words, held), max_size=3).map(tuple)
    return Record(
        reason,
        others=tuple(draw(st.lists(reasons(), max_size=2))),
        holders=draw(others),
        ahead=draw(others),
        position=draw(st.integers(0, 5)),
        at_ms=draw(st.integers(0, 2_000_000_000)) * 1000,
        tried=draw(st.lists(st.builds(Tried, words, words, words, st.integers(0, 3)), max_size=2).map(tuple)),
        considered=draw(
            st.lists(st.builds(Considered, words.filter(bool), words, words, words), max_size=2).map(tuple)
        ),
    )


@given(records())
def test_a_record_is_read_back_as_it_was_written(record: Record) -> None:
    assert messages.record_from_json(json.loads(json.dumps(messages.record_to_json(record)))) == record


@given(records(), records())
def test_every_record_has_every_field_so_that_a_merge_patch_replaces_the_one_before(a: Record, b: Record) -> None:
    assert messages.record_to_json(a).keys() == messages.record_to_json(b).keys()


@given(reasons())
def test_every_reason_is_a_sentence_in_plain_words(reason: Reason) -> None:
    said = messages.sentence(reason)
    assert said
    assert "{" not in said
    assert not said.endswith(".")


@pytest.mark.parametrize("code", list(Code), ids=lambda c: c.name)
def test_every_code_has_a_sentence_and_a_word_for_the_condition(code: Code) -> None:
    assert messages.sentence(Reason(code))
    assert messages.condition_reason(Reason(code)).isalpha()


@pytest.mark.parametrize("code", [c for c in Code if "{have}" in SENTENCES[c]], ids=lambda c: c.name)
def test_a_sentence_about_amounts_tells_need_and_have(code: Code) -> None:
    said = messages.sentence(Reason(code, resource=GPU, need=4000, have=2000))
    assert f"4 {GPU}" in said
    assert f"2 {GPU}" in said


def test_amounts_are_shown_as_people_write_them() -> None:
    assert messages.amount(GPU, 4000) == f"4 {GPU}"
    assert messages.amount("memory", 2 * 1024**3) == "2Gi memory"
    assert messages.amount("cpu", 500) == "500m cpu"
    assert (messages.amount("pods", 1000), messages.amount("pods", 2000)) == ("1 pod", "2 pods")


def waiting(**fields: object) -> dict[str, object]:
    record = Record(
        Reason(Code.NODES_FULL, resource=GPU, need=4000, have=2000, pods=2),
        holders=(Ahead("team-a/w", "PyTorchJob team-a/one", 4000),),
        ahead=(Ahead("team-a/v", "PyTorchJob team-a/zero"),),
        position=2,
    )
    return {**messages.record_to_json(record), **fields}


def test_why_says_layer_need_and_have_then_who_holds_who_is_ahead_and_what_helps() -> None:
    first, second = messages.why(waiting(), {"kind": "Workload"})
    assert (
        first == f"it waits at the gang: its pods need 4 {GPU} together, and 2 {GPU} are free on the nodes "
        "(2 of its pods have no place)"
    )
    assert second == (
        "number 2 in its queue; ahead: PyTorchJob team-a/zero; "
        f"held by PyTorchJob team-a/one (4 {GPU}); next chance: when pods on the nodes end"
    )


def test_why_says_who_goes_for_it_or_why_nobody_does_and_which_flavors_were_looked_at() -> None:
    stays = (Considered("n/a", "Job n/a", why_not="Priority"), Considered("n/b", "Job n/b", why_not="NotEnough"))
    tried = (Tried("main", "spot", "NoCandidates"), Tried("main", "reserved", "NoFit"))
    full = Record(Reason(Code.QUOTA_IN_USE, "cpu", "spot", "q", need=2000, have=0), considered=stays, tried=tried)
    _, second = messages.why(messages.record_to_json(full), {})
    assert "not preempted: Job n/a (its priority is not lower), Job n/b (it would still not fit)" in second
    assert "flavors tried: spot (nobody to preempt), reserved (no)" in second
    going = (Considered("n/a", "Job n/a", "InClusterQueue"), stays[1])
    first, second = messages.why(
        messages.record_to_json(Record(Reason(Code.PREEMPTING, where="q"), considered=going)), {}
    )
    assert "have not stopped yet" in first
    assert "preempted for it: Job n/a;" in second


def test_why_keeps_the_names_of_kinds_as_they_are() -> None:
    stopped = messages.record_to_json(Record(Reason(Code.CLUSTER_QUEUE_STOPPED, where="q")))
    assert messages.why(stopped, {})[0] == "it waits at the queue: ClusterQueue q is stopped by its stopPolicy"
    none = messages.record_to_json(Record(Reason(Code.NO_NODES)))
    assert messages.why(none, {})[0] == "it waits at the node: there is no node that takes new pods"


def test_why_says_when_it_can_never_start() -> None:
    record = Record(Reason(Code.OVER_QUOTA, resource=GPU, where="q", need=9000, have=8000, permanent=True))
    first, second = messages.why(messages.record_to_json(record), {})
    assert "it waits at the quota" in first
    assert second == "it can start only if the queue's quota is raised"


@pytest.mark.parametrize(
    ("workload", "words"),
    [
        (
            {"status": {"conditions": [{"type": "Finished", "status": "True", "reason": "Succeeded"}]}},
            "finished: Succeeded",
        ),
        (
            {"status": {"admission": {"clusterQueue": "q"}, "conditions": [{"type": "Admitted", "status": "True"}]}},
            "admitted by ClusterQueue q",
        ),
        (
            {
                "status": {
                    "admission": {"clusterQueue": "q"},
                    "admissionChecks": [
                        {"name": "a", "state": "Ready"},
                        {"name": "b", "state": "Pending", "message": "m"},
                    ],
                }
            },
            "waits for admission checks: b (m)",
        ),
        ({"status": {"admission": {"clusterQueue": "q"}}}, "waits for its admission checks"),
        (
            {
                "status": {
                    "admission": {"clusterQueue": "q"},
                    "conditions": [{"type": "Evicted", "status": "True", "reason": "Deactivated"}],
                }
            },
            "being stopped: Deactivated",
        ),
        ({"kind": "Workload"}, "nothing has been decided about it yet, since an unknown time"),
    ],
)
def test_why_of_what_does_not_wait_says_where_it_stands(workload: dict[str, object], words: str) -> None:
    first, second = messages.why(None, workload)
    assert words in first
    assert second


QUEUED: dict[str, object] = {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "q"}}}


@pytest.mark.parametrize(
    ("job", "warning", "words"),
    [
        (QUEUED, "", "it waits: its Workload is not made yet"),
        (QUEUED, "WorkloadPriorityClass x does not exist", "it waits: WorkloadPriorityClass x does not exist"),
        ({}, "", "no queue holds it back"),
        ({}, "Create pod: no more than 2 pods.", "it waits: create pod: no more than 2 pods"),
        ({"spec": {"suspend": True}}, "", "it is suspended by hand: spec.suspend is true"),
        ({"spec": {"runPolicy": {"suspend": True}}}, "", "it is suspended by hand: spec.runPolicy.suspend is true"),
        ({"status": {"conditions": [{"type": "Complete", "status": "True"}]}}, "", "it has finished: Complete"),
        (
            {**QUEUED, "status": {"conditions": [{"type": "Failed", "status": "True"}]}},
            "old news",
            "it has finished: Failed",
        ),
    ],
)
def test_why_of_a_job_without_workload_says_where_it_stands(job: dict[str, object], warning: str, words: str) -> None:
    first, second = messages.why_without_workload(job, warning)
    assert first.startswith(words)
    assert second


@pytest.mark.parametrize(
    ("resource", "have", "words"),
    [
        (GPU, 2000, f"2 {GPU} are free"),
        (GPU, 1000, f"1 {GPU} is free"),
        (GPU, 0, f"0 {GPU} are free"),
        ("memory", 2 * 1024**3, "2Gi memory is free"),
        ("pods", 1000, "1 pod is free"),
        ("pods", 2000, "2 pods are free"),
    ],
)
def test_verbs_go_with_what_is_counted(resource: str, have: int, words: str) -> None:
    assert words in messages.sentence(Reason(Code.NODES_FULL, resource=resource, need=have + 1000, have=have))


def test_a_pod_set_is_named_where_the_job_has_several() -> None:
    assert "pods of pod set worker" in messages.sentence(Reason(Code.NODE_NOT_MATCHED, pod_set="worker"))
    assert "pod set" not in messages.sentence(Reason(Code.NODE_NOT_MATCHED, pod_set="main"))


def test_a_summary_does_not_change_with_the_place_in_the_queue() -> None:
    reason = Reason(Code.QUOTA_IN_USE, resource=GPU, flavor="f", where="q", need=4000, have=1000)
    assert messages.summary(Record(reason, position=1)) == messages.summary(Record(reason, position=9))


def test_many_holders_are_counted_and_not_all_named() -> None:
    holders = tuple(Ahead(f"n/w{i}", f"Job n/j{i}", 1000) for i in range(5))
    said = messages.summary(Record(Reason(Code.NODES_FULL, resource=GPU), holders=holders))
    assert "Job n/j2" in said
    assert "and 2 more" in said
    assert "Job n/j3" not in said


def test_a_pod_is_told_every_reason_once() -> None:
    same = Reason(Code.NODE_NOT_MATCHED)
    assert messages.unplaced_pod((same, same)) == messages.unplaced_pod((same,))


def test_a_pod_is_told_how_many_nodes_said_which_no() -> None:
    said = messages.unplaced_pod(
        (
            Reason(Code.NODE_NOT_MATCHED, detail="not ready", nodes=1),
            Reason(Code.NODE_NOT_MATCHED, detail="taint", nodes=2),
            Reason(Code.NODES_FULL, resource=GPU, need=4000, have=2000, nodes=3),
        )
    )
    assert said == (
        "No node takes the pod: 1 node is not ready, 2 nodes have a taint that it does not tolerate, "
        f"3 nodes are full (it needs 4 {GPU}, the most that one has is 2 {GPU})."
    )


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize(
    "plugin", ["cordoned", "usage", "nodegroup", "tdm", "numa-aware", "resource-strategy-fit", "mine"]
)
def test_nodes_that_a_plugin_refuses_are_told_in_words(plugin: str, nodes: int) -> None:
    said = messages.unplaced_pod((Reason(Code.NODE_NOT_MATCHED, nodes=nodes, detail=plugin),))
    assert said.startswith(f"No node takes the pod: {nodes} node{'s' if nodes > 1 else ''} ")
    assert (f"said no ({plugin})" in said) == (plugin == "mine")


def test_what_is_no_record_is_an_error() -> None:
    with pytest.raises(KumiError, match="decision record"):
        messages.record_from_json({"code": "NO_SUCH_CODE"})


def test_a_pod_is_told_that_no_one_gpu_has_so_much() -> None:
    share = Reason(Code.GPUS_SPLIT, resource=GPU, need=500, have=400, detail="share")
    whole = Reason(Code.GPUS_SPLIT, resource=GPU, need=2000, have=1000)
    assert messages.sentence(share) == (
        f"its pods need 500m {GPU} on one GPU each, and the most that one GPU has free is 400m {GPU}"
    )
    assert messages.sentence(whole) == (
        f"its pods need 2 {GPU} that nobody shares each, and the most that one node has free is 1 {GPU}"
    )
    of_nodes = (
        Reason(Code.GPUS_SPLIT, resource=GPU, need=500, have=400, nodes=2, detail="share"),
        Reason(Code.GPUS_SPLIT, resource=GPU, need=2000, have=1000, nodes=1),
    )
    assert messages.unplaced_pod(of_nodes) == (
        f"No node takes the pod: 2 nodes have no one GPU with 500m {GPU} free (the most is 400m {GPU}), "
        f"1 node has no 2 {GPU} that nobody shares (the most is 1 {GPU})."
    )


@pytest.mark.process
def test_who_only_tells_reads_no_translation() -> None:
    code = "import sys, kumi.bridge.messages; sys.exit('kumi.bridge.into' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_gang_that_lacks_pods_of_a_role_is_told_which() -> None:
    lacks = Reason(Code.GANG_INCOMPLETE, pod_set="master", need=1, have=0, pods=1)
    assert messages.gang_waits((lacks,)).endswith("1 of them is not there yet (master: 0 of 1).")
    assert messages.sentence(replace(lacks, pod_set="")).endswith("1 of them is not there yet")
