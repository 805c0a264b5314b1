from __future__ import annotations

from pathlib import Path

import pytest

from kumi.api.errors import KumiError
from kumi.apiserver.authentication import AUDIENCE, User
from kumi.apiserver.token_file import TokenFile


def write(tmp_path: Path, text: str) -> TokenFile:
    path = tmp_path / "tokens.csv"
    path.write_text(text)
    return TokenFile(path)


def user(source: TokenFile, token: str) -> User | None:
    found = source.knows(token, (AUDIENCE,))
    return None if found is None else found.user


def test_each_line_is_a_user(tmp_path: Path) -> None:
    source = write(tmp_path, 'aaa,ann,u1,"devs,ops"\n\nbbb,bob,u2\nccc, carl ,,"devs"\n')
    assert user(source, "aaa") == User("ann", ("devs", "ops", "system:authenticated"), "u1")
    assert user(source, "bbb") == User("bob", ("system:authenticated",), "u2")
    assert user(source, "ccc") == User("carl ", ("devs", "system:authenticated"))


@pytest.mark.parametrize("token", ["", "aa", "aaaa", "ann", "\udcff"])
def test_other_tokens_are_unknown(tmp_path: Path, token: str) -> None:
    assert user(write(tmp_path, "aaa,ann,u1\n"), token) is None


def test_a_token_of_the_file_is_for_this_api_only(tmp_path: Path) -> None:
    assert write(tmp_path, "aaa,ann,u1\n").knows("aaa", ("vault",)) is None


@pytest.mark.parametrize(
    ("text", "line"),
    [("aaa,ann\n", 1), (",ann,u1\n", 1), ("aaa,,u1\n", 1), ("aaa,a,u\nbbb,b,u,x,y\n", 2), ("aaa,a,u\naaa,b,v\n", 2)],
)
def test_a_line_that_makes_no_sense_is_named(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(KumiError, match=f"line {line}:"):
        write(tmp_path, text)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(KumiError, match="none"):
        TokenFile(tmp_path / "none.csv")
