"""The time machine: what a policy would do to a load of jobs, decided by the engine that runs production, on a virtual clock.

    model       what a run is given (Load, Policy) and who hears of it (Observer)
"""
