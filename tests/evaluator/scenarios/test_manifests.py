"""Manifests of a scenario."""

from __future__ import annotations

from pathlib import Path

from kumi.evaluator.manifests import name_of
from kumi.evaluator.scenarios.document import Document, Part
from kumi.evaluator.scenarios.manifests import listed, proven
from tests.evaluator.scenarios.told import faults, node, written


def test_files_and_objects_are_listed_and_what_is_wrong_with_them_noted(tmp_path: Path) -> None:
    written(
        tmp_path,
        "",
        pods_yaml="apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\n",
    )
    document = Document(tmp_path / "s.yaml", b"")
    whole = Part(document, ["pods.yaml", node("n"), 7, "none.yaml"], "queues")
    objects = listed(whole)
    assert [(place, name_of(each)) for place, each in objects] == [
        ("pods.yaml, object 1", "Namespace a"),
        ("pods.yaml, object 2", "Pod p"),
        ("queues[1]", "Node n"),
    ]
    assert [name_of(each) for _, each in proven(whole, objects)] == ["Namespace a", "Node n"]
    found = faults(whole)
    assert found[0] == "queues[2]: must be a manifest, or the name of a file of them"
    assert found[1].startswith("queues[3]: ")
    assert found[2].startswith("queues: pods.yaml, object 2: Pod p: spec.containers: Required value")
