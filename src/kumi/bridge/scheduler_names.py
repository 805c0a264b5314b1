"""Scheduler names: what a pod's spec.schedulerName says of who places it. Apart from bridge/into, so that who only asks for a
name reads no translation."""

from __future__ import annotations

VOLCANO_SCHEDULER = "volcano"
SCHEDULERS = ("", "default-scheduler", "kumi", VOLCANO_SCHEDULER)
"""the names that mean Kumi where it is the control plane"""
OWN_NAMES = ("kumi",)
"""those that mean it beside another scheduler"""
