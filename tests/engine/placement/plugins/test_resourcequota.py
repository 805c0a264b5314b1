from __future__ import annotations

from kumi.engine.gangs import NamespaceQuota
from kumi.testing.gangs import Scene, gang, line


def let_in(quotas: list[NamespaceQuota], *needs: dict[str, int] | None) -> list[bool]:
    """Which of the gangs are let in, asked one after the other."""
    scene = Scene(line(), *quotas, *(gang(f"g{n}", needs=said) for n, said in enumerate(needs)))
    at, said = scene.open("resourcequota"), []
    for number in range(len(needs)):
        job = scene.job(f"g{number}")
        said.append(at.job_enqueueable(job))
        if said[-1]:
            at.job_enqueued(job)
    return said


def quota(hard: dict[str, int], used: dict[str, int] | None = None, name: str = "ns/q") -> NamespaceQuota:
    return NamespaceQuota(name, tuple(hard.items()), tuple((used or {}).items()))


def test_gangs_are_let_in_up_to_the_quota() -> None:
    assert let_in([quota({"cpu": 3000}, {"cpu": 1000})], {"cpu": 1}, {"cpu": 2}, {"cpu": 1}) == [True, False, True]


def test_each_quota_of_the_namespace_counts_and_none_of_another_one() -> None:
    roomy, other = quota({"cpu": 9000}), quota({"cpu": 0}, name="else/q")
    assert let_in([roomy, other], {"cpu": 1}) == [True]
    assert let_in([roomy, quota({"cpu": 500}, name="ns/r")], {"cpu": 1}) == [False]


def test_what_only_one_of_both_names_stops_nobody() -> None:
    assert let_in([quota({"requests.cpu": 0, "pods": 0})], {"cpu": 1}, None) == [True, True]
    assert let_in([quota({"cpu": 1000}, {"cpu": 5000})], {"memory": 1}) == [True]


def test_what_only_quotas_count_is_counted_here() -> None:
    asks = [gang(f"g{n}", needs={"cpu": 1}, counted=(("requests.cpu", 500),)) for n in range(3)]
    scene = Scene(line(), quota({"requests.cpu": 1000}), *asks)
    at, said = scene.open("resourcequota"), []
    for job in (scene.job(f"g{n}") for n in range(3)):
        said.append(bool(at.job_enqueueable(job)))
        at.job_enqueued(job)
    assert said == [True, True, False]
