"""Random small loads, for hypothesis: jobs of all three kinds on a few nodes that fail and come back, and queues that borrow."""

from __future__ import annotations

from hypothesis import strategies as st

from kumi.engine.gangs import PriorityClass
from kumi.engine.model import (
    Cohort,
    Evictable,
    LocalQueue,
    Namespace,
    Node,
    Noun,
    Preemption,
    Profile,
    Put,
    Remove,
    Strategy,
    Taint,
)
from kumi.engine.settings import Discipline, QueueOrder, Settings
from kumi.evaluator.model import START_MS, Arrive, Cancel, Change, Event, Job, Load, Policy, Role, Via
from kumi.testing.builders import door, flavor, node, queue, shape

TENANTS = ("a", "b")
NODES = ("n0", "n1", "n2", "n3")
times = st.one_of(st.integers(0, 20).map(lambda n: n * 500), st.integers(0, 10_000))
"""many of them meet"""


@st.composite
def roles(draw: st.DrawFn) -> tuple[Role, ...]:
    """One, now and then two."""
    made = []
    for name in ("main", "worker")[: draw(st.sampled_from([1, 1, 1, 2]))]:
        asked = draw(st.sampled_from([{"gpu": 1}, {"gpu": 2}, {"gpu": 1, "cpu": 2}, {"cpu": 1}, {"gpu": 4}, {}]))
        made.append(Role(name, draw(st.sampled_from([1, 1, 2, 3])), shape(**asked)))
    return tuple(made)


@st.composite
def jobs(draw: st.DrawFn, number: int, vias: tuple[Via, ...] = tuple(Via)) -> Job:
    """What a user may submit; some of it fits nowhere."""
    asked, via = draw(roles()), draw(st.sampled_from(vias))
    pods = sum(role.count for role in asked)
    said = draw(st.sampled_from([None, 1000, 3000]))
    return Job(
        key=f"{draw(st.sampled_from(TENANTS))}/j{number}",
        arrives_ms=START_MS + draw(times),
        roles=asked,
        runs_ms=draw(st.sampled_from([0, 1, 500, 1000, 2000, 5000, 5000, None])),
        via=via,
        queue="lq" if via is Via.WORKLOAD else draw(st.sampled_from(["", "gold"])),
        least=draw(st.one_of(st.none(), st.integers(1, pods))),
        priority=draw(st.sampled_from([0, 0, 0, 1, 2])),
        said_ms=said,
        deadline_ms=draw(st.sampled_from([None, START_MS + 4000, START_MS + 12_000])),
        checkpoint_ms=draw(st.sampled_from([None, None, 300, 1000])),
    )


@st.composite
def changes(draw: st.DrawFn) -> Change:
    """A node fails, goes, drives its pods away, shrinks, is cordoned, or is as it was."""
    name = draw(st.sampled_from(NODES))
    whole = node(name, gpu=4, cpu=4)
    delta = draw(
        st.sampled_from(
            [
                Put(whole),
                Put(whole),
                Put(node(name, gpu=4, cpu=4, ready=False)),
                Put(node(name, gpu=4, cpu=4, unschedulable=True)),
                Put(node(name, gpu=4, cpu=4, taints=(Taint("spot", "", "NoExecute"),))),
                Put(node(name, gpu=1, cpu=1)),
                Remove(Node, name),
            ]
        )
    )
    return Change(START_MS + draw(times), (delta,))


@st.composite
def settings(draw: st.DrawFn) -> tuple[Noun, ...]:
    """Nodes, and two queues of one cohort."""
    policies = st.sampled_from([Evictable.NEVER, Evictable.LOWER_PRIORITY, Evictable.ANY])
    within = st.sampled_from([Evictable.NEVER, Evictable.LOWER_PRIORITY, Evictable.LOWER_OR_NEWER_EQUAL])
    made: list[Noun] = [flavor(), Cohort("all"), PriorityClass("priority1", 1)]
    made += [node(name, gpu=4, cpu=4) for name in NODES[: draw(st.integers(1, 3))]]
    for tenant in TENANTS:
        made.append(Namespace(tenant))
        made.append(
            queue(
                f"cq-{tenant}",
                {"default": {"gpu": draw(st.integers(0, 6)), "cpu": draw(st.integers(0, 6))}},
                cohort="all",
                strategy=draw(st.sampled_from(list(Strategy))),
                preemption=Preemption(draw(within), draw(policies)),
            )
        )
        made.append(door(f"{tenant}/lq", f"cq-{tenant}"))
    return tuple(draw(st.permutations(made)))


@st.composite
def loads(draw: st.DrawFn, vias: tuple[Via, ...] = tuple(Via), most: int = 8) -> Load:
    """A setting, jobs, changes, and who deletes jobs."""
    submitted = [draw(jobs(number, vias)) for number in range(draw(st.integers(1, most)))]
    events: list[Event] = [Arrive(one) for one in submitted]
    events += draw(st.lists(changes(), max_size=4))
    for one in draw(st.lists(st.sampled_from(submitted), max_size=3)):
        events.append(Cancel(START_MS + draw(times), one.key, only_waiting=draw(st.booleans())))
    events.sort(key=lambda event: event.at_ms)
    return Load("random", draw(settings()), lambda: iter(events), size=len(events))


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """A line, an order, gangs or not."""
    chosen = Settings(order=draw(st.sampled_from(QueueOrder)), line=draw(st.sampled_from(Discipline)))
    return Policy(
        "random",
        Profile(settings=chosen, arguments={"scoring": draw(st.sampled_from(["binpack", "random"]))}),
        as_gangs=draw(st.booleans()),
        nouns=draw(st.sampled_from([(), (LocalQueue("a/lq", "cq-b"), LocalQueue("b/lq", "cq-b"))])),
    )
