"""Names: the few grammars that all names, labels and keys follow. Each rule gives "" or what is wrong, for an error's detail.

Source     RFC 1123, RFC 1035; Kubernetes: object names, labels and selectors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from kumi.api.errors import FieldError

Rule = Callable[[str], str]

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_1035 = r"[a-z]([-a-z0-9]*[a-z0-9])?"
_KEY = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = rf"({_KEY})?"
_CONFIG_KEY = r"[-._a-zA-Z0-9]+"
_PORT_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
_ENV_NAME = re.compile(r"[ -<>-~]+")


def _rule(what: str, pattern: str, example: str, longest: int) -> Rule:
    compiled = re.compile(pattern)

    def rule(name: str) -> str:
        if len(name) > longest:
            return f"must be no more than {longest} characters"
        if compiled.fullmatch(name):
            return ""
        return f"{what} (e.g. '{example}', regex used for validation is '{pattern}')"

    return rule


label = _rule(
    "a lowercase RFC 1123 label consists of lower case alphanumeric characters or '-', "
    "and starts and ends with an alphanumeric character",
    _LABEL,
    "my-name",
    63,
)
label_1035 = _rule(
    "a DNS-1035 label consists of lower case alphanumeric characters or '-', starts with an alphabetic character, "
    "and ends with an alphanumeric character",
    _LABEL_1035,
    "my-name",
    63,
)
subdomain = _rule(
    "a lowercase RFC 1123 subdomain consists of lower case alphanumeric characters, '-' or '.', "
    "and starts and ends with an alphanumeric character",
    _SUBDOMAIN,
    "example.com",
    253,
)
label_value = _rule(
    "a valid label is an empty string or consists of alphanumeric characters, '-', '_' or '.', "
    "and starts and ends with an alphanumeric character",
    _VALUE,
    "MyValue",
    63,
)
_key_name = _rule(
    "name part consists of alphanumeric characters, '-', '_' or '.', and starts and ends with an alphanumeric character",
    _KEY,
    "MyName",
    63,
)
config_key = _rule(
    "a valid config key consists of alphanumeric characters, '-', '_' or '.'", _CONFIG_KEY, "key.name", 253
)


def qualified(name: str) -> str:
    """A label key, a resource, a finalizer: `name` or `domain/name`."""
    prefix, slash, rest = name.rpartition("/")
    if slash:
        wrong = "prefix part must not be empty" if not prefix else subdomain(prefix)
        if wrong:
            return f"prefix part: {wrong}" if prefix else wrong
    return "name part must not be empty" if not rest else _key_name(rest)


def path_segment(name: str) -> str:
    """A name that only has to fit in a URL."""
    if name in (".", ".."):
        return f"may not be '{name}'"
    return "may not contain '/' or '%'" if "/" in name or "%" in name else ""


def env_name(name: str) -> str:
    """The name of an environment variable."""
    return "" if _ENV_NAME.fullmatch(name) else "must be printable ASCII characters other than '='"


def port_name(name: str) -> str:
    """The name of a port: up to 15 letters (one at least), digits and single dashes."""
    if len(name) > 15:
        return "must be no more than 15 characters"
    good = _PORT_NAME.fullmatch(name) and "--" not in name and any(c.isalpha() for c in name)
    return "" if good else "must be lower case letters, digits and single '-', with one letter at least"


def labels(values: Mapping[str, str] | None, path: str, *, keys: bool = False) -> list[FieldError]:
    """Every bad key and value of a map of labels, told at the map. `keys` looks at keys only (annotations)."""
    errors = []
    for key, value in (values or {}).items():
        wrong = qualified(key.lower() if keys else key)
        if wrong:
            errors.append(FieldError(path, wrong, value=key))
        wrong = "" if keys else label_value(value)
        if wrong:
            errors.append(FieldError(path, wrong, value=value))
    return errors
