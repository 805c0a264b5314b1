from __future__ import annotations

import ipaddress

from hypothesis import given
from hypothesis import strategies as st

from kumi.kubelet.addresses import FIRST_BLOCK, LAST_BLOCK, Addresses, hold_block


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.booleans())))
def test_live_owners_never_share_an_address_and_keep_theirs(steps: list[tuple[str, bool]]) -> None:
    addresses, live = Addresses(7), dict[str, str]()
    for owner, takes in steps:
        if takes:
            address = addresses.take(owner)
            assert live.setdefault(owner, address) == address
            assert ipaddress.ip_address(address) in ipaddress.ip_network("127.7.0.0/16")
        else:
            addresses.release(owner)
            live.pop(owner, None)
        assert len(set(live.values())) == len(live)


def test_the_same_pods_get_the_same_addresses() -> None:
    one, two = Addresses(7), Addresses(7)
    assert [one.take(o) for o in "abc"] == [two.take(o) for o in "abc"] == ["127.7.0.2", "127.7.0.3", "127.7.0.4"]


def test_a_freed_address_is_not_given_again_at_once() -> None:
    addresses = Addresses(7)
    first = addresses.take("a")
    addresses.release("a")
    assert addresses.take("b") != first


def test_a_restored_address_is_not_given_to_another() -> None:
    addresses = Addresses(7)
    addresses.restore("old", "127.7.0.2")
    assert addresses.take("new") == "127.7.0.3"
    assert addresses.take("old") == "127.7.0.2"


def test_two_clusters_of_a_machine_hold_different_blocks_and_give_them_back() -> None:
    one, two = hold_block("seed of this test"), hold_block("seed of this test")
    try:
        assert one.number != two.number
        assert FIRST_BLOCK <= two.number <= LAST_BLOCK
    finally:
        one.close()
    again = hold_block("seed of this test")
    assert again.number == one.number
    again.close()
    two.close()
