"""Names: are those that a definition asks for free, and is its kind served? The conditions that say so.

    settle(definition, others, own, now)    writes status.acceptedNames and the conditions, in place

The rule   plural, singular and short names are one space of a group, kind and list kind another: each name belongs to the
           definition that had it first. A name that another has is not accepted; the rest are.
               NamesAccepted   True when all are accepted
               Established     True once they were, from then on: a kind that is served stays served
Own        a group and kind that Kumi serves itself: the definition is accepted, with a condition of its own that says that
           it isn't used; its names are Kumi's already.
Source     Kubernetes: CustomResourceDefinition status; naming controller.
"""

from __future__ import annotations

from collections.abc import Iterable

from kumi.api.scheme import Kind
from kumi.api.wire import JsonObject

ACCEPTED, ESTABLISHED, TERMINATING, OWN = "NamesAccepted", "Established", "Terminating", "ServedByKumi"
Taken = dict[str, str]
"""name -> who has it"""


def condition(definition: JsonObject, type_: str) -> JsonObject | None:
    """A condition of a definition."""
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return next((c for c in conditions if c.get("type") == type_), None)


def holds(definition: JsonObject, type_: str) -> bool:
    """Whether a condition is True."""
    found = condition(definition, type_)
    return found is not None and found.get("status") == "True"


def set_condition(definition: JsonObject, type_: str, status: bool, reason: str, message: str, now: str) -> None:
    """Writes a condition, in place; its time moves only when its status does."""
    conditions = definition.setdefault("status", {}).setdefault("conditions", [])
    found = next((c for c in conditions if c.get("type") == type_), None)
    text = "True" if status else "False"
    if found is None:
        found = {"lastTransitionTime": now}
        conditions.append(found)
    elif found.get("status") != text:
        found["lastTransitionTime"] = now
    found |= {"message": message, "reason": reason, "status": text, "type": type_}


def settle(definition: JsonObject, others: Iterable[JsonObject], own: Kind | None, now: str) -> None:
    """See the module; `others` are the definitions of the same group, `own` the kind of Kumi's that has its group and kind."""
    if own is not None:
        message = f"Kumi serves {own.resource} itself: this definition is kept and not used"
        set_condition(definition, OWN, True, "OwnKind", message, now)
        definition["status"]["acceptedNames"] = _copy(definition["spec"]["names"])
        _settled(definition, "", now)
        return
    plurals, kinds = _taken(others)
    asked = definition["spec"]["names"]
    accepted = _copy((definition.get("status") or {}).get("acceptedNames") or {"kind": "", "plural": ""})
    why = ""
    for word, taken in (("plural", plurals), ("singular", plurals), ("kind", kinds), ("listKind", kinds)):
        name = asked.get(word, "")
        if name in taken:
            why = why or f'"{name}" is already in use'
        elif name:
            accepted[word] = name
    free = [name for name in asked.get("shortNames") or () if name not in plurals]
    if len(free) < len(asked.get("shortNames") or ()):
        clash = next(name for name in asked["shortNames"] if name in plurals)
        why = why or f'"{clash}" is already in use'
    elif free:
        accepted["shortNames"] = free
    else:
        accepted.pop("shortNames", None)
    if asked.get("categories"):
        accepted["categories"] = list(asked["categories"])
    else:
        accepted.pop("categories", None)
    definition.setdefault("status", {})["acceptedNames"] = accepted
    _settled(definition, why, now)


def _settled(definition: JsonObject, why: str, now: str) -> None:
    if why:
        set_condition(definition, ACCEPTED, False, _reason(definition, why), why, now)
    else:
        set_condition(definition, ACCEPTED, True, "NoConflicts", "no conflicts found", now)
    if holds(definition, ESTABLISHED):
        return
    if why:
        set_condition(definition, ESTABLISHED, False, "NotAccepted", "not all names are accepted", now)
    else:
        message = "the initial names have been accepted"
        set_condition(definition, ESTABLISHED, True, "InitialNamesAccepted", message, now)


def _reason(definition: JsonObject, why: str) -> str:
    name = why.split('"')[1]
    words = {
        "plural": "PluralConflict",
        "singular": "SingularConflict",
        "kind": "KindConflict",
        "listKind": "ListKindConflict",
    }
    asked = definition["spec"]["names"]
    return next((reason for word, reason in words.items() if asked.get(word) == name), "ShortNamesConflict")


def _taken(others: Iterable[JsonObject]) -> tuple[Taken, Taken]:
    plurals: Taken = {}
    kinds: Taken = {}
    for other in others:
        names, who = (other.get("status") or {}).get("acceptedNames") or {}, other["metadata"]["name"]
        for name in (names.get("plural"), names.get("singular"), *(names.get("shortNames") or ())):
            if name:
                plurals[name] = who
        for name in (names.get("kind"), names.get("listKind")):
            if name:
                kinds[name] = who
    return plurals, kinds


def of_kind(kind: Kind) -> JsonObject:
    """The names of a kind that Kumi serves itself, as a definition that has them."""
    names = {
        "plural": kind.plural,
        "singular": kind.singular or kind.kind.lower(),
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
        "shortNames": list(kind.short_names),
    }
    return {"metadata": {"name": kind.resource}, "status": {"acceptedNames": names}}


def _copy(names: JsonObject) -> JsonObject:
    return {key: list(value) if isinstance(value, list) else value for key, value in names.items()}
