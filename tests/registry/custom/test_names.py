"""Names: the first has them; what is established stays so."""

from __future__ import annotations

from kumi.api.scheme import load
from kumi.api.wire import JsonObject
from kumi.registry.custom.definition import fill_in
from kumi.registry.custom.names import ACCEPTED, ESTABLISHED, OWN, condition, holds, of_kind, set_condition, settle
from tests.registry.custom.made import definition

NOW = "2027-01-15T08:00:00Z"


def settled(made: JsonObject, *others: JsonObject) -> JsonObject:
    """A definition after its names were looked at."""
    fill_in(made)
    settle(made, others, None, NOW)
    return made


def test_free_names_are_accepted_and_the_kind_established() -> None:
    made = settled(definition(shortNames=["wd"], categories=["all"]))
    assert made["status"]["acceptedNames"] == made["spec"]["names"]
    assert holds(made, ACCEPTED)
    assert holds(made, ESTABLISHED)


def test_a_name_that_another_has_is_not_given() -> None:
    first = settled(definition(shortNames=["wd"]))
    second = settled(definition(plural="wd", kind="Wd"), first)
    assert not holds(second, ACCEPTED)
    assert not holds(second, ESTABLISHED)
    found = condition(second, ACCEPTED)
    assert found
    assert (found["reason"], found["message"]) == ("PluralConflict", '"wd" is already in use')
    kind = settled(definition(plural="others", kind="Widget", singular="other"), first)
    found = condition(kind, ACCEPTED)
    assert found
    assert found["reason"] == "KindConflict"


def test_a_short_name_that_is_taken_costs_the_acceptance_only() -> None:
    first = settled(definition(shortNames=["wd"]))
    second = settled(definition(plural="gadgets", kind="Gadget", shortNames=["wd", "gd"]), first)
    assert not holds(second, ACCEPTED)
    assert second["status"]["acceptedNames"]["plural"] == "gadgets"


def test_what_is_established_stays_so_whatever_it_asks_for_later() -> None:
    other = settled(definition(plural="gadgets", kind="Gadget", shortNames=["gd"]))
    made = settled(definition(shortNames=["wd"]))
    made["spec"]["names"]["shortNames"] = ["gd"]
    settle(made, [other], None, NOW)
    assert (holds(made, ACCEPTED), holds(made, ESTABLISHED)) == (False, True)
    assert made["status"]["acceptedNames"]["shortNames"] == ["wd"]


def test_a_kind_of_kumis_own_is_accepted_with_a_word_about_it() -> None:
    own = load().find("kueue.x-k8s.io", "ClusterQueue")
    assert own is not None
    made = definition(plural="clusterqueues", kind="ClusterQueue", group="kueue.x-k8s.io")
    fill_in(made)
    settle(made, [], own, NOW)
    assert holds(made, ESTABLISHED)
    assert holds(made, OWN)
    clash = settled(definition(plural="cq", kind="Cq", group="kueue.x-k8s.io"), of_kind(own))
    assert not holds(clash, ACCEPTED)


def test_the_time_of_a_condition_moves_with_its_status_only() -> None:
    made: JsonObject = {}
    set_condition(made, "X", True, "A", "a", "1")
    set_condition(made, "X", True, "B", "b", "2")
    assert condition(made, "X") == {
        "type": "X",
        "status": "True",
        "reason": "B",
        "message": "b",
        "lastTransitionTime": "1",
    }
    set_condition(made, "X", False, "B", "b", "3")
    found = condition(made, "X")
    assert found
    assert found["lastTransitionTime"] == "3"
