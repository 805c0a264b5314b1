"""The scheme is loaded, as a program does first."""

from kumi.api.scheme import load

load()
