"""Kubernetes' own OpenAPI definitions of the kinds that Kumi knows, as data; made by tools/openapi.py, read by definitions."""
