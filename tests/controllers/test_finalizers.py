from __future__ import annotations

from kumi.controllers.finalizers import with_, without

from .made import flavor
from .made import views as made


def test_one_is_added_at_the_version_that_was_read() -> None:
    (found,) = made(flavor())
    found.metadata.finalizers = ["theirs"]
    patch = with_(found, "mine")
    assert patch is not None
    assert patch.body == {"metadata": {"finalizers": ["theirs", "mine"], "resourceVersion": "1"}}
    found.metadata.finalizers = ["mine"]
    assert with_(found, "mine") is None


def test_one_is_taken_away_by_a_patch_that_tests_it() -> None:
    (found,) = made(flavor())
    assert without(found, "mine") is None
    found.metadata.finalizers = ["theirs", "mine"]
    patch = without(found, "mine")
    assert patch is not None
    assert patch.type == "json"
    path = "/metadata/finalizers/1"
    assert patch.body == [{"op": "test", "path": path, "value": "mine"}, {"op": "remove", "path": path}]
