from __future__ import annotations

import json

from kumi.api.scheme import load
from kumi.apiserver.discovery import served
from kumi.apiserver.openapi import v2, v3

SCHEME = load()
V3 = [v3.document(served(SCHEME, g, "v1"), g, "v1", "v1") for g in ("", "kubeflow.org")]
MADE = v2.document(V3, "v1")


def test_everything_is_in_one_document() -> None:
    assert MADE["swagger"] == "2.0"
    assert MADE["paths"].keys() == {path for document in V3 for path in document["paths"]}
    assert MADE["definitions"].keys() == {name for document in V3 for name in document["components"]["schemas"]}


def test_references_point_into_the_document() -> None:
    text = json.dumps(MADE)
    assert "#/components/" not in text
    named = {part.split('"')[0] for part in text.split('"#/definitions/')[1:]}
    assert named <= MADE["definitions"].keys()


def test_a_body_is_a_parameter() -> None:
    post = MADE["paths"]["/api/v1/namespaces/{namespace}/pods"]["post"]
    (body,) = [p for p in post["parameters"] if p["in"] == "body"]
    assert body["schema"] == {"$ref": "#/definitions/io.k8s.api.core.v1.Pod"}
    assert body["required"]
    assert "application/json" in post["consumes"]
    assert "requestBody" not in post


def test_a_parameter_says_its_type_itself() -> None:
    parameters = MADE["paths"]["/api/v1/namespaces/{namespace}/pods"]["get"]["parameters"]
    (limit,) = [p for p in parameters if p["name"] == "limit"]
    assert limit["type"] == "integer"
    assert "schema" not in limit


def test_an_answer_says_its_schema_itself() -> None:
    answer = MADE["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["get"]["responses"]["200"]
    assert answer == {"description": "OK", "schema": {"$ref": "#/definitions/io.k8s.api.core.v1.Pod"}}


def test_a_reference_with_words_beside_it_needs_no_wrapping() -> None:
    spec = MADE["definitions"]["io.k8s.api.core.v1.Pod"]["properties"]["spec"]
    assert spec["$ref"] == "#/definitions/io.k8s.api.core.v1.PodSpec"
    assert spec["description"]
