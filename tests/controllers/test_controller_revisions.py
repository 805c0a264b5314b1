from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kumi.api.apps import ControllerRevision, StatefulSet
from kumi.controllers.controller_revisions import NOTED, Revision, kept, revision_of, surplus
from kumi.runtime.reconcile import Create, Delete, Patch
from kumi.testing.view import decoded

from .made import meta


def template(image: str = "i") -> dict[str, Any]:
    return {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": image}]}}


def owner(**annotations: str) -> StatefulSet:
    manifest = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta("web", "ns", annotations=annotations)}
    found = decoded(manifest | {"spec": {}})
    assert isinstance(found, StatefulSet)
    return found


def stored(manifest: dict[str, Any], **fields: Any) -> ControllerRevision:
    found = decoded({**manifest, "metadata": {**manifest["metadata"], "uid": "u", "resourceVersion": "7"}, **fields})
    assert isinstance(found, ControllerRevision)
    return found


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=12))
def test_whatever_is_rolled_out_the_newest_number_is_that_of_the_present_template(images: list[str]) -> None:
    objects: dict[str, ControllerRevision] = {}
    for image in images:
        revision = revision_of(owner(), template(image), list(objects.values()))
        write = kept(revision, owner(), list(objects.values()), {})
        if isinstance(write, Create):
            objects[revision.name] = stored(write.object)
        elif isinstance(write, Patch):
            assert isinstance(write.body, dict)
            objects[write.name].revision = write.body["revision"]
        newest = max(objects.values(), key=lambda each: each.revision)
        assert Revision.of(newest) == Revision(revision.name, revision.number, template(image))
    assert len(objects) == len({*images})
    assert len({each.revision for each in objects.values()}) == len(objects)


def test_the_present_template_needs_no_write() -> None:
    made = stored(revision_of(owner(), template(), []).made(owner(), {}))
    revision = revision_of(owner(), template(), [made])
    assert kept(revision, owner(), [made], {}) is None


def test_a_revision_carries_the_labels_of_the_template_and_the_notes_of_its_owner() -> None:
    noted = owner(**{"kubernetes.io/change-cause": "a new image", NOTED: "{}"})
    made = revision_of(noted, template(), []).made(noted, {"x": "y"})
    assert made["metadata"]["labels"] == {"a": "b", "x": "y"}
    assert made["metadata"]["annotations"] == {"kubernetes.io/change-cause": "a new image"}
    [reference] = made["metadata"]["ownerReferences"]
    assert (reference["kind"], reference["controller"]) == ("StatefulSet", True)


def test_a_name_that_another_template_has_is_not_taken() -> None:
    first = revision_of(owner(), template(), [])
    other = stored(first.made(owner(), {}), data={"spec": {"template": {}}})
    again = revision_of(owner(), template(), [other])
    assert again.name != first.name
    assert again.number == 2
    assert again.name == f"web-{again.hash}"


def test_what_nobody_uses_goes_beyond_the_limit_the_oldest_first() -> None:
    found = []
    for number, image in enumerate("abcd", 1):
        revision = revision_of(owner(), template(image), found)
        found.append(stored(revision.made(owner(), {}), revision=number))
    used = {found[0].metadata.name}
    gone = surplus(found, used, 1)
    assert [write.name for write in gone if isinstance(write, Delete)] == [each.metadata.name for each in found[1:3]]
    assert surplus(found, used, None) == []
