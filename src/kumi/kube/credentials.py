"""Who we are: what proves it now, and what to do when the server no longer believes it.

Fixed        a token, a name and password, a certificate: as long as the process lives
TokenFile    a token in a file that somebody else renews: read again for each request (some microseconds)
ExecPlugin   a program that prints an ExecCredential (client.authentication.k8s.io, v1 and v1beta1): run when nothing is
             there, when it expires, and when the server refused what it gave
Source       Kubernetes: client-go credential plugins.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from kumi.api.errors import KumiError
from kumi.api.meta import parse_time

GROUP = "client.authentication.k8s.io"
VERSIONS = (f"{GROUP}/v1", f"{GROUP}/v1beta1")
INTERACTIVE_MODES = ("Never", "IfAvailable", "Always")


@dataclass(frozen=True)
class Credential:
    """A proof. `basic` is the base64 of name and password; `certificate` and `key` are PEM."""

    token: str = ""
    basic: str = ""
    certificate: bytes = b""
    key: bytes = b""

    @property
    def authorization(self) -> str:
        """The Authorization header, "" for none."""
        if self.token:
            return f"Bearer {self.token}"
        return f"Basic {self.basic}" if self.basic else ""


class Credentials(Protocol):
    """A source of proofs."""

    async def current(self) -> Credential:
        """The proof to show now. KumiError when there is none to be had."""
        ...

    def refused(self, credential: Credential) -> bool:
        """The server answered 401 to this one: whether asking `current` again may give a better one."""
        ...


@dataclass(frozen=True)
class Fixed:
    """Always the same."""

    credential: Credential

    async def current(self) -> Credential:
        """See Credentials."""
        return self.credential

    def refused(self, credential: Credential) -> bool:
        """See Credentials."""
        return False


@dataclass(frozen=True)
class TokenFile:
    """A token that is read again each time; `rest` is what is shown besides."""

    path: Path
    rest: Credential = Credential()

    async def current(self) -> Credential:
        """See Credentials."""
        try:
            token = self.path.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise KumiError(f"the token file {self.path} can't be read: {error}") from error
        return replace(self.rest, token=token)

    def refused(self, credential: Credential) -> bool:
        """See Credentials."""
        try:
            return self.path.read_text().strip() != credential.token
        except (OSError, UnicodeDecodeError):
            return False


class ExecPlugin:
    """A program that prints our credential. Requests that need it at once wait for one run of it."""

    def __init__(  # noqa: PLR0913  the fields of a kubeconfig's exec
        self,
        command: str,
        args: tuple[str, ...],
        env: Mapping[str, str],
        api_version: str,
        *,
        interactive: str = "IfAvailable",
        cluster: Mapping[str, Any] | None = None,
        hint: str = "",
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._command, self._args, self._env, self._api_version = command, args, dict(env), api_version
        self._interactive, self._cluster, self._hint, self._now_ms = interactive, cluster, hint, now_ms
        self._lock = asyncio.Lock()
        self._credential: Credential | None = None
        self._expires_ms: int | None = None

    @classmethod
    def of(cls, spec: Mapping[str, Any], directory: Path, cluster: Mapping[str, Any] | None) -> ExecPlugin:
        """From a kubeconfig's `exec`; `directory` is where a command with a slash is looked for."""
        command, api_version = str(spec.get("command") or ""), str(spec.get("apiVersion") or "")
        if api_version not in VERSIONS:
            raise KumiError(f"kubeconfig: exec apiVersion {api_version!r} is not known ({', '.join(VERSIONS)} are)")
        if not command:
            raise KumiError("kubeconfig: exec needs a command")
        mode = str(spec.get("interactiveMode") or ("IfAvailable" if api_version.endswith("v1beta1") else ""))
        if mode not in INTERACTIVE_MODES:
            raise KumiError(f"kubeconfig: exec interactiveMode must be one of {', '.join(INTERACTIVE_MODES)}")
        if os.sep in command and not Path(command).is_absolute():
            command = str((directory / command).resolve())
        env = {str(e["name"]): str(e["value"]) for e in spec.get("env") or ()}
        args = tuple(str(a) for a in spec.get("args") or ())
        hint = str(spec.get("installHint") or "").strip()
        return cls(command, args, env, api_version, interactive=mode, cluster=cluster, hint=hint)

    async def current(self) -> Credential:
        """See Credentials."""
        async with self._lock:
            expired = self._expires_ms is not None and self._now_ms() >= self._expires_ms
            if self._credential is None or expired:
                self._credential, self._expires_ms = self._parse(await self._run())
            return self._credential

    def refused(self, credential: Credential) -> bool:
        """See Credentials."""
        if self._credential == credential:  # another request may have renewed it meanwhile
            self._credential = None
        return True

    async def _run(self) -> bytes:
        terminal = self._interactive != "Never" and sys.stdin is not None and sys.stdin.isatty()
        if self._interactive == "Always" and not terminal:
            raise KumiError(f"the credential plug-in {self._command} needs a terminal, and there is none")
        told: dict[str, Any] = {
            "apiVersion": self._api_version,
            "kind": "ExecCredential",
            "spec": {"interactive": terminal},
        }
        if self._cluster is not None:
            told["spec"]["cluster"] = dict(self._cluster)
        environment = {**os.environ, **self._env, "KUBERNETES_EXEC_INFO": json.dumps(told)}
        try:
            process = await asyncio.create_subprocess_exec(
                self._command,
                *self._args,
                stdin=None if terminal else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                env=environment,
            )
        except OSError as error:
            hint = f"\n{self._hint}" if self._hint else ""
            raise KumiError(f"the credential plug-in {self._command} can't be run: {error.strerror}{hint}") from error
        try:
            output, _ = await process.communicate()
        except BaseException:
            process.kill()
            await process.wait()
            raise
        if process.returncode:
            raise KumiError(f"the credential plug-in {self._command} failed with exit code {process.returncode}")
        return output

    def _parse(self, output: bytes) -> tuple[Credential, int | None]:
        where = f"the credential plug-in {self._command}"
        try:
            answer = json.loads(output)
            status = answer["status"]
            version = answer["apiVersion"]
            expires_ms = parse_time(status.get("expirationTimestamp"))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise KumiError(f"{where} printed no ExecCredential with a status") from error
        if version != self._api_version:
            raise KumiError(f"{where} was asked for {self._api_version} and printed {version}")
        certificate, key = status.get("clientCertificateData") or "", status.get("clientKeyData") or ""
        token = status.get("token") or ""
        if bool(certificate) != bool(key) or not (token or certificate):
            raise KumiError(f"{where} must give a token, or a certificate with its key")
        return Credential(token=token, certificate=certificate.encode(), key=key.encode()), expires_ms
