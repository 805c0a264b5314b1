"""Selectors: text and structure select alike, and what can't be read is refused in Kubernetes' words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import ApiError
from kumi.api.meta import LabelSelector, LabelSelectorRequirement
from kumi.api.scheme import Scheme
from kumi.registry import selectors
from kumi.registry.selectors import is_label_key, is_label_value, matches, name_wanted, parse_labels, selection

keys = st.sampled_from(["a", "b", "x.io/c"])
values = st.sampled_from(["", "1", "2", "v-1"])
labelled = st.dictionaries(keys, values, max_size=3)
operators = st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"])
some = st.lists(values, min_size=1, max_size=3, unique=True)


@st.composite
def terms(draw: st.DrawFn) -> LabelSelectorRequirement:
    operator = draw(operators)
    return LabelSelectorRequirement(
        key=draw(keys), operator=operator, values=draw(some) if operator in ("In", "NotIn") else []
    )


def text_of(term: LabelSelectorRequirement) -> str:
    inside = f"({','.join(term.values)})"
    return {
        "In": f"{term.key} in {inside}",
        "NotIn": f"{term.key} notin {inside}",
        "Exists": term.key,
        "DoesNotExist": f"!{term.key}",
    }[term.operator]


def selects(text: str, labels: dict[str, str]) -> bool:
    return all(term.holds(labels) for term in parse_labels(text))


@given(st.lists(terms(), max_size=3), labelled)
def test_a_text_and_a_label_selector_that_say_the_same_select_the_same(
    wanted: list[LabelSelectorRequirement], labels: dict[str, str]
) -> None:
    text = ", ".join(text_of(term) for term in wanted)
    assert selects(text, labels) == matches(LabelSelector(match_expressions=wanted), labels)


@given(labelled, labelled)
def test_match_labels_are_equalities(wanted: dict[str, str], labels: dict[str, str]) -> None:
    text = ",".join(f"{key}={value}" for key, value in wanted.items())
    assert selects(text, labels) == matches(LabelSelector(match_labels=wanted), labels)
    assert selects(text, labels) == (wanted.items() <= labels.items())


@given(terms(), labelled)
def test_a_term_and_its_opposite_never_agree(term: LabelSelectorRequirement, labels: dict[str, str]) -> None:
    opposite = {"In": "NotIn", "NotIn": "In", "Exists": "DoesNotExist", "DoesNotExist": "Exists"}[term.operator]
    other = LabelSelectorRequirement(key=term.key, operator=opposite, values=term.values)
    assert matches(LabelSelector(match_expressions=[term]), labels) != matches(
        LabelSelector(match_expressions=[other]), labels
    )


@given(st.lists(terms(), max_size=3), st.lists(terms(), max_size=3), labelled)
def test_terms_together_select_what_each_selects(
    one: list[LabelSelectorRequirement], other: list[LabelSelectorRequirement], labels: dict[str, str]
) -> None:
    both = matches(LabelSelector(match_expressions=[*one, *other]), labels)
    assert both == (
        matches(LabelSelector(match_expressions=one), labels)
        and matches(LabelSelector(match_expressions=other), labels)
    )


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        ("", "12345"),
        ("tier=a", "12"),
        ("tier==b", "34"),
        ("tier!=a", "345"),
        ("tier in (a,b),n", "123"),
        ("tier notin (a)", "345"),
        ("!tier", "5"),
        ("n>1", "23"),
        ("n<2", "1"),
        (" tier in ( a , c ) , n ", "12"),
        ("tier=", ""),
        ("n in (1,)", "1"),
    ],
)
def test_the_forms_of_a_label_selector(text: str, selected: str) -> None:
    labels = {
        "1": {"tier": "a", "n": "1"},
        "2": {"tier": "a", "n": "2"},
        "3": {"tier": "b", "n": "3"},
        "4": {"tier": "b", "n": "x"},
        "5": {},
    }
    if text == "tier in (a,b),n":
        labels["4"] = {"tier": "b"}
    assert "".join(name for name, of in labels.items() if selects(text, of)) == selected


@pytest.mark.parametrize(
    "text",
    [
        "===a",
        "tier===a",
        "==",
        "a=b=c",
        "a in",
        "a in (",
        "a in (b",
        "a in b",
        "a,",
        ",a",
        "a b",
        "a>x",
        "-a=b",
        "a=-b",
        "a/b/c=d",
        "(a)",
        "!",
    ],
)
def test_what_is_no_label_selector_is_refused(text: str) -> None:
    with pytest.raises(ApiError, match="unable to parse requirement") as refused:
        parse_labels(text)
    assert (refused.value.code, refused.value.reason) == (400, "BadRequest")


def test_an_unknown_operator_of_a_label_selector_is_refused() -> None:
    with pytest.raises(ValueError, match="not a valid label selector operator"):
        matches(LabelSelector(match_expressions=[LabelSelectorRequirement(key="a", operator="Near")]), {})


POD = {
    "metadata": {"name": "p", "namespace": "ns", "labels": {"a": "b"}},
    "spec": {"nodeName": "n1", "schedulerName": "s", "restartPolicy": "Never"},
    "status": {"phase": "Running", "podIP": "127.0.0.2"},
}


@pytest.mark.parametrize(
    ("fields", "selected"),
    [
        ("", True),
        ("metadata.name=p,metadata.namespace=ns", True),
        ("metadata.name!=p", False),
        ("spec.nodeName==n1,status.phase!=Failed", True),
        ("spec.nodeName=", False),
        ("status.podIP=127.0.0.2,spec.schedulerName=s,spec.restartPolicy=Never", True),
        ("spec.hostNetwork=false", True),
        ("status.nominatedNodeName=", True),
    ],
)
def test_field_selectors_of_pods(scheme: Scheme, fields: str, selected: bool) -> None:
    kind = scheme.find("", "Pod")
    assert kind is not None
    predicate = selection(kind, "a", fields)
    assert predicate is not None
    assert predicate(POD) is selected


@pytest.mark.parametrize(
    ("kind", "fields", "obj"),
    [
        (
            "Event",
            "involvedObject.name=p,type=Warning,reason=Bad",
            {"involvedObject": {"name": "p"}, "type": "Warning", "reason": "Bad"},
        ),
        ("Event", "source=tester", {"source": {"component": "tester"}}),
        ("Event", "source=tester", {"reportingComponent": "tester"}),
        ("Node", "spec.unschedulable=true", {"spec": {"unschedulable": True}}),
        ("Node", "spec.unschedulable=false", {}),
        ("Job", "status.successful=2", {"status": {"succeeded": 2}}),
        ("Job", "status.successful=0", {}),
        ("Namespace", "status.phase=Active", {"status": {"phase": "Active"}}),
        ("Secret", "type=a\\,b", {"type": "a,b"}),
    ],
)
def test_field_selectors_of_other_kinds(scheme: Scheme, kind: str, fields: str, obj: dict) -> None:
    found = next(k for k in scheme if k.kind == kind)
    predicate = selection(found, "", fields)
    assert predicate is not None
    assert predicate({"metadata": {}, **obj})
    assert not predicate({"metadata": {}, **_other(obj)})


def _other(obj: dict) -> dict:
    """An object whose every leaf differs."""
    if not obj:
        return {"spec": {"unschedulable": True}, "status": {"succeeded": 9}}
    flip = {"succeeded": 9, "unschedulable": False}
    return {k: _other(v) if isinstance(v, dict) else flip.get(k, f"not-{v}") for k, v in obj.items()}


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        ("ConfigMap", "data.x=1", '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"'),
        ("Pod", "spec.foo=1", "field label not supported: spec.foo"),
        ("LocalQueue", "spec.clusterQueue=a", "field label not supported: spec.clusterQueue"),
        ("Node", "metadata.namespace=a", "field label not supported: metadata.namespace"),
        ("Pod", "spec.nodeName", "invalid selector: 'spec.nodeName'; can't understand 'spec.nodeName'"),
    ],
)
def test_what_a_kind_does_not_offer_is_refused(scheme: Scheme, kind: str, fields: str, message: str) -> None:
    found = next(k for k in scheme if k.kind == kind)
    with pytest.raises(ApiError) as refused:
        selection(found, "", fields)
    assert (refused.value.code, refused.value.message) == (400, message)


def test_no_selector_selects_everything_without_looking(scheme: Scheme) -> None:
    kind = scheme.find("", "Pod")
    assert kind is not None
    assert selection(kind, " ", "") is None


@pytest.mark.parametrize(
    ("fields", "name"),
    [("metadata.name=a", "a"), ("spec.nodeName=x,metadata.name==b", "b"), ("metadata.name!=a", ""), ("", "")],
)
def test_the_one_name_that_a_field_selector_leaves(fields: str, name: str) -> None:
    assert name_wanted(fields) == name


@pytest.mark.parametrize(
    ("key", "good"),
    [
        ("a", True),
        ("a.b/c_d-e", True),
        ("A", True),
        ("/a", False),
        ("a/", False),
        ("A.b/c", False),
        ("a" * 64, False),
        ("-a", False),
        ("", False),
    ],
)
def test_label_keys(key: str, good: bool) -> None:
    assert is_label_key(key) is good


@pytest.mark.parametrize(
    ("value", "good"), [("", True), ("a" * 63, True), ("a" * 64, False), ("a b", False), ("a-", False), ("1.2_3", True)]
)
def test_label_values(value: str, good: bool) -> None:
    assert is_label_value(value) is good


def test_the_offered_fields_name_known_kinds(scheme: Scheme) -> None:
    known = {(kind.group, kind.kind) for kind in scheme}
    assert {key for key in selectors._FIELDS if key[0] != "apps"} <= known
