from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumi.api.errors import KumiError
from kumi.kubelet.ports import Group, Ports, ephemeral_range, is_free, port_range

A, B = Group("a", 23456), Group("b", 23456)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("12"), st.booleans())), st.sets(st.integers(100, 119))
)
def test_two_groups_never_share_a_port_and_a_groups_pods_always_do(
    steps: list[tuple[str, str, bool]], busy: set[int]
) -> None:
    ports = Ports(range(100, 140), lambda port: port not in busy)
    held: dict[str, tuple[str, int]] = {}
    for group, number, takes in steps:
        pod = group + number
        if takes:
            held[pod] = (group, ports.take(Group(group, 1), pod))
        else:
            ports.release(pod)
            held.pop(pod, None)
        by_group = set(held.values())
        assert len({g for g, _ in by_group}) == len(by_group) == len({p for _, p in by_group})
        assert not busy & {p for _, p in by_group}


def test_the_port_is_free_again_with_the_groups_last_pod() -> None:
    ports = Ports(range(100, 101), lambda _: True)
    assert ports.take(A, "a1") == ports.take(A, "a2") == 100
    ports.release("a1")
    with pytest.raises(KumiError):
        ports.take(B, "b1")
    ports.release("a2")
    assert ports.take(B, "b1") == 100


def test_a_restored_port_stays_with_its_group() -> None:
    ports = Ports(range(100, 110), lambda _: True)
    ports.restore(A, "a1", 105)
    assert ports.take(A, "a2") == 105
    assert ports.take(B, "b1") != 105


def test_the_same_group_gets_the_same_port() -> None:
    assert Ports(range(100, 900), lambda _: True).take(A, "x") == Ports(range(100, 900), lambda _: True).take(A, "y")


@pytest.mark.parametrize(
    ("ephemeral", "first", "last"),
    [((32768, 60999), 20000, 32767), ((15000, 60999), 61000, 65535), ((3000, 65535), 1024, 2999)],
)
def test_ports_are_outside_the_ephemeral_range(ephemeral: tuple[int, int], first: int, last: int) -> None:
    found = port_range(ephemeral)
    assert (found[0], found[-1]) == (first, last)


def test_a_port_that_somebody_listens_on_is_not_free() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        assert not is_free(listener.getsockname()[1])


def test_the_kernels_range_is_read() -> None:
    first, last = ephemeral_range()
    assert 0 < first < last <= 65535
