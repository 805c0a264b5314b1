"""Formats of text and numbers that a server enforces; a format that is not known here says nothing.

    wrong_format(format, value) -> whether the value is not of that format
Source     Kubernetes: structural schemas, supported formats (those of go-openapi/strfmt).
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import ipaddress
import re
from collections.abc import Callable
from urllib.parse import urlsplit

INT32 = range(-(2**31), 2**31)
INT64 = range(-(2**63), 2**63)

_DATE_TIME = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})([.,]\d+)?([Zz]|[+-]\d{2}:\d{2})\Z"
)  # fmt: skip
_HOSTNAME = re.compile(r"(?=.{1,255}\Z)[A-Za-z0-9]([-A-Za-z0-9_]{0,62})(\.[A-Za-z0-9]([-A-Za-z0-9_]{0,62}))*\.?\Z")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\Z")
_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?([0-9a-f])[0-9a-f]{3}-?([0-9a-f])[0-9a-f]{3}-?[0-9a-f]{12}\Z", re.I)
_DURATION = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*\Z")
_WORDS = re.compile(
    r"\s*(\d+)\s*(ns|nanos?|nanoseconds?|us|µs|micros?|microseconds?|ms|millis?|milliseconds?|s|secs?|seconds?|m|mins?|"
    r"minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?)\Z",
    re.I,
)


def wrong_format(format: str, value: object) -> bool:
    """See the module."""
    if isinstance(value, str):
        right = _TEXT.get(format)
        return right is not None and not right(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        bounds = {"int32": INT32, "int64": INT64}.get(format)
        return bounds is not None and not bounds.start <= value < bounds.stop
    return False


def _parses(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def right(text: str) -> bool:
        try:
            parse(text)
        except (ValueError, binascii.Error):
            return False
        return True

    return right


def _date_time(text: str) -> bool:
    found = _DATE_TIME.match(text)
    if found is None:
        return False
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    try:
        dt.datetime(year or 1, month, day, hour, minute, min(second, 59))
    except ValueError:
        return False
    return second < 60


def _uri(text: str) -> bool:
    parts = urlsplit(text)
    return bool(parts.scheme) or text.startswith("/")


def _uuid(versions: str) -> Callable[[str], bool]:
    def right(text: str) -> bool:
        found = _UUID.match(text)
        return found is not None and (not versions or (found[1] in versions and found[2].lower() in "89ab"))

    return right


def _base64(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _luhn(text: str) -> bool:
    digits = [int(c) for c in re.sub(r"[ -]", "", text) if c.isdigit()]
    if not 13 <= len(digits) <= 19 or not re.fullmatch(r"[\d -]+", text):
        return False
    doubled = (sum(divmod(2 * d, 10)) if place % 2 else d for place, d in enumerate(reversed(digits)))
    return sum(doubled) % 10 == 0


def _isbn(size: int) -> Callable[[str], bool]:
    def right(text: str) -> bool:
        plain = re.sub(r"[ -]", "", text)
        if size == 10:
            digits = [10 if c in "Xx" else int(c) for c in plain if c.isdigit() or c in "Xx"]
            return (
                bool(re.fullmatch(r"\d{9}[\dXx]", plain)) and sum((10 - i) * d for i, d in enumerate(digits)) % 11 == 0
            )
        return (
            bool(re.fullmatch(r"\d{13}", plain))
            and sum(int(c) * (3 if i % 2 else 1) for i, c in enumerate(plain)) % 10 == 0
        )

    return right


_TEXT: dict[str, Callable[[str], bool]] = {
    "bsonobjectid": lambda text: bool(re.fullmatch(r"[0-9a-fA-F]{24}", text)),
    "uri": _parses(lambda text: None if _uri(text) else int("")),
    "email": lambda text: bool(_EMAIL.match(text)),
    "hostname": lambda text: bool(_HOSTNAME.match(text)),
    "ipv4": _parses(ipaddress.IPv4Address),
    "ipv6": _parses(ipaddress.IPv6Address),
    "cidr": _parses(lambda text: ipaddress.ip_interface(text) if "/" in text else int("")),
    "mac": lambda text: bool(re.fullmatch(r"([0-9A-Fa-f]{2}([:-]))(?:[0-9A-Fa-f]{2}\2){4}[0-9A-Fa-f]{2}", text)),
    "uuid": _uuid(""),
    "uuid3": _uuid("3"),
    "uuid4": _uuid("4"),
    "uuid5": _uuid("5"),
    "isbn": lambda text: _isbn(10)(text) or _isbn(13)(text),
    "isbn10": _isbn(10),
    "isbn13": _isbn(13),
    "creditcard": _luhn,
    "ssn": lambda text: bool(re.fullmatch(r"\d{3}[- ]?\d{2}[- ]?\d{4}", text)),
    "hexcolor": lambda text: bool(re.fullmatch(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})", text)),
    "rgbcolor": lambda text: (
        (found := re.fullmatch(r"rgb\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)", text)) is not None
        and all(int(part) < 256 for part in found.groups())
    ),
    "byte": _parses(_base64),
    "date": _parses(lambda text: dt.date.fromisoformat(text) if len(text) == 10 else int("")),
    "date-time": _date_time,
    "datetime": _date_time,
    "duration": lambda text: bool(_DURATION.match(text) or _WORDS.match(text)),
}
