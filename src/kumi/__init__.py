"""Kumi runs batch and AI work on Kubernetes: queues and quotas, whole gangs, training jobs, and the reasons why."""

__version__ = "0.1.0"
