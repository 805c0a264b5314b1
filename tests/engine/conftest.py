"""The engine's tests measure no time, so hypothesis doesn't either."""

from hypothesis import HealthCheck, settings

settings.register_profile("engine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("engine")
