"""What of the free GPUs is of no use: by size, by other resources, by model, and as nodes come and go."""

from __future__ import annotations

import pytest

from kumi.engine.model import Requirement
from kumi.evaluator.fragmentation import Fragmentation, fragmentation
from tests.evaluator.told import MODEL, Told, shape


def at_end(told: Told, end: float = 10) -> Fragmentation:
    return fragmentation(told.close(end), points=4)


def test_a_free_gpu_is_of_no_use_to_those_who_want_two() -> None:
    told = Told()
    told.node("n1", gpus=8)
    told.start(told.job("a", 0, gpus=7, runs=None), 0, "n1")
    for number in range(3):
        told.job(f"two-{number}", 10, gpus=2)
    found = at_end(told)
    # one GPU is free: no use to a pod of 7 (1 of 4 pods) nor to those of 2 (3 of 4)
    assert found.percent[-1] == pytest.approx(100)


def test_it_counts_for_as_much_as_there_are_pods_that_it_does_not_serve() -> None:
    told = Told()
    told.node("n1", gpus=3)
    told.start(told.job("a", 0, gpus=2, runs=None), 0, "n1")
    told.job("one", 10, gpus=1)
    told.job("half", 10, gpus=0.5)
    told.job("more-of-one", 10, gpus=1)
    assert at_end(told).percent[-1] == pytest.approx(25)


def test_gpus_without_cores_are_of_no_use() -> None:
    told = Told()
    told.node("n1", gpus=4, cpu=4)
    told.start(told.job("cores", 0, shape=shape(0, cpu=4), runs=None), 0, "n1")
    told.job("a", 10, shape=shape(1, cpu=1))
    assert at_end(told).percent[-1] == pytest.approx(100)


def test_a_pod_fits_where_its_model_is() -> None:
    told = Told()
    told.node("n1", gpus=1, model="A100")
    told.node("n2", gpus=3, model="T4")
    wants = shape(1, affinity=((Requirement(MODEL, "In", ("A100",)),),))
    told.job("a", 0, shape=wants)
    told.job("b", 10, shape=wants)
    found = at_end(told)
    assert found.percent[-1] == pytest.approx(75)
    assert {model: of[-1] for model, of in found.by_model.items()} == {"A100": 0, "T4": 100}


def test_a_node_selector_counts_as_well() -> None:
    told = Told()
    told.node("n1", gpus=1)
    told.job("a", 0, shape=shape(1, node_selector=(("kubernetes.io/hostname", "n2"),)))
    told.job("b", 10)
    assert at_end(told).percent[-1] == pytest.approx(50)


@pytest.mark.parametrize("change", [{"ready": False}, {"unschedulable": True}])
def test_a_node_that_takes_nobody_has_nothing_free(change: dict[str, bool]) -> None:
    told = Told()
    told.node("n1", gpus=1)
    told.node("n2", gpus=1)
    told.job("a", 0, gpus=2)
    told.node("n2", 5, gpus=1, **change)
    told.job("b", 10, gpus=1)
    found = at_end(told)
    assert found.percent.tolist() == pytest.approx([50] * len(found.percent))


def test_it_follows_who_comes_and_goes() -> None:
    told = Told()
    told.node("n1", gpus=2)
    one = told.job("one", 0, gpus=1, runs=5)
    told.start(one, 0, "n1")
    two = told.job("two", 0, gpus=2, runs=5)
    told.end(one, 5)
    told.start(two, 5, "n1")
    told.end(two, 10)
    # one GPU is free until 5, which half of the pods can't use; then none; in the end both
    assert fragmentation(told.close(10), points=4).percent.tolist() == pytest.approx([50, 50, 0, 0, 0])


def test_no_gpus_no_fragmentation() -> None:
    told = Told()
    told.node("n1", gpus=0, cpu=4)
    told.job("a", 0, shape=shape(0, cpu=1))
    assert at_end(told).summary() is None


def test_the_summary_has_mean_peak_and_end() -> None:
    told = Told()
    told.node("n1", gpus=2)
    job = told.job("a", 0, gpus=1, runs=5)
    told.job("b", 0, gpus=2)
    told.start(job, 0, "n1")
    told.end(job, 10)
    assert at_end(told).summary() == {"mean": pytest.approx(40), "peak": pytest.approx(50), "end": 0}
