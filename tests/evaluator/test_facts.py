"""What the columns say of a run as a whole."""

from __future__ import annotations

from kumi.evaluator.model import Role
from tests.evaluator.told import GPU, Told, ms, shape, small


def test_a_run_is_from_the_first_arrival_to_the_last_thing_that_happens_to_a_job() -> None:
    told = Told()
    told.node("n1")
    job = told.job("a", 5, runs=10)
    told.start(job, 6, "n1")
    told.end(job, 16)
    told.node_goes("n1", 99)
    facts = told.close(100)
    assert (facts.begin_ms, facts.end_ms, facts.closed_ms) == (ms(5), ms(16), ms(100))


def test_a_run_without_jobs_begins_and_ends_when_it_is_closed() -> None:
    facts = Told().close(7)
    assert (facts.begin_ms, facts.end_ms) == (ms(7), ms(7))


def test_only_resources_that_are_asked_for_and_are_there_count() -> None:
    told = Told()
    told.node("n1", gpus=0, cpu=4)
    told.job("a", 0, shape=shape(1, cpu=1))
    assert told.close(0).asked == ("cpu",)


def test_a_job_asks_for_what_all_of_its_pods_do() -> None:
    told = Told()
    told.job("a", 0, roles=(Role("chief", 1, shape(1)), Role("worker", 3, shape(2))))
    facts = told.close(0)
    assert facts.of_kinds(GPU).tolist() == [7000]
    assert facts.kinds[0].pods == 4


def test_jobs_are_known_by_their_keys_and_by_how_they_ended() -> None:
    jobs = small().facts.jobs
    assert [jobs.key(row) for row in range(len(jobs))] == [
        "default/first",
        "default/second",
        "default/giant",
        "default/third",
    ]
    assert jobs.started.tolist() == jobs.finished.tolist() == [True, True, False, True]
