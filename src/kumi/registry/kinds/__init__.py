"""What built-in kinds do beyond the rule for all: one file a kind, and the table that the verbs ask."""

from __future__ import annotations
