import pytest

from kumi.engine.model import AdmissionCheck, CheckRule, Namespace, Profile, StopPolicy
from kumi.evaluator.model import Policy, Via
from kumi.testing.builders import door, flavor, node, queue
from tests.evaluator.stories import job, load, play


def why(setting, one, policy=None):
    return play(load(setting, [one]), policy).waiting["team/a"]


def test_a_pod_says_what_its_nodes_said():
    assert "2 nvidia.com/gpu" in why([node("n", gpu=1)], job("a", gpu=2))
    assert "no node" in why([], job("a", gpu=2)).lower()


def test_a_job_of_pods_says_how_many_have_a_node():
    said = why([node("n", gpu=1)], job("a", pods=2, gpu=1))
    assert said.startswith("1 of its 2 pods have a node. ")


def test_a_gang_says_what_it_was_told():
    assert "1 of the 2 pods that start together fit" in why([node("n", gpu=1)], job("a", pods=2, gpu=1, via=Via.GANG))


def test_a_pod_that_nobody_places_says_so():
    assert "leaves placement" in why([node("n", gpu=1)], job("a", gpu=1), Policy("none", Profile(places=False)))


def queues(**fields):
    return [Namespace("team"), flavor(), queue("cq", {"default": {"gpu": 1}}, **fields), door("team/lq", "cq")]


QUEUED = job("a", gpu=1, via=Via.WORKLOAD, queue="lq")


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ([], "LocalQueue team/lq does not exist"),
        (queues(), "no node"),
        (queues(stop=StopPolicy.HOLD), "stopped by its stopPolicy"),
    ],
)
def test_a_workload_says_its_decision_record(setting, said):
    assert said in why(setting, QUEUED)


def test_an_admitted_workload_that_nobody_answers_for_says_so():
    setting = [*queues(checks=(CheckRule("budget"),)), AdmissionCheck("budget", "somebody"), node("n", gpu=1)]
    assert why(setting, QUEUED) == "It has its quota, and waits for admission checks that nobody answers."


def test_who_still_runs_says_whether_it_ever_ends():
    assert why([node("n", gpu=1)], job("a", gpu=1, runs_ms=None)).startswith("It runs until it is deleted")
