"""What annotations say of the time that jobs take."""

from __future__ import annotations

import pytest

from kumi.api.meta import ObjectMeta
from kumi.api.wire import JsonObject
from kumi.evaluator.said import CHECKPOINT, FOREVER, RUNS, Said, faults, said, text, with_words


def test_any_prefix_says_how_long_it_takes_and_that_is_true_where_nothing_else_is_said() -> None:
    found = said([ObjectMeta(), ObjectMeta(annotations={"example.com/execution-duration": "1h"})])
    assert found == Said(runs_ms=3_600_000, said_ms=3_600_000)


def test_the_truth_can_be_another() -> None:
    words = {"kumi.dev/execution-duration": "60", RUNS: "90s", CHECKPOINT: "10s"}
    assert said([ObjectMeta(annotations=words)]) == Said(90_000, 60_000, None, 10_000)
    assert said([ObjectMeta(annotations={**words, RUNS: FOREVER})]).runs_ms is None


def test_the_first_that_says_anything_counts() -> None:
    first = ObjectMeta(annotations={RUNS: "1s"})
    second = ObjectMeta(annotations={RUNS: "2s", "a/execution-duration": "3s"})
    assert said([first, second]) == Said(1000, 3000)


def test_a_deadline_counts_from_the_creation() -> None:
    words = {"example.com/deadline-duration": "2h"}
    assert said([ObjectMeta(creation_timestamp="1970-01-01T01:00:00Z", annotations=words)]).deadline_ms == 3 * 3_600_000


@pytest.mark.parametrize("ms", [1, 999, 1000, 3_600_000, 90_500])
def test_a_length_is_read_as_it_was_written(ms: int) -> None:
    assert said([ObjectMeta(annotations={RUNS: text(ms)})]).runs_ms == ms


def test_words_stand_on_the_object_and_on_all_its_templates() -> None:
    job = {"metadata": {"name": "j"}, "spec": {"template": {"spec": {}}}}
    made = with_words(job, {"a": "b"})
    assert made["metadata"]["annotations"] == made["spec"]["template"]["metadata"]["annotations"] == {"a": "b"}
    assert job == {"metadata": {"name": "j"}, "spec": {"template": {"spec": {}}}}, "the object itself is as it was"
    training: JsonObject = {"metadata": {}, "spec": {"pytorchReplicaSpecs": {"Master": {"template": {"spec": {}}}}}}
    master = with_words(training, {"a": "b"})["spec"]["pytorchReplicaSpecs"]["Master"]
    assert master["template"]["metadata"]["annotations"] == {"a": "b"}
    workload: JsonObject = {"metadata": {}, "spec": {"podSets": [{"template": {"spec": {}}}]}}
    assert with_words(workload, {"a": "b"})["spec"]["podSets"][0]["template"]["metadata"]["annotations"] == {"a": "b"}


@pytest.mark.parametrize(
    ("key", "value", "wrong"),
    [
        ("example.com/execution-duration", "soon", "no length of time above 0"),
        ("example.com/deadline-duration", "0s", "no length of time above 0"),
        (RUNS, "-1h", "no length of time above 0"),
        (CHECKPOINT, FOREVER, "no length of time above 0"),
        ("kumi.dev/deadline", "tomorrow", "no time"),
        (RUNS, FOREVER, ""),
        (RUNS, "2d", ""),
        ("example.com/execution-duration", "1d12h", ""),
        ("example.com/execution-duration", "1h30m", ""),
        ("kumi.dev/deadline", "2026-01-01T00:00:00Z", ""),
        ("example.com/note", "soon", ""),
    ],
)
def test_words_that_cannot_be_read_are_told_wherever_they_stand(key: str, value: str, wrong: str) -> None:
    for made in (
        {"metadata": {"annotations": {key: value}}},
        {"spec": {"template": {"metadata": {"annotations": {key: value}}}}},
    ):
        told = list(faults(made))
        assert [key in each and wrong in each for each in told] == ([True] if wrong else [])


@pytest.mark.parametrize("name", ["execution-duration", "deadline-duration"])
def test_words_of_two_prefixes_must_say_the_same(name: str) -> None:
    odd = {"a.org/" + name: "1h", "kumi.dev/" + name: "2h"}
    (told,) = faults({"spec": {"template": {"metadata": {"annotations": odd}}}})
    assert (
        told == f"the annotations a.org/{name} (1h) and kumi.dev/{name} (2h) say different lengths: leave one of them"
    )
    assert not list(faults({"metadata": {"annotations": {"a.org/" + name: "1h", "kumi.dev/" + name: "60m"}}}))
