from __future__ import annotations

from kumi.api.kueue import LocalQueue
from kumi.api.wire import JsonObject
from kumi.controllers import own_deciders
from kumi.controllers.past_usage import PastUsageStatus
from kumi.engine.model import LocalQueue as Door
from kumi.engine.model import Profile, Put
from kumi.engine.settings import Settings, UsageSharing
from kumi.engine.state import State
from kumi.runtime.decider import Batch
from kumi.runtime.reconcile import Patch

from .made import NOW_MS, at, local_queue
from .made import views as made

SHARING = UsageSharing(half_life_ms=60_000, sampling_ms=300_000)


def table(settings: UsageSharing | None = SHARING) -> tuple[State, PastUsageStatus]:
    state = State(Profile(settings=Settings(by_usage=settings)))
    (queue,) = made(local_queue())
    decider = PastUsageStatus(state)
    decider.apply(LocalQueue, queue.key, None, queue)
    return state, decider


def used(state: State, cores: float, seconds: float = 0) -> None:
    consumed = (("cpu", cores), ("memory", 1024.0))
    state.apply(Put(Door("team/lq", "gpus", consumed=consumed, consumed_ms=NOW_MS + int(seconds * 1000))))


def said(batch: Batch) -> JsonObject:
    (step,) = batch.steps
    (patch,) = step.writes
    assert isinstance(patch, Patch)
    assert isinstance(patch.body, dict)
    status: JsonObject = patch.body["status"]["fairSharing"]["admissionFairSharingStatus"]
    return status


def test_what_was_used_is_written_in_whole_units() -> None:
    state, decider = table()
    used(state, 1.5)
    assert said(decider.decide(NOW_MS)) == {
        "consumedResources": {"cpu": "1500m", "memory": "1024"},
        "lastUpdate": at(0),
    }


def test_once_in_a_sampling_period() -> None:
    state, decider = table()
    used(state, 1.5)
    decider.decide(NOW_MS)
    used(state, 2, seconds=10)
    batch = decider.decide(NOW_MS + 10_000)
    assert (batch.steps, batch.wake_at_ms) == ((), NOW_MS + 300_000)
    used(state, 2, seconds=301)
    assert said(decider.decide(NOW_MS + 301_000))["consumedResources"]["cpu"] == "2"


def test_a_refused_write_is_made_again() -> None:
    state, decider = table()
    used(state, 1)
    (step,) = decider.decide(NOW_MS).steps
    decider.settle(step.token, False, "conflict")
    assert len(decider.decide(NOW_MS + 1).steps) == 1


def test_a_queue_that_is_gone_and_one_that_nobody_used_are_left_alone() -> None:
    state, decider = table()
    assert decider.decide(NOW_MS).steps == ()
    used(state, 1)
    (queue,) = made(local_queue())
    decider.apply(LocalQueue, queue.key, queue, None)
    assert decider.decide(NOW_MS).steps == ()


def test_it_runs_where_past_usage_counts() -> None:
    _, decider = table(None)
    assert decider.decide(NOW_MS).steps == ()
    counts = Profile(settings=Settings(by_usage=SHARING))
    assert "kumi-past-usage" in [d.name for d in own_deciders(counts)[0]()]
    assert "kumi-past-usage" not in [d.name for d in own_deciders()[0]()]
