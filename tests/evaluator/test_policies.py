"""Policies: what a run decides by, by name or from a file, and what the built-in ones lead to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kumi.api.errors import KumiError
from kumi.engine.gangs import Queue
from kumi.engine.model import ClusterQueue, Delta, LocalQueue, Node
from kumi.engine.settings import Discipline, FairSharing, QueueOrder
from kumi.evaluator.engine import Run
from kumi.evaluator.model import START_MS, Arrive, Decision, Job, Load, Places, Policy, Role, Via, What
from kumi.evaluator.policies import ALSO, BUILTIN, known, policy
from kumi.evaluator.traces import swf
from kumi.testing.builders import node, shape

HOUR = 3_600_000


class Watch:
    """When each job started first, when it was done, and how often it was preempted; since the start of the load."""

    def __init__(self) -> None:
        self.started: dict[str, int] = {}
        self.finished: dict[str, int] = {}
        self.preempted: dict[str, int] = {}

    def happened(self, now_ms: int, what: What, job: Job, kept_ms: int) -> None:
        if what is What.STARTED:
            self.started.setdefault(job.key, now_ms - START_MS)
        elif what is What.FINISHED:
            self.finished[job.key] = now_ms - START_MS
        elif what is What.PREEMPTED:
            self.preempted[job.key] = self.preempted.get(job.key, 0) + 1

    def placed(self, now_ms: int, job: Job, places: Places) -> None: ...

    def left(self, now_ms: int, job: Job, places: Places) -> None: ...

    def changed(self, now_ms: int, delta: Delta) -> None: ...

    def decided(self, now_ms: int, decision: Decision) -> None: ...

    def closed(self, now_ms: int, waiting: Sequence[tuple[str, str]]) -> None: ...


def played(load: Load, named: str) -> Watch:
    watch = Watch()
    run = Run(load, policy(named), 1, [watch])
    while run.advance(1000):
        pass
    run.close()
    return watch


@pytest.mark.parametrize("name", list(BUILTIN))
def test_a_built_in_policy_is_known_however_its_name_is_written(name: str) -> None:
    camel = name.partition("-")[0] + "".join(part.capitalize() for part in name.split("-")[1:])
    assert {known(said) for said in (name, name.upper(), name.replace("-", "_"), camel)} == {name}


def test_names_of_the_field_are_known() -> None:
    assert all(known(other) == known(other.upper()) == name and name in BUILTIN for other, name in ALSO.items())
    assert (known("SJF"), known("edf"), known("FGD")) == ("shortest", "earliest-deadline", "fragmentation")


@given(st.text())
def test_any_other_name_is_none(said: str) -> None:
    assert known(said) in ("", *BUILTIN)
    assert known(f"{said}.yaml") == known(f"fifo{said}/") == ""


def load_of(jobs: Sequence[Job], nodes: Sequence[Node]) -> Load:
    return Load("made", tuple(nodes), lambda: iter([Arrive(job) for job in jobs]))


def job(name: str, runs: int, due: int | None = None, *, at: int = 0, via: Via = Via.POD) -> Job:
    """One that wants a GPU; times as they are."""
    deadline = None if due is None else START_MS + due
    roles = (Role("main", 1, shape(gpu=1)),)
    return Job(f"ns/{name}", START_MS + at, roles, runs, via, queue="default", said_ms=runs, deadline_ms=deadline)


def gpus(count: int) -> list[Node]:
    return [node(f"n{n}", gpu=1) for n in range(count)]


# by name


@pytest.mark.parametrize("name", list(BUILTIN))
def test_every_built_in_policy_is_one_that_can_be_used(name: str) -> None:
    found = policy(name)
    assert found.name == name
    assert played(load_of([job("a", 10), job("b", 10)], gpus(1)), name).finished == {"ns/a": 10, "ns/b": 20}


def test_what_the_names_stand_for() -> None:
    said = {name: policy(name).profile.settings for name in BUILTIN}
    lines = {"fifo": Discipline.STRICT, "easy": Discipline.EASY, "conservative": Discipline.CONSERVATIVE}
    assert {name: s.line for name, s in said.items() if s.line is not Discipline.OPEN} == lines
    orders = {"fair": QueueOrder.FAIR, "least-slack": QueueOrder.LEAST_SLACK, "shortest": QueueOrder.SHORTEST}
    orders["earliest-deadline"] = QueueOrder.DEADLINE
    assert {name: s.order for name, s in said.items() if s.order is not QueueOrder.TIME} == orders
    assert [name for name in BUILTIN if policy(name).as_gangs] == ["drf", "least-slack-preemptive"]
    assert said["fair"].fair == FairSharing()


# from files


def write(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


def test_a_policy_document_has_the_name_of_its_file(tmp_path: Path) -> None:
    found = policy(write(tmp_path, "mine.yaml", "line: easy\nqueueOrder: shortest\n"))
    assert (found.name, found.as_gangs, found.nouns) == ("mine", False, ())
    assert (found.profile.settings.line, found.profile.settings.order) == (Discipline.EASY, QueueOrder.SHORTEST)


def test_a_scheduler_file_in_a_config_map_is_what_it_holds(tmp_path: Path) -> None:
    conf = 'actions: "allocate"\ntiers:\n- plugins:\n  - name: gang\n'
    bare = policy(write(tmp_path, "bare.yaml", conf))
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  volcano-scheduler.conf: |\n"
    inside = head + "".join(f"    {line}\n" for line in conf.splitlines())
    wrapped = policy(write(tmp_path, "wrapped.yaml", inside))
    assert (wrapped.profile, wrapped.as_gangs) == (bare.profile, True)


def test_a_scheduler_file_of_volcanos_is_about_gangs(tmp_path: Path) -> None:
    text = 'actions: "allocate, backfill"\ntiers:\n- plugins:\n  - name: gang\n  - name: binpack\n'
    found = policy(write(tmp_path, "volcano.conf", text))
    assert (found.as_gangs, found.profile.conf.actions) == (True, ("allocate", "backfill"))


TREE = """
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: cq}
spec:
  namespaceSelector: {}
  cohort: all
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: default, resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}]
---
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
fairSharing: {}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: lq}
spec: {clusterQueue: cq}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: gold}
spec: {weight: 3}
"""


def test_a_quota_tree_and_what_decides_in_it_are_documents_of_one_file(tmp_path: Path) -> None:
    found = policy(write(tmp_path, "tree.yaml", TREE))
    assert (found.profile.settings.fair, found.as_gangs) == (FairSharing(), False)
    cluster_queue, local, queue = found.nouns
    assert isinstance(cluster_queue, ClusterQueue)
    assert (cluster_queue.name, cluster_queue.cohort) == ("cq", "all")
    assert local == LocalQueue("default/lq", "cq")
    assert isinstance(queue, Queue)
    assert (queue.name, queue.weight) == ("gold", 3)


PLUGIN = """
from dataclasses import dataclass


@dataclass(frozen=True)
class LastFirst:
    @classmethod
    def configured(cls, option):
        return cls()

    def open(self, session):
        return self

    def job_key(self, job):
        return tuple(-ord(letter) for letter in job.key)
"""


def test_a_python_file_alone_is_a_plug_in_in_the_profiles_tiers(tmp_path: Path) -> None:
    found = policy(write(tmp_path, "last_first.py", PLUGIN))
    assert (found.name, found.as_gangs) == ("last_first", True)
    assert [option.name for option in found.profile.conf.tiers[0]][:2] == ["priority", "last_first"]
    watch = Watch()
    run = Run(load_of([job("a", 10), job("b", 10), job("c", 10)], gpus(1)), found, 1, [watch])
    while run.advance(1000):
        pass
    assert watch.started == {"ns/c": 0, "ns/b": 10, "ns/a": 20}


def test_plug_ins_may_be_added_to_any_policy(tmp_path: Path) -> None:
    plugin = write(tmp_path, "last_first.py", PLUGIN)
    named = write(
        tmp_path, "p.yaml", "tiers: [{plugins: [{name: gang}, {name: last_first}]}]\nplugins: [last_first.py]\n"
    )
    unnamed = write(tmp_path, "q.yaml", "line: strict\n")

    def options(found: Policy) -> list[str]:
        return [option.name for tier in found.profile.conf.tiers for option in tier]

    assert options(policy(named)) == ["gang", "last_first"]
    assert options(policy("fifo", [plugin]))[:2] == options(policy(unnamed, [plugin]))[:2] == ["priority", "last_first"]
    assert policy("fifo", [plugin]).as_gangs
    assert not policy(unnamed).as_gangs


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("line: none\n", r"line 1: line: Unsupported value"),
        (f"{TREE}---\nline: none\n", r"line 32: line: Unsupported value|has 2 documents"),
        ("a: [\n", "can't be read"),
        ("queueOrder: time\n---\nline: open\n", "2 documents that are no objects, at lines 1, 3"),
    ],
)
def test_what_is_wrong_is_told_with_the_file_and_the_line(tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path, "wrong.yaml", text)
    with pytest.raises(KumiError, match=said) as caught:
        policy(path)
    assert str(path) in str(caught.value)


def test_a_document_behind_others_is_told_with_its_own_line(tmp_path: Path) -> None:
    objects = TREE.replace(
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfairSharing: {}", "line: none"
    )
    with pytest.raises(KumiError, match="line 12: line: Unsupported value"):
        policy(write(tmp_path, "wrong.yaml", objects))


def test_a_name_that_nobody_has_is_told_with_those_that_there_are() -> None:
    with pytest.raises(KumiError, match=r"no policy fif: built-in are .*fifo, .*no such file"):
        policy("fif")


# what they lead to


def missed(watch: Watch, jobs: Sequence[Job]) -> list[str]:
    due = {one.key: one.deadline_ms for one in jobs}
    return [
        key for key, end in sorted(watch.finished.items()) if due[key] is not None and START_MS + end > (due[key] or 0)
    ]


@pytest.mark.parametrize("via", [Via.POD, Via.GANG])
def test_of_three_jobs_on_two_gpus_least_slack_alone_misses_no_deadline(via: Via) -> None:
    jobs = [job(f"j{n}", runs * HOUR, due * HOUR, via=via) for n, (runs, due) in enumerate([(1, 2), (1, 2), (3, 3)])]
    found = {name: missed(played(load_of(jobs, gpus(2)), name), jobs) for name in ("fifo", "earliest-deadline")}
    assert found == {"fifo": ["ns/j2"], "earliest-deadline": ["ns/j2"]}
    for name in ("least-slack", "least-slack-preemptive"):
        assert missed(played(load_of(jobs, gpus(2)), name), jobs) == []


OVERLOAD = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 10), st.integers(0, 12)), min_size=2, max_size=14)


@settings(max_examples=25)
@given(OVERLOAD, st.integers(1, 3))
def test_preemptive_least_slack_preempts_a_job_no_more_often_than_there_are_jobs_with_an_earlier_deadline(
    drawn: list[tuple[int, int, int]], places: int
) -> None:
    at, jobs = 0, []
    for number, (later, runs, slack) in enumerate(drawn):
        at += later
        jobs.append(job(f"j{number:02}", runs, at + runs + slack, at=at))
    watch = played(load_of(jobs, gpus(places)), "least-slack-preemptive")
    assert len(watch.finished) == len(jobs)
    due = {one.key: one.deadline_ms or 0 for one in jobs}
    earlier = {key: sum(other < mine for other in due.values()) for key, mine in due.items()}
    assert [key for key, times in watch.preempted.items() if times > earlier[key]] == []
    assert sum(watch.preempted.values()) <= len(jobs) * (len(jobs) - 1) // 2


def test_when_every_slack_has_run_out_nobody_is_preempted_any_more() -> None:
    jobs = [job(f"j{n:02}", 10, 12, at=n) for n in range(20)]
    watch = played(load_of(jobs, gpus(1)), "least-slack-preemptive")
    assert (watch.preempted, len(missed(watch, jobs))) == ({}, 19)


def test_preemptive_least_slack_takes_the_place_of_one_that_can_wait() -> None:
    jobs = [job("long", 10, 30), job("urgent", 3, 5, at=1)]
    watch = played(load_of(jobs, gpus(1)), "least-slack-preemptive")
    assert (watch.preempted, watch.finished) == ({"ns/long": 1}, {"ns/urgent": 4, "ns/long": 14})
    assert missed(played(load_of(jobs, gpus(1)), "least-slack"), jobs) == ["ns/urgent"]


# job, submit, run, processors, requested time; eight processors
LOG = [
    (1, 0, 100, 6, 120),
    (2, 5, 50, 4, 60),  # two are free: it waits; 1 says that it ends at 120, and is done at 100
    (3, 10, 40, 2, 50),  # it says that it ends at 60, before 120: it passes 2
    (4, 15, 200, 2, 200),  # at 50, when 3 is done: past 120, and of the eight at 120 four are more than 2 needs
    (5, 20, 30, 1, 40),  # one processor is free when 2 has started, at 100
    (6, 60, 20, 8, 30),  # all of them: when 4 says that it ends, at 250
    (7, 110, 100, 1, 130),  # it says 240
    (8, 120, 10, 1, 200),  # it says 330 when one is free, at 130: it would delay 6, and nothing is left at 250
    (9, 140, 60, 1, 110),  # it says 250
    (10, 160, 90, 4, 90),  # 2 is done at 150: four are free, and it says 250
]
WANTED = {1: 0, 2: 100, 3: 10, 4: 50, 5: 100, 6: 250, 7: 110, 8: 270, 9: 140, 10: 160}
PROMISED = {2: 120, 6: 250, 8: 280}


def log(tmp_path: Path) -> Load:
    lines = ["; Version: 2.2", "; MaxNodes: 8", "; MaxProcs: 8"]
    for number, submit, run, processors, requested in LOG:
        lines.append(f"{number} {submit} -1 {run} {processors} -1 -1 {processors} {requested} -1 1 1 -1 -1 1 -1 -1 -1")
    return swf.read(None, write(tmp_path, "small.swf", "\n".join(lines) + "\n"))


def number_of(key: str) -> int:
    return int("".join(letter for letter in key.rpartition("/")[2] if letter.isdigit()))


def promises(load: Load, named: str) -> tuple[dict[str, int], dict[str, int]]:
    """When each job started, and the first time that was promised to it."""
    watch, first = Watch(), dict[str, int]()
    run = Run(load, policy(named), 1, [watch])
    more = True
    while more:
        more = run.advance(1)
        for key, (reservation, _) in run.state.answers.reserved.items():
            first.setdefault(key, reservation.at_ms - START_MS)
        for uid, reservation in run.state.pods.waiting.reservations.items():
            first.setdefault(run.state.pods.by_uid[uid].key, reservation.at_ms - START_MS)
    return watch.started, first


def test_easy_backfill_of_a_small_log_is_the_schedule_that_was_worked_out_by_hand(tmp_path: Path) -> None:
    started, first = promises(log(tmp_path), "easy")
    assert {number_of(key): at // 1000 for key, at in started.items()} == WANTED
    assert {number_of(key): at // 1000 for key, at in first.items()} == PROMISED


@pytest.mark.parametrize("named", ["easy", "conservative"])
def test_no_job_of_the_log_starts_later_than_at_its_reservation(tmp_path: Path, named: str) -> None:
    started, first = promises(log(tmp_path), named)
    assert len(started) == len(LOG)
    assert first
    assert [key for key, at in first.items() if started[key] > at] == []
