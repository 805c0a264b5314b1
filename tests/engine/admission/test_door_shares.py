"""Door shares: what the workloads of a LocalQueue hold."""

from __future__ import annotations

from kumi.engine.admission import cycle
from kumi.engine.admission.door_shares import DoorShares
from kumi.engine.admission.quota import Quotas
from kumi.engine.decisions import Admit
from kumi.engine.journal import Journal
from kumi.engine.model import Namespace, Profile, Put, Quota, Workload
from kumi.engine.settings import QueueOrder, Settings
from kumi.engine.state import State
from kumi.testing.builders import door, flavor, queue, workload


def test_a_share_is_of_the_quota_of_the_whole_tree_and_of_all_flavors() -> None:
    quotas = Quotas(Journal())
    quotas.set("cohort", {("spot", "cpu"): Quota(2)}, "")
    quotas.set("cq", {("spot", "cpu"): Quota(4), ("owned", "cpu"): Quota(2), ("owned", "gpu"): Quota(4)}, "cohort")
    shares = DoorShares(Journal(), quotas)
    shares.hold("a", "ns/one", {("spot", "cpu"): 1, ("owned", "cpu"): 1})
    shares.hold("b", "ns/one", {("owned", "gpu"): 3})
    shares.hold("c", "ns/two", {("owned", "disk"): 1})
    assert [shares.share(name, "cq") for name in ("ns/one", "ns/two", "ns/three")] == [0.75, 1.0, 0.0]
    shares.hold("b", "ns/two", {("owned", "gpu"): 1})
    assert shares.share("ns/one", "cq") == 0.25
    for name in "abc":
        shares.forget(name)
    assert (shares.held, shares.of_workload) == ({}, {})


def admitted(state: State) -> list[str]:
    """Who is admitted, one after the other, while the rest waits."""
    order: list[str] = []
    for _ in range(20):
        said = [d for d in cycle.decide(state, 0) if isinstance(d, Admit)]
        for one in said:
            state.settle(one, True)
        order += [one.workload for one in said]
    return order


def of(tenant: str, number: int, **fields: object) -> Workload:
    key = f"{tenant}/{number}"
    return workload(key, created_ms=number, cpu=1, queue=f"{tenant}/lq", **fields)


def test_local_queues_of_equal_priority_take_turns_by_what_they_hold() -> None:
    state = State(Profile(settings=Settings(order=QueueOrder.FAIR), places=False))
    for noun in (flavor(), queue("cq", {"default": {"cpu": 4}}), door("a/lq", "cq"), door("b/lq", "cq")):
        state.apply(Put(noun))
    for name in "ab":
        state.apply(Put(Namespace(name)))
    for one in (of("a", 1), of("a", 2), of("a", 3), of("b", 4), of("b", 5)):
        state.apply(Put(one))
    for number in (8, 9):
        state.apply(Put(of("a", number, priority=1)))
    assert admitted(state) == ["a/8", "a/9", "b/4", "b/5"]
    state.apply(Put(of("a", 9, priority=1, finished=True)))
    assert admitted(state) == ["a/1"]
