"""The rules of a schema: looked at once, with the definition; run on every write.

    wrong_rules(schema, path)            what is wrong with the rules themselves, under the path of the schema
    broken_rules(schema, new, old)       the rules that an object breaks

Where      a rule sees the value that it stands at as `self`, and as `oldSelf` what was there: in a list only where items are
           told apart by keys. A rule that reads `oldSelf` runs only where something was there; with optionalOldSelf it always
           runs, and `oldSelf` is an optional value.
Message    messageExpression, if it gives one; else message; else the rule.
Order      a place before the places below it; at a place as written.
Not here   what an update may leave broken: ratcheting.py.
Source     Kubernetes: validation rules, transition rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from cel_expr_python import cel

from kumi.api.errors import FieldError
from kumi.registry.custom.cel.cost import PER_DEFINITION, PER_RULE, estimate, most_of
from kumi.registry.custom.cel.data import cel_value
from kumi.registry.custom.cel.environment import OLD_SELF, SELF, RuleError, compile_rule
from kumi.registry.custom.cel.tree import names
from kumi.registry.custom.cel.types import Type, check, of_schema
from kumi.registry.custom.places import Key, Path, text_of
from kumi.registry.custom.schema import REASONS, Rule, Schema
from kumi.registry.custom.values import Wrong, canonical

LONGEST_MESSAGE = 5120
_STEP = re.compile(r"""\.(?P<name>[^.\[\]]+)|\[\s*(?P<quote>['"])(?P<key>(?:\\.|(?!(?P=quote)).)*)(?P=quote)\s*\]""")


class _Place(NamedTuple):
    """Where rules stand: the schema, its path in the definition, how often it occurs, whether what was there is known."""

    schema: Schema
    path: str
    times: float
    known: bool
    whole: bool


def wrong_rules(schema: Schema, path: str) -> list[FieldError]:
    """See the module."""
    errors, total = [], 0.0
    for place in _places(_Place(schema, path, 1, True, True)):
        for number, rule in enumerate(place.schema.rules):
            wrong, cost = _wrong_rule(place, rule, f"{place.path}.x-kubernetes-validations[{number}]")
            errors += wrong
            total += cost
    if total > PER_DEFINITION:
        factor = total / PER_DEFINITION
        what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of "
        errors.append(FieldError(path, f"{what}{_factor(factor)}", "FieldValueForbidden"))
    return errors


def broken_rules(schema: Schema, new: Any, old: Any = None) -> list[Wrong]:
    """See the module; `old` is None for a creation."""
    return list(_broken(schema, new, old, (), whole=True))


def steps_of(field_path: str) -> list[str] | None:
    """The members that a rule's fieldPath names, None if it is no such path."""
    found, rest = [], field_path
    while rest:
        step = _STEP.match(rest)
        if step is None:
            return None
        found.append(step["name"] if step["name"] is not None else re.sub(r"\\(.)", r"\1", step["key"]))
        rest = rest[step.end() :]
    return found


def reads_old(rule: Rule) -> bool:
    """Whether it is a transition rule."""
    return OLD_SELF in names(compile_rule(rule.rule).tree.root)


def _places(place: _Place) -> Iterator[_Place]:
    schema = place.schema
    if not schema.has_rules:
        return
    yield place
    for name, below in schema.properties.items():
        yield from _places(_Place(below, f"{place.path}.properties[{name}]", place.times, place.known, False))
    often = place.times * most_of(schema)
    if schema.additional is not None:
        yield from _places(_Place(schema.additional, f"{place.path}.additionalProperties", often, place.known, False))
    if schema.items is not None:
        known = place.known and schema.list_type == "map"
        yield from _places(_Place(schema.items, f"{place.path}.items", often, known, False))


def _wrong_rule(place: _Place, rule: Rule, path: str) -> tuple[list[FieldError], float]:
    """What is wrong with a rule, and what it costs in all."""
    errors = []
    if not rule.rule.strip():
        errors.append(FieldError(f"{path}.rule", "rule is not specified", "FieldValueRequired"))
    if rule.message and not rule.message.strip():
        errors.append(FieldError(f"{path}.message", "message must be non-empty if specified", value=rule.message))
    elif "\n" in rule.message.strip():
        errors.append(FieldError(f"{path}.message", "message must not contain line breaks", value=rule.message))
    elif len(rule.message) > 2048:
        errors.append(
            FieldError(f"{path}.message", "message must have a maximum length of 2048 characters", value="...")
        )
    elif "\n" in rule.rule.strip() and not rule.message and not rule.message_expression:
        what = "message or messageExpression must be specified if rule contains line breaks"
        errors.append(FieldError(f"{path}.message", what, "FieldValueRequired"))
    if rule.reason not in REASONS:
        words = ", ".join(f'"{reason}"' for reason in sorted(REASONS))
        errors.append(FieldError(f"{path}.reason", f"supported values: {words}", "FieldValueNotSupported", rule.reason))
    errors += _wrong_field_path(place.schema, rule, path)
    if not rule.rule.strip():
        return errors, 0
    found, cost = _wrong_expression(place, rule, rule.rule, f"{path}.rule", "bool")
    errors += found
    if rule.message_expression:
        errors += _wrong_expression(place, rule, rule.message_expression, f"{path}.messageExpression", "string")[0]
    return errors, cost


def _wrong_field_path(schema: Schema, rule: Rule, path: str) -> list[FieldError]:
    if not rule.field_path:
        return []
    here: Schema | None = schema
    for step in steps_of(rule.field_path) or [""]:
        here = here.below(step) if here is not None else None
    if here is None:
        what = f"fieldPath must be a valid path: does not refer to a field of the schema: {rule.field_path}"
        return [FieldError(f"{path}.fieldPath", what, value=rule.field_path)]
    return []


def _wrong_expression(place: _Place, rule: Rule, text: str, path: str, wanted: str) -> tuple[list[FieldError], float]:
    own = of_schema(place.schema, whole=place.whole)
    scope = {SELF: own, OLD_SELF: Type("optional", own) if rule.optional_old_self else own}
    try:
        tree = compile_rule(text).tree
        transition = OLD_SELF in names(tree.root)
        types = check(tree, scope)
    except RuleError as error:
        return [FieldError(path, f"compilation failed: {error}", value=text)], 0
    errors = []
    if types.root.name not in (wanted, "dyn"):
        errors.append(FieldError(path, f"cel expression must evaluate to a {wanted}", value=text))
    if transition and not place.known:
        what = "oldSelf cannot be used on the uncorrelatable portion of the schema"
        errors.append(FieldError(path, what, value=text))
    if rule.optional_old_self and wanted == "bool" and not transition:
        what = "optionalOldSelf must not be set if oldSelf is not used"
        errors.append(FieldError(path.replace(".rule", ".optionalOldSelf"), what, value=True))
    cost = place.times * estimate(tree, types)
    if cost > PER_RULE:
        what = (
            f"estimated rule cost exceeds budget by factor of {_factor(cost / PER_RULE)} (try simplifying the rule, or "
            "adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
        )
        errors.append(FieldError(path, what, "FieldValueForbidden"))
    return errors, cost


def _factor(factor: float) -> str:
    return "more than 100x" if factor > 100 else f"{factor:.1f}x"


def _broken(schema: Schema, new: Any, old: Any, path: Path, *, whole: bool = False) -> Iterator[Wrong]:
    if not schema.has_rules or new is None:
        return
    if schema.rules:
        yield from _broken_here(schema, new, old, path, whole=whole)
    if isinstance(new, dict):
        before = old if isinstance(old, dict) else {}
        for name, value in new.items():
            below = schema.below(name)
            if below is not None:
                step = name if name in schema.properties else Key(name)
                yield from _broken(below, value, before.get(name), (*path, step))
    elif isinstance(new, list) and schema.items is not None:
        matching = _by_keys(schema, old)
        for index, item in enumerate(new):
            was = matching.get(_identity(schema, item)) if matching else None
            yield from _broken(schema.items, item, was, (*path, index))


def _by_keys(schema: Schema, items: Any) -> dict[bytes, Any]:
    if schema.list_type != "map" or not isinstance(items, list):
        return {}
    return {_identity(schema, item): item for item in items}


def _identity(schema: Schema, item: Any) -> bytes:
    return canonical({key: item.get(key) for key in schema.list_keys} if isinstance(item, dict) else item)


def _broken_here(schema: Schema, new: Any, old: Any, path: Path, *, whole: bool) -> Iterator[Wrong]:
    try:
        data = {SELF: cel_value(schema, new, whole=whole), OLD_SELF: None}
        if old is not None:
            data[OLD_SELF] = cel_value(schema, old, whole=whole)
    except ValueError as error:
        yield Wrong(path, path, FieldError(text_of(path), str(error)))
        return
    for rule in schema.rules:
        if old is None and not rule.optional_old_self and reads_old(rule):
            continue
        place = (*path, *(steps_of(rule.field_path) or ()))
        try:
            if _run(rule, rule.rule, data) is not True:
                yield Wrong(place, path, FieldError(text_of(place), _message(rule, data), rule.reason))
        except RuleError as error:
            detail = f"{error} evaluating rule: {rule.message or rule.rule}"
            yield Wrong(place, path, FieldError(text_of(place), detail))


def _run(rule: Rule, text: str, data: dict[str, Any]) -> Any:
    """What an expression gives. RuleError: it fails."""
    if rule.optional_old_self:
        value = "optional.none()" if data[OLD_SELF] is None else f"optional.of({OLD_SELF})"
        text = f"cel.bind({OLD_SELF}, {value}, {text}\n)"
    try:
        found = compile_rule(text).expression.eval(data=data)
    except RuntimeError as error:
        if "budget" in str(error):
            raise RuleError("the rule runs out of its cost budget") from error
        raise RuleError(str(error)) from error
    if found.type() == cel.Type.ERROR:
        raise RuleError(_reason(str(found.value())))
    return found.value()


def _reason(text: str) -> str:
    text = re.sub(r"^[A-Z_]+: ", "", text)
    missing = re.match(r'Key not found in map : "(.*)"', text)
    return f"no such key: {missing[1]}" if missing else text


def _message(rule: Rule, data: dict[str, Any]) -> str:
    if rule.message_expression:
        with suppress(RuleError):
            found = _run(rule, rule.message_expression, data)
            if isinstance(found, str) and found.strip() and len(found) <= LONGEST_MESSAGE and "\n" not in found.strip():
                return found.strip()
    return rule.message.strip() or f"failed rule: {rule.rule.strip()}"
