"""The client against the embedded server over TLS, and against servers that misbehave."""

from __future__ import annotations

import asyncio
import datetime as dt
import itertools
import ssl
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kumi.api.core import ConfigMap, Node, Pod
from kumi.api.errors import ApiError, KumiError
from kumi.api.scheme import SCHEME, Kind, load
from kumi.api.wire import JsonObject, WatchEvent
from kumi.apiserver.app import make_app
from kumi.apiserver.identity import Identity
from kumi.apiserver.server import Server
from kumi.kube.client import HttpClient, error_from_answer, object_path
from kumi.kube.config import Config, load_config
from kumi.kube.credentials import Credential, Fixed, TokenFile
from kumi.registry.bootstrap import bootstrap
from kumi.registry.registry import Registry
from kumi.runtime.streams import LogOptions
from kumi.store.memory import MemoryStore

load()
CONFIG_MAPS, PODS, NODES = (SCHEME.of(t) for t in (ConfigMap, Pod, Node))
DEADLINE_S = 20


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class Logs:
    """One line, then with `follow` another."""

    async def logs(self, pod: JsonObject, options: LogOptions) -> AsyncIterator[bytes]:
        yield f"{pod['metadata']['name']} {options.container} {options.tail_lines}\n".encode()
        if options.follow:
            yield b"more\n"


@pytest.fixture
async def store() -> AsyncIterator[MemoryStore]:
    store = MemoryStore()
    yield store
    await store.close()


@pytest.fixture
async def kubeconfig(tmp_path: Path, store: MemoryStore) -> AsyncIterator[Path]:
    """The kubeconfig of a running server."""
    numbers = itertools.count()
    registry = Registry(store, load(), now_ms, lambda: f"00000000-0000-4000-8000-{next(numbers):012}")
    await bootstrap(registry)
    identity = Identity(tmp_path, now_ms)
    app = make_app(registry, registry.scheme, clock_ms=now_ms, logs=Logs(), authenticators=[identity])
    async with Server(app, identity=identity) as server:
        identity.write_kubeconfig(tmp_path / "kubeconfig", server.url)
        yield tmp_path / "kubeconfig"


@pytest.fixture
async def client(kubeconfig: Path) -> AsyncIterator[HttpClient]:
    async with HttpClient(load_config(str(kubeconfig))) as client:
        yield client


async def no_sleep(_: float) -> None:
    """Waiting, without the waiting."""


class Sleeps:
    """Remembers how long it was asked to wait."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


@asynccontextmanager
async def answering(handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> AsyncIterator[Config]:
    """A plain server that answers everything with `handler`."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    async with Server(app) as server:
        yield Config(server.url)


def config_map(name: str = "a", **data: str) -> JsonObject:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}, "data": data}


def pod(**spec: object) -> JsonObject:
    body = {"containers": [{"name": "c", "image": "i"}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default"}, "spec": body}


async def test_an_object_is_made_read_changed_and_removed(client: HttpClient) -> None:
    made = await client.create(config_map(k="1"))
    assert (await client.get(CONFIG_MAPS, "default", "a"))["metadata"]["uid"] == made["metadata"]["uid"]
    changed = await client.patch(CONFIG_MAPS, "default", "a", {"data": {"k": "2"}})
    assert changed["data"] == {"k": "2"}
    changed = await client.patch(CONFIG_MAPS, "default", "a", [{"op": "remove", "path": "/data/k"}], type="json")
    assert "k" not in changed.get("data", {})
    await client.delete(CONFIG_MAPS, "default", "a", uid=made["metadata"]["uid"])
    with pytest.raises(ApiError) as gone:
        await client.get(CONFIG_MAPS, "default", "a")
    assert (gone.value.code, gone.value.reason, gone.value.name) == (404, "NotFound", "a")


async def test_a_patch_may_be_written_in_any_version_that_is_served(client: HttpClient) -> None:
    old = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue", "metadata": {"name": "q"}}
    await client.create({**old, "spec": {"cohort": "a"}})
    kind = SCHEME.of_object(old)
    assert kind is not None
    answered = await client.patch(kind, "", "q", {**old, "spec": {"cohort": "b"}})
    assert (answered["apiVersion"], answered["spec"]["cohort"]) == (old["apiVersion"], "b")
    assert (await client.get(kind, "", "q"))["spec"]["cohortName"] == "b"


async def test_a_strict_client_is_refused_what_nobody_knows(client: HttpClient) -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}, "dta": {}}
    assert "dta" not in await client.create(config)
    async with HttpClient(client.config, strict=True) as strict:
        with pytest.raises(ApiError, match='unknown field "dta"'):
            await strict.create({**config, "metadata": {"name": "d", "namespace": "default"}})
        with pytest.raises(ApiError, match='unknown field "dta"'):
            await strict.patch(CONFIG_MAPS, "default", "c", {"dta": {}})


async def test_an_object_without_a_namespace_goes_to_that_of_the_configuration(client: HttpClient) -> None:
    body = config_map()
    del body["metadata"]["namespace"]
    assert (await client.create(body))["metadata"]["namespace"] == "default"


async def test_another_object_of_that_name_is_not_deleted(client: HttpClient) -> None:
    await client.create(config_map())
    with pytest.raises(ApiError) as refused:
        await client.delete(CONFIG_MAPS, "default", "a", uid="another", grace_seconds=0)
    assert refused.value.code == 409


async def test_items_of_a_list_say_what_they_are(client: HttpClient) -> None:
    for name in ("a", "b"):
        body = config_map(name)
        body["metadata"]["labels"] = {"n": name}
        await client.create(body)
    page = await client.list(CONFIG_MAPS, "default", labels="n in (a,b)")
    assert [(i["kind"], i["apiVersion"], i["metadata"]["name"]) for i in page.items] == [
        ("ConfigMap", "v1", "a"),
        ("ConfigMap", "v1", "b"),
    ]
    assert page.revision
    assert (await client.list(CONFIG_MAPS, fields="metadata.name=b")).items == page.items[1:]


async def test_a_watch_tells_what_changes_after_a_list(client: HttpClient) -> None:
    page = await client.list(CONFIG_MAPS)
    watch = client.watch(CONFIG_MAPS, revision=page.revision)
    await client.create(config_map())
    await client.delete(CONFIG_MAPS, "default", "a")
    found: list[WatchEvent] = [await asyncio.wait_for(anext(watch), DEADLINE_S) for _ in range(2)]
    assert [(e.type, e.object["metadata"]["name"]) for e in found] == [("ADDED", "a"), ("DELETED", "a")]
    await watch.aclose()  # type: ignore[attr-defined]


async def test_a_watch_from_a_revision_that_is_gone_is_a_410(client: HttpClient, store: MemoryStore) -> None:
    start = (await client.list(CONFIG_MAPS)).revision
    for name in ("a", "b"):
        await client.create(config_map(name))
    await store.compact(store.revision)
    with pytest.raises(ApiError) as gone:
        await asyncio.wait_for(anext(client.watch(CONFIG_MAPS, revision=start)), DEADLINE_S)
    assert gone.value.code == 410


async def test_a_pod_is_bound(client: HttpClient) -> None:
    await client.create(pod())
    target = {"apiVersion": "v1", "kind": "Node", "name": "n"}
    meta = {"name": "p", "namespace": "default"}
    await client.create(
        {"apiVersion": "v1", "kind": "Binding", "metadata": meta, "target": target}, subresource="binding"
    )
    assert (await client.get(PODS, "default", "p"))["spec"]["nodeName"] == "n"


async def test_a_status_is_patched(client: HttpClient) -> None:
    await client.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
    patched = await client.patch(NODES, "", "n", {"status": {"capacity": {"cpu": "2"}}}, subresource="status")
    assert patched["status"]["capacity"] == {"cpu": "2"}


async def test_a_log_is_followed(client: HttpClient) -> None:
    await client.create(pod(nodeName="n"))
    chunks = [c async for c in client.logs("default", "p", follow=True, tail_lines=3, previous=True, since_seconds=9)]
    assert b"".join(chunks) == b"p c 3\nmore\n"
    with pytest.raises(ApiError, match='"missing" not found'):
        await anext(client.logs("default", "missing"))


async def test_the_version_is_told(client: HttpClient) -> None:
    assert (await client.version())["major"] == "1"


async def test_every_wrong_field_is_told(client: HttpClient) -> None:
    body = config_map("Bad_Name")
    with pytest.raises(ApiError) as refused:
        await client.create(body)
    assert refused.value.code == 422
    assert [cause.path for cause in refused.value.causes] == ["metadata.name"]


async def test_a_kind_that_is_not_known_is_an_error(client: HttpClient) -> None:
    with pytest.raises(KumiError, match="not known"):
        await client.create({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}})


def changed(kubeconfig: Path, tmp_path: Path, **cluster: object) -> Config:
    """The kubeconfig with another cluster entry; None takes a field out."""
    content = yaml.safe_load(kubeconfig.read_text())
    entry = content["clusters"][0]["cluster"]
    entry |= cluster
    content["clusters"][0]["cluster"] = {k: v for k, v in entry.items() if v is not None}
    path = tmp_path / "changed"
    path.write_text(yaml.safe_dump(content))
    return load_config(str(path))


async def test_a_server_that_nobody_vouches_for_is_not_talked_to(kubeconfig: Path, tmp_path: Path) -> None:
    config = changed(kubeconfig, tmp_path, **{"certificate-authority-data": None})
    async with HttpClient(config) as client:
        with pytest.raises(KumiError, match="trusted"):
            await client.version()


async def test_nobody_need_vouch_when_verification_is_skipped(kubeconfig: Path, tmp_path: Path) -> None:
    change = {"certificate-authority-data": None, "insecure-skip-tls-verify": True}
    async with HttpClient(changed(kubeconfig, tmp_path, **change)) as client:
        assert await client.version()


@pytest.mark.parametrize(("name", "trusted"), [("kubernetes.default.svc", True), ("other.example", False)])
async def test_the_name_in_the_certificate_can_be_another(
    kubeconfig: Path, tmp_path: Path, name: str, trusted: bool
) -> None:
    async with HttpClient(changed(kubeconfig, tmp_path, **{"tls-server-name": name})) as client:
        if trusted:
            assert await client.version()
        else:
            with pytest.raises(KumiError, match="trusted"):
                await client.version()


async def test_a_token_in_a_file_is_read_again_when_it_is_refused(kubeconfig: Path, tmp_path: Path) -> None:
    config = load_config(str(kubeconfig))
    good = (await config.credentials.current()).token
    path = tmp_path / "token"
    path.write_text("stale")
    async with HttpClient(replace(config, credentials=TokenFile(path))) as client:
        with pytest.raises(ApiError, match="Unauthorized"):
            await client.list(PODS)
        path.write_text(good)
        assert (await client.list(PODS)).items == []


class Renewing:
    """Credentials of which the first is no longer good."""

    def __init__(self) -> None:
        self.token = "old"

    async def current(self) -> Credential:
        return Credential(token=self.token)

    def refused(self, credential: Credential) -> bool:
        self.token = "new"
        return credential.token == "old"


async def test_a_refused_credential_is_renewed_once() -> None:
    asked: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        asked.append(request.headers["Authorization"])
        return web.json_response({}, status=200 if asked[-1] == "Bearer new" else 401)

    async with answering(handler) as config, HttpClient(replace(config, credentials=Renewing())) as client:
        await client.request("POST", "/x", body={})
    assert asked == ["Bearer old", "Bearer new"]


async def test_a_server_that_asks_for_patience_gets_it() -> None:
    left = 2

    async def handler(_: web.Request) -> web.Response:
        nonlocal left
        left -= 1
        if left >= 0:
            return web.json_response({"kind": "Status"}, status=429, headers={"Retry-After": "7"})
        return web.json_response({})

    sleeps = Sleeps()
    async with answering(handler) as config, HttpClient(config, sleeps) as client:
        assert await client.request("POST", "/x", body={}) == {}
    assert sleeps.seconds == [7.0, 7.0]


async def test_patience_ends() -> None:
    async def handler(_: web.Request) -> web.Response:
        return web.json_response({}, status=429, headers={"Retry-After": "1"})

    async with answering(handler) as config, HttpClient(config, no_sleep) as client:
        with pytest.raises(ApiError) as refused:
            await client.request("GET", "/x")
    assert refused.value.code == 429


@pytest.mark.parametrize(("method", "times"), [("GET", 3), ("POST", 1), ("PATCH", 1), ("DELETE", 1)])
async def test_only_reads_are_tried_again_when_the_connection_is_lost(method: str, times: int) -> None:
    asked = 0

    async def handler(request: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        response = web.StreamResponse(headers={"Content-Length": "100"})
        await response.prepare(request)
        await response.write(b"{")
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async with answering(handler) as config, HttpClient(config, no_sleep) as client:
        with pytest.raises(ConnectionError):
            await client.request(method, "/x")
    assert asked == times


async def test_a_read_that_was_lost_once_is_read() -> None:
    asked = 0

    async def handler(request: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        if asked == 1:
            assert request.transport is not None
            request.transport.abort()
        return web.json_response({"a": 1})

    async with answering(handler) as config, HttpClient(config, no_sleep) as client:
        assert await client.request("GET", "/x") == {"a": 1}


async def test_a_server_that_is_not_there_is_a_lost_connection() -> None:
    async def handler(_: web.Request) -> web.Response:
        return web.json_response({})

    async with answering(handler) as config:
        pass
    async with HttpClient(config, no_sleep) as client:
        with pytest.raises(ConnectionError):
            await client.version()


@pytest.mark.parametrize("text", ["nonsense", "[]", ""])
async def test_an_answer_that_is_no_object_is_a_lost_connection(text: str) -> None:
    async def handler(_: web.Request) -> web.Response:
        return web.Response(text=text)

    async with answering(handler) as config, HttpClient(config, no_sleep) as client:
        with pytest.raises(ConnectionError):
            await client.version()


async def test_a_watch_that_breaks_off_is_a_lost_connection() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        response.enable_chunked_encoding()
        await response.prepare(request)
        await response.write(b'{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n{"type":')
        assert request.transport is not None
        request.transport.close()
        return response

    async with answering(handler) as config, HttpClient(config) as client:
        watch = client.watch(PODS, revision="1")
        assert (await anext(watch)).type == "ADDED"
        with pytest.raises(ConnectionError):
            await anext(watch)


async def test_who_we_act_as_is_said() -> None:
    seen: list[tuple[str, str]] = []

    async def handler(request: web.Request) -> web.Response:
        seen.extend((k, v) for k, v in request.headers.items() if k.startswith("Impersonate"))
        return web.json_response({})

    said = (("Impersonate-User", "ann"), ("Impersonate-Group", "g"), ("Impersonate-Group", "h"))
    async with answering(handler) as config, HttpClient(replace(config, impersonation=said)) as client:
        await client.version()
    assert tuple(seen) == said


async def test_a_proxy_is_used() -> None:
    async def proxy(request: web.Request) -> web.Response:
        return web.json_response({"asked": str(request.url)})

    async with answering(proxy) as config:
        through = Config("http://kube.example:8080", proxy_url=config.server)
        async with HttpClient(through) as client:
            assert (await client.version())["asked"] == "http://kube.example:8080/version"


async def test_a_proxy_of_the_environment_is_used_but_not_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    async def handler(_: web.Request) -> web.Response:
        return web.json_response({})

    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "inside.example")
    assert HttpClient(Config("http://kube.example"))._proxy == "http://127.0.0.1:1"
    assert HttpClient(Config("http://inside.example"))._proxy == ""
    async with answering(handler) as config, HttpClient(config) as client:
        assert await client.version() == {}


async def test_a_certificate_is_shown_to_a_server_that_asks_for_one(tmp_path: Path) -> None:
    certificate, key = self_signed()
    identity = Identity(tmp_path, now_ms)
    context = identity.server_context()
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=certificate.decode())
    seen: list[Any] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append(request.get_extra_info("peercert"))
        return web.json_response({})

    app = web.Application()
    app.router.add_get("/version", handler)
    async with Server(app, identity=identity) as server:
        trusted = (identity.directory / "ca.crt").read_bytes()
        config = Config(server.url, authority=trusted, credentials=Fixed(Credential(certificate=certificate, key=key)))
        async with HttpClient(config) as client:
            await client.version()
    assert dict(part[0] for part in seen[0]["subject"])["commonName"] == "ann"


def self_signed() -> tuple[bytes, bytes]:
    """A client's certificate and key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "ann")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return made.public_bytes(serialization.Encoding.PEM), pem


@pytest.mark.parametrize(
    ("body", "message", "reason"),
    [
        (b"<html>Bad Gateway</html>", "<html>Bad Gateway</html>", "Unknown"),
        (b"", "the server answered 502", "Unknown"),
        (b"{}", "{}", "Unknown"),
        (b'{"kind":"Status","message":"m","reason":"R"}', "m", "R"),
    ],
)
def test_any_refusal_is_an_error_with_its_code(body: bytes, message: str, reason: str) -> None:
    error = error_from_answer(502, body, {})
    assert (error.code, error.message, error.reason) == (502, message, reason)


@pytest.mark.parametrize(
    ("kind", "arguments", "path"),
    [
        (PODS, ("", ""), "/api/v1/pods"),
        (PODS, ("a", "p", "log"), "/api/v1/namespaces/a/pods/p/log"),
        (NODES, ("ignored", "n"), "/api/v1/nodes/n"),
        (PODS, ("a", "../x"), "/api/v1/namespaces/a/pods/..%2Fx"),
    ],
)
def test_an_object_has_its_path(kind: Kind, arguments: tuple[str, ...], path: str) -> None:
    assert object_path(kind, *arguments) == path


def test_aiohttp_is_not_imported_before_it_is_needed() -> None:
    code = "import sys, kumi.kube.client, kumi.kube.config; sys.exit('aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_the_checks_that_fail_are_named_and_a_server_that_is_ready_has_none(store: MemoryStore) -> None:
    sound = False
    registry = Registry(store, load(), now_ms, lambda: "00000000-0000-4000-8000-000000000000")
    app = make_app(
        registry, registry.scheme, clock_ms=now_ms, checks={"scheduler": lambda: sound, "store": lambda: True}
    )
    async with Server(app) as server, HttpClient(Config(server.url)) as client:
        assert await client.failed_checks() == ("scheduler",)
        sound = True
        assert await client.failed_checks() == ()


async def test_who_may_not_ask_whether_it_is_ready_is_told_so() -> None:
    async def refuse(_: web.Request) -> web.Response:
        return web.Response(status=403, text="not for you")

    async with answering(refuse) as config, HttpClient(config) as client:
        with pytest.raises(ApiError, match="not for you"):
            await client.failed_checks()
