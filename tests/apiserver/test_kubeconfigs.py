from __future__ import annotations

import base64

import yaml

from kumi.apiserver.kubeconfigs import by_certificate, by_token, text


def test_a_kubeconfig_says_where_whom_to_trust_and_who_one_is() -> None:
    config = yaml.safe_load(text("https://h:1", b"PEM", by_token("secret")))
    assert config["clusters"] == [
        {"name": "kumi", "cluster": {"server": "https://h:1", "certificate-authority-data": "UEVN"}}
    ]
    assert config["users"] == [{"name": "kumi", "user": {"token": "secret"}}]
    assert config["contexts"][0]["context"] == {"cluster": "kumi", "user": "kumi", "namespace": "default"}
    assert config["current-context"] == "kumi"


def test_it_may_be_of_somebody_else_with_a_certificate_in_another_namespace() -> None:
    config = yaml.safe_load(text("https://h:1", b"PEM", by_certificate(b"C", b"K"), user="jane", namespace="team"))
    (user,) = config["users"]
    assert user["name"] == "jane"
    assert base64.b64decode(user["user"]["client-certificate-data"]) == b"C"
    assert base64.b64decode(user["user"]["client-key-data"]) == b"K"
    assert config["contexts"][0]["context"] == {"cluster": "kumi", "user": "jane", "namespace": "team"}
