"""The client: a connection to a cluster and the verbs of a person who runs jobs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from kumi.api.core import Pod
from kumi.api.scheme import SCHEME, load
from kumi.api.wire import JsonObject
from kumi.api.yaml import load_objects
from kumi.kube.client import HttpClient
from kumi.kube.config import load_config
from kumi.sdk.apply import apply
from kumi.sdk.explain import explain
from kumi.sdk.follow import Step, follow
from kumi.sdk.jobs import JobName, find_job, is_owned, name_of, waiting_kinds
from kumi.sdk.places import find_kubeconfig
from kumi.sdk.training import TrainingJob


class Kumi:
    """Verbs on a connection. `client` is the Kubernetes API itself, for all that is not here."""

    def __init__(self, client: HttpClient, namespace: str = "default") -> None:
        load()
        self.client, self.namespace = client, namespace

    async def apply(self, manifests: str | Sequence[JsonObject]) -> list[tuple[str, JsonObject]]:
        """YAML text or objects; what was done with each. ApiError at the first that is refused."""
        objects = load_objects(manifests) if isinstance(manifests, str) else list(manifests)
        return [await apply(self.client, obj, self.namespace) for obj in objects]

    async def submit(self, job: TrainingJob) -> JobName:
        """Creates the job. ApiError, KumiError."""
        return name_of(await self.client.create(job.manifest()))

    async def find(self, name: str, namespace: str = "") -> JobName:
        """A job by name, `kind/name` or `namespace/kind/name`. KumiError: none, or several."""
        return name_of(await find_job(self.client, name, namespace or self.namespace))

    async def find_waiting(self, name: str, namespace: str = "") -> JobName:
        """The same of whatever may wait for nodes: a job, else a gang (PodGroup), else a pod."""
        return name_of(await find_job(self.client, name, namespace or self.namespace, waiting_kinds()))

    def follow(self, *jobs: JobName) -> AsyncIterator[Step]:
        """What happens to these jobs until all have ended."""
        return follow(self.client, jobs)

    async def why(self, job: JobName) -> tuple[str, str]:
        """Two lines: what it waits for, with need and have; who is ahead and what would help."""
        return await explain(self.client, job)

    async def pods(self, job: JobName) -> list[JsonObject]:
        """The pods that the job owns, by name."""
        page = await self.client.list(SCHEME.of(Pod), job.namespace)
        return [pod for pod in page.items if is_owned(pod, job.uid)]

    def logs(self, namespace: str, pod: str, *, follow: bool = False) -> AsyncIterator[bytes]:
        """A pod's log. ApiError 400 while it has not started."""
        return self.client.logs(namespace, pod, follow=follow)


@asynccontextmanager
async def connect(kubeconfig: str = "", namespace: str = "") -> AsyncIterator[Kumi]:
    """A connection by kubeconfig (see `find_kubeconfig`). KumiError: unusable; ConnectionError: nobody answers."""
    config = load_config(find_kubeconfig(kubeconfig))
    async with HttpClient(config, strict=True) as client:
        yield Kumi(client, namespace or config.namespace or "default")
