"""Foresight: the engine asked without being changed. Why does it wait; later: when will it start, what if."""
