"""Generated names."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from kumi.registry.names import ALPHABET, LONGEST, generated


@given(st.from_regex(r"[a-z]([-a-z0-9]{0,80})", fullmatch=True), st.uuids())
def test_a_generated_name_is_its_start_and_five_characters_and_no_longer_than_a_label(start: str, uid: object) -> None:
    name = generated(start, str(uid))
    assert len(name) <= LONGEST
    assert name[:-5] == start[: LONGEST - 5]
    assert re.fullmatch(f"[{ALPHABET}]{{5}}", name[-5:])


def test_different_uids_give_different_names() -> None:
    assert len({generated("a-", f"uid-{n}") for n in range(500)}) == 500


def test_the_same_uid_gives_the_same_name() -> None:
    assert generated("a-", "uid") == generated("a-", "uid")
