"""Loads of another shape."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import KumiError
from kumi.engine.model import Node, NodeUsage, PodShape, Put, Remove, VolumeLimits
from kumi.evaluator import reshape
from kumi.evaluator.model import START_MS, Arrive, Cancel, Change, Event, Job, Load, Role, Via
from kumi.evaluator.traces import openb
from kumi.testing.builders import node

SHARED = Path(__file__).parents[2].parent / "shared" / "traces"
GPU = reshape.GPU


def job(number: int, gpus: int = 1, at_s: int = 0) -> Job:
    shape = PodShape((("cpu", 1000), (GPU, gpus * 1000)) if gpus else (("cpu", 1000),))
    at_ms = START_MS + at_s * 1000
    return Job(f"ns/j{number}", at_ms, (Role("main", 1, shape),), 60_000, said_ms=60_000, deadline_ms=at_ms + 90_000)


class Listed:
    """Events that are there."""

    def __init__(self, events: list[Event]) -> None:
        self.given = events

    def events(self) -> list[Event]:
        return self.given


def load(events: list[Event], *nodes: Node) -> Load:
    return Load("made", nodes, Listed(events).events, size=len(events))  # type: ignore[arg-type]


def gpu_node(name: str, gpus: int = 0, cpus: int = 8) -> Node:
    offers = {"cpu": cpus * 1000, "pods": 110_000} | ({GPU: gpus * 1000} if gpus else {})
    return Node(name, (("kubernetes.io/hostname", name),), tuple(sorted(offers.items())))


def jobs_of(made: Load) -> list[Job]:
    return [event.job for event in made.events() if isinstance(event, Arrive)]


def names(made: Load) -> list[str]:
    return [noun.name for noun in made.setting if isinstance(noun, Node)]


kinds = st.lists(st.sampled_from([0, 1, 8]), min_size=1, max_size=40)


@given(kinds, st.floats(0.01, 1), st.none() | st.integers(0, 9))
def test_each_kind_of_node_keeps_its_share_up_to_one(gpus: list[int], keep: float, seed: int | None) -> None:
    made = reshape.scale_nodes(load([], *(gpu_node(f"n{i}", g) for i, g in enumerate(gpus))), keep, seed)
    kept = Counter(gpus[int(name[1:])] for name in names(made))
    wanted = max(1, round(keep * len(gpus)))
    assert kept.total() == wanted
    for kind, count in Counter(gpus).items():
        assert abs(kept[kind] - Fraction(count * wanted, len(gpus))) < 1
    assert names(made) == [f"n{i}" for i in range(len(gpus)) if f"n{i}" in names(made)], "in their order"


def test_a_count_of_nodes_is_kept_as_such() -> None:
    nodes = [gpu_node(f"n{i}") for i in range(10)]
    assert names(reshape.scale_nodes(load([], *nodes), 3)) == ["n1", "n5", "n8"]
    assert len(names(reshape.scale_nodes(load([], *nodes), 0.01))) == 1


@pytest.mark.parametrize("keep", [0, -1, 4, 0.0, 1.5, -0.2])
def test_an_amount_of_nodes_that_can_not_be_is_told(keep: float) -> None:
    with pytest.raises(KumiError, match="of 3 nodes"):
        reshape.scale_nodes(load([], *(gpu_node(f"n{i}") for i in range(3))), keep)


@pytest.mark.parametrize(("text", "means"), [("1%", 0.01), ("0.25", 0.25), ("15", 15), ("1e-2", 0.01), ("100%", 1.0)])
def test_amounts_of_nodes_are_read_as_people_write_them(text: str, means: float) -> None:
    assert reshape.part(text) == means
    assert isinstance(reshape.part(text), type(means))


def test_what_says_nothing_of_nodes_is_told() -> None:
    with pytest.raises(KumiError, match="'many' says nothing of nodes"):
        reshape.part("many")


def test_what_is_said_of_a_node_goes_with_it() -> None:
    events: list[Event] = [
        Change(START_MS, (Put(gpu_node("a")), Remove(Node, "b"))),
        Change(START_MS + 1, (Put(NodeUsage("b", cpu=50.0)),)),
        Change(START_MS + 2, (Put(VolumeLimits("b")), Remove(VolumeLimits, "b"))),
    ]
    made = reshape.gpu_nodes(load(events, gpu_node("a", 1), gpu_node("b")))
    assert names(made) == ["a"]
    assert list(made.events()) == [Change(START_MS, (Put(gpu_node("a")),))]


@given(st.lists(st.integers(0, 10_000), max_size=20), st.floats(0.1, 1000))
def test_compressed_arrivals_keep_their_order_and_jobs_their_length(times: list[int], factor: float) -> None:
    before = [job(i, at_s=at) for i, at in enumerate(sorted(times))]
    after = jobs_of(reshape.compress_time(load([Arrive(j) for j in before]), factor))
    for old, new in zip(before, after, strict=True):
        assert abs((new.arrives_ms - START_MS) * factor - (old.arrives_ms - START_MS)) <= factor / 2 + 1e-3
        assert new.runs_ms == old.runs_ms
        assert new.deadline_ms == new.arrives_ms + 90_000
    assert [j.arrives_ms for j in after] == sorted(j.arrives_ms for j in after)


def test_everything_else_comes_faster_as_well() -> None:
    events: list[Event] = [Change(START_MS + 1000, ()), Cancel(START_MS + 5000, "ns/j0")]
    assert [e.at_ms - START_MS for e in reshape.compress_time(load(events), 10).events()] == [100, 500]
    with pytest.raises(KumiError, match="can't be compressed by 0"):
        reshape.compress_time(load(events), 0)


def test_what_else_a_job_says_stays() -> None:
    full = Job(
        *("ns/j", START_MS, (Role("a", 2, PodShape(((GPU, 1),))),), 1, Via.GANG, "q", 1, "t", 5, 2, START_MS + 3, 4),
        labels=(("a", "b"),),
        renews=True,
        kind="PyTorchJob",
    )
    assert all(getattr(full, field.name) != field.default for field in fields(Job)), "no field is left out here"
    (moved,) = reshape.compress_time(load([Arrive(full)]), 1).events()
    assert moved == Arrive(full)


def test_without_departures_jobs_never_end_and_still_say_what_they_said() -> None:
    made = reshape.no_departures(load([Arrive(job(0)), Cancel(START_MS + 9, "ns/j0")]))
    assert list(made.events()) == [Arrive(replace(job(0), runs_ms=None))]


@given(st.integers(0, 30), st.integers(0, 5))
def test_a_sample_has_so_many_of_the_jobs_in_their_order(count: int, seed: int) -> None:
    events: list[Event] = [Arrive(job(i, at_s=i)) for i in range(30)]
    events.append(Cancel(START_MS + 60_000, "ns/j7"))
    made = reshape.sample(load(events), count, seed)
    keys = [j.key for j in jobs_of(made)]
    assert len(keys) == len(set(keys)) == count
    assert keys == sorted(keys, key=lambda key: int(key[4:]))
    assert any(isinstance(e, Cancel) for e in made.events()) == ("ns/j7" in keys)
    assert list(made.events()) == list(made.events())


def test_more_than_there_is_can_not_be_drawn() -> None:
    with pytest.raises(KumiError, match="can't draw 2 of 1 jobs"):
        list(reshape.sample(load([Arrive(job(0))]), 2, 0).events())


@given(st.lists(st.integers(0, 4), min_size=1, max_size=20).filter(any), st.floats(0.1, 3), st.integers(0, 5))
def test_an_inflated_load_asks_for_just_enough(gpus: list[int], ratio: float, seed: int) -> None:
    given_load = load([Arrive(job(i, g, at_s=3 * i)) for i, g in enumerate(gpus)], gpu_node("a", 8), gpu_node("b", 2))
    made = jobs_of(reshape.inflate(given_load, ratio, seed))
    asked = [dict(j.roles[0].shape.requests).get(GPU, 0) for j in made]
    assert sum(asked) >= ratio * 10_000 > sum(asked[:-1])
    assert len({j.key for j in made}) == len(made)
    assert [j.arrives_ms for j in made] == [START_MS + 1000 * i for i in range(len(made))]
    assert all(j.deadline_ms == j.arrives_ms + 90_000 for j in made)
    first = Counter(j.key for j in made[: len(gpus)])
    assert all(key in {f"ns/j{i}" for i in range(len(gpus))} for key in first), "all once, before any again"


def test_equal_seeds_give_equal_loads_and_others_others() -> None:
    given_load = load([Arrive(job(i)) for i in range(50)], gpu_node("a", 60))
    keys = [[j.key for j in jobs_of(reshape.inflate(given_load, 1, seed))] for seed in (1, 1, 2)]
    assert keys[0] == keys[1] != keys[2]


def test_a_new_key_is_nobody_elses() -> None:
    one, other = job(0), replace(job(1), key="ns/j0-2")
    made = jobs_of(reshape.inflate(load([Arrive(one), Arrive(other)], gpu_node("a", 9)), 1, 0))
    assert len({j.key for j in made}) == len(made) == 9


def test_without_gpus_cpus_are_counted() -> None:
    made = jobs_of(reshape.inflate(load([Arrive(job(0, 0))], gpu_node("a", cpus=3)), 2, 0))
    assert len(made) == 6


def test_what_can_not_be_inflated_is_told() -> None:
    with pytest.raises(KumiError, match="no job of made asks for any nvidia"):
        list(reshape.inflate(load([Arrive(job(0, 0))], gpu_node("a", 1)), 1, 0).events())
    with pytest.raises(KumiError, match="no node of made has any"):
        list(reshape.inflate(load([Arrive(job(0))]), 1, 0).events())
    with pytest.raises(KumiError, match="inflated to 0"):
        reshape.inflate(load([]), 0, 0)


def test_who_waits_is_dropped_before_the_next_comes() -> None:
    events: list[Event] = [
        Arrive(job(0)),
        Arrive(job(1)),
        Change(START_MS + 1, (Put(node("n")),)),
        Arrive(job(2, at_s=1)),
    ]
    made = list(reshape.drop_waiting(load(events)).events())
    gone = [Cancel(START_MS + 1, f"ns/j{i}", only_waiting=True) for i in range(2)]
    assert made == [*events[:3], *gone, events[3], Cancel(START_MS + 1001, "ns/j2", only_waiting=True)]


def test_events_come_by_time_and_a_cancel_before_an_arrival_of_its_instant() -> None:
    close = replace(job(1), arrives_ms=START_MS + 1)
    made = list(reshape.drop_waiting(load([Arrive(job(0)), Arrive(close)])).events())
    assert [type(event).__name__ for event in made] == ["Arrive", "Cancel", "Arrive", "Cancel"]


@pytest.mark.parametrize(
    "how",
    [
        lambda made: reshape.scale_nodes(made, 1),
        reshape.gpu_nodes,
        lambda made: reshape.compress_time(made, 2),
        reshape.no_departures,
        lambda made: reshape.sample(made, 1, 0),
        lambda made: reshape.resample(made, 0),
        lambda made: reshape.inflate(made, 1, 0),
        reshape.drop_waiting,
    ],
)
def test_a_reshaped_load_is_no_longer_as_it_was_written(how: Callable[[Load], Load]) -> None:
    made = replace(load([Arrive(job(0))], gpu_node("a", 1)), written=lambda: iter(()))
    assert how(made).written is None


@pytest.mark.skipif(not SHARED.is_dir(), reason="not run: the shared trace is not here")
def test_the_packing_run_of_the_paper_has_its_nodes_and_about_its_tasks() -> None:
    trace = openb.read(SHARED / "openb_node_list_all_node.csv", SHARED / "openb_pod_list_default.csv")
    made = reshape.packing(trace, 1.3, 42)
    found = jobs_of(made)
    assert len(names(made)) == 1213
    assert 10_000 < len(found) < 11_500
    assert all(j.runs_ms is None for j in found)
    assert pickle.loads(pickle.dumps(made)).setting == made.setting
    scaled = reshape.scale_nodes(trace, 0.01)
    assert len(names(scaled)) == 15


@given(kinds, st.integers(0, 5))
def test_a_resampled_load_has_jobs_of_the_load_at_the_times_of_the_load(gpus: list[int], seed: int) -> None:
    given_jobs = [job(n, gpus=g, at_s=3 * n) for n, g in enumerate(gpus)]
    made = load([Arrive(one) for one in given_jobs])
    found = jobs_of(reshape.resample(made, seed))
    assert [one.arrives_ms for one in found] == [one.arrives_ms for one in given_jobs]
    assert len({one.key for one in found}) == len(found)
    kinds_of = {one.roles for one in given_jobs}
    assert all(one.roles in kinds_of and one.deadline_ms == one.arrives_ms + 90_000 for one in found)
    assert found == jobs_of(reshape.resample(made, seed))


def test_another_seed_draws_other_jobs_and_some_twice() -> None:
    made = load([Arrive(job(n, at_s=n)) for n in range(50)])
    one, other = ([each.key for each in jobs_of(reshape.resample(made, seed))] for seed in (1, 2))
    assert one != other
    assert len({key.partition("-")[0] for key in one}) < 50


def test_resampling_leaves_changes_where_they_are_and_cancels_out() -> None:
    change = Change(START_MS + 500, (Remove(Node, "n"),))
    made = load([Arrive(job(0)), change, Cancel(START_MS + 700, "ns/j0"), Arrive(job(1, at_s=1))])
    kinds_of = [type(event) for event in reshape.resample(made, 0).events()]
    assert kinds_of == [Arrive, Change, Arrive]
    assert list(reshape.resample(load([change]), 0).events()) == [change]


@pytest.mark.parametrize("much", [float("inf"), float("nan"), 0.0])
def test_no_load_is_reshaped_without_end(much: float) -> None:
    made = load([Arrive(job(1))], node("n"))
    with pytest.raises(KumiError, match="write a part above 0"):
        reshape.inflate(made, much, 1)
    with pytest.raises(KumiError, match="write a factor above 0"):
        reshape.compress_time(made, much)
