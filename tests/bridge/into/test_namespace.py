from __future__ import annotations

import msgspec

from kumi.api.core import Namespace
from kumi.bridge.into.namespace import namespace


def test_a_namespace_is_labelled_with_its_own_name() -> None:
    made = namespace(msgspec.convert({"metadata": {"name": "n", "labels": {"team": "a"}}}, Namespace))
    assert (made.name, made.labels) == ("n", (("kubernetes.io/metadata.name", "n"), ("team", "a")))
