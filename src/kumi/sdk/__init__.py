"""The Python client, for scripts and notebooks: submit, watch, why. What the command line is made of.

    from kumi.sdk import TrainingJob, connect

    async with connect() as kumi:                      # $KUBECONFIG, or the cluster of `kumi up`
        job = await kumi.submit(TrainingJob("", ["python3", "train.py"], queue="team-a", workers=4, gpus=1))
        async for step in kumi.follow(job):
            print(step.pod, step.text)

The job runs in the current directory; without a name it gets one from the script. Logs come as chunks of bytes.

The names are imported when they are first used, so that a command which needs none of them starts quickly.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kumi.sdk.client import Kumi, connect
    from kumi.sdk.follow import Step
    from kumi.sdk.training import TrainingJob

__all__ = ["Kumi", "Step", "TrainingJob", "connect"]

_PLACES = {"Kumi": "client", "connect": "client", "Step": "follow", "TrainingJob": "training"}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
