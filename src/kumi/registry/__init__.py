"""Floor 2: API semantics without HTTP: verbs, patch, selectors, subresources, admission, status, tables.

Registry(store, scheme, clock, ids, hooks)     registry.registry   the verbs, on JSON objects
LocalClient(registry)                          registry.local      the client protocols of runtime, in process
"""
