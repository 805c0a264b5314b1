"""Where things are: the data directory of `kumi up`, and the kubeconfig to use."""

from __future__ import annotations

import os
from pathlib import Path

from kumi.api.errors import KumiError


def data_dir() -> Path:
    """Where `kumi up` keeps its cluster: $KUMI_DATA_DIR, or `kumi` under the user's data directory."""
    if chosen := os.environ.get("KUMI_DATA_DIR"):
        return Path(chosen)
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "kumi"


def find_kubeconfig(path: str = "") -> str:
    """The given one, $KUBECONFIG, that of `kumi up`, the user's ~/.kube/config, in this order. KumiError: none."""
    if path or (path := os.environ.get("KUBECONFIG", "")):
        return path
    for candidate in (data_dir() / "kubeconfig", Path.home() / ".kube" / "config"):
        if candidate.exists():
            return str(candidate)
    raise KumiError("there is no kubeconfig: start a cluster with `kumi up`, or say which one with --kubeconfig")
