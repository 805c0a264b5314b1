from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.user import MASTERS, User
from kumi.registry.authorization.decisions import Decision, decide, refusal, rules_of
from kumi.registry.authorization.policies import Policies
from kumi.registry.authorization.rules import Asked, Rule, allows
from tests.registry.authorization.made import binding, policies, role, rule
from tests.registry.authorization.strategies import asked, rules

ANN = User("ann", ("devs", "system:authenticated"))
PODS = Asked("list", "", "pods", "team")


@given(rules, asked, st.booleans())
def test_bound_in_a_namespace_a_rule_allows_there_what_it_allows_of_resources(
    one: Rule, question: Asked, here: bool
) -> None:
    namespace = "ns" if here else "elsewhere"
    made = policies(role(one.wire()), binding("User ann", namespace=namespace))
    assert decide(made, ANN, question).allowed == (here and not question.path and allows(one, question))


@given(st.lists(rules, max_size=3), asked)
def test_bound_in_the_cluster_rules_allow_everywhere(several: list[Rule], question: Asked) -> None:
    made = policies(role(*(one.wire() for one in several)), binding("Group devs"))
    assert decide(made, ANN, question).allowed == any(allows(one, question) for one in several)


@given(st.lists(rules, max_size=3), asked)
def test_the_rules_of_a_user_allow_what_the_decision_allows(several: list[Rule], question: Asked) -> None:
    made = policies(role(*(one.wire() for one in several)), binding("Group devs"))
    found, _ = rules_of(made, ANN, "ns")
    assert decide(made, ANN, question).allowed == any(allows(one, question) for one in found)


@given(asked)
def test_without_rules_nothing_is_allowed_but_to_masters(question: Asked) -> None:
    assert decide(Policies(), ANN, question) == Decision(False)
    assert decide(Policies(), User("root", (MASTERS,)), question) == Decision(True)


@pytest.mark.parametrize(
    ("bound", "reason"),
    [
        (
            binding("Group devs", "User ann", name="b", namespace="team"),
            'RBAC: allowed by RoleBinding "b/team" of ClusterRole "r" to Group "devs"',
        ),
        (binding("User ann", name="b"), 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "ann"'),
        (
            binding("User ann", name="b", namespace="team", kind="Role"),
            'RBAC: allowed by RoleBinding "b/team" of Role "r" to User "ann"',
        ),
    ],
)
def test_the_reason_says_which_binding_of_which_role_to_whom(bound: dict[str, object], reason: str) -> None:
    pods = rule("list", "pods")
    made = policies(role(pods), role(pods, namespace="team"), bound)
    assert decide(made, ANN, PODS) == Decision(True, reason)


def test_the_reason_for_a_service_account_names_it_and_its_namespace() -> None:
    made = policies(role(rule("list", "pods")), binding("ServiceAccount team/robot", name="b"))
    robot = User("system:serviceaccount:team:robot")
    assert decide(made, robot, PODS).reason.endswith('to ServiceAccount "robot/team"')


def test_the_first_binding_that_allows_is_the_reason() -> None:
    bound = [binding("User ann", name=name) for name in ("c", "a", "b")]
    made = policies(role(rule("list", "pods")), *bound)
    assert 'ClusterRoleBinding "a"' in decide(made, ANN, PODS).reason


def test_a_binding_in_another_namespace_allows_nothing_here() -> None:
    made = policies(role(rule("list", "pods")), binding("User ann", namespace="other"))
    assert decide(made, ANN, PODS) == Decision(False)
    assert decide(made, ANN, Asked("list", "", "pods")) == Decision(False)


def test_a_role_of_another_namespace_is_not_there() -> None:
    made = policies(role(rule("list", "pods"), namespace="other"), binding("User ann", namespace="team", kind="Role"))
    assert decide(made, ANN, PODS) == Decision(False, 'RBAC: role.rbac.authorization.k8s.io "r" not found')


def test_a_missing_role_is_told_only_where_nothing_else_allows() -> None:
    bound = [binding("User ann", name="a", to="gone"), binding("User ann", name="b", to="lost")]
    made = policies(*bound)
    assert decide(made, ANN, PODS).reason == (
        'RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, '
        'clusterrole.rbac.authorization.k8s.io "lost" not found]'
    )
    allowed = policies(*bound, binding("User ann", name="c"), role(rule("list", "pods")))
    assert decide(allowed, ANN, PODS).allowed


def test_all_rules_of_a_user_and_what_is_missing() -> None:
    made = policies(
        role(rule("list", "pods")),
        binding("User ann", namespace="team"),
        binding("User ann", name="c", to="gone"),
    )
    assert rules_of(made, ANN, "team") == (
        [Rule(("list",), ("",), ("pods",))],
        'clusterrole.rbac.authorization.k8s.io "gone" not found',
    )
    assert rules_of(made, ANN, "other")[0] == []


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (PODS, 'User "ann" cannot list resource "pods" in API group "" in the namespace "team"'),
        (
            Asked("patch", "apps", "deployments/scale", "", "d"),
            'User "ann" cannot patch resource "deployments/scale" in API group "apps" at the cluster scope',
        ),
        (Asked("get", path="/metrics"), 'User "ann" cannot get path "/metrics"'),
    ],
)
def test_a_refusal_says_who_cannot_do_what_where(question: Asked, words: str) -> None:
    assert refusal(ANN, question) == words
