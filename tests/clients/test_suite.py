"""The suite of kumi.testing.client_suite on the real clients: in process, and over HTTP with TLS."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kumi.api.core import ConfigMap
from kumi.api.scheme import SCHEME, load
from kumi.api.wire import JsonObject
from kumi.apiserver.app import make_app
from kumi.apiserver.identity import Identity
from kumi.apiserver.server import Server
from kumi.kube.client import HttpClient
from kumi.kube.config import load_config
from kumi.registry.bootstrap import bootstrap
from kumi.registry.local import LocalClient
from kumi.registry.registry import Registry
from kumi.store.memory import MemoryStore
from kumi.testing.client_suite import ClientSuite, Setting


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def make(namespace: str, name: str, value: str, labels: dict[str, str]) -> JsonObject:
    meta = {"namespace": namespace, "name": name, "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"value": value}}


def change(value: str) -> JsonObject:
    return {"data": {"value": value}}


@pytest.fixture
async def registry() -> AsyncIterator[Registry]:
    store = MemoryStore()
    made = Registry(store, load(), now_ms, lambda: str(uuid.uuid4()))
    await bootstrap(made)
    await LocalClient(made).create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})
    yield made
    await store.close()


class TestLocalClient(ClientSuite):
    @pytest.fixture
    def setting(self, registry: Registry) -> Setting:
        return Setting(LocalClient(registry), SCHEME.of(ConfigMap), make, change)


class TestHttpClient(ClientSuite):
    @pytest.fixture
    async def setting(self, registry: Registry, tmp_path: Path) -> AsyncIterator[Setting]:
        identity = Identity(tmp_path, now_ms)
        app = make_app(registry, registry.scheme, clock_ms=now_ms, authenticators=[identity])
        async with Server(app, identity=identity) as server:
            identity.write_kubeconfig(tmp_path / "kubeconfig", server.url)
            async with HttpClient(load_config(str(tmp_path / "kubeconfig"))) as client:
                yield Setting(client, SCHEME.of(ConfigMap), make, change)
