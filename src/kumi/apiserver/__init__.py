"""Floor 5: the embedded Kubernetes API over HTTP. The registry knows what the API means; this room knows how it travels.

A request goes through these files, in this order:
    server.py           sockets, TLS, limits, starting and stopping
    errors.py           whatever goes wrong becomes a Status object
    authentication.py   who asks; identity.py and pki.py make the credentials of one machine's administrator
    routes/             paths.py which object and verb; options.py the query; verbs.py the call; watches.py, logs.py streams
    bodies.py           what the client sent, negotiate.py what it wants back, responses.py how that is written
Beside them: discovery.py and openapi/ tell clients what is served, health.py whether it is.
"""
