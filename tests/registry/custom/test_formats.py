"""Formats: what is right and what isn't; an unknown one says nothing."""

from __future__ import annotations

import pytest

from kumi.registry.custom.formats import wrong_format

RIGHT = {
    "date-time": ["2020-01-01T00:00:00Z", "2020-01-01t00:00:00.123+02:00"],
    "date": ["2020-02-29"],
    "duration": ["1h30m", "500ms", "3 days"],
    "ipv4": ["10.0.0.1"],
    "ipv6": ["::1"],
    "cidr": ["10.0.0.1/8", "fd00::/8"],
    "mac": ["00:1b:63:84:45:e6"],
    "uri": ["https://example.com/a?b=c", "/path"],
    "hostname": ["example.com"],
    "email": ["a@example.com"],
    "uuid": ["de305d54-75b4-431b-adb2-eb6b9e546014"],
    "uuid4": ["de305d54-75b4-431b-adb2-eb6b9e546014"],
    "byte": ["aGk=", ""],
    "isbn": ["0-306-40615-2", "9780306406157"],
    "creditcard": ["4111 1111 1111 1111"],
    "ssn": ["111-22-3333"],
    "hexcolor": ["#fff", "00ff00"],
    "rgbcolor": ["rgb(0, 10, 255)"],
    "bsonobjectid": ["507f1f77bcf86cd799439011"],
    "password": ["anything"],
    "unheard-of": ["anything"],
}
WRONG = {
    "date-time": ["2020-01-01", "2020-13-01T00:00:00Z", "2020-01-01T00:00:61Z"],
    "date": ["2021-02-29", "20200101"],
    "duration": ["1", "abc", ""],
    "ipv4": ["10.0.0", "::1"],
    "ipv6": ["10.0.0.1"],
    "cidr": ["10.0.0.1", "10.0.0.1/33"],
    "mac": ["00:1b-63:84:45:e6"],
    "uri": ["no scheme"],
    "hostname": ["-a", ""],
    "email": ["a@b@c"],
    "uuid": ["nope"],
    "uuid3": ["de305d54-75b4-431b-adb2-eb6b9e546014"],
    "byte": ["a!"],
    "isbn": ["0-306-40615-3"],
    "creditcard": ["4111 1111 1111 1112"],
    "ssn": ["1-2-3"],
    "hexcolor": ["#ffff"],
    "rgbcolor": ["rgb(0, 10, 256)"],
    "bsonobjectid": ["507f"],
}


@pytest.mark.parametrize(("format", "text"), [(f, text) for f, texts in RIGHT.items() for text in texts])
def test_what_is_right(format: str, text: str) -> None:
    assert not wrong_format(format, text)


@pytest.mark.parametrize(("format", "text"), [(f, text) for f, texts in WRONG.items() for text in texts])
def test_what_is_wrong(format: str, text: str) -> None:
    assert wrong_format(format, text)


def test_integers_have_their_bits() -> None:
    assert not wrong_format("int32", 2**31 - 1)
    assert wrong_format("int32", 2**31)
    assert wrong_format("int64", 2**63)
    assert not wrong_format("int32", True)
