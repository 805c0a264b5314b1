"""Definitions that are deleted: marked, and held until their finalizer goes."""

from __future__ import annotations

from kumi.api.apiextensions import CLEANUP
from kumi.registry.kinds import definitions

NOW = "2027-01-15T08:00:00Z"


def test_one_that_is_not_marked_is_held_and_a_mark_puts_its_finalizer_in_place() -> None:
    made = {"metadata": {"name": "a", "finalizers": ["x/y"]}, "status": {"conditions": [{"type": "Established"}]}}
    assert definitions.held(made)
    made["metadata"]["deletionTimestamp"] = NOW
    definitions.marked(made)
    definitions.marked(made)
    assert made["metadata"]["finalizers"] == ["x/y", CLEANUP]
    assert [(c["type"], c.get("status")) for c in made["status"]["conditions"]] == [
        ("Established", None), ("Terminating", "True"),
    ]  # fmt: skip
    assert not definitions.held(made)
