"""Policy: what may be written, and how wrong fields are told."""

from __future__ import annotations

import pytest

from kumi.engine.measuring import Measuring
from kumi.engine.model import Profile
from kumi.engine.placement import conf
from kumi.engine.placement.plugins import of
from kumi.engine.placement.plugins.gang import Gang
from kumi.engine.policy import PolicyError, odd, parse
from kumi.engine.settings import FairSharing, PodsReady, Settings


def wrong(raw: object) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        parse(raw)
    return [e.path for e in caught.value.errors]


def test_nothing_written_is_the_default() -> None:
    default = Profile("kumi", True, {"scoring": "binpack"})
    assert parse(None) == parse({}) == default
    assert of(parse({})) == of(Profile())


def test_everything_written_is_taken() -> None:
    assert parse({"profile": "kumi", "placement": "none", "scoring": "nodeorder"}) == Profile(
        "kumi", False, {"scoring": "nodeorder"}
    )


def test_every_wrong_field_is_told_with_its_path() -> None:
    with pytest.raises(PolicyError) as caught:
        parse({"profile": "tetris", "scoring": 3, "act": "allocate"})
    assert [(e.path, e.type) for e in caught.value.errors] == [
        ("act", "FieldValueForbidden"),
        ("profile", "FieldValueNotSupported"),
        ("scoring", "FieldValueNotSupported"),
    ]
    assert 'scoring: Unsupported value: 3: supported values: "binpack", "bestFit", "fewestFree", ' in str(caught.value)
    assert '"profile", "placement", "scoring"' in str(caught.value)


@pytest.mark.parametrize("raw", ["kumi", 3, [], True])
def test_what_is_no_mapping_is_told_as_such(raw: object) -> None:
    with pytest.raises(PolicyError, match="must be a mapping"):
        parse(raw)


def test_a_value_that_can_not_be_compared_is_wrong_and_no_crash() -> None:
    with pytest.raises(PolicyError):
        parse({"profile": {"name": "kumi"}})


def test_kueues_sections_are_part_of_a_policy() -> None:
    found = parse({"profile": "kueue", "fairSharing": {}, "waitForPodsReady": {"timeout": "1m"}})
    assert found.name == "kueue"
    assert found.settings == Settings(fair=FairSharing(), pods_ready=PodsReady(60_000, 60_000))


def test_kueues_own_file_is_a_policy_as_it_is() -> None:
    raw = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": ":8081"},
        "webhook": {"port": 9443},
        "manageJobsWithoutQueueName": False,
        "integrations": {"frameworks": ["batch/job"]},
        "fairSharing": {},
    }
    assert parse(raw).settings == Settings(fair=FairSharing())
    with pytest.raises(PolicyError) as caught:
        parse({**raw, "fairSharingg": {}})
    assert [e.path for e in caught.value.errors] == ["fairSharingg"]


def test_what_is_about_kueues_own_processes_is_only_known_in_its_own_file() -> None:
    with pytest.raises(PolicyError) as caught:
        parse({"webhook": {}, "scoring": "x", "resources": {"quotaCheckStrategy": "Most"}})
    assert [(e.path, e.type) for e in caught.value.errors] == [
        ("webhook", "FieldValueForbidden"),
        ("scoring", "FieldValueNotSupported"),
        ("resources.quotaCheckStrategy", "FieldValueNotSupported"),
    ]


VOLCANOS = {
    "actions": "enqueue, allocate, preempt",
    "tiers": [
        {"plugins": [{"name": "priority"}, {"name": "gang", "enablePreemptable": False}]},
        {"plugins": [{"name": "predicates"}, {"name": "binpack", "arguments": {"binpack.weight": 10}}]},
    ],
    "configurations": [{"name": "preempt", "arguments": {"enableTopologyAwarePreemption": True}}],
}


def test_volcanos_scheduler_file_is_a_policy_as_it_is() -> None:
    found = parse(VOLCANOS).conf
    assert found.actions == ("enqueue", "allocate", "preempt")
    assert [[option.name for option in tier] for tier in found.tiers] == [
        ["priority", "gang"],
        ["predicates", "binpack"],
    ]
    assert "enablePreemptable" not in found.tiers[0][1].switches
    assert found.tiers[1][1].arguments.whole("binpack.weight", 1) == 10
    assert found.of_action("preempt").switch("enableTopologyAwarePreemption", default=False)


def test_what_isn_t_written_of_a_session_is_the_profiles() -> None:
    found = parse({"profile": "volcano", "actions": "allocate"})
    assert found.conf.actions == ("allocate",)
    assert found.conf.tiers == conf.of("volcano").tiers
    assert parse({"profile": "volcano"}).conf == conf.of("volcano")


def test_names_that_are_not_there_are_told_with_their_paths_together_with_what_is_wrong_otherwise() -> None:
    with pytest.raises(PolicyError) as caught:
        parse(
            {
                "actions": "enqueue, alocate",
                "tiers": [{"plugins": [{"name": "gang"}, {"name": "mine", "enableFoo": True}]}],
                "configurations": [{"name": "premt"}],
                "plugins": "mine.py",
            }
        )
    assert [e.path for e in caught.value.errors] == [
        "tiers[0].plugins[1].enableFoo",
        "actions",
        "tiers[0].plugins[1].name",
        "configurations[0].name",
        "plugins",
    ]


def test_a_plug_in_of_ones_own_may_be_named() -> None:
    found = parse({"tiers": [{"plugins": [{"name": "mine"}]}]}, {"mine": Gang})
    assert found.plugins == {"mine": Gang}


def test_two_plug_ins_that_share_out_the_same_are_not_in_one_tier() -> None:
    both = [{"name": "drf", "enableHierarchy": True}, {"name": "proportion"}]
    with pytest.raises(PolicyError, match=r"tiers\[0\].plugins"):
        parse({"tiers": [{"plugins": both}]})
    assert parse({"tiers": [{"plugins": [both[0]]}, {"plugins": [both[1]]}]})


USAGE = {"tiers": [{"plugins": [{"name": "gang"}, {"name": "usage"}]}]}


def test_who_wants_to_know_how_busy_nodes_are_is_told_where_from() -> None:
    assert parse(None).measuring is None
    assert parse(USAGE).measuring == Measuring()
    section = {"type": "prometheus", "address": "http://prom:9090", "interval": "10s"}
    assert parse({**USAGE, "metrics": section}).measuring == Measuring("prometheus", "http://prom:9090", 10_000)


def test_a_section_of_metrics_that_nobody_needs_makes_no_difference() -> None:
    raw = {"tiers": [{"plugins": [{"name": "gang"}]}]}
    assert parse({**raw, "metrics": {"type": "elasticsearch"}}) == parse(raw)


def test_a_section_of_metrics_that_is_needed_has_to_be_right() -> None:
    with pytest.raises(PolicyError, match=r"metrics\.type"):
        parse({**USAGE, "metrics": {"type": "elasticsearch"}})


def test_kueues_section_of_metrics_is_another() -> None:
    raw = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "metrics": {"bindAddress": ":8443"}}
    assert parse({**USAGE, **raw}).measuring == Measuring()


def test_actions_that_name_none_are_a_mistake() -> None:
    assert wrong({"actions": ""}) == wrong({"actions": " , "}) == ["actions"]


def test_an_argument_that_can_not_be_read_is_a_mistake_and_one_that_nobody_knows_is_not() -> None:
    tiers = [
        {"plugins": [{"name": "gang"}, {"name": "binpack", "arguments": {"binpack.weight": "x", "binpack.wieght": 1}}]}
    ]
    assert wrong({"tiers": tiers}) == ["tiers[0].plugins[1].arguments.binpack.weight"]
    assert [e.path for e in odd({"tiers": tiers})] == ["tiers[0].plugins[1].arguments.binpack.wieght"]
    assert odd(None) == odd({}) == []


def test_a_plug_in_of_volcanos_that_is_not_served_is_left_out() -> None:
    raw = {"tiers": [{"plugins": [{"name": "cdp"}, {"name": "gang"}]}]}
    assert [option.name for tier in parse(raw).conf.tiers for option in tier] == ["gang"]
    assert [e.path for e in odd(raw)] == ["tiers[0].plugins[0].name"]
    assert [option.name for tier in parse(raw, {"cdp": Gang}).conf.tiers for option in tier] == ["cdp", "gang"]
    assert odd(raw, {"cdp": Gang}) == []
