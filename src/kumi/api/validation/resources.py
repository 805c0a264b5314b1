"""What containers ask for: quantities that are none or negative, requests above limits, devices in parts.

Source     Kubernetes: resource management, extended resources.
"""

from __future__ import annotations

from kumi.api.errors import FieldError
from kumi.api.quantity import QuantityError, nano
from kumi.api.validation.names import qualified
from kumi.api.wire import JsonObject

_WHOLE = 10**9


def amounts(written: JsonObject, path: str) -> tuple[dict[str, int], list[FieldError]]:
    """The amounts in thousand-millionths by resource, and every wrong one."""
    found: dict[str, int] = {}
    errors = []
    for name, value in written.items():
        here = f"{path}[{name}]"
        wrong = qualified(name)
        if wrong:
            errors.append(FieldError(here, wrong, value=name))
        try:
            found[name] = nano(value)
        except QuantityError as error:
            errors.append(FieldError(here, str(error), value=value))
            continue
        if found[name] < 0:
            errors.append(FieldError(here, "must be greater than or equal to 0", value=str(value)))
    return found, errors


def requirements(resources: JsonObject | None, path: str) -> list[FieldError]:
    """A container's `resources`."""
    requests, errors = amounts((resources or {}).get("requests") or {}, f"{path}.requests")
    limits, more = amounts((resources or {}).get("limits") or {}, f"{path}.limits")
    errors += more
    for name, amount in requests.items():
        here, device = f"{path}.requests[{name}]", is_device(name)
        limit = limits.get(name)
        if device and limit is None:
            errors.append(FieldError(f"{path}.limits", f"a limit must be set for {name}", "FieldValueRequired"))
        elif limit is not None and (amount > limit or (device and amount != limit)):
            word = "equal to" if device else "less than or equal to"
            shown = (resources or {})["requests"][name]
            errors.append(FieldError(here, f"must be {word} {name} limit of {resources['limits'][name]}", value=shown))  # type: ignore[index]
    for part, known in (("requests", requests), ("limits", limits)):
        for name, amount in known.items():
            if (is_device(name) or name == "pods") and amount % _WHOLE:
                shown = (resources or {})[part][name]
                errors.append(FieldError(f"{path}.{part}[{name}]", "must be an integer", value=str(shown)))
    return errors


def is_device(name: str) -> bool:
    """Whether a resource is an extended one: with a domain that is not Kubernetes' own."""
    domain, slash, _ = name.partition("/")
    return bool(slash) and not domain.endswith("kubernetes.io")
