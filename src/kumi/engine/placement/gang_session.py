"""Gang session: what a session of pod groups (rounds.py) leads to, as decisions, each assumed.

    1  nothing is due (answers.py): nothing
    2  one session; its evictions, then its binds, as it decided them, then those of pods on their own that went before gangs
    3  of every pod group that stands otherwise than it was told: its phase, its pods by their own, and why it isn't placed
    4  of every pod of such a gang that waits for a node: why

Past the queue  a pod group whose pods are an admitted Workload's takes no part: session.py places its pods, and admission alone
                takes them. Its phase is said here by the same rule.
Without a queue a pod group whose queue isn't there is Pending, and says so; so do pods whose pod group isn't there.
Said once       a pod is told again when the kinds of its reasons change, a pod group also when the numbers of the first one do:
                how many nodes lack how much moves with everything that happens.
Promised        places that a gang has and can't be committed yet (others are still leaving) are kept: `held_back` charges their
                nodes, for as long as pods on their own are looked for, with what isn't leaving anyway.
Order           by key, by uid.
Calm            where no gang waits for anything nothing can be placed, and nobody has to go: only phases of gangs of which
                something changed are looked at.
Held back       a gang that isn't let in is looked at in each session, pods or none: whoever makes its pods waits for that.
Cost            a session, and O(gangs that changed or wait); where it is calm O(gangs that changed), and a look at each gang.
Source          Volcano: session close, job status update.
Not here        how it is written: kumi.bridge.out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from kumi.engine.decisions import Bind, Decision, EvictPod, GangPhase, Unplaced
from kumi.engine.gangs import Phase
from kumi.engine.placement import rounds, seating, ways
from kumi.engine.placement.ahead import InBetween, is_open
from kumi.engine.placement.devices import lent_holder
from kumi.engine.placement.phases import of_counts
from kumi.engine.placement.plugins.registry import PLUGINS
from kumi.engine.placement.rounds import Round
from kumi.engine.placement.surroundings import Surroundings
from kumi.engine.placement.tasks import Job, Status, status_of
from kumi.engine.pods import waits
from kumi.engine.reasons import Code, Reason

if TYPE_CHECKING:
    from kumi.engine.state import State


def decide(state: State, now_ms: int) -> list[Decision]:
    """See the module."""
    answers, journal = state.answers, state.journal
    if not _is_due(state, now_ms):
        return []
    journal.swap(answers, "due", False)
    journal.swap(answers, "nodes_seen", state.nodes.changed)
    between = InBetween(state) if is_open(state) else None
    around = Surroundings(
        state.tasks,
        state.nodes,
        state.pods,
        journal,
        now_ms,
        answers.cleared_ms,
        reserved=answers.reserved,
        promised=answers.promised,
        ahead=between,
    )
    touched = dict(state.tasks.touched)
    for key in touched:
        journal.drop(state.tasks.touched, key)
    plugins, conf = PLUGINS.joined(state.profile.plugins), state.profile.conf
    if answers.last is not None and _is_calm(state, now_ms):
        done = rounds.look(around, conf, plugins, answers.last, sorted(touched))
    else:
        done = rounds.run(around, conf, plugins, ways.of(state.profile.name), touched)
    journal.swap(answers, "last", done)
    journal.swap(answers, "wake_ms", done.wake_ms)
    journal.swap(answers, "promised", done.promised)
    journal.swap(answers, "reserved", done.outcome.reserved)
    if any(not by for _, by in done.outcome.evictions):
        journal.swap(answers, "cleared_ms", now_ms)
    evictions = [EvictPod(uid, by) for uid, by in done.outcome.evictions]
    binds = [Bind(uid, node, done.outcome.devices.get(uid, ())) for uid, node in done.outcome.binds]
    for eviction in evictions:
        state.assume(eviction)
    seating.assume(state, binds)
    decided: list[Decision] = [*evictions, *binds]
    for bind in between.binds if between is not None else ():
        state.assume(bind)
        decided.append(bind)
    for key in sorted({**touched, **state.tasks.touched, **state.tasks.waiting, **state.tasks.outside}):
        if key in state.tasks.jobs:
            decided += _told(state, state.tasks.jobs[key], done)
    if decided and not _is_settled(state, decided, around):
        answers.stir()
    return decided


def _is_settled(state: State, decided: Sequence[Decision], around: Surroundings) -> bool:
    """Would another session say the same? Where all that was decided is words to gangs and pods, and what was kept for gangs, or
    promised to them, still is: phases are looked at by who lets gangs in, first of all actions, and by nobody's plug-in but
    Kumi's own."""
    answers = state.answers
    if answers.reserved != around.reserved or answers.promised != around.promised:
        return False
    if state.profile.plugins or state.tasks.outside:
        return False
    actions = state.profile.conf.actions
    if "enqueue" in actions and actions[0] != "enqueue":
        return False
    return all(isinstance(one, GangPhase | Unplaced) for one in decided)


def held_back(state: State) -> AbstractContextManager[dict[tuple[int, int], int]]:
    """Inside, places that are promised, to gangs and to pods on their own, count as used, as far as no pod leaves them. Gives
    what is promised, by (line, row)."""
    return _held_back(state) if state.answers.promised or state.nominations.node_of else nullcontext({})


@contextmanager
def _held_back(state: State) -> Iterator[dict[tuple[int, int], int]]:
    charged: list[tuple[int, int, int]] = []
    lent: list[str] = []
    wanted: dict[tuple[int, int], int] = {}
    nodes = state.nodes
    for uid, name in sorted({**state.answers.promised, **state.nominations.node_of}.items()):
        row, pod = nodes.row_by_name.get(name), state.pods.by_uid.get(uid)
        if row is None or pod is None or uid in state.pods.node_of:
            continue
        for line, amount in nodes.asked(pod.shape.requests):
            wanted[line, row] = wanted.get((line, row), 0) + amount
        if devices := nodes.devices.choose(pod.shape, row):
            nodes.devices.seat(lent_holder(uid), pod.shape, row, devices)
            lent.append(lent_holder(uid))
    for (line, row), amount in sorted(wanted.items()):
        if (more := amount - int(nodes.releasing[line, row])) > 0:
            charged.append((line, row, more))
            nodes.stir(row)
            state.journal.add(nodes.used, (line, row), more)
    yield wanted
    for line, row, more in charged:
        nodes.stir(row)
        state.journal.add(nodes.used, (line, row), -more)
    for holder in lent:
        nodes.devices.unseat(holder)


def _is_calm(state: State, now_ms: int) -> bool:
    """Does nobody wait for anything? Then only phases can be new."""
    answers, tasks = state.answers, state.tasks
    if tasks.waiting or "shuffle" in state.profile.conf.actions:
        return False
    if answers.wake_ms is not None and answers.wake_ms <= now_ms:
        return False
    return not tasks.outside


def _is_due(state: State, now_ms: int) -> bool:
    answers = state.answers
    if not (state.tasks.jobs or answers.reserved or answers.promised or answers.wake_ms is not None):
        return False
    timed = answers.wake_ms is not None and answers.wake_ms <= now_ms
    return answers.due or timed or answers.nodes_seen != state.nodes.changed


def _told(state: State, job: Job, done: Round) -> list[Decision]:
    """What there is to say of a gang that it hasn't been told."""
    if job.group is None:
        return _unplaced(state, job, (Reason(Code.NO_POD_GROUP, where=job.key),))
    said, before = _standing(state, job, done), state.answers.told.get(job.key)
    if before is not None and _is_same_line(before.reasons, said.reasons):
        said = replace(said, reasons=before.reasons)
    decided = _unplaced(state, job, said.reasons)
    if before is None or _news(before) != _news(said):
        state.assume(said)
        decided.append(said)
    return decided


def _is_same_line(before: tuple[Reason, ...], now: tuple[Reason, ...]) -> bool:
    """Does the line hold it back as before? Who is ahead is another one soon, and is told as it was then."""
    codes = [reasons[0].code for reasons in (before, now) if reasons]
    return len(codes) == 2 and codes[0] is codes[1] and codes[0] in (Code.BEHIND, Code.WOULD_DELAY)


def _standing(state: State, job: Job, done: Round) -> GangPhase:
    """How the gang stands now."""
    assert job.group is not None
    if state.tasks.is_past(job):
        return _past(state, job)
    counts = (job.count(Status.RUNNING), job.count(Status.SUCCEEDED), job.count(Status.FAILED))
    phase = done.phases.get(job.key)
    if phase is None:
        queue = job.group.queue
        phase = Phase.PENDING if job.group.phase is Phase.NEW else job.group.phase
        return GangPhase(job.key, phase, *counts, (Reason(Code.NO_QUEUE, where=queue),))
    return GangPhase(job.key, phase, *counts, done.reasons.get(job.key, ()))


def _past(state: State, job: Job) -> GangPhase:
    assert job.group is not None
    pods = [state.pods.by_uid[uid] for uid in state.tasks.admitted.get(job.key, ())]
    counts = dict.fromkeys(Status, 0)
    leaving = 0
    for pod in pods:
        node = state.pods.node_of.get(pod.uid, "")
        status = status_of(pod, node)
        counts[status] += 1
        leaving += status is Status.RELEASING and bool(node)
    ended = counts[Status.SUCCEEDED] + counts[Status.FAILED]
    scheduled = counts[Status.BOUND] + counts[Status.RUNNING] + ended + leaving
    phase = of_counts(scheduled, ended, job.group.least, Phase.INQUEUE)
    return GangPhase(job.key, phase, counts[Status.RUNNING], counts[Status.SUCCEEDED], counts[Status.FAILED])


def _unplaced(state: State, job: Job, reasons: tuple[Reason, ...]) -> list[Decision]:
    """The gang's pods that wait are told."""
    if not reasons:
        return []
    decided: list[Decision] = []
    kinds = _kinds(reasons)
    if job.told == (job.stamp, kinds):
        return []
    if not state.answers.promised:
        state.journal.swap(job, "told", (job.stamp, kinds))
    for uid in sorted(job.by_status.get(Status.PENDING, ())):
        pod = state.tasks.pods[uid]
        if not waits(pod) or uid in state.answers.promised or _kinds(state.refusals.get(uid, ())) == kinds:
            continue
        state.journal.put(state.refusals, uid, reasons)
        decided.append(Unplaced(uid, reasons))
    return decided


def _kinds(reasons: tuple[Reason, ...]) -> tuple[tuple[Code, str, str], ...]:
    return tuple((r.code, r.resource, r.where) for r in reasons)


def _news(said: GangPhase) -> tuple[object, ...]:
    return (said.phase, said.running, said.succeeded, said.failed, said.reasons[:1], _kinds(said.reasons))
