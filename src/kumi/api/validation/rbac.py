"""What is wrong with a role or a binding.

Rules      a rule has verbs, and either API groups and resources, or paths; paths are no namespace's, so only cluster roles
           have them
Bindings   name a role (a cluster's binding a cluster role), which never changes, and subjects that can be told apart
Source     Kubernetes: using RBAC authorization; its behaviour as recorded.
Not here   whether the writer may grant that much: kumi.registry.authorization.
"""

from __future__ import annotations

from collections.abc import Iterator

from kumi.api.defaulting.rbac import GROUP
from kumi.api.errors import FieldError
from kumi.api.scheme import Validate
from kumi.api.validation.metadata import with_metadata
from kumi.api.validation.names import path_segment, subdomain
from kumi.api.validation.selector import label_selector
from kumi.api.validation.words import not_supported, required
from kumi.api.wire import JsonObject


def _rule(rule: JsonObject, path: str, *, namespaced: bool) -> Iterator[FieldError]:
    if not rule.get("verbs"):
        yield required(f"{path}.verbs", "verbs must contain at least one value")
    urls = rule.get("nonResourceURLs")
    if urls:
        if namespaced:
            detail = "namespaced rules cannot apply to non-resource URLs"
            yield FieldError(f"{path}.nonResourceURLs", detail, value=urls)
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            detail = "rules cannot apply to both regular resources and non-resource URLs"
            yield FieldError(f"{path}.nonResourceURLs", detail, value=urls)
        return
    if not rule.get("apiGroups"):
        yield required(f"{path}.apiGroups", "resource rules must supply at least one api group")
    if not rule.get("resources"):
        yield required(f"{path}.resources", "resource rules must supply at least one resource")


def _role(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    rules = enumerate(new.get("rules") or ())
    return [error for i, rule in rules for error in _rule(rule, f"rules[{i}]", namespaced=True)]


def _cluster_role(new: JsonObject, _old: JsonObject | None) -> list[FieldError]:
    rules = enumerate(new.get("rules") or ())
    errors = [error for i, rule in rules for error in _rule(rule, f"rules[{i}]", namespaced=False)]
    aggregation = new.get("aggregationRule")
    if aggregation is None:
        return errors
    path, selectors = "aggregationRule.clusterRoleSelectors", aggregation.get("clusterRoleSelectors")
    if not selectors:
        errors.append(required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil"))
    for i, selector in enumerate(selectors or ()):
        errors += label_selector(selector, f"{path}[{i}]")
    return errors


def _subject(subject: JsonObject, path: str, *, namespaced: bool) -> Iterator[FieldError]:
    kind, name, group = subject.get("kind", ""), subject.get("name"), subject.get("apiGroup", "")
    if not name:
        yield required(f"{path}.name")
    if kind == "ServiceAccount":
        if name and subdomain(name):
            yield FieldError(f"{path}.name", subdomain(name), value=name)
        if group:
            yield not_supported(f"{path}.apiGroup", group, ("",))
        if not namespaced and not subject.get("namespace"):
            yield required(f"{path}.namespace")
    elif kind in ("User", "Group"):
        if group != GROUP:
            yield not_supported(f"{path}.apiGroup", group, (GROUP,))
    else:
        yield not_supported(f"{path}.kind", kind, ("Group", "ServiceAccount", "User"))


def _binding(*kinds: str) -> Validate:
    namespaced = "Role" in kinds

    def validate(new: JsonObject, old: JsonObject | None) -> list[FieldError]:
        ref = new.get("roleRef") or {}
        kind, name, group = ref.get("kind", ""), ref.get("name"), ref.get("apiGroup") or GROUP
        errors = []
        if group != GROUP:
            errors.append(not_supported("roleRef.apiGroup", group, (GROUP,)))
        if kind not in kinds:
            errors.append(not_supported("roleRef.kind", kind, kinds))
        if not name:
            errors.append(required("roleRef.name"))
        elif wrong := path_segment(name):
            errors.append(FieldError("roleRef.name", wrong, value=name))
        for i, subject in enumerate(new.get("subjects") or ()):
            errors += _subject(subject, f"subjects[{i}]", namespaced=namespaced)
        if old is not None and old.get("roleRef") != new.get("roleRef"):
            errors.append(FieldError("roleRef", "cannot change roleRef", value=ref))
        return errors

    return validate


validate_role = with_metadata(path_segment, _role)
validate_cluster_role = with_metadata(path_segment, _cluster_role)
validate_role_binding = with_metadata(path_segment, _binding("ClusterRole", "Role"))
validate_cluster_role_binding = with_metadata(path_segment, _binding("ClusterRole"))
