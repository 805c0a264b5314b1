from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from kumi.api.user import User
from kumi.registry.authorization.policies import Policies, whos
from tests.registry.authorization.made import binding, policies, role, rule

SUBJECTS = ("User ann", "User bob", "Group devs", "ServiceAccount team/robot")
USERS = (
    User("ann", ("devs",)),
    User("bob"),
    User("system:serviceaccount:team:robot", ("system:serviceaccounts",)),
)
binding_steps = st.lists(
    st.tuples(
        st.sampled_from(["", "team", "other"]),
        st.sampled_from("xyz"),
        st.none() | st.lists(st.sampled_from(SUBJECTS), max_size=3),
    ),
    max_size=12,
)


def names(found: Iterable[object]) -> list[str]:
    return [f"{b.place[0]}/{b.place[1]}" for b in found]  # type: ignore[attr-defined]


@given(binding_steps)
def test_after_any_changes_the_index_is_that_of_what_is_left(steps: list[tuple[str, str, list[str] | None]]) -> None:
    changed, left = Policies(), {}
    for namespace, name, subjects in steps:
        if subjects is None:
            changed.remove_binding(namespace, name)
            left.pop((namespace, name), None)
        else:
            left[namespace, name] = binding(*subjects, name=name, namespace=namespace)
            changed.set_binding(namespace, name, left[namespace, name])
    new = policies(*left.values())
    for user in USERS:
        for namespace in ("", "team", "other"):
            assert list(changed.bindings(whos(user), namespace)) == list(new.bindings(whos(user), namespace))


def test_bindings_are_found_by_name_and_by_group_the_clusters_first() -> None:
    made = policies(
        binding("Group devs", name="z"),
        binding("User ann", name="b", namespace="team"),
        binding("User ann", "Group devs", name="a", namespace="team"),
        binding("User ann", name="c", namespace="other"),
        binding("User bob", name="d"),
    )
    assert names(made.bindings(whos(USERS[0]), "team")) == ["/z", "team/a", "team/b"]
    assert names(made.bindings(whos(USERS[0]), "")) == ["/z"]


def test_a_service_account_is_a_user_and_its_namespace_may_be_left_out() -> None:
    robot = whos(USERS[2])
    made = policies(
        binding("ServiceAccount team/robot", name="a", namespace="other"),
        binding("ServiceAccount robot", name="b", namespace="team"),
        binding("ServiceAccount robot", name="c", namespace="other"),
        binding("User system:serviceaccount:team:robot", name="d", namespace="other"),
    )
    assert names(made.bindings(robot, "other")) == ["other/a", "other/d"]
    assert names(made.bindings(robot, "team")) == ["team/b"]


def test_a_group_is_no_user_of_that_name() -> None:
    made = policies(binding("Group ann"), binding("User devs", name="c"))
    assert names(made.bindings(whos(User("ann", ("devs",))), "")) == []


def test_a_subject_of_another_group_of_apis_is_nobody() -> None:
    odd = binding("User ann")
    odd["subjects"][0]["apiGroup"] = "example.com"
    assert names(policies(odd).bindings(whos(USERS[0]), "")) == []


def test_a_binding_may_speak_of_nobody() -> None:
    empty = {**binding("User ann"), "subjects": None}
    assert names(policies(empty).bindings(whos(USERS[0]), "")) == []


def test_a_role_is_known_until_it_is_removed() -> None:
    made = policies(role(rule("get", "pods")), {**role(name="empty"), "rules": None})
    assert made.rules(("", "empty")) == ()
    made.remove_role("", "r")
    made.remove_role("", "r")
    assert made.rules(("", "r")) is None
