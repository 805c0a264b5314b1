from __future__ import annotations

import base64

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from kumi.apiserver import jwt

KEY, OTHER = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
KEYS = {jwt.key_id(KEY.public_key()): KEY.public_key()}
TOKEN = jwt.sign(KEY, {"sub": "ann"})


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.integers(0, 2**40), max_size=4))
def test_what_is_signed_is_read(claims: dict[str, object]) -> None:
    assert jwt.verified(KEYS, jwt.sign(KEY, claims)) == claims


@given(st.integers(0, len(TOKEN) - 1), st.sampled_from("Aa-_.0=\u00e9"))
def test_a_token_with_one_other_character_is_none(place: int, character: str) -> None:
    changed = TOKEN[:place] + character + TOKEN[place + 1 :]
    if changed != TOKEN:
        assert jwt.verified(KEYS, changed) is None


@given(st.text(max_size=60) | st.lists(st.text("ab-_.=", max_size=8), min_size=3, max_size=3).map(".".join))
def test_any_other_text_is_none(text: str) -> None:
    assert jwt.verified(KEYS, text) is None


def test_a_token_of_another_key_is_none() -> None:
    assert jwt.verified(KEYS, jwt.sign(OTHER, {"sub": "ann"})) is None


def forged(header: dict[str, object], signature: str | None = None) -> str:
    _, claims, ours = TOKEN.split(".")
    return f"{jwt.encode(orjson.dumps(header))}.{claims}.{ours if signature is None else signature}"


@pytest.mark.parametrize("algorithm", ["none", "HS256", "RS256", None])
def test_the_algorithm_is_not_the_senders_choice(algorithm: str | None) -> None:
    kid = jwt.key_id(KEY.public_key())
    assert jwt.verified(KEYS, forged({"alg": algorithm, "kid": kid})) is None
    assert jwt.verified(KEYS, forged({"alg": algorithm, "kid": kid}, "")) is None


def test_a_header_without_a_key_is_none() -> None:
    assert jwt.verified(KEYS, forged({"alg": "ES256"})) is None


def test_a_signature_of_zeros_is_none() -> None:
    head, claims, _ = TOKEN.split(".")
    assert jwt.verified(KEYS, f"{head}.{claims}.{jwt.encode(bytes(64))}") is None


def test_a_monster_is_not_looked_at() -> None:
    assert jwt.verified(KEYS, jwt.sign(KEY, {"x": "y" * jwt.LONGEST})) is None


def test_the_public_key_is_the_keys_point_and_nothing_private() -> None:
    found = jwt.public(KEY.public_key())
    x = int.from_bytes(base64.urlsafe_b64decode(found["x"] + "="), "big")
    assert x == KEY.public_key().public_numbers().x
    assert set(found) == {"use", "kty", "kid", "crv", "alg", "x", "y"}
