"""Span: a length of time, for people."""

from __future__ import annotations


def span(ms: int) -> str:
    """`3d 04:05:06`, `04:05:06`, `00:00:00.250`: how long."""
    seconds, rest = divmod(ms, 1000)
    days, seconds = divmod(seconds, 86_400)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{f'{days}d ' if days else ''}{clock}{f'.{rest:03}' if rest else ''}"
