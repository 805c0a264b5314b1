"""OpenAPI documents of what is served: schemas.py and operations.py make the parts, v3.py and v2.py the documents,
protobuf.py another form of the latter; documents.py keeps and serves them.

What clients need them for: `kubectl explain` reads the schemas of v3; `kubectl create`, `apply` and `edit` look in v3 whether
the operations of a kind take `fieldValidation`, and leave validation to the server if so; client generators read either.
"""
