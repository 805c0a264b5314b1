"""Reviews: questions about users that are sent as objects and answered at once. Nothing of them is stored, so they are not in
the scheme: there is nothing to list, watch, own or collect.

    authentication.k8s.io/v1   TokenReview, SelfSubjectReview                        who is that, who am I
    authorization.k8s.io/v1    SubjectAccessReview, LocalSubjectAccessReview,        may they do that
                               SelfSubjectAccessReview, SelfSubjectRulesReview       may I, what may I
"""

from __future__ import annotations

from kumi.api.meta import Object
from kumi.api.scheme import Kind

AUTHENTICATION, AUTHORIZATION = "authentication.k8s.io", "authorization.k8s.io"


class Review(Object):
    """What all of them are to this floor: an object."""


def _review(group: str, kind: str, *, namespaced: bool = False) -> Kind:
    package = group.partition(".")[0]
    schema = f"io.k8s.api.{package}.v1.{kind}"
    return Kind(group, "v1", kind, f"{kind.lower()}s", Review, namespaced=namespaced, schema=schema)


TOKEN_REVIEW = _review(AUTHENTICATION, "TokenReview")
SELF_SUBJECT_REVIEW = _review(AUTHENTICATION, "SelfSubjectReview")
SUBJECT_ACCESS_REVIEW = _review(AUTHORIZATION, "SubjectAccessReview")
LOCAL_SUBJECT_ACCESS_REVIEW = _review(AUTHORIZATION, "LocalSubjectAccessReview", namespaced=True)
SELF_SUBJECT_ACCESS_REVIEW = _review(AUTHORIZATION, "SelfSubjectAccessReview")
SELF_SUBJECT_RULES_REVIEW = _review(AUTHORIZATION, "SelfSubjectRulesReview")

REVIEWS = (
    TOKEN_REVIEW,
    SELF_SUBJECT_REVIEW,
    SUBJECT_ACCESS_REVIEW,
    LOCAL_SUBJECT_ACCESS_REVIEW,
    SELF_SUBJECT_ACCESS_REVIEW,
    SELF_SUBJECT_RULES_REVIEW,
)
