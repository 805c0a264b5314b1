"""Kubeconfigs for a server: whom to trust, where it is, and who one is, in one file."""

from __future__ import annotations

import base64

import yaml

from kumi.api.wire import JsonObject

CONTEXT = "kumi"


def text(
    url: str, authority: bytes, credentials: JsonObject, *, user: str = CONTEXT, namespace: str = "default"
) -> str:
    """The file, as YAML, for the server at `url` (`https://127.0.0.1:6443`). `authority`: PEM."""
    cluster = {"server": url, "certificate-authority-data": _data(authority)}
    context = {"cluster": CONTEXT, "user": user, "namespace": namespace}
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": CONTEXT, "cluster": cluster}],
            "users": [{"name": user, "user": credentials}],
            "contexts": [{"name": CONTEXT, "context": context}],
            "current-context": CONTEXT,
            "preferences": {},
        },
        sort_keys=False,
    )


def by_token(token: str) -> JsonObject:
    """Credentials: a bearer token."""
    return {"token": token}


def by_certificate(certificate: bytes, key: bytes) -> JsonObject:
    """Credentials: a client certificate and its key, as PEM."""
    return {"client-certificate-data": _data(certificate), "client-key-data": _data(key)}


def _data(pem: bytes) -> str:
    return base64.b64encode(pem).decode()
