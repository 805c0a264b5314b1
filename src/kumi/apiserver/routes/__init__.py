"""From a request to a call of the registry: paths.py, options.py, verbs.py; and the two streams, watches.py and logs.py."""
