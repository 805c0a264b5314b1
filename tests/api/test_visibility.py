from __future__ import annotations

from kumi.api.scheme import load
from kumi.api.visibility import GROUP, PENDING, QUEUES


def test_lines_are_asked_for_of_both_kinds_in_both_versions() -> None:
    assert [(k.plural, k.namespaced, k.versions) for k in QUEUES] == [
        ("clusterqueues", False, ("v1beta2", "v1beta1")),
        ("localqueues", True, ("v1beta2", "v1beta1")),
    ]
    assert all(k.subresources == (PENDING,) for k in QUEUES)


def test_nothing_of_them_is_stored() -> None:
    assert not [kind for kind in load() if kind.group == GROUP]


def test_both_versions_say_the_same() -> None:
    for kind in QUEUES:
        for up, down in kind.conversions.values():
            assert down(up({"a": 1})) == {"a": 1}
