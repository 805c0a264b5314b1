"""Subresources: parts of an object, or acts on it, under a path of their own.

status                    the object, of which only the status is taken (kumi.registry.writing)
scale                     an autoscaling/v1 Scale: get, update, patch
binding (of a pod)        create: puts the pod on a node, once
eviction (of a pod)       create: deletes the pod, if nothing guards it
token (of an account)     create: a bearer token of a service account
finalize (of a namespace) update, patch: the namespace's own finalizers
"""

from __future__ import annotations

from kumi.registry.subresources.subresources import Subresources

__all__ = ["Subresources"]
