from __future__ import annotations

from kumi.api.openapi.definitions import definition
from kumi.api.reviews import REVIEWS
from kumi.api.scheme import load


def test_a_review_has_kubernetes_own_schema_and_is_not_stored() -> None:
    for kind in REVIEWS:
        (said,) = definition(kind.schema)["x-kubernetes-group-version-kind"]
        assert said == {"group": kind.group, "version": "v1", "kind": kind.kind}
        assert load().find(kind.group, kind.kind) is None


def test_only_the_local_one_is_in_a_namespace() -> None:
    assert [kind.plural for kind in REVIEWS if kind.namespaced] == ["localsubjectaccessreviews"]
