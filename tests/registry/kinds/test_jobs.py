"""Jobs select their own pods."""

from __future__ import annotations

from kumi.registry.kinds import jobs


def new(**spec: object) -> dict:
    job: dict = {"metadata": {"name": "j", "uid": "u"}, "spec": {"template": {"spec": {}}, **spec}}
    jobs.on_create(job)
    return job


OWN = {
    "batch.kubernetes.io/controller-uid": "u",
    "batch.kubernetes.io/job-name": "j",
    "controller-uid": "u",
    "job-name": "j",
}


def test_the_selector_is_the_uid_and_the_template_carries_it() -> None:
    job = new()
    assert job["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}}
    assert job["spec"]["template"]["metadata"]["labels"] == OWN
    assert job["spec"]["manualSelector"] is False


def test_a_job_without_labels_takes_those_of_its_template() -> None:
    assert new(template={"metadata": {"labels": {"a": "b"}}})["metadata"]["labels"] == {**OWN, "a": "b"}
    labelled: dict = {"metadata": {"name": "j", "uid": "u", "labels": {"x": "y"}}, "spec": {"template": {}}}
    jobs.on_create(labelled)
    assert labelled["metadata"]["labels"] == {"x": "y"}


def test_a_selector_by_hand_is_left_alone() -> None:
    job = new(manualSelector=True, selector={"matchLabels": {"a": "b"}})
    assert job["spec"]["selector"] == {"matchLabels": {"a": "b"}}
    assert "metadata" not in job["spec"]["template"]


def test_a_copy_of_another_job_keeps_what_it_says_for_validation_to_refuse() -> None:
    job = new(template={"metadata": {"labels": {"controller-uid": "other"}}})
    assert job["spec"]["template"]["metadata"]["labels"]["controller-uid"] == "other"
