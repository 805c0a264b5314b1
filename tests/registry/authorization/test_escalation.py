from __future__ import annotations

import pytest
from hypothesis import given

from kumi.api.errors import ApiError
from kumi.api.rbac import ClusterRole, ClusterRoleBinding, Role, RoleBinding
from kumi.api.scheme import SCHEME, Kind, load
from kumi.api.user import MASTERS, User
from kumi.api.wire import JsonObject
from kumi.registry.authorization.escalation import check_create, check_grant
from kumi.registry.authorization.policies import Policies
from kumi.registry.authorization.rules import Asked, Rule, allows
from tests.registry.authorization.made import binding, policies, role, rule
from tests.registry.authorization.strategies import asked, rules

load()
KINDS = {t.__name__: SCHEME.of(t) for t in (Role, ClusterRole, RoleBinding, ClusterRoleBinding)}
ANN = User("ann", ("devs", "system:authenticated"))
PODS, SECRETS = rule("get", "pods"), rule("get", "secrets")
HELD = role(PODS, name="held")


def kind_of(obj: JsonObject) -> Kind:
    return KINDS[obj["kind"]]


def refused(made: Policies, new: JsonObject, old: JsonObject | None = None, user: User | None = ANN) -> ApiError | None:
    """Why it may not be written, None if it may."""
    try:
        check_grant(made, user, kind_of(new), new, old)
    except ApiError as error:
        return error
    return None


@given(rules, rules, asked)
def test_nobody_makes_a_role_that_allows_more_than_they_may(held: Rule, new: Rule, question: Asked) -> None:
    made = policies(role(held.wire(), name="held"), binding("User ann", to="held"))
    if refused(made, role(new.wire(), name="new")) is None and allows(new, question):
        assert allows(held, question)


@pytest.mark.parametrize("user", [None, User("root", (MASTERS,))])
def test_masters_and_loops_grant_what_they_like(user: User | None) -> None:
    assert refused(Policies(), role(SECRETS, namespace="team"), user=user) is None


def test_a_role_of_what_its_writer_holds_is_fine_and_of_more_is_not() -> None:
    made = policies(HELD, binding("User ann", to="held", namespace="team"))
    assert refused(made, role(PODS, namespace="team")) is None
    error = refused(made, role(PODS, SECRETS, namespace="team"))
    assert error is not None
    assert (error.code, error.reason, error.kind, error.name) == (403, "Forbidden", "roles", "r")
    assert error.message == (
        'roles.rbac.authorization.k8s.io "r" is forbidden: user "ann" (groups=["devs" "system:authenticated"]) is '
        "attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'
    )


def test_what_is_held_in_one_namespace_is_granted_in_no_other_nor_in_the_cluster() -> None:
    made = policies(HELD, binding("User ann", to="held", namespace="team"))
    assert refused(made, role(PODS, namespace="other")) is not None
    assert refused(made, role(PODS)) is not None


def test_who_may_escalate_a_role_writes_anything_into_it() -> None:
    may = role(rule("escalate", "roles", "rbac.authorization.k8s.io", resourceNames=["r"]), name="may")
    made = policies(may, binding("User ann", to="may", namespace="team"))
    assert refused(made, role(SECRETS, namespace="team")) is None
    assert refused(made, role(SECRETS, name="other", namespace="team")) is not None


def test_a_role_made_of_others_is_for_those_who_hold_everything() -> None:
    aggregating = role(aggregationRule={"clusterRoleSelectors": [{}]})
    made = policies(HELD, binding("User ann", to="held"))
    assert refused(made, aggregating) is not None
    urls = {"verbs": ["*"], "nonResourceURLs": ["*"]}
    everything = policies(role(rule("*", "*", "*"), urls, name="all"), binding("User ann", to="all"))
    assert refused(everything, aggregating) is None


def test_a_binding_of_a_role_that_its_writer_holds_is_fine_and_of_another_is_not() -> None:
    made = policies(HELD, role(SECRETS, name="more"), binding("User ann", to="held", namespace="team"))
    assert refused(made, binding("User bob", to="held", namespace="team", name="new")) is None
    assert refused(made, binding("User bob", to="held", name="new")) is not None
    error = refused(made, binding("User bob", to="more", namespace="team", name="new"))
    assert error is not None
    assert (error.code, error.kind, error.name) == (403, "rolebindings", "new")


def test_who_may_bind_a_role_binds_it_to_anybody() -> None:
    may = role(rule("bind", "clusterroles", "rbac.authorization.k8s.io", resourceNames=["more"]), name="may")
    made = policies(may, role(SECRETS, name="more"), binding("User ann", to="may", namespace="team"))
    assert refused(made, binding("User bob", to="more", namespace="team", name="new")) is None
    assert refused(made, binding("User bob", to="more", namespace="other", name="new")) is not None


def test_who_may_bind_a_role_of_the_namespace_may_not_bind_the_clusters() -> None:
    may = role(rule("bind", "roles", "rbac.authorization.k8s.io"), name="may")
    made = policies(may, role(SECRETS), role(SECRETS, namespace="team"), binding("User ann", to="may"))
    assert refused(made, binding("User bob", namespace="team", kind="Role", name="new")) is None
    assert refused(made, binding("User bob", namespace="team", name="new")) is not None


def test_a_role_that_is_not_there_can_be_bound_by_those_who_may_bind_it_only() -> None:
    error = refused(Policies(), binding("User bob", to="gone", namespace="team"))
    assert error is not None
    assert (error.code, error.kind, error.name) == (404, "clusterroles", "gone")


def test_taking_out_a_finalizer_grants_nothing_and_a_label_asks_again() -> None:
    old = role(SECRETS, namespace="team")
    old["metadata"]["finalizers"] = ["example.com/x"]
    assert refused(Policies(), role(SECRETS, namespace="team"), old) is None
    labelled = role(SECRETS, namespace="team")
    labelled["metadata"]["labels"] = {"a": "b"}
    assert refused(Policies(), labelled, old) is not None


def test_a_binding_whose_role_and_subjects_stay_may_change_otherwise() -> None:
    old = binding("User bob", to="more", namespace="team")
    new = binding("User bob", to="more", namespace="team")
    new["metadata"]["labels"] = {"a": "b"}
    assert refused(Policies(), new, old) is None
    assert refused(Policies(), binding("User ann", to="more", namespace="team"), old) is not None


def test_roles_that_are_missing_are_told_with_the_refusal() -> None:
    made = policies(binding("User ann", to="gone"))
    error = refused(made, role(SECRETS))
    assert error is not None
    assert 'resolution errors: clusterrole.rbac.authorization.k8s.io "gone" not found' in error.message


def test_what_is_made_by_another_verb_is_created() -> None:
    made = policies(role(rule("patch", "roles"), name="patcher"), binding("User ann", to="patcher"))
    check_create(made, None, KINDS["Role"], "ns", "r")
    with pytest.raises(ApiError, match='User "ann" cannot create resource "roles"') as caught:
        check_create(made, ANN, KINDS["Role"], "ns", "r")
    assert caught.value.code == 403
