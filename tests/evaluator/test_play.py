"""One run of an experiment: what it gives, and how it is stopped, saved and taken up again."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kumi.api.errors import KumiError
from kumi.engine.model import Profile
from kumi.evaluator import play as played_module
from kumi.evaluator.budget import STOPPED
from kumi.evaluator.external import External
from kumi.evaluator.model import Policy
from kumi.evaluator.play import NO_JOB, NO_LIMITS, Limits, Played, Task, play, policy_of
from kumi.evaluator.sources import Given, ScenarioFile, Stated
from kumi.evaluator.watch import Progress, Silent
from tests.evaluator import tiny

FIFO = "fifo"


class After:
    """Stops a run when it has told so often."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.heard: list[Progress] = []

    def told(self, progress: Progress) -> None:
        self.heard.append(progress)

    def stopped(self) -> bool:
        return len(self.heard) >= self.times


def test_a_run_to_which_no_job_comes_says_so(task: Task, tmp_path: Path) -> None:
    assert NO_JOB not in play(task, Silent()).summary["notes"]
    (tmp_path / "tasks.csv").write_text(f"{tiny.HEAD}\n")
    assert play(task, Silent()).summary["notes"] == [NO_JOB]


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return Task(0, tiny.write(tmp_path, tasks=60), "binpack", 0)


def figures(played: Played) -> dict[str, object]:
    """Its summary without what is of this machine."""
    return {key: value for key, value in played.summary.items() if key != "run_s"}


def in_small_spells(monkeypatch: pytest.MonkeyPatch, events: int = 3) -> None:
    monkeypatch.setattr(played_module, "FIRST_EVENTS", events)
    monkeypatch.setattr(played_module, "MOST_EVENTS", events)


def test_the_summary_says_what_was_played_and_that_it_is_whole(task: Task) -> None:
    found = play(task, Silent()).summary
    assert (found["policy"], found["seed"], found["jobs"], found["finished"]) == ("binpack", 0, 60, 40)
    assert (found["partial"], found["stopped"]) == (False, "")
    assert "parameters" not in found
    assert list(found)[-1] == "more"


def test_parameters_are_in_the_summary_and_in_the_label(task: Task) -> None:
    found = play(replace(task, parameters=(("inflate", 1.3),)), Silent())
    assert found.summary["parameters"] == {"inflate": 1.3}
    assert found.label == "binpack inflate=1.3"
    assert replace(task, parameters=(("inflate", 1.3),), seed=4).name == "binpack inflate=1.3 seed 4"


def test_how_a_run_is_cut_into_spells_changes_nothing(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = figures(play(task, Silent()))
    in_small_spells(monkeypatch, 1)
    assert figures(play(task, Silent())) == whole


def test_a_run_tells_how_far_it_is(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    in_small_spells(monkeypatch)
    watch = After(10**9)
    play(task, watch)
    told = [progress.played for progress in watch.heard]
    assert told == sorted(told)
    assert watch.heard[0].expected == 120
    assert [p.virtual_ms for p in watch.heard] == sorted(p.virtual_ms for p in watch.heard)


def test_where_jobs_never_end_only_arrivals_are_expected(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    in_small_spells(monkeypatch)
    watch = After(10**9)
    play(replace(task, source=task.source.with_parameters((("no_departures", True),))), watch)
    assert {progress.expected for progress in watch.heard} == {60}


def test_a_run_that_is_stopped_has_the_figures_of_what_was_played(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    in_small_spells(monkeypatch)
    found = play(task, After(5))
    assert found.stopped == STOPPED
    assert found.summary["partial"] is True
    assert 0 < found.summary["jobs"] < 60


def test_a_budget_that_is_used_up_makes_a_run_partial(task: Task) -> None:
    found = play(replace(task, limits=Limits(virtual_ms=100_000)), Silent())
    assert found.summary["partial"] is True
    assert "virtual time" in found.summary["stopped"]
    assert found.summary["jobs"] == 11


def test_a_run_that_was_stopped_goes_on_and_comes_to_the_same(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = figures(play(task, Silent()))
    in_small_spells(monkeypatch)
    kept = replace(task, keep=str(tmp_path / "kept"), explain="task-7")
    (tmp_path / "kept").mkdir()
    stopped = play(kept, After(5))
    watch = After(10**9)
    gone_on = play(replace(kept, resume=True), watch)
    assert figures(gone_on) == whole
    assert watch.heard[0].from_played >= 15  # it didn't begin anew
    assert gone_on.run_s > stopped.run_s  # both sittings count
    assert gone_on.explained == play(replace(task, explain="task-7"), Silent()).explained


def test_without_resume_it_begins_anew(task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_small_spells(monkeypatch)
    kept = replace(task, keep=str(tmp_path))
    play(kept, After(5))
    watch = After(10**9)
    play(kept, watch)
    assert watch.heard[0].from_played == 0


def test_a_run_that_is_done_is_only_read_again(task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one_of_two = replace(task, keep=str(tmp_path), of=2, resume=True)
    first = play(one_of_two, Silent())
    monkeypatch.setattr(played_module, "_drive", lambda *_: pytest.fail("it was played again"))
    again = play(one_of_two, Silent())
    assert again.summary == first.summary
    assert again.run_s == first.run_s


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 1},
        {"policy": "spread"},
        {"explain": "task-1"},
        {"limits": Limits(virtual_ms=10_000)},
    ],
)
def test_what_was_saved_of_another_run_does_not_count(task: Task, tmp_path: Path, other: dict[str, object]) -> None:
    one_of_two = replace(task, keep=str(tmp_path), of=2, resume=True)
    play(one_of_two, Silent())
    fresh = play(replace(one_of_two, **other), Silent())
    assert figures(fresh) == figures(play(replace(task, **other), Silent()))
    assert len(list(tmp_path.glob("*.done"))) == 2


def test_what_was_saved_of_another_trace_does_not_count(task: Task, tmp_path: Path) -> None:
    one_of_two = replace(task, keep=str(tmp_path), of=2, resume=True)
    play(one_of_two, Silent())
    tiny.write(tmp_path, tasks=61)
    assert play(one_of_two, Silent()).summary["jobs"] == 61


PLUGIN = tiny.plug_in("return self")


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [("order.py", PLUGIN, PLUGIN.replace("1.0", "-1.0")), ("mine.yaml", "scoring: spread", "scoring: binpack")],
)
def test_what_was_saved_of_a_policy_or_plug_in_that_has_changed_does_not_count(
    task: Task, tmp_path: Path, name: str, before: str, after: str
) -> None:
    file = tmp_path / name
    file.write_text(before)
    kept = replace(task, policy=str(file), keep=str(tmp_path), of=2, resume=True)
    play(kept, Silent())
    file.write_text(after)
    assert figures(play(kept, Silent())) == figures(play(replace(task, policy=str(file)), Silent()))
    assert len(list(tmp_path.glob("*.done"))) == 2


def test_what_is_damaged_does_not_count(task: Task, tmp_path: Path) -> None:
    one_of_two = replace(task, keep=str(tmp_path), of=2, resume=True)
    whole = figures(play(one_of_two, Silent()))
    (done,) = tmp_path.glob("*.done")
    done.write_bytes(done.read_bytes()[:-10])
    assert figures(play(one_of_two, Silent())) == whole


def test_a_folder_that_is_not_there_stops_nobody(task: Task, tmp_path: Path) -> None:
    played = play(replace(task, keep=str(tmp_path / "elsewhere"), of=2), Silent())
    assert played.summary["jobs"] == 60


def test_a_run_without_the_job_has_nothing_to_tell_of_it(task: Task) -> None:
    assert play(replace(task, explain="task-7"), Silent()).explained
    assert play(replace(task, explain="tsak-7"), Silent()).explained == ()


def test_a_load_and_a_policy_that_are_there_are_played_as_they_are(task: Task) -> None:
    given = replace(task, source=Given(task.source.load(0)), policy=Policy("mine", Profile()))
    found = play(given, Silent())
    assert found.summary["policy"] == "mine"
    assert found.summary["finished"] == 40
    assert given.limits == NO_LIMITS


def test_stack_speed_gives_the_figures_of_engine_speed(tmp_path: Path) -> None:
    small = Task(0, tiny.write(tmp_path, tasks=9), "fewest-free", 0)
    engine, stack = (play(replace(small, speed=speed), Silent()).summary for speed in ("engine", "stack"))
    alike = ("jobs", "finished", "never_started", "makespan_s", "wait_s", "jct_s", "allocation_percent", "preemptions")
    assert {key: stack[key] for key in alike} == {key: engine[key] for key in alike}


@pytest.mark.process
def test_a_scheduler_in_another_process_is_the_policy_and_the_summary_says_that_it_is_not_exact(tmp_path: Path) -> None:
    command = f"{sys.executable} {Path(__file__).parent / 'first_fit.py'} {{kubeconfig}} first-fit"
    small = Task(0, tiny.write(tmp_path, tasks=6), "default", 0, speed="external", keep=str(tmp_path))
    found = play(replace(small, external=External(command, "first-fit")), Silent()).summary
    assert (found["policy"], found["finished"], found["never_started"]) == ("first-fit", 4, 2)
    assert found["external"]["exact"] is False
    assert not list(tmp_path.glob("*.run"))


def test_the_wrong_kind_of_policy_is_told(task: Task) -> None:
    with pytest.raises(KumiError, match="a trace states no policies"):
        policy_of(Stated(0, "mine"), task.source)


SHRINKS = """
def node(cpu):
    allocatable = {"cpu": cpu, "pods": "100"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": allocatable}}

def events(seed):
    yield "create", node("6"), 0
    meta = {"name": "p", "annotations": {"kumi.dev/run-duration": "100s"}}
    resources = {"requests": {"cpu": "6"}}
    spec = {"containers": [{"name": "c", "image": "i", "resources": resources}]}
    yield "create", {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}, 0
    yield "update", node("4"), 10
"""


def test_a_peak_beyond_all_that_there_was_is_explained(task: Task, tmp_path: Path) -> None:
    file = tmp_path / "shrinks.py"
    for text, peak, notes in ((SHRINKS, 150, 1), (SHRINKS.replace('"4"', '"7"'), 100, 0)):
        file.write_text(text)
        summary = play(replace(task, source=ScenarioFile(str(file))), Silent()).summary
        assert summary["allocation_percent"]["cpu"]["peak"] == peak
        assert [note.startswith("pods held more than 100 % of cpu at the peak") for note in summary["notes"]] == [
            True
        ] * notes
