from __future__ import annotations

from kumi.api.core import Pod
from kumi.api.meta import ObjectMeta
from kumi.runtime.reconcile import no_keys, own_key


def test_an_object_has_its_own_key_or_none() -> None:
    pod = Pod(metadata=ObjectMeta(name="p", namespace="ns"))
    assert own_key(pod) == ("ns/p",)
    assert no_keys(pod) == ()
