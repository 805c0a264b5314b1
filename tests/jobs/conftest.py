"""A law may take as long as a busy machine needs: nothing here is timed. The scheme is loaded, as a program does first."""

from hypothesis import settings

from kumi.api.scheme import load

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
load()
