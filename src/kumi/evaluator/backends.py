"""Backends: where the runs of an experiment go, by the name of a joblib backend.

    loky      processes on this machine
    dask      the cluster of the Dask client that this process has; else the one that Dask's own configuration names
              (DASK_SCHEDULER_ADDRESS); else processes on this machine, which go with the experiment
    ray       the cluster that this process is connected to; else the one of RAY_ADDRESS, or that runs on this machine; else one
              that Ray starts here
    others    as whoever registered them with joblib has them

Workers      at most so many as there are runs; where nobody says how many: all cores of this machine, all that a cluster has.
             Dask uses all of its cluster, whatever is said.
Left alone   a client or a connection that was there before; what is made here is closed.
Errors       KumiError: no such backend, a package that isn't installed, a cluster that doesn't answer or has no workers, a worker
             that dies. What goes wrong in a run itself is told as it is.
Not here     what the runs are: experiments.py.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kumi.api.errors import KumiError

LOCAL, DASK, RAY = "loky", "dask", "ray"
PACKAGES = {DASK: "dask[distributed]", RAY: "ray"}
"""backend -> what is to be installed for it"""
LOST = {
    LOCAL: ("joblib.externals.loky.process_executor", ("BrokenProcessPool",)),
    DASK: ("distributed", ("KilledWorker",)),
    RAY: ("ray.exceptions", ("RayActorError", "WorkerCrashedError", "OutOfMemoryError")),
}
"""backend -> the module of the errors that say that a worker is gone, and which these are"""


@contextmanager
def ready(backend: str, workers: int | None, runs: int) -> Iterator[int]:
    """joblib knows the backend within, and its cluster is there: how many runs it is to play at once. `workers`: at most so many;
    None: all that it has. KumiError."""
    from joblib import parallel_config

    if backend == DASK:
        around = _dask(workers, runs)
    elif backend == RAY:
        around = _ray()
    else:
        around = _registered(backend)
    with around, parallel_config(backend=backend):
        try:
            at_once = workers if workers is not None and backend != DASK else _all(backend)
        except TimeoutError as error:
            raise KumiError(f"the backend {backend} has no workers: {error}") from error
        try:
            yield min(workers if workers is not None else at_once, runs)
        except lost(backend) as error:
            why = str(error) or type(error).__name__
            raise KumiError(f"the backend {backend} lost a worker: {why}") from error


def lost(backend: str) -> tuple[type[BaseException], ...]:
    """The errors by which the backend says that a worker is gone."""
    if backend not in LOST:
        return ()
    module, names = LOST[backend]
    found = importlib.import_module(module)
    return tuple(getattr(found, name) for name in names)


def _all(backend: str) -> int:
    """So many at once are possible."""
    from joblib import effective_n_jobs

    return (os.cpu_count() or 1) if backend == LOCAL else max(1, int(effective_n_jobs(-1)))


@contextmanager
def _registered(backend: str) -> Iterator[None]:
    from joblib.parallel import BACKENDS, EXTERNAL_BACKENDS

    if backend not in BACKENDS and backend not in EXTERNAL_BACKENDS:
        known = ", ".join(sorted({*BACKENDS, *EXTERNAL_BACKENDS, *PACKAGES}))
        raise KumiError(f"joblib has no backend {backend!r}: it may be {known}, or one that is registered before")
    yield


@contextmanager
def _dask(workers: int | None, runs: int) -> Iterator[None]:
    distributed, dask = _package(DASK, "distributed"), _package(DASK, "dask")
    try:
        distributed.get_client()
    except ValueError:
        pass
    else:
        yield
        return
    address = dask.config.get("scheduler-address", None)
    here = {"n_workers": min(workers or os.cpu_count() or 1, runs), "threads_per_worker": 1, "dashboard_address": None}
    try:
        client = distributed.Client(address) if address else distributed.Client(**here)
    except (OSError, ValueError) as error:
        raise KumiError(f"the Dask cluster {address or 'of this machine'} does not answer: {error}") from error
    with client:
        yield


@contextmanager
def _ray() -> Iterator[None]:
    ray = _package(RAY, "ray")
    _package(RAY, "ray.util.joblib").register_ray()
    if ray.is_initialized():
        yield
        return
    try:
        ray.init(log_to_driver=False)
    except (OSError, RuntimeError, ValueError) as error:
        address = os.environ.get("RAY_ADDRESS", "of this machine")
        raise KumiError(f"the Ray cluster {address} does not answer: {error}") from error
    try:
        yield
    finally:
        ray.shutdown()


def _package(backend: str, module: str) -> Any:
    """The module of a package that may not be there. KumiError."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise KumiError(
            f"the backend {backend} needs a package that is not installed: pip install '{PACKAGES[backend]}'"
        ) from error
