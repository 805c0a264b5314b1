from __future__ import annotations

import pytest

from kumi.api.scheme import load


@pytest.mark.parametrize("kind", ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"])
def test_configurations_are_of_the_whole_cluster_and_show_how_many_webhooks_they_have(kind: str) -> None:
    found = load().find("admissionregistration.k8s.io", kind)
    assert found is not None
    assert not found.namespaced
    cell = found.columns[0].cell
    assert cell is not None
    assert cell({"webhooks": [{}, {}]}, 0) == 2
