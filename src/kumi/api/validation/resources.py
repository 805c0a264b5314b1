"""What containers ask for: quantities that are none or negative, requests above limits, devices in parts.

Source     Kubernetes: resource management, extended resources.
"""

from __future__ import annotations

from kumi.api.errors import FieldError
from kumi.api.quantity import QuantityError, nano
from kumi.api.validation.names import qualified
from kumi.api.wire import JsonObject

_WHOLE = 10**9
_STANDARD = ("cpu", "memory", "ephemeral-storage")


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
        device, limit = is_device(name), limits.get(name)
        if device and limit is None:
            errors.append(FieldError(f"{path}.limits", f"a limit must be set for {name}", "FieldValueRequired"))
        elif limit is not None and (amount > limit or (device and amount != limit)):
            word = "equal to" if device else "less than or equal to"
            shown = (resources or {})["requests"][name]
            detail = f"must be {word} {name} limit of {resources['limits'][name]}"  # type: ignore[index]
            errors.append(FieldError(f"{path}.requests", detail, value=str(shown)))
    for part, known in (("requests", requests), ("limits", limits)):
        for name, amount in known.items():
            here = f"{path}.{part}[{name}]"
            if not is_known(name):
                errors.append(FieldError(here, "must be a standard resource type or fully qualified", value=name))
                errors.append(FieldError(here, "must be a standard resource for containers", value=name))
            if is_device(name) and amount % _WHOLE:
                shown = (resources or {})[part][name]
                errors.append(FieldError(here, "must be an integer", value=str(shown)))
    return errors


def is_known(name: str) -> bool:
    """Whether containers may ask for it: cpu, memory, ephemeral storage, huge pages, and what has a domain."""
    return "/" in name or name in _STANDARD or name.startswith("hugepages-")


def is_device(name: str) -> bool:
    """Whether a resource is an extended one: with a domain that is not Kubernetes' own."""
    domain, slash, _ = name.partition("/")
    return bool(slash) and not domain.endswith("kubernetes.io")
