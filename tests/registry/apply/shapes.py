"""Shapes, objects and sets of fields for the tests of this room."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from kumi.api.scheme import load
from kumi.api.shapes import Shape, shape_of

SCHEME = load()


def shape(kind: str, group: str = "") -> Shape:
    """Of a kind."""
    found = SCHEME.find(group, kind)
    assert found is not None
    return shape_of(found)


POD = shape("Pod")
ELEMENTS = st.sampled_from(["f:a", "f:b", "f:c", 'k:{"name":"x"}', "v:1", "i:0"])
PATHS = st.lists(ELEMENTS, min_size=1, max_size=4).map(tuple)
SETS = st.frozensets(PATHS, max_size=8)

_NAMES = st.sampled_from(["a", "b", "c"])
_TEXT = st.sampled_from(["1", "2"])
_PORTS = st.lists(
    st.builds(lambda n, p: {"containerPort": n, "protocol": p}, st.integers(1, 2), st.sampled_from(["TCP", "UDP"])),
    max_size=3,
    unique_by=lambda port: (port["containerPort"], port["protocol"]),
)
_CONTAINERS = st.lists(
    st.fixed_dictionaries(
        {"name": _NAMES}, optional={"image": _TEXT, "args": st.lists(_TEXT, max_size=2), "ports": _PORTS}
    ),
    max_size=3,
    unique_by=lambda container: container["name"],
)
_METADATA = st.fixed_dictionaries(
    {},
    optional={
        "labels": st.dictionaries(_NAMES, _TEXT, max_size=3),
        "finalizers": st.lists(_NAMES, unique=True, max_size=2),
    },
)
_SPEC = st.fixed_dictionaries(
    {},
    optional={
        "containers": _CONTAINERS,
        "nodeSelector": st.dictionaries(_NAMES, _TEXT, max_size=2),
        "securityContext": st.fixed_dictionaries({}, optional={"runAsUser": st.integers(1, 2)}),
        "tolerations": st.lists(st.fixed_dictionaries({"key": _NAMES}), max_size=2),
        "hostname": _TEXT,
    },
)
PODS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries({}, optional={"metadata": _METADATA, "spec": _SPEC})
"""Parts of pods, as a configuration says them: lists with keys, a set, a map, an atomic map and list, a struct."""
