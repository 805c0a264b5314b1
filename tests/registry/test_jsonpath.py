"""JSONPath, as far as printer columns use it."""

from __future__ import annotations

import pytest

from kumi.api.errors import KumiError
from kumi.registry.jsonpath import compile_path

OBJECT = {
    "spec": {"n": 1, "list": [10, 20, 30], "a.b": "dotted", "m": {"x": 1, "y": 2}},
    "status": {
        "conditions": [
            {"type": "Ready", "status": "True", "n": 1},
            {"type": "Done", "status": "False", "n": 2, "extra": None},
        ]
    },
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".spec.n", [1]),
        ("{.spec.n}", [1]),
        ("$.spec.n", [1]),
        ("spec.n", [1]),
        (".spec.list[0]", [10]),
        (".spec.list[-1]", [30]),
        (".spec.list[-2]", [20]),
        (".spec.list[9]", []),
        (".spec.list[-1:]", [30]),
        (".spec.list[1:3]", [20, 30]),
        (".spec.list[:1]", [10]),
        (".spec.list[*]", [10, 20, 30]),
        (".spec.m.*", [1, 2]),
        (".spec.a\\.b", ["dotted"]),
        (".spec['a.b']", ["dotted"]),
        ('.spec["n"]', [1]),
        (".spec.none.deeper", []),
        (".spec.n.deeper", []),
        (".spec.n[0]", []),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        (".status.conditions[?(@.type=='Done')].status", ["False"]),
        (".status.conditions[?(@.type!='Done')].type", ["Ready"]),
        (".status.conditions[?(@.n>1)].type", ["Done"]),
        (".status.conditions[?(@.n <= 1)].type", ["Ready"]),
        (".status.conditions[?(@.type>1)].type", []),
        (".status.conditions[?(@.extra)].type", ["Done"]),
        (".status.conditions[?(@.none)].type", []),
        (".status.conditions[-1:].type", ["Done"]),
    ],
)
def test_what_a_path_finds(path: str, found: list) -> None:
    assert compile_path(path)(OBJECT) == found


@pytest.mark.parametrize("path", ["", "{}", "$", "."])
def test_the_empty_path_is_the_value_itself(path: str) -> None:
    assert compile_path(path)(OBJECT) == [OBJECT]


@pytest.mark.parametrize("path", [".a[", ".a[x]", ".a b", ".a[?(@.x==bare)]", "..a"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(KumiError, match=r"JSONPath|must be quoted"):
        compile_path(path)
