"""Floor 5: a Kubernetes API over HTTP, a real cluster's or the embedded server's.

config.py        a kubeconfig (or a pod's service account) as one connection's settings
credentials.py   who we are: token, token file, certificate, exec plug-in
tls.py           whom we trust, and how we show a certificate
client.py        the client protocols of runtime, and logs; watches.py reads the stream of a watch
prometheus.py, custom_metrics.py     how busy nodes are, by whoever measures them there

aiohttp is imported when the first connection is made: commands that need none start without it.
"""
