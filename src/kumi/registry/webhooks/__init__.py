"""Admission by other people's webhooks (admissionregistration.k8s.io/v1).

    matching.py    which webhooks an operation is about
    calling.py     one webhook: the review that it gets, what its answer means
    admission.py   all of them, in order
Not here   HTTP: a Caller is given, and cli wires one (kumi.apiserver.webhooks).
Source     Kubernetes: dynamic admission control.
"""
