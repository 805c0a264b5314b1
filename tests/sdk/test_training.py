"""A training job without YAML is the PyTorchJob that a user would write."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumi.api.errors import KumiError
from kumi.sdk.training import TrainingJob, stem


def test_the_first_rank_is_the_master_and_the_rest_are_workers() -> None:
    manifest = TrainingJob("t", ["python3", "t.py"], queue="q", workers=4, gpus=1).manifest()
    specs = manifest["spec"]["pytorchReplicaSpecs"]
    assert (specs["Master"]["replicas"], specs["Worker"]["replicas"]) == (1, 3)
    assert manifest["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "q"}
    for spec in specs.values():
        [container] = spec["template"]["spec"]["containers"]
        assert container["resources"]["limits"] == {"nvidia.com/gpu": "1"}


def test_one_worker_is_a_master_alone() -> None:
    assert list(TrainingJob("t", ["x"]).manifest()["spec"]["pytorchReplicaSpecs"]) == ["Master"]


def test_without_a_name_the_server_makes_one_from_the_script() -> None:
    assert TrainingJob("", ["python3", "src/My_Train.py"]).manifest()["metadata"]["generateName"] == "my-train-"


def test_cpu_is_requested_and_not_limited() -> None:
    manifest = TrainingJob("t", ["x"], cpu="2", memory="1Gi").manifest()
    [container] = manifest["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"]
    assert container["resources"] == {"requests": {"cpu": "2", "memory": "1Gi"}, "limits": {"memory": "1Gi"}}


@pytest.mark.parametrize(
    ("arguments", "word"),
    [({"workers": 0}, "workers"), ({"gpus": -1}, "gpus"), ({"command": []}, "command"), ({"retries": -1}, "retries")],
)
def test_a_wrong_argument_is_named(arguments: dict[str, object], word: str) -> None:
    with pytest.raises(KumiError, match=word):
        TrainingJob(**{"name": "t", "command": ["x"], **arguments}).manifest()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "name"), [(["python3", "a/b_c.py"], "b-c"), (["./7up"], "job-7up"), (["__.py"], "job")]
)
def test_a_name_is_one_that_kubernetes_takes(words: list[str], name: str) -> None:
    assert stem(words) == name


def test_it_runs_where_it_is_submitted_unless_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def where(job: TrainingJob) -> str | None:
        [container] = job.manifest()["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"]
        directory: str | None = container.get("workingDir")
        return directory

    monkeypatch.chdir(tmp_path)
    assert where(TrainingJob("t", ["x"])) == str(tmp_path)
    assert where(TrainingJob("t", ["x"], working_dir="/app")) == "/app"
    assert where(TrainingJob("t", ["x"], working_dir="")) is None


def test_retries_are_those_of_all_ranks_together() -> None:
    assert TrainingJob("t", ["x"], workers=4, retries=2).manifest()["spec"]["runPolicy"] == {"backoffLimit": 8}
