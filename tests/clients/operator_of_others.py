"""An operator on kopf as people write them: a `Greeting` gets a ConfigMap with its words. Run with `kopf run`."""

from __future__ import annotations

from typing import Any

import kopf
import kubernetes

GROUP, VERSION, PLURAL = "example.com", "v1", "greetings"


def write(namespace: str, name: str, words: str, body: Any) -> None:
    core = kubernetes.client.CoreV1Api()
    made = {"metadata": {"name": name}, "data": {"words": words}}
    kopf.adopt(made, owner=body)
    try:
        core.create_namespaced_config_map(namespace, made)
    except kubernetes.client.exceptions.ApiException as error:
        if error.status != 409:
            raise
        core.patch_namespaced_config_map(name, namespace, {"data": {"words": words}})


@kopf.on.startup()
def start(settings: kopf.OperatorSettings, **_: Any) -> None:
    kubernetes.config.load_kube_config()
    settings.posting.level = 30


@kopf.on.create(GROUP, VERSION, PLURAL)
@kopf.on.resume(GROUP, VERSION, PLURAL)
@kopf.on.update(GROUP, VERSION, PLURAL)
def greet(namespace: str, name: str, spec: Any, body: Any, **_: Any) -> dict[str, str]:
    write(namespace, name, spec["words"], body)
    return {"said": spec["words"]}


@kopf.on.delete(GROUP, VERSION, PLURAL)
def part(namespace: str, name: str, body: Any, **_: Any) -> None:
    meta = {"metadata": {"name": f"{name}-farewell"}, "data": {"of": body["metadata"]["uid"]}}
    kubernetes.client.CoreV1Api().create_namespaced_config_map(namespace, meta)
