"""Volumes: directories of this machine, and where they appear in a container.

    emptyDir              a directory of the pod; `medium: Memory` one in /dev/shm where that can be written
    configMap, secret,
    downwardAPI,          files written once, when the pod is prepared (changes of the object do not follow), read-only
    projected             tokens of the pod's service account, too, which are renewed (tokens.py)
    hostPath              the machine's own path, with the checks and creations of its `type`
    persistentVolumeClaim,
    ephemeral             what is behind the claim (claims.py)
    anything else         CannotConfigure: the pod waits in ContainerCreating with that message

Where private views work (mounts.py) a volume appears at its mountPath, whether the machine has such a path or not, and
nothing is made in the machine's own directories. Where they do not, a mountPath is provided only if it is the same
directory anyway (a hostPath at its own path, an emptyDir in memory at /dev/shm); for any other the container does not
start: CreateContainerConfigError; what every pod is given for the API is left out instead. Always: KUMI_VOLUME_<NAME>
is the volume's directory, for programs that can take it.

Source     Kubernetes: volumes, projected volumes, downward API.
Not here   how a path is made to appear: mounts.py.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from kumi.api.wire import JsonObject
from kumi.kubelet import mounts
from kumi.kubelet.claims import Claimed
from kumi.kubelet.environment import CannotConfigure, Environment, Facts, Sources, expand, field_of, resource_of
from kumi.kubelet.pod_plan import containers_of

SHARED_MEMORY = Path("/dev/shm")
TOKEN_SECONDS = 3600
GIVEN = "kube-api-access-"
"""begins the name of the volume that every pod is given: where its path can't be provided, the pod does without it"""
_WRITTEN = ("configMap", "secret", "downwardAPI", "projected")
_OF_THE_POD = ("emptyDir", "persistentVolumeClaim", "ephemeral")
"""a subPath that is not there is made in those"""
_HOST_TYPES = {"Directory": os.path.isdir, "File": os.path.isfile, "Socket": os.path.exists}


class Content(NamedTuple):
    """A file of a volume."""

    data: bytes
    mode: int


def wanted_of(pod: JsonObject) -> tuple[list[str], list[str]]:
    """The names of the config maps and of the secrets that the pod's volumes need."""
    maps: set[str] = set()
    secrets: set[str] = set()
    for volume in pod["spec"].get("volumes") or ():
        for source in (volume, *((volume.get("projected") or {}).get("sources") or ())):
            if source.get("configMap"):
                maps.add(source["configMap"]["name"])
            if source.get("secret"):
                secrets.add(source["secret"].get("secretName") or source["secret"].get("name") or "")
    return sorted(maps), sorted(secrets)


def tokens_of(pod: JsonObject) -> list[tuple[str, int]]:
    """The tokens of its service account that the pod's volumes need, by audience and seconds."""
    sources = (s for v in pod["spec"].get("volumes") or () for s in (v.get("projected") or {}).get("sources") or ())
    found = (source["serviceAccountToken"] for source in sources if source.get("serviceAccountToken"))
    return list(dict.fromkeys(_token(source) for source in found))


def provide(pod: JsonObject, home: Path, sources: Sources, facts: Facts) -> dict[str, str]:
    """Makes every volume of a pod below `home`: volume name -> directory (or file, for a hostPath). CannotConfigure."""
    places: dict[str, str] = {}
    for volume in pod["spec"].get("volumes") or ():
        name = volume["name"]
        try:
            places[name] = str(_provide(volume, home / name, sources, facts))
        except OSError as error:
            raise CannotConfigure(f'volume "{name}": {error}') from error
    return places


def renew(pod: JsonObject, home: Path, tokens: dict[tuple[str, int], str]) -> None:
    """Puts new tokens in place of those in the pod's volumes below `home`. OSError."""
    for volume in pod["spec"].get("volumes") or ():
        projected = volume.get("projected") or {}
        only = [source for source in projected.get("sources") or () if source.get("serviceAccountToken")]
        if only:
            renewed = {**volume, "projected": {**projected, "sources": only}}
            _write(home / volume["name"], contents_of(renewed, Sources(tokens=tokens), Facts(pod)))


def remove(pod_uid: str, home: Path) -> None:
    """Removes the pod's volumes, those in memory too."""
    shutil.rmtree(home, ignore_errors=True)
    for place in SHARED_MEMORY.glob(f"kumi-{pod_uid}-*"):
        shutil.rmtree(place, ignore_errors=True)


def mounts_of(
    container: JsonObject,
    pod: JsonObject,
    places: dict[str, str],
    environment: Environment,
    isolation: str,
    *,
    read_only: Collection[str] = (),
) -> list[mounts.Mount]:
    """What is to appear in a container, and where; `read_only`: volumes that nobody may write. CannotConfigure."""
    volumes = {v["name"]: v for v in pod["spec"].get("volumes") or ()}
    found = []
    for wanted in container.get("volumeMounts") or ():
        name = wanted["name"]
        if name not in places:
            raise CannotConfigure(f'volume "{name}" of a volumeMount is not in the pod')
        target = PurePosixPath("/", wanted["mountPath"])
        kept = name in read_only or any(kind in volumes[name] for kind in _WRITTEN)
        creates = not kept and any(kind in volumes[name] for kind in _OF_THE_POD)
        source = _below(places[name], wanted, environment, creates=creates)
        if isolation != mounts.NONE:
            named = "hostPath" in volumes[name]
            mount_read_only = kept or bool(wanted.get("readOnly"))
            found.append(mounts.Mount(source, str(target), mount_read_only, places[name], named))
        elif name.startswith(GIVEN):
            continue
        elif not _is_there_anyway(source, str(target), volumes[name]):
            raise CannotConfigure(
                f"this machine does not let its users mount: mountPath {target} can't be provided; "
                f"volume {name} is the directory in the variable {variable_of(name)}"
            )
    return found


def variables_of(places: dict[str, str]) -> Environment:
    """KUMI_VOLUME_<NAME> for each volume."""
    return {variable_of(name): place for name, place in places.items()}


def variable_of(volume: str) -> str:
    """The variable that has a volume's directory."""
    return "KUMI_VOLUME_" + volume.upper().replace("-", "_").replace(".", "_")


def _provide(volume: JsonObject, place: Path, sources: Sources, facts: Facts) -> Path:
    if "hostPath" in volume:
        return _host_path(volume["hostPath"] or {})
    if volume["name"] in sources.claims:
        return _claimed(sources.claims[volume["name"]])
    if any(kind in volume for kind in _WRITTEN):
        _write(place, contents_of(volume, sources, facts))
        return place
    known = [key for key in volume if key != "name"]
    if known and known != ["emptyDir"]:
        raise CannotConfigure(f'volume "{volume["name"]}": {known[0]} is not known on this node')
    if (volume.get("emptyDir") or {}).get("medium") == "Memory" and os.access(SHARED_MEMORY, os.W_OK):
        place = SHARED_MEMORY / f"kumi-{facts.pod['metadata']['uid']}-{volume['name']}"
    place.mkdir(parents=True, exist_ok=True)
    place.chmod(0o777)
    return place


def _claimed(claimed: Claimed) -> Path:
    if claimed.place is None:
        return _host_path(claimed.source or {})
    if not claimed.place.exists():
        claimed.place.mkdir(parents=True)
        claimed.place.chmod(0o777)
    return claimed.place


def _host_path(source: JsonObject) -> Path:
    path, type_ = Path(source.get("path") or "/"), source.get("type") or ""
    if type_ == "DirectoryOrCreate":
        path.mkdir(parents=True, exist_ok=True, mode=0o755)
    elif type_ == "FileOrCreate":
        path.touch(mode=0o644)
    check = _HOST_TYPES.get(type_, os.path.exists)
    if not check(path):
        raise CannotConfigure(
            f"hostPath type check failed: {path} is not a {(type_ or 'path').lower()} of this machine"
        )
    return path


def contents_of(volume: JsonObject, sources: Sources, facts: Facts) -> dict[str, Content]:
    """The files of a configMap, secret, downwardAPI or projected volume, by path. CannotConfigure."""
    if "projected" in volume:
        projected = volume["projected"] or {}
        mode = projected.get("defaultMode")
        merged: dict[str, Content] = {}
        for source in projected.get("sources") or ():
            merged |= _one_source(source, sources, facts, 0o644 if mode is None else mode)
        return merged
    return _one_source(volume, sources, facts, 0o644)


def _one_source(volume: JsonObject, sources: Sources, facts: Facts, mode: int) -> dict[str, Content]:
    if volume.get("configMap"):
        source = volume["configMap"]
        data = sources.config_map(source["name"], bool(source.get("optional")))
        return _picked(source, data, mode, f'configmap "{source["name"]}"')
    if volume.get("secret"):
        source = volume["secret"]
        name = source.get("secretName") or source.get("name") or ""
        return _picked(source, sources.secret(name, bool(source.get("optional"))), mode, f'secret "{name}"')
    if "downwardAPI" in volume:
        source = volume["downwardAPI"] or {}
        mode = mode if source.get("defaultMode") is None else source["defaultMode"]
        return {
            item["path"]: Content(_downward(item, facts).encode(), item.get("mode") or mode)
            for item in source.get("items") or ()
        }
    if volume.get("serviceAccountToken"):
        source = volume["serviceAccountToken"]
        return {source["path"]: Content(sources.tokens[_token(source)].encode(), mode)}
    kind = next((key for key in volume if key != "name"), "source")
    raise CannotConfigure(f"{kind} is not known on this node")


def _token(source: JsonObject) -> tuple[str, int]:
    return str(source.get("audience") or ""), int(source.get("expirationSeconds") or TOKEN_SECONDS)


def _picked(source: JsonObject, data: dict[str, bytes] | None, mode: int, noun: str) -> dict[str, Content]:
    mode = source["defaultMode"] if source.get("defaultMode") is not None else mode
    data = data or {}
    if not source.get("items"):
        return {key: Content(content, mode) for key, content in data.items()}
    found = {}
    for item in source["items"]:
        if item["key"] in data:
            found[item["path"]] = Content(data[item["key"]], mode if item.get("mode") is None else item["mode"])
        elif not source.get("optional"):
            raise CannotConfigure(f"references non-existent config key: {item['key']} in {noun}")
    return found


def _downward(item: JsonObject, facts: Facts) -> str:
    if item.get("fieldRef"):
        return field_of(item["fieldRef"].get("fieldPath") or "", facts)
    return resource_of(item.get("resourceFieldRef") or {}, next(iter(containers_of(facts.pod).values())), facts)


def _write(place: Path, contents: dict[str, Content]) -> None:
    """Makes or replaces each file as a whole: who opens it finds the old one or the new one."""
    for path, content in contents.items():
        target = place / _safe(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        new = target.with_name(f"..{target.name}.new")
        with contextlib.suppress(FileNotFoundError):
            new.unlink()
        new.write_bytes(content.data)
        new.chmod(content.mode)
        new.replace(target)
    place.mkdir(parents=True, exist_ok=True)


def _below(place: str, wanted: JsonObject, environment: Environment, creates: bool) -> str:
    sub_path = wanted.get("subPath") or expand(wanted.get("subPathExpr") or "", environment)
    if not sub_path:
        return place
    source = os.path.join(place, _safe(sub_path))
    top = os.path.realpath(place)
    if os.path.commonpath([top, os.path.realpath(source)]) != top:
        raise CannotConfigure(f'volume "{wanted["name"]}": {sub_path} leads out of it')
    if creates:
        os.makedirs(source, exist_ok=True)
    if not os.path.exists(source):
        raise CannotConfigure(f'volume "{wanted["name"]}" has no {sub_path}')
    return source


def _safe(path: str) -> str:
    if path.startswith("/") or ".." in PurePosixPath(path).parts:
        raise CannotConfigure(f"{path} must be a path below the volume")
    return path


def _is_there_anyway(source: str, target: str, volume: JsonObject) -> bool:
    if (volume.get("emptyDir") or {}).get("medium") == "Memory" and target == str(SHARED_MEMORY):
        return True
    return os.path.realpath(source) == os.path.realpath(target)
